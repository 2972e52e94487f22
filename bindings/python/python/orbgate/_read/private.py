"""Removes likely secrets from a log's strings. All figures pass through here, so tables and bundles don't contain more."""

from __future__ import annotations

import re
from hashlib import blake2b

MOST_OF_A_SCOPE = 256
# The text on the page.
RULE = (
    "Targets are shown without everything after “?”, “#”, “;” or “&” (also as %3F, %23, %3B or %26), and without a user with a password before a host. Methods are "
    "shown without everything after a character that no method has. A scope that the policy doesn’t have is replaced by a digest if it looks like a JWT or has more than "
    f"{MOST_OF_A_SCOPE} characters. In targets, methods and unread rows, “eyJ…” replaces anything that looks like a JWT. Everything else is unchanged, so a secret in a path or a name is shown"
)

# A query or fragment, which is removed; and parameters that some servers support, of which the separator stays.
QUERY, PARAMETERS = re.compile("[?#]"), re.compile("(?i)(;|&|%3f|%23|%3b|%26).*", re.DOTALL)
# The user and password before a host. A password can contain any character, so it ends at the last `@`.
USER = re.compile(r"\A((?:[A-Za-z][A-Za-z0-9+.-]*:)?//|(?!/)).*@", re.DOTALL)
# RFC 9110 calls this a token.
METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]*")
# The start of a JSON object in base64url, which every JWT has, or three parts of base64url that are too long for words.
JWT = re.compile(r"(?<![\w-])(?:eyJ[\w-]+(?:\.[\w-]*)*|[\w-]{16,}\.[\w-]{16,}\.[\w-]{16,})", re.ASCII)


def target(text: str | None) -> str | None:
    """A target for display, without likely secrets.

    >>> target("https://bob:pw@host/orbs;session=1?token=2"), target("/orbs/%3Ftoken=1"), target("/orbs?a@b")
    ('https://host/orbs;…', '/orbs/%3F…', '/orbs')

    A query is legal and leaves no trace. A fragment is malformed, so its `#` stays.

    >>> target("/orbs#token=1"), target("/orbs?token=1#2")
    ('/orbs#…', '/orbs?…#…')
    """
    if text is None:
        return None
    path = QUERY.split(text, maxsplit=1)[0]
    fragment = "" if "#" not in text else "#…" if text[len(path)] == "#" else "?…#…"
    return token(PARAMETERS.sub(r"\1…", USER.sub(r"\1", path)) + fragment)


def method(text: str | None) -> str | None:
    """A method for display. Only the start of an invalid method is shown.

    >>> method("GET"), method("GET /?token=1 HTTP")
    ('GET', 'GET…')
    """
    if text is None:
        return None
    start = METHOD.match(text)
    assert start is not None
    return token(text if start[0] == text else f"{start[0]}…")


def scope(text: str) -> str:
    """A scope that the policy doesn't have, for display. Different scopes stay different.

    >>> scope("openid"), scope("eyJhbGciOiJIUzI1NiJ9.e30.c2ln")
    ('openid', '(like a token)…5a77cc799bba4f909664052bf6466a4a')
    """
    if len(text) <= MOST_OF_A_SCOPE and not JWT.search(text):
        return text
    what = "like a token" if JWT.search(text) else "long"
    return f"({what})…{blake2b(text.encode('utf-8', 'backslashreplace'), digest_size=16).hexdigest()}"


def scopes(text: str) -> str:
    """The scopes of a token for display."""
    return " ".join(map(scope, text.split(" ")))


def message(text: str) -> str:
    """An error in a row for display. It can quote the row.

    >>> message("the request is `GET /orbs?token=1`, no method and target")
    'the request is `GET /orbs?…`, no method and target'
    """
    return token(re.sub(r"//[^`/]*@", "//", re.sub(r"[?#][^`]*", lambda match: f"{match[0][0]}…", text)))


def token(text: str) -> str:
    """A string without anything that looks like a JWT."""
    return JWT.sub("eyJ…", text)
