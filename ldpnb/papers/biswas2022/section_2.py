"""Check the claims of Section 2 of Biswas, Cormode and Maple: one function for each."""

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


def definition_2_3(e: Evidence) -> Numbers:
    e.proven(identity(KARY.truthful_rate, KARY.p - KARY.q))
    e.proven(everywhere(KARY.truthful_rate))
    e.proven(everywhere(KARY.q))

    # If every possible output supported the value, so would every report of anybody.
    of_holders = KARY.p + (k - 1) * KARY.q
    of_others = KARY.q + KARY.p + (k - 2) * KARY.q
    e.proven(identity(of_holders, 1))
    e.decides(everywhere(of_holders - of_others))

    shown = KaryRandomisedResponse(1.0, 4)
    return {"p": shown.p, "q": shown.q}


def definition_2_4(e: Evidence) -> None:
    e.proven(identity(KARY.p, KEEP))
    e.proven(identity(KARY.q, SWITCH))
    e.proven(identity(KARY.truthful_rate, KEEP - SWITCH))
    e.proven(identity(KARY.p + (k - 1) * KARY.q, 1))
    e.proven(everywhere(KARY.p - KARY.q))
    e.decides(identity(KARY.p, t * KARY.q))

    for epsilon, size in SETTINGS:
        loss = channel.privacy_loss(KaryRandomisedResponse(epsilon, size).channel()).epsilon
        e.needs(np.isclose(loss, epsilon, rtol=1e-9))


def theorem_2_1(e: Evidence) -> Numbers:
    stated = proofs.survey().mean_unadjusted(n * f)
    e.proven(identity(stated, n * f * pi - n * SWITCH * (1 - pi) / (KEEP - SWITCH)))
    e.decides(proofs.sums_over_users("mean_unadjusted"))
    e.proven(identity(proofs.survey().bias_unadjusted(n * f), stated - n * f))
    e.proven(identity(proofs.survey(rate=1).bias_unadjusted(n * f)))
    for share in (f, 0, 1):
        e.decides(everywhere(-proofs.survey().bias_unadjusted(n * share)))

    # Reports of any pure protocol support a value with probability q + gap or q.
    q, gap = symbols("q gap")
    pure: Any = UnaryEncoding(q + gap, q, k)
    estimate = partial(proofs.unadjusted, mechanism=pure)
    holders = (n * f, pure.p, pi)
    others = (n * (1 - f), pure.q, pi)
    mean, _ = proofs.moments(estimate, (holders, others))
    e.decides(identity(mean, SampledCounts(n, pi, pure).mean_unadjusted(n * f)))

    missing = n * f - mean
    e.decides(identity(missing, n * (1 - pi) * (f + q / gap)))
    e.decides(everywhere(missing, q=(0, 1), gap=(0, 1)))

    example = SampledCounts(USERS, LOW, KaryRandomisedResponse(1.0, 101))
    return {"bias": example.bias_unadjusted(2500)}


def equation_4(e: Evidence) -> Numbers:
    mean_report = f * KEEP + (1 - f) * SWITCH
    third_line = n * pi * (mean_report - n * SWITCH)
    fourth_line = n * pi * mean_report - n * SWITCH
    stated = proofs.survey().mean_unadjusted(n * f)
    e.proven(proofs.sums_over_users("mean_unadjusted"))
    e.proven(identity(stated * (KEEP - SWITCH), fourth_line))
    e.proven(identity(fourth_line - third_line, n * SWITCH * (n * pi - 1)))
    e.decides(identity(third_line, fourth_line))

    krr = KaryRandomisedResponse(1.0, 4)
    return {"apart": 1000 * krr.q * (1000 * 0.1 - 1)}
