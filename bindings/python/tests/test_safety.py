"""Memory, processes, threads."""

from __future__ import annotations

import gc
import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from orbgate import Decision, Policy, PolicyError, Token

TEXT = "orbgate: 1\napis:\n  a:\n    base_path: /a\n    scopes:\n      s: { orbs: true, routes: [GET /b, 'GET /{c}'] }\n"
CALLS = [("GET", "/a/b"), ("GET", "/a/x"), ("PUT", "/a/b"), ("GET", "/A/b"), ("GET", "//")]
TOKENS = [Token("user", "s"), Token("organisation", ["t"]), Token("?", ""), None]


def answers(policy: Policy) -> list[Decision]:
    return [policy.decide(*call, token) for call in CALLS for token in TOKENS]


def resident() -> int:
    """Resident memory in bytes."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.once
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ten_thousand_loads_leave_memory_flat() -> None:
    def load(times: int) -> None:
        for _ in range(times):
            policy = Policy.from_yaml(TEXT)
            assert answers(policy)[0]
            with pytest.raises(PolicyError):
                Policy.from_yaml("orbgate: 1\n")
        gc.collect()

    def growth() -> int:
        before = resident()
        load(10_000)
        return resident() - before

    load(1_000)
    # The allocator takes 2 MiB at a time, whoever asks. A leak grows each time.
    assert min(growth() for _ in range(3)) < 2_000_000


def test_processes_decide_alike() -> None:
    policies = [Policy.external(), Policy.from_yaml(TEXT)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(answers, policies) == [answers(policy) for policy in policies]


def test_cloudpickle_keeps_decisions() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    policy = Policy.from_yaml(TEXT)
    twin, ask = cloudpickle.loads(cloudpickle.dumps((policy, lambda: answers(policy))))
    assert twin == policy and ask() == answers(twin) == answers(policy)


def test_threads_share_a_policy() -> None:
    policy = Policy.from_yaml(TEXT)
    expected = answers(policy)
    barrier = threading.Barrier(8)

    def work(_: int) -> bool:
        barrier.wait()
        return all(answers(policy) == expected and Policy.from_yaml(TEXT) == policy for _ in range(200))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(8)))


def test_loading_lets_other_threads_run() -> None:
    """A large policy is read without the interpreter's lock."""
    routes = "".join(f"          - GET /r{number}/{{id}}\n" for number in range(20_000))
    text = f"orbgate: 1\napis:\n  a:\n    base_path: /a\n    scopes:\n      s:\n        orbs: true\n        routes:\n{routes}"
    steps = 0
    with ThreadPoolExecutor(1) as threads:
        loading = threads.submit(Policy.from_yaml, text)
        while not loading.done():
            steps += 1
    assert len(loading.result().routes()) == 20_000
    assert steps > 1_000
