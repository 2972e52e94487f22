"""Logs that are made up, and a page read back: what the tests of the report share."""

from __future__ import annotations

import random
import re
from base64 import b64encode
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, Token, logs

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from orbgate._report import counting, figures  # noqa: E402
from orbgate._count import decided  # noqa: E402

POLICY = Policy.external()
NAMES = ("method", "target", "kind", "scopes", "allow_bonus_orbs_use", "time", "caller")
START = datetime(2026, 11, 2, tzinfo=timezone.utc)
MARKUP = "<script>alert('x')</script>\"&\u202e\n\0"


def rows(count: int, seed: int = 3) -> list[dict[str, Any]]:
    """A log in which every reason and everything that may be null occurs."""
    choose = random.Random(seed)
    routes = POLICY.routes()
    names = [scope.scope for scope in POLICY.scopes()]
    logged = []
    for _ in range(count):
        route = choose.choice(routes)
        path = "/".join("7" if part.startswith("{") else part for part in route.template.split("/"))
        scopes = " ".join(choose.sample([*names, "made:up"], choose.randrange(len(names))))
        logged.append(
            {
                "method": choose.choice([*[route.method] * 8, "PUT", None]),
                "target": choose.choice([*[path] * 8, f"{path}?access_token=hidden", f"{path}/", "/nowhere", None]),
                "kind": choose.choice([*["user", "organisation"] * 4, "robot", None]),
                "scopes": choose.choice([*[scopes] * 8, "", None]),
                "allow_bonus_orbs_use": choose.choice([True, False, None]),
                "time": choose.choice([*[START + timedelta(minutes=choose.randrange(20_000))] * 8, None]),
                "caller": choose.choice([*[f"app-{choose.randrange(30)}"] * 8, None]),
            }
        )
    return logged


def table(of: list[dict[str, Any]]) -> Any:
    types = {"allow_bonus_orbs_use": pa.bool_(), "time": pa.timestamp("us", "UTC")}
    return pa.table({name: pa.array([row[name] for row in of], types.get(name, pa.string())) for name in NAMES})


ROWS = rows(3_000)
TABLE = table(ROWS)
REQUESTS = [row for row in ROWS if row["method"] is not None and row["target"] is not None]


def count(calls: Any, **options: Any) -> figures.Figures:
    return counting.count(decided.Decided(logs.read(calls, **options), POLICY), POLICY)


def about(row: dict[str, Any], decision: Any) -> str | None:
    """What a call is about, as a report has it: with a token, the decision says which path it is where the method is another one."""
    if decision.about or decision.route or decision.reason not in ("no_token", "invalid_token"):
        position: str | None = decision.about
        return position
    return POLICY.decide(row["method"], row["target"], Token("user", "")).route


def made_up(count: int, names: str, **columns: Any) -> Any:
    """As many calls, each with a caller or a scope of its own."""
    own = pa.array([f"{names}{at:06}" for at in range(count)])
    calls = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": "", "caller": None}
    return pa.table({name: own if name == names else pa.array([value] * count, pa.string()) for name, value in (calls | columns).items()})


class Page(HTMLParser):
    """What a page has: its tags with their attributes, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._is_broken = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_broken = tag == "wbr"
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        # A text goes on where it may be broken.
        if self._is_broken:
            self.texts[-1] += data
        else:
            self.texts.append(data)
        self._is_broken = False


def check_harmless(page: str) -> Page:
    """Nothing on it runs, loads or leads anywhere else."""
    read = Page(page)
    assert not {"script", "iframe", "object", "embed", "link", "img", "image", "base", "form"} & {
        t for t, _ in read.tags
    }
    names = {name for _, attributes in read.tags for name in attributes}
    assert not {"style", "src", "xlink:href", "srcset", "action"} & names
    assert not [name for name in names if name.startswith("on")]
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert not re.search(r"url\(|@import|expression", style)
    policy = next(a["content"] for _, a in read.tags if a.get("http-equiv") == "Content-Security-Policy")
    hashed = b64encode(sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    # Its links go to its own sections.
    links = [(tag, attributes["href"]) for tag, attributes in read.tags if "href" in attributes]
    assert all(tag == "a" and link in {f"#{of}" for of in ids} for tag, link in links)
    return read


CSV = "method,target,kind,scopes,allow_bonus_orbs_use,time,caller\n" + "".join(
    f"GET,/api/v1/external/orbs,{kind},{scopes},{bonus},{time},{caller}\n"
    for kind in ("user", "organisation", "")
    for scopes in ("read:orbs", "read:keys made:up")
    for bonus in ("true", "")
    for time in ("2026-11-02T09:00:00Z", "yesterday", "1700000000", "")
    for caller in ("ann", "")
)


def texts_of_table(path: Path) -> Any:
    """The rows of a CSV file as a table of texts, in which an empty text is null."""
    csv = pytest.importorskip("pyarrow.csv")
    texts = csv.ConvertOptions(strings_can_be_null=True, column_types=dict.fromkeys(NAMES, pa.string()), null_values=[""])
    return csv.read_csv(path, convert_options=texts)
