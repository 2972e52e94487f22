"""The certificate with which a client has authenticated its connection, from the server that ended TLS and never from a header."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def of_scope(scope: Mapping[str, Any]) -> bytes | None:
    """That of an ASGI scope, in DER, if the server has the TLS extension."""
    tls = (scope.get("extensions") or {}).get("tls") or {}
    chain = list(tls.get("client_cert_chain") or ())
    return _der(chain[0]) if chain else None


def of_environ(environ: Mapping[str, Any]) -> bytes | None:
    """That of a WSGI environment, in DER: of gunicorn's socket, or as Apache's modules pass it on."""
    certificate = getattr(environ.get("gunicorn.socket"), "getpeercert", None)
    if certificate is not None:
        der: bytes | None = certificate(binary_form=True)
        return der
    # No header can set it: the names of headers begin with `HTTP_`.
    pem = environ.get("SSL_CLIENT_CERT")
    return _der(pem) if pem else None


def _der(pem: str) -> bytes | None:
    # Few services need it.
    import ssl

    try:
        return ssl.PEM_cert_to_DER_cert(pem.strip())
    except ValueError:
        return None
