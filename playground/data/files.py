"""Open a file of rows: unpacked, decoded, a line at a time, and never more than was asked for.

A file says by its first bytes whether it is packed (gzip, zstd) and which Unicode it is in.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from playground.config import SettingsError

Said = Callable[[str], None]
"""Takes a sentence about how a file was read, for the person to see."""

LARGEST_VALUE = 64 * 2**20
"""Characters in one line, cell, JSON value or paragraph; more is a mistake, or an attack."""

UNPACKED_RATIO = 250
"""Text packs to a twentieth at best, the same row over and over to a two-hundredth; gzip can do a
thousandth, and zstd any share. Beyond this a file is taken for one made to fill the memory."""

UNPACKED_FREELY = 16 * 2**20
"""Bytes that any packed file may become: so small that their ratio does not matter."""

LARGEST_UNPACKED = 64 * 2**30
"""Bytes that no packed file may become."""

_CHUNK = 2**20


def line_of(number: int, name: str) -> str:
    """Where a person finds it."""
    return f"Line {number} of '{name}'"


class TextFile:
    """The text of a file, from its start on. ``line`` counts the lines handed out so far.

    Args:
        said: told what a person should know of how the file was read.
        newline: as ``open`` has it: None makes every line end with ``\\n``, "" leaves them be.
    Raises:
        SettingsError: while reading: it is not text, not packed well, or unpacks beyond measure.
    """

    def __init__(self, path: Path, said: Said, newline: str | None = None) -> None:
        self.name, self.line = path.name, 0
        try:
            content = open_unpacked(path)
            self._encoding = _encoding(content.peek(2))
        except _UNREADABLE as error:
            raise _unreadable(self.name, error) from None
        # A byte that is not UTF-8 becomes half a character, which tells its line later.
        errors = "surrogateescape" if self._encoding == "utf-8-sig" else "strict"
        self._text = io.TextIOWrapper(content, self._encoding, errors, newline)
        if self._encoding == "utf-16":
            said(f"'{self.name}' is UTF-16, as its first bytes say, and was read as that.")

    def __enter__(self) -> TextFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()

    def __iter__(self) -> Iterator[str]:
        while line := self._read(self._text.readline, LARGEST_VALUE):
            self.line += 1
            if len(line) == LARGEST_VALUE:
                raise too_large(self.place)
            yield line

    def read(self, size: int) -> str:
        """The next ``size`` characters, fewer at the end; for what is not made of lines."""
        text = self._read(self._text.read, size)
        self.line += text.count("\n")
        return text

    @property
    def place(self) -> str:
        """The line that was handed out last."""
        return line_of(max(self.line, 1), self.name)

    def _read(self, call: Callable[[int], str], size: int) -> str:
        try:
            text = call(size)
        except UnicodeDecodeError as error:
            raise self._not_text(self.line + 1, f"it is not {error.encoding}") from None
        except _UNREADABLE as error:
            raise _unreadable(self.name, error) from None
        if "\0" in text:
            # A NUL byte is in no text, but in every ASCII character of UTF-16.
            at = self.line + 1 + text.count("\n", 0, text.index("\0"))
            raise self._not_text(at, "it holds NUL bytes, as UTF-16 does")
        if not text.isascii() and self._encoding == "utf-8-sig":
            self._refuse_bytes(text)
        return text

    def _refuse_bytes(self, text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            byte = ord(text[error.start]) - 0xDC00  # as "surrogateescape" hides it
            at = self.line + 1 + text.count("\n", 0, error.start)
            raise self._not_text(at, f"byte 0x{byte:02x} has no place there") from None

    def _not_text(self, line: int, why: str) -> SettingsError:
        return SettingsError(
            f"{line_of(line, self.name)} is not UTF-8 text ({why}); save the file again as UTF-8."
        )


def too_large(place: str) -> SettingsError:
    return SettingsError(
        f"{place} is longer than {LARGEST_VALUE // 2**20} million characters; "
        "divide it into rows, or check its quotes."
    )


def open_unpacked(path: Path) -> Any:
    """A buffered binary file, unpacked on the way where its first bytes say that it is packed."""
    file = path.open("rb")
    start = file.peek(4)[:4]
    if start == b"PK\x03\x04":
        file.close()
        raise SettingsError(
            f"Dataset file '{path.name}' is a zip archive, as an Excel workbook is too; unpack it, "
            "or save its table as .csv."
        )
    if start[:2] == b"\x1f\x8b":
        return io.BufferedReader(_Unpacked(gzip.GzipFile(fileobj=file), file, path), _CHUNK)
    if start == b"\x28\xb5\x2f\xfd":
        import pyarrow

        stream = pyarrow.CompressedInputStream(file, "zstd")
        return io.BufferedReader(_Unpacked(stream, file, path), _CHUNK)
    return file


class _Unpacked(io.RawIOBase):
    """A packed file's content, as far as it stands in a sane relation to what it is packed into."""

    def __init__(self, stream: Any, packed_file: BinaryIO, path: Path) -> None:
        self._stream, self._file = stream, packed_file
        self._name, self._given = path.name, 0
        packed = path.stat().st_size
        self._most = min(max(UNPACKED_FREELY, UNPACKED_RATIO * packed), LARGEST_UNPACKED)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._stream.read(len(buffer))
        self._given += len(content)
        if self._given > self._most:
            raise SettingsError(
                f"Dataset file '{self._name}' unpacks to over {self._most // 2**20:,} MiB, far "
                "more than text does; unpack it yourself and look what it holds."
            )
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._stream.close()
        self._file.close()
        super().close()


def _encoding(start: bytes) -> str:
    return "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"


_UNREADABLE = (OSError, EOFError, zlib.error)


def _unreadable(name: str, error: Exception) -> SettingsError:
    damaged = getattr(error, "errno", None) is None  # the system did its part
    why = getattr(error, "strerror", None) or str(error)
    remedy = (
        "it is damaged or incomplete, so pack it again"
        if damaged
        else "check the file, and that you may read it"
    )
    return SettingsError(f"Dataset file '{name}' could not be read ({why}); {remedy}.")
