"""What Prometheus reads of a gate."""

from __future__ import annotations

from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from orbgate import Policy
from orbgate.gate import Gate, Ledger
from orbgate.gate.prometheus import CONTENT_TYPE, Counters
from orbgate.gate.testing import Issuer

POLICY = "{orbgate: 1, apis: {a: {base_path: '', scopes: {'read:a': {orbs: false, routes: [GET /a]}}}}}"


def test_prometheus_reads_what_a_gate_counts() -> None:
    counters = Counters()
    assert {"# TYPE orbgate_decisions_total counter", "orbgate_over_ceiling_total 0"} <= set(counters.text().splitlines())
    gate = Gate(Policy.from_yaml(POLICY), Issuer().tokens, count=counters)
    for target in ("/a", "/a", "/b"):
        assert not gate.answer("GET", target, [])
    lines = counters.text().splitlines()
    assert 'orbgate_decisions_total{decision="deny",reason="no_token",route=""} 3' in lines, lines
    assert counters.text().endswith("\n") and "settlements_waiting" not in counters.text()

    port = counters.serve(0)
    with urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        assert (response.read().decode(), response.headers["Content-Type"]) == (counters.text(), CONTENT_TYPE)
    with pytest.raises(HTTPError, match="404"):
        urlopen(f"http://127.0.0.1:{port}/")
    with pytest.raises(OSError, match="in use"):
        counters.serve(port)


def test_a_label_keeps_its_series_on_one_line() -> None:
    counters = Counters()
    counters("orbgate_misrouted_total", {"route": 'GET /"a"\\', "matched": "\n"})
    assert 'orbgate_misrouted_total{route="GET /\\"a\\"\\\\",matched="\\n"} 1' in counters.text().splitlines()


def test_a_ledger_adds_its_orbs() -> None:
    ledger = Ledger("http://127.0.0.1:1", on_cancelled="void", secret="0123456789abcdef0123456789abcdef")
    lines = Counters(ledger).text().splitlines()
    assert {"orbgate_orbs_captured_total 0", "orbgate_orbs_over_ceiling_total 0", "# TYPE orbgate_settlements_waiting gauge"} <= set(lines)
