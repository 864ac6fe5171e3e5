"""What a run is asked to do: precision names, and the settings of one run, checked on construction.

Everything here is frozen and valid by the time anyone else sees it, so nobody checks twice.
Values have no defaults here: each default is written once, in ``presets/_defaults.yaml``.
Imports the standard library and pydantic only; the page, the worker and the store all read it.
"""

from playground.config.columns import PARTS, named_columns, parse_columns, write_columns
from playground.config.errors import SettingsError, expand, nearest, private
from playground.config.precisions import PRECISIONS, PrecisionInfo, check_precision
from playground.config.run import (
    SECTIONS,
    RunConfig,
    field_of,
    parse_config,
    setting_path,
)
from playground.config.settings import (
    DataSettings,
    LoraSettings,
    MeasureSettings,
    QuantizationSettings,
    TrainingSettings,
)

__all__ = [
    "PARTS",
    "PRECISIONS",
    "SECTIONS",
    "DataSettings",
    "LoraSettings",
    "MeasureSettings",
    "PrecisionInfo",
    "QuantizationSettings",
    "RunConfig",
    "SettingsError",
    "TrainingSettings",
    "check_precision",
    "expand",
    "field_of",
    "named_columns",
    "nearest",
    "parse_columns",
    "parse_config",
    "private",
    "setting_path",
    "write_columns",
]
