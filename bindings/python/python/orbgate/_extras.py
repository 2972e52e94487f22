"""What the package can use and does not need."""

from __future__ import annotations

import importlib
import shlex
from importlib import metadata

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
        message = f"this needs {package}, which is not installed: pip install {_packages(extra)}"
        raise ModuleNotFoundError(message, name=package) from None


def _packages(extra: str) -> str:
    """What an extra brings, as a shell takes it: by name, because the package itself may come from a wheel or a folder."""
    needed = (line.partition(";") for line in metadata.requires("orbgate") or [])
    marked = (f"extra == '{extra}'", f'extra == "{extra}"')
    return shlex.join(package.strip() for package, _, marker in needed if marker.strip() in marked)
