"""The codes of the interface: frozen strings with frozen numbers, the same in every language."""

from __future__ import annotations

import enum

from . import _native


class _Code(str, enum.Enum):
    """A code that is also a string: ``Reason.SCOPE_HELD == "scope_held"``."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(str(self.value), spec)


class Effect(_Code):
    """The effect of a decision. There is no third effect: anything that isn't an allow is a denial."""

    # cargo xtask codes: Effect
    DENY = "deny"
    ALLOW = "allow"
    # end of Effect


class TokenKind(_Code):
    """The kind of a token. Every request with an unknown kind is denied."""

    # cargo xtask codes: TokenKind
    UNKNOWN = "unknown"
    USER = "user"
    ORGANISATION = "organisation"
    # end of TokenKind


class Reason(_Code):
    """Why a request was allowed or denied, in the order in which the reasons are tried."""

    # cargo xtask codes: Reason
    MALFORMED_REQUEST = "malformed_request"
    NO_TOKEN = "no_token"
    INVALID_TOKEN = "invalid_token"
    NO_ROUTE = "no_route"
    METHOD_NOT_DECLARED = "method_not_declared"
    USER_TOKEN_REQUIRED = "user_token_required"
    SCOPE_NOT_APPLICABLE = "scope_not_applicable"
    SCOPE_MISSING = "scope_missing"
    SCOPE_HELD = "scope_held"
    PUBLIC_ROUTE = "public_route"
    INSUFFICIENT_ORBS = "insufficient_orbs"
    LEDGER_UNAVAILABLE = "ledger_unavailable"
    INSUFFICIENT_USER_AUTHENTICATION = "insufficient_user_authentication"
    # end of Reason

    @property
    def number(self) -> int:
        """The reason's frozen number."""
        return _native.reason(self.value)[0]

    @property
    def status(self) -> int | None:
        """The HTTP status of a denial; None for reasons that allow."""
        return _native.reason(self.value)[1]

    @property
    def explanation(self) -> str:
        """A human-readable sentence.

        >>> Reason.SCOPE_MISSING.explanation
        'the token does not carry the required scope'
        """
        return _native.reason(self.value)[2]


class Detail(_Code):
    """The rule that a malformed request breaks."""

    # cargo xtask codes: Detail
    METHOD = "method"
    LENGTH = "length"
    BYTE = "byte"
    FRAGMENT = "fragment"
    FORM = "form"
    BACKSLASH = "backslash"
    MATRIX_PARAM = "matrix_param"
    PATH_CHAR = "path_char"
    PERCENT = "percent"
    BAD_ESCAPE = "bad_escape"
    ENCODED_CONTROL = "encoded_control"
    ENCODED_DELIMITER = "encoded_delimiter"
    ENCODED_UNRESERVED = "encoded_unreserved"
    NON_ASCII = "non_ascii"
    WHITESPACE = "whitespace"
    EMPTY_SEGMENT = "empty_segment"
    DOT_SEGMENT = "dot_segment"
    NON_CANONICAL_LITERAL = "non_canonical_literal"
    AMBIGUOUS_CASE = "ambiguous_case"
    UPGRADE = "upgrade"
    INSUFFICIENT = "insufficient"
    BONUS_NOT_ALLOWED = "bonus_not_allowed"
    TEMPORARILY_HELD = "temporarily_held"
    FROZEN = "frozen"
    PROOF = "proof"
    # end of Detail

    @property
    def number(self) -> int:
        """The detail's frozen number."""
        return _native.detail(self.value)[0]

    @property
    def explanation(self) -> str:
        """A human-readable sentence."""
        return _native.detail(self.value)[1]
