"""What a visitor of a shared page may name in a form: what its lists offer to everybody, no more.

Anything else would be read for them with this machine's files, or with the token that its owner has
for the hub. They are told the same whether or not there is such a thing.
"""

from __future__ import annotations

from playground.catalog import list_datasets, resolve_model
from playground.catalog.cache import cached_folder
from playground.catalog.models import named_models
from playground.catalog.names import is_hub_id
from playground.config import SettingsError
from playground.ui.text import data as data_text
from playground.ui.text import models as model_text


def refuse_model(name: str, may_change: bool) -> None:
    """Visitors may name a model of the catalog, or one of the hub that is in this machine's cache.

    Raises:
        SettingsError: it is none of these, be there such a folder or not.
    """
    if not may_change and not _is_listed(name):
        raise SettingsError(model_text.NOT_FOR_VISITORS)


def refuse_unfetched(name: str, may_change: bool) -> None:
    """Where a model's own files are needed: no visitor makes this machine ask the hub for them.

    Raises:
        SettingsError: it was never fetched, or there is none of that name.
    """
    entry = resolve_model(name)
    if not may_change and entry.hub_id and not cached_folder(entry.hub_id):
        raise SettingsError(model_text.NOT_FETCHED)


def refuse_dataset(name: str, may_change: bool) -> None:
    """Visitors may name a bundled dataset: what lies on the hub comes from there each time.

    Raises:
        SettingsError: it is another, be there such a file or not.
    """
    if not may_change and name not in {entry.id for entry in list_datasets()}:
        raise SettingsError(data_text.NOT_FOR_VISITORS)


def _is_listed(name: str) -> bool:
    known = name in {entry.id for entry in named_models()}
    if not known and not (is_hub_id(name) and cached_folder(name)):
        return False
    try:
        return resolve_model(name).where != "folder"  # one that is called like a hub id wins
    except SettingsError:  # of the catalog, and not installed: its own sentence says so
        return True
