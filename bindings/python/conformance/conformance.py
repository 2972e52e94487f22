"""Answers the requests of policy/cases/run.py with the installed package."""

from __future__ import annotations

import sys

from orbgate import Policy, Token

number = 0
while header := sys.stdin.readline():
    count, file = header.rstrip("\n").split("\t")
    policy = Policy.from_file(file) if file else Policy.external()
    for _ in range(int(count)):
        cells = sys.stdin.readline().rstrip("\n").split("\t")
        method, target, by_scope, scopes = map(bytes.fromhex, cells[:4])
        kind, bonus = cells[4:6]
        token = Token(kind, scopes) if kind else None
        if by_scope:
            decision = policy.decide_scope(by_scope, token, allow_bonus_orbs_use=bonus == "yes")
        else:
            decision = policy.decide(method, target, token, allow_bonus_orbs_use=bonus == "yes")
        fields, orbs = decision.to_dict(), decision.orbs
        names = "decision", "status", "reason", "detail", "api", "route", "scope"
        words = [number, "single", *("" if fields[name] is None else fields[name] for name in names)]
        amount = orbs and ("null" if orbs.amount is None else orbs.amount)
        words += [f"{orbs.consumes} {amount} {orbs.bonus_allowed}".lower() if orbs else "", decision.about or ""]
        print(*words, sep="\t")
        number += 1
