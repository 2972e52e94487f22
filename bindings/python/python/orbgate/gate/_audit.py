"""The audit line of a decision, the same for every gate."""

from __future__ import annotations

import json
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._native import Answer


def line_of(answer: Answer) -> str:
    """A JSON line: the decision, its time and, for the token, only its kind and an id that reveals nothing."""
    token = answer.token
    line = {
        "time_ms": time.time_ns() // 1_000_000,
        **answer.decision.to_dict(),
        "about": answer.decision.about,
        "token_kind": None if token is None else token.kind.value,
        "token": None if token is None else token.fingerprint,
        "token_refused": answer.refused,
    }
    return json.dumps(line, separators=(",", ":"))
