"""Runs side by side: rows of steps in, curves, fairness and a verdict out.

Pure functions over what the store holds, so the page, the terminal and the report say the same.
"""

from playground.compare.arms import Arm, arms
from playground.compare.curves import Curve, YAxis, curve
from playground.compare.differences import (
    Difference,
    environment_differences,
    setting_differences,
)
from playground.compare.fairness import Fairness, fairness
from playground.compare.paired import Comparison, compare_arms
from playground.compare.predicted import Prediction, predictions
from playground.compare.records import RunRecord
from playground.compare.summary import group_json, run_json
from playground.compare.target import TimeToTarget, time_to_target
from playground.compare.verdict import Verdict, verdict

__all__ = [
    "Arm",
    "Comparison",
    "Curve",
    "Difference",
    "Fairness",
    "Prediction",
    "RunRecord",
    "TimeToTarget",
    "Verdict",
    "YAxis",
    "arms",
    "compare_arms",
    "curve",
    "environment_differences",
    "fairness",
    "group_json",
    "predictions",
    "run_json",
    "setting_differences",
    "time_to_target",
    "verdict",
]
