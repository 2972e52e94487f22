"""What the package can use and does not need."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def needs(module: str, extra: str) -> Any:
    """Imports what an extra of the package brings.

    Raises `ImportError`, which names the extra, where it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        package = module.partition(".")[0]
        if missing.name != package:
            raise
        message = f"this needs {package}, which is not installed: pip install 'orbgate[{extra}]'"
        raise ModuleNotFoundError(message, name=package) from None
