"""Whether a comparison fits a device, told before it is started and without loading the model."""

from playground.fit.asking import Budget, budget, kept, needed_mib, predict

__all__ = ["Budget", "budget", "kept", "needed_mib", "predict"]
