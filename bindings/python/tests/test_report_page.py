"""The report in a real browser: what a person sees in light and dark, on a wide screen and on a telephone."""

from __future__ import annotations

import html
import json
import os
import random
import re
import shutil
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

pytestmark = [pytest.mark.once, pytest.mark.long]

LOOK = Path(__file__).with_name("look.html")
AXE = Path(__file__).parent / "axe" / "node_modules" / "axe-core" / "axe.min.js"
# The page asks for Arial or one that is as wide, and otherwise takes what there is. No other font of the machine is seen.
FONTS = {"Liberation": "fonts-liberation", "DejaVu": "fonts-dejavu-core"}
FRAMES = [(width, dark) for width in (1280, 1000, 500, 380) for dark in (False, True)]
POLICY = Policy.external()


def calls(markup: str = "") -> Any:
    """Two weeks, with some markup in all that a log names."""
    routes, scopes = POLICY.routes(), [scope.scope for scope in POLICY.scopes()]
    made = [
        {
            "method": f"GET{markup}" if at % 17 == 0 else route.method,
            "target": f"{route.template.replace('{', '').replace('}', '')}{markup if at % 13 == 0 else ''}",
            "kind": f"robot{markup}" if at % 19 == 0 else "user",
            "scopes": " ".join([*scopes[at % 5 : 20], f"made:up{markup}"]),
            "time": datetime(2026, 11, 2) + timedelta(minutes=17 * at),
            "caller": f"application {at % 30} of somebody with quite a long name{markup}",
            "served_status": (200, 403, 500, None)[at % 4],
        }
        for at, route in enumerate(routes * 32)
    ]
    return pa.Table.from_pylist(made)


def page(markup: str = "") -> str:
    return report(calls(markup), POLICY).html


def only(font: str, folder: Path) -> dict[str, str]:
    """An environment in which these fonts are all that there is."""
    paths = [path for path in Path("/usr/share/fonts").rglob(f"{font}*.ttf")]
    assert paths, f"{font} is missing: apt-get install {FONTS[font]}"
    (folder / "fonts").mkdir(exist_ok=True)
    for path in paths:
        shutil.copy(path, folder / "fonts")
    config = folder / "fonts.conf"
    # As on a desktop, the system's font is a sans serif.
    sans = f"<match><test name='family'><string>system-ui</string></test><edit name='family' mode='prepend' binding='strong'><string>{font} Sans</string></edit></match>"
    config.write_text(f"<fontconfig><dir>{folder / 'fonts'}</dir><cachedir>{folder / 'cache'}</cachedir>{sans}</fontconfig>")
    return {**os.environ, "FONTCONFIG_FILE": str(config)}


def look(page: str, folder: Path, font: str = "DejaVu") -> tuple[list[dict[str, Any]], list[str]]:
    """What is seen in each frame, and what the browser says on its console."""
    chromium = shutil.which("chromium")
    assert chromium is not None, "chromium is missing: apt-get install chromium, or leave it out with -m 'not long'"
    (folder / "report.html").write_text(page, encoding="utf-8")
    shutil.copy(LOOK, folder / "look.html")
    command = [
        chromium,
        "--headless",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--dump-dom",
        "--enable-logging=stderr",
    ]
    # The frames' pages are files, which a page of a file may read only so.
    command += ["--allow-file-access-from-files", "--virtual-time-budget=60000", f"--user-data-dir={folder / 'profile'}"]
    if os.geteuid() == 0:
        command.append("--no-sandbox")
    command.append((folder / "look.html").as_uri())
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=only(font, folder))
    seen = re.search(r"<body>(\[.*\])</body>", ran.stdout)
    assert seen, ran.stdout + ran.stderr
    return json.loads(html.unescape(seen[1])), re.findall(r"CONSOLE.*", ran.stderr)


def contrast(colours: str) -> float:
    """The ratio of WCAG 2.2, from 1 to 21, of two colours as `rgb(…)`."""
    light, dark = sorted((luminance(colour) for colour in re.findall(r"rgb\((.*?)\)", colours)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour.split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722)))


def diagnostics(frame: dict[str, Any]) -> list[str]:
    """What is wrong with a frame."""
    problems = []
    for pair in frame["colours"]:
        if contrast(pair) < (4.5 if pair.startswith("text") else 3):
            problems.append(f"contrast {contrast(pair):.1f}: {pair}")
    for chart in frame["charts"]:
        if len(chart["drawings"]) != 1 or not chart["marks"]:
            problems.append(f"{len(chart['drawings'])} drawings with {chart['marks']} marks")
        left, top, right, bottom = chart["room"]
        for at, (l, t, r, b) in enumerate(texts := chart["texts"]):
            if l < left or t < top or r > right or b > bottom or b - t < 10:
                problems.append(f"a chart's text is small or cut off: {texts[at]} in {chart['room']}")
            if any(l < other[2] and other[0] < r and t < other[3] and other[1] < b for other in texts[:at]):
                problems.append(f"a chart's text is over another: {texts[at]}")
    # On a telephone or a tablet, rows are cards.
    if frame["scrolled"]:
        problems.append(f"{frame['scrolled']} tables are wider than their location")
    if frame["unnamed"]:
        problems.append(f"{frame['unnamed']} values do not say what they are")
    if frame["silent"]:
        problems.append(f"{frame['silent']} tables hide rows and do not say how many")
    if frame["sideways"]:
        problems.append(f"{frame['sideways']} pixels do not fit")
    problems += [f"loads {name}" for name in frame["loaded"]]
    return problems


@pytest.mark.parametrize("font", FONTS)
def test_a_person_can_read_it(font: str, tmp_path: Path) -> None:
    frames, console = look(page(), tmp_path, font)
    assert [(frame["width"], frame["dark"]) for frame in frames] == FRAMES
    for frame in frames:
        assert not diagnostics(frame), (frame["width"], frame["scheme"])
        assert len(frame["charts"]) == 10 and len(frame["tables"]) == 23 and min(frame["tables"]) > 1
    assert frames[0]["colours"] != frames[1]["colours"] and not console
    assert all(frame["boxes"] for frame in frames)


@pytest.mark.parametrize("font", FONTS)
def test_what_a_log_has_does_nothing(font: str, tmp_path: Path) -> None:
    frames, console = look(page("<script>document.title = 'ran'</script><img src=x>"), tmp_path, font)
    assert not console and [diagnostics(frame) + [frame["title"]] * frame["scripts"] for frame in frames] == [[]] * len(FRAMES)


def test_what_is_wrong_is_seen(tmp_path: Path) -> None:
    """The same checks on pages that are broken on purpose."""
    picture = (
        '<img src="http://nowhere.invalid/missing.png" width="2000" height="9"><script>document.title = "ran"</script>'
    )
    broken = page().replace("<main>", f"<main>{picture}")
    guarded, console = look(broken, tmp_path)
    assert len(console) >= 3 and {frame["title"] for frame in guarded} == {"Access report"}
    assert all("pixels do not fit" in " ".join(diagnostics(frame)) for frame in guarded)
    without = re.sub("<meta http-equiv[^>]*>", "", broken)
    pale = without.replace("--quiet: #566270", "--quiet: #b0b0b0").replace('class="wide" aria', 'class="gone" aria')
    pale = pale.replace(".table .more { position: sticky;", ".table .more { position: static;")
    pale = pale.replace("td::before {", "td:not(:first-child)::before {")
    frames, _ = look(pale, tmp_path)
    assert {frame["title"] for frame in frames} == {"ran"}
    problems = " ".join(diagnostic for frame in frames for diagnostic in diagnostics(frame))
    for diagnostic in ("contrast 2.", "2 drawings with", "pixels do not fit", "tables hide rows", "values do not say what they are", "loads http://nowhere.invalid/missing.png"):
        assert diagnostic in problems


@pytest.mark.parametrize("font", FONTS)
def test_a_large_log_has_a_page_that_is_read_to_its_end(font: str, tmp_path: Path) -> None:
    """Hundreds of groups of denials, a probe among them, and all sections: ten screens and 3,000 words without what is folded in."""
    routes, draw = POLICY.routes(), random.Random(7)
    scopes = sorted({route.scope for route in routes if route.scope is not None})
    held = {f"svc-{at:03}": draw.sample(scopes, draw.randrange(3, 9)) for at in range(460)}
    start, rows = datetime(2026, 11, 2), []
    for caller in draw.choices([*held], k=20_000):
        route = draw.choice([route for route in routes if (route.scope in held[caller]) == (draw.random() < 0.93)])
        status = 200 if route.scope in held[caller] or draw.random() < 0.02 else 403
        rows.append((caller, route.method, re.sub(r"\{.*?\}", "7", route.template), held[caller], status, draw.random() * 14 * 86_400))
    rows += [("scan-1", "GET", f"/admin/{name}", [], 404, 9 * 86_400 + 60 * at) for at, name in enumerate("abcdefghijklmnopqrstuvwxyz")]
    names = ("caller", "method", "target", "scopes", "served_status", "time")
    log = [{"kind": "user", **dict(zip(names, row)), "scopes": " ".join(row[3]), "time": start + timedelta(seconds=row[5])} for row in sorted(rows, key=lambda row: row[5])]
    # Unread rows, a warning, and another policy.
    log += [{**log[0], "method": None}, *({**log[0], "kind": "-"} for _ in range(40))]
    other = Policy.from_yaml(POLICY.text.decode().replace("name: external", "name: the older one").replace("- GET /keys\n", "- GET /keys\n          - GET /keys/old\n"))
    log += [{**log[0], "caller": "printer", "target": "/api/v1/external/keys/old", "scopes": "read:keys openid", "time": start + timedelta(hours=at)} for at in range(200)]
    made = report(pa.Table.from_pylist(log), POLICY, base=other)
    assert len(made.figures.denials.groups) > 468 and {"unread_rows", "warnings", "other_policy_client", "changes"} < {row.kind for row in made.figures.findings}
    frames, _ = look(made.html, tmp_path, font)
    assert frames[0]["width"] == 1280 and frames[0]["height"] <= 10 * 800
    seen = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<details.*?</details>|<tr class=\"rest\">.*?</tr>", " ", made.html, flags=re.DOTALL)
    assert len(re.sub("<[^>]*>", " ", seen).split()) <= 3_000
    # The probe is the first of all groups, and what is cut says where the rest is.
    groups = made.html.partition("Denied calls by caller and pattern</caption>")[2]
    assert "scan-1" in groups.partition("</tr>")[2].partition("</tr>")[0]
    assert re.search(r"[\d,]+ more in the table denials_groups of a bundle", made.html)


def one(**call: Any) -> Any:
    return pa.Table.from_pylist([{"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": "read:orbs", "caller": "ann", **call}])


# A million orbs a call, and more than an integer of 64 bits has in the sum.
DEAR = "{orbgate: 1, apis: {shop: {base_path: '', scopes: {buy: {orbs: 1000000, routes: [POST /buy]}, huge: {orbs: 9223372036854775807, routes: [POST /huge]}}}}}"
BOUGHT = [{"method": "POST", "target": target, "kind": "user", "scopes": "buy huge", "time": datetime(2026, 1, 1) + timedelta(days=at), "caller": "app"}
          for at in range(40) for target in ("/buy", "/huge")]  # fmt: skip
SMALL = {
    "one allowed": (one(served_status=200), POLICY),
    "one denied, at one time": (one(scopes="", served_status=200, time=datetime(2026, 11, 2)), POLICY),
    "none": (one().slice(0, 0), POLICY),
    "all denied": (pa.Table.from_pylist([{**call, "target": "/nowhere"} for call in BOUGHT]), POLICY),
    "a million orbs": (pa.Table.from_pylist(BOUGHT), Policy.from_yaml(DEAR)),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_small_log_has_a_page_without_gaps(name: str, tmp_path: Path) -> None:
    calls, policy = SMALL[name]
    made = report(calls, policy).html
    frames, console = look(made, tmp_path)
    assert not console and [diagnostics(frame) for frame in frames] == [[]] * len(FRAMES)
    # A section has something to show, or is a line of the last one.
    sections = re.findall(r"<section id=\"(?!warnings)[^>]*>(.*?)</section>", made, re.DOTALL)
    bare = [section for section in sections if "<table" not in section]
    assert bare == sections[-1:] or not bare
    words = html.unescape(re.sub(r"<svg.*?</svg>|<style>.*?</style>|<[^>]*>", " ", made, flags=re.DOTALL))
    assert not re.search(r"\b1 (calls|rows|callers|scopes|routes|orbs|times)\b|– of all| 0\.5\b", words)
    assert "0.5</text>" not in made


def test_a_log_that_is_all_good_has_a_page_of_one_screen(tmp_path: Path) -> None:
    route = POLICY.routes()[0]
    good = [one(method=route.method, target=route.template, scopes=route.scope, served_status=200, time=datetime(2026, 11, 2, at, tzinfo=timezone.utc)) for at in range(24)]
    frames, _ = look(report(pa.concat_tables(good), POLICY).html, tmp_path)
    assert {frame["height"] for frame in frames if frame["width"] == 1280} == {900}
    assert all(frame["height"] > 900 for frame in look(page(), tmp_path)[0])


def test_axe_finds_nothing(tmp_path: Path) -> None:
    """What axe-core knows of WCAG and of good practice, on a page with all its sections and on a page with few."""
    if not AXE.exists():
        pytest.skip("axe-core is missing: npm ci in bindings/python/tests/axe")
    shutil.copy(AXE, tmp_path)
    properties = tmp_path / "policy.test.yaml"
    properties.write_text("orbgate_test: 1\nproperties: [never | organisation * | GET /api/v1/external/account]\n")
    dear, policy = SMALL["a million orbs"]
    whole = report(calls(), POLICY, base=Policy.from_yaml(DEAR), properties=properties).html
    for page in (whole, report(dear, policy, base=POLICY).html, report(*SMALL["none"]).html, report(*SMALL["one allowed"]).html):
        # The page runs no scripts, not even this one: it is checked without that rule.
        open_page = re.sub("<meta http-equiv[^>]*>", '<script src="axe.min.js"></script>', page)
        frames, _ = look(open_page, tmp_path)
        assert [frame["violations"] for frame in frames] == [[]] * len(FRAMES) and min(frame["checks"] for frame in frames) > 50
    pale = open_page.replace("--quiet: #566270", "--quiet: #b0b0b0").replace('<html lang="en">', "<html>")
    violations = " ".join(look(pale, tmp_path)[0][0]["violations"])
    assert "color-contrast" in violations and "html-has-lang" in violations
