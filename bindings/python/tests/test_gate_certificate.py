"""The certificate with which a client has authenticated its connection."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

from orbgate.gate import _certificate

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A key and a certificate of its own, in one file."""
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=own"]
    key, certificate = tmp_path / "key", tmp_path / "crt"
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    both = tmp_path / "both"
    both.write_text(key.read_text() + certificate.read_text())
    return both


def _der(file: Path) -> bytes:
    pem = file.read_text()
    return ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERTIFICATE") :])


def _shown(file: Path, *, has_certificate: bool) -> bytes | None:
    """That of a client of a real connection, as gunicorn passes its socket on."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    server.load_verify_locations(file)
    server.verify_mode = ssl.CERT_OPTIONAL
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    if has_certificate:
        client.load_cert_chain(file)
    one, other = socket.socketpair()

    def call() -> None:
        with client.wrap_socket(one) as connection:
            connection.sendall(b"x")
            connection.recv(1)

    thread = threading.Thread(target=call)
    thread.start()
    with server.wrap_socket(other, server_side=True) as connection:
        connection.recv(1)
        shown = _certificate.of_environ({"gunicorn.socket": connection, "HTTP_SSL_CLIENT_CERT": "x"})
        connection.sendall(b"x")
    thread.join()
    return shown


def test_it_is_that_of_the_connection(own: Path) -> None:
    assert _shown(own, has_certificate=True) == _der(own)
    assert _shown(own, has_certificate=False) is None
    plain, other = socket.socketpair()
    with plain, other:
        assert _certificate.of_environ({"gunicorn.socket": plain}) is None


def test_a_server_can_pass_it_on(own: Path) -> None:
    pem = own.read_text()
    pem = pem[pem.index("-----BEGIN CERTIFICATE") :]
    assert _certificate.of_environ({"SSL_CLIENT_CERT": pem}) == _der(own)
    assert _certificate.of_scope({"extensions": {"tls": {"client_cert_chain": [pem, "x"]}}}) == _der(own)
    none: list[dict[str, object]] = [{}, {"extensions": None}, {"extensions": {}}, {"extensions": {"tls": {}}}]
    none.append({"extensions": {"tls": {"client_cert_chain": []}}})
    none.append({"extensions": {"tls": {"client_cert_chain": ["x"]}}})
    assert [_certificate.of_scope(scope) for scope in none] == [None] * len(none)
    # A client's header has another name.
    for environ in ({}, {"SSL_CLIENT_CERT": ""}, {"SSL_CLIENT_CERT": "x"}, {"HTTP_CLIENT_CERT": pem}):
        assert _certificate.of_environ(environ) is None
