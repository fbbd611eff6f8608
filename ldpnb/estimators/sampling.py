"""Estimates of how many users hold each value when only a sample of them reports through k-ary randomised response.

Use `realised_size` for a common sampling rate; `unadjusted` and `rescaled` are there for comparison. Use
`horvitz_thompson` or `hajek` when rates differ between users (`personalised` is biased as soon as rates and values are
related), and `reweighted_reports` when a noisy report is sent with a probability that depends on the report itself.

Every function takes tallies, the reports of each value, ``(..., k)``: one entry per value on the last axis, repetitions
before it. It returns counts of the same shape, which may leave ``[0, users]``. `users` counts all users, whether or not
they report; with personal rates, tallies are ``(..., g, k)``, by rate and value, and give ``(..., k)`` counts.

Except for `hajek`, estimates are affine in the tallies, and they run on symbols too: where the number of values
is a symbol, an entry may stand for the reports of several values together.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, is_exact, real
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def unadjusted(tallies: ArrayLike, *, users: int, mechanism: KaryRandomisedResponse) -> Floats:
    """Return ``(N - n q) / (p - q)``, which treats the reports as those of all users.

    It is ``c_DE`` in equation (3) of biswas2022, used under sampling in equation (4) and, as ``h``, in Theorem 5.1.
    """
    return mechanism._holders(
        _tallies(tallies, mechanism), checks.whole(users, "users", at_least=1)
    )


def rescaled(
    tallies: ArrayLike, *, users: int, sampling_rate: float, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return ``c_DE / pi + n q (1 - pi) / ((p - q) pi)``: unbiased, from the known number of users and sampling rate.

    It is ``g_DE`` in equation (5) of biswas2022; `sampling_rate` is the chance ``pi`` in ``(0, 1]`` to report.
    """
    rate = checks.rate(sampling_rate, "sampling_rate")
    return (
        mechanism._holders(
            _tallies(tallies, mechanism), checks.whole(users, "users", at_least=1) * rate
        )
        / rate
    )


def realised_size(
    tallies: ArrayLike, *, sampling_rate: float, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return ``(N - S q) / (pi (p - q))`` with ``S`` the realised number of reports: unbiased.

    It is ``c-hat_DE``, before Theorem 3.4 of biswas2022, and never worse than `rescaled`; `sampling_rate` as there.
    """
    reports = _tallies(tallies, mechanism)
    return mechanism._holders(reports, _size(reports)) / checks.rate(sampling_rate, "sampling_rate")


def personalised(
    tallies: ArrayLike, *, users: int, expected_reports: float, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return ``n h / sum(pi) + n q (n - sum(pi)) / (sum(pi) (p - q))``, pooled over personal sampling rates.

    It is ``T`` in Theorem 5.1 of biswas2022, biased unless the rates are unrelated to the values: see
    `ldpnb.papers.biswas2022.formulas.personalised.PersonalRates.mean`.

    - `tallies`, (..., k) int: reports of each value, from users of all rates together.
    - `users`, int: number ``n`` of users.
    - `expected_reports`, float: sum of the users' sampling rates, in ``(0, users]``.

    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> personalised([35, 15], users=100, expected_reports=50, mechanism=mechanism).round(9).tolist()
    [90.0, 10.0]
    """
    total = checks.positive(expected_reports, "expected_reports")
    if not is_exact(total) and total > users:
        raise ValueError(
            f"expected_reports must be <= users={users}, got expected_reports={expected_reports!r}"
        )
    return mechanism._holders(_tallies(tallies, mechanism), total) * (
        checks.whole(users, "users", at_least=1) / total
    )


def horvitz_thompson(
    tallies: ArrayLike, *, rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return ``sum_g (N_g - S_g q) / (pi_g (p - q))``: unbiased for any known rates in ``(0, 1]``, ``(g,)``.

    What Theorem 5.1 of biswas2022 asks for: Horvitz and Thompson (1952) applied to ``(1{X_j = i} - q) / (p - q)``.

    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> horvitz_thompson([[35, 15], [30, 70]], rates=[0.5, 1.0], mechanism=mechanism).round(9).tolist()
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
        If there are no reports, or an argument is outside its range.

    See Also
    --------
    horvitz_thompson : Without bias, but its sum varies with the number of reports.

    References
    ----------
    Hájek (1971). Biswas, Cormode and Maple (2022) do not consider it.

    Examples
    --------
    The weighted reports are 35/0.5 + 30 = 100 and 15/0.5 + 70 = 100 for the two values.

    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> hajek([[35, 15], [30, 70]], users=200, rates=[0.5, 1.0], mechanism=mechanism).round(9).tolist()
    [100.0, 100.0]
    """
    weighted = _weighted(_tallies(tallies, mechanism), rates)
    size = _size(weighted)
    if (size == 0).any():
        raise ValueError("tallies must have a positive sum for a ratio estimate, got no reports")
    share: Floats = mechanism._holders(weighted, size) / size
    return share * checks.whole(users, "users", at_least=1)


def reweighted_reports(
    tallies: ArrayLike, *, users: int, report_rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return ``(N_i / pi(i) - n q) / (p - q)``, unbiased when the report ``y`` is sent with probability ``pi(y)``.

    Every user randomises first. Thinning by the noisy report is post-processing, so participation reveals no more than
    the report would have: a repair of open question (i) of biswas2022, Section 6.

    - `tallies`, (..., k) int: reports of each value that were sent.
    - `users`, int: number ``n`` of users.
    - `report_rates`, (k,) float: probability ``pi(y)`` in ``(0, 1]`` of sending the report ``y``.
    """
    reports = _tallies(tallies, mechanism)
    rates = checks.entries(sampling_rates(report_rates), "report_rates", reports.shape[-1])
    return mechanism._holders(reports / rates, checks.whole(users, "users", at_least=1))


def _tallies(tallies: ArrayLike, mechanism: KaryRandomisedResponse) -> Floats:
    reports = real(tallies)
    if is_exact(mechanism.domain_size):
        return reports
    if reports.shape[-1:] != (mechanism.domain_size,):
        expected = f"one entry per value on the last axis, {mechanism.domain_size}"
        raise ValueError(f"tallies must have {expected}, got shape {reports.shape}")
    if not (np.isfinite(reports).all() and (reports >= 0).all()):
        raise ValueError(f"tallies must be finite and >= 0, got minimum {np.min(reports)!s}")
    return reports


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
