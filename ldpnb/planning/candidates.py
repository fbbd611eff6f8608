"""The mechanisms that can answer a question, each with the law of its estimate, its bits per client and its remarks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import comb, lgamma
from typing import Any

import numpy as np

from ldpnb.accuracy import budgets, gaps, means
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import FrequencyMechanism, KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import LocalLaplace, OneBit, histogram_sensitivity
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.planning import laws, reports
from ldpnb.planning.laws import Bits, Law, Noise, Sums
from ldpnb.planning.questions import Frequency, Gap, Mean, Question

REAL = 64
"""Bits of a real number as computers hold it."""

_TINY, _MANY = 1e-300, 10**9
_ROUNDED = "a value between the ends of its range is rounded to one of them"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism for a question.

    Parameters
    ----------
    name : str
    mechanism : callable
        From the budget of a report and the question, without unknowns, to the mechanism.
    law : callable
        From a mechanism and the question to the law of its estimate.
    bits : callable
        From a mechanism and the question to the bits that a client sends.
    remark : str
        What else is to be known.
    floor : str
        Why an error remains at any budget even when everybody reports.
    yardstick : bool
        Whether it is shown to compare with only, and is no local mechanism.
    """

    name: str
    mechanism: Callable[[float, Any], Any]
    law: Callable[[Any, Any], Law]
    bits: Callable[[Any, Any], int]
    remark: str = ""
    floor: str = ""
    yardstick: bool = False


def candidates(question: Question) -> tuple[Candidate, ...]:
    """Return the mechanisms for a question, the yardstick last."""
    if isinstance(question, Frequency):
        return _FREQUENCY
    if isinstance(question, Mean):
        return (_WARNER if question.binary else _ONE_BIT, *_MEAN)
    return _GAP


def _support(mechanism: FrequencyMechanism, question: Frequency) -> Bits:
    """Return the law of a pure protocol's estimate of one share, or of all."""
    events = mechanism.domain_size if question.simultaneous else 1
    if isinstance(mechanism, KaryRandomisedResponse) and events == 2:
        events = 1
    deviation = float(question.error or 0) * (mechanism.p - mechanism.q)
    return Bits(mechanism.p, max(mechanism.q, _TINY), deviation, ends=True, events=events)


def _histogram_noise(epsilon: float, question: Frequency) -> Noise:
    scale = histogram_sensitivity("replacement") / epsilon
    return Noise(float(question.error or 0) / scale, int(question.values or 1) if question.simultaneous else 1)


def _subset_bits(values: int, size: int) -> int:
    """Return the bits that number all subsets of a size; beyond a few thousand values from Stirling's series, rounded
    up.
    """
    if values <= 2000:
        return (comb(values, size) - 1).bit_length()
    return int(np.ceil((lgamma(values + 1) - lgamma(size + 1) - lgamma(values - size + 1)) / np.log(2)))


_FREQUENCY = (
    Candidate(
        "k-RR",
        lambda epsilon, question: KaryRandomisedResponse(epsilon, question.values),
        _support,
        lambda mechanism, question: int(mechanism.domain_size - 1).bit_length(),
    ),
    Candidate(
        "SUE",
        lambda epsilon, question: UnaryEncoding.symmetric(epsilon, question.values),
        _support,
        lambda mechanism, question: mechanism.domain_size,
    ),
    Candidate(
        "OUE",
        lambda epsilon, question: UnaryEncoding.optimised(epsilon, question.values),
        _support,
        lambda mechanism, question: mechanism.domain_size,
        floor="the bit of the own value stays a fair coin",
    ),
    Candidate(
        "subset selection",
        lambda epsilon, question: SubsetSelection.optimal(epsilon, question.values),
        _support,
        lambda mechanism, question: _subset_bits(mechanism.domain_size, mechanism.subset_size),
    ),
    Candidate(
        "signs",
        lambda epsilon, question: SignRandomiser(epsilon, question.values),
        _support,
        lambda mechanism, question: mechanism.domain_size if question.design.amplifies else 1,
        "1 bit with public random signs, one per value and client; k bits without, as where nobody may know whose report it is",
        "the signs of other values stay fair coins",
    ),
    Candidate(
        "central Laplace",
        lambda epsilon, question: epsilon,
        _histogram_noise,
        lambda mechanism, question: 0,
        "a trusted curator who knows everybody's value; replacement, on the exact histogram",
        yardstick=True,
    ),
)


def _warner(mechanism: KaryRandomisedResponse, question: Mean) -> Bits:
    deviation = float(question.error or 0) / question.scale * mechanism.truthful_rate
    return Bits(mechanism.p, mechanism.q, deviation, ends=True)


def _one_bit(mechanism: OneBit, question: Mean) -> Bits:
    return Bits(mechanism.p, mechanism.q, float(question.error or 0) / question.scale * mechanism.slope, ends=False)


def _local_laplace(epsilon: float, question: Mean) -> Sums:
    """Return the law of a mean of noisy values, on the scale of values in ``[0, 1]``."""
    error = float(question.error or 0) / question.scale

    def variance(rate: float) -> float:
        return means.worst_variance(LocalLaplace(epsilon), 1) + (1 - rate) * means.one_bit_floor(1.0, 1) ** 2

    def exact(clients: int) -> float:
        return means.laplace_sum_tail(clients, clients * error * epsilon)

    def cumulant(tilt: float, complete: bool) -> float:
        noise = -float(np.log1p(-((tilt / epsilon) ** 2)))
        return noise if complete else noise + laws.bits_cumulant(tilt)

    return Sums(error, cumulant, epsilon, variance, exact)


_WARNER = Candidate(
    "Warner", lambda epsilon, question: KaryRandomisedResponse(epsilon, 2), _warner, lambda mechanism, question: 1
)
_ONE_BIT = Candidate(
    "1-bit", lambda epsilon, question: OneBit(epsilon), _one_bit, lambda mechanism, question: 1, floor=_ROUNDED
)
_MEAN = (
    Candidate(
        "local Laplace",
        lambda epsilon, question: epsilon,
        _local_laplace,
        lambda mechanism, question: REAL,
        f"a real number counts {REAL} bits",
    ),
    Candidate(
        "central Laplace",
        lambda epsilon, question: epsilon,
        lambda epsilon, question: Noise(float(question.error or 0) / question.scale * epsilon),
        lambda mechanism, question: 0,
        "a trusted curator who knows everybody's value; replacement, on the exact sum",
        yardstick=True,
    ),
)


def _half(question: Gap) -> float:
    """Return the target error on the scale of values in ``[-1, 1]``."""
    return 2 * float(question.error or 0) / (question.high - question.low)


def _signed_bit(mechanism: SignedBit, question: Gap) -> Bits:
    smaller = min(mechanism.sizes[:2]) / sum(mechanism.sizes)
    return _signs(mechanism.gain, _half(question) * smaller * mechanism.gain)


def _signs(gain: float, deviation: float) -> Bits:
    """Return the law of a sum of signs with means in ``[-gain, gain]``, as bits."""
    return Bits((1 + gain) / 2, (1 - gain) / 2, deviation / 2, ends=False)


def _discretised(mechanism: DiscretisedMeans, question: Gap) -> Law:
    sizes = question.groups
    if len(sizes) == 2 and sizes[0] == sizes[1]:
        return _signs(mechanism.gain, _half(question) / 2 * mechanism.gain)
    return _gap_sums(mechanism, sizes, _half(question), reports.discretised_cumulant(mechanism, sizes), largest=1.0)


def _laplace_means(mechanism: LaplaceMeans, question: Gap) -> Sums:
    cumulant = reports.laplace_cumulant(mechanism, question.groups)
    return _gap_sums(mechanism, question.groups, _half(question), cumulant, steepest=1 / mechanism.kept_scale)


def _signed_laplace(mechanism: SignedLaplace, question: Gap) -> Sums:
    sizes = question.groups
    smaller = min(sizes[:2]) / sum(sizes)

    def exact(clients: int) -> float:
        return means.laplace_sum_tail(clients, clients * _half(question) * smaller / mechanism.scale)

    cumulant = reports.signed_laplace_cumulant(mechanism)
    return _gap_sums(mechanism, sizes, _half(question), cumulant, steepest=1 / mechanism.scale, exact=exact)


def _gap_sums(
    mechanism: DiscretisedMeans | LaplaceMeans | SignedLaplace,
    sizes: tuple[int, ...],
    error: float,
    cumulant: Callable[[float, bool], float],
    *,
    steepest: float = 60.0,
    **more: Any,
) -> Sums:
    """Return the law of a gap as that of a mean report, whose scale is such that the smaller group's clients count 1."""
    clients, unit = sum(sizes), mechanism.gain * min(sizes[:2]) / sum(sizes)
    noisy = not isinstance(mechanism, DiscretisedMeans)

    def variance(rate: float) -> float:
        sampling = (1 - rate) * (1 / sizes[0] + 1 / sizes[1]) if noisy else 0.0
        return clients * unit**2 * (gaps.worst_gap_variance(mechanism, sizes) + sampling)

    return Sums(error * unit, cumulant, steepest, variance, **more)


def _best_laplace(epsilon: float, question: Gap) -> LaplaceMeans:
    shares = question.shares if question.sizes is None else tuple(size / sum(question.sizes) for size in question.sizes)
    if len(shares) == 2 and shares[0] != shares[1]:
        return _best_for_shares(epsilon, shares[0])
    return LaplaceMeans.calibrated(epsilon, len(shares))


@lru_cache(maxsize=64)
def _best_for_shares(epsilon: float, share: float) -> LaplaceMeans:
    """Return the best allocation for two groups, which depends on their proportion alone."""
    first = max(1, round(share * _MANY))
    return budgets.best_laplace(epsilon, (first, _MANY - first))


_GAP = (
    Candidate(
        "M_R",
        lambda epsilon, question: DiscretisedMeans.calibrated(epsilon, len(question.groups)),
        _discretised,
        lambda mechanism, question: (2 * mechanism.groups - 1).bit_length(),
        floor=_ROUNDED,
    ),
    Candidate(
        "M_L, k = 2",
        _best_laplace,
        _laplace_means,
        lambda mechanism, question: REAL + (mechanism.groups - 1).bit_length(),
        f"a real number counts {REAL} bits",
    ),
    Candidate(
        "signed bit",
        lambda epsilon, question: SignedBit(epsilon, question.groups),
        _signed_bit,
        lambda mechanism, question: 1,
        floor=_ROUNDED,
    ),
    Candidate(
        "signed Laplace",
        lambda epsilon, question: SignedLaplace(epsilon, question.groups),
        _signed_laplace,
        lambda mechanism, question: REAL,
        f"a real number counts {REAL} bits",
    ),
)
