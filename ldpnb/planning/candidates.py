"""The mechanisms that can answer a question, each with the errors of its estimate, its bits and its remarks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb, lgamma
from typing import Any

import numpy as np

from ldpnb.accuracy import budgets, gaps, means
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import FrequencyMechanism, KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit, histogram_sensitivity
from ldpnb.mechanisms.registry import FREQUENCY, GAP, MEAN
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.planning import cumulants
from ldpnb.planning.errors import Bits, Errors, Noise, Sums, TailError
from ldpnb.planning.questions import Frequency, Gap, Mean, Question

LARGEST_EPSILON, SMALLEST_EPSILON = 50.0, 1e-6
PRECISION = 1e-9
"""Relative precision of a number that is searched for."""

_BEST_UP_TO = 30.0
"""Largest budget for which the best channel is computed; what exceeds it is not spent."""

REAL = 64
"""Bits of a real number as computers hold it."""

_TINY, _MANY = 1e-300, 10**9
_ROUNDED = "a value between the ends of its range is rounded to one of them"
_REAL = f"a real number counts {REAL} bits"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism for a question.

    Parameters
    ----------
    name : str
    mechanism : callable
        From the budget of a report and the question, without unknowns, to the mechanism.
    errors : callable
        From a mechanism and the question to the law of its errors.
    bits : callable
        From a mechanism and the question to the bits that a user sends.
    remark : str
        What else a reader should know.
    floor : str
        Why an error remains at any budget even when everybody reports.
    yardstick : bool
        Whether it is shown for comparison only, not being a local mechanism.
    """

    name: str
    mechanism: Callable[[float, Any], Any]
    errors: Callable[[Any, Any], Errors]
    bits: Callable[[Any, Any], int]
    remark: str = ""
    floor: str = ""
    yardstick: bool = False

    def failure(self, question: Question, tail: str = "best") -> tuple[float, str]:
        """Return the chance that the estimate is off by the target error or more, or a bound on it, and its tail.

        Nothing but the failure probability may be left out of the question. A tail that does not exist here raises
        `TailError`; `ldpnb.planning.solve.plan` lists the tails.
        """
        errors, draw = self.errors(self.mechanism(self.report_epsilon(question), question), question), question.draw
        if tail != "best" and not self.yardstick:
            return errors.failure(draw, tail), tail
        try:
            return errors.failure(draw, "exact"), "exact"
        except TailError:
            return errors.failure(draw, "chernoff"), "chernoff"

    def report_epsilon(self, question: Question) -> float:
        """Return the budget of a report: the question's, or the largest that keeps what is released to it."""
        if question.protects == "report" or self.yardstick:
            times = question.design.releases if question.protects == "release" else 1
            return float(question.epsilon or 0) / times
        return _report_epsilon(self, replace(question, error=None, failure=None))

    def release_loss(self, question: Question, epsilon: float) -> float:
        """Return the loss of what is released when every report has budget `epsilon`."""
        mechanism, design, users = self.mechanism(epsilon, question), question.design, int(question.users or 0)
        loss = design.release_loss(epsilon=epsilon, users=users, mechanism=mechanism)
        target = float(question.epsilon or 0)
        if question.protects != "release" or loss <= target:
            return loss
        kept = design.excess(epsilon=epsilon, users=users, mechanism=mechanism, release=target) <= 0
        return target if kept else loss

    def sent(self, question: Question, epsilon: float) -> int:
        """Return the bits that a user sends at a budget."""
        return self.bits(self.mechanism(epsilon, question), question)


def candidates(question: Question) -> tuple[Candidate, ...]:
    """Return the mechanisms for a question, the yardstick last."""
    if isinstance(question, Frequency):
        return _FREQUENCY
    if isinstance(question, Mean):
        return (_WARNER if question.binary else _ONE_BIT, *_MEAN)
    uneven = isinstance(question, Gap) and len(question.sizes or question.shares) == 2 and not question.even
    return (*_GAP, _BEST) if uneven else _GAP


@lru_cache(maxsize=64)
def _report_epsilon(candidate: Candidate, question: Question) -> float:
    target = float(question.epsilon or 0)
    if question.design.delta is None:
        return question.design.report_budget(release=target, users=int(question.users or 0))
    from scipy.optimize import brentq

    def excess(logarithm: float) -> float:
        epsilon, users = float(np.exp(logarithm)), int(question.users or 0)
        mechanism = candidate.mechanism(epsilon, question)
        return question.design.excess(epsilon=epsilon, users=users, mechanism=mechanism, release=target)

    low, high = float(np.log(target)), float(np.log(LARGEST_EPSILON))
    if low >= high or excess(high) <= 0:
        return max(target, LARGEST_EPSILON)
    if excess(low) >= 0:
        return target
    root = float(brentq(excess, low, high, xtol=PRECISION))
    # the loss jumps where a bound ceases to exist, so the root's lower side is taken
    return float(np.exp(root - 2 * PRECISION))


def _support(mechanism: FrequencyMechanism, question: Frequency) -> Bits:
    """Return the errors of a pure protocol's estimate of one share, or of all."""
    events = mechanism.domain_size if question.simultaneous else 1
    if isinstance(mechanism, KaryRandomisedResponse) and events == 2:
        events = 1
    deviation = question.relative_error * (mechanism.p - mechanism.q)
    return Bits(mechanism.p, max(mechanism.q, _TINY), deviation, ends=True, events=events)


def _histogram_noise(mechanism: CentralLaplace, question: Frequency) -> Noise:
    events = int(question.values or 1) if question.simultaneous else 1
    return Noise(question.relative_error, mechanism.scale, events)


def _curator(sensitivity: Callable[[Any], float], errors: Callable[[CentralLaplace, Any], Noise]) -> Candidate:
    """Return the yardstick: what a curator releases with noise."""
    name = "central Laplace"
    remark = "a trusted curator who knows the value of everybody who reports; replacement, no gain from a secret sample"
    return Candidate(name, lambda e, q: MEAN[name](e, sensitivity(q)), errors, _bits(0), remark, yardstick=True)


def _bits(number: int) -> Callable[[Any, Any], int]:
    return lambda mechanism, question: number


def _number_bits(mechanism: KaryRandomisedResponse, question: Frequency) -> int:
    return int(mechanism.domain_size - 1).bit_length()


def _vector_bits(mechanism: UnaryEncoding, question: Frequency) -> int:
    return mechanism.domain_size


def _subset_bits(mechanism: SubsetSelection, question: Frequency) -> int:
    """Return the bits that number all subsets; beyond some thousand values from Stirling's series, rounded up."""
    values, size = mechanism.domain_size, mechanism.subset_size
    if values <= 2000:
        return (comb(values, size) - 1).bit_length()
    return int(np.ceil((lgamma(values + 1) - lgamma(size + 1) - lgamma(values - size + 1)) / np.log(2)))


def _frequency(name: str, bits: Callable[[Any, Any], int], remark: str = "", floor: str = "") -> Candidate:
    return Candidate(name, lambda e, q: FREQUENCY[name](e, q.values), _support, bits, remark, floor)


_FREQUENCY = (
    _frequency("k-RR", _number_bits),
    _frequency("SUE", _vector_bits),
    _frequency("OUE", _vector_bits, floor="the bit of the user's value stays a fair coin"),
    _frequency("subset selection", _subset_bits),
    _frequency(
        "OLH",
        lambda m, q: int(m.cells - 1).bit_length(),
        "with a public hash function per user; its values in a cell are the bits of a unary encoding",
    ),
    _frequency(
        "signs",
        lambda m, q: m.domain_size if q.design.amplifies else 1,
        "1 bit with public random signs, one per value and user; k bits without, as where nobody may know whose report "
        "it is",
        "the signs of other values stay fair coins",
    ),
    _curator(lambda q: histogram_sensitivity("replacement"), _histogram_noise),
)


def _warner(mechanism: KaryRandomisedResponse, question: Mean) -> Bits:
    return Bits(mechanism.p, mechanism.q, question.relative_error * mechanism.truthful_rate, ends=True)


def _one_bit(mechanism: OneBit, question: Mean) -> Bits:
    return Bits(mechanism.p, mechanism.q, question.relative_error * mechanism.slope, ends=False)


def _local_laplace(mechanism: LocalLaplace, question: Mean) -> Sums:
    """Return the errors of a mean of noisy values, on the scale of values in ``[0, 1]``."""
    error, epsilon = question.relative_error, mechanism.epsilon

    def variance(correction: float) -> float:
        return float(means.worst_variance(mechanism, 1) + correction * means.one_bit_floor(1.0, 1) ** 2)

    def exact(users: int) -> float:
        return means.laplace_sum_tail(users, users * error * epsilon)

    def cumulant(tilt: float, complete: bool) -> float:
        noise = -float(np.log1p(-((tilt / epsilon) ** 2)))
        return noise if complete else noise + cumulants.bits(tilt)

    return Sums(error, cumulant, epsilon, variance, exact)


_WARNER = Candidate("Warner", lambda e, q: KaryRandomisedResponse(e, 2), _warner, _bits(1))
_ONE_BIT = Candidate("1-bit", lambda e, q: MEAN["1-bit"](e, 1.0), _one_bit, _bits(1), floor=_ROUNDED)
_MEAN = (
    Candidate("local Laplace", lambda e, q: MEAN["local Laplace"](e, 1.0), _local_laplace, _bits(REAL), _REAL),
    _curator(lambda q: 1.0, lambda m, q: Noise(q.relative_error, m.scale, ends=q.binary)),
)


def _half(question: Gap) -> float:
    """Return the target error on the scale of values in ``[-1, 1]``."""
    return 4 * question.relative_error


def _signs(gain: float, deviation: float) -> Bits:
    """Return the errors of a sum of signs with means in ``[-gain, gain]``, as bits."""
    return Bits((1 + gain) / 2, (1 - gain) / 2, deviation / 2, ends=False)


def _smaller(sizes: tuple[int, ...]) -> float:
    """Return the share of the smaller group of the pair among all users."""
    return min(sizes[:2]) / sum(sizes)


def _signed_bit(mechanism: SignedBit, question: Gap) -> Bits:
    return _signs(mechanism.gain, _half(question) * _smaller(mechanism.sizes) * mechanism.gain)


def _discretised(mechanism: DiscretisedMeans, question: Gap) -> Errors:
    sizes = question.groups
    if len(sizes) == 2 and sizes[0] == sizes[1]:
        return _signs(mechanism.gain, _half(question) / 2 * mechanism.gain)
    cumulant = cumulants.discretised(mechanism, sizes)
    return _gap_sums(mechanism, sizes, _half(question), cumulant, steepest=60.0, largest=1.0)


def _laplace_means(mechanism: LaplaceMeans, question: Gap) -> Sums:
    sizes, steepest = question.groups, 1 / mechanism.kept_scale
    return _gap_sums(mechanism, sizes, _half(question), cumulants.laplace(mechanism, sizes), steepest=steepest)


def _signed_laplace(mechanism: SignedLaplace, question: Gap) -> Sums:
    sizes, steepest = question.groups, 1 / mechanism.scale

    def exact(users: int) -> float:
        return means.laplace_sum_tail(users, users * _half(question) * _smaller(sizes) / mechanism.scale)

    cumulant = cumulants.signed_laplace(mechanism)
    return _gap_sums(mechanism, sizes, _half(question), cumulant, steepest=steepest, exact=exact)


def _gap_sums(
    mechanism: DiscretisedMeans | LaplaceMeans | SignedLaplace,
    sizes: tuple[int, ...],
    error: float,
    cumulant: cumulants.Cumulant,
    *,
    steepest: float,
    **more: Any,
) -> Sums:
    """Return the errors of a gap as those of a mean report, scaled so that the smaller group's users count 1."""
    users, unit = sum(sizes), mechanism.gain * min(sizes[:2]) / sum(sizes)
    noisy = not isinstance(mechanism, DiscretisedMeans)

    def variance(correction: float) -> float:
        sampling = correction * (1 / sizes[0] + 1 / sizes[1]) if noisy else 0.0
        return users * unit**2 * (gaps.GroupGap(mechanism, sizes).worst_variance() + sampling)

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


def _gap(
    name: str, errors: Callable[[Any, Gap], Errors], bits: Callable[[Any, Any], int], remark: str = "", floor: str = ""
) -> Candidate:
    return Candidate(name, lambda e, q: GAP[name](e, q.groups), errors, bits, remark, floor)


_GAP = (
    _gap("M_R", _discretised, lambda m, q: (2 * m.groups - 1).bit_length(), floor=_ROUNDED),
    Candidate("M_L, k = 2", _best_laplace, _laplace_means, lambda m, q: REAL + (m.groups - 1).bit_length(), _REAL),
    _gap("signed bit", _signed_bit, _bits(1), floor=_ROUNDED),
    _gap("signed Laplace", _signed_laplace, _bits(REAL), _REAL),
)


def _best_channel(epsilon: float, question: Gap) -> BestGapChannel:
    sizes = question.groups
    return _best_for_share(min(epsilon, _BEST_UP_TO), sizes[0] / sum(sizes))


@lru_cache(maxsize=256)
def _best_for_share(epsilon: float, share: float) -> BestGapChannel:
    return BestGapChannel(epsilon, share)


def _best_errors(mechanism: BestGapChannel, question: Gap) -> Sums:
    sizes, smaller = question.groups, _smaller(question.groups)
    largest = float(np.abs(mechanism.scores).max()) * smaller
    return Sums(
        _half(question) * smaller,
        cumulants.best_gap(mechanism, (sizes[0], sizes[1])),
        60.0,
        lambda correction: smaller**2 * mechanism.variance,
        largest=largest,
    )


_BEST = Candidate(
    "best channel",
    _best_channel,
    _best_errors,
    lambda m, q: int(np.count_nonzero(m.weights > 0) - 1).bit_length(),
    "least variance of all private channels for values at the ends; of two groups of different sizes",
    floor=_ROUNDED,
)
