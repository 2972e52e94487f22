"""From an `Authorization` header to its answer, beside PyJWT verifying alone: `cargo xtask bench --bindings` runs it.

    pip install pyjwt[crypto] mcp
    python bench/gate.py

Each turn prints `ALGORITHM GATE PYJWT`, in nanoseconds of processor time a token. PyJWT gets its key ready and checks signature, issuer,
audience and expiry. The gate does that, chooses the key, reads kind and scopes, and decides. `mcp` is a tool call over ASGI with a token of
ES256, beside the MCP SDK's own check of the token with PyJWT.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from orbgate import Policy
from orbgate.gate import Fetched, Gate
from orbgate.gate.asgi import GateMiddleware
from starlette.middleware.authentication import AuthenticationMiddleware

ISSUER, AUDIENCE = "https://issuer.test", "https://service.test"
TARGET = "/api/v1/external/orbs"
SHOP = "orbgate: 1\napis: { shop: { base_path: /mcp, scopes: { read:orbs: { orbs: false, routes: [MCP /tools/call/list_orders] } } } }\n"
CALLS, TURNS = 200, 31


def nanoseconds(run: Callable[[], object]) -> float:
    start = time.process_time_ns()
    for _ in range(CALLS):
        run()
    return (time.process_time_ns() - start) / CALLS


def compared(algorithm: str, private: Any) -> None:
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "user-7", "client_id": "app", "iat": now, "exp": now + 3600}
    claims |= {"token_kind": "user", "scope": "read:account read:orbs write:voxies"}
    token = jwt.encode(claims, private, algorithm, {"typ": "at+jwt", "kid": "key-1"})
    public = private.public_key()
    jwk = {**jwt.get_algorithm_by_name(algorithm).to_jwk(public, as_dict=True), "kid": "key-1"}
    jwk.pop("key_ops", None)
    kinds = {kind: [{"claim": "token_kind", "equals": kind}] for kind in ("user", "organisation")}
    issuer = {"issuer": ISSUER, "audience": AUDIENCE, "jwks_uri": f"{ISSUER}/jwks", "algorithms": [algorithm], "kind": kinds}
    keys = Fetched(200, json.dumps({"keys": [jwk]}).encode())
    gate = Gate(
        Policy.external(),
        json.dumps({"orbgate_token": 1, "issuers": [issuer]}),
        fetch=lambda *_: keys,
        count=lambda name, labels: None,
    )
    headers = [(b"host", b"a"), (b"authorization", f"Bearer {token}".encode())]

    def whole() -> None:
        assert gate.answer("GET", TARGET, headers)

    def alone() -> None:
        assert jwt.decode(token, public, [algorithm], audience=AUDIENCE, issuer=ISSUER)

    whole()
    alone()
    for _ in range(TURNS):
        print(f"{algorithm} {nanoseconds(whole):.0f} {nanoseconds(alone):.0f}")
    if algorithm == "ES256":
        shop = Gate(Policy.from_yaml(SHOP), json.dumps({"orbgate_token": 1, "issuers": [issuer]}), fetch=lambda *_: keys, mcp="/mcp")
        called(GateMiddleware(served, shop), by_sdk(lambda: jwt.decode(token, public, [algorithm], audience=AUDIENCE, issuer=ISSUER)), token)


async def served(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send(None)


def by_sdk(verify: Callable[[], dict[str, Any]]) -> Any:
    class Verifier:
        async def verify_token(self, token: str) -> AccessToken:
            return AccessToken(token=token, client_id="app", scopes=[], expires_at=verify()["exp"])

    checked = RequireAuthMiddleware(served, [])
    return AuthenticationMiddleware(checked, BearerAuthBackend(Verifier()))


def called(gated: Any, alone: Any, token: str) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_orders","arguments":{"limit":10}}}'
    headers = [(b"host", b"a"), (b"content-type", b"application/json"), (b"authorization", f"Bearer {token}".encode())]

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        assert message is None, message

    async def turns() -> None:
        for turn in range(TURNS):
            taken = []
            for app in gated, alone:
                start = time.process_time_ns()
                for _ in range(CALLS):
                    await app({"type": "http", "method": "POST", "path": "/mcp", "raw_path": b"/mcp", "query_string": b"", "headers": headers}, receive, send)
                taken.append((time.process_time_ns() - start) / CALLS)
            if turn > 0:  # the first one fetches the keys
                print(f"mcp {taken[0]:.0f} {taken[1]:.0f}")

    asyncio.run(turns())


if __name__ == "__main__":
    compared("RS256", rsa.generate_private_key(65537, 2048))
    compared("ES256", ec.generate_private_key(ec.SECP256R1()))
