"""Messages that tests expect, in `expected.txt`. `ORBGATE_UPDATE=1` rewrites them, so that words can be edited in the code and reviewed in the diff."""

from __future__ import annotations

import os
import re
from pathlib import Path

FILE = Path(__file__).with_name("expected.txt")


class Expected:
    """The messages of one test, in the order in which it finds them."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def __call__(self, *messages: object) -> None:
        self.messages += [line for message in messages for line in str(message).splitlines()]

    def sentences(self, text: str, *words: str) -> None:
        """The sentences of a text that contain all these words, at least one, each from the first of the words on."""
        sentences = [sentence for sentence in re.split(r"(?<=\.) |\s*\n\s*", text) if all(word in sentence for word in words)]
        assert sentences, f"no sentence with {words} in: {text}"
        self(*(sentence[sentence.index(words[0]) :] for sentence in sentences))

    def keep(self, name: str) -> None:
        """Compares with the section of this name, or writes it if `ORBGATE_UPDATE` is set."""
        assert self.messages, "the test has found no message"
        text = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
        parts = [section.partition("\n") for section in text.removeprefix("## ").split("\n## ") if section]
        sections = {head: lines for head, _, lines in parts}
        now = "".join(f"    {line}".rstrip() + "\n" for line in self.messages)
        if "ORBGATE_UPDATE" in os.environ:
            sections[name] = now
            FILE.write_text("\n".join(f"## {name}\n{lines.rstrip()}\n" for name, lines in sorted(sections.items())), encoding="utf-8")
        else:
            assert now.rstrip() == sections.get(name, "").rstrip(), "run the test with ORBGATE_UPDATE=1 and without -n, and review the difference"
