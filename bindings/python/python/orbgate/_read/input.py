"""The bytes of a log: from a file or standard input, decompressed, in whole lines."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import zlib
from collections.abc import Iterator
from typing import IO, Any

from .._errors import TableError
from .._extras import needs
from .._native import LINE_LIMIT

STANDARD_INPUT = "-"
# Rare things are dropped only after rows whose number is a multiple of this, so the way a log is cut changes nothing.
ROWS_AT_ONCE = 1 << 16
# How much text is taken at once: each part of a log costs as much as some thousand rows.
PIECE = 2 << 20
# How much of a file is read at once.
READ = 1 << 20

# How some programs begin a text in UTF-8; it is no part of the first line.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# How compressed files start. A log of lines never starts so.
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"

BROKEN = (EOFError, OSError, zlib.error)


class Input(io.RawIOBase):
    """The raw bytes of a file of a log, which is opened where it is entered, and how many of them have been read.

    Raises `OSError` where there is no such file.
    """

    def __init__(self, path: str, format: str, label: str) -> None:
        self.path = path
        self.format = format
        # What people read: it does not say where on a machine the log is.
        self.label = label
        self.position = 0
        self.size: int | None = None
        self.name = label if path == STANDARD_INPUT else f"`{label}`"
        # Which file of the machine it is; later it may be gone.
        self._inode: tuple[int, int] | None = None
        if path != STANDARD_INPUT:
            there = os.stat(path)
            self.size, self._inode = there.st_size or None, (there.st_dev, there.st_ino)
        # Of the bytes so far, if it is wanted.
        self.sha256: hashlib._Hash | None = None
        self._is_whole = False
        # Of the text of a compressed file so far, if that is wanted, to know it again however it is compressed.
        self.text_sha256: hashlib._Hash | None = None
        self._is_text_whole = self._is_compressed = self._has_text = False
        self._file: IO[bytes] | None = None
        self._stream: Any = None
        self._start = b""

    def __enter__(self) -> Input:
        self._file = sys.stdin.buffer if self.path == STANDARD_INPUT else open(self.path, "rb")
        self._start = self._file.read(len(ZSTD))
        return self

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        assert self._file is not None
        found = self._start or self._file.read1(len(buffer))  # type: ignore[attr-defined]
        found, self._start = found[: len(buffer)], self._start[len(buffer) :]
        buffer[: len(found)] = found
        # Of Parquet, pyarrow reads the parts that are wanted, and this only the digest.
        self.position += 0 if self.format == "parquet" else len(found)
        self._is_whole = not found
        if self.sha256 is not None:
            self.sha256.update(found)
        return len(found)

    def read_on(self) -> None:
        """Reads to the file's end if a digest is wanted: one of a part would be nobody's."""
        rest = bytearray(READ)
        while self.sha256 is not None and self.readinto(rest):
            pass

    @property
    def identity(self) -> object:
        """The same of two files with the same content, compressed or not, as far as that is known; None of an empty one, and of standard input."""
        if not self.size:
            return None
        if self.sha256 is None:
            return self._inode
        if self.text_sha256 is None or not self._is_compressed or not self._is_text_whole:
            return self.digest
        return self.text_sha256.hexdigest() if self._has_text else None

    @property
    def digest(self) -> str | None:
        """The SHA-256 of the whole file, if it was wanted and the file was read to its end."""
        return self.sha256.hexdigest() if self.sha256 is not None and self._is_whole else None

    def close(self) -> None:
        self._stream = None
        # Also called where the file was never opened.
        file = getattr(self, "_file", None)
        if file is not None and self.path != STANDARD_INPUT:
            file.close()
        super().close()

    def blocks(self) -> Iterator[bytes]:
        """Whole lines, many at once. One that is too long is cut where it is known to be.

        Raises `TableError` where the log breaks off, after all of its whole lines.
        """
        pieces: list[bytes] = []
        kept = 0
        for at, piece in enumerate(self._pieces()):
            if not at:
                piece = piece.removeprefix(BYTE_ORDER_MARK)
            end = piece.rfind(b"\n") + 1
            if end:
                yield b"".join([*pieces, piece[:end]])
                pieces, kept = [], 0
            rest = piece[end : end + LINE_LIMIT + 1 - kept]
            pieces.append(rest)
            kept += len(rest)
        if kept:
            yield b"".join(pieces)

    def _pieces(self) -> Iterator[bytes]:
        """The decompressed bytes, in large pieces: of gzip, older Pythons read 8 KiB at once."""
        # Kept, because it closes the file where it is forgotten.
        self._stream = self._decompressed()
        parts: list[bytes] = []
        size, broken = 0, None
        while True:
            try:
                part = self._stream.read1(PIECE)
            except BROKEN as error:
                part, broken = b"", TableError(f"cannot read {self.name}: {error}")
            if self.text_sha256 is not None and self._is_compressed:
                self.text_sha256.update(part)
                self._has_text = self._has_text or bool(part)
            self._is_text_whole = not part and broken is None
            parts.append(part)
            size += len(part)
            if size >= PIECE or not part:
                yield b"".join(parts)
                parts, size = [], 0
            if broken is not None:
                raise broken
            if not part:
                return

    def _decompressed(self) -> Any:
        self._is_compressed = self._start == ZSTD or self._start.startswith(GZIP)
        if self._start.startswith(GZIP):
            return gzip.GzipFile(fileobj=io.BufferedReader(self, READ))
        if self._start == ZSTD:
            return _Arrow(needs("pyarrow", "logs").CompressedInputStream(self, "zstd"))
        return io.BufferedReader(self, READ)


class _Arrow:
    """A stream of pyarrow, with the one method that is used here."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read1(self, size: int) -> bytes:
        found: bytes = self._stream.read(size)
        return found
