"""Handles a request as received: verifies its bearer token, lets the policy decide, and only then calls the service.

`orbgate.gate.asgi` and `orbgate.gate.wsgi` put a gate around a service. `orbgate.gate.testing` has an issuer for
tests.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from urllib.parse import unquote

from .. import _native
from .._errors import OrbgateError
from .._native import Answer, BearerToken, Post
from .._policy import Policy, read_file
from . import _names
from ._fetch import Fetched, fetch
from ._body import whole
from ._hooks import called, checked, counter, line_of, logger
from ._keys import Keys
from ._ledger import Ledger
from ._watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Literal

    from .._native import Charge, Decision, Hold
    from ._body import Receive

    _Headers = Iterable[tuple[bytes, bytes]]

__all__ = ["Allowed", "Answer", "BearerToken", "Fetched", "Gate", "Ledger", "Post", "RoutesDiffer", "fetch"]


class Allowed:
    """The decision that allowed a request, for the service."""

    __slots__ = ("_answer", "_bonus", "_gate", "_headers", "_method", "_noted", "_orbs", "_outer", "_path", "_routers", "_target")

    def __init__(
        self, gate: Gate, answer: Answer, method: str | bytes, target: str | bytes, headers: _Headers = (), *, bonus: bool = False
    ) -> None:
        self._gate = gate
        self._headers = headers
        self._bonus = bonus
        self._orbs = _Orbs()
        # What another gate outside this one has decided, which is also compared.
        self._outer: Allowed | None = None
        self._answer = gate.again(answer, method, target, None, True) if bonus else answer
        self._method = method if isinstance(method, str) else method.decode("latin-1")
        self._target = target
        text = target if isinstance(target, str) else target.decode("latin-1")
        # An allowed target is ASCII, so the decoding doesn't matter.
        self._path = unquote(text.partition("?")[0])
        # Whether it was counted and audited as an allow; None before that.
        self._noted: bool | None = None
        # Of Starlette's routers on the way: the template up to each, and the root path there.
        self._routers: dict[int, tuple[str, str]] = {}

    @property
    def decision(self) -> Decision:
        return self._answer.decision

    @property
    def token(self) -> BearerToken:
        """The token. Raises RuntimeError for a public route, whose callers need no token."""
        if self._answer.token is None:
            raise RuntimeError("a call of a public route has no token")
        return self._answer.token

    @property
    def public_template(self) -> str | None:
        """The template of a public route, such as `/healthz`; None for a route of the policy."""
        return self._answer.public_template

    def charge(self, body: object = b"") -> Charge | None:
        """What the call consumes. If you pass the request's body, also whether it may use bonus orbs; the gate reads it itself
        if `bonus_from_body` has the route.

        Text and bytes are the raw body. Of a parsed one, only a `dict` with `allowBonusOrbsUse` counts, if it is exactly `True`.
        """
        if isinstance(body, dict):
            allows = body.get("allowBonusOrbsUse") is True
        else:
            raw = body.encode(errors="replace") if isinstance(body, str) else body
            allows = isinstance(raw, (bytes, bytearray, memoryview)) and _native.allows_bonus_orbs(bytes(raw))
        if self._bonus or not allows:
            return self.decision.orbs
        return self._gate.again(self._answer, self._method, self._target, None, True).decision.orbs

    def visible(self, method: str, names: Iterable[str]) -> list[str]:
        """Those of these names that the token may pass to a method of the MCP endpoint, such as tools to `tools/call`.

        The gate doesn't filter lists, because a client asks for a scope only when it calls something that needs it. List only
        these if your clients' tokens never get more scopes.
        """
        return self._gate.visible(self._answer, method, list(names))

    def state_orbs(self, amount: int) -> bool:
        """Charges this amount instead of the held one, if the call succeeds: at most the hold times the ledger's `ceiling`, and
        what the account has. The last statement before the response ends counts.

        Returns false if nothing is held, so nothing can be charged.
        """
        self._orbs.stated = _amount(amount)
        return self._orbs.hold is not None

    @property
    def hold_id(self) -> str | None:
        """The id of the hold in the ledger; None if the call holds nothing. In your log, a report can compare it with the ledger."""
        return None if self._orbs.hold is None else self._orbs.hold.id

    def compare(self, method: str, path: str, template: str, *, only_options: bool = False, is_last: bool = True) -> Answer:
        """Compares the request that a framework is about to run with the decided one. If they differ, returns a false
        value, which you must send as the response, and counts it.

        Call it where the handler is dispatched, after everything that might rewrite the request. `method` and `path`
        (decoded, without the query) are the handler's; `template` is the chosen route's, such as `/users/{id}`, or ""
        if there is no route. A CORS preflight that needs no token (`cors_preflight`) can run only a handler that
        takes no other method than `OPTIONS`: for such a handler, pass `only_options=True`. If an inner router compares again, pass `is_last=False`.
        """
        is_decided = self._is_for(method, path) and (only_options or not self._answer.preflight)
        answer = self._gate._compared(self._answer, self._method, self._target, template if is_decided else "", self._bonus)
        if is_last or not answer:
            self._note(answer)
        outer = answer if self._outer is None else self._outer.compare(method, path, template, only_options=only_options, is_last=is_last)
        return outer if answer else answer

    def _within(self, outer: object) -> Allowed:
        """Takes into account what a gate outside this one has decided."""
        if isinstance(outer, Allowed):
            if outer._gate is not self._gate:
                self._outer = outer
            elif (outer._method, outer._target) == (self._method, self._target):
                # The same gate, for example of a mounted application, counts and audits a request once.
                self._noted, outer._noted = outer._noted, True
                self._orbs = outer._orbs
        return self

    def _hold(self, *, is_last: bool = True) -> Answer:
        """Holds the orbs of the request, right before its handler, and counts it, unless something compares later. Returns a
        denial if it can't.
        """
        outer = self._answer if self._outer is None else self._outer._hold(is_last=is_last)
        hold = self._first_step() if outer else None
        if hold is not None:
            assert self._gate._ledger is not None
            self._gate._ledger.hold(hold)
            self._held(hold)
        return self._end(outer, is_last)

    async def _hold_async(self, *, is_last: bool = True) -> Answer:
        """The same, for an asyncio task."""
        outer = self._answer if self._outer is None else await self._outer._hold_async(is_last=is_last)
        hold = self._first_step() if outer else None
        if hold is not None:
            assert self._gate._ledger is not None
            await self._gate._ledger.hold_async(hold)
            self._held(hold)
        return self._end(outer, is_last)

    def _first_step(self) -> Hold | None:
        gate, orbs = self._gate, self._orbs
        if gate._ledger is None or orbs.is_begun:
            return None
        orbs.is_begun = True
        # Until it is known that the orbs are held.
        step = gate._ledger.begin(gate, self._answer, self._method, self._target, self._bonus, self._amount)
        if isinstance(step, Answer):
            orbs.denial = step
            return None
        return step

    def _amount(self, route: str) -> int | None:
        """The amount of a function, or None for the policy's. Raises if it fails, which denies the call."""
        amount = self._gate._amounts.get(_shape(route))
        if amount is None:
            return None
        try:
            return _amount(called(amount, dict(_texts(self._headers)), self.token))
        except Exception:
            logger.exception("a call of `%s` is denied: its amount can't be determined", route)
            raise

    def _held(self, hold: Hold) -> None:
        if hold.is_held:
            result = "held"
            self._orbs.hold = hold
        else:
            self._orbs.denial, result = hold.denial(self._gate, self._answer, self._method, self._target)
        self._gate._add(_names.HOLDS_TOTAL, {_names.LABEL_RESULT: result})

    def _end(self, outer: Answer, is_last: bool) -> Answer:
        denial = self._orbs.denial
        if outer and (is_last or denial is not None):
            self._note(denial)
        return outer if denial is None else denial

    def _begins(self, headers: _Headers) -> bool:
        """The handler begins to answer. Whether the body says how a call at an MCP endpoint has ended."""
        outer = self._outer is not None and self._outer._begins(headers)
        hold = self._orbs.hold if self._gate.mcp is not None else None
        return (hold is not None and hold.begin_response([(bytes(name), bytes(value)) for name, value in headers])) or outer

    def _reads(self, piece: bytes | None) -> bool:
        """A piece of that body, or None for one that isn't here. Whether the next one must be read."""
        outer = self._outer is not None and self._outer._reads(piece)
        hold = self._orbs.hold
        return (hold is not None and hold.read_response(piece)) or outer

    def _settle(self, outcome: str, status: int = 0) -> None:
        """Says how the handler ended. Only the first time counts."""
        orbs, ledger = self._orbs, self._gate._ledger
        if self._outer is not None:
            self._outer._settle(outcome, status)
        if orbs.hold is not None and not orbs.is_over and ledger is not None:
            orbs.is_over = True
            ledger.ended(orbs.hold, outcome, status, orbs.stated)

    def _is_for(self, method: str, path: str) -> bool:
        return method == self._method and path == self._path

    def _note(self, answer: Answer | None = None) -> None:
        """Counts and audits the request once, and once more if it is denied after that."""
        is_allow = answer is None or bool(answer)
        if self._noted is None or (self._noted and not is_allow):
            self._noted = is_allow
            self._gate._note(self._answer if answer is None else answer, self._method, self._target, self.hold_id if is_allow else None)


class _Orbs:
    """What a request holds."""

    __slots__ = ("denial", "hold", "is_begun", "is_over", "stated")

    def __init__(self) -> None:
        self.is_begun = False
        self.hold: Hold | None = None
        self.denial: Answer | None = None
        self.stated: int | None = None
        self.is_over = False


def _amount(amount: object) -> int:
    if type(amount) is not int or amount < 0:
        raise ValueError(f"an amount of orbs is an integer from 0, not {amount!r}")
    # No account can have as many.
    return min(amount, 1 << 53)


def _texts(headers: _Headers) -> Iterator[tuple[str, str]]:
    for name, value in headers:
        yield name.decode("latin-1").lower(), value.decode("latin-1")


def _shape(route: str) -> str:
    """A route without the names of its parameters."""
    return "/".join("{}" if segment.startswith("{") else segment for segment in route.split("/"))


def decided(allowed: object, method: str, path: str) -> Allowed:
    """The decision in a request, if a gate allowed exactly this request. Otherwise raises RuntimeError, so that the
    request gets a 500.
    """
    if not isinstance(allowed, Allowed):
        raise RuntimeError("no gate has decided this request: `protect` this application, outside everything that serves requests")
    if not allowed._is_for(method, path):
        raise RuntimeError("the request isn't the one that the gate decided: something inside the gate has changed its method or path")
    return allowed


class RoutesDiffer(OrbgateError):
    """The routes of a service and of its policy differ.

    `undeclared` are the routes that only the service has, each with the policy's route that decides it, or None.
    `unserved` are the routes that only the policy has, which is harmless if several services share a policy.
    """

    def __init__(self, undeclared: list[tuple[str, str | None]], unserved: list[str], text: str) -> None:
        self.undeclared = undeclared
        self.unserved = unserved
        super().__init__(text)


class Gate(_native.Gate):
    """Policy, verifier and keys. Share one gate between all threads and tasks.

    `tokens` is the token configuration: YAML, as for `orbgate-token`. The secrets that it names are read from their
    files or environment variables. `fetch` fetches the issuers' keys, and asks about opaque tokens; by default, with
    `urllib`. `challenge` selects the `WWW-Authenticate` header of denials: "minimal" is `Bearer`, "full" also
    names the error of RFC 6750, and "none" makes every denial a bare 403, as `flat_403` does. `public` are routes
    that need no token, such as `GET /healthz`; raises ValueError if a path matches both a public route and a route of
    the policy. With `cors_preflight="pass"`, CORS preflight requests for declared routes need no token.

    `count` is called with the name of a counter and its labels; by default, OpenTelemetry counts if it is installed.
    `audit` is called with a JSON line for each decision. With `debug`, the log explains each denial: the result of
    `Policy.ask("explain", …)`, without the query, or only the decision if a header or the query causes the denial. It
    costs time for each denial, and callers get nothing of it.

    With `refuse_wider`, `reload` and `watch` keep the active policy if the new one allows more, or for fewer orbs; with
    `require_seal`, if it has no seal.

    With a `ledger`, the orbs of each call that consumes are held before its handler runs, and charged if it succeeds.
    `amounts` has a function for each route whose amount the policy doesn't state: it gets the headers, with lower-case
    names, and the token, and returns the number of orbs. 0 holds nothing; an exception denies the call. `bonus_from_body`
    has the routes whose JSON body is read for `allowBonusOrbsUse`, each with the most bytes to read; the service still gets
    the whole body. Name routes as the policy does. Raises ValueError if a route that consumes has no amount.

    `mcp` is the path of an MCP endpoint, such as `/mcp`. Over ASGI, its requests are decided by the operations in their
    bodies, of at most `mcp_most_bytes`. `mcp_initial_scopes` are those that a client without a token should ask for,
    `mcp_origins` the pages that may send requests and read the responses. `mcp_legacy="deny"` denies protocol versions before 2026-07-28.
    With a `ledger`, calls in sessions that consume orbs are denied, unless `mcp_charge_sessions`: then each costs what is held,
    however it ends.
    `metadata` is the URL of the protected resource, whose metadata (RFC 9728) the gate serves.
    """

    policy: Policy
    """The active policy. A new policy applies from the next request on."""
    mcp: str | None
    """The path of the MCP endpoint."""
    _keys: Keys
    _count: Callable[[str, Mapping[str, str]], object]
    _audit: Callable[[str], object] | None
    _logged: set[str]
    _loading: threading.Lock
    _watch: Watch | None
    _rules: tuple[bool, bool]
    _debugs: bool
    _ledger: Ledger | None
    _amounts: dict[str, Callable[[dict[str, str], BearerToken], int]]
    _functions: list[str]
    _bonus: dict[str, int]

    def __new__(
        cls,
        policy: Policy,
        tokens: str | bytes,
        *,
        file: str | None = None,
        challenge: Literal["minimal", "full", "none"] = "minimal",
        realm: str | None = None,
        resource_metadata: str | None = None,
        flat_403: bool = False,
        ignore_method_override: bool = False,
        public: Sequence[str] = (),
        cors_preflight: Literal["deny", "pass"] = "deny",
        fetch: Callable[[str, float, int, Post | None], Fetched] = fetch,
        count: Callable[[str, Mapping[str, str]], None] | None = None,
        audit: Callable[[str], object] | None = None,
        refuse_wider: bool = False,
        require_seal: bool = False,
        debug: bool = False,
        ledger: Ledger | None = None,
        amounts: Mapping[str, Callable[[dict[str, str], BearerToken], int]] | None = None,
        bonus_from_body: Mapping[str, int] | None = None,
        mcp: str | None = None,
        mcp_initial_scopes: str = "",
        mcp_origins: Sequence[str] = (),
        mcp_most_bytes: int | None = None,
        mcp_legacy: Literal["body", "deny"] = "body",
        mcp_charge_sessions: bool = False,
        metadata: str | None = None,
    ) -> Gate:
        gate = super().__new__(
            cls,
            tokens,
            file=file,
            challenge=challenge,
            realm=realm,
            resource_metadata=resource_metadata,
            flat_403=flat_403,
            ignore_method_override=ignore_method_override,
            public=public,
            cors_preflight=cors_preflight,
            mcp=mcp,
            mcp_initial_scopes=mcp_initial_scopes,
            mcp_origins=mcp_origins,
            mcp_most_bytes=mcp_most_bytes,
            mcp_legacy=mcp_legacy,
            mcp_charge_sessions=mcp_charge_sessions,
            metadata=metadata,
        )
        if ledger is not None and mcp is not None:
            ledger._orbs.check_mcp()
        gate.mcp = mcp
        gate.check_public(policy)
        gate.policy = policy
        gate._keys = Keys(gate, checked("fetch", fetch))
        gate._count = counter() if count is None else checked("count", count)
        gate._audit = None if audit is None else checked("audit", audit)
        gate._logged = set()
        gate._loading = threading.Lock()
        gate._watch = None
        gate._rules = refuse_wider, require_seal
        gate._debugs = debug
        gate._ledger = ledger
        amounts = amounts or {}
        if amounts and ledger is None:
            raise ValueError("only a gate with a `ledger` has `amounts`")
        gate._amounts = {_shape(route): checked("amounts", amount) for route, amount in amounts.items()}
        gate._functions = list(amounts)
        gate._bonus = {_shape(route): limit for route, limit in (bonus_from_body or {}).items()}
        level, charging = gate.charging(policy, None if ledger is None else gate._functions)
        logger.log(getattr(logging, level.upper()), "%s", charging)
        if ledger is not None:
            ledger._add = gate._add
            ledger.look()
        gate._keys.tell(gate)
        return gate

    @classmethod
    def from_files(cls, policy: str | os.PathLike[str], tokens: str | os.PathLike[str], **options: object) -> Gate:
        """Makes a gate from a policy file and a token configuration file. Raises `PolicyError` or `ConfigError` with all
        errors and their locations.
        """
        with open(tokens, "rb") as file:
            text = file.read(_native.MAX_POLICY_BYTES + 1)  # the library says that it is too large
        return cls(Policy.from_file(policy), text, file=os.fspath(tokens), **options)  # type: ignore[arg-type]

    def reload(self, file: str | os.PathLike[str]) -> Policy:
        """Activates a new version of the policy, and returns it. It decides every later request.

        The file must end in the end marker (`Policy.has_end_marker`), so that a half-written file is never used.
        Raises `PolicyError` with the reasons, or `OSError` if the file can't be read. The previous policy then stays
        active. The secrets for opaque tokens are read again; raises `ConfigError` if one can't be read, and then they
        also stay as they are. The log shows what changes for callers.
        """
        self._look(os.fspath(file), None)
        return self.policy

    def watch(self, file: str | os.PathLike[str], interval: float = 5.0) -> None:
        """Follows the policy's file from the first request on: a thread reads it every `interval` seconds.

        A version becomes active, as with `reload`, `interval` seconds after its bytes were first read, if they haven't changed,
        or at once if it has a valid seal. Otherwise the previous policy stays active, and the log says why, once. After a version with an end marker or a seal, each version needs one.

        The thread starts in the process that gets the request, so call this before a server forks its workers, or in
        each of them. It ends with the gate.
        """
        self._watch = Watch(self, os.fspath(file), interval)

    def _look(self, file: str, follower: _native.Follower | None) -> None:
        """Reads the file, and does what the library says. Raises the reason if a version is rejected."""
        text, lost = b"", None
        with self._loading:
            try:
                text = read_file(file)
                if self._ledger is not None:
                    self._ledger.read_secret()
            except (OSError, ValueError) as why:
                lost = why
            failure = None if lost is None else str(lost)
            is_loaded, result, message, warning, error = self.judge(self.policy, text, failure, file, follower, (*self._rules, self._functions if self._ledger else None), time.monotonic())
            if is_loaded:
                self.policy = Policy(text, file)
                self._keys.tell(self)
        if message:
            logger.log(logging.INFO if error is None else logging.ERROR, "%s", message)
        if warning:
            logger.warning("%s", warning)
        if result:
            self._add(_names.POLICY_LOADS_TOTAL, {_names.LABEL_RESULT: result})
        if error is not None:
            raise lost or error

    def _bonus_limit(self, answer: Answer) -> int | None:
        """How many bytes of the body to read for the flag of bonus orbs; None if none."""
        charge, route = answer.decision.orbs, answer.decision.route
        if not self._bonus or charge is None or not charge.consumes or route is None:
            return None
        return self._bonus.get(_shape(route))

    def answer(
        self,
        method: str | bytes,
        target: str | bytes,
        headers: _Headers,
        router: Callable[[], str] | None = None,
        certificate: bytes | None = None,
    ) -> Answer:
        """The result for a request as received. Waits for keys if necessary, at most for the time limit of fetching
        them.

        `target` is path and query, in the bytes of the request line. `headers` has a pair for each header line. For
        an allowed request, `router` is called and returns the template of the router's route; if it differs from the
        policy's, or is "", the request is denied, and so is a CORS preflight, because its handler might also take other
        methods. If something might rewrite the request later, compare in the handler instead: `Allowed.compare`.
        `certificate` is the one with which the client has authenticated its connection, in DER.

        Raises RuntimeError if the gate has a ledger, because only a middleware can charge. Messages to an MCP endpoint are
        denied, because only a middleware reads their bodies.
        """
        self._must_not_charge()
        return self._settle(self._ask(method, target, headers, certificate), method, target, router)

    async def answer_async(
        self,
        method: str | bytes,
        target: str | bytes,
        headers: _Headers,
        router: Callable[[], str] | None = None,
        certificate: bytes | None = None,
    ) -> Answer:
        """The same, without blocking the event loop while it waits."""
        self._must_not_charge()
        return self._settle(self._unread(await self._ask_async(method, target, headers, certificate)), method, target, router)

    def allowed(self, answer: Answer, method: str | bytes, target: str | bytes) -> Allowed:
        """The decision of an allowed request, for the service."""
        if not answer or (answer.token is None and answer.public_template is None):
            raise ValueError("the request is denied")
        allowed = Allowed(self, answer, method, target)
        # `answer` has counted it.
        allowed._noted = True
        return allowed

    def check_routes(self, routes: Iterable[tuple[str, str]]) -> None:
        """Compares the routes of a service, each a method and a template such as `/users/{id}`, with the routes of the
        policy.

        Call it when a service starts, and in its tests. Raises `RoutesDiffer` if they differ. A policy with
        `GET /users/{id}` lets callers of that route also call `GET /users/export`, unless the policy has that route.
        """
        differ = _native.check_routes(self, self.policy, list(routes))
        if differ is not None:
            raise RoutesDiffer(*differ)

    def warn(self, text: str, *values: object, exc_info: bool = False) -> None:
        """Logs an error once, for example why every request is denied."""
        if text not in self._logged:
            self._logged.add(text)
            logger.error(text, *values, exc_info=exc_info)

    def _ask(self, method: str | bytes, target: str | bytes, headers: _Headers, certificate: bytes | None) -> Answer:
        if self._watch is not None:
            self._watch.start()
        now = time.time(), time.monotonic()
        step = self.ask(self.policy, method, target, list(headers), *now, holds_thread=True, certificate=certificate)
        self._keys.start()
        while isinstance(step, _native.Waiting):
            self._keys.wait(step)
            step = self.resume(self.policy, step, time.time(), time.monotonic())
            self._keys.start()
        return self._unread(step)

    def _unread(self, step: Answer | _native.Reading) -> Answer:
        """The result, also for a request whose body nothing reads."""
        if isinstance(step, _native.Reading):
            return self.decide_body(self.policy, step, [], b"", "unreadable")
        return step

    async def _ask_body(self, reading: _native.Reading, receive: Receive, headers: _Headers) -> tuple[Answer, Receive]:
        """Decides a request to the MCP endpoint by its body. Returns what the service receives: the same bytes."""
        most = reading.most_bytes
        lines = list(headers)
        stated = [value for name, value in lines if name.lower() == b"content-length"]
        length = int(stated[0]) if len(stated) == 1 and stated[0].isdigit() and len(stated[0]) < 20 else None
        needed = most if length is None else min(length, most)
        if length is not None and length > most:
            return self.decide_body(self.policy, reading, lines, b"", "too_large"), receive
        if not self.take_room(needed):
            return self.decide_body(self.policy, reading, lines, b"", "busy"), receive
        try:
            body, again = await whole(receive, needed)
            # A client can take any time over its body: the policy of now decides.
            known, fault = (body, None) if isinstance(body, bytes) else (b"", body)
            return self.decide_body(self.policy, reading, lines, known, fault), again
        finally:
            self.leave_room(needed)

    async def _ask_async(
        self, method: str | bytes, target: str | bytes, headers: _Headers, certificate: bytes | None
    ) -> Answer | _native.Reading:
        if self._watch is not None:
            self._watch.start()
        step = self.ask(self.policy, method, target, list(headers), time.time(), time.monotonic(), certificate=certificate)
        self._keys.start()
        while isinstance(step, _native.Waiting):
            await self._keys.wait_async(step)
            step = self.resume(self.policy, step, time.time(), time.monotonic())
            self._keys.start()
        return step

    def _settle(self, answer: Answer, method: str | bytes, target: str | bytes, router: Callable[[], str] | None) -> Answer:
        if answer and router is not None:
            answer = self._compared(answer, method, target, "" if answer.preflight else router())
        self._note(answer, method, target)
        return answer

    def _must_not_charge(self) -> None:
        if self._ledger is not None:
            raise RuntimeError("a gate with a ledger charges in `GateMiddleware`, which sees how a handler ends")

    def _compared(self, answer: Answer, method: str | bytes, target: str | bytes, template: str, bonus: bool = False) -> Answer:
        route = answer.decision.route or answer.public_template or ""
        answer = self.again(answer, method, target, template, bonus)
        if answer.misrouted is not None:
            self.warn(
                "requests are denied because the decision was for `%s`, but the router chose `%s`: the policy might lack this route, the method or path "
                "might have been changed after the decision, or a CORS preflight would run a handler that isn't only for `OPTIONS`",
                route,
                answer.misrouted,
            )
            self._add(_names.MISROUTED_TOTAL, {_names.LABEL_ROUTE: route, _names.LABEL_MATCHED: answer.misrouted})
        return answer

    def _note(self, answer: Answer, method: str | bytes, target: str | bytes, hold_id: str | None = None) -> None:
        decision = answer.decision
        effect, reason = decision.decision.value, decision.reason.value
        labels = {_names.LABEL_DECISION: effect, _names.LABEL_REASON: reason, _names.LABEL_ROUTE: decision.route or ""}
        self._add(_names.DECISIONS_TOTAL, labels)
        if answer.refused is not None:
            self._add(_names.TOKENS_REFUSED_TOTAL, {_names.LABEL_REASON: answer.refused})
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s: %s, about %s, token refused: %s", effect, reason, decision.about, answer.refused)
        if self._audit is not None:
            try:
                called(self._audit, line_of(answer, hold_id, reads_bonus=self._bonus_limit(answer) is not None))
            except Exception:
                self._add(_names.AUDIT_LOST_TOTAL, {})
                self.warn("audit lines are lost: `audit` raised", exc_info=True)
        if answer.operation is not None:
            method, target = "MCP", answer.operation
        # The policy allows a misrouted request, so there is nothing to explain.
        if self._debugs and not decision and answer.misrouted is None:
            try:
                logger.info("denied: %s", _explained(answer, _shown(method), _shown(target).partition("?")[0]))
            except Exception:
                self.warn("denials aren't explained", exc_info=True)

    def _add(self, name: str, labels: Mapping[str, str]) -> None:
        """Counts. If a hook fails, the result doesn't change."""
        try:
            called(self._count, name, labels)
        except Exception:
            self.warn("counts are lost: `count` raised", exc_info=True)


def _explained(answer: Answer, method: str, path: str) -> str:
    """Why a call is denied, as a line of JSON. Without the query, which can contain secrets, and without the token."""
    request: dict[str, object] = {"method": method, "target": path}
    if answer.token is not None:
        request["token"] = {"kind": answer.token.kind, "scopes": answer.token.scopes}
    elif answer.decision.reason == "invalid_token":
        request["token"] = {"kind": "unknown", "scopes": ""}
    explanation = _native.ask(answer.policy, "explain", json.dumps({"request": request}))
    decision = answer.decision.to_dict()
    explained = json.loads(explanation)
    if (explained["reason"], explained["detail"]) != (decision["reason"], decision["detail"]):
        # A header or the query, which the explanation doesn't get, is the cause.
        explanation = json.dumps(decision, separators=(",", ":"))
    return f'{{"method":{json.dumps(method)},"path":{json.dumps(path)},"explanation":{explanation}}}'


def _shown(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "replace")
