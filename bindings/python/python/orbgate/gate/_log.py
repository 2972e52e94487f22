"""The log of gates. It never affects a result."""

from __future__ import annotations

import contextlib
import logging

TYPE_CHECKING = False
if TYPE_CHECKING:
    _Adapter = logging.LoggerAdapter[logging.Logger]
else:
    _Adapter = logging.LoggerAdapter


class _Quiet(_Adapter):
    def log(self, *args: object, **values: object) -> None:
        # A handler or filter of the service might raise.
        with contextlib.suppress(Exception):
            super().log(*args, **values)  # type: ignore[arg-type]


logger = _Quiet(logging.getLogger("orbgate.gate"), {})
