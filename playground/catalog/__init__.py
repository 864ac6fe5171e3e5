"""The models and datasets one can pick: bundled ones by id, local paths, and hub ids by form.

Everything that can be checked without the network is checked here, before a run exists.
"""

from playground.catalog.datasets import DatasetEntry, list_datasets, resolve_dataset
from playground.catalog.entry import ModelEntry
from playground.catalog.models import list_models, resolve_model

__all__ = [
    "DatasetEntry",
    "ModelEntry",
    "list_datasets",
    "list_models",
    "resolve_dataset",
    "resolve_model",
]
