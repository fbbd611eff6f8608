"""Section 2 of biswas2022: direct encoding, and the estimate that takes no notice of sampling."""

from functools import partial

import numpy as np

from ldpnb.accuracy import sampling as accuracy
from ldpnb.claims import Evidence, agree, claim
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.routes import CASES, FIXED, NOISE, RANDOMISER, direct_encoding, published
from ldpnb.privacy import channel as privacy

section_2 = partial(claim, kind="enumeration")


@section_2(
    "Definition 2.3, Remark 1",
    KaryRandomisedResponse.channel,
    otherwise="corrected",
    corrected="Support is part of a protocol's definition, Support(i) = {i} for direct encoding; it is not the set of "
    "possible outputs, which is everything.",
)
def support(e: Evidence) -> str:
    """The outputs that support x are those with positive probability under x, which makes direct encoding a pure
    protocol.
    """
    channel = KaryRandomisedResponse(1.0, 4).channel()
    e.same(channel, direct_encoding(1.0, 4))
    positive = np.array([[channel[channel[:, v] > 0, x].sum() for x in range(4)] for v in range(4)])
    keep, switch = channel[0, :2]
    e.needs(positive.diagonal().min() > positive[~np.eye(4, dtype=bool)].max() and keep > switch)
    return (
        f"k = 4, epsilon = 1: taken literally p* = {positive[0, 0]:.4g} and q* = {positive[0, 1]:.4g}; with "
        f"Support(i) = {{i}} p* = {keep:.4f} > q* = {switch:.4f}"
    )


@section_2("Definition 2.4", KaryRandomisedResponse.channel, *RANDOMISER, privacy.privacy_loss)
def direct_encoding_is_private(e: Evidence) -> str:
    """Direct encoding keeps the value with probability c e^epsilon and moves to each other with c, and is
    epsilon-LDP.
    """
    for epsilon, size in ((1e-6, 2), (1.0, 4), (3.0, 101), (50.0, 101)):
        mechanism, channel = KaryRandomisedResponse(epsilon, size), direct_encoding(epsilon, size)
        e.same(mechanism.channel(), channel)
        e.same([mechanism.p, mechanism.q], channel[0, :2], abs=0)
        e.same(mechanism.truthful_rate, np.expm1(epsilon) * channel[0, 1])
        ratios = np.log(channel.max(axis=1) / channel.min(axis=1))
        e.same(privacy.privacy_loss(channel).epsilon, ratios.max())
        e.needs(agree(ratios.max() / epsilon, 1.0))
    return "the exact loss equals epsilon to 1e-9 for (epsilon, k) = (1e-6, 2), (1, 4), (3, 101) and (50, 101)"


@section_2("Equation (4)", accuracy.SampledCounts.mean_unadjusted, estimators.unadjusted, *NOISE)
def equation_4(e: Evidence) -> str:
    """Under sampling at rate pi the mean of c_DE is n f pi - n q (1 - pi) / (p - q)."""
    for case in CASES:
        e.same(case.survey.mean_unadjusted(case.holders), case.reports.mean(case.unadjusted))
    case = FIXED[0]
    n, q, gap = len(case.values), case.mechanism.q, case.mechanism.truthful_rate
    reported = q + case.holders[0] / n * gap
    displayed = n * case.sampling_rate * (reported - n * q) / gap
    return (
        f"equal over {sum(case.reports.chances.size for case in CASES)} enumerated outcomes of {len(CASES)} "
        f"populations, fixed and iid (n = 4, k = 4, pi = .5, epsilon = 1: "
        f"{case.survey.mean_unadjusted(case.holders)[0]:.6f}); the line before, E(S) E(1 - nq) / (p - q), would be "
        f"{displayed:.6f}"
    )


@section_2("Theorem 2.1", accuracy.SampledCounts.bias_unadjusted, estimators.unadjusted, *NOISE)
def theorem_2_1(e: Evidence) -> str:
    """With a sampling rate below 1, c_DE is biased (downwards)."""
    for case in CASES:
        bias = case.survey.bias_unadjusted(case.holders)
        e.same(bias, case.reports.mean(case.unadjusted) - case.holders, abs=1e-9)
        e.needs((bias < 0).all() if case.sampling_rate < 1 else agree(bias, 0 * bias))
    users = int(published()["nodes"])
    survey = accuracy.SampledCounts(users, published()["rate_low"], KaryRandomisedResponse(1.0, 101))
    return (
        f"bias = -n (1 - pi) (f + 1/(e^epsilon - 1)), equal to enumeration in {len(CASES)} populations; at n = "
        f"{users}, pi = .1, f = .05, epsilon = 1 it is {survey.bias_unadjusted(users // 20):.2f} nodes; it vanishes "
        "only at pi = 1 (or f = 0 and infinite epsilon)"
    )
