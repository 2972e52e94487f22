"""What a report or a summary shows of a log's texts: not what is likely to carry a secret. Figures go through here, so that no table and no bundle has more."""

from __future__ import annotations

import re
from hashlib import blake2b

MOST_OF_A_SCOPE = 256
# As the page and the README say it.
RULE = (
    "Of a target is left out what comes after “?”, “#”, “;” or “&”, also as %3F, %23, %3B or %26, and a user with a password before a host; of a method, "
    f"what comes after a character that no method has. A scope that the policy does not have is a digest where it looks like a JWT or has more than {MOST_OF_A_SCOPE} "
    "characters. What looks like a JWT in a target, a method or an unread row is “eyJ…”. All else is as the log has it: a secret in a path or a name is shown"
)

# A query or fragment, which is cut; and what some servers read parameters from, of which the sign stays.
QUERY, PARAMETERS = re.compile("[?#]"), re.compile("(?i)(;|&|%3f|%23|%3b|%26).*", re.DOTALL)
# What comes before a host. A password may have any sign in it, so it ends with the last one.
USER = re.compile(r"\A((?:[A-Za-z][A-Za-z0-9+.-]*:)?//|(?!/)).*@", re.DOTALL)
# RFC 9110 calls this a token.
METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]*")
# The start of an object as JSON in base64url, as every JWT has it, and three parts of base64url that are too long for words.
JWT = re.compile(r"(?<![\w-])(?:eyJ[\w-]+(?:\.[\w-]*)*|[\w-]{16,}\.[\w-]{16,}\.[\w-]{16,})", re.ASCII)


def target(text: str | None) -> str | None:
    """A target as an example.

    >>> target("https://bob:pw@host/orbs;session=1?token=2"), target("/orbs/%3Ftoken=1"), target("/orbs?a@b")
    ('https://host/orbs;…', '/orbs/%3F…', '/orbs')

    A query is legal and isn't mentioned; a fragment isn't, and its sign stays.

    >>> target("/orbs#token=1"), target("/orbs?token=1#2")
    ('/orbs#…', '/orbs?…#…')
    """
    if text is None:
        return None
    path = QUERY.split(text, maxsplit=1)[0]
    fragment = "" if "#" not in text else "#…" if text[len(path)] == "#" else "?…#…"
    return token(PARAMETERS.sub(r"\1…", USER.sub(r"\1", path)) + fragment)


def method(text: str | None) -> str | None:
    """A method; of what is none, only how it starts.

    >>> method("GET"), method("GET /?token=1 HTTP")
    ('GET', 'GET…')
    """
    if text is None:
        return None
    start = METHOD.match(text)
    assert start is not None
    return token(text if start[0] == text else f"{start[0]}…")


def scope(text: str) -> str:
    """A scope that the policy does not have. Different ones stay different.

    >>> scope("openid"), scope("eyJhbGciOiJIUzI1NiJ9.e30.c2ln")
    ('openid', '(like a token)…5a77cc799bba4f909664052bf6466a4a')
    """
    if len(text) <= MOST_OF_A_SCOPE and not JWT.search(text):
        return text
    what = "like a token" if JWT.search(text) else "long"
    return f"({what})…{blake2b(text.encode('utf-8', 'backslashreplace'), digest_size=16).hexdigest()}"


def scopes(text: str) -> str:
    """The scopes of a token as an example."""
    return " ".join(map(scope, text.split(" ")))


def message(text: str) -> str:
    """What is wrong with a row, which may show what the row says.

    >>> message("the request is `GET /orbs?token=1`, no method and target")
    'the request is `GET /orbs?…`, no method and target'
    """
    return token(re.sub(r"//[^`/]*@", "//", re.sub(r"[?#][^`]*", lambda found: f"{found[0][0]}…", text)))


def token(text: str) -> str:
    """A text without what looks like a JWT."""
    return JWT.sub("eyJ…", text)
