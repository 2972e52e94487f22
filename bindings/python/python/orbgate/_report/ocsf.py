"""Writes decisions and findings as JSON Lines events of the Open Cybersecurity Schema Framework."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from hashlib import blake2b
from ipaddress import ip_address
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.long import name as short_name
from .._count.served import REFUSED, REFUSED_THOUGH_ALLOWED, SERVED, SERVED_THOUGH_DENIED, mismatch, served
from .._count.text import NO_CALLER
from .._native import VERSION
from .._read import private
from .._terms import Detail, Effect, Reason, TokenKind
from .._whole import whole_text
from .numbers import HIGH, LOW, MEDIUM

if TYPE_CHECKING:
    from .._count.decided import Part
    from .._policy import Policy
    from .figures import Figures, Finding

# https://schema.ocsf.io/1.7.0: the first version whose HTTP methods include PATCH is 1.6.
SCHEMA = "1.7.0"
API_ACTIVITY, AUTHORIZE_SESSION, DETECTION_FINDING = 6003, 3003, 2004
CLASSES = {
    API_ACTIVITY: ("API Activity", "Application Activity"),
    AUTHORIZE_SESSION: ("Authorize Session", "Identity & Access Management"),
    DETECTION_FINDING: ("Detection Finding", "Findings"),
}
OTHER = 99
ACTIVITIES = {"POST": (1, "Create"), "GET": (2, "Read"), "HEAD": (2, "Read"), "PUT": (3, "Update"), "PATCH": (3, "Update"), "DELETE": (4, "Delete")}
METHODS = ("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE")
SEVERITIES = {LOW: (2, "Low"), MEDIUM: (3, "Medium"), HIGH: (4, "High")}
INFORMATIONAL = 1, "Informational"
# The action is the policy's decision. The disposition and the status are the server's response.
ACTIONS = {Effect.ALLOW.value: (1, "Allowed"), Effect.DENY.value: (2, "Denied")}
DISPOSITIONS = {SERVED: (1, "Allowed"), REFUSED: (2, "Blocked")}
STATUSES = {SERVED: (1, "Success"), REFUSED: (2, "Failure")}
UNKNOWN = 0, "Unknown"
KINDS = {TokenKind.USER.value: (1, "User"), TokenKind.ORGANISATION.value: (OTHER, "organisation")}
OF_MISMATCH = {SERVED_THOUGH_DENIED: SEVERITIES[HIGH], REFUSED_THOUGH_ALLOWED: SEVERITIES[MEDIUM]}
# OCSF limits the length, which an IPv6 zone could exceed.
LONGEST_ADDRESS = 40
DECIDED = ("decision", "reason", "detail", "api", "route", "scope", "consumes", "amount", "bonus_allowed", "about")
CALLED = ("row", "method", "target", "by_scope", "kind", "caller", "served_status")


class Events:
    """Writes events. `written` counts them, and `without_time` those of calls without a time, whose time is 0."""

    def __init__(self, policy: Policy, file: IO[str]) -> None:
        self.written = self.without_time = 0
        self._file = file
        self._encode = json.JSONEncoder(separators=(",", ":")).encode
        self._policy = {"uid": policy.digest} | ({} if policy.name is None else {"name": policy.name})
        self._product = {"name": "Orbgate", "vendor_name": "Orbgate", "version": VERSION}

    def add(self, part: Part) -> None:
        """Writes the decisions of a part of the log, row by row."""
        calls, decided = part.calls, part.decided
        self.without_time += calls["time"].null_count
        is_allowed = pc.equal(decided["decision"], Effect.ALLOW.value)
        response = served(calls["served_status"], is_allowed, decided["reason"])
        columns = [*(calls[name] for name in CALLED), pc.cast(calls["time"], pa.int64()), response, mismatch(response, is_allowed)]
        for call, of in zip(zip(*(column.to_pylist() for column in columns)), zip(*(decided[name].to_pylist() for name in DECIDED))):
            self._write(self._decision(call, dict(zip(DECIDED, of))))

    def end(self, figures: Figures) -> None:
        """Writes the findings."""
        for finding in figures.findings:
            self._write(self._finding(finding, figures))

    def _write(self, event: dict[str, Any]) -> None:
        self._file.write(f"{self._encode(event)}\n")
        self.written += 1

    def _event(self, kind: int, activity: tuple[int, str], severity: tuple[int, str], time: int, **metadata: Any) -> dict[str, Any]:
        """The fields of every event."""
        name, category = CLASSES[kind]
        return {
            "class_uid": kind, "class_name": name, "category_uid": kind // 1_000, "category_name": category,
            "activity_id": activity[0], "activity_name": activity[1], "type_uid": kind * 100 + activity[0],
            "type_name": f"{name}: {'Other' if activity[0] == OTHER else activity[1]}",
            "severity_id": severity[0], "severity": severity[1], "time": time,
            "metadata": {"version": SCHEMA, "product": self._product, **metadata},
        }  # fmt: skip

    def _decision(self, call: tuple[Any, ...], of: dict[str, Any]) -> dict[str, Any]:
        row, method, target, by_scope, kind, caller, status, time, response, what = call
        verb = private.method(_text(method)) if by_scope is None else None
        is_session = by_scope is not None
        activity = (1, "Assign Privileges") if is_session else ACTIVITIES.get(verb or "", (OTHER, verb or UNKNOWN[1]))
        severity = INFORMATIONAL if what is None else OF_MISMATCH[what]
        event = self._event(
            AUTHORIZE_SESSION if is_session else API_ACTIVITY, activity, severity, (time or 0) // 1_000, profiles=["security_control"], sequence=row
        )
        reason, detail = Reason(of["reason"]), None if of["detail"] is None else Detail(of["detail"])
        who = NO_CALLER if caller is None else private.token(_text(caller) or "")
        user = {"name" if caller is None else "uid": who} | dict(zip(("type_id", "type"), KINDS.get(_text(kind) or "", UNKNOWN)))
        event |= {
            **dict(zip(("action_id", "action"), ACTIONS[of["decision"]])),
            **dict(zip(("disposition_id", "disposition"), DISPOSITIONS.get(response or "", UNKNOWN))),
            **dict(zip(("status_id", "status"), STATUSES.get(response or "", UNKNOWN))),
            "is_alert": what is not None,
            "status_code": str(reason),
            "status_detail": reason.explanation if detail is None else f"{reason.explanation}: {detail.explanation}",
            "authorizations": [{"decision": of["decision"], "policy": self._policy}],
            "src_endpoint": {"ip" if _is_address(who) else "name": who},
            "unmapped": {name: of[name] for name in ("detail", "scope", "consumes", "amount", "bonus_allowed") if of[name] is not None},
        }
        if status is not None:
            event["http_response"] = {"code": status}
        if is_session:
            return event | {"user": user, "privileges": [private.scope(_text(short_name(by_scope or b"")) or "")]}
        path = private.target(_text(target))
        request = ({"http_method": verb} if verb in METHODS else {}) | ({} if path is None else {"url": {"path": path}})
        operation = of["route"] or of["about"] or verb or UNKNOWN[1]
        event |= {"actor": {"user": user}, "api": {"operation": operation} | ({} if of["api"] is None else {"service": {"name": of["api"]}})}
        return event | ({"http_request": request} if request else {})

    def _finding(self, finding: Finding, figures: Figures) -> dict[str, Any]:
        event = self._event(DETECTION_FINDING, (1, "Create"), SEVERITIES[finding.level], _milliseconds(figures.times.last))
        # The same finding for the same log and policy has the same id.
        named = "\0".join([finding.kind, self._policy["uid"], *(file.sha256 or file.name for file in figures.log.files)])
        seen = (
            {"first_seen_time": _milliseconds(figures.times.first), "last_seen_time": _milliseconds(figures.times.last)}
            if figures.times.first is not None
            else {}
        )
        event |= {
            "status_id": 1, "status": "New", "is_alert": finding.level == HIGH, "message": finding.sentence,
            "finding_info": {
                "uid": blake2b(named.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest(),
                "title": finding.sentence, "types": [finding.kind], **seen,
            },
            "remediation": {"desc": finding.action},
            "unmapped": {"affected": finding.affected, "is_exact": finding.is_exact, "section": finding.section, "policy": self._policy["uid"]},
        }  # fmt: skip
        return event


@contextmanager
def writing(path: str | os.PathLike[str], policy: Policy) -> Iterator[Events]:
    """Writes events to a file, which appears once it is complete."""
    with whole_text(path) as file:
        yield Events(policy, file)


def _is_address(text: str) -> bool:
    try:
        return len(str(ip_address(text))) <= LONGEST_ADDRESS and len(text) <= LONGEST_ADDRESS
    except ValueError:
        return False


def _milliseconds(time: datetime | None) -> int:
    return 0 if time is None else int(time.replace(tzinfo=timezone.utc).timestamp() * 1_000)


def _text(text: bytes | None) -> str | None:
    return None if text is None else text.decode("utf-8", "backslashreplace")
