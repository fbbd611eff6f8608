"""What decides Section 4 of biswas2022, and what Section 6 reads off its figures: a check for each claim."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import optimize

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Floats
from ldpnb.claims import Evidence, Numbers, better, joined
from ldpnb.data import synthetic
from ldpnb.deciders import identity, oo, symbols
from ldpnb.estimators import frequency
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import proofs
from ldpnb.papers.biswas2022.formulas import distances, reporters
from ldpnb.papers.biswas2022.proofs import everywhere, f, n, pi, survey, t
from ldpnb.papers.biswas2022.tables.sampling import distributions
from ldpnb.papers.biswas2022.written_out import ALL, HIGH, LOW, USERS, published
from ldpnb.rng import stream

EPSILON, RUNS = 3.0, 30
FIRST, SECOND = distributions().values()
G_DE, C_HAT = "rescaled", "realised_size"


def _distance(name: str, distribution: Floats, rate: float, epsilon: float) -> float:
    """Return the mean total variation distance between an estimate and the data, in the normal limit."""
    known = SampledCounts(USERS, rate, KaryRandomisedResponse(epsilon, distribution.size))
    deviations = np.sqrt(getattr(known, f"variance_{name}")(USERS * distribution))
    return float(distances.expected_total_variation(deviations, users=USERS))


def _simulated(
    name: str, distribution: Floats, rate: float, epsilon: float, *, projected: bool = False
) -> tuple[float, float]:
    """Return mean and standard error of the distance of an estimate to a drawn data set, over simulated collections.

    An estimate has negative entries unless it is projected onto the simplex.
    """
    rng = stream("distance", rate, epsilon, seed=2022)
    mechanism = KaryRandomisedResponse(epsilon, distribution.size)
    counts = synthetic.sample_counts(distribution, USERS, rng=rng)
    tallies = np.array(
        [reporters.sampled_tallies(counts, rate, mechanism, rng=rng) for _ in range(RUNS)]
    )
    known: dict[str, Any] = {"sampling_rate": rate, "mechanism": mechanism}
    shares = (
        getattr(estimators, name)(tallies, **known | ({"users": USERS} if name == G_DE else {}))
        / USERS
    )
    off = (
        np.abs((frequency.project_simplex(shares) if projected else shares) - counts / USERS).sum(
            axis=1
        )
        / 2
    )
    return float(off.mean()), float(off.std(ddof=1) / np.sqrt(RUNS))


def section_4_domain(e: Evidence) -> Numbers:
    values = int((FIRST > 0).sum())
    e.needs(values == published()["domain_size"])
    return {"values": values}


def figure_1_and_2(e: Evidence) -> Numbers:
    e.proven(
        all(
            identity(proofs.moments(proofs.rescaled, law)[0], n * f) for law in proofs.DATA.values()
        )
    )
    e.proven(proofs.sums_over_users("variance_rescaled") and proofs.thinned(proofs.rescaled))
    e.proven(proofs.improves("variance_rescaled"))
    numbers: dict[str, object] = {}
    for name, distribution in (("first", FIRST), ("second", SECOND)):
        closed = [_distance(G_DE, distribution, rate, EPSILON) for rate in (LOW, HIGH)]
        drawn = [_simulated(G_DE, distribution, rate, EPSILON) for rate in (LOW, HIGH)]
        e.needs(better(closed[1], closed[0]))
        e.sure(
            all(
                abs(d[0] - mean) < 6 * d[1] + 0.01 * mean
                for mean, d in zip(closed, drawn, strict=True)
            )
        )
        numbers |= {
            name: joined(closed, ".3f"),
            f"{name}_drawn": joined((mean for mean, _ in drawn), ".3f"),
        }
    sums = np.convolve(synthetic.binomial(50, 0.6), synthetic.binomial(50, 0.4)), SECOND
    of_sum, of_mixture = (np.abs(other - FIRST).sum() / 2 for other in sums)
    return numbers | {"sum": of_sum, "mixture": of_mixture}


def figure_3_trade_off(e: Evidence) -> Numbers:
    e.decides(identity(reporters.expected_reports([n * f, n - n * f], pi), n * pi))
    e.proven(proofs.sums_over_users("variance_realised_size") and proofs.thinned(proofs.realised))
    e.decides(proofs.improves("variance_realised_size"))
    few, many = (reporters.expected_reports(USERS, rate) for rate in (LOW, HIGH))
    e.same([few, many], [LOW * USERS, HIGH * USERS])
    far, near = (_distance(C_HAT, FIRST, rate, EPSILON) for rate in (LOW, HIGH))
    e.needs(better(near, far))
    return {"few": few, "far": far, "many": many, "near": near}


def figure_3_diminishing_returns(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("variance_realised_size") and proofs.thinned(proofs.realised))
    e.proven(proofs.fewer_gains(pi=(0, Fraction(3, 4))))
    least = 1 + (t - 1) * (t - 1) / (3 * t)
    e.proven(proofs.fewer_gains(least + symbols("more")[0], more=(0, oo)))
    at_3 = [_distance(C_HAT, FIRST, rate, EPSILON) for rate in (0.1, 0.2, 0.9, 1.0)]
    e.needs(at_3[0] - at_3[1] > at_3[2] - at_3[3] > 0)
    early, late = (1 - at_3[i + 1] / at_3[i] for i in (0, 2))
    return {"largest": math.acosh(1 + 3 * (FIRST.size - 1) / 2), "early": early, "late": late}


def section_6_rate__1_against_1(e: Evidence) -> Numbers:
    e.proven(
        proofs.sums_over_users("variance_realised_size")
        and proofs.improves("variance_realised_size")
    )
    tenth, all_of_them = (survey(rate=r).variance_realised_size(n * f) for r in (0.1, 1))
    e.decides(everywhere(4 * all_of_them - tenth))

    def lost(epsilon: float, level: float) -> float:
        return _distance(C_HAT, FIRST, LOW, epsilon) - _distance(C_HAT, FIRST, ALL, epsilon) - level

    raw = [_tenth_against_all(epsilon)[0] for epsilon in (1.0, 3.0, 8.0)]
    e.sure(min(raw) > 2)
    projected = {
        epsilon: _tenth_against_all(epsilon, projected=True) for epsilon in (0.25, 0.5, 1.0, 3.0)
    }
    e.sure(
        all(
            (ratio + 4 * error < 2) == (epsilon <= 1)
            for epsilon, (ratio, error) in projected.items()
        )
    )
    return {
        "tenth": optimize.brentq(lost, 1.0, 12.0, (0.1,)),
        "twentieth": optimize.brentq(lost, 1.0, 12.0, (0.05,)),
        "raw": joined(raw, ".2f"),
        "projected": joined((ratio for ratio, _ in projected.values()), ".2f"),
    }


def _tenth_against_all(epsilon: float, *, projected: bool = False) -> tuple[float, float]:
    """Return the ratio of the distances of c-hat at a tenth of the reports and at all of them, and its error."""
    (few, few_error), (many, many_error) = (
        _simulated(C_HAT, FIRST, rate, epsilon, projected=projected) for rate in (LOW, ALL)
    )
    return few / many, few / many * math.hypot(few_error / few, many_error / many)
