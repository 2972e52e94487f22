"""The policy, which is the main class of the package."""

from __future__ import annotations

import errno
import os
import stat
import warnings

from . import _native
from ._columns import is_table, kind_of, of_table
from ._errors import NoPropertyError, NoRouteError, OrbgateError, PropertyError, PropertyWarning
from ._native import Token
from ._terms import TokenKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeVar, overload

    from ._answers import CaseResult, Coverage, Diff, Explanation, Finding, LeastScopes, PropertyResult, Reach, Route, Scope, ScopeUse, ScopeUseBy, TableRow
    from ._frames import ArrowArray, ArrowStream
    from ._native import Decision, DecisionTable
    from ._rows import Rows

    _Name = TypeVar("_Name")
else:
    # Importing `typing` takes longer than importing everything else.
    def overload(function):
        return function


class Policy(_native.Policy):
    """A compiled, immutable policy: route → scope → orbs. You can share it between threads.

    Policies with the same digest are equal. Pickles and copies, including those in other processes, contain the
    policy's YAML.
    """

    __slots__ = ()

    @classmethod
    def external(cls) -> Policy:
        """The table of the service's specification, which is part of the package.

        >>> len(Policy.external().routes())
        37
        """
        return cls()

    @classmethod
    def from_yaml(cls, text: str | bytes) -> Policy:
        """Reads a policy.

        Raises `PolicyError` with all errors.
        """
        return cls(text)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Policy:
        """Reads a policy from a regular file. Other files, such as pipes, are rejected, because reading them could
        block.

        Raises `PolicyError` with all errors, and `OSError` if the file can't be read.
        """
        return cls(read_file(path), os.fspath(path))

    def decide_table(
        self,
        data: ArrowStream | ArrowArray,
        *,
        columns: Mapping[str, str] | None = None,
        kind: TokenKind | str | None = None,
        scopes: str | None = None,
        allow_bonus_orbs_use: bool | None = None,
        token: Token | None = None,
        threads: int | None = None,
    ) -> DecisionTable:
        """Decides every row of a table: millions of rows per second, without the interpreter's lock.

        `data` is any object with the Arrow C interface: a table of pyarrow, polars, pandas or duckdb, a batch, a
        stream, or a column of structs. `columns` maps `method`, `target`, `kind`, `scopes` and `allow_bonus_orbs_use`
        to the table's column names, which are the same by default. Other columns are ignored.

        The column `allow_bonus_orbs_use` is optional (default: false). It contains booleans, or strings such as
        `true` and `no`. The other columns contain strings in any Arrow encoding, and `scopes` can also contain lists
        of strings. Dictionary-encoded columns are decided once for each combination of their entries.

        `kind`, `scopes` and `allow_bonus_orbs_use` set one value for all rows and replace the column. `token` sets
        one kind with its scopes. `threads` is the number of threads, by default and at most one per processor.

        The result has one row for each row of the table, in the same order. A row whose method or target is null is
        malformed, and a row whose kind is null has no token.

        Raises `TableError` if a column is missing, occurs twice or doesn't contain strings, if a flag is neither
        true nor false, or if a stream was already read. Raises `ValueError` if the arguments are inconsistent.
        """
        if threads is not None:
            # True is also an int.
            if isinstance(threads, bool) or not hasattr(threads, "__index__"):
                raise TypeError(f"`threads` must be an int, not {type(threads).__name__}")
            if threads < 1:
                raise ValueError(f"`threads` must be at least 1, not {threads}")
            # No machine has as many processors.
            threads = min(threads, 1 << 16)
        if token is not None and not (kind is scopes is None):
            raise ValueError("`token` has a kind and scopes, so `kind` and `scopes` must be absent")
        # A token has both, so no column is needed.
        carried = {"kind": kind, "scopes": scopes} if token is None else {"kind": "", "scopes": ""}
        data, names = of_table(data, columns, {**carried, "allow_bonus_orbs_use": allow_bonus_orbs_use})
        values = {"kind": kind_of(kind), "scopes": scopes, "allow_bonus_orbs_use": allow_bonus_orbs_use}
        return _native.decide_table(self, data, names, values, token, threads)

    def routes(self, scope: str | None = None) -> Rows[Route]:
        """All routes, or those of one scope, in the order of the policy file.

        >>> [str(route) for route in Policy.external().routes("delete:keys")]
        ['DELETE /api/v1/external/keys/{keyId}']
        """
        from ._answers import Route
        from ._rows import Rows

        rows = _native.routes(self, scope)
        if rows is None:
            raise NoRouteError(f"the policy has no scope `{scope}`")
        return Rows(Route, (Route(**row) for row in rows))

    def scopes(self) -> Rows[Scope]:
        """All scopes, in the order of the policy file."""
        from ._answers import Scope
        from ._rows import Rows

        rows = _native.scopes(self)
        return Rows(Scope, (Scope(**row) for row in rows))

    def table(self) -> Rows[TableRow]:
        """The whole table: one row for each route, and one for each scope without routes."""
        from ._answers import TableRow
        from ._rows import Rows

        return Rows(TableRow, (TableRow(**row) for row in _native.table_rows(self)))

    def route_of(self, method: str | bytes, target: str | bytes) -> Route:
        """The route that a call reaches. It names the scope that the call needs.

        Raises `NoRouteError`, which gives the reason, if the call reaches no route.

        >>> Policy.external().route_of("GET", "/api/v1/external/models/7").scope
        'read:models'
        """
        from ._answers import Route

        row, denial, methods = _native.route_of(self, method, target)
        if row is None:
            assert denial is not None
            about = f"{denial.reason}: {denial.reason.explanation}"
            if denial.detail is not None:
                about = f"{denial.detail}: {denial.detail.explanation}"
            raise NoRouteError(about, denial, methods)
        return Route(**row)

    def reach(self, token: Token) -> Rows[Reach]:
        """Everything that a token can call, and what each call consumes.

        Lists routes in the order of the policy file, and scopes without routes, which are decided by scope.
        """
        from ._answers import Reach
        from ._rows import Rows

        rows = _native.reach(self, token)
        return Rows(Reach, (Reach(**row) for row in rows))

    @overload
    def least_scopes(
        self,
        calls: Iterable[tuple[str | bytes, str | bytes]] | ArrowStream | ArrowArray,
        kind: TokenKind | str | None = None,
        *,
        by: None = None,
        columns: Mapping[str, str] | None = None,
    ) -> LeastScopes: ...
    @overload
    def least_scopes(
        self,
        calls: ArrowStream | ArrowArray,
        kind: TokenKind | str | None = None,
        *,
        by: str,
        columns: Mapping[str, str] | None = None,
    ) -> dict[str | None, LeastScopes]: ...
    def least_scopes(
        self,
        calls: Iterable[tuple[str | bytes, str | bytes]] | ArrowStream | ArrowArray,
        kind: TokenKind | str | None = None,
        *,
        by: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> LeastScopes | dict[str | None, LeastScopes]:
        """The least set of scopes with which a token can make these calls, each a method and a target.

        The set is irreducible: if any scope is removed, the call that is its evidence is denied. `kind` is the kind
        of token; by default, a user's token. Every call counts, even one that was denied when it was made. To find
        the least set that keeps all allowed calls allowed, pass only those calls, or use `orbgate.audit.privileges`.

        `calls` can also be a table, as for `decide_table`, with the same `columns` and `kind`. With `by`, the name of
        a column of strings, the result contains the least set for each value in that column, for example for
        each caller.

        >>> calls = [("GET", "/api/v1/external/orbs"), ("POST", "/api/v1/external/voxies")]
        >>> Policy.external().least_scopes(calls).scope
        'read:orbs write:voxies'
        """
        from ._answers import least_of

        if is_table(calls):
            values = {"kind": kind_of(kind), "scopes": "", "allow_bonus_orbs_use": False}
            data, names = of_table(calls, columns, values, by)
            answers = _native.least_scopes_of_table(self, data, names, values, by)
            least = {of: least_of(needs, earned, smallest, refusals) for of, needs, earned, smallest, refusals in answers}
            return least[None] if by is None else least
        if columns is not None or by is not None:
            raise ValueError("`columns` and `by` can be used only with a table")
        listed = list(calls)
        shown = [(_shown(method), _shown(target)) for method, target in listed]
        needs, earned, is_smallest, refusals = _native.least_scopes(self, kind_of(kind) or TokenKind.USER, listed)
        return least_of(
            [(scope, *shown[at], count) for scope, at, count in needs],
            [(scope, *shown[at], count) for scope, at, count in earned],
            is_smallest,
            [(*shown[at], denial, count) for at, denial, count in refusals],
        )

    @overload
    def scope_usage(
        self,
        calls: Iterable[tuple[Any, ...]] | ArrowStream | ArrowArray,
        *,
        by: None = None,
        columns: Mapping[str, str] | None = None,
        kind: TokenKind | str | None = None,
        scopes: str | None = None,
    ) -> Rows[ScopeUse]: ...
    @overload
    def scope_usage(
        self,
        calls: ArrowStream | ArrowArray,
        *,
        by: str,
        columns: Mapping[str, str] | None = None,
        kind: TokenKind | str | None = None,
        scopes: str | None = None,
    ) -> Rows[ScopeUseBy]: ...
    def scope_usage(
        self,
        calls: Iterable[tuple[Any, ...]] | ArrowStream | ArrowArray,
        *,
        by: str | None = None,
        columns: Mapping[str, str] | None = None,
        kind: TokenKind | str | None = None,
        scopes: str | None = None,
    ) -> Rows[ScopeUse] | Rows[ScopeUseBy]:
        """How often the scopes of a log's tokens were granted and used.

        `calls` is a table, as for `decide_table`, with the same `columns`, `kind` and `scopes`. It can also be an
        iterable of calls: method, target, kind, scopes (as for `Token`) and, optionally, how often the call was made.
        Scopes whose `used` is 0 were granted but never used. A token of unknown kind is rejected, so its scopes grant
        nothing. With `by`, the name of a column of strings, rows are grouped by that column, so you can see
        which callers use a scope.

        >>> calls = [("GET", "/api/v1/external/account", "user", "read:account read:keys", 10)]
        >>> [use.scope for use in Policy.external().scope_usage(calls) if not use.used]
        ['read:keys']
        """
        from ._answers import ScopeUse, ScopeUseBy
        from ._rows import Rows

        if is_table(calls):
            usage = self._usage(calls, by, columns, kind_of(kind), scopes)
            if by is not None:
                return Rows(ScopeUseBy, (ScopeUseBy(of, **row) for of, rows in usage for row in rows))
            return Rows(ScopeUse, (ScopeUse(**row) for _, rows in usage for row in rows))
        if columns is not None or kind is not None or scopes is not None or by is not None:
            raise ValueError("`columns`, `kind`, `scopes` and `by` can be used only with a table")
        counted = (call if len(call) == 5 else (*call, 1) for call in calls)
        return Rows(ScopeUse, (ScopeUse(**row) for row in _native.scope_usage(self, counted)))

    def _usage(
        self, calls: ArrowStream | ArrowArray, by: str | None, columns: Mapping[str, str] | None, kind: str | None, scopes: str | None
    ) -> list[tuple[str | None, list[dict[str, Any]]]]:
        """The raw rows of `scope_usage`. A log with many callers has many of them."""
        values = {"kind": kind, "scopes": scopes, "allow_bonus_orbs_use": False}
        data, names = of_table(calls, columns, values, by)
        return _native.scope_usage_of_table(self, data, names, values, by)

    def who_may(
        self, method: str | bytes, target: str | bytes, tokens: Mapping[_Name, Token]
    ) -> dict[_Name, Decision]:
        """The tokens that may make a call: their names, each with its decision.

        >>> tokens = {"ann": Token("user", "read:orbs"), "bob": Token("user", "read:keys")}
        >>> list(Policy.external().who_may("GET", "/api/v1/external/orbs", tokens))
        ['ann']
        """
        names = list(tokens)
        answers = _native.who_may(self, method, target, list(tokens.values()))
        return {names[at]: decision for at, decision in answers}

    def explain(
        self,
        method: str | bytes,
        target: str | bytes,
        token: Token | None = None,
        *,
        declared: str | bytes | None = None,
        requested: str | bytes | None = None,
        allow_bonus_orbs_use: bool = False,
    ) -> Explanation:
        """Explains a decision: the rules for the target, routes that almost match the call, and the missing step to the
        scope, as far as the scopes that the application `declared` and `requested` show it. The result of
        `orbgate explain`.

        >>> found = Policy.external().explain("GET", "/api/v1/external/voxie/7", Token("user", "read:voxies"))
        >>> found.decision.reason, found.near[0].meant
        (<Reason.NO_ROUTE: 'no_route'>, '/api/v1/external/voxies/7')
        >>> {rule.state for rule in found.rules}
        {'pass'}
        """
        from ._answers import explanation

        return explanation(_native.explain(self, method, target, token, declared, requested, allow_bonus_orbs_use))

    def explain_scope(
        self,
        scope: str | bytes,
        token: Token | None = None,
        *,
        declared: str | bytes | None = None,
        requested: str | bytes | None = None,
        allow_bonus_orbs_use: bool = False,
    ) -> Explanation:
        """Explains a decision by scope, without a route."""
        from ._answers import explanation

        return explanation(_native.explain_scope(self, scope, token, declared, requested, allow_bonus_orbs_use))

    def ask(self, question: str, arguments: Mapping[str, object]) -> Any:
        """Answers a question about the policy: `check`, `diff`, `explain`, `lint`, `needs`, `reach`, `table`, `unused` or
        `who`. The answer is the JSON of `orbgate QUESTION --json`, whose fields are in
        docs/json.md. The other methods give the same answers as Python's own types.

        Raises ValueError if there is no such question or the arguments are wrong, and `PolicyError` if `diff` gets a
        policy with errors.

        >>> Policy.external().ask("needs", {"calls": [{"method": "GET", "target": "/api/v1/external/orbs"}]})["scopes"]
        ['read:orbs']
        """
        import json

        return json.loads(_native.ask(self, question, json.dumps(arguments)))

    def diff(self, new: Policy) -> Diff:
        """The changes in a new policy, each with a request that shows it.

        >>> old = Policy.from_yaml("{orbgate: 1, apis: {a: {base_path: '', scopes: {read: {orbs: 5, routes: [GET /a]}}}}}")
        >>> new = Policy.from_yaml("{orbgate: 1, apis: {a: {base_path: '', scopes: {read: {orbs: 2, routes: [GET /a]}}}}}")
        >>> print(old.diff(new).changes[0])
        cheaper: GET /a: `GET /a` for `read`, 5 orbs -> `GET /a` for `read`, 2 orbs
        """
        from ._answers import Change, Diff
        from ._rows import Rows

        diff = _native.diff(self, new)
        rows = []
        for row in diff["changes"]:
            holders = {name: row[name] and Token(*row[name]) for name in ("wider", "narrower", "payer")}
            rows.append(Change(**{**row, **holders, "labels": tuple(row["labels"])}))
        return Diff(diff["verdict"], diff["widens"], diff["complete"], Rows(Change, rows), diff["left_out"])

    def lint(self) -> Rows[Finding]:
        """Finds likely mistakes in the policy. The codes are those of `orbgate lint`.

        Raises `OrbgateError` if there are too many findings to list them all.
        """
        from ._answers import Finding
        from ._rows import Rows

        findings, is_complete = _native.lint(self.text)
        if not is_complete:
            raise OrbgateError("the policy has too many findings or overlapping templates to list all findings")
        return Rows(Finding, (Finding(**row) for row in findings))

    def laid_out(self) -> str:
        """The policy, formatted by `orbgate fmt`."""
        return _native.lay_out(self.text)

    def test(self, cases: str | bytes) -> Rows[CaseResult]:
        """Runs the cases of a test file with this policy, and proves its properties. If the file names another policy,
        that is ignored.

        >>> found = Policy.external().test("orbgate_test: 1\\ncases: [GET /api/v1/external/orbs | user read:orbs | allow free]")
        >>> [(case.passed, case.differences) for case in found]
        [(False, ('orbs: expected free, found unstated',))]

        Raises `PolicyError` with every error of the file.
        """
        from ._answers import CaseResult
        from ._rows import Rows

        rows = ({**row, "differences": tuple(row["differences"])} for row in _native.test(self, cases))
        return Rows(CaseResult, (CaseResult(**row) for row in rows))

    def properties(self, cases: str | bytes) -> Rows[PropertyResult]:
        """Proves or refutes the properties of a test file, each with the requests that violate it.

        >>> [found] = Policy.external().properties("orbgate_test: 1\\nproperties: [at most 0 orbs | any read:orbs | '*']")
        >>> found.holds, found.rules, found.witnesses[0].requests[0].target
        (False, 39, '/api/v1/external/orbs')

        Raises `PolicyError` with every error of the file.
        """
        from ._answers import PropertyResult, witnesses_of
        from ._rows import Rows

        rows = _native.properties(self, cases)
        for row in rows:
            row["witnesses"] = witnesses_of(row["witnesses"])
            row["holds"] = row["error"] is None and not row["witnesses"]
        return Rows(PropertyResult, (PropertyResult(**row) for row in rows))

    def assert_never(
        self, route: str | Iterable[str], *, kind: TokenKind | str | None = None, scopes: str | Iterable[str] | None = None
    ) -> None:
        """Proves that none of these callers may call any of these routes, with any request.

        "METHOD /items/{id}" and "/items/{id}" mean a route of the policy, and the calls that it decides. With "*" in
        place of "{id}", they mean paths, whichever routes decide them: a segment "*" is any one segment, and a final
        "*" is one or more segments. "scope SCOPE" is a scope without a route, and "*" is everything.

        The callers have a token of this kind, or of any kind, with exactly these scopes, or with any. `scopes=""` is
        a token without scopes.

        >>> Policy.external().assert_never("scope write:inference", kind="organisation")

        Raises `PropertyError` with the requests that violate the property, and `NoPropertyError` if it doesn't apply
        to the policy. If the property holds trivially, for example because the callers may call nothing at all, it
        warns with `PropertyWarning`. The next three methods do the same.
        """
        self._prove("never", 0, kind, scopes, _texts(route))

    def assert_only(
        self, scopes: str | Iterable[str] | None, routes: str | Iterable[str], *, kind: TokenKind | str | None = None
    ) -> None:
        """Proves that callers with these scopes may call only these routes or, without routes, that they may call
        nothing.

        >>> Policy.external().assert_only("read:account", ["GET /api/v1/external/account"])
        """
        self._prove("only", 0, kind, scopes, _texts(routes))

    def assert_orbs_at_most(
        self,
        most: int,
        route: str | Iterable[str] = "*",
        *,
        kind: TokenKind | str | None = None,
        scopes: str | Iterable[str] | None = None,
    ) -> None:
        """Proves that these calls by these callers never consume more orbs than this, or orbs without a stated amount.

        >>> Policy.external().assert_orbs_at_most(0, "GET /api/v1/external/account")
        """
        self._prove("at most", most, kind, scopes, _texts(route))

    def assert_apart(
        self, one: str, other: str, *, kind: TokenKind | str | None = None, scopes: str | Iterable[str] | None = None
    ) -> None:
        """Proves that none of these callers may call both. Without `scopes`, these are callers with just the scopes that one of the calls needs,
        which is mostly one scope: a token with more can call both.

        >>> Policy.external().assert_apart("GET /api/v1/external/account", "POST /api/v1/external/voxies")
        """
        self._prove("apart", 0, kind, scopes, [one, other])

    def _prove(
        self, claim: str, most: int, kind: TokenKind | str | None, scopes: str | Iterable[str] | None, calls: list[str]
    ) -> None:
        from ._answers import witnesses_of

        carried = None if scopes is None else " ".join(_texts(scopes))
        rows, error, warning = _native.prove(self, claim, most, kind_of(kind), carried, calls)
        if error is not None:
            raise NoPropertyError(error)
        if rows:
            witnesses = witnesses_of(rows)
            raise PropertyError("\n".join(map(str, witnesses)), witnesses)
        if warning is not None:
            warnings.warn(f"{claim}: {warning}", PropertyWarning, stacklevel=3)

    def coverage(self, *cases: str | bytes) -> Coverage:
        """The coverage of the policy by the cases of test files. Only passing cases count.

        >>> found = Policy.external().coverage("orbgate_test: 1\\ncases: [GET /api/v1/external/orbs | user read:orbs | allow]")
        >>> [(row.name, row.lacking) for row in found.rows if any(row.outcomes.values())]
        [('GET /api/v1/external/orbs', ('bonus', 'scope_missing'))]

        Raises `PolicyError` with every error of the first file that has some.
        """
        from ._answers import Coverage, CoveredRow
        from ._rows import Rows

        rows, outcomes = _native.coverage(self, list(cases))
        return Coverage(Rows(CoveredRow, (CoveredRow(**{**row, "outcomes": dict(row["outcomes"])}) for row in rows)), dict(outcomes))

    def __repr__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        return f"<orbgate.Policy{name}: {len(self.routes())} routes, {self.digest[:19]}>"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._text, self.digest)


def _texts(texts: str | Iterable[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _shown(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The contents of a regular file, or one byte more than a policy may have, which shows that the file is too long."""
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        return file.read(_native.MAX_POLICY_BYTES + 1)


def _open_at_once(path: str, flags: int) -> int:
    """Opens without blocking: opening a pipe would wait for its writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _restore(cls: type[Policy], text: bytes | None, digest: str) -> Policy:
    """Restores a policy from a pickle. Another release of this package might have a different built-in policy."""
    policy = cls(text)
    if policy.digest != digest:
        raise OrbgateError(f"the pickled policy has the digest {digest}, but this policy has {policy.digest}")
    return policy
