"""The skipped tests of surefire's reports, a line each with the reason: skipped.py REPORT…."""

import sys
from collections.abc import Iterator
from xml.etree import ElementTree


def skipped(report: str) -> Iterator[str]:
    r"""A test of newer versions of Java lacks nothing in an older one.

    >>> aborts = "<![CDATA[E:\nAssumption failed: this machine\nlacks it\n\tat org.junit.Assumptions.fail(Assumptions.java:321)\n]]>"
    >>> for line in skipped(f'''<testsuite name="a.Samples" skipped="3">
    ...     <testcase name="runs" classname="a.Samples" time="0.0"/>
    ...     <testcase name="aborts" classname="a.Samples" time="0.0"><skipped type="E">{aborts}</skipped></testcase>
    ...     <testcase name="isOff" classname="a.Samples"><skipped message="nobody runs it"/></testcase>
    ...     <testcase name="isNewer" classname="a.Samples"><skipped message="Disabled on JRE version: 17.0.15"/></testcase>
    ... </testsuite>'''): print(line)
    Java: Samples.aborts: E: Assumption failed: this machine lacks it
    Java: Samples.isOff: nobody runs it
    """
    for test in ElementTree.fromstring(report).iter("testcase"):
        for skip in test.findall("skipped"):
            # The message, or else the exception up to where it was thrown.
            why = " ".join((skip.get("message") or (skip.text or "").split("\tat ")[0]).split())
            if not why.startswith("Disabled on JRE version"):
                yield f"Java: {test.get('classname', '').rsplit('.', 1)[-1]}.{test.get('name')}: {why}"


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as report:
            for line in skipped(report.read()):
                print(line)
