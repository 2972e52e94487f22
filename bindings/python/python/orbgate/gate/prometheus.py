"""What gates count, for Prometheus. It needs no other package."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from . import _names
from ._hooks import COUNTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._ledger import Ledger

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Those without labels are there before they count anything.
_WITHOUT_LABELS = _names.AUDIT_LOST_TOTAL, _names.OVER_CEILING_TOTAL

# What a ledger has counted, by its names in Rust.
_OF_LEDGER = (
    ("orbgate_orbs_captured_total", "counter", "orbs"),
    ("orbgate_orbs_shortfall_total", "counter", "shortfall"),
    ("orbgate_orbs_over_ceiling_total", "counter", "excess"),
    ("orbgate_settlements_waiting", "gauge", "waiting"),
)


class Counters:
    """Counts in this process what gates count: `Gate(…, count=counters)`. `text()` is what Prometheus reads.

    With a ledger, its orbs and what waits for it are there as well. Each process has its own counters, so let Prometheus read each.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._counts: dict[str, dict[str, int]] = {name: {} for name in COUNTERS}
        for name in _WITHOUT_LABELS:
            self._counts[name][""] = 0

    def __call__(self, name: str, labels: Mapping[str, str]) -> None:
        series = ",".join(f'{label}="{_escaped(value)}"' for label, value in labels.items())
        with self._lock:
            counts = self._counts.setdefault(name, {})
            counts[series] = counts.get(series, 0) + 1

    def text(self) -> str:
        """All counters, in the text format of Prometheus. Serve it with the content type `CONTENT_TYPE`."""
        with self._lock:
            lines = [
                line
                for name, counts in self._counts.items()
                for line in (f"# TYPE {name} counter", *(f"{name}{{{series}}} {count}" if series else f"{name} {count}" for series, count in counts.items()))
            ]
        if self._ledger is not None:
            of_ledger = self._ledger.counts()
            for name, kind, count in _OF_LEDGER:
                lines += [f"# TYPE {name} {kind}", f"{name} {of_ledger[count]}"]
        return "\n".join(lines) + "\n"

    def serve(self, port: int, host: str = "127.0.0.1") -> int:
        """Serves `GET /metrics` from a thread, on a port of its own, which no caller of the service reaches. Port 0 chooses a free
        one; returns the port. Raises OSError if it is in use.
        """
        server = _Server((host, port), self)
        threading.Thread(target=server.serve_forever, name="orbgate-metrics", daemon=True).start()
        return int(server.server_address[1])


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], counters: Counters) -> None:
        self.counters = counters
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        is_there = self.path.partition("?")[0] == "/metrics"
        body = self.server.counters.text().encode() if is_there else b""
        self.send_response(200 if is_there else 404)
        if is_there:
            self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """A scrape isn't worth a line."""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
