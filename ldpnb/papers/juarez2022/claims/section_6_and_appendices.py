"""Section 6 and Appendices C and D of juarez2022: dropouts, the variance validated, the experiments of Table 2."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import gaps
from ldpnb.claims import Evidence, claim, within
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms import groups, moves
from ldpnb.papers.juarez2022 import clients as population
from ldpnb.papers.juarez2022 import printed, routes
from ldpnb.papers.juarez2022.claims import section_5_tables
from ldpnb.papers.juarez2022.claims.section_5_tables import BUDGETS
from ldpnb.papers.juarez2022.proofs import errors
from ldpnb.rng import stream

SEED, RUNS, SETS = 2022, 4000, 50_000
LEVEL = 1e-6
"""Chance with which a test rejects what is printed though it is a draw from the law, over all cells together."""
HALF = 5e-5
"""Half a unit of the last printed digit."""
FAMILIES = section_5_tables.FAMILIES | {"code": lambda epsilon: groups.LaplaceMeans.executed(epsilon)}

later = partial(claim, kind="identity", reach="all parameters")


@later(
    "Section 6, dropouts",
    gaps.misestimated_gap_bias,
    groups.DiscretisedMeans.gain,
    groups.LaplaceMeans.gain,
    groups.DiscretisedMeans.channel,
    groups.LaplaceMeans.law,
    moves.sign_probabilities,
    kind="enumeration",
    otherwise="corrected",
    assumption="Definition 5.1 as it stands: sums are divided by the sizes n of the whole groups. It is true that "
    "reports are independent, so that no dropout stops the protocol",
    corrected="where a share d_G of a group drops out, unrelated to the values, its estimated mean is (1 - d_G) m_G, "
    "and the gap is off by d_H m_H - d_G m_G for any K; divide by the numbers of those who report, if they are known",
    over="eps1, eps2, k > 0, every number and all sizes of groups, all shares below 1 and all means",
    argument="the estimate is linear in what every client adds",
)
def dropouts(e: Evidence) -> str:
    """the mechanisms are robust to client dropouts"""
    sizes, shares, values = np.array([1000, 1000]), np.array([0.3, 0.1]), [0.8, 0.8]
    left = np.diag(np.rint(sizes * (1 - shares)).astype(int))
    bias = gaps.misestimated_gap_bias(tuple(1 / (1 - shares)), tuple(values))
    for mechanism in (groups.DiscretisedMeans(1.0, 1.0), groups.LaplaceMeans(0.5, 1.0)):
        means = [routes.mean_moments(mechanism, left, values, group)[0] for group in (0, 1)]
        e.same(mechanism.gain, routes.printed_gain(mechanism))
        first, second = np.array(means) * (1 - shares)
        e.same(first - second, bias)
    e.proven(errors.means_are_unbiased() and errors.dropouts_are_a_bias())
    e.needs(abs(bias) < 1e-9)
    return (
        f"if {shares[0]:.0%} of one group and {shares[1]:.0%} of the other drop out, two groups of mean {values[0]:g} "
        f"show a gap of {bias:.2f}, with {sizes[0]} clients each as with any number"
    )


@later(
    "Figure 4",
    gaps.variance_discretised_mean,
    groups.DiscretisedMeans.channel,
    groups.DiscretisedMeans.gain,
    groups.DiscretisedMeans.keep,
    groups.DiscretisedMeans.move,
    groups.DiscretisedMeans.published,
    kind="enumeration",
    over="the expectation of every run, for every epsilon, all sizes and values; the published line at its setting",
    argument="the mean of independent runs tends to their expectation (law of large numbers)",
)
def figure_4(e: Evidence) -> str:
    """the empirical mean squared error over runs of M_R on 10 + 10 clients approaches the theoretical one"""
    size, nu2 = int(printed.value("Figure 4", "group_size")), printed.value("Repository", "figure_4_second_moment")
    epsilon, stored = (printed.value("Repository", f"figure_4_{name}") for name in ("epsilon", "theory"))
    mechanism, values = groups.DiscretisedMeans.published(epsilon), np.linspace(-1, 1, size)
    values *= np.sqrt(nu2 / np.mean(values**2))
    law = np.ones(1)
    for group, held in ((0, values), (1, np.zeros(size))):
        for value in held:
            minus, plus = mechanism.channel([value])[:2, group]
            law = np.convolve(law, [minus, 1 - minus - plus, plus])
    estimates = np.arange(-2 * size, 2 * size + 1) / (routes.printed_gain(mechanism) * size)
    exact = float(law @ (estimates - values.mean()) ** 2)
    stated, other = (gaps.variance_discretised_mean(mechanism, size, 2 * size, m) for m in (nu2, 0.0))
    e.same([law.sum(), stated], [1.0, exact])
    e.proven(errors.variance_of_signs())
    e.needs(abs(stated - stored) < 1e-5)
    e.assumption = (
        "epsilon = 0.5 and the error of one group's mean, as the caption says; the text speaks of the gap, whose "
        f"error is {stated + other:.4f}"
    )
    return (
        f"exact mean squared error {exact:.6f} by the law of all 20 reports and by equation (20); the published code's "
        f"line is {stored} (its bound at nu^2 = 0: {other:.4f})"
    )


@claim(
    "Table 2, errors",
    gaps.GroupGap.variance,
    gaps.absolute_gap_error,
    groups.DiscretisedMeans.sample_sums,
    groups.LaplaceMeans.sample_sums,
    estimators.group_means,
    estimators.signed_gap,
    groups.DiscretisedMeans.channel,
    groups.DiscretisedMeans.published,
    groups.LaplaceMeans.executed,
    groups.LaplaceMeans.law,
    groups.LaplaceMeans.published,
    kind="statistical",
    assumption="the sizes, means and second moments of the published data; errors of the absolute gap, on the scale of "
    "rates; M_L as in the published code, which reverses the two noise scales",
    false_alarm=LEVEL,
    over="the 8 cells, one unseeded draw of ten runs each",
    example=True,
)
def table_2_errors(e: Evidence) -> str:
    """the mean errors of ten runs on 10^7 clients are those printed, from 0.1241 (M_R) and 0.0504 (M_L) at 0.01 down to
    0.0001 at 10
    """
    data, table, runs = population.published(), printed.table_2(), int(printed.value("Table 2", "runs"))
    gap, expected, chances = abs(data.true_gap), {}, {}
    for name, (short, epsilon, stated) in product(FAMILIES, _cells(table, "error")):
        mechanism = FAMILIES[name](epsilon)
        sd, mean, deviation = _gap_errors(e, data, name, epsilon)
        rng = stream("Table 2", name, epsilon, seed=SEED)
        sums = mechanism.sample_sums(data.counts, data.values, repetitions=RUNS, rng=rng)
        found = estimators.signed_gap(estimators.group_means(mechanism, sums, data.sizes))
        off = [(found.mean() - data.true_gap) / sd, (np.abs(np.abs(found) - gap).mean() / 2 - mean) / deviation]
        e.sure(np.abs(off).max() * np.sqrt(RUNS) < 5.6)
        expected[name, epsilon] = mean
        if short == name[:3] or (short, name) == ("M_L", "code"):
            chances[name, epsilon] = _at_most(stated + HALF, sd, gap, runs), _at_most(stated - HALF, sd, gap, runs)
    tails = {cell: min(1.0, 2 * min(below, 1 - under)) for cell, (below, under) in chances.items()}
    tested = [tail for (name, _), tail in tails.items() if name != "M_L"]
    e.needs(min(tested) * len(tested) > LEVEL)
    ranks = {cell: below for cell, (below, _) in chances.items()}
    means = {name: ", ".join(f"{expected[name, epsilon]:.4g}" for epsilon in BUDGETS) for name in FAMILIES}
    return (
        f"expected errors at 0.01, 0.1, 1 and 10: M_R {means['M_R']}; M_L as in the code {means['code']}; as stated "
        f"{means['M_L']}. A mean of ten runs is at most the printed one with probability {ranks['M_R', 0.01]:.2f} and "
        f"{ranks['M_R', 0.1]:.2f} (M_R at 0.01 and 0.1), {ranks['code', 0.01]:.2f} and {ranks['code', 0.1]:.2f} (M_L "
        f"as in the code), {ranks['M_L', 0.01]:.3f} and {ranks['M_L', 0.1]:.3f} (M_L as stated, which ten runs cannot "
        f"exclude); no cell of the {len(tested)} is rarer than {min(tested):.2f}, on both sides"
    )


@claim(
    "Table 2, standard deviations",
    gaps.GroupGap.variance,
    gaps.absolute_gap_error,
    groups.DiscretisedMeans.channel,
    groups.DiscretisedMeans.published,
    groups.LaplaceMeans.executed,
    groups.LaplaceMeans.law,
    kind="statistical",
    assumption="as for the errors; deviations of ten errors, divided by ten or by nine",
    false_alarm=LEVEL,
    over="the 8 cells, one unseeded draw of ten runs each; an anomaly of this size cannot be settled without the runs",
)
def table_2_deviations(e: Evidence) -> str:
    """the standard deviations of ten errors are those printed, from 0.1410 (M_R) and 0.0337 (M_L) at 0.01 down to
    0.0000 at 10
    """
    data, table, runs = population.published(), printed.table_2(), int(printed.value("Table 2", "runs"))
    gap, laws, cells = abs(data.true_gap), {}, {}
    rng = stream("Table 2", "deviations", seed=SEED)
    for short, epsilon, stated in _cells(table, "sd"):
        sd, mean, deviation = _gap_errors(e, data, "M_R" if short == "M_R" else "code", epsilon)
        off = np.abs(np.abs(gap + sd * rng.standard_normal((SETS, runs))) - gap) / 2
        e.sure(abs(off.mean() - mean) < 6 * deviation / np.sqrt(off.size))
        laws[short, epsilon], cells[short, epsilon] = sd, max(_tails(off, stated))
    place = min(cells, key=lambda cell: cells[cell])
    others = sorted(cells.values())[1:]
    shown = printed.value("Table 2", f"{place[0]} sd eps={place[1]:g}")
    off = np.abs(np.abs(gap + laws[place] * rng.standard_normal((20 * SETS, runs))) - gap) / 2
    by_ten, by_nine = _tails(off, shown)
    e.needs(by_nine * len(cells) > LEVEL)
    return (
        f"{len(others)} cells are ordinary (a tail of {others[0]:.2f} at least); ten errors of {place[0]} at "
        f"{place[1]:g} have a deviation of {shown:.4f} or more with probability {by_nine:.1g} (divided by nine) or "
        f"{by_ten:.1g} (by ten) only, an anomaly that the source does not mention"
    )


@claim(
    "Appendix D, counts",
    population.published_rates,
    kind="enumeration",
    assumption="files of the public data set (UCI 427) are sessions, and their names end in M or F; the 864 readings "
    "per session are not counted here",
    over="the data set",
    example=True,
)
def appendix_d_counts(e: Evidence) -> str:
    """the sessions that stand for clients are 25 of men and 62 of women"""
    stated = population.published_rates("sessions")
    rooms = [[printed.value("UCI", f"{sex}_room_{room}") for room in (1, 2)] for sex in population.GROUPS]
    e.same(stated[0], printed.value("Repository", "distinct_sessions_male"))
    e.same(sum(stated), 87.0)
    e.needs([sum(row) for row in rooms] == list(stated))
    return (
        f"the names of the files list {rooms[0][0]:g} sessions of men and {rooms[1][0]:g} of women in the first room, "
        f"{rooms[0][1]:g} and {rooms[1][1]:g} in the second: {stated[0]:g} and {stated[1]:g}, of which the published "
        f"rates keep {printed.value('Repository', 'distinct_sessions_male'):g} and "
        f"{printed.value('Repository', 'distinct_sessions_female'):g}"
    )


@later(
    "Appendix D, rates",
    population.published_rates,
    otherwise="corrected",
    corrected="mean true-positive rates 89.10% and 71.77%; overall false-positive rate 10.6%; the gaps 17.33 and "
    "9.63 points are right",
    over="the nine printed numbers, by exact arithmetic with the published output",
)
def appendix_d_rates(e: Evidence) -> str:
    """mean true-positive rates of 89.01% and 71.77% differ by 17.33 points, false-positive rates of 15.26% and
    24.90% by 9.63; overall accuracy 84.37%, false-positive rate 10.69%, true-positive rate 82.05%
    """
    male, female = population.published_rates("true_positive_rate")
    false_male, false_female = population.published_rates("false_positive_rate")
    stored = [printed.value("Repository", f"{m}_{g}") for m in ("tpr", "fpr") for g in population.GROUPS]
    e.same([female, false_male, false_female], np.round(stored[1:], 4))
    gap, false_gap = printed.value("Appendix D", "tpr_gap"), printed.value("Appendix D", "fpr_gap")
    e.sure(abs(stored[0] - stored[1] - gap) < 1e-4 and abs(stored[3] - stored[2] - false_gap) < 1e-4)
    e.needs(abs(male - female - gap) <= 1.01e-4 and abs(false_female - false_male - false_gap) <= 1.01e-4)
    e.decides(errors.difference_prints_as("true_positive_rate", printed.text("Appendix D", "tpr_gap")))
    of_all = {m: printed.value("Appendix D", m) - printed.value("Repository", m) for m in ("accuracy", "tpr", "fpr")}
    e.needs(max(map(abs, of_all.values())) <= 1e-4)
    return (
        f"{100 * male:.2f} - {100 * female:.2f} = {100 * (male - female):.2f}, not {100 * gap:.2f}: the stored output "
        f"is {stored[0]}, two digits changed places; the stored overall false-positive rate is "
        f"{printed.value('Repository', 'fpr')}, {100 * of_all['fpr']:.1f} points below the printed one; accuracy and "
        "true-positive rate agree"
    )


@later(
    "Appendix D, synthetic data",
    population.log_chance_of_equal_counts,
    population.published_rates,
    kind="certified",
    corrected="every observed rate is repeated equally often, men and women are equally many, and sessions without a "
    "rate are left out (49 of 62 women remain)",
    over="the published data",
)
def appendix_d_synthetic(e: Evidence) -> str:
    """the synthetic clients follow the distribution of sex in the observations and are drawn from them with
    replacement
    """
    male, female = population.published_rates("sessions")
    share = male / (male + female)
    rows, rates = (
        np.array([printed.value("Repository", f"{n}_{g}") for g in population.GROUPS]) for n in ("rows", "mean_fnr")
    )
    kinds, copies = (int(printed.value("Repository", name)) for name in ("distinct_sessions_male", "copies_male"))
    chance = population.log_chance_of_equal_counts(kinds, copies)
    left = copies * np.arange(kinds, 1, -1)  # men without a session, as one session after the other takes its share
    each = 1 / np.arange(kinds, 1, -1)
    chances = copies * np.log(each) + (left - copies) * np.log1p(-each)
    e.same(chance, float((routes.log_binomials(left, copies) + chances).sum()), rel=1e-6)
    e.sure(male == kinds and kinds * copies == rows[0])
    e.decides(errors.equal_counts_are_likely(kinds, copies, LEVEL))
    e.needs(chance > np.log(1e-6) and abs(rows[0] / rows.sum() - share) < 1e-3)
    return (
        f"the published data have {rows[0]:.0f} rows of either sex, where {share:.1%} of the sessions are of men; "
        f"each of the {kinds} male values occurs exactly {copies} times, which draws with replacement give with "
        f"probability e^{chance:.0f}; the false-negative rates differ by {rates[1] - rates[0]:.4f}, not by the "
        f"true-positive gap {printed.value('Appendix D', 'tpr_gap')}"
    )


@later(
    "Appendix D, bounds",
    gaps.GroupGap.error_bound,
    gaps.absolute_gap_error,
    gaps.GroupGap.variance,
    gaps.variance_discretised_mean,
    gaps.variance_laplace_mean,
    groups.DiscretisedMeans.channel,
    groups.DiscretisedMeans.published,
    groups.LaplaceMeans.law,
    groups.LaplaceMeans.published,
    otherwise="corrected",
    corrected="the 0.99 bounds are at least ten times the mean error, by construction: they are ten standard "
    "deviations at the worst values, and a mean error is at most one at the actual values (0.798 if normal); one order "
    "of magnitude except where values near 1 leave almost no variance, M_R at 10",
    over="at least ten times: every budget, all sizes and values; the ratios: the 8 cells",
    argument="a mean absolute error is at most the standard deviation, and folding an estimate never takes it further "
    "away",
)
def appendix_d_bounds(e: Evidence) -> str:
    """the 0.99 bounds are about one order of magnitude larger than the actual error"""
    ratios = _bound_ratios(e)
    e.proven(errors.worst_is_worst())
    low, high = min(ratios.values()), max(ratios.values())
    e.sure(low > 10)
    e.needs(within("near", list(ratios.values()), 10))
    met = sum(within("near", ratio, 10) for ratio in ratios.values())
    return (
        f"bound over expected error is {ratios['M_R', 0.01]:.2f} for M_R and {ratios['M_L', 0.01]:.2f} for M_L at "
        f"0.01, {low:.2f} to {high:.1f} over all cells; {met} of {len(ratios)} are within a factor 4 of ten"
    )


@claim(
    "Appendix D, orders of magnitude",
    gaps.GroupGap.error_bound,
    gaps.absolute_gap_error,
    gaps.GroupGap.variance,
    groups.DiscretisedMeans.channel,
    groups.DiscretisedMeans.published,
    groups.LaplaceMeans.law,
    groups.LaplaceMeans.published,
    kind="identity",
    otherwise="corrected",
    corrected="one order of magnitude, as the appendix says itself further down",
    assumption="orders of magnitude are read as at least two, a factor of 100",
    over="the 8 cells, all that the source computes",
    example=True,
)
def appendix_d_orders(e: Evidence) -> str:
    """the error on the synthetic data is orders of magnitude lower than the Chebyshev bounds"""
    ratios = _bound_ratios(e)
    e.needs(min(ratios.values()) >= 100)
    return f"by a factor of {min(ratios.values()):.2f} to {max(ratios.values()):.1f} over all cells, 100 in none"


def _gap_errors(e: Evidence, data: population.Clients, name: str, epsilon: float) -> tuple[float, float, float]:
    """Return the estimated gap's standard deviation, and mean and deviation of the absolute gap's error in rates."""
    mechanism = FAMILIES[name](epsilon)
    variance, gap = data.gap(mechanism).variance(data.second_moments), abs(data.true_gap)
    sd = float(np.sqrt(variance))
    mean = float(gaps.absolute_gap_error(sd, gap)) / 2
    errors, chances = routes.error_law(sd, gap)
    e.same(variance, routes.gap_moments(mechanism, data.counts, data.values)[1])
    e.same(variance, _printed_variance(data, name, epsilon))
    e.same(mean, errors @ chances / 2, rel=1e-5)
    return sd, mean, float(np.sqrt(errors**2 @ chances - (errors @ chances) ** 2) / 2)


def _printed_variance(data: population.Clients, name: str, epsilon: float) -> float:
    """Return the gap's variance by equations (19) and (20), the code's with its two noise scales in (19)."""
    shares = [
        {"size": size, "clients": data.sizes.sum(), "second_moment": nu2}
        for size, nu2 in zip(data.sizes, data.second_moments, strict=True)
    ]
    if name == "M_R":
        return float(sum(routes.printed_variance_discretised(epsilon, epsilon, **share) for share in shares))
    first, k = routes.published_laplace_budgets(epsilon)
    if name == "code":
        k = min(k, 2.0)
        epsilon, k = 2 * epsilon / k, 4 / k  # exchanges the scales 2 / epsilon and k / epsilon
    return float(sum(routes.printed_variance_laplace(first, epsilon, k, **share) for share in shares))


def _bound_ratios(e: Evidence) -> dict[tuple[str, float], float]:
    """Return Chebyshev's bound over the expected error of every cell of Table 2."""
    data, failure, ratios = population.published(), 1 - printed.value("Table 1", "probability"), {}
    for name, epsilon in product(("M_R", "M_L"), BUDGETS):
        mechanism, worst = FAMILIES[name](epsilon), routes.printed_bound(name, epsilon, int(data.sizes.sum()))
        alpha, (_, error, _) = data.gap(mechanism).error_bound(failure) / 2, _gap_errors(e, data, name, epsilon)
        e.same(alpha, np.sqrt(worst / failure) / 2)
        ratios[name, epsilon] = alpha / error
    return ratios


def _cells(table: pd.DataFrame, column: str) -> list[tuple[str, float, float]]:
    """Return mechanism, budget and a printed number of every cell of Table 2."""
    return list(zip(table["mechanism"], table["epsilon"], table[column], strict=True))


def _at_most(error: float, sd: float, gap: float, runs: int) -> float:
    """Return the chance that a mean of `runs` errors, in rates, is at most `error`."""
    return routes.mean_error_cdf(2 * error, sd, gap, runs)


def _tails(errors: NDArray[np.float64], deviation: float) -> tuple[float, float]:
    """Return how often sets of errors deviate as a printed number or beyond, dividing by their number or one less."""
    found = (errors.std(axis=1, ddof=lost) for lost in (0, 1))
    ten, nine = (min(np.mean(f >= deviation - HALF), np.mean(f <= deviation + HALF)) for f in found)
    return float(ten), float(nine)
