"""Section 5 of lopuhaa2020, a claim per sentence: Monte Carlo at the source's scale, every estimator on the same
reports.

The source's grid of epsilon is not in its text. Differences between estimators are paired; a difference counts when its
mean is more than `CERTAIN` standard errors from zero.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ldpnb.claims import Status, Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.data import public
from ldpnb.estimators import frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020 import routes
from ldpnb.papers.lopuhaa2020.routes import published
from ldpnb.papers.lopuhaa2020.tables import frequencies
from ldpnb.papers.lopuhaa2020.tables.frequencies import FixedCounts, FromPrior
from ldpnb.rng import stream

SEED = 2022
CERTAIN = 6.0
FALSE_ALARM = 1e-6
NO_GRID = "The source's grid of epsilon is not in its text."
UNSOUND = Verdict("open", "0 of 2 routes: an estimate differs from its definition, nothing is decided", "certified")

KRR = (
    "estimators.frequency.unbiased",
    "estimators.frequency.project_simplex",
    "estimators.likelihood.krr_mle",
    "mechanisms.frequency.KaryRandomisedResponse.p",
    "mechanisms.frequency.KaryRandomisedResponse.q",
)
UNARY = (
    "estimators.frequency.unbiased",
    "estimators.frequency.project_simplex",
    "estimators.likelihood.mle",
    "mechanisms.frequency.UnaryEncoding.channel",
)


def krr_sound(epsilon: float, domain_size: int, users: int) -> bool:
    """Return whether the three estimates under k-RR agree with their definitions on drawn tallies."""
    rng, mechanism = stream("routes", "k-RR", epsilon, seed=SEED), KaryRandomisedResponse(epsilon, domain_size)
    held = rng.multinomial(users, rng.dirichlet(np.full(domain_size, 0.5)))
    tallies = np.array([mechanism.sample_tallies(held, rng=rng) for _ in range(3)])
    plain = (tallies / users * (np.exp(epsilon) + domain_size - 1) - 1) / np.expm1(epsilon)
    return (
        agree(frequency.unbiased(tallies, users, mechanism), plain)
        and agree(frequency.project_simplex(plain), routes.projected(plain))
        and agree(likelihood.krr_mle(tallies, epsilon=epsilon), routes.krr_maximum(tallies.astype(float), epsilon))
    )


def unary_sound(epsilon: float, domain_size: int, users: int) -> bool:
    """Return whether the three estimates under optimised unary encoding agree with their definitions on drawn tallies."""
    p, q = 0.5, 1 / (np.exp(epsilon) + 1)
    rng, mechanism = stream("routes", "OUE", epsilon, seed=SEED), UnaryEncoding.optimised(epsilon, domain_size)
    channel = routes.unary_channel(p, q, domain_size)
    tallies = rng.multinomial(users, channel @ rng.dirichlet(np.full(domain_size, 0.5)), size=3)
    supports = tallies @ mechanism.outputs().astype(int)
    plain = (supports / users - q) / (p - q)
    fit = likelihood.mle(mechanism.channel(), tallies)
    return (
        agree(mechanism.channel(), channel)
        and agree(frequency.unbiased(supports, users, mechanism), plain)
        and agree(frequency.project_simplex(plain), routes.projected(plain))
        and routes.shortfall(channel, tallies.astype(float), fit.estimate) < 1e-3
        and float(np.abs(fit.gap).max()) < 1e-3
    )


def _draws() -> int:
    return int(published()["draws"])


class Row(NamedTuple):
    """One estimator at one point: its error relative to the baseline's, and their paired difference in standard errors."""

    ratio: float
    z: float

    @property
    def spread(self) -> float:
        """Standard error of the ratio."""
        return abs((self.ratio - 1) / self.z)


Table = dict[tuple[float, str, str], Row]
"""By epsilon, target and estimator."""


def _compare(
    mechanism: str,
    truth: frequencies.Truth,
    *epsilons: float,
    draws: int | None = None,
    baseline: str = "Norm-Sub",
) -> Table:
    table = frequencies.compare(mechanism, truth, epsilons, draws=draws or _draws(), seed=SEED, baseline=baseline)
    keys = zip(table["epsilon"], table["target"], table["estimator"], strict=True)
    rows = [Row(float(ratio), float(z)) for ratio, z in zip(table.ratio, table.z, strict=True)]
    return dict(zip(keys, rows, strict=True))


def _jeffreys(key: str, users: str) -> FromPrior:
    numbers = published()
    size, count = int(numbers[f"{key}_domain_size"]), int(numbers[f"{key}_users_{users}"])
    return FromPrior(size, count, numbers["prior_concentration"])


def _has_shape(tally: public.Tally, key: str) -> bool:
    """Return whether a column has the source's number of users and of values."""
    return tally.users == published()["adult_users"] and tally.counts.size == published()[key]


def _statistical(status: Status, evidence: str, z: float, **more: str) -> Verdict:
    """Return a verdict from a difference of `z` standard errors, and the chance of finding a difference of that size."""
    power = float(ndtr(abs(z) - CERTAIN))
    return Verdict(status, evidence, "statistical", false_alarm=FALSE_ALARM, power=power, **more)


@claim(
    "lopuhaa2020",
    "Figures 2 and 3",
    says="both Norm-Sub and the maximum-likelihood estimate are more accurate than the unbiased one",
    rests_on=(*KRR, "estimators.likelihood.mle", "mechanisms.frequency.UnaryEncoding.channel"),
)
def both_help() -> Verdict:
    """Decide the first sentence on the results of Section 5: one budget per mechanism and number of users."""
    sound = krr_sound(1.0, 1024, 10**4) and unary_sound(1.0, 10, 100)
    if not (sound and routes.never_further(frequency.project_simplex, SEED)):
        return UNSOUND
    settings = [("k-RR", "krr", 4.0, size) for size in ("large", "moderate")]
    settings += [("OUE", "unary", 2.0, size) for size in ("large", "moderate")]
    ratios, scores = [], []
    for mechanism, key, epsilon, size in settings:
        table = _compare(mechanism, _jeffreys(key, size), epsilon, baseline="unbiased")
        ratios += [row.ratio for (_, _, estimator), row in table.items() if estimator != "unbiased"]
        scores += [row.z for (_, _, estimator), row in table.items() if estimator == "MLE"]
    holds = max(ratios) < 1 and max(scores) < -CERTAIN
    evidence = (
        f"error relative to the unbiased estimate at most {max(ratios):.3f} in four settings (k-RR at epsilon 4, OUE at 2); "
        f"MLE better by at least {-max(scores):.0f} standard errors; Norm-Sub is never further from any distribution, draw by draw"
    )
    return _statistical(judge(holds, sound=True, otherwise="open"), evidence, max(scores), assumption=NO_GRID)


@claim(
    "lopuhaa2020",
    "Figure 2, n = 10^6",
    says="under k-RR with a = 1024 and n = 10^6, Norm-Sub and the maximum-likelihood estimate are equally accurate",
    rests_on=KRR,
)
def krr_many_users() -> Verdict:
    """Decide whether the two errors differ by less than a logarithmic plot shows."""
    if not krr_sound(1.0, 1024, 10**6):
        return UNSOUND
    table = _compare("k-RR", _jeffreys("krr", "large"), 1.0, 2.0, 4.0, 8.0)
    rows = [row for (_, _, estimator), row in table.items() if estimator == "MLE"]
    widest = max(abs(row.ratio - 1) + CERTAIN * row.spread for row in rows)
    low, high = table[1.0, "frequency", "MLE"], table[8.0, "frequency", "MLE"]
    evidence = (
        f"errors within {100 * widest:.1f} % of each other for epsilon from 1 to 8, beyond what a logarithmic plot resolves; not equal: "
        f"MLE / Norm-Sub is {low.ratio:.3f} at epsilon 1 ({low.z:.0f} standard errors), {high.ratio:.4f} at 8"
    )
    assumption = f"{NO_GRID} Equal accuracy is read as: within 5 %."
    return _statistical(
        judge(widest < 0.05, sound=True, otherwise="open"),
        evidence,
        0.05 / max(row.spread for row in rows),
        assumption=assumption,
    )


@claim(
    "lopuhaa2020",
    "Figure 2, n = 10^4",
    says="under k-RR with a = 1024 and n = 10^4, the maximum-likelihood estimate is more accurate than Norm-Sub",
    rests_on=KRR,
)
def krr_moderate_users() -> Verdict:
    """Decide the claim at both ends of the range of epsilon."""
    if not krr_sound(1.0, 1024, 10**4):
        return UNSOUND
    table = _compare("k-RR", _jeffreys("krr", "moderate"), 1.0, 4.0, 10.0, draws=2 * _draws())
    mle = {point: row for point, row in table.items() if point[2] == "MLE"}
    last = (10.0, "frequency", "MLE")
    reverse, worse = mle[last], {point for point, row in mle.items() if row.z > -CERTAIN}
    expected = worse == {last} and reverse.z > CERTAIN
    small, middle, large = (mle[epsilon, "distribution", "MLE"] for epsilon in (1.0, 4.0, 10.0))
    evidence = (
        f"MLE / Norm-Sub is {small.ratio:.2f} at epsilon 1 and {middle.ratio:.2f} at 4; at 10 it is {large.ratio:.3f} for the distribution "
        f"but {reverse.ratio:.3f} for the frequencies ({reverse.z:.1f} standard errors)"
    )
    corrected = (
        "The MLE is better for the distribution at every epsilon tried, by up to 40 %; for the frequencies up to about epsilon 8, beyond which "
        "Norm-Sub is better by less than 1 %."
    )
    status = judge(not worse, sound=True, otherwise="corrected" if expected else "open")
    return _statistical(status, evidence, reverse.z, corrected=corrected, assumption=NO_GRID)


@claim(
    "lopuhaa2020",
    "Figure 2, n comparable to a",
    says="under k-RR the maximum-likelihood estimate gains on Norm-Sub when the number of users is comparable to the number of values",
    rests_on=KRR,
)
def krr_gain_grows() -> Verdict:
    """Decide what the source reads out of its two numbers of users, with a third one that does equal the number of
    values.
    """
    size, epsilon = int(published()["krr_domain_size"]), 1.0
    if not krr_sound(epsilon, size, size):
        return UNSOUND
    truths = [FromPrior(size, size), _jeffreys("krr", "moderate"), _jeffreys("krr", "large")]
    draws, point = 2 * _draws(), (epsilon, "distribution", "MLE")
    rows = [_compare("k-RR", truth, epsilon, draws=draws)[point] for truth in truths]
    ratios = [row.ratio for row in rows]
    steps = [(after.ratio - before.ratio) / np.hypot(after.spread, before.spread) for before, after in pairwise(rows)]
    evidence = f"MLE / Norm-Sub at epsilon 1 with a = {size}: {ratios[0]:.2f} at n = a, {ratios[1]:.2f} at n = 10^4, {ratios[2]:.3f} at n = 10^6"
    holds = min(steps) > CERTAIN
    return _statistical(
        judge(holds, sound=True, otherwise="open"), evidence, min(steps), assumption="Decided at epsilon 1."
    )


@claim(
    "lopuhaa2020",
    "Figure 3, n = 10^6",
    says="under unary encoding with a = 10 and n = 10^6, the maximum-likelihood estimate is more accurate than Norm-Sub for large enough epsilon",
    rests_on=UNARY,
)
def unary_many_users() -> Verdict:
    """Decide the claim under optimised unary encoding, which the source's description fits."""
    if not unary_sound(3.0, 10, 10**6):
        return UNSOUND
    table = _compare("OUE", _jeffreys("unary", "large"), 0.5, 3.0)
    small, large = table[0.5, "frequency", "MLE"], table[3.0, "frequency", "MLE"]
    evidence = (
        f"MLE / Norm-Sub for the frequencies under OUE: {large.ratio:.2f} at epsilon 3 ({large.z:.1f} standard errors), "
        f"{small.ratio:.2f} at 0.5 ({small.z:.1f})"
    )
    assumption = f"{NO_GRID} Unary encoding is read as the optimised one."
    return _statistical(
        judge(large.z < -CERTAIN, sound=True, otherwise="open"), evidence, large.z, assumption=assumption
    )


@claim(
    "lopuhaa2020",
    "Figure 3, n = 100",
    says="under unary encoding with a = 10 and n = 100, the maximum-likelihood estimate and Norm-Sub perform alike",
    rests_on=UNARY,
)
def unary_moderate_users() -> Verdict:
    """Decide whether they perform alike at a small and at a large budget."""
    if not unary_sound(4.0, 10, 100):
        return UNSOUND
    truth, draws = _jeffreys("unary", "moderate"), 4 * _draws()
    table = _compare("OUE", truth, 1.0, 4.0, draws=draws)
    small, large = table[1.0, "frequency", "MLE"], table[4.0, "frequency", "MLE"]
    evidence = (
        f"MLE / Norm-Sub for the frequencies under OUE, {draws} draws: {small.ratio:.3f} at epsilon 1 ({small.z:.1f} standard errors), "
        f"{large.ratio:.2f} at 4 ({large.z:.1f})"
    )
    corrected = (
        "They perform alike up to about epsilon 1.5; above, the MLE is better: for the frequencies by 10 to 15 % under optimised unary encoding "
        "and by up to half under the symmetric one."
    )
    alike = large.z > -CERTAIN
    return _statistical(
        judge(alike, sound=True, otherwise="corrected"), evidence, large.z, corrected=corrected, assumption=NO_GRID
    )


@claim(
    "lopuhaa2020",
    "Figure 4",
    says="under k-RR the maximum-likelihood estimate helps on real data: ages of Adult (a = 74) and taxi distances (a = 1000)",
    rests_on=(*KRR, "data.public.adult"),
)
def real_data_krr() -> Verdict:
    """Decide the claim on the ages; the trip file is not at hand, its stand-in only shows that the answer depends on
    the data.
    """
    ages = public.adult("age")
    if not (krr_sound(1.0, 74, 32_561) and _has_shape(ages, "adult_age_domain_size")):
        return UNSOUND
    table = _compare("k-RR", FixedCounts("Adult age", tuple(ages.counts.tolist())), 1.0, 4.0)
    distances = public.taxi_stand_in("trip_distance")
    made_up = _compare("k-RR", FixedCounts("taxi distance", tuple(distances.counts.tolist())), 5.0)[
        5.0, "frequency", "MLE"
    ]
    low, high = (table[epsilon, "frequency", "MLE"] for epsilon in (1.0, 4.0))
    plain = table[1.0, "frequency", "unbiased"]
    evidence = (
        f"MLE / Norm-Sub on the ages: {low.ratio:.3f} at epsilon 1 ({low.z:.0f} standard errors), {high.ratio:.3f} at 4; "
        f"the unbiased error at 1 is {plain.ratio:.1f} times Norm-Sub's; on the made-up distances the MLE is the worse one at 5 "
        f"({made_up.ratio:.2f})"
    )
    assumption = f"{NO_GRID} Decided on Adult; the taxi column needs the TLC trip file."
    holds = low.z < -CERTAIN and plain.z > CERTAIN
    return _statistical(judge(holds, sound=True, otherwise="open"), evidence, low.z, assumption=assumption)


@claim(
    "lopuhaa2020",
    "Figure 5",
    says="under unary encoding the maximum-likelihood estimate helps on real data: work classes of Adult (a = 9) and taxi payment types (a = 5)",
    rests_on=(*UNARY, "data.public.adult"),
)
def real_data_unary() -> Verdict:
    """Decide the claim on the work classes; the trip file is not at hand."""
    classes = public.adult("workclass")
    if not (unary_sound(3.0, 9, 32_561) and _has_shape(classes, "adult_workclass_domain_size")):
        return UNSOUND
    truth, draws = FixedCounts("Adult workclass", tuple(classes.counts.tolist())), 3 * _draws()
    table = _compare("OUE", truth, 3.0, draws=draws)
    mle, plain = table[3.0, "frequency", "MLE"], table[3.0, "frequency", "unbiased"]
    evidence = (
        f"MLE / Norm-Sub on the work classes under OUE at epsilon 3, {draws} repetitions: {mle.ratio:.2f} ({mle.z:.1f} standard errors); "
        f"unbiased / Norm-Sub {plain.ratio:.2f}"
    )
    assumption = f"{NO_GRID} Decided on Adult; the taxi column needs the TLC trip file."
    return _statistical(judge(mle.z < -CERTAIN, sound=True, otherwise="open"), evidence, mle.z, assumption=assumption)
