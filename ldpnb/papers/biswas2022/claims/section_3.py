"""Section 3 of biswas2022: estimates when every node reports with the same probability."""

from dataclasses import replace

import numpy as np
from scipy import special

from ldpnb.accuracy import sampling as accuracy
from ldpnb.accuracy.sampling import Setting
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms import frequency
from ldpnb.papers.biswas2022 import displayed as as_published
from ldpnb.papers.biswas2022.routes import (
    CASES,
    FIXED,
    GAP,
    KEEP,
    SWITCH,
    Array,
    Case,
    direct_encoding,
    simulate_one_value,
)
from ldpnb.rng import stream

EXAMPLE: Setting = {"nodes": 1000, "sampling_rate": 0.5, "mechanism": frequency.KaryRandomisedResponse(1.0, 4)}
EXAMPLE_HOLDERS = 300
FIVE_SIGMA = 5.0
RUNS = 20_000


def _rescaled(case: Case) -> Array:
    return estimators.rescaled(case.reports.totals, **case.setting)


def _realised(case: Case) -> Array:
    totals = case.reports.totals
    return estimators.realised_size(totals, sampling_rate=case.sampling_rate, mechanism=case.mechanism)


@claim(
    "biswas2022",
    "Theorem 3.1",
    says="The estimator g_DE is unbiased under sampling at a common rate.",
    rests_on=("estimators.sampling.rescaled", SWITCH, GAP),
)
def theorem_3_1() -> Verdict:
    """Average g_DE over every outcome."""
    return _unbiased([case.reports.mean(_rescaled(case)) for case in CASES], "g_DE")


def _unbiased(means: list[Array], name: str) -> Verdict:
    errors = [np.abs(mean - case.holders).max() for mean, case in zip(means, CASES, strict=True)]
    certain = all(agree(case.reports.chances.sum(), 1.0) for case in CASES)
    outcomes = sum(case.reports.chances.size for case in CASES)
    return Verdict(
        judge(max(errors) < 1e-9, sound=certain),
        f"|E {name} - n f| < 1e-9 at every value of {len(CASES)} populations, fixed and iid, over all {outcomes} outcomes",
        "enumeration",
    )


@claim(
    "biswas2022",
    "Section 3, meaning of f",
    says="The symbol f_i stands for the random fraction of times that the value i is reported.",
    rests_on=("accuracy.sampling.mean_unadjusted", "estimators.sampling.unadjusted", SWITCH, GAP),
)
def meaning_of_f() -> Verdict:
    """Put the reported and the held fraction into equation (4) and compare with the mean over every outcome."""
    case = FIXED[0]
    n = len(case.values)
    enumerated = case.reports.mean(case.unadjusted)
    held = accuracy.mean_unadjusted(case.holders, **case.setting)
    reported_share = case.reports.mean(case.reports.totals) / (n * case.sampling_rate)
    reported = accuracy.mean_unadjusted(n * reported_share, **case.setting)
    return Verdict(
        judge(agree(reported, enumerated), sound=agree(held, enumerated), otherwise="corrected"),
        f"k = 4, epsilon = 1, half the nodes hold the value: its expected share among reports is {reported_share[0]:.4f}; equation (4) gives "
        f"{reported[0]:.4f} with that, {held[0]:.4f} with the share held; the mean is {enumerated[0]:.4f}",
        "enumeration",
        corrected="f_i is the fraction of nodes that hold the value i, as equation (4) and every variance use it.",
    )


@claim(
    "biswas2022",
    "Theorem 3.2",
    says="At a value nobody holds the variance of g_DE is n (q - q^2 pi) / ((p - q)^2 pi).",
    rests_on=(
        "accuracy.sampling.rare_variance_rescaled",
        "accuracy.sampling.variance_rescaled",
        "estimators.sampling.rescaled",
        SWITCH,
        GAP,
    ),
)
def theorem_3_2() -> Verdict:
    """Enumerate the variance at a value that no node holds, and take the limit of the exact one."""
    absent = [replace(case, values=tuple(max(v, 1) for v in case.values)) for case in CASES]
    stated = [accuracy.rare_variance_rescaled(**case.setting) for case in absent]
    enumerated = [case.reports.variance(_rescaled(case))[0] for case in absent]
    centred = all(agree(case.reports.mean(_rescaled(case)), case.holders) for case in absent)
    limits = [accuracy.variance_rescaled(0, data=case.data, **case.setting) for case in absent]
    example = accuracy.rare_variance_rescaled(
        nodes=50_000, sampling_rate=0.1, mechanism=frequency.KaryRandomisedResponse(1.0, 101)
    )
    return Verdict(
        judge(agree(stated, enumerated), sound=agree(limits, enumerated) and centred),
        f"equal to the enumerated variance in {len(absent)} populations, fixed and iid; n = 50000, pi = .1, epsilon = 1, k = 101: "
        f"{example:.10g}",
        "enumeration",
        assumption="The sentence that introduces the formula names c_DE; the formula is for g_DE.",
    )


@claim(
    "biswas2022",
    "Theorem 3.2, proof",
    says="The actual variance of c_DE is [n pi (f p(1-p) + (1-f) q(1-q)) + n pi (1-pi) r^2] / (p - q)^2 with r = f p + (1-f) q.",
    rests_on=(
        "papers.biswas2022.displayed.published_variance_unadjusted",
        "accuracy.sampling.variance_unadjusted",
        "accuracy.sampling.mean_unadjusted",
        "estimators.sampling.unadjusted",
        KEEP,
        SWITCH,
        GAP,
    ),
)
def theorem_3_2_proof() -> Verdict:
    """Compare the displayed variance with the exact ones and with what is missing."""
    sound, holds = True, True
    for case in CASES:
        enumerated = case.reports.variance(case.unadjusted)
        exact = accuracy.variance_unadjusted(case.holders, data=case.data, **case.setting)
        displayed = as_published.published_variance_unadjusted(case.holders, **case.setting)
        share = case.holders / len(case.values)
        missing = len(case.values) * case.sampling_rate * share * (1 - share)
        missing = missing if case.iid else missing * (1 - case.sampling_rate)
        sound &= agree(exact, enumerated) and agree(displayed + missing, enumerated)
        sound &= agree(case.reports.mean(case.unadjusted), accuracy.mean_unadjusted(case.holders, **case.setting))
        holds &= agree(displayed, enumerated)
    setting: Setting = {"nodes": 1000, "sampling_rate": 0.2, "mechanism": frequency.KaryRandomisedResponse(2.0, 4)}
    shown = as_published.published_variance_unadjusted(300, **setting) / 0.04
    fixed, iid = (accuracy.variance_unadjusted(300, data=case.data, **setting) / 0.04 for case in (CASES[0], CASES[-1]))
    return Verdict(
        judge(holds, sound=sound, otherwise="corrected"),
        f"n = 1000, f = .3, pi = .2, epsilon = 2, k = 4, divided by pi^2: displayed {shown:.1f}, exact {fixed:.1f} for fixed data and {iid:.1f} "
        f"for iid data; the differences equal the missing terms in {len(CASES)} enumerated populations",
        "enumeration",
        corrected="Fixed data: n pi [f p(1 - pi p) + (1-f) q(1 - pi q)] / (p-q)^2; iid data: n pi r (1 - pi r) / (p-q)^2. The displayed one is "
        "too small by n pi (1-pi) f(1-f) and by n pi f(1-f); in the limit f -> 0 all agree.",
    )


@claim(
    "biswas2022",
    "Definition 3.1, Theorem 3.3",
    says="The normalised variance Var(X) / E(X) of g_DE is of order 1 / (pi^3 n) for rare values.",
    rests_on=(
        "papers.biswas2022.displayed.normalised_variance",
        "papers.biswas2022.displayed.published_normalised_variance",
        "accuracy.sampling.rare_variance_rescaled",
        "accuracy.sampling.variance_rescaled",
        "estimators.sampling.rescaled",
        KEEP,
        SWITCH,
        GAP,
    ),
)
def theorem_3_3() -> Verdict:
    """Evaluate the definition and the proof's quantity, both against enumeration, and read off how they grow."""
    case = FIXED[0]
    estimates, n = _rescaled(case), len(case.values)
    mean, variance = case.reports.mean(estimates)[:3], case.reports.variance(estimates)
    defined = as_published.normalised_variance(
        accuracy.variance_rescaled(case.holders, **case.setting)[:3], case.holders[:3]
    )
    proved = as_published.published_normalised_variance(**case.setting)
    sound = agree(defined, variance[:3] / mean) and agree(proved, variance[3] / (n * case.sampling_rate) ** 2)
    sound &= agree(accuracy.rare_variance_rescaled(**case.setting), variance[3])
    mechanism = frequency.KaryRandomisedResponse(1.0, 100)

    def by_definition(nodes: int, share: float) -> float:
        exact = accuracy.variance_rescaled(nodes * share, nodes=nodes, sampling_rate=0.1, mechanism=mechanism)
        return float(as_published.normalised_variance(exact, nodes * share))

    small, large, rare = by_definition(50_000, 0.05), by_definition(500_000, 0.05), by_definition(50_000, 1e-4)
    shrinks = large < 0.2 * small
    natural = accuracy.rare_variance_rescaled(nodes=50_000, sampling_rate=0.1, mechanism=mechanism) / 50_000**2
    shown = as_published.published_normalised_variance(nodes=50_000, sampling_rate=0.1, mechanism=mechanism)
    return Verdict(
        judge(shrinks, sound=sound, otherwise="corrected"),
        f"epsilon = 1, k = 100, pi = .1: Definition 3.1 gives {small:.5g} at f = .05 for n = 50000, {large:.5g} for ten times the nodes and "
        f"{rare:.4g} at f = 1e-4; the proof's Var*(g/(n pi)) is {shown:.4g}; Var*(g/n) is {natural:.4g}",
        "enumeration",
        corrected="Var*(g/n) = (q - q^2 pi) / ((p-q)^2 pi n), of order 1/(pi n). Under Definition 3.1 Var(g)/(n f) is of order 1/(pi f): constant "
        "in n, unbounded as f -> 0. The power pi^-3 comes from dividing g, which is already rescaled, by n pi once more.",
    )


@claim(
    "biswas2022",
    "Section 3, limit",
    says="As pi -> 0, c_DE tends to n q / (p - q), a constant and negative estimate.",
    rests_on=("accuracy.sampling.mean_unadjusted", "estimators.sampling.unadjusted", SWITCH, GAP),
)
def limit_of_no_reports() -> Verdict:
    """Evaluate the mean at a vanishing rate and the estimate when nobody reports."""
    nodes, mechanism = 50_000, frequency.KaryRandomisedResponse(1.0, 101)
    channel = direct_encoding(1.0, 101)
    printed = nodes * channel[0, 1] / (channel[0, 0] - channel[0, 1])
    silent = estimators.unadjusted(np.zeros(101), nodes=nodes, mechanism=mechanism)[0]
    limit = float(accuracy.mean_unadjusted(2500, nodes=nodes, sampling_rate=1e-12, mechanism=mechanism))
    return Verdict(
        judge(agree(limit, printed), sound=agree(limit, silent) and agree(abs(silent), printed), otherwise="corrected"),
        f"n = 50000, epsilon = 1: printed {printed:.3f}; mean at pi = 1e-12 {limit:.3f}; estimate from no reports {silent:.3f}",
        "identity",
        corrected="lim c_DE = -n q / (p - q) = -n / (e^epsilon - 1).",
    )


@claim(
    "biswas2022",
    "Theorem 3.4",
    says="The estimator c-hat is unbiased under sampling at a common rate.",
    rests_on=("estimators.sampling.realised_size", SWITCH, GAP),
)
def theorem_3_4() -> Verdict:
    """Average c-hat over every outcome."""
    return _unbiased([case.reports.mean(_realised(case)) for case in CASES], "c-hat")


@claim(
    "biswas2022",
    "Theorem 3.5",
    says="The variance of c-hat is at least that of g_DE, so g_DE is the better estimate.",
    rests_on=(
        "accuracy.sampling.variance_gain",
        "accuracy.sampling.variance_rescaled",
        "accuracy.sampling.variance_realised_size",
        "papers.biswas2022.displayed.published_variance_realised_size",
        "estimators.sampling.rescaled",
        "estimators.sampling.realised_size",
        KEEP,
        SWITCH,
        GAP,
    ),
)
def theorem_3_5() -> Verdict:
    """Enumerate both variances, compare with their closed forms and difference, and simulate at a larger size."""
    sound, gains = True, []
    for case in CASES:
        rescaled, realised = case.reports.variance(_rescaled(case)), case.reports.variance(_realised(case))
        sound &= agree(accuracy.variance_rescaled(case.holders, data=case.data, **case.setting), rescaled)
        sound &= agree(accuracy.variance_realised_size(case.holders, data=case.data, **case.setting), realised)
        sound &= agree(accuracy.variance_gain(case.holders, **case.setting), rescaled - realised)
        if case.sampling_rate < 1:
            gains.append((rescaled - realised).min())
        realised_mean = case.reports.mean(_realised(case))
        sound &= agree(case.reports.mean(_rescaled(case)), case.holders) and agree(realised_mean, case.holders)
    sound &= all(agree(_uncorrelated(case), _published(case)) for case in FIXED)
    g = float(accuracy.variance_rescaled(EXAMPLE_HOLDERS, **EXAMPLE))
    c = float(accuracy.variance_realised_size(EXAMPLE_HOLDERS, **EXAMPLE))
    stated = float(as_published.published_variance_realised_size(EXAMPLE_HOLDERS, **EXAMPLE))
    z, power = _simulated_gain(g - c)
    return Verdict(
        judge(max(gains) <= 0, sound=sound and z > FIVE_SIGMA),
        f"n = 1000, f = .3, pi = .5, epsilon = 1, k = 4: Var(g) = {g:.2f}, Var(c-hat) = {c:.2f} (the source's formula: {stated:.2f}); "
        f"equal to enumeration in {len(CASES)} populations; simulated difference {z:.1f} standard errors above 0",
        "enumeration",
        corrected="Var(g_DE) - Var(c-hat) = n (1-pi) q (2r - q) / (pi (p-q)^2) > 0 at every pi < 1 and finite epsilon, r = f p + (1-f) q: "
        "c-hat is the better estimate.",
        false_alarm=float(special.ndtr(-FIVE_SIGMA)),
        power=power,
    )


def _uncorrelated(case: Case) -> Array:
    """Add the displayed variance of g_DE and that of the realised size, as the proof of Theorem 3.5 does, from
    enumeration.
    """
    n, rate, share = len(case.values), case.sampling_rate, case.holders / len(case.values)
    displayed = case.reports.variance(_rescaled(case)) - n * (1 - rate) * share * (1 - share) / rate
    size = case.reports.variance(case.reports.totals.sum(axis=1))
    return np.asarray(displayed + size / (rate * np.expm1(case.epsilon)) ** 2)


def _published(case: Case) -> Array:
    return as_published.published_variance_realised_size(case.holders, **case.setting)


def _simulated_gain(exact: float) -> tuple[float, float]:
    """Return the z-score of a simulated Var(g) - Var(c-hat) against 0, and the test's power if the exact difference
    holds.

    Each run gives ``(g - n f)^2 - (c - n f)^2``, whose mean is the difference of the variances.
    """
    rng = stream("Theorem 3.5", seed=2022)
    rate, mechanism = EXAMPLE["sampling_rate"], EXAMPLE["mechanism"]
    tallies = simulate_one_value(EXAMPLE_HOLDERS, EXAMPLE["nodes"], rate, mechanism.epsilon, 4, RUNS, rng)
    g = estimators.rescaled(tallies, **EXAMPLE)[:, 0] - EXAMPLE_HOLDERS
    c = estimators.realised_size(tallies, sampling_rate=rate, mechanism=mechanism)[:, 0] - EXAMPLE_HOLDERS
    differences = g**2 - c**2
    standard_error = differences.std(ddof=1) / np.sqrt(RUNS)
    power = special.ndtr(exact / standard_error - FIVE_SIGMA)
    return float(differences.mean() / standard_error), float(power)


@claim(
    "biswas2022",
    "Theorem 3.6",
    says="On average 0 <= g_DE <= n if and only if 0 <= c_DE <= n.",
    rests_on=(
        "accuracy.sampling.negative_mean_threshold",
        "accuracy.sampling.mean_unadjusted",
        "estimators.sampling.unadjusted",
        "estimators.sampling.rescaled",
        SWITCH,
        GAP,
    ),
)
def theorem_3_6() -> Verdict:
    """Compare the signs of both means, with and without sampling, and of both estimates outcome by outcome."""
    sound, sampled, complete = True, [], []
    for case in FIXED:
        n = len(case.values)
        g, c = case.reports.mean(_rescaled(case)), case.reports.mean(case.unadjusted)
        threshold = accuracy.negative_mean_threshold(sampling_rate=case.sampling_rate, mechanism=case.mechanism)
        sound &= agree(c, accuracy.mean_unadjusted(case.holders, **case.setting))
        sound &= agree(c, case.sampling_rate * (case.holders - n * threshold), abs=1e-9) and agree(
            g, case.holders, abs=1e-9
        )
        kept = replace(case, sampling_rate=1.0)
        full = kept.reports.mean(kept.unadjusted)
        sampled.append(np.array_equal((g > -1e-9) & (g < n + 1e-9), (c > -1e-9) & (c < n + 1e-9)))
        complete.append(bool(((full > -1e-9) & (full < n + 1e-9)).all()))
    nodes, q = 50_000, direct_encoding(1.0, 101)[0, 1]
    c_below, g_below = (special.bdtr(np.ceil(bound) - 1, nodes, 0.1 * q) for bound in (nodes * q, 0.1 * nodes * q))
    threshold = accuracy.negative_mean_threshold(
        sampling_rate=0.1, mechanism=frequency.KaryRandomisedResponse(1.0, 101)
    )
    return Verdict(
        judge(all(sampled), sound=sound and all(complete)),
        f"without sampling both means always lie in [0, n], so the statement says nothing; with it E c_DE < 0 for every f below "
        f"{threshold:.3f} at pi = .1, epsilon = 1 (that is, always) while E g_DE = n f; at n = {nodes}, k = 101 and a value nobody holds, "
        f"c_DE < 0 with chance {c_below:.3f} and g_DE < 0 with chance {g_below:.3f}",
        "enumeration",
        corrected="E g_DE = n f lies in [0, n] always; E c_DE under sampling is negative exactly when f < (1 - pi) / (pi (e^epsilon - 1)). "
        "A sign of a mean says nothing of the sign of an estimate.",
    )
