"""Where a run's figures can go besides our own store: TensorBoard and trackio, when installed.

Chosen by ``PLAYGROUND_SINKS=tensorboard,trackio`` in the environment of whoever starts runs; their
workers inherit it. Only scalars, under the names of our own tables and columns (``steps/loss``),
one TensorBoard or trackio run for each arm, in files under the home folder. Nothing is sent to any
host. The store stays the truth: a sink that fails is said so once, and the run goes on without it.

Light to import: a sink's own package is loaded when a worker opens it.
"""

from playground.sinks.chosen import SINKS, VARIABLE, chosen_sinks
from playground.sinks.fan import Arm, Fan

__all__ = ["SINKS", "VARIABLE", "Arm", "Fan", "chosen_sinks"]
