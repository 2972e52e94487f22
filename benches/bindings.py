#!/usr/bin/env python3
"""What a decision takes from each language, compared with the Rust call in the same run: `cargo xtask bench --bindings` builds the
programs and runs this with a LANGUAGE=COMMAND for each. A program checks every answer and prints lines `CALL NANOSECONDS`."""

import collections
import statistics
import subprocess
import sys

# Programs take turns this often. A program's figure in a turn is the least of its rounds, because noise only adds.
TURNS = 15
# Most that a figure may be, as a multiple of the Rust call's in the same turn: the median of the turns, because a machine is not as fast
# in one turn as in another. bindings/README.md promises them.
ROWS = [
    ("c", "single", 1.3),
    ("c go-cgo java node", "batch", 1.5),
    ("c cpp go-cgo java python", "explain-json reach-json", 1.5),
    ("cpp go-cgo java node python", "explain", 1.5),
    ("cpp go-cgo", "reach", 1.5),
]
GOALS = {(language, call): most for languages, calls, most in ROWS for language in languages.split() for call in calls.split()}


def missed(ratios: dict[tuple[str, str], float]) -> list[str]:
    """What takes longer than it may, or was not measured.

    >>> missed({("c", "single"): 3.0, ("c", "batch"): 1.0, ("go-cgo", "batch"): 1.5, ("java", "batch"): 1.0})[:2]
    ['c single: 3.00, at most 1.3', 'node batch: inf, at most 1.5']
    """
    measured = {goal: ratios.get(goal, float("inf")) for goal in GOALS}
    return [f"{' '.join(goal)}: {measured[goal]:.2f}, at most {most}" for goal, most in GOALS.items() if measured[goal] > most]


def main(programs: dict[str, str]) -> None:
    figures = collections.defaultdict(list)
    for _ in range(TURNS):
        for language, command in programs.items():
            printed = subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE, text=True).stdout
            for line in printed.splitlines():
                call, figure = line.split(" ")
                figures[language, call].append(float(figure))
    ratios = {}
    print("\n| language | call | ns | of Rust |\n|---|---|--:|--:|")
    for key, turns in figures.items():
        rust = figures.get(("rust", key[1].removesuffix("-read"))) or figures["rust", "single"]
        ratios[key] = statistics.median(turn / of_rust for turn, of_rust in zip(turns, rust))
        print(f"| {key[0]} | {key[1]} | {statistics.median(turns):.1f} | {ratios[key]:.2f} |")
    if slow := missed(ratios):
        sys.exit(f"more than it may be: {'; '.join(slow)}")


if __name__ == "__main__":
    main(dict(argument.split("=", 1) for argument in sys.argv[1:]))
