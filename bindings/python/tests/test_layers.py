"""The layers of the package: a module imports only from its own layer or from one below, and no layer's private names from outside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import orbgate

# Imports are the same in every version of Python.
pytestmark = pytest.mark.once

ROOT = Path(orbgate.__file__).parent
# From the top to the bottom. A module that isn't here, such as `_policy`, is below all of these.
LAYERS = (
    ("__main__",),
    ("_command",),
    ("", "audit", "gate", "logs", "openapi", "orbs", "pandas", "polars", "spark"),
    ("_report",),
    ("_count",),
    ("_read",),
)


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").rstrip(".")


FILES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}
MODULES = {*FILES, "_native"}


def imports(module: str) -> Iterator[tuple[str, str]]:
    """What a module imports of the package, wherever in the file: the other module, and the name in it."""
    package = module.split(".") if FILES[module].name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(FILES[module].read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            of = ".".join([*package[: len(package) - node.level + 1], *(node.module or "").split(".")]).strip(".")
            for alias in node.names:
                inner = f"{of}.{alias.name}".strip(".")
                yield (inner, "") if inner in MODULES else (of, alias.name)


def height(module: str) -> int:
    first = module.split(".")[0]
    return next((len(LAYERS) - at for at, layer in enumerate(LAYERS) if first in layer), 0)


@pytest.mark.parametrize("module", FILES)
def test_imports_go_down(module: str) -> None:
    assert [f"{of} {name}" for of, name in imports(module) if height(of) > height(module)] == []


@pytest.mark.parametrize("module", FILES)
def test_private_names_are_imported_only_inside_their_package(module: str) -> None:
    def is_private(of: str, name: str) -> bool:
        *packages, last = f"{of}.{name}".strip(".").split(".")
        inside = [*packages, last]
        return any(part.startswith("_") and at and inside[:at] != module.split(".")[:at] for at, part in enumerate(inside) if part != "__version__")

    assert [f"{of} {name}" for of, name in imports(module) if is_private(of, name)] == []


def test_no_imports_run_in_a_circle() -> None:
    """Those for types alone count: modules that need each other's types are one module."""
    graph = {module: {of for of, _ in imports(module)} - {module} for module in FILES}
    assert [*TopologicalSorter(graph).static_order()]
