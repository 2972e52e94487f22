"""Optional dependencies of the package."""

from __future__ import annotations

import importlib
import shlex
from importlib import metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def needs(module: str, extra: str) -> Any:
    """Imports a module that an extra of the package installs.

    Raises `ImportError`, which names the extra, if it isn't installed.
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
    """The packages of an extra, quoted for a shell. They are listed by name, because this package might come from a
    wheel or a folder.
    """
    needed = (line.partition(";") for line in metadata.requires("orbgate") or [])
    marked = (f"extra == '{extra}'", f'extra == "{extra}"')
    return shlex.join(package.strip() for package, _, marker in needed if marker.strip() in marked)
