"""Verifies bundles: checks their contents and signature, makes them again from the log, and compares the two."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]

from .._errors import OrbgateError, PolicyError, TableError
from .._native import VERSION
from .._policy import Policy
from .._read.columns import Layout
from .._read.entries import digest_of
from .._read.entries import entries as entries_of
from .._read.files import files as files_of
from .._read.lines import once
from .._read.reader import Reader
from .._rows import Rows
from . import make
from .bundle import BASE, FORMAT, LIBRARIES, MANIFEST, PAGE, POLICY, PROPERTIES, BrokenBundleError, entries, read_table, summary, table_files, unpack
from .consistent import differences
from .proved import Properties, prove

# The types of the members of a manifest, and of its `log`. Some can be null.
NONE: type[None] = type(None)
MEMBERS: dict[str, tuple[type, ...]] = {
    "made_by": (dict,), "title": (str,), "top": (int,), "log": (dict,), "policy": (str,), "base": (str, NONE), "properties": (dict, NONE), "calls": (dict,),
    "broken": (str, NONE), "warnings": (list,), "sha256": (dict,),
}  # fmt: skip
VERSIONS: dict[str, tuple[type, ...]] = dict.fromkeys(("orbgate", *LIBRARIES), (str,))
OF_LOG: dict[str, tuple[type, ...]] = {"format": (str,), "arguments": (dict,), "files": (list,)}
MISSING = object()
# JSON's names for types.
JSON = {dict: "an object", list: "an array", str: "a string", int: "a number", float: "a number with a fraction", bool: "true or false", NONE: "null"}
# The arguments of a reader. Others are for display.
READ = ("columns", "kind", "scopes", "allow_bonus_orbs_use", "time_unit", "time_zone")
PIECE = 1 << 20
# A minisign public key: 42 bytes in base64 with this prefix.
PUBLIC_KEY, PUBLIC_KEY_LENGTH = "RW", 56


class Checked(NamedTuple):
    """A check of a part of a bundle. `is_same` is None if the part wasn't checked; `about` gives the details or the reason."""

    what: str
    is_same: bool | None
    about: str


def verify(
    path: str | os.PathLike[str],
    log: Sequence[str | os.PathLike[str]] = (),
    public_key: str | None = None,
    signature: str | None = None,
    also: Mapping[str, str | os.PathLike[str] | None] | None = None,
) -> Rows[Checked]:
    """Checks a bundle; see `orbgate.audit.verify`."""
    with open(path, "rb") as file:
        data = file.read()
    checks = [_signature(os.fspath(path), data, public_key, signature)]
    try:
        inside = unpack(data)
        manifest = _manifest(inside)
    except BrokenBundleError as error:
        return Rows(Checked, [*checks, Checked("bundle", False, str(error))])
    wrong = [*_members(manifest, MEMBERS, "manifest"), *_members(manifest.get("log"), OF_LOG, "manifest: log")]
    proved, why = _proved(inside, manifest)
    whole = [*wrong, *_whole(inside, manifest)]
    # What has another digest than the manifest states is named above.
    compared: list[Checked] = []
    if all(one.is_same for one in whole):
        by = manifest["made_by"]["orbgate"]
        is_own = by == VERSION
        compared = (
            [Checked(*of) for of in differences(inside, manifest, MEMBERS)]
            if is_own
            else [Checked("parts of the bundle", None, f"made with orbgate {by}, whose tables may be others")]
        )
    checks += [*whole, *compared, *_proved_again(inside, manifest, proved, why)]
    if not log:
        again: Iterable[Checked] = [Checked("repetition", None, "no log was given")]
    elif wrong or _policy(inside, POLICY) is None:
        again = [Checked("repetition", False, "the bundle lacks parts that are needed to make it again: see above")]
    else:
        again = _repeated(
            inside, manifest, proved, [os.fspath(file) for file in log], {name: os.fspath(file) for name, file in (also or {}).items() if file is not None}
        )
    return Rows(Checked, [*checks, *again])


def _manifest(inside: dict[str, bytes]) -> dict[str, Any]:
    if MANIFEST not in inside:
        raise BrokenBundleError(f"it contains no `{MANIFEST}`")
    try:
        manifest = json.loads(inside[MANIFEST], object_pairs_hook=once)
        # JSON can escape half of a surrogate pair, which is not valid text.
        json.dumps(manifest, ensure_ascii=False).encode()
    except (RecursionError, ValueError) as error:
        raise BrokenBundleError(f"`{MANIFEST}` cannot be read: {error}") from None
    if not isinstance(manifest, dict) or "orbgate_evidence" not in manifest:
        raise BrokenBundleError(f"`{MANIFEST}` is not the manifest of a bundle")
    if type(manifest["orbgate_evidence"]) is not int:
        raise BrokenBundleError(f"`orbgate_evidence` of `{MANIFEST}` is {JSON[type(manifest['orbgate_evidence'])]}, not {JSON[int]}")
    if manifest["orbgate_evidence"] != FORMAT:
        raise TableError(f"the bundle has format {manifest['orbgate_evidence']!r}, but this package supports only {FORMAT}")
    return manifest


def _members(part: Any, members: dict[str, tuple[type, ...]], where: str) -> Iterable[Checked]:
    """Checks for members of the manifest that are missing or have the wrong type."""
    for name, types in members.items():
        value = part.get(name, MISSING) if isinstance(part, dict) else MISSING
        if value is MISSING:
            yield Checked(f"{where}: {name}", False, "it is missing")
        elif type(value) not in types:
            yield Checked(f"{where}: {name}", False, f"it is {JSON[type(value)]}, not {JSON[types[0]]}")
        elif name == "made_by" and isinstance(value, dict):
            yield from _members(value, {**dict.fromkeys(value, (str,)), **VERSIONS}, f"{where}: {name}")


def _policy(inside: dict[str, bytes], name: str) -> Policy | None:
    try:
        return Policy.from_yaml(inside[name]) if name in inside else None
    except PolicyError:
        return None


def _whole(inside: dict[str, bytes], manifest: dict[str, Any]) -> Iterable[Checked]:
    """Checks the files in the bundle against its manifest."""
    stated = manifest.get("sha256")
    stated = stated if isinstance(stated, dict) else {}
    for name in sorted({*stated, *inside, PAGE, POLICY} - {MANIFEST}):
        is_same = name in inside and stated.get(name) == sha256(inside[name]).hexdigest()
        about = "its SHA-256 matches the manifest" if is_same else "it is missing" if name not in inside else "its SHA-256 differs from the manifest"
        yield Checked(name, is_same, about)
    for name, member in ((POLICY, "policy"), (BASE, "base")):
        policy = _policy(inside, name)
        if policy is not None:
            yield Checked(f"policy of {name}", policy.digest == manifest.get(member), policy.digest)
        elif name in inside or manifest.get(member) is not None:
            yield Checked(f"policy of {name}", False, "it is not a valid policy" if name in inside else "it is missing")


def _proved(inside: dict[str, bytes], manifest: dict[str, Any]) -> tuple[Properties | None, str]:
    """The properties, proved again from the policy; or the reason why that isn't possible."""
    policy, stated = _policy(inside, POLICY), manifest.get("properties")
    if PROPERTIES not in inside:
        return None, "they are missing"
    if policy is None:
        return None, "there is no policy to prove them for"
    try:
        return prove(policy, str(stated.get("file")) if isinstance(stated, dict) else PROPERTIES, inside[PROPERTIES]), ""
    except PolicyError as error:
        return None, f"they cannot be read: {error}"


def _proved_again(inside: dict[str, bytes], manifest: dict[str, Any], proved: Properties | None, why: str) -> Iterable[Checked]:
    if proved is None and manifest.get("properties") is None and PROPERTIES not in inside:
        return
    about = why if proved is None else f"{len(proved.failed)} of {len(proved.rows)} do not hold"
    is_same = proved is not None and manifest.get("properties") == summary(proved)
    for name, rows in () if proved is None else table_files(proved, "properties_"):
        is_same = is_same and _compared(name, inside.get(name), rows, "").is_same is True
    yield Checked("properties, proved again", is_same, about)


def _repeated(inside: dict[str, bytes], manifest: dict[str, Any], proved: Properties | None, paths: list[str], also: Mapping[str, str]) -> Iterable[Checked]:
    """Decides the log again, and compares the result with the bundle."""
    try:
        files = [(str(file["name"]), file["sha256"]) for file in manifest["log"]["files"]]
        arguments, title, top = manifest["log"]["arguments"], manifest["title"], manifest["top"]
        layout = Layout(arguments["columns"] or {}, **{name: arguments[name] for name in READ[1:]}, public=arguments.get("public"))
        ordered, checks = _matched(files, paths)
        yield from checks
        read = [*_others(manifest.get("also") or {}, also)]
        yield from read
        if not ordered or not all(one.is_same for one in read):
            return
        reader = Reader(ordered, arguments["format"], layout, [name for name, _ in files])
        reader.also = {name: value for name, value in arguments.items() if name not in (*READ, "format", "public")}
        policy, base = _policy(inside, POLICY), _policy(inside, BASE)
        assert policy is not None
        ledger = entries_of(also["entries"]) if "entries" in also else None
        made = make(reader, policy, title, top, base=base, properties=proved, entries=ledger, accept=also.get("accept"), since=also.get("since"))
    except (AttributeError, KeyError, TypeError, ValueError, OrbgateError) as error:
        what = f"`{error.args[0]}` is missing" if isinstance(error, KeyError) else str(error)
        yield Checked("repetition", False, f"the log cannot be read as described in the manifest: {what}")
        return
    again = entries(made.html, made.figures, policy, base, title, top, manifest.get("also"))
    by = {name: manifest["made_by"].get(name) for name in json.loads(again[MANIFEST])["made_by"]}
    others = {name: version for name, version in json.loads(again[MANIFEST])["made_by"].items() if by[name] != version}
    note = "".join(f"; made with {name} {by[name]}, but this is {version}" for name, version in others.items())
    for name in sorted({*inside, *again} - {POLICY, BASE}):
        yield _compared(name, inside.get(name), again.get(name), note)


def _others(stated: dict[str, Any], given: Mapping[str, str]) -> Iterable[Checked]:
    """The other files that the report read, by the SHA-256 that the manifest states."""
    for name in sorted({*stated, *given}):
        if name not in stated:
            yield Checked(f"file of --{name}", False, "the report did not read such a file")
        elif name not in given:
            yield Checked(f"file of --{name}", False, f"it is needed to make the report again: sha256:{stated[name]}")
        else:
            digest = digest_of(entries_of(given[name])) if name == "entries" else _digest(given[name])
            yield Checked(f"file of --{name}", digest == stated[name], f"sha256:{digest}")


def _compared(name: str, before: bytes | None, now: bytes | None, note: str) -> Checked:
    what = f"{name}, made again"
    if before is None or now is None:
        return Checked(what, False, f"it is {'only in the bundle' if now is None else 'missing from the bundle'}{note}")
    if before == now:
        return Checked(what, True, "identical")
    if name.endswith(".parquet"):
        try:
            if read_table(before).equals(read_table(now)):
                return Checked(what, True, f"the same rows, but different bytes{note}")
        except (pa.ArrowException, OSError) as error:
            return Checked(what, False, f"it is not a table: {error}")
    if note and name == MANIFEST and _essence(before) == _essence(now):
        return Checked(what, True, f"identical except for versions{note}")
    return Checked(what, False, f"it differs{note}")


def _essence(manifest: bytes) -> dict[str, Any]:
    """The parts of a manifest that don't depend on versions."""
    members: dict[str, Any] = json.loads(manifest)
    return {name: value for name, value in members.items() if name not in ("made_by", "sha256")}


def _matched(files: list[tuple[str, Any]], paths: list[str]) -> tuple[list[str], list[Checked]]:
    """The given files in the order of the bundle; empty if one is missing. Files are matched by content, not by name."""
    given = [(_digest(path), path) for path in files_of(paths)]
    ordered, checks = [], []
    for name, digest in files:
        at = next((at for at, (of, _) in enumerate(given) if of == digest), None)
        if at is None:
            about = "the bundle has no digest of it, because it was not read to its end" if digest is None else f"no given file has its SHA-256, {digest}"
            checks.append(Checked(f"log {name}", False, about))
        else:
            ordered.append(given.pop(at)[1])
            checks.append(Checked(f"log {name}", True, f"sha256:{digest}"))
    checks += [Checked(f"log {path}", False, "it is not a file of the bundle's log") for _, path in given]
    if not files:
        checks.append(Checked("log", False, "the page was made from a table, not from files"))
    return (ordered if all(one.is_same for one in checks) else []), checks


def _digest(path: str) -> str:
    digest = sha256()
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def sign(path: str, key: str) -> str:
    """Signs a file with a minisign secret key, and returns the path of the signature. minisign asks for the key's password."""
    signature = f"{path}.minisig"
    with open(path, "rb") as file:
        comment = f"orbgate evidence sha256:{sha256(file.read()).hexdigest()}"
    ran = subprocess.run(
        [_minisign(), "-S", "-s", key, "-m", path, "-x", signature, "-t", comment, "-c", "signature of orbgate evidence"], stdout=subprocess.DEVNULL
    )
    if ran.returncode:
        raise TableError(f"minisign could not sign with `{key}`")
    return signature


def _signature(path: str, data: bytes, public_key: str | None, signature: str | None) -> Checked:
    file = signature or f"{path}.minisig"
    if public_key is None:
        there = "there is a signature, but no public key was given" if os.path.exists(file) else "there is no signature, and no public key was given"
        return Checked("signature", None, there)
    if not os.path.exists(file):
        return Checked("signature", False, f"there is no `{file}`")
    is_text = len(public_key) == PUBLIC_KEY_LENGTH and public_key.startswith(PUBLIC_KEY) and not os.path.exists(public_key)
    with tempfile.NamedTemporaryFile(suffix=".zip", delete=False) as copy:
        # The bytes that were checked, in case the file has changed since.
        copy.write(data)
    try:
        key = ["-P" if is_text else "-p", public_key]
        ran = subprocess.run([_minisign(), "-V", "-q", *key, "-m", copy.name, "-x", file], capture_output=True, text=True)
    finally:
        os.unlink(copy.name)
    message = (ran.stderr or ran.stdout).strip().partition("\n")[0]
    return Checked("signature", not ran.returncode, "made with this key" if not ran.returncode else message or "not made with this key")


def _minisign() -> str:
    program = shutil.which("minisign")
    if program is None:
        raise TableError("signatures require the program minisign, which is not installed: https://jedisct1.github.io/minisign")
    return program
