"""Estimates of how many users hold each value, if only a sample of them reports.

Users report through k-ary randomised response. Use `realised_size` for a common sampling rate;
`unadjusted` and `rescaled` are there for comparison. Use `horvitz_thompson` or `hajek` if rates
differ between users; `personalised` is biased as soon as rates and values are related. Use
`reweighted_reports` if a noisy report is sent with a probability that depends on the report itself.

Every function takes tallies, the number of reports of each value, of shape (..., k): there is one
entry per value on the last axis, and repetitions come before it. It returns counts of the same
shape, which may be negative or exceed the number of users. With personal rates, tallies have the
shape (..., groups, k), by rate and value, and give counts of shape (..., k). `users` are all users,
whether or not they report.

Except for `hajek`, estimates are affine in the tallies. They run on symbols too: where the number
of values is a symbol, an entry may stand for the reports of several values together.
"""

from typing import Any

from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, is_exact, real
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

# One sampling rate


def unadjusted(tallies: ArrayLike, *, users: int, mechanism: KaryRandomisedResponse) -> Floats:
    """Return ``(N - n q) / (p - q)``, which treats the reports as those of all users.

    It is ``c_DE`` in equation (3) of Biswas, Cormode and Maple (2022). They use it under sampling
    in equation (4) and, as ``h``, in Theorem 5.1.
    """
    total = checks.whole(users, "users", at_least=1)
    return mechanism._holders(_tallies(tallies, mechanism, total), total)


def rescaled(
    tallies: ArrayLike, *, users: int, sampling_rate: float, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return ``c_DE / pi + n q (1 - pi) / ((p - q) pi)``, which is unbiased.

    It is ``g_DE`` in equation (5) of Biswas, Cormode and Maple (2022). It uses the known number of
    users and the sampling rate ``pi`` in ``(0, 1]``, the probability that a user reports.
    """
    rate = checks.rate(sampling_rate, "sampling_rate")
    total = checks.whole(users, "users", at_least=1)
    return mechanism._holders(_tallies(tallies, mechanism, total), total * rate) / rate


def realised_size(
    tallies: ArrayLike, *, sampling_rate: float, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return ``(N - S q) / (pi (p - q))``, which is unbiased; ``S`` is the number of reports.

    It is ``c-hat_DE``, before Theorem 3.4 of Biswas, Cormode and Maple (2022), and never worse than
    `rescaled`. The sampling rate ``pi`` lies in ``(0, 1]``.
    """
    reports = _tallies(tallies, mechanism)
    return mechanism._holders(reports, _size(reports)) / checks.rate(sampling_rate, "sampling_rate")


# Personal sampling rates


def personalised(
    tallies: ArrayLike, *, users: int, expected_reports: float, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return the pooled estimate ``n h / sum(pi) + n q (n - sum(pi)) / (sum(pi) (p - q))``.

    It is ``T`` in Theorem 5.1 of Biswas, Cormode and Maple (2022), and biased unless rates and
    values are unrelated: see `ldpnb.papers.biswas2022.formulas.personalised.PersonalRates.mean`.

    Parameters
    ----------
    tallies : array_like of int, shape (..., k)
        Reports of each value, from users of all rates together.
    users : int
        Number ``n`` of users.
    expected_reports : float
        Sum of the users' sampling rates, in ``(0, users]``.
    mechanism : KaryRandomisedResponse
        The mechanism that made the reports.

    Examples
    --------
    >>> import numpy as np
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> estimate = personalised([35, 15], users=100, expected_reports=50, mechanism=mechanism)
    >>> estimate.round(9).tolist()
    [90.0, 10.0]
    """
    expected = checks.positive(expected_reports, "expected_reports")
    if not is_exact(expected) and expected > users:
        raise ValueError(
            f"expected_reports must be <= users={users}, got expected_reports={expected_reports!r}"
        )
    total = checks.whole(users, "users", at_least=1)
    return mechanism._holders(_tallies(tallies, mechanism, total), expected) * (total / expected)


def horvitz_thompson(
    tallies: ArrayLike, *, rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> Floats:
    """Estimate how many users hold each value, if groups of users report at different rates.

    The estimate ``sum_g (N_g - S_g q) / (pi_g (p - q))`` is unbiased for any known rates ``pi_g``,
    where ``N_g`` are a group's reports of the value and ``S_g`` all its reports.

    Parameters
    ----------
    tallies : array_like of int, shape (..., groups, k)
        Reports of each value, by group.
    rates : array_like, shape (groups,)
        Probability in ``(0, 1]`` that a user of the group reports.
    mechanism : KaryRandomisedResponse
        The mechanism that made the reports.

    Returns
    -------
    ndarray, shape (..., k)
        Estimated counts. Each is unbiased, so it may be negative.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the shapes do not fit.
    TypeError
        If the tallies are not numbers, or have a mask.

    See Also
    --------
    hajek : Slightly biased, but its sum is the number of users.

    References
    ----------
    Theorem 5.1 of Biswas, Cormode and Maple (2022) asks for such an estimate. This is the one of
    Horvitz and Thompson (1952), applied to ``(1{X_j = i} - q) / (p - q)``.

    Examples
    --------
    With p = 3/4 and q = 1/4, the groups give (35 - 50/4) * 2 / 0.5 = 90 and (30 - 100/4) * 2 = 10
    holders of the first value.

    >>> import numpy as np
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> tallies = [[35, 15], [30, 70]]
    >>> horvitz_thompson(tallies, rates=[0.5, 1.0], mechanism=mechanism).round(9).tolist()
    [100.0, 100.0]
    """
    reports = _tallies(tallies, mechanism)
    return _weighted(mechanism._holders(reports, _size(reports)), rates)


def hajek(
    tallies: ArrayLike, *, users: int, rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> Floats:
    """Estimate how many users hold each value, if groups of users report at different rates.

    Reports are weighted by one over the rate of their group, and divided by the sum of the weights,
    so the estimates always sum to `users`.

    Parameters
    ----------
    tallies : array_like of int, shape (..., groups, k)
        Reports of each value, by group.
    users : int
        Number of users, at least 1, whether they reported or not.
    rates : array_like, shape (groups,)
        Probability in ``(0, 1]`` that a user of the group reports.
    mechanism : KaryRandomisedResponse
        The mechanism that made the reports.

    Returns
    -------
    ndarray, shape (..., k)
        Estimated counts. Their bias, relative to `users`, is of order ``1 / users``.

    Raises
    ------
    ValueError
        If there are no reports, or more than users, or an argument is outside its range.
    TypeError
        If the tallies are not numbers, or have a mask.

    See Also
    --------
    horvitz_thompson : Without bias, but its sum varies with the number of reports.

    References
    ----------
    Hájek (1971). Biswas, Cormode and Maple (2022) do not consider it.

    Examples
    --------
    The weighted reports are 35/0.5 + 30 = 100 and 15/0.5 + 70 = 100 for the two values.

    >>> import numpy as np
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> tallies = [[35, 15], [30, 70]]
    >>> hajek(tallies, users=200, rates=[0.5, 1.0], mechanism=mechanism).round(9).tolist()
    [100.0, 100.0]
    """
    total = checks.whole(users, "users", at_least=1)
    reports = _tallies(tallies, mechanism)
    weighted = _weighted(reports, rates)
    size = _size(weighted)
    if (size == 0).any():
        raise ValueError("tallies must have a positive sum for a ratio estimate, got no reports")

    sent = reports.sum(axis=(-2, -1))
    if reports.dtype != object and not is_exact(total) and sent.max() > total:
        raise ValueError(f"tallies must sum to at most {total}, got sum {sent.max():.17g}")

    share: Floats = mechanism._holders(weighted, size) / size
    return share * total


# A report that decides whether it is sent


def reweighted_reports(
    tallies: ArrayLike, *, users: int, report_rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return ``(N_i / pi(i) - n q) / (p - q)``, if a report ``y`` is sent at the rate ``pi(y)``.

    It is unbiased. Every user randomises first. To thin by the noisy report is post-processing, so
    participation reveals no more than the report would have. This repairs open question (i) in
    Section 6 of Biswas, Cormode and Maple (2022).

    Parameters
    ----------
    tallies : array_like of int, shape (..., k)
        Reports of each value that were sent.
    users : int
        Number ``n`` of users.
    report_rates : array_like, shape (k,)
        Probability ``pi(y)`` in ``(0, 1]`` that a report ``y`` is sent.
    mechanism : KaryRandomisedResponse
        The mechanism that made the reports.
    """
    total = checks.whole(users, "users", at_least=1)
    reports = _tallies(tallies, mechanism, total)
    rates = checks.entries(sampling_rates(report_rates), "report_rates", reports.shape[-1])
    return mechanism._holders(reports / rates, total)


# Checks and sums


def _tallies(tallies: ArrayLike, mechanism: KaryRandomisedResponse, users: Any = None) -> Floats:
    return checks.tallies(tallies, "tallies", size=mechanism.domain_size, at_most=users)


def sampling_rates(rates: ArrayLike) -> Floats:
    """Return a vector of sampling rates, in ``(0, 1]``."""
    array = real(rates)
    if array.ndim != 1 or (array.dtype != object and not ((array > 0) & (array <= 1)).all()):
        raise ValueError(
            f"rates must be a vector with entries in (0, 1], got rates={array.tolist()!r}"
        )
    return array


def _size(reports: Floats) -> Floats:
    return reports.sum(axis=-1, keepdims=True)


def _weighted(reports: Floats, rates: ArrayLike) -> Floats:
    """Add up the groups' reports, each divided by its rate."""
    weight = 1 / sampling_rates(rates)[:, None]
    if reports.ndim < 2 or reports.shape[-2] != weight.shape[0]:
        expected = f"one row per rate, {weight.shape[0]}, on the last axis but one"
        raise ValueError(f"tallies must have {expected}, got shape {reports.shape}")
    return (reports * weight).sum(axis=-2)
