"""A service behind a proxy that charges its calls in a ledger service. The gateway has `identity: true`."""

import json
import os
import secrets
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote
from urllib.request import Request, urlopen

LEDGER, SECRET = os.environ.get("LEDGER", "http://127.0.0.1:9186"), os.environ["GATE_SECRET"]


def ask(path, message):
    headers = {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"}
    return json.load(urlopen(Request(LEDGER + path, json.dumps(message).encode(), headers), timeout=2))


def settle(hold, settlement):
    # Send it again if its answer is lost: it is done once. If it never arrives, the hold expires, and nothing is charged.
    ask("/v1/settle", [{"hold": hold, "settlement": settlement}])


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        issuer, subject, charge = (self.headers[f"X-Orb-{name}"] for name in ("Token-Issuer", "Token-Subject", "Charge"))
        if "-" in (issuer, subject) or not charge.isdigit() or charge == "0":
            return self.answer(403)  # nobody to charge, or no amount
        hold = secrets.token_hex(16)  # new for each request
        account = f"{unquote(issuer)}#{unquote(subject)}"
        try:
            held = ask("/v1/hold", {"id": hold, "account": account, "amount": int(charge), "bonus": False, "ttl": 60_000})
        except OSError:
            with suppress(OSError):
                settle(hold, "void")  # also if the hold comes later
            return self.answer(503)
        if held["hold"] != "held":
            return self.answer(402)
        try:
            text = self.work()
        except Exception:
            settle(hold, "void")
            raise
        settle(hold, {"capture": int(charge)})
        return self.answer(200, text)

    def work(self):
        return b"done\n"

    def answer(self, status, text=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", 3000), Service).serve_forever()
