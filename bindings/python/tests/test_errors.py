"""What is wrong, and where."""

from __future__ import annotations

import errno
import os
import pickle
import re
from pathlib import Path

import orbgate
import pytest
from orbgate import InternalError, NoPropertyError, NoRouteError, OrbgateError, Policy, PolicyError, PropertyError, TableError, Token, _native

ROOT = Path(__file__).resolve().parents[3]
INVALID = [
    section
    for page in sorted((ROOT / "policy" / "invalid").glob("*.md"))
    for section in re.findall(r"^## (\S+)\n\n```yaml(?: escaped)?\n(.*?)```\n\n```text\n(.*?)```$", page.read_text(encoding="utf-8"), re.M | re.S)
]


def test_there_are_bad_policies() -> None:
    assert len(INVALID) >= 175


@pytest.mark.once
@pytest.mark.parametrize(("name", "text", "expected"), INVALID, ids=[name for name, *_ in INVALID])
def test_a_bad_policy_is_refused_with_its_diagnostics(name: str, text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.yaml"
    text = re.sub(r"\\u\{([0-9a-f]+)\}", lambda escape: chr(int(escape[1], 16)), text)
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(PolicyError) as caught:
        Policy.from_file(path)
    error = caught.value
    assert str(error).splitlines() == [f"{path}:{line}" for line in expected.splitlines()]
    assert (error.line, error.column) == error.diagnostics[0][:2]
    assert error.file == str(path)
    twin = pickle.loads(pickle.dumps(error))
    assert (str(twin), twin.diagnostics) == (str(error), error.diagnostics)


def test_a_file_that_cannot_be_read_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Policy.from_file(tmp_path / "missing.yaml")
    with pytest.raises(IsADirectoryError):
        Policy.from_file(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(OSError, match="regular file") as caught:
            Policy.from_file(path)
        assert (caught.value.errno, caught.value.filename) == (errno.EINVAL, str(path))


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * (_native.MAX_POLICY_BYTES + 2))
    with pytest.raises(PolicyError, match="the limit"):
        Policy.from_file(path)


def test_text_that_is_not_utf8_is_refused_with_its_location() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml(b"orbgate: 1\nname: \xff")
    assert (caught.value.line, caught.value.column) == (2, 7)


def test_one_base_for_all() -> None:
    for error in (InternalError, NoPropertyError, NoRouteError, PolicyError, PropertyError, TableError):
        assert issubclass(error, OrbgateError) and issubclass(error, Exception)
        assert getattr(orbgate, error.__name__) is error and error.__module__ == "orbgate"


def test_no_panic_reaches_python_as_a_base_exception(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InternalError, match="please report it: an error made on purpose"):
        _native.break_down("an error made on purpose")
    assert Policy.external().allowed("GET", "/api/v1/external/orbs", Token("user", "read:orbs"))


def test_no_route_says_why(policy: Policy) -> None:
    with pytest.raises(NoRouteError) as caught:
        policy.route_of("PUT", "/api/v1/external/voxies")
    assert caught.value.methods == ("GET", "POST")
    assert caught.value.decision == policy.decide("PUT", "/api/v1/external/voxies", Token("user", ""))
    with pytest.raises(NoRouteError, match="only in case"):
        policy.route_of("POST", "/api/v1/external/voxies/Prompt/run")
    with pytest.raises(NoRouteError, match="`read:nothing`"):
        policy.routes("read:nothing")
    twin = pickle.loads(pickle.dumps(caught.value))
    assert (str(twin), twin.methods, twin.decision) == (str(caught.value), caught.value.methods, caught.value.decision)
