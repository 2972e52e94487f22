"""The installed package: what it needs, what it brings, how fast it is there."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import orbgate
import pytest


def test_it_needs_nothing() -> None:
    assert all("extra ==" in needed for needed in importlib.metadata.requires("orbgate") or [])
    assert importlib.metadata.version("orbgate") == orbgate.__version__


def test_it_is_typed_and_licensed() -> None:
    files = {file.name for file in importlib.metadata.files("orbgate") or []}
    assert {"py.typed", "_native.pyi", "LICENSE-MIT", "LICENSE-APACHE"} <= files


def test_it_exports_what_it_says() -> None:
    assert sorted(orbgate.__all__) == orbgate.__all__
    assert all(getattr(orbgate, name).__module__.startswith("orbgate") for name in orbgate.__all__)
    assert set(orbgate.__all__) <= set(dir(orbgate))


@pytest.mark.published
def test_it_is_small() -> None:
    folder = Path(orbgate.__file__).parent
    native = sum(path.stat().st_size for path in folder.glob("_native*.so"))
    # 3 MB of it is aws-lc, with which gates check signatures.
    assert 0 < native < 7_000_000


def test_it_needs_no_library_of_python() -> None:
    """An extension takes Python's symbols from the process that loads it."""
    native = Path(orbgate._native.__file__).read_bytes()
    assert b"libpython3" not in native


@pytest.mark.alone
@pytest.mark.published
def test_it_is_imported_in_half_the_time_of_asyncio() -> None:
    """By turns, because a machine under load makes both slower."""

    def once(module: str) -> int:
        command = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
        own = next(line for line in lines if line.endswith(f"| {module}"))
        return int(own.split("|")[1])

    # As often as it takes: what else runs on the machine makes an import slower, never faster.
    own = other = sys.maxsize
    for _ in range(60):
        own, other = min(own, once("orbgate")), min(other, once("asyncio"))
        if own < other / 2:
            return
    raise AssertionError(f"orbgate takes {own} µs, asyncio {other} µs")


def test_it_brings_a_command() -> None:
    command = Path(sys.executable).with_name("orbgate-py")
    ran = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"orbgate {orbgate.__version__}\n"
    ran = subprocess.run([command, "replay"], capture_output=True, text=True)
    assert ran.returncode == 2 and ran.stderr.startswith("usage: orbgate-py replay ")


def test_modules_are_there_after_importing_the_package() -> None:
    """`orbgate.logs` was an `AttributeError` until it was imported by itself."""
    program = "import sys, orbgate; assert 'orbgate.logs' not in sys.modules; orbgate.logs, orbgate.audit, orbgate.openapi; assert {'audit', 'logs', 'openapi'} <= {*dir(orbgate)}"
    subprocess.run([sys.executable, "-c", program], check=True)
