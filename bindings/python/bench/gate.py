"""From an `Authorization` header to its answer, beside PyJWT verifying alone: `cargo xtask bench --bindings` runs it.

    pip install pyjwt[crypto]
    python bench/gate.py

Each turn prints `ALGORITHM GATE PYJWT`, in nanoseconds of processor time a token. PyJWT gets its key ready and checks signature, issuer,
audience and expiry. The gate does that, chooses the key, reads kind and scopes, and decides.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from orbgate import Policy
from orbgate.gate import Fetched, Gate

ISSUER, AUDIENCE = "https://issuer.test", "https://service.test"
TARGET = "/api/v1/external/orbs"
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


if __name__ == "__main__":
    compared("RS256", rsa.generate_private_key(65537, 2048))
    compared("ES256", ec.generate_private_key(ec.SECP256R1()))
