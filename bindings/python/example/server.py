"""A server of `http.server` that trusts the headers `X-Token-Kind` and `X-Token-Scopes`, so it must be reached only through what sets them. A caller without the
scope gets a bare 403. A server that verifies the token itself has a gate: see the README.

    python example/server.py 8080
    curl -i -X POST localhost:8080/api/v1/external/voxies/prompt/run -H 'X-Token-Kind: user' -H 'X-Token-Scopes: read:voxies'
"""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from orbgate import Decision, Policy, Reason, Token

POLICY = Policy.external()


class Server(BaseHTTPRequestHandler):
    """Lets a request through, or refuses it with an empty body."""

    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline:
            self.close_connection = True
        elif self.parse_request():
            # As it came over the wire: `self.path` has been changed where it begins with `//`.
            target = self.raw_requestline.split(b" ")[1]
            decision = POLICY.decide(self.command, target, self.token())
            if decision.is_allow:
                self.answer(decision)
            else:
                self.refuse(decision)
            self.wfile.flush()

    def token(self) -> Token | None:
        """The verified token of a request.

        This one trusts headers of an authenticating proxy in front of it. Put your own verification here, and never trust such
        headers from outside.
        """
        kind = self.headers["X-Token-Kind"]
        return None if kind is None else Token(kind, self.headers.get("X-Token-Scopes", ""))

    def answer(self, decision: Decision) -> None:
        consumes = "orbs" if decision.orbs is not None and decision.orbs.consumes else "nothing"
        body = f"needs {decision.scope} and consumes {consumes}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, decision: Decision) -> None:
        """Without a body. A 401 asks for a token (RFC 6750), a 405 lists the methods that there are (RFC 9110)."""
        self.send_response(decision.status or 403)
        self.send_header("Content-Length", "0")
        if decision.reason is Reason.NO_TOKEN:
            self.send_header("WWW-Authenticate", "Bearer")
        elif decision.reason is Reason.INVALID_TOKEN:
            self.send_header("WWW-Authenticate", 'Bearer error="invalid_token"')
        elif decision.reason is Reason.METHOD_NOT_DECLARED:
            self.send_header("Allow", ", ".join(POLICY.declared_methods(decision)))
        self.end_headers()
        # The body of a refused request is not read, so the next one cannot be found.
        self.close_connection = True


def serve(port: int) -> ThreadingHTTPServer:
    return ThreadingHTTPServer(("127.0.0.1", port), Server)


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8080).serve_forever()
