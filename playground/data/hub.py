"""Ask the Hugging Face hub about an id before anything is fetched, and be told in one sentence.

Whatever the hub or the way to it does is a sentence: what is wrong, and what to do. None holds a
token.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection
from typing import Any, Literal, NamedTuple

from playground.catalog.cache import cached_models
from playground.catalog.datasets import list_datasets
from playground.catalog.models import named_models, nearest_model
from playground.config import SettingsError

Kind = Literal["model", "dataset"]

ANSWER_WITHIN_S = 10.0
"""The hub's client retries a download for a minute; a question fails fast."""

_MOST_NAMED = 6


class Unreachable(SettingsError):
    """The hub did not answer."""


class Listing(NamedTuple):
    """What there is behind a hub id: sizes in bytes by file name, None where the hub tells none."""

    revision: str
    files: dict[str, int | None]


def hub_files(kind: Kind, hub_id: str) -> list[str]:
    """Names of the files behind a hub id; as ``ask_hub``."""
    return list(ask_hub(kind, hub_id).files)


def ask_hub(kind: Kind, hub_id: str) -> Listing:
    """The files behind a hub id, which this user may read.

    Raises:
        Unreachable: no connection, so nothing is known.
        SettingsError: there is no such repository, or it may not be read.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        found = _info(kind, hub_id)
        files = {file.rfilename: file.size for file in found.siblings or ()}
        if found.gated:  # its page is open to all, its files are not
            _try_to_read(kind, hub_id, next(iter(files), "README.md"))
    except RepositoryNotFoundError as error:
        raise _not_there(kind, hub_id, error) from None
    except Exception as error:
        raise said_of(error, kind, hub_id) from error
    return Listing(found.sha, files)


def said_of(error: Exception, kind: Kind, hub_id: str) -> SettingsError:
    """What the hub's client raised, in one sentence.

    Raises:
        the error itself, where it is neither the hub's nor the connection's nor the disk's.
    """
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
    )

    what = f"{kind.capitalize()} '{hub_id}'"
    if isinstance(error, GatedRepoError):
        return _gated(what, kind, hub_id)
    if isinstance(error, RepositoryNotFoundError):
        return _not_found(what, kind, hub_id)
    if isinstance(error, HfHubHTTPError):
        return _refused(what, error.response.status_code)
    if isinstance(error, OfflineModeIsEnabled):
        return Unreachable(
            f"{what} cannot be fetched while HF_HUB_OFFLINE is set; unset it, or use "
            f"{_reachable(kind)}."
        )
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if full:
        return SettingsError(
            f"The disk has no room for the files of {kind} '{hub_id}'; free some, or move the "
            "hub's cache by HF_HOME."
        )
    if isinstance(error, HTTPError | LocalEntryNotFoundError | ConnectionError | TimeoutError):
        return Unreachable(
            f"{what} cannot be reached: there is no connection to the hub ({_short(error)}); "
            f"connect and start again, or use {_reachable(kind)}."
        )
    if isinstance(error, OSError):
        return SettingsError(
            f"{what} cannot be fetched into the hub's cache ({_short(error)}); see that its folder "
            "can be written, or choose another by HF_HOME."
        )
    if isinstance(error, ValueError):
        return Unreachable(
            f"{what} cannot be reached: what answers in the hub's place makes no sense, as the "
            f"login page of a network does; see to the connection, or use {_reachable(kind)}."
        )
    raise error


def refuse_unusable(model_id: str, names: Collection[str]) -> None:
    """Refuses a repository of which no whole model with safe weights can be loaded.

    Raises:
        SettingsError: it is an adapter, or has no safetensors weights; with the remedy.
    """
    what = f"Model '{model_id}'"
    if "adapter_config.json" in names:  # transformers would load its base model, whichever that is
        raise SettingsError(
            f"{what} is an adapter and not a whole model; "
            "name the base model that it was trained on."
        )
    if any(name.endswith(".safetensors") for name in names):
        return
    gguf = sorted(name for name in names if name.lower().endswith(".gguf"))
    if gguf:
        raise SettingsError(
            f"{what} has GGUF files only; name the original that it was made from, or fetch one "
            f"file by `hf download {model_id} {gguf[0]} --local-dir .` and give its path."
        )
    raise SettingsError(
        f"{what} has no safetensors weights; other formats can run code when they are read, so "
        "pick a checkpoint that has them."
    )


def _info(kind: Kind, hub_id: str) -> Any:
    from huggingface_hub import HfApi

    ask: Callable[..., Any] = getattr(HfApi(), f"{kind}_info")
    return ask(hub_id, timeout=ANSWER_WITHIN_S, files_metadata=True)


def _try_to_read(kind: Kind, hub_id: str, name: str) -> None:
    """Raises what the hub's client raises for a file that may not be read."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    get_hf_file_metadata(hf_hub_url(hub_id, name, repo_type=kind), timeout=ANSWER_WITHIN_S)


def _not_there(kind: Kind, hub_id: str, error: Exception) -> SettingsError:
    """No such repository: perhaps one of the other kind."""
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, HTTPError

    other: Kind = "dataset" if kind == "model" else "model"
    if isinstance(error, GatedRepoError):
        return said_of(error, kind, hub_id)
    try:
        _info(other, hub_id)
    except (HfHubHTTPError, HTTPError, OSError):  # none of these either, as far as can be told
        return said_of(error, kind, hub_id)
    return SettingsError(
        f"'{hub_id}' is a {other} on the hub and no {kind}; give it as the {other}, and pick a "
        f"{kind} as the {kind}."
    )


def _gated(what: str, kind: Kind, hub_id: str) -> SettingsError:
    from huggingface_hub import get_token

    if get_token() is None:
        how = "log in by `hf auth login` (or set HF_TOKEN)"
        return SettingsError(
            f"{what} is gated: open {page_of(hub_id, kind)}, accept its terms, {how}, and start "
            "again."
        )
    return SettingsError(
        f"{what} is gated, and who you are logged in as has no access to it: open "
        f"{page_of(hub_id, kind)}, accept its terms, see that your token may read gated "
        "repositories, and start again."
    )


def page_of(hub_id: str, kind: Kind = "model") -> str:
    """Where a person reads about a hub id."""
    from huggingface_hub import constants

    folder = "datasets/" if kind == "dataset" else ""
    return f"{constants.ENDPOINT}/{folder}{hub_id}"


def _not_found(what: str, kind: Kind, hub_id: str) -> SettingsError:
    hint = nearest_model(hub_id) if kind == "model" else ""
    return SettingsError(
        f"{what} does not exist on the hub, or is private; check the spelling, or log in by "
        f"`hf auth login` if it is yours.{hint}"
    )


def _refused(what: str, status: int) -> SettingsError:
    if status in (401, 403):
        return SettingsError(
            f"The hub does not let you read {_lower(what)} (HTTP {status}), for it does not accept "
            "the token in use; log in again by `hf auth login`, or mend HF_TOKEN."
        )
    if status == 429:
        return SettingsError(
            f"The hub was asked too often to give {_lower(what)} (HTTP 429); wait some minutes, or "
            "log in by `hf auth login`, which raises the limit."
        )
    return SettingsError(f"The hub fails at {_lower(what)} (HTTP {status}); try again later.")


def _reachable(kind: Kind) -> str:
    """What can be used without a connection."""
    if kind == "dataset":
        names = [entry.id for entry in list_datasets()]
        return f"what is on this machine: {', '.join(names)}, or a file"
    names = [entry.id for entry in named_models() if entry.path]
    names += cached_models()
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"what is on this machine: {', '.join(names[:_MOST_NAMED])}{more}, or a local folder"


def _lower(what: str) -> str:
    return what[0].lower() + what[1:]


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return (text if len(text) <= 120 else f"{text[:120]} ...").rstrip(".")
