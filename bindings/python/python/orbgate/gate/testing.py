"""An issuer for tests of a service. Its tokens are real and pass real verification. Not for production.

`python -m orbgate.gate.testing 9000` runs one on this machine. It serves `/tokens.yaml`, a configuration that trusts
it, and issues a token to any client that requests one, for example with `/token?kind=user&scope=read:orbs`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from .._native import SigningKey
from ._fetch import Fetched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._native import Post

__all__ = ["Issuer", "serve"]


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
    """

    audience = "https://service.test"

    def __init__(self, name: str = "https://issuer.test", *, kid: str = "test") -> None:
        self.name = name
        self.kid = kid
        self._key = SigningKey()

    @property
    def tokens(self) -> str:
        """A configuration that trusts this issuer: the second argument of a `Gate`."""
        kinds = {kind: [{"claim": "token_kind", "equals": kind}] for kind in ("user", "organisation")}
        issuer = {
            "issuer": self.name,
            "audience": self.audience,
            "jwks_uri": f"{self.name}/jwks",
            "algorithms": ["ES256"],
            "kind": kinds,
            "account": "subject",
        }
        # JSON is also YAML.
        return json.dumps({"orbgate_token": 1, "issuers": [issuer]})

    def fetch(self, url: str, timeout: float, max_bytes: int, post: Post | None = None) -> Fetched:
        """Returns its keys for any URL."""
        x, y = self._key.point()
        key = {"kty": "EC", "crv": "P-256", "kid": self.kid, "x": x, "y": y}
        return Fetched(200, json.dumps({"keys": [key]}).encode())

    def bearer(self, kind: str, scopes: str, **claims: Any) -> str:
        """An `Authorization` value with a token of this kind and these scopes, valid for ten minutes. A claim that is
        None is left out.
        """
        now = int(time.time())
        usual = {
            "iss": self.name,
            "aud": self.audience,
            "sub": "subject",
            "client_id": "client",
            "iat": now,
            "exp": now + 600,
            "token_kind": kind,
            "scope": scopes,
        }
        told = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        header = {"alg": "ES256", "typ": "at+jwt", "kid": self.kid}
        return f"Bearer {self._key.token(json.dumps(header), json.dumps(told))}"


class _Server(ThreadingHTTPServer):
    issuer: Issuer


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        issuer, url = self.server.issuer, urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        answers = {
            "/tokens.yaml": lambda: issuer.tokens + "\n",
            "/jwks": lambda: issuer.fetch(issuer.name, 0, 0).body.decode(),
            "/token": lambda: issuer.bearer(query.get("kind", "user"), query.get("scope", "")).removeprefix("Bearer "),
        }
        answer = answers.get(url.path)
        body = b"" if answer is None else answer().encode()
        self.send_response(404 if answer is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Logs nothing, because responses contain tokens."""


def serve(port: int) -> ThreadingHTTPServer:
    """Runs an issuer on this machine, which issues a token to any client."""
    server = _Server(("127.0.0.1", port), _Handler)
    server.issuer = Issuer(f"http://127.0.0.1:{server.server_address[1]}")
    return server


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m orbgate.gate.testing", description="Run an issuer for tests, which gives any client a token.")
    parser.add_argument("port", nargs="?", type=int, default=9000, help="port on 127.0.0.1 to listen on; 0 is any free port (default: 9000)")
    server = serve(parser.parse_args().port)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    print("FOR TESTS ONLY, never in production: every program on this machine can get any token", file=sys.stderr)
    print(f"  curl -s {url}/tokens.yaml > tokens.yaml    # trust this issuer", file=sys.stderr)
    print(f"  curl -s '{url}/token?kind=user&scope=read:orbs'", file=sys.stderr)
    server.serve_forever()


if __name__ == "__main__":
    _main()
