"""Runs side by side: rows of steps in, curves, fairness and a verdict out.

Pure functions over what the store holds, so the page, the terminal and the report say the same.
"""

from playground.compare.curves import Curve, XAxis, YAxis, curve
from playground.compare.fairness import Fairness, fairness
from playground.compare.records import RunRecord
from playground.compare.summary import group_json, run_json
from playground.compare.verdict import Verdict, verdict

__all__ = [
    "Curve",
    "Fairness",
    "RunRecord",
    "Verdict",
    "XAxis",
    "YAxis",
    "curve",
    "fairness",
    "group_json",
    "run_json",
    "verdict",
]
