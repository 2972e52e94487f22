"""From a request as it came to its answer: the bearer token is verified, the policy decides, and only then the service is called.

`orbgate.gate.asgi` and `orbgate.gate.wsgi` put a gate around a service; `orbgate.gate.testing` has an issuer for its tests.
"""

from __future__ import annotations

import logging
import os
import time
from urllib.parse import unquote

from .. import _native
from .._errors import OrbgateError, PolicyError
from .._native import Answer, BearerToken
from .._policy import Policy
from . import _names
from ._audit import line_of
from ._count import counter
from ._fetch import Fetched, fetch
from ._keys import Keys
from ._log import logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal

    from .._native import Charge, Decision

    _Headers = Iterable[tuple[bytes, bytes]]

__all__ = ["Allowed", "Answer", "BearerToken", "Fetched", "Gate", "RoutesDiffer", "fetch"]


class Allowed:
    """What a service learns of the decision that let a request through."""

    __slots__ = ("_answer", "_gate", "_is_noted", "_method", "_path", "_routers", "_target")

    def __init__(self, gate: Gate, answer: Answer, method: str | bytes, target: str | bytes) -> None:
        self._gate = gate
        self._answer = answer
        self._method = method if isinstance(method, str) else method.decode("latin-1")
        self._target = target
        text = target if isinstance(target, str) else target.decode("latin-1")
        # A target that is allowed has no bytes outside ASCII, whatever it is decoded with.
        self._path = unquote(text.partition("?")[0])
        self._is_noted = False
        # Of Starlette's routers on the way: the template up to each, and the root path there.
        self._routers: dict[int, tuple[str, str]] = {}

    @property
    def decision(self) -> Decision:
        return self._answer.decision

    @property
    def token(self) -> BearerToken:
        """Who calls. Raises RuntimeError for a public route, whose callers nobody asks for a token."""
        if self._answer.token is None:
            raise RuntimeError("a call of a public route has no token")
        return self._answer.token

    @property
    def public_template(self) -> str | None:
        """The template of a public route, such as `/healthz`; None for a route of the policy."""
        return self._answer.public_template

    def charge(self, body: bytes = b"") -> Charge | None:
        """What the call consumes; with the body of the request, whether it may consume bonus orbs, too."""
        if not _native.allows_bonus_orbs(body):
            return self.decision.orbs
        return self._gate.again(self._answer, self._method, self._target, None, True).decision.orbs

    def compare(self, method: str, path: str, template: str, *, is_last: bool = True) -> Answer:
        """Compares what a framework is about to run with the decision. The answer is false, and counted, if it differs: send it.

        Call it where the handler is dispatched, after everything that might rewrite the request. `method` and `path` (decoded, without the
        query) are what the handler sees; `template` is the chosen route's, such as `/users/{id}`, or "" without a route. If a router further in
        compares again, pass `is_last=False`.
        """
        answer = self._gate._compared(self._answer, self._method, self._target, template if self._is_for(method, path) else "")
        if is_last or not answer:
            self._note(answer)
        return answer

    def _is_for(self, method: str, path: str) -> bool:
        return method == self._method and path == self._path

    def _note(self, answer: Answer | None = None) -> None:
        """Counts and audits the request, once."""
        if not self._is_noted:
            self._is_noted = True
            self._gate._note(self._answer if answer is None else answer)


def decided(found: object, method: str, path: str) -> Allowed:
    """What a gate left in a request, if it let exactly this request through. Otherwise raises RuntimeError, so that the request gets a 500."""
    if not isinstance(found, Allowed):
        raise RuntimeError("no gate has decided this request: `protect` this application, outside everything that serves requests")
    if not found._is_for(method, path):
        raise RuntimeError("the request isn't the one that the gate decided: something inside the gate has changed its method or path")
    return found


class RoutesDiffer(OrbgateError):
    """A service and its policy do not have the same routes.

    `undeclared` are the routes that only the service has, each with the policy's route that decides it or None; `unserved` those that
    only the policy has, which is harmless where several services share a policy.
    """

    def __init__(self, undeclared: list[tuple[str, str | None]], unserved: list[str], text: str) -> None:
        self.undeclared = undeclared
        self.unserved = unserved
        super().__init__(text)


class Gate(_native.Gate):
    """Policy, verifier and keys: one for all threads and tasks.

    `tokens` is the configuration of the issuers, YAML as of `orbgate-token`. `fetch` gets the issuers' keys, by default with `urllib`.
    `challenge` is what a denied caller is told in `WWW-Authenticate`: "minimal" is `Bearer`, "full" names the error of RFC 6750, "none"
    answers every denial with a bare 403, as `flat_403` does. `public` are routes that need no token, such as `GET /healthz`: raises ValueError if
    a path fits both one of them and a route of the policy. With `cors_preflight="pass"`, CORS preflight requests for declared routes pass. `count` is called with the name of a counter and its labels; by default
    OpenTelemetry counts, if it is installed. `audit` is called with a line of JSON for each decision.
    """

    policy: Policy
    """The policy in force. A new one decides from the next request on."""
    _keys: Keys
    _count: Callable[[str, Mapping[str, str]], object]
    _audit: Callable[[str], object] | None
    _said: set[str]

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
        fetch: Callable[[str, float, int], Fetched] = fetch,
        count: Callable[[str, Mapping[str, str]], None] | None = None,
        audit: Callable[[str], object] | None = None,
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
        )
        gate.check_public(policy)
        gate.policy = policy
        gate._keys = Keys(gate, fetch)
        gate._count = counter() if count is None else count
        gate._audit = audit
        gate._said = set()
        return gate

    @classmethod
    def from_files(cls, policy: str | os.PathLike[str], tokens: str | os.PathLike[str], **options: object) -> Gate:
        """A gate of a policy's file and a file of issuers. Raises `PolicyError` or `ConfigError` with every error, each with its location."""
        with open(tokens, "rb") as file:
            text = file.read(_native.MAX_POLICY_BYTES + 1)  # the library says that it is too large
        return cls(Policy.from_file(policy), text, file=os.fspath(tokens), **options)  # type: ignore[arg-type]

    def reload(self, file: str | os.PathLike[str]) -> Policy:
        """Puts a new version of the policy in force, and returns it: every later request is decided by it.

        It must end in the end marker (`Policy.has_end_marker`), so that half a file is never taken: raises `PolicyError`, `OSError` if it
        cannot be read, or ValueError if a path fits both a public route and one of its routes, and then the former policy stays.
        """
        result = _names.LOAD_REFUSED
        try:
            policy = Policy.from_file(file)
            if not policy.has_end_marker:
                result = _names.LOAD_UNFINISHED
                raise PolicyError([(1, 1, "the policy has no end marker, the line `...`: it may be half-written")], os.fspath(file))
            self.check_public(policy)
        except (ValueError, OSError) as error:
            result = _names.LOAD_UNREADABLE if isinstance(error, OSError) else result
            self._add(_names.POLICY_LOADS_TOTAL, {_names.LABEL_RESULT: result})
            logger.error("the policy stays as it was: %s", error)
            raise
        self.policy = policy
        self._add(_names.POLICY_LOADS_TOTAL, {_names.LABEL_RESULT: _names.LOAD_LOADED})
        logger.info("a policy is in force: %s", policy.digest)
        return policy

    def answer(self, method: str | bytes, target: str | bytes, headers: _Headers, router: Callable[[], str] | None = None) -> Answer:
        """The answer to a request as it came. Waits for keys where it must, at most for as long as fetching them may take.

        `target` is path and query in the bytes of the request line; `headers` has a pair for each line. `router` returns, for a request that is
        allowed, the template of the route that a router takes: another one than the policy's, or "", makes it a denial. If something might
        rewrite the request later, compare at the handler instead: `Allowed.compare`.
        """
        return self._settle(self._ask(method, target, headers), method, target, router)

    async def answer_async(
        self, method: str | bytes, target: str | bytes, headers: _Headers, router: Callable[[], str] | None = None
    ) -> Answer:
        """The same, and the event loop goes on while it waits."""
        return self._settle(await self._ask_async(method, target, headers), method, target, router)

    def allowed(self, answer: Answer, method: str | bytes, target: str | bytes) -> Allowed:
        """What the service is told of an answer that allows its request."""
        if not answer or (answer.token is None and answer.public_template is None):
            raise ValueError("the request is denied")
        return Allowed(self, answer, method, target)

    def check_routes(self, routes: Iterable[tuple[str, str]]) -> None:
        """Compares the routes of a service, each a method and a template as `/users/{id}`, with those of the policy.

        Call it when a service starts, and in its tests. Raises `RoutesDiffer`: under a policy with `GET /users/{id}`, callers of that route may
        call `GET /users/export`, too, unless the policy has it.
        """
        differ = _native.check_routes(self, self.policy, list(routes))
        if differ is not None:
            raise RoutesDiffer(*differ)

    def warn(self, text: str, *values: object, exc_info: bool = False) -> None:
        """Logs an error once, such as why every request is refused."""
        if text not in self._said:
            self._said.add(text)
            logger.error(text, *values, exc_info=exc_info)

    def _ask(self, method: str | bytes, target: str | bytes, headers: _Headers) -> Answer:
        now = time.time(), time.monotonic()
        step = self.ask(self.policy, method, target, list(headers), *now, holds_thread=True)
        self._keys.start()
        while isinstance(step, _native.Waiting):
            self._keys.wait(step)
            step = self.resume(self.policy, step, time.time(), time.monotonic())
            self._keys.start()
        return step

    async def _ask_async(self, method: str | bytes, target: str | bytes, headers: _Headers) -> Answer:
        step = self.ask(self.policy, method, target, list(headers), time.time(), time.monotonic())
        self._keys.start()
        while isinstance(step, _native.Waiting):
            await self._keys.wait_async(step)
            step = self.resume(self.policy, step, time.time(), time.monotonic())
            self._keys.start()
        return step

    def _settle(self, answer: Answer, method: str | bytes, target: str | bytes, router: Callable[[], str] | None) -> Answer:
        if answer and router is not None:
            answer = self._compared(answer, method, target, router())
        self._note(answer)
        return answer

    def _compared(self, answer: Answer, method: str | bytes, target: str | bytes, template: str) -> Answer:
        route = answer.decision.route or answer.public_template or ""
        answer = self.again(answer, method, target, template)
        if answer.misrouted is not None:
            self.warn(
                "requests are refused: `%s` was decided, and the router has taken `%s`: a route that the policy lacks, or none because the method or the "
                "path was changed after the decision",
                route,
                answer.misrouted,
            )
            self._add(_names.MISROUTED_TOTAL, {_names.LABEL_ROUTE: route, _names.LABEL_MATCHED: answer.misrouted})
        return answer

    def _note(self, answer: Answer) -> None:
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
                self._audit(line_of(answer))
            except Exception:
                self._add(_names.AUDIT_LOST_TOTAL, {})
                self.warn("audit lines are lost: `audit` raised", exc_info=True)

    def _add(self, name: str, labels: Mapping[str, str]) -> None:
        """Counts. A hook that fails changes no answer."""
        try:
            self._count(name, labels)
        except Exception:
            self.warn("counts are lost: `count` raised", exc_info=True)
