"""What decides Section 2 of biswas2022: a check for each claim of ``section_2.toml``."""

from functools import partial
from typing import Any

import numpy as np

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import identity, symbols
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.biswas2022 import proofs
from ldpnb.papers.biswas2022.proofs import KARY, KEEP, SWITCH, everywhere, f, k, n, pi, t
from ldpnb.papers.biswas2022.written_out import LOW, USERS
from ldpnb.privacy import channel

SETTINGS = ((1e-6, 2), (3.0, 101), (50.0, 101))


def definition_2_3_remark_1(e: Evidence) -> Numbers:
    e.proven(identity(KARY.truthful_rate, KARY.p - KARY.q))
    e.proven(everywhere(KARY.truthful_rate) and everywhere(KARY.q))
    of_holders, of_others = KARY.p + (k - 1) * KARY.q, KARY.q + KARY.p + (k - 2) * KARY.q
    e.proven(identity(of_holders, 1))
    e.decides(everywhere(of_holders - of_others))
    shown = KaryRandomisedResponse(1.0, 4)
    return {"p": shown.p, "q": shown.q}


def definition_2_4(e: Evidence) -> Numbers:
    e.proven(
        identity(KARY.p, KEEP)
        and identity(KARY.q, SWITCH)
        and identity(KARY.truthful_rate, KEEP - SWITCH)
    )
    e.proven(identity(KARY.p + (k - 1) * KARY.q, 1) and everywhere(KARY.p - KARY.q))
    e.decides(identity(KARY.p, t * KARY.q))
    for epsilon, size in SETTINGS:
        loss = channel.privacy_loss(KaryRandomisedResponse(epsilon, size).channel()).epsilon
        e.needs(np.isclose(loss, epsilon, rtol=1e-9))
    return {"settings": ", ".join(f"({epsilon:g}, {size})" for epsilon, size in SETTINGS)}


def theorem_2_1(e: Evidence) -> Numbers:
    stated = proofs.survey().mean_unadjusted(n * f)
    e.proven(identity(stated, n * f * pi - n * SWITCH * (1 - pi) / (KEEP - SWITCH)))
    e.decides(proofs.sums_over_users("mean_unadjusted"))
    e.proven(identity(proofs.survey().bias_unadjusted(n * f), stated - n * f))
    e.proven(identity(proofs.survey(rate=1).bias_unadjusted(n * f)))
    for share in (f, 0, 1):
        e.decides(everywhere(-proofs.survey().bias_unadjusted(n * share)))
    q, gap = symbols(
        "q gap"
    )  # of any pure protocol: reports support the value with chance q + gap of holders, else q
    pure: Any = UnaryEncoding(q + gap, q, k)
    unadjusted = partial(proofs.unadjusted, mechanism=pure)
    mean = proofs.moments(unadjusted, ((n * f, pure.p, pi), (n * (1 - f), pure.q, pi)))[0]
    e.decides(identity(mean, SampledCounts(n, pi, pure).mean_unadjusted(n * f)))
    bias = n * f - mean
    e.decides(
        identity(bias, n * (1 - pi) * (f + q / gap)) and everywhere(bias, q=(0, 1), gap=(0, 1))
    )
    return {
        "bias": SampledCounts(USERS, LOW, KaryRandomisedResponse(1.0, 101)).bias_unadjusted(2500)
    }
