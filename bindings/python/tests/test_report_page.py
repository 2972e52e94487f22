"""The report in a real browser: what a person sees in light and dark, on a wide screen and on a telephone."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

pytestmark = [pytest.mark.once, pytest.mark.browser]

LOOK = Path(__file__).with_name("look.html")
POLICY = Policy.external()


def page(markup: str = "") -> str:
    """A report of two weeks, with some markup in all that a log names."""
    routes, scopes = POLICY.routes(), [scope.scope for scope in POLICY.scopes()]
    calls = [
        {
            "method": f"GET{markup}" if at % 17 == 0 else route.method,
            "target": f"{route.template.replace('{', '').replace('}', '')}{markup if at % 13 == 0 else ''}",
            "kind": f"robot{markup}" if at % 19 == 0 else "user",
            "scopes": " ".join([*scopes[at % 5 : 20], f"made:up{markup}"]),
            "time": datetime(2026, 11, 2) + timedelta(minutes=17 * at),
            "caller": f"application {at % 30} of somebody with quite a long name{markup}",
        }
        for at, route in enumerate(routes * 32)
    ]
    return report(pa.Table.from_pylist(calls), POLICY).html


def look(page: str, folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """What is seen in each frame, and what the browser says on its console."""
    chromium = shutil.which("chromium")
    assert chromium is not None, "chromium is missing: apt-get install chromium, or leave it out with -m 'not browser'"
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
    command += ["--allow-file-access-from-files", f"--user-data-dir={folder / 'profile'}"]
    if os.geteuid() == 0:
        command.append("--no-sandbox")
    ran = subprocess.run([*command, (folder / "look.html").as_uri()], capture_output=True, text=True, check=True)
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


def faults(frame: dict[str, Any]) -> list[str]:
    """What is wrong with a frame."""
    found = []
    for pair in frame["colours"]:
        if contrast(pair) < (4.5 if pair.startswith("text") else 3):
            found.append(f"contrast {contrast(pair):.1f}: {pair}")
    for chart in frame["charts"]:
        if len(chart["drawings"]) != 1 or not chart["marks"]:
            found.append(f"{len(chart['drawings'])} drawings with {chart['marks']} marks")
        left, top, right, bottom = chart["room"]
        for at, (l, t, r, b) in enumerate(texts := chart["texts"]):
            if l < left or t < top or r > right or b > bottom or b - t < 10:
                found.append(f"a chart's text is small or cut off: {texts[at]} in {chart['room']}")
            if any(l < other[2] and other[0] < r and t < other[3] and other[1] < b for other in texts[:at]):
                found.append(f"a chart's text is over another: {texts[at]}")
    # On a telephone, rows are cards.
    if frame["scrolled"]:
        found.append(f"{frame['scrolled']} tables are wider than their place")
    if frame["sideways"]:
        found.append(f"{frame['sideways']} pixels do not fit")
    found += [f"loads {name}" for name in frame["loaded"]]
    return found


def test_a_person_can_read_it(tmp_path: Path) -> None:
    frames, console = look(page(), tmp_path)
    assert [(frame["width"], frame["dark"]) for frame in frames] == [
        (1280, False),
        (1280, True),
        (390, False),
        (390, True),
    ]
    for frame in frames:
        assert not faults(frame), (frame["width"], frame["scheme"])
        assert len(frame["charts"]) == 9 and len(frame["tables"]) == 15 and min(frame["tables"]) > 1
    assert frames[0]["colours"] != frames[1]["colours"] and not console


def test_what_a_log_has_does_nothing(tmp_path: Path) -> None:
    frames, console = look(page("<script>document.title = 'ran'</script><img src=x>"), tmp_path)
    assert not console and [faults(frame) + [frame["title"]] * frame["scripts"] for frame in frames] == [[]] * 4


def test_what_is_wrong_is_seen(tmp_path: Path) -> None:
    """The same checks on pages that are broken on purpose."""
    picture = (
        '<img src="http://nowhere.invalid/missing.png" width="2000" height="9"><script>document.title = "ran"</script>'
    )
    broken = page().replace("<main>", f"<main>{picture}")
    guarded, console = look(broken, tmp_path)
    assert len(console) >= 3 and {frame["title"] for frame in guarded} == {"Access report"}
    assert all("pixels do not fit" in " ".join(faults(frame)) for frame in guarded)
    without = re.sub("<meta http-equiv[^>]*>", "", broken)
    pale = without.replace("--quiet: #566270", "--quiet: #b0b0b0").replace('class="wide"', 'class="gone"')
    frames, _ = look(pale, tmp_path)
    assert {frame["title"] for frame in frames} == {"ran"}
    found = " ".join(fault for frame in frames for fault in faults(frame))
    for fault in ("contrast 2.", "2 drawings with", "pixels do not fit", "loads http://nowhere.invalid/missing.png"):
        assert fault in found
