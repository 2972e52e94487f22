"""Which handlers a CORS preflight can run: only those only for `OPTIONS`, because it has no token."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OTHERS = "get", "head", "post", "put", "patch", "delete", "trace", "query"


def has_own_options(view: Any, framework: Any, dispatch: str) -> bool:
    """Whether a class handles `OPTIONS` in a method that handles nothing else, and the framework's class dispatches to it,
    so that nothing for all methods runs before.
    """
    options = getattr(view, "options", None)
    if options is None or getattr(view, dispatch, None) is not getattr(framework, dispatch):
        return False
    return all(getattr(view, name, None) is not options for name in _OTHERS)
