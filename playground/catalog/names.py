"""What a name can be: a path, or a hub id. Form only; nothing here asks the network."""

from __future__ import annotations

import os
import re
from pathlib import Path

ASSETS = Path(__file__).parent.parent / "assets"

_HUB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*")


def is_hub_id(name: str) -> bool:
    """Whether ``name`` has the form ``owner/name`` that the Hugging Face hub allows."""
    well_formed = _HUB_ID.fullmatch(name) is not None and len(name) <= 96
    return well_formed and not any(bad in name for bad in ("--", "..")) and name[-1] not in ".-"


def looks_like_path(name: str) -> bool:
    """Whether ``name`` can only be meant as a path: ``/x``, ``./x``, ``../x``, ``~/x``."""
    return name.startswith(("/", "./", "../", "~")) or os.path.isabs(name)


def as_path(name: str) -> Path | None:
    """The existing file or folder that ``name`` means, or None. Never raises, whatever the name."""
    path = os.path.expanduser(name)
    return Path(path) if os.path.exists(path) else None


def public_name(name: str) -> str:
    """A model or a dataset as others may read it: an id, or of a path the last part."""
    return Path(name).name if looks_like_path(name) or as_path(name) else name
