"""Ask the Hugging Face hub about an id before anything is fetched, and be told in one sentence."""

from __future__ import annotations

from typing import Literal

from playground.config import SettingsError

ANSWER_WITHIN_S = 10.0
"""The hub's client retries a download for a minute; this one question fails fast."""


def hub_files(kind: Literal["model", "dataset"], hub_id: str) -> list[str]:
    """Names of the files behind a hub id.

    Raises:
        Unreachable: no connection, so nothing is known.
        SettingsError: there is no such repository, or it may not be read.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HTTPError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
    )

    ask = getattr(HfApi(), f"{kind}_info")
    what = f"{kind.capitalize()} '{hub_id}'"
    try:
        return [file.rfilename for file in ask(hub_id, timeout=ANSWER_WITHIN_S).siblings]
    except GatedRepoError:
        raise SettingsError(
            f"{what} is gated; accept its terms on the hub and set HF_TOKEN, or pick another."
        ) from None
    except RepositoryNotFoundError:
        raise SettingsError(
            f"{what} does not exist on the hub, or is private; check the spelling, or pick another."
        ) from None
    except HfHubHTTPError as error:
        status = error.response.status_code
        raise SettingsError(f"The hub refuses {what} (HTTP {status}); try later.") from error
    except (HTTPError, OSError, OfflineModeIsEnabled) as error:
        raise Unreachable(
            f"{what} cannot be reached: there is no connection to the hub; "
            f"use a bundled {kind} or a local one."
        ) from error


class Unreachable(SettingsError):
    """The hub did not answer."""
