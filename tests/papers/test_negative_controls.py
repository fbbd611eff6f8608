"""Break every formula under every claim by a little and see the verdict change: no check is one that cannot fail.

Each claim names the formulas it rests on. A formula that returns numbers is replaced by itself times 1.01, times 2 and
with its sign turned; the probabilities p and q of a mechanism are swapped; formulas that return something else have
their own mutations in ``mutations_<source>.py``."""

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb import claims
from ldpnb.run.ledger import committed_ledger


def owner_of(path: str) -> tuple[Any, str]:
    """The module or class that holds the formula of that path below ``ldpnb``, and its name there."""
    parts = path.split(".")
    for depth in range(len(parts) - 1, 0, -1):
        try:
            owner = importlib.import_module("ldpnb." + ".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        for part in parts[depth:-1]:
            owner = getattr(owner, part)
        return owner, parts[-1]
    raise LookupError(path)


def scaled(result: Any, factor: float) -> Any:
    if isinstance(result, bool | np.bool_ | str) or result is None:
        raise TypeError(f"a formula returning {result!r} needs its own mutation")
    if isinstance(result, dict):
        return {key: scaled(part, factor) for key, part in result.items()}
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        return tuple(scaled(part, factor) for part in result)
    if is_dataclass(result):
        numbers = {f.name: getattr(result, f.name) for f in fields(result)}
        return replace(
            result, **{k: scaled(v, factor) for k, v in numbers.items() if isinstance(v, float | np.ndarray)}
        )
    return result * factor


def by(factor: float) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return lambda formula: lambda *args, **kwargs: scaled(formula(*args, **kwargs), factor)


COMMITTED = {row.claim: (row.status, row.evidence) for row in committed_ledger().itertuples()}
"""The verdicts of the formulas as they are; that every check still comes to it is tested with its notebook."""

GENERIC = {"x 1.01": by(1.01), "x 2": by(2.0), "x -1": by(-1.0)}


def own_mutations(source: str) -> dict[str, list[Any]]:
    path = Path(__file__).with_name(f"mutations_{source}.py")
    if not path.exists():
        return {}
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MUTATIONS


def controls() -> Iterator[Any]:
    for claim in claims.claims():
        own = own_mutations(claim.source)
        for path in claim.rests_on:
            mutations = {f"own {i}": m for i, m in enumerate(own[path])} if path in own else GENERIC
            for name, mutate in mutations.items():
                yield pytest.param(claim, path, mutate, id=f"{claim.id} {path} {name}")


def break_formula(monkeypatch: pytest.MonkeyPatch, path: str, mutate: Any) -> None:
    owner, name = owner_of(path)
    original = owner.__dict__[name]
    if isinstance(original, property):
        monkeypatch.setattr(owner, name, property(mutate(original.fget)))
    elif isinstance(original, classmethod):
        monkeypatch.setattr(owner, name, classmethod(mutate(original.__func__)))
    else:
        monkeypatch.setattr(owner, name, mutate(original))


def swapped() -> Iterator[Any]:
    for claim in claims.claims():
        for mechanism in sorted({path.rpartition(".")[0] for path in claim.rests_on if path.endswith((".p", ".q"))}):
            yield pytest.param(claim, mechanism, id=f"{claim.id} {mechanism} p and q swapped")


def verdict(claim: claims.Claim) -> tuple[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = claim.check()
        except Exception as error:
            return f"raises {type(error).__name__}", ""
    return found.status, found.evidence


def verdict_status(claim: claims.Claim) -> str:
    return verdict(claim)[0]


def changes(claim: claims.Claim) -> bool:
    """Whether the verdict is another; one that is open as committed says of broken routes that they disagree."""
    now, then = verdict(claim), COMMITTED[claim.id]
    return now != then if then[0] == "open" else now[0] != then[0]


@pytest.mark.parametrize(("claim", "path", "mutate"), list(controls()))
def test_a_broken_formula_changes_the_verdict(
    claim: claims.Claim, path: str, mutate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_formula(monkeypatch, path, mutate)
    assert changes(claim)


@pytest.mark.parametrize(("claim", "mechanism"), list(swapped()))
def test_swapping_p_and_q_changes_the_verdict(
    claim: claims.Claim, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, _ = owner_of(f"{mechanism}.p")
    p, q = owner.__dict__["p"], owner.__dict__["q"]
    monkeypatch.setattr(owner, "p", q)
    monkeypatch.setattr(owner, "q", p)
    assert changes(claim)
