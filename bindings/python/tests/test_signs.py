"""Logs that may be doubted, and in which something happens that no refusal shows: each is made from a healthy day or week of the bank."""

from __future__ import annotations

import csv
import random
import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from incidents import BANK, CLIENTS, PUBLIC, START, YAML, Log
from orbgate import Policy, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

pytestmark = pytest.mark.once

MARKED = Policy.from_yaml(YAML.replace("admin: { orbs", "admin: { sensitive: true, orbs"))
NAMED = ("address", "token", "instance", "account")
COLUMNS = {"served_status": "status", **{name: name for name in NAMED}}


def healthy(log: Log) -> None:
    pass


def no_status(log: Log) -> None:
    """Since noon, one of three pods writes 0 as the status of each call."""
    for row in log.rows:
        row.update(instance=f"pod-{log.choose.randrange(3)}", status=row["status"] or log.status(row))
        if row["instance"] == "pod-1" and row["time"] >= log.part(0.5):
            row["status"] = 99


def two_slashes(log: Log) -> None:
    for at in range(25):
        log.call("web-app", log.part(0.4) + timedelta(minutes=at), f"GET //v1/{'accounts' if at % 2 else 'transfers'}/{at}", status=404)


def without_hours(log: Log) -> None:
    log.rows = [row for row in log.rows if not START + timedelta(hours=12) <= row["time"] < START + timedelta(hours=14)]


def sampled(log: Log) -> None:
    log.rows = [row for at, row in enumerate(log.rows) if row["time"] < START + timedelta(hours=12) or at % 8 == 0]


def shipped_twice(log: Log) -> None:
    log.rows += [{**row, "status": row["status"] or log.status(row)} for row in log.rows if row["time"].hour == 10 and row.update(status=row["status"] or log.status(row)) is None]


def cut_scopes(log: Log) -> None:
    for row in log.rows:
        row["status"] = row["status"] or log.status(row)
        row["scopes"] = row["scopes"] and row["scopes"][:22]


def other_kind(log: Log) -> None:
    for row in log.rows:
        row["status"] = row["status"] or log.status(row)
        if row["kind"] and row["time"] >= log.part(0.5):
            row["kind"] = "Bearer"


def lower_methods(log: Log) -> None:
    for row in log.rows:
        row["status"] = row["status"] or log.status(row)
        if row["time"] >= log.part(0.5):
            row["method"] = row["method"].lower()


def prefixed_scopes(log: Log) -> None:
    for row in log.rows:
        row["status"] = row["status"] or log.status(row)
        if row["scopes"] and row["time"] >= log.part(0.5):
            row["scopes"] = " ".join(f"bank/{scope}" for scope in row["scopes"].split())


def short_scopes(log: Log) -> None:
    """Since a time, the log names what scopes allow by one letter, but for one of them, and callers without separators."""
    for row in log.rows:
        row["status"] = row["status"] or log.status(row)
        if row["kind"] and row["time"] >= log.part(0.5):
            row["scopes"] = " ".join(scope if scope in ("admin", "transfers:write") else scope[: scope.index(":") + 2] for scope in row["scopes"].split())
            row["caller"] = row["caller"].title().replace("-", "")


def prefixed_callers(log: Log) -> None:
    for row in log.rows:
        row["status"] = row["status"] or log.status(row)
        if row["kind"] and row["time"] >= log.part(0.5):
            row["caller"] = f"urn:app:{row['caller']}"


def ended(log: Log) -> None:
    """Half of the pods stop shipping at noon, and the others don't take over."""
    for row in log.rows:
        row["instance"] = f"pod-{log.choose.randrange(3)}"
    log.rows = [row for row in log.rows if row["instance"] != "pod-2" or row["time"] < log.part(0.5)]


def missing_ids(log: Log) -> None:
    for at in range(900):
        log.call("rate-feed", log.part(0.2) + timedelta(seconds=60 * at), f"GET /v1/accounts/{4_000 + at}", status=404 if at % 20 else 200, scopes="rates:read accounts:read")


def slow_walk(log: Log) -> None:
    """One without its scope every 72 seconds, a part of a client's other calls."""
    for at in range(900):
        log.call("rate-feed", log.part(0.05) + timedelta(seconds=72 * at), f"GET /v1/statements/{at}", status=403)


def slow_passwords(log: Log) -> None:
    for at in range(700):
        log.add(log.part(0.1) + timedelta(seconds=90 * at), "POST", "/login", caller="45.9.20.7", status=401)


def invented(log: Log) -> None:
    for at in range(600):
        log.add(log.part(0.3) + timedelta(seconds=30 * at), "GET", "/v1/rates", caller=f"client-{at}", address="45.9.20.7")


def taken(log: Log) -> None:
    """Forty users' tokens from one address within two hours, each of them seen at home before."""
    for at in range(40):
        for hour in (2, 5, 8):
            log.add(START + timedelta(hours=hour, minutes=at), "GET", "/v1/accounts", kind="user", scopes="accounts:read", caller=f"user-{at}", address=f"81.2.{at}.5", token=f"{at:016x}", status=200)
        log.add(START + timedelta(hours=15, minutes=at), "GET", "/v1/accounts", kind="user", scopes="accounts:read", caller=f"user-{at}", address="45.9.20.7", token=f"{at:016x}", status=200)


def refunded(log: Log) -> None:
    for at in range(60):
        log.call("partner-pay", log.part(0.4) + timedelta(minutes=3 * at), "DELETE /v1/transfers/8814", status=204)


def in_turn(log: Log) -> None:
    """A revoked token, which one of two pods doesn't know to be revoked."""
    for at in range(120):
        log.call("web-app", log.part(0.4) + timedelta(minutes=at), "GET /v1/accounts", token="00000000000000aa", instance=f"pod-{at % 2}", status=200 if at % 2 else 401)


def lookalike(log: Log) -> None:
    for at in range(9):
        log.call("web-app", log.part(0.5) + timedelta(minutes=at), "GET /v1/accounts", caller="web-\u0430pp")


def redirected(log: Log) -> None:
    for row in log.rows:
        if row["kind"] and row["time"] >= log.part(0.6):
            row["status"] = 302


def limited(log: Log) -> None:
    for row in log.rows:
        if row["kind"] and log.part(0.1) <= row["time"] < log.part(0.9) and log.choose.random() < 0.8:
            row["status"] = 429


def new_base(log: Log) -> None:
    for at in range(200):
        log.add(log.part(0.3) + timedelta(minutes=at), "GET", f"/v2/accounts/{at}", kind="user", scopes="accounts:read", caller="mobile")


def administrator(log: Log) -> None:
    for at in range(5):
        log.add(log.part(0.8) + timedelta(minutes=at), "GET", "/v1/audit", kind="user", scopes="admin", caller="svc-tmp")


def down_for_hours(log: Log) -> None:
    for row in log.rows:
        if row["kind"] and log.part(0.4) <= row["time"] < log.part(0.65):
            row["status"] = 503


def client_down_for_hours(log: Log) -> None:
    for row in log.rows:
        if row["caller"] == "web-app" and log.part(0.4) <= row["time"] < log.part(0.65):
            row["status"] = 503


def tried_within_hours(log: Log) -> None:
    """Ids that a caller tries within an hour, among many more calls of its own."""
    for at in range(1_200):
        log.call("rate-feed", log.part(at / 1_200), f"GET /v1/accounts/{7_000 + at % 50}", status=200, scopes="rates:read accounts:read")
    for at in range(400):
        log.call("rate-feed", log.part(0.4) + timedelta(seconds=8 * at), f"GET /v1/accounts/{log.choose.randrange(10**6, 10**7)}", status=404, scopes="rates:read accounts:read")


def one_pod_rejects(log: Log) -> None:
    for row in log.rows:
        row["status"] = row["status"] or log.status(row)
        row["instance"] = f"pod-{log.choose.randrange(4)}"
        if row["instance"] == "pod-3" and row["kind"] and log.choose.random() < 0.3:
            row["status"] = 401


def behind_a_proxy(log: Log) -> None:
    for row in log.rows:
        row["address"] = f"45.{sum(map(ord, row['caller'] or 'none')) % 200}.7.{log.choose.randrange(8)}"
        if row["time"] >= log.part(0.6):
            row["address"] = f"10.0.3.{log.choose.randrange(2)}"


def scope_taken(log: Log) -> None:
    """For some hours, all who have it lack a scope."""
    for row in log.rows:
        if row["kind"] and log.part(0.4) <= row["time"] < log.part(0.6):
            row["scopes"] = row["scopes"].replace("accounts:read", "").strip()


def old_key(log: Log) -> None:
    """The second of a client's two machines keeps an old key for hours."""
    for row in log.rows:
        row["address"] = f"45.{sum(map(ord, row['caller'] or 'none')) % 200}.7.{log.choose.randrange(2)}"
        if row["caller"] == "tax-tool" and row["address"].endswith(".1") and log.part(0.3) <= row["time"] < log.part(0.7):
            row.update(scopes="", status=401)


def invented_customers(log: Log) -> None:
    for at in range(40):
        for call in range(4):
            log.add(log.part(0.2 + at / 80) + timedelta(seconds=9 * call), "GET", "/v1/rates", kind="organisation", scopes="rates:read", caller=f"trial-{at * 7919 % 9973}", address=f"45.9.20.{at % 2}", status=200)


def one_letter_more(log: Log) -> None:
    for row in log.rows:
        row["kind"] = row["kind"] and "organisation"
    for at in range(9):
        log.add(log.part(0.7) + timedelta(minutes=at), "GET", "/v1/rates", kind="organisation", scopes="rates:read", caller="rate-feeds", status=200)


def digit_for_letter(log: Log) -> None:
    one_letter_more(log)
    for row in log.rows:
        row["caller"] = "rate-f3ed" if row["caller"] == "rate-feeds" else row["caller"]


def redirected_routes(log: Log) -> None:
    """Only the routes of one part of the service are redirected."""
    for at in range(200):
        log.call("tax-tool", log.part(at / 200), "GET /v1/statements/#", status=200)
        log.call("tax-tool", log.part(at / 200), "POST /v1/exports", status=200)
    for row in log.rows:
        if row["kind"] and row["target"].startswith(("/v1/statements", "/v1/exports")) and log.part(0.4) <= row["time"] < log.part(0.7):
            row["status"] = 302


def redirected_by_some(log: Log) -> None:
    """Two of three servers redirect all routes for some hours."""
    for at in range(300):
        log.call("web-app", log.part(0.3 + at / 1_000), ("GET /v1/accounts", "GET /v1/rates", "GET /v1/statements/#")[at % 3], status=200, scopes="accounts:read rates:read export:statements")
    for row in log.rows:
        if row["kind"] and log.part(0.4) <= row["time"] < log.part(0.5) and log.choose.random() < 0.7:
            row["status"] = 301


def one_pod_serves(log: Log) -> None:
    """One of three pods doesn't learn that a key was revoked. Long before, one call was refused."""
    for at in range(240):
        log.call("rate-feed", log.part(0.2 + at / 400), "GET /v1/rates", status=200)
    log.call("rate-feed", log.part(0.1), "GET /v1/rates", status=401, instance="pod-0")
    for row in log.rows:
        row["status"] = row["status"] or log.status(row)
        row["instance"] = row.get("instance") or f"pod-{log.choose.randrange(3)}"
        if row["caller"] == "rate-feed" and row["time"] >= log.part(0.5) and row["instance"] != "pod-2":
            row["status"] = 401


def one_pod_learns_late(log: Log) -> None:
    """Like the others, it refuses the key since then, and as often in the rest of the log."""
    one_pod_serves(log)
    for row in log.rows:
        if row["caller"] == "rate-feed" and row["time"] >= log.part(0.7):
            row["status"] = 401


def read_by_one(log: Log) -> None:
    """One of twenty users reads all accounts in three nights, in no order; an insider."""
    for at in range(1_500):
        user, night = at % 20, at % 3
        log.add(log.part(at / 1_500), "GET", f"/v1/accounts/{3_000 + 7 * user + at % 9}", kind="user", scopes="accounts:read", caller=f"user-{user}", status=200)
        time = log.part(0.1 + 0.3 * night) + timedelta(seconds=at)
        log.add(time, "GET", f"/v1/accounts/{9_001 + 7_919 * at % 88_001}", kind="user", scopes="accounts:read", caller="user-7", status=200)


def new_base_behind_an_old_one(log: Log) -> None:
    """An old version of the application calls a path without a route all the time."""
    new_base(log)
    for at in range(300):
        log.add(log.part(at / 300), "GET", f"/v0/config/{at}", kind="user", scopes="accounts:read", caller="web-app", status=404)


def statuses_of_classes(log: Log) -> None:
    """One of three pods writes 200 for 201 and 400 for 401, 403 and 404."""
    for at in range(600):
        log.call("partner-pay", log.part(at / 600), "POST /v1/transfers", status=201)
    for row in log.rows:
        row.update(status=row["status"] or log.status(row), instance=f"pod-{log.choose.randrange(3)}")
        if row["instance"] == "pod-1" and row["time"] >= log.part(0.4):
            row["status"] -= row["status"] % 100


def only_200(log: Log) -> None:
    """One of three pods writes 200 for everything."""
    statuses_of_classes(log)
    for row in log.rows:
        if row["instance"] == "pod-1" and row["time"] >= log.part(0.4):
            row["status"] = 200


def one_pod_twice(log: Log) -> None:
    """The rows of one of six pods are shipped twice for an hour, each next to its copy."""
    for at in range(600):
        log.call("partner-pay", START + timedelta(hours=10, seconds=6 * at), "POST /v1/transfers", status=201)
    for row in log.rows:
        row.update(status=row["status"] or log.status(row), instance=f"pod-{log.choose.randrange(6)}")
    log.rows += [{**row} for row in log.rows if row["time"].hour == 10 and row["instance"] == "pod-1"]


def hashed_names(log: Log) -> None:
    """Since noon, users have other names."""
    for at in range(3_000):
        user = at % 100
        log.add(log.part(at / 3_000), "GET", "/v1/accounts", kind="user", scopes="accounts:read", caller=f"user-{user}" if at < 1_500 else f"{7_919 * user:08x}", status=200)


def another_system(log: Log) -> None:
    """A test of another system, whose clients never call the pods of this one."""
    for row in log.rows:
        row.update(status=row["status"] or log.status(row), instance=f"pod-{log.choose.randrange(3)}", address=f"93.184.{log.choose.randrange(20)}.1")
    for at in range(150):
        log.call("partner-pay", log.part(0.4 + at / 1_500), "GET /v1/rates", status=200, instance=f"test-{at % 2}", address=f"10.9.0.{at % 3}")


def slow_reading(log: Log) -> None:
    """A caller reads accounts in the order of their ids all day, between those that it reads again and again."""
    for at in range(240):
        for number in (4_000 + 2 * at, 9_000 + 17 * (at % 20)):
            log.call("rate-feed", log.part(at / 240), f"GET /v1/accounts/{number}", status=200, scopes="rates:read accounts:read")


def callers_of_another_column(log: Log) -> None:
    """Since a time, the log names the application instead of the people who use it, and their accounts as before."""
    for at in range(300):
        user = at % 5
        caller = "clinic-app" if at > 150 or not user else f"user-{user}"
        log.add(log.part(at / 300), "GET", "/v1/accounts", kind="user", scopes="accounts:read", caller=caller, account=f"acc-{user}", status=200)


def pays_another(log: Log) -> None:
    for row in log.rows:
        row["account"] = None if row["caller"] not in ("tax-tool", "web-app") else "acc-web-app" if row["caller"] == "tax-tool" and row["time"] >= log.part(0.6) else f"acc-{row['caller']}"


def base_left_out(log: Log) -> None:
    for at in range(30):
        log.add(log.part(0.5) + timedelta(minutes=at), "GET", f"/accounts/{at}", kind="user", scopes="accounts:read", caller="web-app", status=404)


def machine_elsewhere(log: Log) -> None:
    """A machine of the own network makes many calls from another."""
    for row in log.rows:
        row.update(address="10.20.4.7" if row["caller"] == "back-office" else f"93.184.{log.choose.randrange(20)}.1")
    for at in range(200):
        log.call("back-office", log.part(0.7) + timedelta(seconds=at), "GET /v1/audit", address="154.205.11.70", status=200)


# What happened, the level and kind that say so, and words of the sentence.
SIGNS: dict[str, tuple[Callable[[Log], None], str, str, tuple[str, ...]]] = {
    "hours without rows": (without_hours, "medium", "rows_missing", ("from 2026-11-02 11:5", "to 2026-11-02 14:0")),
    "sampled": (sampled, "medium", "thinner_sample", ("all callers make about 1 in ", "alike")),
    "shipped twice": (shipped_twice, "medium", "copied_rows", ("are copies of other rows in all columns, from 2026-11-02 10:0",)),
    "cut scopes": (cut_scopes, "medium", "cut_column", ("the column `scopes` is cut at 22 bytes",)),
    "another kind": (other_kind, "medium", "other_spelling", ("the column `kind` is written `Bearer`", "otherwise `user`")),
    "lower methods": (lower_methods, "medium", "other_spelling", ("the column `method` is written `get`",)),
    "prefixed scopes": (prefixed_scopes, "medium", "other_spelling", ("would be if they were not written after `bank/`, from 2026-11-0", "so the log changed")),
    "short scopes": (short_scopes, "medium", "other_spelling", ("with shorter last words, from 2026-11-0", "the column `caller` has 5 callers in another spelling", "`WebApp` for `web-app`")),
    "prefixed callers": (prefixed_callers, "medium", "other_spelling", ("the column `caller` has 5 callers in another spelling", "`urn:app:web-app` for `web-app`")),
    "a pod ends": (ended, "medium", "source_ends", ("the rows of instance pod-2 end on 2026-11-0",)),
    "missing ids": (missing_ids, "medium", "enumeration", ("rate-feed tries 855 different objects of GET /v1/accounts/{id}, with ids from 4000 to 4899: 855 of 900 ",)),
    "slow walk": (slow_walk, "medium", "enumeration", ("rate-feed tries 900 different objects of GET /v1/statements/{id}", " were refused ")),
    "slow passwords": (slow_passwords, "medium", "guesses", ("45.9.20.7 tries POST /login 700 times", "about 40 an hour")),
    "invented callers": (invented, "medium", "many_names", ("address 45.9.20.7 makes calls as 600 different callers, all of them refused",)),
    "taken tokens": (taken, "medium", "many_users", ("address 45.9.20.7 makes calls as 40 different callers within 1 hour",)),
    "one refund": (refunded, "medium", "repeated_object", ("partner-pay calls DELETE /v1/transfers/{id} 60 times for one object 8814",)),
    "in turn": (in_turn, "high", "unequal_answers", ("it is served by pod-1 and refused by pod-0",)),
    "lookalike": (lookalike, "medium", "lookalike", ("only looks like web-app: 9 calls",)),
    "redirected": (redirected, "medium", "redirected", (" were answered with 302 from 2026-11-0",)),
    "limited": (limited, "medium", "rate_limited", (" were answered with 429 from 2026-11-0",)),
    "another base path": (new_base, "low", "lost_base_path", ("200 calls by mobile without a route begin with /v2/accounts",)),
    "new administrator": (administrator, "medium", "new_sensitive", ("svc-tmp, first seen ", "holds admin")),
    "down for hours": (down_for_hours, "medium", "outage", (" were answered with 5xx from 2026-11-0", "0 of ")),
    "tried within hours": (tried_within_hours, "medium", "enumeration", ("rate-feed tries 400 different objects of GET /v1/accounts/{id}: 400 of ", "in the whole log")),
    "one pod rejects": (one_pod_rejects, "medium", "odd_instance", (" that were rejected although the policy allows them are in rows of pod-3",)),
    "behind a proxy": (behind_a_proxy, "medium", "masked_addresses", ("rows name only 10.0.3.0, 10.0.3.1 as the client's address", "that had other addresses before")),
    "a scope is taken": (scope_taken, "medium", "lost_scope", ("3 callers, for example ", " lack accounts:read in ", "and had it before or after")),
    "an old key": (old_key, "low", "broken_address", ("tax-tool has no valid token in ", " from address ", "while it is served at another address")),
    "invented customers": (invented_customers, "low", "trial_callers", ("40 callers with tokens of organisations", "only at 2 addresses: 45.9.20.0, 45.9.20.1; 160 calls")),
    "one letter more": (one_letter_more, "medium", "lookalike", ("caller rate-feeds, first seen in row ", "differs from rate-feed by one character: 9 calls")),
    "redirected routes": (redirected_routes, "medium", "redirected", (" were answered with 302 from 2026-11-0",)),
    "redirected by some": (redirected_by_some, "medium", "redirected", (" were answered with 301 from 2026-11-0",)),
    "one pod serves": (one_pod_serves, "high", "unequal_answers", ("rate-feed is refused by pod-0, pod-1 (", "served by pod-2 (")),
    "one pod learns late": (one_pod_learns_late, "high", "unequal_answers", ("rate-feed is refused by pod-0, pod-1 (", "served by pod-2 (")),
    "read by one": (read_by_one, "low", "many_objects", ("user-7 reads 1,5", " different objects of GET /v1/accounts/{id} in ", "most of them within 4 hours", " other users, none reads more than ")),
    "a base path behind another": (new_base_behind_an_old_one, "low", "lost_base_path", ("200 calls by mobile without a route begin with /v2/accounts",)),
    "classes of statuses": (statuses_of_classes, "medium", "other_spelling", ("the column `served_status` has only classes", " of pod-1 since 2026-11-0")),
    "only 200": (only_200, "medium", "other_spelling", ("the column `served_status` has only 200 in the ", " of pod-1 since 2026-11-0")),
    "one pod twice": (one_pod_twice, "medium", "copied_rows", ("are copies of other rows in all columns, from 2026-11-02 10:0",)),
    "other names": (hashed_names, "medium", "other_spelling", ("the column `caller` names other users since 2026-11-0", "100 users have no call after it, and 100 none before it")),
    "no status": (no_status, "medium", "other_spelling", ("the column `served_status` has no status of HTTP in ", " rows of pod-1 from 2026-11-02 12:0", "and in 0 of all others")),
    "two slashes": (two_slashes, "low", "lost_base_path", ("25 calls by web-app without a route begin with //v1, another spelling of /v1, from ",)),
    "another system": (another_system, "medium", "other_system", ("none of the 3 addresses in the 150 rows of test-0, test-1 ", "the 3 others share theirs")),
    "slow reading": (slow_reading, "low", "enumeration", ("reads 239 different objects of GET /v1/accounts/{id} with ids from 4002 to 4478, each once and in their order", "among them 21 others")),
    "a digit for a letter": (digit_for_letter, "medium", "lookalike", ("caller rate-f3ed, first seen in row ", "differs from rate-feed by one character: 9 calls")),
    "another column": (callers_of_another_column, "medium", "other_spelling", ("the column `caller` is clinic-app in ", "of 4 other callers")),
    "another's account": (pays_another, "medium", "other_account", (" of tax-tool from ", "name the account acc-web-app of web-app, after ")),
    "the base path left out": (base_left_out, "low", "lost_base_path", ("30 calls by web-app without a route lack the base path /v1, and begin with /accounts, from ",)),
    "a machine elsewhere": (machine_elsewhere, "low", "new_since", ("back-office, since ", "for the first time calls from 154.205.11.0/24 (200 calls)")),
    "a client down for hours": (client_down_for_hours, "medium", "mended_client", ("web-app",)),
}


def zones_in_turn() -> Any:
    """The rows of two servers, block after block, one of them two hours ahead."""
    table = Log(False).table()
    times = [time + timedelta(hours=2 * (at // 40 % 2)) for at, time in enumerate(table["time"].to_pylist())]
    return table.set_column(table.column_names.index("time"), "time", pa.array(times, pa.timestamp("us")))


def zone_of_a_pod() -> Any:
    """The rows of four days in their order, and one pod's times are eight hours ahead."""
    log = Log(True)
    for row in log.rows:
        row["instance"] = f"pod-{log.choose.randrange(3)}"
        row["status"] = row["status"] or log.status(row)
        row["time"] += timedelta(hours=8 * (row["instance"] == "pod-1"))
    return log.table()


def zone_of_half_of_the_pods() -> Any:
    """Two of four pods are eight hours ahead, so that none differs from all others."""
    log = Log(True)
    for row in log.rows:
        row["instance"] = f"pod-{log.choose.randrange(4)}"
        row["status"] = row["status"] or log.status(row)
        row["time"] += timedelta(hours=8 * (row["instance"] > "pod-1"))
    return log.table()


# Logs whose rows aren't in the order of true times, and what is said about them.
ZONES: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "zones in turn": (zones_in_turn, ("times jump ", " back by 2 hours")),
    "a pod's zone": (zone_of_a_pod, ("the times of instance pod-1 are 8 hours ahead of those of all others",)),
    "the zone of half of the pods": (zone_of_half_of_the_pods, ("the times of instances pod-", " are 8 hours ", " those of all others: their calls rise and fall ")),
}


def made(happened: Callable[[Log], None], is_long: bool = False, policy: Policy = MARKED) -> Any:
    log = Log(is_long)
    log.rows[0] = {**dict.fromkeys(NAMED), **log.rows[0]}
    happened(log)
    log.rows[0] = {**dict.fromkeys(NAMED), **log.rows[0]}
    for name in NAMED:
        if not any(row.get(name) for row in log.rows):
            for row in log.rows:
                row.pop(name, None)
    keys = dict.fromkeys(key for row in log.rows for key in row)
    log.rows.sort(key=lambda row: row["time"])
    log.rows[0] = {**dict.fromkeys(keys), **log.rows[0]}
    table = log.table()
    columns = {ours: theirs for ours, theirs in COLUMNS.items() if theirs in table.column_names}
    return report(table, policy, columns=columns, time_zone="UTC", public=PUBLIC)


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_is_said(name: str) -> None:
    happened, level, kind, words = SIGNS[name]
    findings = made(happened).figures.findings
    said = [row for row in findings if row.kind == kind]
    assert [row.level for row in said] == [level], [(row.level, row.kind, row.sentence) for row in findings]
    assert all(word in said[0].sentence for word in words), said[0].sentence


def test_a_day_that_is_a_copy_of_another_is_said() -> None:
    log = Log(True)
    for row in log.rows:
        row["time"] += timedelta(milliseconds=log.choose.randrange(1_000))
        row["status"] = row["status"] or log.status(row)
    day = START + timedelta(days=2)
    log.rows = [row for row in log.rows if not day <= row["time"] < day + timedelta(days=1)] + [{**row, "time": row["time"] + timedelta(days=2)} for row in log.rows if row["time"] < START + timedelta(days=1)]
    findings = report(log.table(), BANK, columns={"served_status": "status"}, time_zone="UTC", public=PUBLIC).figures.findings
    [said] = [row for row in findings if row.kind == "repeated_day"]
    assert said.level == "medium" and "100% of the rows of 2026-11-04 are those of 2026-11-02 in all columns" in said.sentence


@pytest.mark.parametrize("name", ZONES)
def test_mixed_zones_are_said(name: str) -> None:
    table, words = ZONES[name][0](), ZONES[name][1]
    columns = {ours: theirs for ours, theirs in COLUMNS.items() if theirs in table.column_names}
    findings = report(table, MARKED, columns=columns, time_zone="UTC", public=PUBLIC).figures.findings
    said = [row for row in findings if row.kind == "mixed_zones"]
    assert [row.level for row in said] == ["medium"], [(row.kind, row.sentence) for row in findings]
    assert all(word in said[0].sentence for word in words), said[0].sentence


def test_a_night_without_rows_is_said_where_others_have_some() -> None:
    def without(log: Log) -> None:
        night = START + timedelta(days=1, hours=23, minutes=30)
        for at in range(600):
            log.call("rate-feed", log.part(at / 600))
        for at in range(160):
            log.call("rate-feed", night - timedelta(minutes=80 - at) if at < 80 else night + timedelta(hours=7, minutes=at - 80))
        log.rows = [row for row in log.rows if not night <= row["time"] < night + timedelta(hours=7)]

    [said] = [row for row in made(without, True).figures.findings if row.kind == "rows_missing"]
    assert "no rows from 2026-11-03 23:" in said.sentence and "to 2026-11-04 06:30" in said.sentence


def test_each_of_several_lapses_is_said_in_hours_that_are_busy_on_other_days() -> None:
    def without(log: Log) -> None:
        lapses = [START + timedelta(days=day, hours=hour) for day, hour in ((1, 8), (2, 13), (3, 10.5))]
        for at in range(8_000):
            log.call("rate-feed", log.part(at / 8_000))
        log.rows = [row for row in log.rows if not any(since <= row["time"] < since + timedelta(hours=5) for since in lapses)]

    [said] = [row for row in made(without, True).figures.findings if row.kind == "rows_missing"]
    assert said.sentence.count("no rows from") == 3, said.sentence


@pytest.mark.parametrize("is_long", [False, True], ids=["day", "week"])
def test_a_healthy_log_has_no_sign(is_long: bool) -> None:
    figures = made(healthy, is_long).figures
    assert [row.sentence for row in figures.signs.signs] == []


@pytest.mark.parametrize("pods", ["scaled", "deployed"])
def test_instances_that_come_and_go_are_no_sign(pods: str) -> None:
    """By day there are five pods instead of two, or each day has new ones."""
    log = Log(True)
    for row in log.rows:
        is_day, day = 8 <= row["time"].hour < 18, (row["time"] - START).days
        at = log.choose.randrange(5 if is_day or pods == "deployed" else 2)
        row.update(status=row["status"] or log.status(row), instance=f"pod-{at}-{day if pods == 'deployed' or at > 1 else 0}")
    log.rows = [{**log.rows[0], "instance": "pod-0-0"}, *log.rows[1:]]
    columns = {"served_status": "status", "instance": "instance"}
    assert [row.sentence for row in report(log.table(), BANK, columns=columns, time_zone="UTC", public=PUBLIC).figures.signs.signs] == []


def run_of_a_month(log: Log) -> None:
    """For four hours, a machine of its own makes more calls than all others."""
    for row in log.rows:
        row.update(address=f"93.184.{log.choose.randrange(20)}.1", status=row["status"] or log.status(row))
    for at in range(4_000):
        log.call("back-office", START + timedelta(days=1, seconds=3.5 * at), "GET /v1/audit", address="10.45.61.28", status=200)


def old_versions(log: Log) -> None:
    """Five users have an old version of the application, which calls a removed path; one of them begins on the second day."""
    for user in range(5):
        for at in range(60):
            log.add(log.part(at / 60), "GET", "/v1/accounts", kind="user", scopes="accounts:read", caller=f"user-{user}", status=200)
            if at % 2 and (user or at > 20):
                log.add(log.part(at / 60), "GET", "/v0/sync", kind="user", scopes="accounts:read", caller=f"user-{user}", status=404)


def maintenance(log: Log) -> None:
    """For nine minutes, all calls are answered with errors. Some clients aren't there again, and one has another error the day after."""
    for at in range(40):
        log.call("web-app", log.part(at / 100), "GET /v1/accounts", caller="app-9", status=200)
    for at in range(26):
        for caller in ("app-8", "app-9"):
            log.call("web-app", log.part(0.5) + timedelta(seconds=20 * at), "GET /v1/accounts", caller=caller, status=503)
    log.call("web-app", log.part(0.9), "GET /v1/accounts", caller="app-9", status=503)


def load_test(log: Log) -> None:
    """A load test calls all routes of its own account for 25 minutes, also the one that changes an object."""
    for at in range(3_600):
        log.call("partner-pay", log.part(0.5) + timedelta(seconds=at / 3), "DELETE /v1/transfers/8814" if at % 60 == 0 else f"GET /v1/accounts/{at % 50}", caller="k6", status=200, scopes="transfers:write accounts:read")


def planned_at_night(log: Log) -> None:
    """From 02:00 to 02:44 all calls to routes with a scope fail, and health checks are answered."""
    night = START + timedelta(days=2, hours=2)
    log.rows = [row for row in log.rows if not night <= row["time"] < night + timedelta(minutes=45)]
    for at in range(650):
        log.call(("web-app", "tax-tool", "rate-feed")[at % 3], night + timedelta(seconds=4 * at), status=503)
    for at in range(24 * 12 * log.days):
        log.add(START + timedelta(seconds=300 * at), "GET", "/healthz", caller="kube-probe", status=200)


def list_of_an_office(log: Log) -> None:
    """All users of an office have one address, from which one works through a list while an instance lives. Others call at home, too."""
    for row in log.rows:
        row.update(address=f"93.184.{log.choose.randrange(20)}.{log.choose.randrange(9)}", status=row["status"] or log.status(row), instance=f"pod-{log.choose.randrange(2)}")
    for at in range(6 * 600):
        caller, place = f"user-{at % 7}", "24.89.156.145" if at % 9 else f"91.7.3.{at % 7}"
        log.call("back-office", log.part(at / 6 / 600), caller=caller, instance=f"pod-{at % 2}", address=place, status=200)
    for at in range(440):
        place = f"93.184.{at // 20}.1" if at % 20 == 0 else "24.89.156.145"
        log.call("back-office", log.part(0.5) + timedelta(seconds=9 * at), caller=f"user-{at % 7}", instance="pod-scaled", address=place, status=200)


def busy_weekend(log: Log) -> None:
    """For two of five days, all machines make ten times as many calls, as for a business that lives at weekends."""
    log.rows = [row for row in log.rows if row["caller"] not in CLIENTS]
    busy, quiet = START + timedelta(days=1, hours=9), START + timedelta(days=3, hours=3)
    for hour in range(24 * 5):
        time = START + timedelta(hours=hour)
        for at in range(400 if busy <= time < quiet else 40):
            log.call("rate-feed", time + timedelta(seconds=log.choose.random() * 3_600), caller=f"machine-{at % 8}", status=200)


def before_a_release(log: Log) -> None:
    """A tester calls a route before its release, which nobody else does."""
    log.rows = [row for row in log.rows if "/rates" not in row["target"] or row["time"] >= log.part(0.6)]
    for at in range(40):
        log.call("back-office", log.part(at / 80), "GET /v1/audit", caller="tester", status=200)
    for at in range(12):
        log.call("rate-feed", log.part(0.55) + timedelta(minutes=6 * at), "GET /v1/rates", caller="tester", status=404)


def two_rotations(log: Log) -> None:
    """In the same quarter of an hour, two clients get new keys, and some of their workers have the old ones."""
    begin = log.part(0.5)
    for at in range(100):
        for caller in ("partner-pay", "tax-tool"):
            status, scopes = (401, "") if at % 10 else (200, "accounts:read")
            log.call(caller, begin + timedelta(seconds=9 * at), "GET /v1/accounts", status=status, scopes=scopes)
        log.call("back-office", begin + timedelta(seconds=9 * at), "GET /v1/audit", status=200)


def quiet_evening(log: Log) -> None:
    """A few users are all silent for 50 minutes, and at other hours for half as long."""
    log.rows = [row for row in log.rows if row["time"] < log.part(0.5)]
    silences, time = {40: 50, 340: 24, 640: 23, 940: 22, 1_240: 18}, log.part(0.5)
    for at in range(1_600):
        time += timedelta(minutes=silences.get(at, 1))
        for caller in ("web-app", "tax-tool", "rate-feed"):
            log.call(caller, time + timedelta(seconds=log.choose.randrange(20)), status=200)


def parts_of_ids(log: Log) -> None:
    """A caller reads objects in no order, whose ids are letters and digits, and end with a small number by chance."""
    for at in range(300):
        account = f"{log.choose.choice('abcd')}{log.choose.randrange(60)}" if at < 240 else f"e{log.choose.randrange(10**9)}"
        log.call("rate-feed", log.part(0.5) + timedelta(seconds=5 * at), f"GET /v1/accounts/acc_{at}{account}", status=200, scopes="accounts:read")


USUAL = [
    run_of_a_month, old_versions, maintenance, load_test, planned_at_night, list_of_an_office, busy_weekend, before_a_release, two_rotations,
    quiet_evening, parts_of_ids,
]  # fmt: skip


@pytest.mark.parametrize("happened", USUAL)
def test_what_is_usual_accuses_nobody(happened: Callable[[Log], None]) -> None:
    findings = made(happened, True).figures.findings
    said = [(row.level, row.kind, row.sentence) for row in findings if row.kind != "warnings"]
    assert {level for level, *_ in said} <= {"low"} and "enumeration" not in {kind for _, kind, _ in said}, said


def functions(log: Log) -> None:
    """Some functions do one kind of work, which always has one status, and live for half an hour."""
    for row in log.rows:
        row.update(instance=f"pod-{log.choose.randrange(2)}", status=row["status"] or log.status(row))
    for at in range(360):
        log.call("tax-tool", START + timedelta(days=1 + at // 120, seconds=10 * (at % 120)), "GET /v1/accounts", instance=f"function-{at // 120}", status=200)


def test_functions_with_one_status_write_no_other_statuses() -> None:
    assert "other_spelling" not in {row.kind for row in made(functions, True).figures.findings}


def test_a_clock_that_drifts_is_no_zone() -> None:
    """Among its steps, those of half an hour are as many as any others."""
    from orbgate._report.evidence import OTHER_STEP
    from orbgate._report.signs.trust.zones import mixed_zones

    def said(others: int) -> list[str]:
        steps = Counter({2: 60, -2: 60, OTHER_STEP: others})
        ground: Any = SimpleNamespace(evidence=SimpleNamespace(steps=steps, sources=SimpleNamespace(rows=list)), period=(0, 1))
        return [row.kind for row in mixed_zones(ground)]

    assert (said(0), said(500)) == (["mixed_zones"], [])


@pytest.mark.parametrize(("days", "said"), [(1, []), (4, ["mixed_zones"])])
def test_an_instance_with_other_hours_shows_a_zone_only_if_it_has_them_each_day(days: int, said: list[str]) -> None:
    """Two pods have the same busy hours, one of them six hours later."""
    from orbgate._report.signs.trust.zones import mixed_zones

    rows = [
        {"source": pod, "hour": 24 * day + hour + late, "calls": 1_000 if 4 <= hour < 8 else 20}
        for pod, late in ((b"pod-0", 0), (b"pod-1", 6))
        for day in range(days)
        for hour in range(18)
    ]
    evidence = SimpleNamespace(steps=Counter(), sources=SimpleNamespace(rows=lambda: rows), has_instances=True)
    ground: Any = SimpleNamespace(evidence=evidence, period=SimpleNamespace(first=0, last=86_400 * days - 1_800))
    assert [row.kind for row in mixed_zones(ground)] == said


def test_a_path_is_cut_within_a_template_only() -> None:
    from orbgate._report.evidence import Evidence

    log: Any = SimpleNamespace(names=())
    targets = (b"/v1/acc", b"/v1/accounts/7/bal", b"/v1/accounts/7?name=\x1b", b"/v1/nothing", b"/v1/accounts/7/balance/more/still")
    assert [Evidence(log, BANK)._cuts_template(target) for target in targets] == [True, True, False, False, False]


def test_a_scope_that_one_call_lacks_is_no_token_that_some_servers_refuse() -> None:
    def lacks(log: Log) -> None:
        for row in log.rows:
            row["instance"] = f"pod-{log.choose.randrange(2)}"
        for at in range(80):
            call, status = ("GET /v1/audit", 403) if at % 2 else ("GET /v1/accounts", 200)
            log.call("web-app", log.part(0.5) + timedelta(minutes=2 * at), call, instance=f"pod-{at % 2}", caller="app-2", status=status)

    assert "unequal_answers" not in {row.kind for row in made(lacks).figures.findings}


def test_a_call_that_is_forbidden_for_a_time_is_no_token_that_some_servers_refuse() -> None:
    def forbids(log: Log) -> None:
        for at in range(80):
            log.call("web-app", log.part(0.5) + timedelta(minutes=2 * at), "GET /v1/accounts", instance=f"pod-{at % 2}", caller="app-2", status=200 if at % 2 else 403)

    assert "unequal_answers" not in {row.kind for row in made(forbids).figures.findings}


def test_who_lost_a_scope_tries_nothing() -> None:
    """Five users of one office read statements as before, of which the log says since noon that they lack the scope."""

    def lost(log: Log) -> None:
        for at in range(900):
            is_lost = log.part(0.5) <= log.part(at / 900) < log.part(0.8)
            scopes, status = ("accounts:read", 403) if is_lost else ("accounts:read export:statements", 200)
            log.call("tax-tool", log.part(at / 900), f"GET /v1/statements/{4_129 * at % 9_001}", caller=f"user-{at % 5}", address="81.2.9.5", scopes=scopes, status=status)

    kinds = {row.kind for row in made(lost).figures.findings}
    assert "lost_scope" in kinds and not kinds & {"enumeration", "attack"}


def test_an_instance_that_ends_early_in_a_long_log_is_said() -> None:
    def ends(log: Log) -> None:
        for row in log.rows:
            row["instance"] = f"pod-{log.choose.randrange(3)}"
        log.rows = [row for row in log.rows if row["instance"] != "pod-2" or row["time"] < log.part(0.14)]

    [said] = [row for row in made(ends, True).figures.findings if row.kind == "source_ends"]
    assert "the rows of instance pod-2 end on 2026-11-02 13:" in said.sentence and "after 5." in said.sentence


def test_a_sample_is_said_although_people_make_no_calls_then() -> None:
    """On Friday, users call, too. Since Saturday, only machines do, and the log has one of their rows in twelve."""

    def kept(log: Log) -> None:
        for at in range(96 * 60):
            log.call("rate-feed", START + timedelta(minutes=at), caller=f"machine-{at % 6}")
        for at in range(1_600):
            log.call("web-app", START + timedelta(days=1, seconds=50 * at), caller=f"user-{at % 40}")
        later = START + timedelta(days=2)
        machines = {"tax-tool", "back-office", "rate-feed", *(f"machine-{at}" for at in range(6))}
        log.rows = [row for row in log.rows if row["time"] < later or (row["caller"] in machines and log.choose.random() < 1 / 12)]

    [said] = [row for row in made(kept, True).figures.findings if row.kind == "thinner_sample"]
    assert re.search("all callers make about 1 in 1[123] of", said.sentence) and " callers that call in nearly every hour alike" in said.sentence


@pytest.mark.parametrize("is_of_a_server", [False, True])
def test_tokens_that_expire_are_no_servers_that_refuse_them(is_of_a_server: bool) -> None:
    """After a newsletter, users come back with tokens that have expired, and renew them. Of servers, one refuses each third call."""

    def refused(log: Log) -> None:
        for user in range(150):
            log.call("web-app", log.part(user / 400), "GET /v1/accounts", caller=f"user-{user}", status=200)
            for at in range(9):
                is_refused = not at % 3 if is_of_a_server else not at
                log.call("web-app", log.part(0.6) + timedelta(seconds=20 * user + 4 * at), "GET /v1/accounts", caller=f"user-{user}", status=401 if is_refused else 200)

    figures = made(refused).figures
    of = {row.kind: row.level for rows in (figures.findings, figures.facts) for row in rows}
    assert of["refused_though_allowed"] == ("medium" if is_of_a_server else "fact")


@pytest.mark.parametrize(("every", "level"), [(9, "fact"), (3, "medium")])
def test_a_page_that_is_left_open_renews_its_token_at_its_next_call(every: int, level: str) -> None:
    """It asks for news each 18 minutes. If each third call is refused, no token lives so shortly."""

    def asks(log: Log) -> None:
        for user in range(8):
            for at in range(80 * 6):
                status = 200 if at % every else 401
                log.call("web-app", START + timedelta(seconds=1_074 * at + user), "GET /v1/accounts", caller=f"user-{user}", status=status)

    figures = made(asks, True).figures
    assert {row.kind: row.level for some in (figures.findings, figures.facts) for row in some}["refused_though_allowed"] == level


def test_rows_of_an_instance_that_cannot_be_read_are_not_absent(tmp_path: Path) -> None:
    """Since noon, one of three instances leaves a column out."""
    log = Log(False)
    log.rows.sort(key=lambda row: row["time"])
    names = ("time", "method", "target", "kind", "scopes", "caller", "status", "instance")
    with (tmp_path / "log.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in log.rows:
            of = {**row, "instance": f"pod-{log.choose.randrange(3)}", "status": row["status"] or log.status(row)}
            is_torn = of["instance"] == "pod-1" and row["time"] >= log.part(0.5)
            writer.writerow([of[name] for name in names if not (is_torn and name == "caller")])
    columns = {"served_status": "status", "instance": "instance"}
    figures = report(tmp_path / "log.csv", BANK, columns=columns, time_zone="UTC", public=PUBLIC).figures
    of_kind = {row.kind: row.sentence for row in figures.findings}
    assert "source_ends" not in of_kind and "the last readable rows of instance pod-1 come on 2026-11-02 1" in of_kind["unread_source"]
    [reason] = figures.log.unread_by_reason
    assert reason.near is not None and abs(reason.near - log.part(0.5)) < timedelta(minutes=5)
    assert f", at about {reason.near:%Y-%m-%d %H:%M}: " in of_kind["unread_rows"]


def test_a_client_of_a_removed_route_tries_nothing() -> None:
    def removed(log: Log) -> None:
        for at in range(260):
            log.call("web-app", log.part(at / 300), f"GET /v1/accounts/{7 * at}", caller="app-2", status=200 if at < 100 else 404)

    kinds = {row.kind for row in made(removed, True).figures.findings}
    assert "broken_client" in kinds and "enumeration" not in kinds


def test_a_new_caller_that_gets_a_rare_scope_later_is_said() -> None:
    def gets(log: Log) -> None:
        for at in range(150):
            log.call("web-app", log.part(0.4 + at / 300), "GET /v1/accounts", caller="temp", scopes="accounts:read" if at < 100 else "accounts:read admin", status=200)

    [finding] = [row for row in made(gets, True, BANK).figures.findings if row.kind == "new_since"]
    assert finding.level == "low" and "temp, since " in finding.sentence and "for the first time holds admin (50 calls)" in finding.sentence


@pytest.mark.parametrize(("is_shared", "is_known", "level"), [(False, False, "low"), (True, False, "fact"), (False, True, "fact")])
def test_calls_from_another_network_matter_where_nobody_was_before(is_shared: bool, is_known: bool, level: str) -> None:
    """Phones share the networks of their providers, and whoever is new was nowhere before."""

    def moves(log: Log) -> None:
        for row in log.rows:
            row.update(address=f"93.184.{log.choose.randrange(20)}.1")
        if is_shared:
            log.call("tax-tool", log.part(0.1), address="154.205.11.9", status=200)
        for at in range(150):
            if at < 60 and not is_known:
                log.call("web-app", log.part(0.01 + 0.7 * at / 60), caller="user-7", address="93.184.3.1", status=200)
            log.call("web-app", log.part(0.6) + timedelta(seconds=9 * at), caller="user-7", address="154.205.11.70", status=200)
        if is_known:
            log.call("web-app", log.part(0.9), caller="user-7", address="93.184.3.1", status=200)

    figures = made(moves, True).figures
    assert {row.level for row in figures.signs.signs if (row.kind, row.subject) == ("new_since", "user-7")} == {level}


@pytest.mark.parametrize("has_office", [False, True])
def test_a_new_caller_comes_from_elsewhere_only_if_the_others_share_a_network(has_office: bool) -> None:
    """Clients of customers each have a network of their own."""

    def comes(log: Log) -> None:
        for row in log.rows:
            row.update(address="10.0.0.1")
        for at in range(400):
            caller = f"client-{at % 3}"
            address = "62.4.56.98" if has_office else f"62.4.{at % 3}.98"
            log.call("back-office", log.part(at / 400), "GET /v1/audit", caller=caller, address=address, status=200)
            if at >= 200:
                log.call("back-office", log.part(at / 400), "GET /v1/audit", caller="client-9", address="154.205.11.70", status=200)

    figures = made(comes, True, BANK).figures
    assert [row.level for row in figures.signs.signs if (row.kind, row.subject) == ("new_since", "client-9")] == ["low" if has_office else "fact"]


def test_many_calls_in_some_nights_are_a_burst() -> None:
    def nights(log: Log) -> None:
        for day in range(6):
            for at in range(24):
                log.call("rate-feed", START + timedelta(days=day, hours=8, minutes=25 * at), f"GET /v1/accounts/{9_000 + at}", status=200, scopes="rates:read accounts:read")
        for at in range(600):
            log.call("rate-feed", START + timedelta(days=1 + at // 200, hours=23, seconds=9 * (at % 200)), f"GET /v1/accounts/{7 * at}", status=200, scopes="rates:read accounts:read")

    [finding] = [row for row in made(nights, True).figures.findings if row.kind == "burst"]
    assert "rate-feed made 600 of its 744 calls to GET /v1/accounts/{id} in 3 hours from 2026-11-03 23:00 to 2026-11-05 23:29" in finding.sentence


@pytest.mark.parametrize("name", ["cut scopes", "another kind", "lower methods", "prefixed scopes", "short scopes", "only 200"])
def test_nobody_is_accused_of_what_the_log_writes_otherwise(name: str) -> None:
    kinds = {row.kind for row in made(SIGNS[name][0]).figures.findings}
    assert not kinds & {"served_though_denied", "lookalike", "new_since", "misconfigured_client", "broken_client", "probe", "attack", "always_denied_client"}, kinds


def test_the_order_of_rows_does_not_matter_for_what_is_tried() -> None:
    shuffle = random.Random(5)
    for name in ("slow walk", "one refund"):
        log, other = Log(False), Log(False)
        for each in (log, other):
            SIGNS[name][0](each)
        first, second = log.table(), other.table()
        second = second.take(shuffle.sample(range(second.num_rows), second.num_rows))
        signs = [[(row.kind, row.subject, row.affected) for row in report(table, BANK, columns={"served_status": "status"}, time_zone="UTC", public=PUBLIC).figures.signs.signs if row.kind != "new_since"] for table in (first, second)]
        assert signs[0] == signs[1] != []


def test_a_scope_that_is_not_marked_is_a_low_fact() -> None:
    [finding] = [row for row in made(administrator, policy=BANK).figures.findings if row.kind == "new_since"]
    assert finding.level == "low" and "svc-tmp, first seen " in finding.sentence and "holds admin" in finding.sentence


def test_checks_without_their_columns_are_listed() -> None:
    log = made(healthy).figures
    assert any("without a column `instance`" in said for said in log.signs.not_made)


def test_every_kind_of_sign_has_a_threshold_or_counts_all() -> None:
    from orbgate._report.findings.signs import KINDS

    named = {row.findings for row in made(healthy).figures.signs.thresholds}
    counts_all = {"new_since", "new_sensitive", "lookalike", "wrong_balances"}
    assert {*KINDS} - named == counts_all
