"""Reads the bytes of a log from a file or standard input, decompressed, in whole lines."""

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
from .._native import DECOMPRESSED_LIMIT, LINE_LIMIT

STANDARD_INPUT = "-"
# Rare items are dropped only after rows whose number is a multiple of this, so the result doesn't depend on how a log is split.
ROWS_AT_ONCE = 1 << 16
# The text that is decoded at once. Each part of a log has a fixed cost of about a thousand rows.
PIECE = 2 << 20
# The bytes of a file that are read at once.
READ = 1 << 20

# Some programs start a UTF-8 file with this mark, which isn't part of the first line.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The first bytes of compressed files. A log of lines never starts with them.
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"

BROKEN = (EOFError, OSError, zlib.error)


class Input(io.RawIOBase):
    """The raw bytes of a log file, and how many of them have been read. Entering the context opens the file.

    Raises `OSError` if there is no such file.
    """

    def __init__(self, path: str, format: str, label: str) -> None:
        self.path = path
        self.format = format
        # The name for display, which doesn't reveal the log's location on the machine.
        self.label = label
        self.position = 0
        self.size: int | None = None
        self.name = label if path == STANDARD_INPUT else f"`{label}`"
        # The file's identity, taken now because the file might be deleted later.
        self._inode: tuple[int, int] | None = None
        if path != STANDARD_INPUT:
            there = os.stat(path)
            self.size, self._inode = there.st_size or None, (there.st_dev, there.st_ino)
        # The digest of the bytes so far, if requested.
        self.sha256: hashlib._Hash | None = None
        self._is_whole = False
        # The digest of the decompressed bytes so far, if requested, to recognise the same file in another compression.
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
        data = self._start or self._file.read1(len(buffer))  # type: ignore[attr-defined]
        data, self._start = data[: len(buffer)], self._start[len(buffer) :]
        buffer[: len(data)] = data
        # pyarrow reads the needed parts of Parquet files, and this method only computes the digest.
        self.position += 0 if self.format == "parquet" else len(data)
        self._is_whole = not data
        if self.sha256 is not None:
            self.sha256.update(data)
        return len(data)

    def read_on(self) -> None:
        """Reads to the end of the file if a digest was requested, because the digest must cover the whole file."""
        rest = bytearray(READ)
        while self.sha256 is not None and self.readinto(rest):
            pass

    @property
    def identity(self) -> object:
        """A value that is equal for files with the same content, compressed or not, as far as that is known. None for an empty
        file and for standard input.
        """
        if not self.size:
            return None
        if self.sha256 is None:
            return self._inode
        if self.text_sha256 is None or not self._is_compressed or not self._is_text_whole:
            return self.digest
        return self.text_sha256.hexdigest() if self._has_text else None

    @property
    def digest(self) -> str | None:
        """The SHA-256 of the whole file, if it was requested and the file was read to its end."""
        return self.sha256.hexdigest() if self.sha256 is not None and self._is_whole else None

    def close(self) -> None:
        self._stream = None
        # Also called if the file was never opened.
        file = getattr(self, "_file", None)
        if file is not None and self.path != STANDARD_INPUT:
            file.close()
        super().close()

    def blocks(self) -> Iterator[bytes]:
        """Blocks of whole lines. A line that is too long is cut as soon as its length is known.

        If the log breaks off, raises `TableError` after all whole lines.
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
        """The decompressed bytes in large pieces. Older Pythons read gzip in pieces of 8 KiB."""
        # Kept, because the stream closes the file when it is garbage collected.
        self._stream = self._decompressed()
        parts: list[bytes] = []
        size, broken, left = 0, None, DECOMPRESSED_LIMIT
        while True:
            try:
                part = self._stream.read1(PIECE)
            except BROKEN as error:
                part, broken = b"", TableError(f"cannot read {self.name}: {error}")
            left -= len(part) if self._is_compressed else 0
            if left < 0:
                part, broken = b"", TableError(f"cannot read {self.name}: it is longer than 64 GiB when decompressed; pass it decompressed, on standard input")
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
    """A pyarrow stream with the method `read1`."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read1(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        return data
