"""Break the formula rooms in thousands of small ways and see the tests notice.

    python tests/mutants/run.py [--sample 800 --seed 1] [--rooms privacy] [--minutes M] [--resume]

One process imports the package and collects the tests once. It first runs them all in a fork to learn how long each
takes and which functions it calls, and once more in order of their length, to see that they pass. Then every mutant
gets a fork of its own, in which the function's code is exchanged and only the tests run that call it, the quickest
first, up to the first that fails. Results go to ``build/mutants/results.csv``; the rates of each room are printed.
"""

import argparse
import cProfile
import csv
import gc
import hashlib
import importlib
import inspect
import json
import math
import os
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import accumulate, pairwise, zip_longest
from pathlib import Path
from typing import Any

import mutations
import pytest
from _pytest.runner import runtestprotocol

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "ldpnb"
RESULTS = HERE.parents[1] / "build/mutants/results.csv"
LEARNED = RESULTS.with_name("learned.json")
ROOMS = ("mechanisms", "estimators", "privacy", "accuracy")
TESTS = ("theory", "papers", "planning", "bench/steps", "notebooks/test_claims.py")
COLUMNS = ("room", "module", "function", "line", "mutation", "repeat", "outcome", "by")
REQUIRED = 0.9
MEMORY = 4 * 2**30
SECONDS, FACTOR = 3.0, 5.0
"""A test that takes this many seconds and this many times as long as without a mutant hangs (processor time)."""


def in_fork(work: Callable[[], Any]) -> tuple[Any, int]:
    """Return what `work` returns in a fork of this process, and the signal that ended it, if one did."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        sink = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(sink, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        result: Any = None
        try:
            result = work()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            with os.fdopen(writer, "w") as pipe:
                json.dump(result, pipe)
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else None, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


class Runner:
    """The pytest plugin that takes the place of the test loop."""

    def __init__(self, given: argparse.Namespace, known: list[dict[str, str]]) -> None:
        self.given, self.known, self.rows = given, known, []
        self.seconds: dict[int, float] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants instead of running the tests."""
        if session.testsfailed:
            pytest.exit("the tests cannot be collected", 1)
        self.items = [item for item in session.items if "perf_counter" not in written(item)]
        self.sources = {
            f"{room}.{path.stem}": path.read_text()
            for room in self.given.rooms
            for path in sorted((PACKAGE / room).glob("*.py"))
        }
        do_not_shrink(self.items)
        warm_up()
        say(f"{len(self.items)} tests, first without a mutant")
        digests = [hashlib.blake2b(item.path.read_bytes() + item.nodeid.encode()).hexdigest() for item in self.items]
        learned = json.loads(LEARNED.read_text()) if self.given.resume and LEARNED.exists() else {}
        new = {digest: self.learned(n) for n, digest in enumerate(digests) if digest not in learned}
        if failed := [self.items[digests.index(digest)].nodeid for digest, found in new.items() if not found]:
            pytest.exit(f"tests fail without a mutant: {failed}", 1)
        resumed, learned = bool(learned), learned | new
        LEARNED.parent.mkdir(parents=True, exist_ok=True)
        LEARNED.write_text(json.dumps(learned))
        callers: defaultdict[str, list[int]] = defaultdict(list)
        for number, digest in enumerate(digests):
            self.seconds[number], called = learned[digest]
            for function in called:
                callers[function].append(number)
        quickest = sorted(self.seconds, key=self.seconds.__getitem__)
        by, ended = ("", 0) if resumed else in_fork(lambda: self.first_failure(quickest))
        if by != "":
            pytest.exit(f"fails without a mutant, after shorter tests: {by or signal.Signals(ended).name}", 1)
        say(f"passed, {sum(self.seconds.values()):.0f} s")
        self.try_all({name: [n for n in quickest if n in set(numbers)] for name, numbers in callers.items()})
        return True

    def learned(self, number: int) -> tuple[float, list[str]] | None:
        """Return how long a test takes and what functions and modules it calls, or None if it fails.

        In a fork of its own: what another test has left in a cache would hide calls, and time that a mutant's fork,
        where that other test may not run, is going to need.
        """

        def work() -> tuple[float, list[str]] | None:
            profile, started = cProfile.Profile(subcalls=False, builtins=False), processor_time()
            profile.enable()
            failed = self.first_failure([number])
            profile.disable()
            codes = [entry.code for entry in profile.getstats() if not isinstance(entry.code, str)]
            ours = [code for code in codes if code.co_filename.startswith(str(PACKAGE))]
            called = {module_of(code.co_filename) for code in ours}
            called |= {f"{module_of(c.co_filename)}|{c.co_qualname.split('.<locals>')[0]}" for c in ours}
            return None if failed else (processor_time() - started, sorted(called))

        return in_fork(work)[0]

    def first_failure(self, numbers: list[int]) -> str:
        """Run tests up to the first that fails, and return its name."""
        for number, following in pairwise([*numbers, None]):
            signal.setitimer(signal.ITIMER_PROF, SECONDS + FACTOR * self.seconds.get(number, 60.0))
            item, after = self.items[number], None if following is None else self.items[following]
            if any(result.failed for result in runtestprotocol(item, log=False, nextitem=after)):
                return item.nodeid
        return ""

    def try_all(self, callers: dict[str, list[int]]) -> None:
        """Try mutants of all rooms in turn until the time is over, in every room the same share of each module."""
        rooms, end = self.given.rooms, time.monotonic() + 60 * self.given.minutes
        queues = [queue(room, self.sources, self.given.seed) for room in rooms]
        self.totals = {room: len(mutants) for room, mutants in zip(rooms, queues, strict=True)}
        made, known = {m.key for mutants in queues for m in mutants}, {key(row): row for row in self.known}
        kept = {k: row for k, row in known.items() if k in made}
        settled = {k for k, row in known.items() if row["outcome"] != "survived"}
        share = math.ceil(self.given.sample / len(rooms)) if self.given.sample else None
        # with --resume those not tried yet come first, then the survivors
        queues = [
            sorted((m for m in mutants[:share] if m.key not in settled), key=lambda m: m.key in known)
            for mutants in queues
        ]
        for mutant in (m for together in zip_longest(*queues) for m in together if m):
            if time.monotonic() > end:
                break
            calling = callers.get(f"{mutant.module}|{mutant.function}", callers.get(mutant.module, []))
            ends = accumulate(self.seconds[number] for number in calling)
            calling = [number for number, until in zip(calling, ends, strict=True) if until <= self.given.patience]
            outcome, by = self.attempt(mutant, calling)
            place = (mutant.module, mutant.function, mutant.line, mutant.change, mutant.repeat)
            self.rows.append(dict(zip(COLUMNS, (mutant.module.split(".")[0], *place, outcome, by), strict=True)))
            if outcome == "survived":
                say(f"{len(self.rows)} tried; survived: {mutant.key}, line {mutant.line}")
            write([*self.rows, *(row for k, row in kept.items() if k != mutant.key)])
            kept.pop(mutant.key, None)
        self.rows += kept.values()

    def attempt(self, mutant: mutations.Mutant, numbers: list[int]) -> tuple[str, str]:
        """Return how a mutant fares, and the test that kills it."""

        def work() -> tuple[str, str]:
            try:
                module = importlib.import_module(f"ldpnb.{mutant.module}")
                mutations.install(mutant, module, self.sources[mutant.module])
            except Exception as error:
                return "not installed", repr(error)
            by = self.first_failure(numbers)
            return ("killed" if by else "survived"), by

        found, ended = in_fork(work)
        if ended == signal.SIGPROF:
            return "hung", ""
        return tuple(found) if found else ("crashed", signal.Signals(ended).name if ended else "")


def key(row: dict[str, Any]) -> str:
    """Return the key of the mutant of a row of results."""
    return "|".join(str(row[name]) for name in ("module", "function", "mutation", "repeat"))


def queue(room: str, sources: dict[str, str], seed: int) -> list[mutations.Mutant]:
    """Return the mutants of a room in an order of which every beginning has the same share of each module."""
    ranked = []
    for module, source in sources.items():
        if module.startswith(f"{room}."):
            found = sorted(
                mutations.mutants(module, source),
                key=lambda mutant: hashlib.blake2b(f"{seed}|{mutant.key}".encode()).digest(),
            )
            ranked += [((rank + 0.5) / len(found), mutant) for rank, mutant in enumerate(found)]
    return [mutant for _, mutant in sorted(ranked, key=lambda pair: (pair[0], pair[1].key))]


def do_not_shrink(items: list[pytest.Item]) -> None:
    """Let a property fail at its first counterexample."""
    from hypothesis import HealthCheck, Phase, settings

    for item in items:
        function = getattr(item, "obj", None)
        if hasattr(function, "_hypothesis_internal_use_settings"):
            function._hypothesis_internal_use_settings = settings(
                function._hypothesis_internal_use_settings,
                phases=(Phase.explicit, Phase.generate),
                suppress_health_check=list(HealthCheck),
            )


def processor_time() -> float:
    """Return the seconds this process and the children it has waited for have taken."""
    return sum(os.times()[:4])


def warm_up() -> None:
    """Do once what every fork would do again: Hypothesis starts its engine, and the collector leaves what is there."""
    import hypothesis  # not before pytest, which rewrites it

    hypothesis.given(hypothesis.strategies.integers())(lambda number: None)()
    gc.freeze()


def module_of(path: str) -> str:
    """Return the dotted name below ``ldpnb`` of a module's file."""
    return ".".join(Path(path).relative_to(PACKAGE).with_suffix("").parts)


def written(item: pytest.Item) -> str:
    """Return the source of a test: one that takes the time would be killed by a busy machine."""
    function = getattr(item, "function", None)
    return inspect.getsource(function) if function else ""


def tests() -> list[str]:
    """Return the tests of the formulas and claims, and the rooms, whose docstrings hold examples."""
    paths = (HERE.parent / name for name in TESTS)
    return [*(str(path) for path in paths if path.exists()), *(str(PACKAGE / room) for room in ROOMS)]


def rates(rows: list[dict[str, Any]], totals: dict[str, int]) -> list[str]:
    """Return a line of a table for each room: how many mutants were tried, and the share that was killed."""
    lines = ["| room | mutants | tried | killed | of these hung or crashed | survived | killed, % | 95 % interval |"]
    lines.append("|---|" + "---:|" * 7)
    for room, total in totals.items():
        found = Counter(row["outcome"] for row in rows if row["room"] == room)
        tried, lived = found.total(), found["survived"] + found["not installed"]
        low, high = interval(tried - lived, tried)
        counts = f"{total:,} | {tried} | {tried - lived} | {found['hung'] + found['crashed']} | {lived}"
        share = f"{100 * (tried - lived) / max(tried, 1):.1f} | {100 * low:.1f} to {100 * high:.1f}"
        lines.append(f"| {room} | {counts} | {share} |")
    return lines


def interval(successes: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval for the share of successes."""
    if not trials:
        return 0.0, 1.0
    share, spread = successes / trials, z * z / trials
    half = math.sqrt(spread * (share * (1 - share) + spread / 4))
    return (share + spread / 2 - half) / (1 + spread), (share + spread / 2 + half) / (1 + spread)


def enough(rows: list[dict[str, Any]], totals: dict[str, int]) -> bool:
    """Return whether every mutant could be made and nine tenths of those of each room were killed."""
    lived = [row["outcome"] in ("survived", "not installed") for row in rows]
    kept = {room: [bad for row, bad in zip(rows, lived, strict=True) if row["room"] == room] for room in totals}
    killed_enough = all(sum(bad) <= (1 - REQUIRED) * len(bad) for bad in kept.values())
    return killed_enough and not any(row["outcome"] == "not installed" for row in rows)


def write(rows: list[dict[str, Any]]) -> None:
    """Write the results, of a run that may yet be interrupted."""
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (row["module"], int(row["line"]), key(row))))


def say(line: str) -> None:
    """Print at once, whatever pytest does with its output."""
    print(line, file=sys.__stderr__, flush=True)


def arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sample", type=int, default=0, help="how many mutants, shared evenly by the rooms; default: all"
    )
    parser.add_argument("--seed", type=int, default=0, help="which mutants come first")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS, help="default: all")
    parser.add_argument("--minutes", type=float, default=1e4, help="how long to try; default: to the last mutant")
    parser.add_argument("--patience", type=float, default=1e4, help="seconds of tests a mutant meets; default: all")
    parser.add_argument("--resume", action="store_true", help="leave out what the last run killed")
    return parser.parse_args()


def main() -> int:
    """Run, write the results, and say whether they are good enough."""
    given = arguments()
    known = list(csv.DictReader(RESULTS.read_text().splitlines())) if given.resume and RESULTS.exists() else []
    runner = Runner(given, known)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a fork does not take threads along
    options = ["-q", "-s", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=", "--doctest-modules"]
    status = pytest.main([*options, *tests()], plugins=[runner])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) or not runner.rows:
        return int(status) or 1
    print(*rates(runner.rows, runner.totals), f"survivors in {RESULTS}", sep="\n")
    return 0 if enough(runner.rows, runner.totals) else 1


if __name__ == "__main__":
    sys.exit(main())
