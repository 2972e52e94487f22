"""Logs of a made-up bank in which something happened, known by construction. Each is made in two sizes."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import pytest
from orbgate import Policy, Token

pa = pytest.importorskip("pyarrow")

YAML = """
orbgate: 1
name: bank
apis:
  bank:
    base_path: /v1
    scopes:
      accounts:read: { orbs: false, routes: [GET /accounts, 'GET /accounts/{id}', 'GET /accounts/{id}/balance'] }
      transfers:write: { orbs: 5, routes: [POST /transfers, 'DELETE /transfers/{id}'] }
      export:statements: { orbs: 2, routes: ['GET /statements/{id}', POST /exports] }
      rates:read: { orbs: false, routes: [GET /rates] }
      admin: { orbs: false, routes: ['DELETE /accounts/{id}', GET /audit] }
"""
BANK = Policy.from_yaml(YAML)
PUBLIC = ["GET /healthz", "POST /login"]
START = datetime(2026, 11, 2)
# Each client's scopes, its hours, its part of the calls, and its calls.
CLIENTS: dict[str, tuple[str, range, int, list[str]]] = {
    "web-app": ("accounts:read transfers:write", range(6, 23), 6, ["GET /v1/accounts", "GET /v1/accounts/#", "GET /v1/accounts/#/balance", "POST /v1/transfers"]),
    "partner-pay": ("transfers:write rates:read", range(8, 18), 3, ["POST /v1/transfers", "POST /v1/transfers", "DELETE /v1/transfers/#", "GET /v1/rates"]),
    "tax-tool": ("export:statements accounts:read", range(24), 2, ["GET /v1/statements/#", "POST /v1/exports", "GET /v1/accounts"]),
    "back-office": ("admin accounts:read", range(24), 1, ["GET /v1/audit", "GET /v1/accounts/#", "DELETE /v1/accounts/#"]),
    "rate-feed": ("rates:read", range(24), 1, ["GET /v1/rates"]),
}
SCANNED = [f"/{name}" for name in (".env wp-login.php admin .git/config phpmyadmin config.json server-status actuator/env robots.txt xmlrpc.php backup.sql console setup.php info.php test.php shell owa jenkins hudson solr debug "
                                   "telescope boaform swagger.json graphql").split()]  # fmt: skip


class Log:
    """The calls of a day or of a week, and what usually happens in them: scanners, expired tokens, retries, a deployment, wrong passwords."""

    def __init__(self, is_long: bool) -> None:
        self.choose = random.Random(58)
        self.days, self.size = (4, 4) if is_long else (1, 1)
        self.rows: list[dict[str, Any]] = []
        for name, (_, hours, part, _) in CLIENTS.items():
            for _ in range(part * 170 * self.size):
                self.call(name, START + timedelta(days=self.choose.randrange(self.days), hours=self.choose.choice(hours), seconds=self.choose.randrange(3_600)))
        for at in range(12 * self.size):
            self.call(self.choose.choice([*CLIENTS]), self.part(self.choose.random()), kind=None, scopes=None)
            self.call("partner-pay", self.part(at / 12 / self.size), status=503)
            self.add(self.part(self.choose.random()), "POST", "/login", caller=f"91.1.2.{at}", status=200 if at % 4 else 401)
        for at, target in enumerate(SCANNED):
            self.add(self.part(0.3) + timedelta(seconds=at), "GET", target, caller="185.220.101.7")
        outage = self.part(0.21)
        for row in self.rows:
            if outage <= row["time"] < outage + timedelta(minutes=1):
                row["status"] = 502

    def part(self, part: float) -> datetime:
        return START + timedelta(days=self.days * part)

    def add(self, time: datetime, method: str, target: str, **others: Any) -> None:
        self.rows.append({"kind": None, "scopes": None, "caller": None, "status": None, "address": None, **others, "time": time, "method": method, "target": target})

    def call(self, name: str, time: datetime, call: str = "", **others: Any) -> None:
        scopes, _, _, calls = CLIENTS[name]
        method, target = (call or self.choose.choice(calls)).replace("#", str(self.choose.randrange(1_000, 9_000))).split()
        self.add(time, method, target, **{"kind": "user", "scopes": scopes, "caller": name, **others})

    def each(self, count: int, start: float, end: float) -> list[datetime]:
        """Times from one part of the log to another, more of them in a long one."""
        return [self.part(start + (end - start) * at / count / self.size) for at in range(count * self.size)]

    def table(self) -> Any:
        for row in self.rows:
            row["status"] = row["status"] or self.status(row)
        self.rows.sort(key=lambda row: row["time"])
        types = {"time": pa.timestamp("us"), "status": pa.int64()}
        return pa.table({name: pa.array([row.get(name) for row in self.rows], types.get(name, pa.string())) for name in self.rows[0]})

    def status(self, row: dict[str, Any]) -> int:
        """The response of a server that is right."""
        if f"{row['method']} {row['target']}" in PUBLIC:
            return 200
        decision = BANK.decide(row["method"], row["target"], None if row["kind"] is None else Token(row["kind"], row["scopes"] or ""))
        if not decision:
            return decision.reason.status or 0
        return self.choose.choices([200, 404, 400, 500], [975, 12, 8, 5])[0]


def healthy(log: Log) -> None:
    pass


def errors(log: Log) -> None:
    for row in log.rows:
        row["status"] = 500


def no_base_path(log: Log) -> None:
    for row in log.rows:
        row["target"] = row["target"].removeprefix("/v1")


def lost_scope(log: Log) -> None:
    for row in log.rows:
        if row["caller"] == "tax-tool" and row["kind"] and row["time"] >= log.part(0.6) and row["target"] != "/v1/accounts":
            row["scopes"] = "accounts:read"


def wrong_body(log: Log) -> None:
    for row in log.rows:
        if row["caller"] == "partner-pay" and row["kind"] and row["time"] >= log.part(0.5) and row["method"] == "POST":
            row["status"] = 400


def repaired(log: Log) -> None:
    for row in log.rows:
        if row["caller"] == "back-office" and row["kind"] and log.part(0.4) <= row["time"] < log.part(0.6):
            row["scopes"] = ""


def new_client(log: Log) -> None:
    for time in log.each(60, 0.3, 1):
        log.add(time, "GET", "/v1/rates", kind="user", scopes="accounts:read", caller="dashboard")


def guessed(log: Log) -> None:
    start = log.part(0.4)
    for at in range(300 * log.size):
        log.add(start + timedelta(seconds=4 * at), "POST", "/login", caller="45.9.20.7", status=401)
    for at in range(6):
        log.add(start + timedelta(seconds=1_200 * log.size + at), "POST", "/login", caller="45.9.20.7", status=200)


def spread(log: Log) -> None:
    """Passwords guessed from many addresses, twice from each; each is a caller of its own."""
    for at in range(300 * log.size):
        address = f"45.9.{at // 2 % 50}.{at // 100}"
        log.add(log.part(0.4) + timedelta(seconds=2 * at), "POST", "/login", caller=address, address=address, status=401)
    log.add(log.part(0.4) + timedelta(seconds=600 * log.size), "POST", "/login", caller="45.9.7.7", address="45.9.7.7", status=200)


def walked(log: Log) -> None:
    for at in range(300 * log.size):
        log.add(log.part(0.4) + timedelta(seconds=2 * at), "GET", f"/v1/accounts/{at}/balance", kind="user", scopes="rates:read", caller="mobile-7781")


def numbered(log: Log) -> None:
    for at in range(300 * log.size):
        log.add(log.part(0.4) + timedelta(seconds=2 * at), "GET", f"/v1/invoices/{at}", kind="user", scopes="accounts:read", caller="curious")


def walked_by_a_client(log: Log) -> None:
    """A client with other work, which goes on afterwards."""
    for at in range(300 * log.size):
        log.call("rate-feed", log.part(0.4) + timedelta(seconds=2 * at), "GET /v1/accounts/#/balance")


def walked_by_a_busy_client(log: Log) -> None:
    """Its other calls go on meanwhile."""
    for at in range(300 * log.size):
        log.call("rate-feed", log.part(0.4) + timedelta(seconds=5 * at / log.size), "GET /v1/accounts/#/balance")
        if at % 7 == 0:
            log.call("rate-feed", log.part(0.4) + timedelta(seconds=5 * at / log.size), "GET /v1/rates")


def refused(log: Log) -> None:
    """The server refuses all tokens, for example because it can't fetch new keys."""
    for row in log.rows:
        if row["kind"] and log.part(0.5) <= row["time"] < log.part(0.55):
            row["status"] = 401


def let_in(log: Log) -> None:
    for time in log.each(90, 0.2, 0.7):
        log.call("web-app", time, "DELETE /v1/accounts/#", status=204)
    for time in log.each(37, 0.3, 0.8):
        log.call("tax-tool", time, "POST /v1/transfers", status=201)


def failed_charges(log: Log) -> None:
    for time in log.each(200, 0, 1):
        log.call("partner-pay", time, "POST /v1/transfers", status=500)


def half_base_path(log: Log) -> None:
    """One of two proxies cuts the base path off."""
    for row in log.rows[::2]:
        row["status"] = log.status(row)
        row["target"] = row["target"].removeprefix("/v1")


def deleted(log: Log) -> None:
    """A client deletes many accounts at once, as it may."""
    for at in range(500 * log.size):
        log.call("back-office", log.part(0.4) + timedelta(seconds=at), "DELETE /v1/accounts/#", status=204)


def deployed(log: Log) -> None:
    """The server denies a route to all but administrators from the middle of the log on."""
    for row in log.rows:
        if row["target"] == "/v1/accounts" and row["kind"] and row["status"] is None:
            row["status"] = 200 if row["time"] < log.part(0.5) else 403


NEXT = Policy.from_yaml(YAML.replace("routes: [GET /accounts, ", "routes: [").replace("GET /audit]", "GET /audit, GET /accounts]"))
