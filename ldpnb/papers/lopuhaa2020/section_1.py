"""Decide the claims of the abstract, the introduction and Section 2.

Their words are in ``section_1.toml``. Throughout, ``t = e^epsilon``.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import sympy
from scipy.stats import beta, dirichlet

from ldpnb.arithmetic import Floats, Real
from ldpnb.claims import Evidence, Numbers, agree
from ldpnb.claims.degrees import WORDS
from ldpnb.deciders import budget, digits, identity, limit, oo, positive, symbols, zeros
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020 import written_out
from ldpnb.papers.lopuhaa2020.formulas import exact_risk, information
from ldpnb.papers.lopuhaa2020.tables import frequencies
from ldpnb.papers.lopuhaa2020.tables.frequencies import Truth
from ldpnb.privacy import channel

SEED = 2022
CERTAIN = 6.0
"""Standard errors within which one error is not told from another."""
FALSE_ALARM = 1e-6
"""More than the probability that a normal ratio lies `CERTAIN` standard errors off."""

PRIOR = 0.5  # Jeffreys'
SETTINGS = (
    ("k-RR", Truth.from_prior(1024, 10**4, PRIOR)),
    ("k-RR", Truth.from_prior(1024, 10**6, PRIOR)),
    ("OUE", Truth.from_prior(10, 100, PRIOR)),
    ("OUE", Truth.from_prior(10, 10**6, PRIOR)),
)


# Abstract


def abstract(e: Evidence) -> Numbers:
    table = pd.concat([_ratios(*setting) for setting in SETTINGS])
    limit_of_equal = WORDS["equal"]
    never_worse = (table[["least", "to unbiased"]] <= limit_of_equal).all(axis=None)
    somewhere_better = (table["largest"] < 1 / limit_of_equal).any()
    e.simulated(never_worse and somewhere_better, false_alarm=FALSE_ALARM)

    start = _where_norm_sub_errs_less(e)
    of_three_users = _errors_of_three_users(np.log(6))
    e.sure(of_three_users["MLE"] > of_three_users["Norm-Sub"])

    zipf = Truth.from_distribution("Zipf 1.5", frequencies.zipf(256, 1.5), 100_000)
    many = frequencies.compare("k-RR", zipf, [1.0, 4.0], draws=100, seed=SEED)
    rows = many.query("target == 'distribution' and estimator == 'MLE'")
    low, high = rows["ratio"]
    e.sure(min(low, high) > 1)

    return {
        "least": table["ratio"].min(),
        "most": table["ratio"].max(),
        "unbiased": table["to unbiased"].max(),
        "start": start,
        "mle": of_three_users["MLE"],
        "norm_sub": of_three_users["Norm-Sub"],
        "low": low,
        "high": high,
    }


def _ratios(mechanism: str, truth: Truth) -> pd.DataFrame:
    """Return the errors of maximum likelihood over those of the other two estimates.

    Columns are the ratio to Norm-Sub, the least and the largest ratio that a hundred data sets do
    not exclude, and the ratio to the unbiased estimate.
    """
    table = frequencies.compare(mechanism, truth, (1.0, 2.0, 4.0), draws=100, seed=SEED)
    table = table.set_index([frequencies.EPSILON, "target"])
    likelihood = table[table["estimator"] == "MLE"]
    unbiased = table[table["estimator"] == "unbiased"]
    spread = CERTAIN * likelihood["ratio error"]
    return pd.DataFrame(
        {
            "ratio": likelihood["ratio"],
            "least": likelihood["ratio"] - spread,
            "largest": likelihood["ratio"] + spread,
            "to unbiased": likelihood["ratio"] / unbiased["ratio"],
        }
    )


def _where_norm_sub_errs_less(e: Evidence) -> float:
    """Prove above which budget Norm-Sub errs less for three users of one value, and return it.

    The two estimates differ only if two of the three reports name one value and one another.
    """
    t = symbols("t")[0]
    (crossing,) = zeros(lambda x: 4 * x * x * x - 17 * x * x + x - 3, 2, 10)
    e.sure(digits(crossing, "4.233"))

    by_likelihood = (1 - 1 / (t - 1)) / 3
    by_norm_sub = (2 - 3 / (t - 1)) / 6  # from t = 5/2 on; below that, it is 0
    half = sympy.Rational(5, 2)
    low = sympy.Rational("4.2327")
    high = sympy.Rational("4.2329")

    gain = _error_part(t, by_norm_sub) - _error_part(t, by_likelihood)
    e.proven(positive(-gain, {t: (high, oo)}))
    e.proven(positive(gain, {t: (half, low)}))
    e.proven(positive(_error_part(t, t - t) - _error_part(t, by_likelihood), {t: (2, half)}))
    return float(crossing.log().mid())


def _error_part(t: Real, share: Real) -> Real:
    """Return the part of the error due to such reports, with this share at the rarer value."""
    krr = KaryRandomisedResponse(budget(t), 3)
    other = 1 - share
    wrong = 1 + share * share + other * other
    two_true = 12 * krr.p * krr.p * krr.q * share * share
    one_true = 12 * krr.p * krr.q * krr.q * other * other
    none_true = 6 * krr.q * krr.q * krr.q * wrong
    return two_true + one_true + none_true


def _errors_of_three_users(epsilon: float) -> Mapping[str, float]:
    """Return both errors for three users of the first of three values, over all reports."""
    sequences = np.indices((3, 3, 3)).reshape(3, -1).T
    tallies = (sequences[:, :, None] == np.arange(3)).sum(axis=1)
    chances = written_out.krr_channel(epsilon, 3)[sequences, 0].prod(axis=1)

    errors = {}
    for name in ("MLE", "Norm-Sub"):
        estimates = frequencies.krr_estimate(name, tallies, epsilon)
        errors[name] = float(chances @ ((estimates - [1, 0, 0]) ** 2).sum(axis=1))
    return errors


# Section 1.2


def section_1_2_optimised_unary_encoding(e: Evidence) -> Numbers:
    size, root = symbols("a s")  # root = e^(epsilon / 2)
    optimised = UnaryEncoding.optimised(2 * budget(root), size)
    symmetric = UnaryEncoding.symmetric(2 * budget(root), size)
    of_optimised = information.unbiased_frequency_error(optimised)
    of_symmetric = information.unbiased_frequency_error(symmetric)

    gain = size * root / ((root + 1) * (root + 1)) - 1
    # At a value that nobody holds.
    rare_optimised = _rare_variance(optimised)
    rare_symmetric = _rare_variance(symmetric)
    e.decides(positive(rare_symmetric - rare_optimised, {root: (1, oo)}))
    e.decides(limit(rare_optimised / rare_symmetric, root.expression, 1) == 1)

    # Summed over all values: the gain is positive if and only if a > root + 2 + 1/root.
    e.proven(identity(of_symmetric - of_optimised, gain))
    e.proven(limit(of_optimised / of_symmetric, root.expression, 1) == 1)

    errors = {
        "equal": 2 * np.arccosh(4.0),
        "rare_oue": _rare_variance(UnaryEncoding.optimised(2.0, 10)),
        "rare_sue": _rare_variance(UnaryEncoding.symmetric(2.0, 10)),
    }
    for epsilon in (2, 6):
        for name, make in (("oue", UnaryEncoding.optimised), ("sue", UnaryEncoding.symmetric)):
            error = information.unbiased_frequency_error(make(float(epsilon), 10))
            errors[f"{name}_{epsilon}"] = error
    return errors


def _rare_variance(encoding: UnaryEncoding) -> Real:
    """Return ``n`` times the variance of the unbiased estimate of a value that nobody holds."""
    gap = encoding.truthful_rate
    return encoding.q * (1 - encoding.q) / (gap * gap)


# Section 2


def section_2_2_worst_case(e: Evidence) -> Numbers:
    # Added up over the a coordinates, where the second brackets have the sum 1 - 1/a.
    g, a = symbols("g a")
    coordinate = g * g - 2 * g / a + 1 / a
    e.decides(identity(coordinate, (g - 1 / a) * (g - 1 / a) + (1 / a - 1 / (a * a))))

    rows = written_out.krr_channel(1.0, 3)
    reports = np.array([0, 4, 0])
    estimate = frequencies.krr_estimate("MLE", reports[None], 1.0)[0]
    error = float(((estimate - [1, 0, 0]) ** 2).sum())
    e.needs(rows.min() > 0 and error >= 1 - 1 / 3)
    return {"chance": rows[1, 0] ** 4, "error": error}


def section_2_3_entropy(e: Evidence) -> Numbers:
    for size in range(2, 9):
        for left_out in range(size - 1):
            e.proven(_exchange_of_shares(size, left_out).det() == -1)

    alphas = np.array([0.5, 1.0, 1.5])
    entropies = [_entropy_without(left_out, alphas) for left_out in range(3)]
    e.needs(agree(entropies, np.full(3, dirichlet(alphas).entropy()), rel=1e-6))
    return dict(zip(("first", "second", "third"), entropies, strict=True))


def _exchange_of_shares(size: int, left_out: int) -> sympy.Matrix:
    """Return the linear map that has the last share in place of another one."""
    matrix = sympy.eye(size - 1)
    for column in range(size - 1):
        matrix[left_out, column] = -1
    return matrix


def _entropy_without(left_out: int, alphas: Floats) -> float:
    """Return the entropy of the two shares of a Dirichlet law that are not left out.

    The first is ``u`` and the second ``(1 - u) v``, where u and v are independent Beta variables,
    so that the density of the two is ``f(u) g(v) / (1 - u)``.
    """
    first, second = np.delete(alphas, left_out)
    rest = alphas[left_out]
    one = beta(first, second + rest)
    other = beta(second, rest)
    mean_log = one.expect(lambda u: np.log(1 - u))
    return float(one.entropy() + other.entropy() + mean_log)


def section_2_4_assumptions(e: Evidence) -> Numbers:
    rows = sympy.Matrix(3, 4, sympy.symbols("q:12"))
    moved = sympy.Matrix(sympy.symbols("v:4"))
    last = sympy.Matrix([1 - sum(rows[:, x]) for x in range(4)]).T
    whole = rows.col_join(last)
    e.proven(identity(sum(whole * moved), sum(moved)))  # so what the channel takes to 0 has sum 0

    merged = written_out.krr_channel(1.0, 2)[:, [0, 1, 1]]
    risks = {}
    for name, users in (("four", 4), ("eight", 8), ("sixteen", 16)):
        least = exact_risk.exact_risks(merged, users, written_out.JEFFREYS, {})["Bayes"]
        risks[name] = least.distribution

    # Of the two merged shares, one is a Beta(1/2, 1/2) part of their sum, which is Beta(1, 1/2).
    floor = 2 / 8 * (1 * 2) / (1.5 * 2.5)
    e.needs(min(risks.values()) >= floor)

    for channel_rows in written_out.CHANNELS:
        e.same(channel.privacy_loss(channel_rows).epsilon, written_out.loss(channel_rows))
    loss = channel.privacy_loss([[0.5, 0.0], [0.5, 1.0]]).epsilon
    e.needs(np.isinf(loss))
    shown_loss = "infinite" if np.isinf(loss) else f"{loss:g}"
    return {**risks, "floor": floor, "loss": shown_loss}
