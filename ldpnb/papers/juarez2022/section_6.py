"""What decides Section 6 and Appendices C and D of juarez2022: dropouts, costs, and the experiments of Table 2."""

from itertools import product
from typing import Any

import numpy as np
from flint import arb

from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Floats
from ldpnb.claims import WORDS, Evidence, Numbers, joined, within
from ldpnb.deciders import ball, digits, identity, symbols
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import clients as population
from ldpnb.papers.juarez2022 import printed, written_out
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.papers.juarez2022.section_4 import NOISE, SIGNS, c, d, n, nu2, t1
from ldpnb.papers.juarez2022.section_5 import FAILURE, means_are_unbiased
from ldpnb.papers.juarez2022.tables.gaps import HALF, MEASURED
from ldpnb.rng import stream

SEED, SETS = 2022, 50_000
SIGNS_SENT, NOISE_SENT, CODE = WAYS = ("M_R as published", "M_L as published", "M_L as in the code")
BUDGETS = (0.01, 0.1, 1.0, 10.0)
"""Mechanisms and budgets of Table 2."""
LEVEL = 1e-6
"""Chance with which a test rejects what is printed though it is a draw from the law, over all cells together."""
share, other_share, mean, other = symbols("share other_share mean other")


def section_6_dropouts(e: Evidence) -> Numbers:
    sizes, shares, value = np.array([1000, 1000]), np.array([0.3, 0.1]), 0.8
    left, reported = np.diag(np.rint(sizes * (1 - shares)).astype(int)), []
    bias = gaps.misestimated_gap_bias(tuple(1 / (1 - shares)), (value, value))
    for m in (DiscretisedMeans(1.0, 1.0), LaplaceMeans(0.5, 1.0)):
        means = np.array(
            [written_out.gap_moments(m, left, [value, value], weights)[0] for weights in np.eye(2)]
        )
        reported.append(abs(means[0] - means[1]))
        e.same(means @ ((1, -1) * (1 - shares)), bias)
    e.needs(max(reported) < 1e-9)
    means_are_unbiased(e)
    factors = 1 / (1 - share), 1 / (1 - other_share)
    e.proven(
        identity(
            gaps.misestimated_gap_bias(factors, (mean, other)), other_share * other - share * mean
        )
    )
    return {
        "one": shares[0],
        "other": shares[1],
        "mean": value,
        "reported": max(reported),
        "bias": bias,
    }


def section_6_costs(e: Evidence) -> Numbers:
    for number in (2, 3, 5):
        e.needs(len(DiscretisedMeans(1.0, 1.0, number).channel()) == 2 * number)
        law = LaplaceMeans(0.5, 1.0, groups=number).law(0, 0.5)
        e.same(law[:, 0].sum(), 1)
        e.tried(law.shape == (number, 3))
    outputs = len(DiscretisedMeans(1.0, 1.0).channel())
    return {"outputs": outputs, "bits": np.log2(outputs)}


def figure_4(e: Evidence) -> Numbers:
    size, moment = (
        int(printed.value("Figure 4", "group_size")),
        printed.value("Repository", "figure_4_second_moment"),
    )
    epsilon, stored = (
        printed.value("Repository", f"figure_4_{name}") for name in ("epsilon", "theory")
    )
    mechanism = DiscretisedMeans.published(epsilon)
    stated, bound = (
        gaps.variance_discretised_mean(mechanism, size, 2 * size, m) for m in (moment, 0.0)
    )
    gain, keep, move = SIGNS.gain, SIGNS.keep, SIGNS.move
    added = (keep - gain * gain * nu2 + c * move) / (gain * gain * n)
    e.proven(identity(gaps.variance_discretised_mean(SIGNS, n, n + c * n, nu2), added))
    e.needs(abs(stated - stored) < 1e-5)
    return {"stated": stated, "stored": stored, "bound": bound, "gap": stated + bound}


def laws_of_errors(name: str, epsilon: float) -> tuple[float, float, float]:
    """Return the estimated gap's standard deviation, and mean and deviation of the absolute gap's error in rates."""
    data = population.published()
    sd, gap = (
        float(np.sqrt(data.gap(MEASURED[name](epsilon)).variance(data.second_moments))),
        abs(data.true_gap),
    )
    mean = float(gaps.absolute_gap_error(sd, gap)) / 2
    errors, chances = written_out.error_law(sd, gap)
    return sd, mean, float(np.sqrt(errors**2 @ chances / 4 - mean**2))


def table_2_errors(e: Evidence) -> Numbers:
    data, runs = population.published(), int(printed.value("Table 2", "runs"))
    gap, expected, ranks, tested = abs(data.true_gap), {}, {}, []
    for name, epsilon in product(WAYS, BUDGETS):
        sd, expected[name, epsilon], _ = laws_of_errors(name, epsilon)
        stated = printed.value("Table 2", f"{name[:3]} error eps={epsilon:g}")
        below, under = (
            written_out.mean_error_cdf(2 * (stated + half), sd, gap, runs) for half in (HALF, -HALF)
        )
        ranks[name, epsilon] = below
        if name != NOISE_SENT:
            tested.append(min(1.0, 2 * min(below, 1 - under)))
    e.simulated(min(tested) * len(tested) > LEVEL, false_alarm=LEVEL)
    means = {name: joined((expected[name, epsilon] for epsilon in BUDGETS), ".4g") for name in WAYS}
    words = dict(zip(("signs", "noise", "code"), means.values(), strict=True))
    shown_ranks = [
        ranks[name, epsilon] for name in (SIGNS_SENT, CODE, NOISE_SENT) for epsilon in BUDGETS[:2]
    ]
    return (
        words
        | written_out.numbered(rank=shown_ranks)
        | {"cells": len(tested), "rarest": min(tested)}
    )


def _tails(errors: Floats, deviation: float) -> tuple[float, float]:
    """Return how often sets of errors deviate as a printed number or beyond, dividing by their number or one less."""
    deviations = (errors.std(axis=1, ddof=lost) for lost in (0, 1))
    ten, nine = (
        min(np.mean(f >= deviation - HALF), np.mean(f <= deviation + HALF)) for f in deviations
    )
    return float(ten), float(nine)


def table_2_standard_deviations(e: Evidence) -> Numbers:
    gap, runs, tails_of = (
        abs(population.published().true_gap),
        int(printed.value("Table 2", "runs")),
        {},
    )
    rng = stream("Table 2", "deviations", seed=SEED)

    def drawn(sd: float, sets: int) -> Floats:
        return np.asarray(np.abs(np.abs(gap + sd * rng.standard_normal((sets, runs))) - gap) / 2)

    for short, epsilon, stated in printed.table_2()[["mechanism", "epsilon", "sd"]].itertuples(
        index=False
    ):
        sd, mean_error, deviation = laws_of_errors(SIGNS_SENT if short == "M_R" else CODE, epsilon)
        off = drawn(sd, SETS)
        e.sure(abs(off.mean() - mean_error) < 6 * deviation / np.sqrt(off.size))
        tails_of[short, epsilon] = max(_tails(off, stated))
    short, place = min(tails_of, key=lambda cell: tails_of[cell])
    shown = printed.value("Table 2", f"{short} sd eps={place:g}")
    by_ten, by_nine = _tails(drawn(laws_of_errors(SIGNS_SENT, place)[0], 20 * SETS), shown)
    e.sure(short == "M_R")
    e.simulated(by_nine * len(tails_of) > LEVEL, false_alarm=LEVEL)
    e.tried(True)  # one draw of ten runs, which cannot be repeated
    others = sorted(tails_of.values())[1:]
    numbers = {"others": len(others), "least": others[0], "place": place, "shown": shown}
    return numbers | {"by_nine": by_nine, "by_ten": by_ten}


def appendix_d_rates(e: Evidence) -> Numbers:
    (male, female), false = map(
        population.published_rates, ("true_positive_rate", "false_positive_rate")
    )
    stored = [
        [printed.value("Repository", f"{m}_{g}") for g in population.GROUPS] for m in ("tpr", "fpr")
    ]
    stated = printed.value("Appendix D", "tpr_gap")
    e.same(
        [female, *false], np.round([stored[0][1], *stored[1]], 4)
    )  # but not the men's first: digits are exchanged
    e.sure(abs(stored[0][0] - stored[0][1] - stated) < 1e-4)
    false_gap = printed.value("Appendix D", "fpr_gap")
    e.needs(
        abs(false[1] - false[0] - false_gap) <= 1.01e-4
        and abs(stored[1][1] - stored[1][0] - false_gap) < 1e-4
    )
    e.decides(digits(ball(f"{male}") - ball(f"{female}"), printed.text("Appendix D", "tpr_gap")))
    off = {
        m: printed.value("Appendix D", m) - printed.value("Repository", m)
        for m in ("accuracy", "tpr", "fpr")
    }
    e.sure(max(abs(off["accuracy"]), abs(off["tpr"])) <= 1e-4)
    e.needs(abs(off["fpr"]) <= 1e-4)
    numbers = {
        "male": 100 * male,
        "female": 100 * female,
        "gap": 100 * (male - female),
        "stated": 100 * stated,
    }
    return numbers | {
        "stored": stored[0][0],
        "fpr": printed.value("Repository", "fpr"),
        "off": 100 * off["fpr"],
    }


def appendix_d_synthetic_data(e: Evidence) -> Numbers:
    of_men, of_women = population.published_rates("sessions")
    rows, fnr = (
        [printed.value("Repository", f"{m}_{sex}") for sex in population.GROUPS]
        for m in ("rows", "mean_fnr")
    )
    kinds, copies = (
        int(printed.value("Repository", name)) for name in ("distinct_sessions_male", "copies_male")
    )
    rooms = [
        [printed.value("UCI", f"{sex}_room_{room}") for room in (1, 2)] for sex in population.GROUPS
    ]
    e.same([of_men, of_women], np.sum(rooms, axis=1))
    e.sure(of_men == kinds and kinds * copies == rows[0])
    draws = kinds * copies  # the chance that all counts are the same, certified
    chance = arb(draws + 1).lgamma() - kinds * arb(copies + 1).lgamma() - draws * arb(kinds).log()
    e.decides(bool(chance > arb(LEVEL).log()))
    share_of_men = of_men / (of_men + of_women)
    e.needs(abs(rows[0] / sum(rows) - share_of_men) < 1e-3)
    left = [1 - printed.value("Repository", f"tpr_{sex}") for sex in population.GROUPS]
    e.needs(max(abs(np.subtract(fnr, left))) < HALF)
    numbers = {
        "rows": rows[0],
        "share": share_of_men,
        "kinds": kinds,
        "copies": copies,
        "chance": float(chance.mid()),
    }
    numbers |= {"kept": printed.value("Repository", "distinct_sessions_female"), "women": of_women}
    return (
        numbers
        | {"gap": fnr[1] - fnr[0], "stated": left[1] - left[0]}
        | written_out.numbered(mean=fnr, left=left)
    )


def appendix_d_bounds(e: Evidence) -> Numbers:
    data, ratios = population.published(), {}
    for name, epsilon in product(WAYS[:2], BUDGETS):
        bound = data.gap(MEASURED[name](epsilon)).error_bound(FAILURE) / 2
        ratios[name, epsilon] = bound / laws_of_errors(name, epsilon)[1]
    every = np.array(list(ratios.values()))
    e.sure(every.min() > 10)
    e.needs(every.min() >= 100 and within("near", every, 10))
    worst: Any = (gaps.variance_discretised_mean, SIGNS, 0), (gaps.variance_laplace_mean, NOISE, 1)
    lost, gained = (f(m, n, n + c * n, moment) - f(m, n, n + c * n, nu2) for f, m, moment in worst)
    e.proven(
        identity(lost, nu2 / n) and identity(gained * n / (1 - nu2), (d - 1) / t1)
    )  # the worst values are worst
    met = int(np.sum((every <= 10 * WORDS["near"]) & (every >= 10 / WORDS["near"])))
    numbers = {
        "signs": ratios[SIGNS_SENT, 0.01],
        "noise": ratios[NOISE_SENT, 0.01],
        "cells": len(ratios),
    }
    return numbers | {"low": every.min(), "high": every.max(), "met": met}


def appendix_d_less_budget(e: Evidence) -> Numbers:
    clients, table = int(printed.value("Table 2", "clients")), printed.table_1()
    finite = table[(table["clients"] == clients) & np.isfinite(table["printed"])]
    shares: list[float] = []
    numbers: dict[str, float] = {}
    for name, _, alpha, stated, _ in finite.itertuples(index=False):
        family = MEASURED[f"{name} as published"]
        enough = budgets.smallest_epsilon(family, clients, alpha, failure=FAILURE, tail="normal")
        shares.append(enough / stated)
        if alpha == 0.01:
            key = {"M_R": "signs", "M_L": "noise"}[name]
            numbers |= {key: enough, f"{key}_printed": stated}
    e.needs(max(shares) < 0.5)
    exactly = budgets.smallest_epsilon(
        MEASURED[SIGNS_SENT], clients, 0.01, failure=FAILURE, tail="exact"
    )
    e.same(exactly, numbers["signs"], rel=1e-3)
    return numbers | {"least": min(shares), "most": max(shares), "binomial": exactly}
