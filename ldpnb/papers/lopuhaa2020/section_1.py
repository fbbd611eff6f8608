"""What decides the abstract, introduction and Section 2 of lopuhaa2020; the words stand in ``section_1.toml``."""

import numpy as np
import sympy

from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import budget, digits, identity, limit, oo, positive, symbols, zeros
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020 import written_out
from ldpnb.papers.lopuhaa2020.formulas import exact_risk, information
from ldpnb.papers.lopuhaa2020.formulas.information import SymmetricDirichlet
from ldpnb.papers.lopuhaa2020.formulas.lower_bounds import LowerBounds
from ldpnb.papers.lopuhaa2020.tables import frequencies
from ldpnb.privacy import channel


def abstract(e: Evidence) -> Numbers:
    t = symbols("t")[0]
    (crossing,) = zeros(lambda x: 4 * x * x * x - 17 * x * x + x - 3, 2, 10)
    e.sure(digits(crossing, "4.233"))
    m, v = (
        (1 - 1 / (t - 1)) / 3,
        (2 - 3 / (t - 1)) / 6,
    )  # the smaller share by the MLE, and by Norm-Sub from 5/2 on
    low, high = sympy.Rational("4.2327"), sympy.Rational("4.2329")
    gain = _error(t, v) - _error(t, m)
    e.decides(positive(gain, {t: (sympy.Rational(5, 2), oo)}))
    e.proven(positive(-gain, {t: (high, oo)}) and positive(gain, {t: (sympy.Rational(5, 2), low)}))
    e.proven(positive(_error(t, t - t) - _error(t, m), {t: (2, sympy.Rational(5, 2))}))
    ratios = dict(
        zip(("one", "two", "three", "four"), map(_over_norm_sub, (1.0, 2.0, 3.0, 4.0)), strict=True)
    )
    tail = frequencies.Truth.from_distribution("Zipf 1.5", frequencies.zipf(256, 1.5), 100_000)
    many = frequencies.compare("k-RR", tail, [1.0, 4.0], draws=100, seed=2022)
    low, high = many.query("target == 'distribution' and estimator == 'MLE'")["ratio"].to_numpy()
    return {
        **ratios,
        "crossing": float(crossing.mid()),
        "start": float(crossing.log().mid()),
        "low": low,
        "high": high,
    }


def _error(t: Real, share: Real) -> Real:
    """Return the part of the error that the tallies (2, 1, 0) make up, with this share at the rarer value."""
    krr = KaryRandomisedResponse(budget(t), 3)
    p, q, other = krr.p, krr.q, 1 - share
    wrong = 1 + share * share + other * other
    return 12 * p * p * q * share * share + 12 * p * q * q * other * other + 6 * q * q * q * wrong


def _over_norm_sub(epsilon: float) -> float:
    """Return the MLE's error over Norm-Sub's, three users of one value, three values, over all sequences of reports."""
    seen = np.indices((3, 3, 3)).reshape(3, -1).T
    tallies = (seen[:, :, None] == np.arange(3)).sum(axis=1)
    chances = written_out.krr_channel(epsilon, 3)[seen, 0].prod(axis=1)
    estimates = (frequencies.krr_estimate(name, tallies, epsilon) for name in ("MLE", "Norm-Sub"))
    one, other = (chances @ ((estimate - [1, 0, 0]) ** 2).sum(axis=1) for estimate in estimates)
    return float(one / other)


def section_1_1_any_epsilon(e: Evidence) -> Numbers:
    size, diversity, x = symbols("a d x")
    every = dict.fromkeys((size, diversity, x), (0, oo))

    def bound(times: Real) -> Real:  # where (e^epsilon - 1)^2 is so many times a / d
        return LowerBounds(size, np.log1p(np.sqrt(times * size / diversity))).distribution()

    e.proven(positive(diversity - bound(1 + x), every))
    e.decides(
        positive(bound(x) - diversity, every)
    )  # not the known bounds, so that it leaves the claim open
    values = SymmetricDirichlet(10).diversity()
    crossing = float(np.log1p(np.sqrt(10 / values)))
    return {"bound": LowerBounds(10, 3.0).distribution(), "values": values, "crossing": crossing}


def section_1_2_optimised_unary_encoding(e: Evidence) -> Numbers:
    size, root = symbols("a s")  # root = e^(epsilon / 2)
    makers = {"oue": UnaryEncoding.optimised, "sue": UnaryEncoding.symmetric}
    optimised, symmetric = (
        information.unbiased_frequency_error(m(2 * budget(root), size)) for m in makers.values()
    )
    e.proven(identity(symmetric - optimised, size * root / ((root + 1) * (root + 1)) - 1))
    e.proven(limit(optimised / symmetric, root.expression, 1) == 1)
    e.decides(positive(symmetric - optimised, {size: (2, oo), root: (1, oo)}))
    cases = [(name, make, epsilon) for epsilon in (2, 6) for name, make in makers.items()]
    errors = {
        f"{name}_{x}": information.unbiased_frequency_error(make(float(x), 10))
        for name, make, x in cases
    }
    return errors | {"equal": 2 * np.arccosh(4.0)}


def section_2_4_assumptions(e: Evidence) -> Numbers:
    rows, moved = sympy.Matrix(3, 4, sympy.symbols("q:12")), sympy.Matrix(sympy.symbols("v:4"))
    whole = rows.col_join(sympy.Matrix([1 - sum(rows[:, x]) for x in range(4)]).T)
    e.proven(identity(sum(whole * moved), sum(moved)))  # so what the channel takes to 0 has sum 0
    merged = written_out.krr_channel(1.0, 2)[:, [0, 1, 1]]
    risks = [
        exact_risk.exact_risks(merged, n, written_out.JEFFREYS, {})["Bayes"].distribution
        for n in (4, 8, 16)
    ]
    floor = (
        2 / 8 * (1 * 2) / (1.5 * 2.5)
    )  # the second share of the two is Beta(1/2, 1/2), their sum Beta(1, 1/2)
    e.needs(min(risks) >= floor)
    for rows in written_out.CHANNELS:
        e.same(channel.privacy_loss(rows).epsilon, written_out.loss(rows))
    loss = channel.privacy_loss([[0.5, 0.0], [0.5, 1.0]]).epsilon
    e.needs(np.isinf(loss))
    return dict(zip(("four", "eight", "sixteen"), risks, strict=True)) | {
        "floor": floor,
        "loss": loss,
    }
