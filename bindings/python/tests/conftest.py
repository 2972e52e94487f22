"""What the tests share. They test the installed package, never the sources of this checkout."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import orbgate
import pytest
from expected import Expected

ROOT = Path(__file__).resolve().parents[3]

assert ROOT not in Path(orbgate.__file__).resolve().parents or "site-packages" in orbgate.__file__, (
    f"{orbgate.__file__} is not an installed package"
)


def pytest_report_header() -> str:
    return f"orbgate {orbgate.__version__} in {orbgate.__file__}, Python {sys.version.split()[0]}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tells `cargo xtask test`, which counts them, which tests are skipped."""
    if file := os.environ.get("ORBGATE_SKIPPED"):
        with open(file, "a", encoding="utf-8") as skipped:
            for report in terminalreporter.stats.get("skipped", []):
                why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
                skipped.write(f"{report.nodeid}: {why}\n".replace("\r", ""))


@pytest.fixture
def expected(request: pytest.FixtureRequest) -> Iterator[Expected]:
    """Messages that are compared with those in `expected.txt` after the test."""
    messages = Expected()
    yield messages
    messages.keep(f"{request.node.path.stem}::{request.node.name}")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def policy() -> orbgate.Policy:
    return orbgate.Policy.external()


@pytest.fixture(scope="session")
def command() -> str:
    """The program `orbgate`, which `cargo xtask test python` has built."""
    if program := os.environ.get("ORBGATE_COMMAND"):
        return program
    pytest.skip("ORBGATE_COMMAND names no `orbgate` command")
