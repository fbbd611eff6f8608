"""Decide Section 6 and Appendices C and D of Juarez and Korolova: dropouts and experiments."""

from itertools import product
from typing import Any

import numpy as np
from flint import arb

from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Floats
from ldpnb.claims import Evidence, Numbers, joined
from ldpnb.deciders import ball, digits, identity, symbols
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import clients as population
from ldpnb.papers.juarez2022 import printed, written_out
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.papers.juarez2022.section_4 import NOISE, SIGNS, c, d, n, nu2, t1
from ldpnb.papers.juarez2022.section_5 import FAILURE, means_are_unbiased
from ldpnb.papers.juarez2022.tables.gaps import HALF, MEASURED
from ldpnb.privacy import channel
from ldpnb.rng import stream

SEED = 2022
SETS = 50_000

SIGNS_SENT = "M_R as published"
NOISE_SENT = "M_L as published"
CODE = "M_L as in the code"
WAYS = (SIGNS_SENT, NOISE_SENT, CODE)
BUDGETS = (0.01, 0.1, 1.0, 10.0)
"""Budgets of Table 2."""

LEVEL = 1e-6
"""Probability that a test rejects a draw from the law, over all cells together."""

share, other_share, mean, other = symbols("share other_share mean other")


def section_6_dropouts(e: Evidence) -> Numbers:
    sizes = np.array([1000, 1000])
    shares = np.array([0.3, 0.1])
    value = 0.8
    left = np.diag(np.rint(sizes * (1 - shares)).astype(int))
    bias = gaps.misestimated_gap_bias(tuple(1 / (1 - shares)), (value, value))

    reported = []
    for mechanism in (DiscretisedMeans(1.0, 1.0), LaplaceMeans(0.5, 1.0)):
        means = []
        for weights in np.eye(2):
            estimate, _ = written_out.gap_moments(mechanism, left, [value, value], weights)
            means.append(estimate)
        reported.append(abs(means[0] - means[1]))

        by_whole_groups = np.array(means) * (1 - shares)
        e.same(by_whole_groups[0] - by_whole_groups[1], bias)
    e.needs(max(reported) < 1e-9)

    means_are_unbiased(e)
    factors = (1 / (1 - share), 1 / (1 - other_share))
    symbolic = gaps.misestimated_gap_bias(factors, (mean, other))
    e.proven(identity(symbolic, other_share * other - share * mean))
    return {
        "one": shares[0],
        "other": shares[1],
        "mean": value,
        "reported": max(reported),
        "bias": bias,
    }


def section_6_smpc(e: Evidence) -> Numbers:
    # Group and value of the clients that the aggregator knows, and the value of the last one.
    known_clients = [(0, 0.5), (0, -0.2), (1, 0.4), (1, 0.8)]
    last_value = 0.1

    measured = []
    for last_group in (0, 1):
        clients = [*known_clients, (last_group, last_value)]
        means = []
        for group in (0, 1):
            values = [value for of_group, value in clients if of_group == group]
            means.append(float(np.mean(values)))
        measured.append(tuple(means))

    # One column for either group of the last client, one row for each measurement.
    outcomes = sorted(set(measured))
    chances = np.array([[float(seen == outcome) for seen in measured] for outcome in outcomes])
    loss = channel.privacy_loss(chances).epsilon
    e.needs(np.isinf(loss))
    return {"known": len(known_clients), "loss": "infinite" if np.isinf(loss) else f"{loss:g}"}


def figure_4(e: Evidence) -> Numbers:
    size = int(printed.value("Figure 4", "group_size"))
    epsilon = printed.value("Repository", "figure_4_epsilon")
    stored = printed.value("Repository", "figure_4_theory")
    moment = printed.value("Repository", "figure_4_second_moment")

    mechanism = DiscretisedMeans.published(epsilon)
    stated = gaps.variance_discretised_mean(mechanism, size, 2 * size, moment)
    bound = gaps.variance_discretised_mean(mechanism, size, 2 * size, 0.0)
    e.needs(abs(stated - stored) < 1e-5)

    gain = SIGNS.gain
    added = (SIGNS.keep - gain * gain * nu2 + c * SIGNS.move) / (gain * gain * n)
    e.proven(identity(gaps.variance_discretised_mean(SIGNS, n, n + c * n, nu2), added))
    return {"stated": stated, "stored": stored, "bound": bound, "gap": stated + bound}


def moments_of_errors(name: str, epsilon: float) -> tuple[float, float, float]:
    """Return the standard deviation of the gap, and mean and deviation of its absolute error.

    The gap is of values, and the error of its absolute value is on the scale of rates.
    """
    data = population.published()
    sd = float(np.sqrt(data.gap(MEASURED[name](epsilon)).variance(data.second_moments)))
    gap = abs(data.true_gap)

    mean_error = float(gaps.absolute_gap_error(sd, gap)) / 2
    errors, chances = written_out.error_law(sd, gap)
    deviation = float(np.sqrt(errors**2 @ chances / 4 - mean_error**2))
    return sd, mean_error, deviation


def table_2_errors(e: Evidence) -> Numbers:
    runs = int(printed.value("Table 2", "runs"))
    gap = abs(population.published().true_gap)

    expected = {}
    ranks = {}
    tested = []
    for name, epsilon in product(WAYS, BUDGETS):
        sd, expected[name, epsilon], _ = moments_of_errors(name, epsilon)
        stated = printed.value("Table 2", f"{name[:3]} error eps={epsilon:g}")
        below = written_out.mean_error_cdf(2 * (stated + HALF), sd, gap, runs)
        under = written_out.mean_error_cdf(2 * (stated - HALF), sd, gap, runs)
        ranks[name, epsilon] = below
        if name != NOISE_SENT:
            tested.append(min(1.0, 2 * min(below, 1 - under)))
    e.simulated(min(tested) * len(tested) > LEVEL, false_alarm=LEVEL)

    words = {}
    for key, name in (("signs", SIGNS_SENT), ("noise", NOISE_SENT), ("code", CODE)):
        words[key] = joined((expected[name, epsilon] for epsilon in BUDGETS), ".4g")

    shown = product((SIGNS_SENT, CODE, NOISE_SENT), BUDGETS[:2])
    numbers = written_out.numbered(rank=[ranks[cell] for cell in shown])
    return words | numbers | {"cells": len(tested), "rarest": min(tested)}


def _tails(errors: Floats, deviation: float) -> tuple[float, float]:
    """Return how often sets of errors deviate as a printed number or beyond.

    The deviation divides by the number of errors, and then by one less.
    """
    runs = errors.shape[1]
    by_all = errors.std(axis=1)
    by_one_less = by_all * np.sqrt(runs / (runs - 1))
    return _tail(by_all, deviation), _tail(by_one_less, deviation)


def _tail(deviations: Floats, printed_deviation: float) -> float:
    """Return the share of deviations that are as far out as a printed one, or further."""
    above = np.mean(deviations >= printed_deviation - HALF)
    below = np.mean(deviations <= printed_deviation + HALF)
    return float(min(above, below))


def table_2_standard_deviations(e: Evidence) -> Numbers:
    gap = abs(population.published().true_gap)
    runs = int(printed.value("Table 2", "runs"))
    rng = stream("Table 2", "deviations", seed=SEED)

    def drawn(sd: float, sets: int) -> Floats:
        estimates = gap + sd * rng.standard_normal((sets, runs))
        return np.asarray(np.abs(np.abs(estimates) - gap) / 2)

    tails_of = {}
    cells = printed.table_2()[["mechanism", "epsilon", "sd"]]
    for short, epsilon, stated in cells.itertuples(index=False):
        name = SIGNS_SENT if short == "M_R" else CODE
        sd, mean_error, deviation = moments_of_errors(name, epsilon)
        off = drawn(sd, SETS)
        e.sure(abs(off.mean() - mean_error) < 6 * deviation / np.sqrt(off.size))
        tails_of[short, epsilon] = max(_tails(off, stated))

    short, place = min(tails_of, key=lambda cell: tails_of[cell])
    e.sure(short == "M_R")
    shown = printed.value("Table 2", f"{short} sd eps={place:g}")
    sd, _, _ = moments_of_errors(SIGNS_SENT, place)
    by_ten, by_nine = _tails(drawn(sd, 20 * SETS), shown)
    e.simulated(by_nine * len(tails_of) > LEVEL, false_alarm=LEVEL)
    e.tried(True)  # one draw of ten runs, which cannot be repeated

    others = sorted(tails_of.values())[1:]
    return {
        "others": len(others),
        "least": others[0],
        "place": place,
        "shown": shown,
        "by_nine": by_nine,
        "by_ten": by_ten,
    }


def appendix_d_rates(e: Evidence) -> Numbers:
    male, female = population.published_rates("true_positive_rate")
    false_male, false_female = population.published_rates("false_positive_rate")
    stored = [printed.value("Repository", f"tpr_{group}") for group in population.GROUPS]
    stored_false = [printed.value("Repository", f"fpr_{group}") for group in population.GROUPS]

    # all but the men's first rate, of which two digits are exchanged
    as_stored = np.round([stored[1], *stored_false], 4)
    e.same([female, false_male, false_female], as_stored)

    stated = printed.value("Appendix D", "tpr_gap")
    false_gap = printed.value("Appendix D", "fpr_gap")
    e.sure(abs(stored[0] - stored[1] - stated) < 1e-4)
    e.needs(abs(false_female - false_male - false_gap) <= 1.01e-4)
    e.needs(abs(stored_false[1] - stored_false[0] - false_gap) < 1e-4)
    exactly = ball(f"{male}") - ball(f"{female}")
    e.decides(digits(exactly, printed.text("Appendix D", "tpr_gap")))

    off = {}
    for key in ("accuracy", "tpr", "fpr"):
        off[key] = printed.value("Appendix D", key) - printed.value("Repository", key)
    e.sure(max(abs(off["accuracy"]), abs(off["tpr"])) <= 1e-4)
    e.needs(abs(off["fpr"]) <= 1e-4)
    return {
        "male": 100 * male,
        "female": 100 * female,
        "gap": 100 * (male - female),
        "stated": 100 * stated,
        "stored": stored[0],
        "fpr": printed.value("Repository", "fpr"),
        "off": 100 * off["fpr"],
    }


def appendix_d_synthetic_data(e: Evidence) -> Numbers:
    of_men, of_women = population.published_rates("sessions")
    rooms = []
    for group in population.GROUPS:
        rooms.append(sum(printed.value("UCI", f"{group}_room_{room}") for room in (1, 2)))
    e.same([of_men, of_women], rooms)

    # the probability that all counts are the same, certified
    rows = [printed.value("Repository", f"rows_{group}") for group in population.GROUPS]
    kinds = int(printed.value("Repository", "distinct_sessions_male"))
    copies = int(printed.value("Repository", "copies_male"))
    draws = kinds * copies
    e.sure(of_men == kinds)
    e.sure(draws == rows[0])
    chance = arb(draws + 1).lgamma() - kinds * arb(copies + 1).lgamma() - draws * arb(kinds).log()
    e.decides(bool(chance > arb(LEVEL).log()))

    share_of_men = of_men / (of_men + of_women)
    e.needs(abs(rows[0] / sum(rows) - share_of_men) < 1e-3)

    fnr = [printed.value("Repository", f"mean_fnr_{group}") for group in population.GROUPS]
    left = [1 - printed.value("Repository", f"tpr_{group}") for group in population.GROUPS]
    e.needs(max(abs(np.subtract(fnr, left))) < HALF)
    numbers = {
        "rows": rows[0],
        "share": share_of_men,
        "kinds": kinds,
        "copies": copies,
        "chance": float(chance.mid()),
        "kept": printed.value("Repository", "distinct_sessions_female"),
        "women": of_women,
        "gap": fnr[1] - fnr[0],
        "stated": left[1] - left[0],
    }
    return numbers | written_out.numbered(mean=fnr, left=left)


def appendix_d_bounds(e: Evidence) -> Numbers:
    data = population.published()
    ratios = {}
    for name, epsilon in product((SIGNS_SENT, NOISE_SENT), BUDGETS):
        bound = data.gap(MEASURED[name](epsilon)).error_bound(FAILURE) / 2
        _, mean_error, _ = moments_of_errors(name, epsilon)
        ratios[name, epsilon] = bound / mean_error

    every = np.array(list(ratios.values()))
    e.sure(every.min() > 10)
    e.needs(every.min() >= 100)

    # the worst values are worst
    signs_lost = variance_lost(gaps.variance_discretised_mean, SIGNS, 0)
    noise_lost = variance_lost(gaps.variance_laplace_mean, NOISE, 1)
    e.proven(identity(signs_lost, nu2 / n))
    e.proven(identity(noise_lost * n / (1 - nu2), (d - 1) / t1))
    return {
        "signs": ratios[SIGNS_SENT, 0.01],
        "noise": ratios[NOISE_SENT, 0.01],
        "low": every.min(),
        "high": every.max(),
    }


def variance_lost(formula: Any, mechanism: Any, worst_moment: int) -> Any:
    """Return by how much a variance is below that at the worst second moment, as a symbol."""
    size_and_users = (n, n + c * n)
    at_worst = formula(mechanism, *size_and_users, worst_moment)
    return at_worst - formula(mechanism, *size_and_users, nu2)


def appendix_d_less_budget(e: Evidence) -> Numbers:
    clients = int(printed.value("Table 2", "clients"))
    table = printed.table_1()
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
    e.needs(max(shares) < 1)

    exactly = budgets.smallest_epsilon(
        MEASURED[SIGNS_SENT], clients, 0.01, failure=FAILURE, tail="exact"
    )
    e.same(exactly, numbers["signs"], rel=1e-3)
    return numbers | {"least": min(shares), "most": max(shares), "binomial": exactly}
