"""Section 2 of biswas2022: direct encoding, and the estimate that takes no notice of sampling."""

import numpy as np

from ldpnb.accuracy import sampling as accuracy
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.mechanisms import frequency
from ldpnb.papers.biswas2022.routes import CASES, FIXED, GAP, KEEP, SWITCH, direct_encoding, published
from ldpnb.privacy import channel as privacy

CHANNEL = "mechanisms.frequency.KaryRandomisedResponse.channel"


@claim(
    "biswas2022",
    "Definition 2.3, Remark 1",
    says="The outputs that support x are those with positive probability under x, which makes direct encoding a pure protocol.",
    rests_on=(CHANNEL,),
)
def support() -> Verdict:
    """Read both definitions of support off the channel."""
    channel = frequency.KaryRandomisedResponse(1.0, 4).channel()
    positive = np.array([[channel[channel[:, v] > 0, x].sum() for x in range(4)] for v in range(4)])
    declared = channel[0, 0], channel[0, 1]
    sound = agree(channel, direct_encoding(1.0, 4))
    literal_is_pure = bool(positive.diagonal().min() > positive[~np.eye(4, dtype=bool)].max())
    return Verdict(
        judge(literal_is_pure and declared[0] > declared[1], sound=sound, otherwise="corrected"),
        f"k = 4, epsilon = 1: taken literally p* = {positive[0, 0]:.4g} and q* = {positive[0, 1]:.4g}; with Support(i) = {{i}} "
        f"p* = {declared[0]:.4f} > q* = {declared[1]:.4f}",
        "enumeration",
        corrected="Support is part of a protocol's definition, Support(i) = {i} for direct encoding; it is not the set of possible outputs, "
        "which is everything.",
    )


@claim(
    "biswas2022",
    "Definition 2.4",
    says="Direct encoding keeps the value with probability c e^epsilon and moves to each other with c, and is epsilon-LDP.",
    rests_on=(CHANNEL, KEEP, SWITCH, GAP, "privacy.channel.privacy_loss"),
)
def direct_encoding_is_private() -> Verdict:
    """Compare the channel with the definition and its exact loss with epsilon."""
    losses = []
    sound = True
    for epsilon, size in ((1e-6, 2), (1.0, 4), (3.0, 101), (50.0, 101)):
        mechanism = frequency.KaryRandomisedResponse(epsilon, size)
        channel = direct_encoding(epsilon, size)
        sound &= agree(mechanism.channel(), channel)
        sound &= agree([mechanism.p, mechanism.q], channel[0, :2], abs=0)
        sound &= agree(mechanism.truthful_rate, np.expm1(epsilon) * channel[0, 1])
        losses.append(privacy.privacy_loss(mechanism.channel()).epsilon / epsilon)
    return Verdict(
        judge(agree(losses, np.ones(4)), sound=sound),
        "the exact loss equals epsilon to 1e-9 for (epsilon, k) = (1e-6, 2), (1, 4), (3, 101) and (50, 101)",
        "enumeration",
    )


@claim(
    "biswas2022",
    "Equation (4)",
    says="Under sampling at rate pi the mean of c_DE is n f pi - n q (1 - pi) / (p - q).",
    rests_on=("accuracy.sampling.mean_unadjusted", "estimators.sampling.unadjusted", SWITCH, GAP),
)
def equation_4() -> Verdict:
    """Compare with the mean over every outcome, for fixed and for iid data."""
    formula = [accuracy.mean_unadjusted(case.holders, **case.setting) for case in CASES]
    enumerated = [case.reports.mean(case.unadjusted) for case in CASES]
    sound = all(agree(one, other) for one, other in zip(formula, enumerated, strict=True))
    case = FIXED[0]
    n, gap = len(case.values), case.mechanism.truthful_rate
    reported = case.mechanism.q + case.holders[0] / n * gap
    displayed = n * case.sampling_rate * (reported - n * case.mechanism.q) / gap
    return Verdict(
        judge(sound, sound=sound),
        f"equal over {sum(case.reports.chances.size for case in CASES)} enumerated outcomes of {len(CASES)} populations, fixed and iid "
        f"(n = 4, k = 4, pi = .5, epsilon = 1: {formula[0][0]:.6f}); the line before, E(S) E(1 - nq) / (p - q), would be {displayed:.6f}",
        "enumeration",
    )


@claim(
    "biswas2022",
    "Theorem 2.1",
    says="With a sampling rate below 1, c_DE is biased (downwards).",
    rests_on=("accuracy.sampling.bias_unadjusted", "estimators.sampling.unadjusted", SWITCH, GAP),
)
def theorem_2_1() -> Verdict:
    """Compare the closed bias with enumeration, and look at its sign."""
    formula = [accuracy.bias_unadjusted(case.holders, **case.setting) for case in CASES]
    enumerated = [case.reports.mean(case.unadjusted) - case.holders for case in CASES]
    sound = all(agree(one, other, abs=1e-9) for one, other in zip(formula, enumerated, strict=True))
    holds = all(
        (bias < 0).all() if case.sampling_rate < 1 else agree(bias, 0 * bias)
        for case, bias in zip(CASES, formula, strict=True)
    )
    nodes = int(published()["nodes"])
    mechanism = frequency.KaryRandomisedResponse(1.0, 101)
    scale = accuracy.bias_unadjusted(
        nodes // 20, nodes=nodes, sampling_rate=published()["rate_low"], mechanism=mechanism
    )
    return Verdict(
        judge(holds, sound=sound),
        f"bias = -n (1 - pi) (f + 1/(e^epsilon - 1)), equal to enumeration in {len(CASES)} populations; at n = {nodes}, pi = .1, f = .05, "
        f"epsilon = 1 it is {scale:.2f} nodes; it vanishes only at pi = 1 (or f = 0 and infinite epsilon)",
        "enumeration",
    )
