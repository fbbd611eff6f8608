"""Files that may be packed, as a bounded stream of bytes."""

import bz2
import gzip
import io
import threading
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

_LINE_BYTES, _PIECE_BYTES = 2**24, 2**29
_PATIENCE = 10.0
"""Seconds that a library's threads are given to release a file."""


class Bounded(io.RawIOBase):
    """The unpacked bytes of a file; lines and pieces that may not fit in memory are refused."""

    def __init__(self, source: Any, path: Path, read: Callable[[], int]) -> None:
        self._source, self._path, self._line, self._piece, self._read = source, path, 0, 0, read

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return how many bytes."""
        try:
            data = self._source.read(len(buffer))
        except Exception as error:  # every kind of packing has its own
            raise ValueError(f"{self._path}: cannot be unpacked: {error}") from None
        buffer[: len(data)] = data
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._line = self._line + len(data) if end < 0 else len(data) - end - 1
        self._piece += len(data)
        if self._line > _LINE_BYTES or self._piece > _PIECE_BYTES:
            raise ValueError(f"{self._path}: its lines are too long, more than {_LINE_BYTES:,} bytes")
        return len(data)

    def next_piece(self) -> int:
        """Begin another piece; return how many bytes of the (packed) file were read so far."""
        self._piece = 0
        return self._read()


@contextmanager
def lent(source: io.BufferedReader, encoding: str) -> Iterator[list["_Lent"]]:
    """Lend a stream, as UTF-8, to a library that reads it in threads of its own; take it from the list.

    When the context ends, everything that was read has been released: a thread that released it only while the
    interpreter ends, after a file was refused, would end the process by C++'s ``terminate``.
    """
    returned = threading.Event()
    try:
        yield [_Lent(source, encoding, returned)]
    except BaseException as error:
        traceback.clear_frames(error.__traceback__)  # one of them holds the stream
        raise
    finally:
        returned.wait(_PATIENCE)


class _Lent:
    """A stream that sets `returned` when it and everything read from it have been released."""

    closed = False

    def __init__(self, source: io.BufferedReader, encoding: str, returned: threading.Event) -> None:
        plain = encoding.lower().replace("_", "-") in ("utf-8", "utf-8-sig", "ascii")
        text = None if plain else io.TextIOWrapper(source, encoding, newline="")
        self._take = source.read if text is None else lambda size: text.read(size).encode()
        self._token = _Token(returned)

    def read(self, size: int) -> bytes:
        """Return some bytes."""
        block = _Block(self._take(size))
        block.token = self._token
        return block


class _Block(bytes):
    token: "_Token"


class _Token:
    """Held by a stream and by everything read from it."""

    def __init__(self, returned: threading.Event) -> None:
        self._returned = returned

    def __del__(self) -> None:
        self._returned.set()


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file that may be packed; its ``raw`` is a `Bounded`."""
    if path.exists() and not path.is_file():  # a pipe or a device may have no end
        raise ValueError(f"{path} must be a file")
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        try:
            source = stack.enter_context(PACKED.get(path.suffix.lower(), nullcontext)(file))
        except Exception as error:
            raise ValueError(f"{path}: cannot be unpacked: {error}") from None
        yield stack.enter_context(io.BufferedReader(Bounded(source, path, file.tell), 2**18))


def _only_member(file: Any) -> Any:
    archive = zipfile.ZipFile(file)
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        raise ValueError(f"it must hold one file, got {len(members)}")
    return archive.open(members[0])


def _xz(file: Any) -> Any:
    import lzma  # which Pyodide lacks

    return lzma.open(file)


def _zstandard(file: Any) -> Any:
    import pyarrow as pa

    return pa.input_stream(file, compression="zstd")


PACKED: dict[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": _xz,
    ".zip": _only_member,
    ".zst": _zstandard,
}
