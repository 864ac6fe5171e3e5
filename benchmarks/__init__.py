"""Measurements, in ratios within one run. ``python -m benchmarks`` runs those of the kernels."""
