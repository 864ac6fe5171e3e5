"""How far a difference of held-out losses may be chance: over seeds, and over held-out rows.

Two samplings stand behind it, and each has its own interval.

* **Seeds**: another order of the data and another adapter at the start. Each seed gives one
  difference, candidate minus baseline, that shares both; of these the t-interval of the mean
  (Student, "The probable error of a mean", Biometrika 1908).
* **Rows**: other rows could have been held out. Both arms are judged on the same ones, so the rows'
  differences are resampled, not the losses: a paired percentile bootstrap (Efron and Tibshirani,
  "An Introduction to the Bootstrap", 1993, chapters 13 and 15; for language models Koehn,
  "Statistical Significance Tests for Machine Translation Evaluation", EMNLP 2004).

The two are added in quadrature, as half-widths of independent sources of error (GUM, JCGM
100:2008, 5.1.2). What a row does differently from seed to seed is in both, so the sum errs on the
wide side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, fmean, stdev

import numpy as np

CONFIDENCE = 0.95
RESAMPLES = 2000
_CHUNK = 1 << 20  # values drawn at a time: memory stays bounded, however many rows there are

# Two-sided 95 % quantiles of Student's t for 1 to 9 degrees of freedom; above, the expansion below.
_T_95 = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)


@dataclass(frozen=True)
class Interval:
    """Two bounds, ``low <= high``; nats unless said otherwise."""

    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def t_half_width(values: Sequence[float]) -> float | None:
    """Half the width of the 95 % t-interval of the mean of ``values``; None for fewer than two."""
    if len(values) < 2:
        return None
    return t_quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))


def t_quantile(freedom: int) -> float:
    """Student's t below which 97.5 % lie, to 1e-4.

    Cornish-Fisher's expansion (Abramowitz and Stegun, 26.7.5) from 10 degrees of freedom on.
    """
    if freedom <= len(_T_95):
        return _T_95[freedom - 1]
    x = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    terms = (
        x,
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def rows_interval(differences: Sequence[Sequence[float]], tokens: Sequence[int]) -> Interval | None:
    """The 95 % interval of a difference of token-weighted means, over other held-out rows.

    Args:
        differences: for each seed, each row's summed loss, candidate minus baseline, nats.
            A row's differences are averaged over the seeds before rows are drawn.
        tokens: the supervised tokens of each row.
    Returns:
        Bounds in nats a token; None for fewer than two rows, or a loss that is not finite.
    """
    mean = tuple(fmean(of_row) for of_row in zip(*differences, strict=True))
    if len(mean) < 2 or not all(map(math.isfinite, mean)):
        return None
    return _bootstrap(mean, tuple(tokens))


@lru_cache(maxsize=512)  # the page asks again at every change; the rows stay what they are
def _bootstrap(differences: tuple[float, ...], tokens: tuple[int, ...]) -> Interval:
    draw = np.random.default_rng(0)  # fixed: the same rows give the same bounds
    of_row, weight, rows = np.array(differences), np.array(tokens), len(differences)
    at_once = max(1, _CHUNK // rows)
    means = []
    for start in range(0, RESAMPLES, at_once):
        chosen = draw.integers(rows, size=(min(at_once, RESAMPLES - start), rows))
        means.append(of_row[chosen].sum(axis=1) / weight[chosen].sum(axis=1))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.concatenate(means), (tail, 1 - tail))
    return Interval(float(low), float(high))
