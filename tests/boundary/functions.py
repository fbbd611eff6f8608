"""Every public function, class and method with every hostile value in place of each of its arguments."""

import inspect
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from guarded import another_call, chance, report, sample, silent
from kinds import HOSTILE, new, shown

import ldpnb as ldp
from ldpnb.accuracy.allocation import Family
from ldpnb.data.download import DownloadError

CHANNEL = [[0.7, 0.3], [0.3, 0.7]]
CHANCE = chance("functions")
FOLDER = Path(tempfile.gettempdir())


TABLES = {
    "channel": "0.7,0.3\n0.3,0.7\n",
    "ages": "age,sex\n" + "20,f\n30,m\n" * 20,
    "classes": "class,size,rate\na,50,0.2\nb,50,0.4\n",
    "clusters": "size\n10\n12\n9\n",
    "strata": "stratum,size\na,50\nb,40\n",
    "weights": "weight\n1\n2\n1\n",
}


def examples() -> dict[str, Any]:
    """A good value for every argument, by its name or by ``function.name``; its kind follows from the value."""
    kary = ldp.KaryRandomisedResponse(1.0, 4)
    means = ldp.DiscretisedMeans(1.0, 1.0)
    table, survey = FOLDER / "ages.csv", ldp.SampledCounts(100, 0.5, kary)
    return {
        "epsilon": 1.0, "epsilon_after": 1.0, "sensitivity": 1.0, "sizes": [10, 20], "chosen": 1, "changed": 0, "users": 100,
        "group_epsilon": 1.0, "value_epsilon": 1.0, "groups": 2, "domain_size": 4, "k": 2.0, "upper": 1.0, "rate": 0.5,
        "neighbour_rate": 0.5, "inside": [0.5, 0.5], "neighbour_inside": [0.5, 0.5], "outside": [0.5, 0.5],
        "neighbour_outside": [0.5, 0.5], "rates": [0.5, 1.0], "means": [0.2, 0.4], "variances": [0.1, 0.2], "subset_size": 2,
        "p": 0.5, "q": 0.25, "miss_rate": 0.5, "truthful_rate": 0.25, "estimate": 0.1, "sd": 0.1, "level": 0.9, "column": "age",
        "one": [1.0], "other": [1.0], "rel": 1e-9, "abs": 1e-9, "distributions": CHANNEL, "tolerance": 1e-3,
        "population": 50, "sampling_rate": 0.5, "channel": CHANNEL, "identifier": "bun2022/theorem-5.1", "distribution": [0.5, 0.5],
        "delta_at": lambda epsilon: 0.5 / (1 + epsilon), "delta": 1e-6, "largest": 100.0, "prior": [0.5, 0.5], "smallest": 0.01,
        "estimators": {"k": lambda t: t / t.sum(-1, keepdims=True)}, "standard_deviations": [0.1, 0.2], "tallies": [30, 20, 30, 20],
        "size": 10, "sums": [5.0, 6.0], "first": {(0,): 0.5, (1,): 0.5}, "second": {(0,): 0.4, (1,): 0.6}, "mechanism": kary,
        "path": str(FOLDER / "channel.csv"), "data": str(table), "lowest_rate": 0.2, "highest_rate": 0.8, "total": 10.0,
        "question": ldp.Frequency(users=10_000, epsilon=1.0, failure=0.1, values=4), "tail": "best", "vector": [0.2, 0.9],
        "law": ldp.binomial_size(20, 0.5), "probabilities": [0.5, 0.5], "pair": (0, 1), "alpha": 0.1, "failure": 0.1,
        "family": lambda e: ldp.DiscretisedMeans(e / 2, e / 2), "key": "x", "seed": 1, "error": 0.1, "design": ldp.Design(),
        "values": [0, 1, 2], "counts": [5, 5, 5, 5], "rng": ldp.stream("x", seed=1), "outputs": [[1, 0, 0, 0]],
        "group": "", "bins": 0, "low": 0.0, "high": 100.0, "bits": 10, "shares": (0.5, 0.5), "forms": "sharp", "form": "sharp",
        "protects": "report", "kind": "everyone", "neighbours": "replacement", "simultaneous": False, "binary": False,
        "reversed_noise": False, "categories": (), "dates": "", "most": 100, "report": False, "record_rate": 0.5,
        "release": 1.0, "entropy": 0.5, "jitter": False, "log_information": 1.0, "log_frequencies": -1.0,
        "concentration": 0.5, "repetitions": 3, "second_moments": [0.5, 0.5], "size_factors": [1.0, 1.0], "value": 0.5,
        "exact": [0.5], "released": [0.5], "reports": [0.5], "subset": 1, "cells": 3, "draws": 10, "looks": True,
        "precision": 0.01, "reference": 0, "best_rule.family": Family((2, 2), (1.0, 1.0)), "best_rule.total": 3,
        "share": 0.3, "clusters": 40, "survey": survey, "rescaled": 10.0, "epsilons": [0.5, 1.0], "amplified": lambda e: e / 2,
        "weights": [1.0, 2.0], "answers": 1000, "dropped": [0.1, 0.2], "randomiser": kary, "name": "epsilon", "sample": b"a,b\n1,2\n",
        "suffix": ".csv", "public": [[1, -1, 1, 1]] * 3, "centre": 1.0, "holders": [60, 20, 10, 10], "claimed": 1.0, "way": "one",
        "ClusterDesign.size": 5, "Power.answers": 1000, "Power.gap": 0.1, "Power.power": None, "Power.epsilon": 1.0,
        "Survey.design": ldp.SimpleDesign(1000), "Survey.count": 100, "Survey.error": 0.1, "Survey.failure": None,
        "Survey.epsilon": 1.0, "SampledCounts.holders": 10, "pilot.path": str(table), "pilot.value": "age", "pilot.ends": (0.0, 100.0),
        "Reading.completed.sample": b"a,b\n1,2\n", "SurveyQuestions.weights": (1.0, 2.0), "PersonalRates.holders": [5, 10],
        "estimated_sizes_variance.mechanism": means, "dropout_error.mechanism": means, "self_sized_means.mechanism": means,
        "self_sized_means.tallies": [[30, 20], [30, 20]], "SignRandomiser.values": [0, 1, 2], "audit.rng": ldp.stream("x", seed=1),
        "asked": [4.0, 3.0], "costs": [1.0, 2.0], "Strata.total": 10, "budget": 100.0, "variance": 0.01, "sample_means": [0.5, 0.6], "Strata.drawn": [2.0, 3.0],
        "Strata.variances": [0.1, 0.2], **{f"load_{name}.path": str(FOLDER / f"{name}.csv") for name in TABLES},
        "posterior.tallies": [30, 20], "mle.tallies": [30, 20], "support_mle.outputs": [[1, 0, 0, 0], [0, 1, 0, 0]],
        "support_mle.tallies": [30, 20], "posterior.prior": 0.5, "group_means.mechanism": means, "GroupGap.mechanism": means,
        "SignedBit.sizes": (10, 20), "total_variation.mechanism": ldp.LaplaceMeans(1.0, 1.0), "load_groups.group": "sex",
        "largest_loss.mechanism": "deletion", "SampledCounts.data": "fixed", "load_groups.groups": (), "load_counts.kind": "auto",
        "load_counts.outside": "error", "load_groups.outside": "error", "users_needed.mechanism": ldp.OneBit(1.0),
        "Column.labels": ("a", "b"), "Column.counts": [1, 2], "Column.numbers": [0.0, 1.0], "GroupGap.tail": "chebyshev",
        "smallest_epsilon.tail": "chebyshev", "CentralLaplace.values": [0.5], "LocalLaplace.values": [0.5], "OneBit.values": [0.5],
        "CentralLaplace.counts": [5], "LocalLaplace.counts": [5], "OneBit.counts": [5], "OneBit.sums": 5.0,
        "SignedBit.values": [0.5, -0.5, 1.0], "SignedLaplace.values": [0.5, -0.5, 1.0], "SignedBit.groups": [0, 1, 0],
        "SignedLaplace.groups": [0, 1, 0], "DiscretisedMeans.values": [0.5, -0.5, 1.0], "LaplaceMeans.values": [0.5, -0.5, 1.0],
        "DiscretisedMeans.randomize.groups": [0, 1, 0], "LaplaceMeans.randomize.groups": [0, 1, 0], "LaplaceMeans.law.group": 0,
        "load_counts.low": 0.0, "load_counts.high": 100.0, "load_counts.bins": 5, "load_groups.low": 0.0, "load_groups.high": 100.0,
        "Inclusion.inside": 1.0, "Inclusion.neighbour_inside": 1.0, "Inclusion.outside": 1.0, "Inclusion.neighbour_outside": 1.0,
        "hajek.tallies": [[3, 2, 3, 2]] * 2, "hajek.rates": [0.5, 1.0], "horvitz_thompson.tallies": [[3, 2, 3, 2]] * 2,
        "horvitz_thompson.rates": [0.5, 1.0], "group_means.sums": [5.0, 6.0], "UnaryEncoding.outputs": [[1, 0, 0, 0]],
        "DiscretisedMeans.sample_sums.counts": [[5] * 3, [4] * 3], "LaplaceMeans.sample_sums.counts": [[5] * 3, [4] * 3],
        "DiscretisedMeans.sample_tallies.counts": [[5] * 3, [4] * 3], "SignedBit.sample_sums.counts": [[5] * 3, [4] * 3],
        "SignedLaplace.sample_sums.counts": [[5] * 3, [4] * 3], "Strata.sizes": [30, 20],
    }  # fmt: skip


LEFT_OUT = {"Audit", "Blanket", "Column", "Evidence", "Verdict", "claim", "agree", "decide"}
"""What the package fills itself or whose arguments are code of one's own; `decide` answers names only."""

PLANNED = ("invited", "loss", "people", "proxy", "scale", "variance", "drawn", "sample", "describe", "notes", "reach")
PLANNED += ("chances", "variances", "with_value", "loss_without", "draws", "given_lots", "least_scale", "split")
PLANNED += ("visible", "answering", "notes_on_scale", "lottery", "known_scale")
"""What designs answer to a plan, which has checked the arguments."""

UNCHECKED = ("with_value",)
"""What questions answer to their formulas, "with one field changed, unchecked"."""

METHODS: dict[str, dict[str, dict[str, Any]]] = {}
"""Good arguments of the methods of every class, which are called on what its hostile arguments make."""

SLOW = {"exact_risks": "users", "gaussian_deviation": "epsilon", "SurveyQuestions.for_error": "binary"}
"""What takes long or fails at one end of a range on purpose: up to 200,000 tallies, and deviations beyond 1e300; and a
search for answers whose bits are distributed exactly, seconds.
"""


def kind_of(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return "number"
    return "name" if isinstance(value, str) else "list" if isinstance(value, list | tuple) else "object"


def given(function: Callable[..., Any], name: str, known: dict[str, Any]) -> dict[str, Any]:
    """Return good arguments of a function."""
    found = {}
    for p in inspect.signature(function).parameters.values():
        own = [key for key in (f"{name}.{p.name}", f"{name.split('.')[0]}.{p.name}") if key in known]
        named = p.default is p.empty or "factory" in repr(p.default)
        value = known[own[0]] if own else known.get(p.name, p.default) if named else p.default
        assert value is not p.empty, f"{name} has a new argument {p.name}: give `examples` a good value"
        found[p.name] = value
    return found


def callables(known: dict[str, Any]) -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    for name in ldp.__all__:
        thing = getattr(ldp, name)
        if not callable(thing) or name in LEFT_OUT:
            continue
        good = given(thing, name, known)
        yield name, thing, good
        if not inspect.isclass(thing):
            continue
        made = called(thing, good)
        for method, _ in inspect.getmembers(thing, inspect.isfunction):
            if not method.startswith("_") and method not in (PLANNED if name.endswith("Design") else UNCHECKED):
                function = getattr(made, method)
                arguments = given(function, f"{name}.{method}", known)
                if f"{name}.{method}" not in SLOW:
                    METHODS.setdefault(name, {})[method] = arguments
                yield f"{name}.{method}", function, arguments


def called(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    positional = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.VAR_POSITIONAL]
    rest = {name: value for name, value in arguments.items() if name not in positional}
    return function(*(arguments[name] for name in positional), **rest)


def cases() -> Iterator[tuple[str, Callable[..., Any], dict[str, Any], str, Any]]:
    known, drawn = examples(), new(CHANCE)
    for name, function, good in callables(known):
        called(function, good)  # else every hostile value would meet the same refusal
        for argument, value in good.items():
            if SLOW.get(name) == argument:
                continue
            wanted = known.get(f"{name.split('.')[0]}.{argument}", known.get(argument, value))
            kind = kind_of(wanted)
            for hostile in (*HOSTILE.get(kind, ()), *drawn.get(kind, ())):
                yield name, function, good, argument, hostile


def said(case: tuple[str, Callable[..., Any], dict[str, Any], str, Any]) -> str:
    """Return what is wrong with the answer, or nothing."""
    name, function, good, argument, hostile = case
    try:
        with silent():
            made = called(function, good | {argument: hostile})
            for method, own in METHODS.get(name, {}).items():
                another_call()
                called(getattr(made, method), own)
    except (ValueError, TypeError, DownloadError) as error:
        return judged(str(error), type(error).__name__)
    except OSError as error:
        return "" if error.filename else f"OSError without a path: {error}"
    except MemoryError as error:
        return "" if "Unable to allocate" in str(error) else "MemoryError"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return ""


def judged(message: str, kind: str) -> str:
    """A message is one line."""
    long = "\n" in message or len(message) > 1000
    return f"{kind} of {len(message)} characters: {message[:80]!r}" if long else ""


def show(case: tuple[str, Callable[..., Any], dict[str, Any], str, Any]) -> str:
    return f"{case[0]}({case[3]}={shown(case[4])})"


def main() -> None:
    global FOLDER
    FOLDER = Path(tempfile.mkdtemp())
    os.chdir(FOLDER)
    for name, text in TABLES.items():
        (FOLDER / f"{name}.csv").write_text(text)
    report(said, sample(list(cases()), 800, CHANCE), show)


if __name__ == "__main__":
    main()
