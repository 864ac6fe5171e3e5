"""What the catalog knows of a base model."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

Where = Literal["bundled", "package", "folder", "cache", "hub"]
"""With this project, in an installed package, in a local folder, fetched before, to be fetched."""


class ModelEntry(BaseModel):
    """A base model that can be loaded.

    Attributes:
        id: what a person types and what a run records.
        family: models that belong together in a list, or "".
        parameters: how many, a tied matrix once; None when only loading would tell.
        size_bytes: of its weights on disk, or to be fetched; None when the hub would have to say.
        path: the local folder that holds it; None for a hub model, or one that is not installed.
        hub_id: ``owner/name`` on the Hugging Face hub; whether it exists is found on loading.
        gguf_file: the file in ``path`` to read when the weights are GGUF and not safetensors.
        licence: as its page names it, or None when we cannot know.
        gated: its terms have to be accepted on the hub first; None when we cannot know.
        chat: its tokenizer brings a chat template; None when only loading would tell.
        max_length: tokens that it reads at most; None when only loading would tell.
        architecture: a file like config.json by which a hub model of the catalog can be built
            without the hub; None where there is none, and for models that are on this machine.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    title: str
    summary: str
    family: str = ""
    where: Where = "folder"
    parameters: int | None = None
    size_bytes: int | None = None
    path: Path | None = None
    hub_id: str | None = None
    gguf_file: str | None = None
    licence: str | None = None
    gated: bool | None = None
    chat: bool | None = None
    max_length: int | None = None
    architecture: Path | None = None

    @property
    def here(self) -> bool:
        """Whether it can be loaded without any connection."""
        return self.where in ("cache", "folder") or self.path is not None

    @property
    def revision(self) -> str | None:
        """The hub's commit that ``path`` holds, when it is a folder of the hub's cache; else None.

        A hub id alone does not say which weights a run had: its owner may upload others.
        """
        if self.hub_id is None or self.path is None or self.path.parent.name != "snapshots":
            return None
        return self.path.name

    def changed(self, **changes: object) -> ModelEntry:
        """A copy that differs in these attributes."""
        return self.model_copy(update=changes)
