"""Section 2 of biswas2022: direct encoding, and the estimate that takes no notice of sampling."""

from functools import partial

from ldpnb.accuracy import sampling as accuracy
from ldpnb.claims import Evidence, claim
from ldpnb.deciders import identity
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import proofs
from ldpnb.papers.biswas2022.proofs import KARY, KEEP, SWITCH, everywhere, f, k, n, pi, t
from ldpnb.papers.biswas2022.routes import CASES, FIXED, NOISE, RANDOMISER, direct_encoding, published
from ldpnb.privacy import channel as privacy

section_2 = partial(claim, kind="proof", reach="all parameters")


@section_2(
    "Definition 2.3, Remark 1",
    KaryRandomisedResponse.channel,
    *RANDOMISER,
    over="epsilon > 0, k >= 2",
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
    e.proven(identity(KARY.truthful_rate, KARY.p - KARY.q))
    e.proven(everywhere(KARY.truthful_rate))
    e.proven(everywhere(KARY.q))
    of_holders, of_others = KARY.p + (k - 1) * KARY.q, KARY.q + KARY.p + (k - 2) * KARY.q
    e.proven(identity(of_holders, 1))
    e.decides(everywhere(of_holders - of_others))
    return (
        "every output has positive probability under every value, so taken literally p* = q* = 1; with Support(i) = "
        f"{{i}} p* > q*, at k = 4 and epsilon = 1 {channel[0, 0]:.4f} > {channel[0, 1]:.4f}"
    )


@section_2(
    "Definition 2.4", KaryRandomisedResponse.channel, *RANDOMISER, privacy.privacy_loss, over="epsilon > 0, k >= 2"
)
def direct_encoding_is_private(e: Evidence) -> str:
    """Direct encoding keeps the value with probability c e^epsilon and moves to each other with c, and is
    epsilon-LDP.
    """
    for epsilon, size in ((1e-6, 2), (3.0, 101), (50.0, 101)):
        mechanism, channel = KaryRandomisedResponse(epsilon, size), direct_encoding(epsilon, size)
        e.same(mechanism.channel(), channel)
        e.same([mechanism.p, mechanism.q], channel[0, :2], abs=0)
        e.same(privacy.privacy_loss(channel).epsilon / epsilon, 1.0)
    e.proven(identity(KARY.p, KEEP) and identity(KARY.q, SWITCH) and identity(KARY.truthful_rate, KEEP - SWITCH))
    e.proven(identity(KARY.p + (k - 1) * KARY.q, 1))
    e.proven(everywhere(KARY.p - KARY.q))
    e.decides(identity(KARY.p, t * KARY.q))
    return (
        "rows of the channel hold p and q only, and p/q = e^epsilon: the exact loss equals epsilon, as it does to 1e-9 "
        "in channels written out for (epsilon, k) = (1e-6, 2), (3, 101) and (50, 101)"
    )


@section_2(
    "Equation (4)",
    accuracy.SampledCounts.mean_unadjusted,
    estimators.unadjusted,
    *NOISE,
    over=proofs.FIXED_OR_IID,
    argument=proofs.SUMS,
)
def equation_4(e: Evidence) -> str:
    """Under sampling at rate pi the mean of c_DE is n f pi - n q (1 - pi) / (p - q)."""
    for case in CASES:
        e.same(case.survey.mean_unadjusted(case.holders), case.reports.mean(case.unadjusted))
    stated = proofs.survey().mean_unadjusted(n * f)
    e.proven(identity(stated, n * f * pi - n * SWITCH * (1 - pi) / (KEEP - SWITCH)))
    for law in proofs.DATA.values():
        e.decides(identity(stated, proofs.moments(proofs.unadjusted, law)[0]))
    case = FIXED[0]
    users, q, gap = len(case.values), case.mechanism.q, case.mechanism.truthful_rate
    reported = q + case.holders[0] / users * gap
    displayed = users * case.sampling_rate * (reported - users * q) / gap
    return (
        f"equal as a formula, and over {sum(case.reports.chances.size for case in CASES)} enumerated outcomes of "
        f"{len(CASES)} populations, fixed and iid (n = 4, k = 4, pi = .5, epsilon = 1: "
        f"{case.survey.mean_unadjusted(case.holders)[0]:.6f}); the line before, E(S) E(1 - n q) / (p - q), would be "
        f"{displayed:.6f}"
    )


@section_2(
    "Theorem 2.1",
    accuracy.SampledCounts.bias_unadjusted,
    estimators.unadjusted,
    *NOISE,
    over=proofs.FIXED_OR_IID,
    argument=proofs.SUMS,
)
def theorem_2_1(e: Evidence) -> str:
    """With a sampling rate below 1, c_DE is biased (downwards)."""
    for case in CASES:
        e.same(case.survey.bias_unadjusted(case.holders), case.reports.mean(case.unadjusted) - case.holders, abs=1e-9)
    for law in proofs.DATA.values():
        e.proven(identity(proofs.survey().bias_unadjusted(n * f), proofs.moments(proofs.unadjusted, law)[0] - n * f))
    e.proven(identity(proofs.survey(rate=1).bias_unadjusted(n * f)))
    for share in (f, 0, 1):
        e.decides(everywhere(-proofs.survey().bias_unadjusted(n * share)))
    users = int(published()["nodes"])
    survey = accuracy.SampledCounts(users, published()["rate_low"], KaryRandomisedResponse(1.0, 101))
    return (
        f"bias = -n (1 - pi) (f + 1/(e^epsilon - 1)), equal to enumeration in {len(CASES)} populations; at n = "
        f"{users}, pi = .1, f = .05, epsilon = 1 it is {survey.bias_unadjusted(users // 20):.2f} users; it vanishes "
        "only at pi = 1 (or f = 0 and infinite epsilon)"
    )
