"""Compute every verdict and every figure's table in other environments and compare the numbers.

    python tests/matrix/matrix.py [--only TEXT] [--jobs 2]

An environment is another code path of numpy, the BLAS or the C library, another number of threads, interpreter, set of
dependencies, locale, time zone, home, folder or user. The plain one, as installed, is compared with the committed
numbers, and every other with that one. Evidence must be the same letter for letter, numbers in a table to the tolerance
of ``make test``, 1e-6. What this machine lacks is listed as such. Writes ``results.csv`` beside this file; the exit
code is 1 if anything differs."""

import csv
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from ldpnb.run.nbval_plugin import compare_tables
from ldpnb.run.simulated import tolerances, without_numbers

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "matrix"
CHECKOUT = BUILD / "checkout"
NOBODY = 65534
COLUMNS = [
    *("environment", "python", "numpy", "scipy", "pandas", "blas", "evidence lines", "differ", "numbers"),
    *("differ in 10th digit", "largest relative difference", "result", "first difference"),
]


class UnavailableError(Exception):
    """This machine cannot make the environment; says why."""


@dataclass(frozen=True)
class Environment:
    """A way to run the probe: variables to set (None removes one), interpreter, checkout, prefix of the command."""

    name: str
    variables: dict[str, str | None] = field(default_factory=dict)
    python: Callable[[], Path] = lambda: Path(sys.executable)
    checkout: Callable[[], Path] = lambda: CHECKOUT
    prefix: tuple[str, ...] = ()


def environments() -> list[Environment]:
    """Return all environments to compare, the plain one first."""
    listed = [Environment("as installed")]
    listed += [Environment(f"OPENBLAS_NUM_THREADS={n}", {"OPENBLAS_NUM_THREADS": n}) for n in ("1", "4")]
    cores = ("Prescott", "Nehalem", "Haswell", "Zen", "SkylakeX")
    listed += [Environment(f"OPENBLAS_CORETYPE={core}", {"OPENBLAS_CORETYPE": core}) for core in cores]
    paths = dispatched()
    for out in (" ".join(paths[i:]) for i in reversed(range(len(paths)))):
        listed.append(Environment(f"numpy without {out}", {"NPY_DISABLE_CPU_FEATURES": out}))
    plain = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4"}
    old = {"NPY_DISABLE_CPU_FEATURES": " ".join(paths), "OPENBLAS_CORETYPE": "Prescott"}
    listed += [Environment("C library without FMA and AVX", plain), Environment("all of them off", plain | old)]
    listed += [
        Environment(f"Python {v}, {kind}", python=lambda v=v, kind=kind: interpreter(v, kind))
        for v in ("3.11", "3.12", "3.13", "3.14")
        for kind in ("locked", "lowest", "newest")
        if v != "3.14" or kind == "newest"
    ]
    listed += [Environment(f"LC_ALL={value}", {"LC_ALL": value}) for value in ("C", "C.UTF-8")]
    comma = {"LC_ALL": "de_DE.UTF-8", "LOCPATH": str(BUILD / "locale")}
    listed.append(Environment("LC_ALL=de_DE.UTF-8", comma, german))
    listed += [Environment(f"TZ={zone}", {"TZ": zone}) for zone in ("Pacific/Apia", "America/St_Johns")]
    listed.append(Environment("HOME unset", {"HOME": None}))
    listed.append(Environment("path with spaces and other letters", checkout=elsewhere))
    drop = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    listed.append(Environment("as nobody, HOME not writable", {"HOME": "/nonexistent"}, everybodys, prefix=drop))
    return listed


def dispatched() -> list[str]:
    """Return the code paths of numpy above its baseline that this processor has."""
    from numpy._core import _multiarray_umath as compiled

    return [f for f in compiled.__cpu_dispatch__ if compiled.__cpu_features__.get(f)] or ["X86_V3"]


def interpreter(version: str, kind: str, base: Path | None = None) -> Path:
    """Return an interpreter with the locked, the oldest allowed or the newest dependencies, set up on first use."""
    folder = BUILD / f"{kind}-{version}{'-system' if base else ''}"
    python, done = folder / "bin" / "python", folder / f".installed-{hash_of_dependencies()}"
    if not done.exists():
        base = base or found(version)
        run("uv", "venv", "--quiet", "--clear", "--no-python-downloads", "--python", str(base), str(folder))
        extras = ["--extra", "learning", "--extra", "proofs"]
        what = {
            # from elsewhere: what holds for making the lock is not for installing it
            "locked": ["--directory", "/", "--require-hashes", "-r", str(ROOT / "requirements.lock")],
            "lowest": ["--resolution", "lowest-direct", "-r", "pyproject.toml", *extras],
            # from elsewhere, so that the lock's constraint on numpy does not hold
            "newest": ["--directory", "/", "--upgrade", "-r", str(ROOT / "pyproject.toml"), *extras],
        }[kind]
        run("uv", "pip", "install", "--quiet", "--system-certs", "--python", str(python), *what)
        done.touch()
    return python


def hash_of_dependencies() -> str:
    """Return what changes when the declared or the locked dependencies do."""
    text = b"".join((ROOT / name).read_bytes() for name in ("pyproject.toml", "requirements.lock"))
    return hashlib.sha256(text).hexdigest()[:12]


def asked(*command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, whatever comes of it."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def run(*command: str) -> None:
    """Run a tool of this environment in the checkout, quietly."""
    result = asked(sys.executable, "-m", *command, cwd=ROOT)
    if result.returncode:
        raise UnavailableError(f"{command[0]} {command[1]}: {result.stderr.strip().splitlines()[-1]}")


def found(version: str) -> Path:
    """Return an interpreter of that version: this one, one on the path, or one of pyenv's."""
    pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    named = shutil.which(f"python{version}")
    for candidate in [*pyenv, *([Path(named)] if named else []), Path(sys.executable)]:
        if asked(candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip() == version:
            return candidate
    raise UnavailableError(f"no Python {version} on this machine")


def german() -> Path:
    """Make the German locale, with its decimal comma, and return the interpreter."""
    target = BUILD / "locale" / "de_DE.UTF-8"
    if not target.exists():
        if not shutil.which("localedef"):
            raise UnavailableError("no localedef on this machine")
        target.parent.mkdir(parents=True, exist_ok=True)
        made = asked("localedef", "-i", "de_DE", "-f", "UTF-8", target)
        if not target.exists():
            raise UnavailableError(made.stderr.strip() or "localedef made nothing")
    return Path(sys.executable)


def copied(target: Path = CHECKOUT) -> Path:
    """Copy what is compared, so that one run sees one state and any user may read it."""
    shutil.rmtree(target, ignore_errors=True)
    for name in ("ldpnb", "notebooks", "figures"):
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.png", "*.pdf"))
    shutil.copy2(ROOT / "tests" / "matrix" / "probe.py", target)
    return target


def elsewhere() -> Path:
    """Copy the checkout to a path with spaces and letters beyond ASCII."""
    return copied(BUILD / "ein Ort, naïve 数字 'n' Ümläut")


def everybodys() -> Path:
    """Return an interpreter that a user without rights may run, the system's if need be."""
    if os.geteuid() != 0:
        raise UnavailableError("only root can become another user; this ran as an ordinary one throughout")
    if not shutil.which("setpriv"):
        raise UnavailableError("no setpriv on this machine")
    for candidate in (lambda: Path(sys.executable), lambda: interpreter("3.11", "locked", Path("/usr/bin/python3.11"))):
        python = candidate()
        if asked("setpriv", f"--reuid={NOBODY}", "--clear-groups", python, "-c", "import numpy").returncode == 0:
            return python
    raise UnavailableError("no interpreter that another user may run")


def results_of(environment: Environment) -> Path:
    """Return the folder of an environment's results."""
    return BUILD / "results" / environment.name.replace("/", "-")


def compute(environment: Environment) -> Path:
    """Run the probe there and return the folder of its results."""
    python, checkout = environment.python(), environment.checkout()
    folder = results_of(environment)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if environment.prefix:
        os.chown(folder, NOBODY, NOBODY)
    set_here = {"PYTHONPATH": str(checkout), "LDPNB_HOME": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
    wanted = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **set_here, **environment.variables}
    variables = {k: v for k, v in wanted.items() if v is not None}
    result = asked(*environment.prefix, python, checkout / "probe.py", folder, env=variables, cwd="/")
    if result.returncode == -signal.SIGILL:
        raise UnavailableError("this processor lacks that code path")
    if result.returncode:
        raise RuntimeError((result.stderr.strip() or f"ended with {result.returncode}").splitlines()[-1])
    return folder


def compare(folder: Path, reference: Path) -> dict[str, str | int]:
    """Return how the results in a folder differ from those in another."""
    committed = sorted(p.relative_to(reference) for p in reference.rglob("*.csv"))
    fresh = sorted(p.relative_to(folder) for p in folder.rglob("*.csv"))
    differences = [f"{name}: only on one side" for name in sorted(set(committed) ^ set(fresh))]
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    numbers, unequal, largest = 0, 0, 0.0
    for name in sorted(set(committed) & set(fresh)):
        one, other = (pd.read_csv(place / name) for place in (reference, folder))
        allowed = {} if about["as recorded"] else tolerances(name.as_posix())
        differences += [f"{name.parent}/{line}" for line in compare_tables(reference / name, folder / name, allowed)]
        if list(one.columns) == list(other.columns) and len(one) == len(other):
            a, b = (t.select_dtypes("number").to_numpy(float) for t in (one, other))
            if a.shape == b.shape:
                apart = np.abs(a - b)[a != b]
                scale = np.maximum(np.abs(a), 1e-6)[a != b]
                numbers, unequal = numbers + int((~np.isnan(a)).sum()), unequal + int((apart > 0).sum())
                largest = max(largest, float(np.nanmax(apart / scale, initial=0.0)))
    ledger, lines = (pd.read_csv(p / "verdicts.csv", dtype=str, keep_default_na=False) for p in (reference, folder))
    ledger, lines = (table.drop(columns=["false_alarm", "power"]) for table in (ledger, lines))
    if not about["as recorded"]:
        for table in (ledger, lines):
            table["evidence"] = table["evidence"].map(without_numbers)
    same = (ledger.to_numpy() == lines.to_numpy()).all(axis=1) if ledger.shape == lines.shape else np.zeros(1, bool)
    if not same.all() and ledger.shape == lines.shape:
        i = int(np.argmin(same))
        differences.insert(0, f"{ledger['claim'][i]}: {lines['evidence'][i]}")
    return {
        **{key: about[key] for key in ("python", "numpy", "scipy", "pandas", "blas")},
        "evidence lines": len(ledger),
        "differ": int((~same).sum()),
        "numbers": numbers,
        "differ in 10th digit": unequal,
        "largest relative difference": f"{largest:.1e}",
        "result": "different" if differences else "same",
        "first difference": differences[0] if differences else "",
    }


def row(environment: Environment, reference: Path) -> dict[str, str | int]:
    """Return an environment's row of the table, whatever becomes of it."""
    try:
        found_there = compare(compute(environment), reference)
    except UnavailableError as why:
        found_there = {"result": "not available", "first difference": str(why)}
    except RuntimeError as error:
        found_there = {"result": "failed", "first difference": str(error)}
    made = {"environment": environment.name, **found_there}
    click.echo(f"{made['environment']:<38}{made['result']:<15}{made.get('blas', ''):<14}{made['first difference']}")
    return made


def passed_on_an_old_processor() -> bool:
    """Run the whole test with numpy's vector features off and two threads of the oldest BLAS kernel."""
    old = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(dispatched()),
        "OPENBLAS_CORETYPE": "Prescott",
        "OPENBLAS_NUM_THREADS": "2",
    }
    command = [sys.executable, "-m", "pytest", "-n", "2"]
    return subprocess.run(command, cwd=ROOT, env=os.environ | old, check=False).returncode == 0


@click.command()
@click.option("--only", default="", help="Environments whose name contains this; the others' rows stay.")
@click.option("--jobs", default=1, show_default=True, help="Environments at a time.")
def main(only: str, jobs: int) -> None:
    """Compare the committed numbers with those of other environments."""
    copied()
    plain, *others = environments()
    rows = [row(plain, CHECKOUT / "figures")]
    with ThreadPoolExecutor(jobs) as pool:
        rows += pool.map(partial(row, reference=results_of(plain)), [e for e in others if only in e.name])
    path = HERE / "results.csv"
    before = list(csv.DictReader(path.open(encoding="utf-8"))) if only and path.exists() else []
    renewed = {made["environment"]: made for made in [*before, *rows]}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(renewed[e.name] for e in [plain, *others] if e.name in renewed)
    counts = {result: sum(r["result"] == result for r in rows) for result in dict.fromkeys(r["result"] for r in rows)}
    click.echo(f"{platform.machine()}: " + ", ".join(f"{count} {result}" for result, count in counts.items()))
    sys.exit(
        any(r["result"] in ("different", "failed") for r in rows) or (not only and not passed_on_an_old_processor())
    )


if __name__ == "__main__":
    main()
