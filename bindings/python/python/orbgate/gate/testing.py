"""An issuer for tests of a service. Its tokens are real and pass real verification. Not for production.

`python -m orbgate.gate.testing 9000` runs one on this machine. It serves `/tokens.yaml`, a configuration that trusts
it, and issues a token to any client that requests one, for example with `/token?kind=user&scope=read:orbs`. OAuth clients
discover it, register themselves and get a token for a code with PKCE, without a login page.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .._native import TestIssuer as Native  # Pytest would take its own name for that of tests.
from ._fetch import Fetched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .._native import Post

__all__ = ["Issuer", "Server", "serve"]


class Issuer:
    """Signs tokens, and provides its keys without a network.

    >>> from orbgate import Policy
    >>> from orbgate.gate import Gate
    >>> issuer = Issuer()
    >>> gate = Gate(Policy.external(), issuer.tokens, fetch=issuer.fetch)
    >>> headers = [(b"authorization", issuer.bearer("user", "read:orbs").encode())]
    >>> gate.answer("GET", "/api/v1/external/orbs", headers).decision.reason
    <Reason.SCOPE_HELD: 'scope_held'>
    >>> gate.answer("GET", "/api/v1/external/account", headers).status
    403

    Its tokens state this `audience`, `subject`, `client` and `kind` ("user" or "organisation"), and the additional `claims`. They
    expire after `expires_in` seconds; if that is negative, they have expired. A wrong value is a `ValueError` that names the argument.
    """

    def __init__(
        self,
        name: str = "https://issuer.test",
        *,
        kid: str = "test",
        audience: str = "https://service.test",
        subject: str = "subject",
        client: str = "client",
        kind: str = "user",
        expires_in: int = 600,
        claims: Mapping[str, Any] | None = None,
    ) -> None:
        options = [("audience", audience), ("subject", subject), ("client", client), ("kind", kind), ("expires_in", str(expires_in))]
        self._native = Native(name, kid, options, json.dumps(dict(claims or {})))
        self._name = name
        self._audience = audience

    @property
    def name(self) -> str:
        """The `iss` of its tokens."""
        return self._name

    @property
    def audience(self) -> str:
        """The `aud` of its tokens."""
        return self._audience

    @property
    def tokens(self) -> str:
        """A configuration that trusts this issuer: the second argument of a `Gate`."""
        return self._native.tokens_yaml()

    def fetch(self, url: str, timeout: float, max_bytes: int, post: Post | None = None) -> Fetched:
        """Returns its keys for any URL."""
        return Fetched(200, self._native.jwks().encode())

    def bearer(self, kind: str, scopes: str, **claims: Any) -> str:
        """An `Authorization` value with a token of this kind and these scopes. A claim that is None is left out."""
        return f"Bearer {self._native.token(scopes, json.dumps({'token_kind': kind, **claims}), int(time.time()))}"

    def _answer(self, method: str, target: str, headers: list[tuple[str, str]], body: bytes) -> tuple[int, list[tuple[str, str]], str]:
        return self._native.answer(method, target, headers, body, int(time.time()))


class Server(ThreadingHTTPServer):
    """A server of an issuer, on this machine."""

    issuer: Issuer


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self._answer(b"")

    do_OPTIONS = do_GET

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if len(length) > 5 or not length.isdecimal():
            self._respond(413, [], "")
        else:
            self._answer(self.rfile.read(int(length)))

    def _answer(self, body: bytes) -> None:
        self._respond(*self.server.issuer._answer(self.command, self.path, list(self.headers.items()), body))

    def _respond(self, status: int, headers: list[tuple[str, str]], body: str) -> None:
        self.send_response(status)
        for name, value in [*headers, ("content-length", str(len(body.encode())))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Logs nothing, because responses contain tokens."""


def serve(port: int, **options: Any) -> Server:
    """Runs an issuer on this machine, which issues a token to any client. The options are those of `Issuer`."""
    server = Server(("127.0.0.1", port), _Handler)
    try:
        server.issuer = Issuer(f"http://127.0.0.1:{server.server_address[1]}", **options)
    except ValueError:
        server.server_close()
        raise
    return server


def _claim(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    try:
        if equals:
            return (name[:-1], json.loads(value)) if name.endswith(":") else (name, value)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError("write NAME=TEXT or NAME:=JSON")


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m orbgate.gate.testing", description="Run an issuer for tests, which gives any client a token.")
    parser.add_argument("port", nargs="?", type=int, default=9000, help="port on 127.0.0.1 to listen on; 0 is any free port (default: 9000)")
    for name, value, text in (
        ("audience", "URI", "the audience of its tokens: your service (default: https://service.test)"),
        ("subject", "NAME", "the subject of its tokens (default: subject)"),
        ("client", "NAME", "the client of its tokens (default: client)"),
        ("kind", "KIND", "the kind of its tokens: user or organisation (default: user)"),
        ("expires-in", "SECONDS", "the seconds until a token expires; a negative number makes expired tokens (default: 600)"),
    ):
        parser.add_argument(f"--{name}", metavar=value, default=argparse.SUPPRESS, help=text)
    parser.add_argument("--claim", dest="claims", metavar="CLAIM", type=_claim, action="append", default=[], help="another claim: NAME=TEXT, or NAME:=JSON")
    options = vars(parser.parse_args())
    try:
        server = serve(options.pop("port"), claims=dict(options.pop("claims")), **options)
    except ValueError as error:
        parser.error(f"--{str(error).replace('expires_in:', 'expires-in:', 1)}")
    url = f"http://127.0.0.1:{server.server_address[1]}"
    print("FOR TESTS ONLY, never in production: every program on this machine can get any token", file=sys.stderr)
    print(f"  curl -s {url}/tokens.yaml > tokens.yaml    # trust this issuer", file=sys.stderr)
    print(f"  curl -s '{url}/token?kind=user&scope=read:orbs'", file=sys.stderr)
    server.serve_forever()


if __name__ == "__main__":
    _main()
