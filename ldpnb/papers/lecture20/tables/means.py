"""Experiments on means of bounded numbers: simulated errors beside exact ones, over numbers of users and budgets."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import mean_tails, means
from ldpnb.data import synthetic
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, MeanMechanism, OneBit
from ldpnb.rng import stream

MECHANISMS: Mapping[str, Callable[[float, float], MeanMechanism]] = {
    "1-bit": OneBit,
    "local Laplace": LocalLaplace,
    "central Laplace": CentralLaplace,
}
"""By name: epsilon and largest value to mechanism."""


def usage(users: int, upper: float, *, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw simulated daily hours of use: 97 equally spaced values in ``[0, upper]`` from a binomial distribution with
    mean ``upper / 8``.

    Parameters
    ----------
    users : int
    upper : float
        Largest value.
    seed : int

    Returns
    -------
    values : (97,) float
    counts : (97,) int
        How many users hold each.
    """
    distribution = synthetic.binomial(96, 1 / 8)
    counts = synthetic.sample_counts(distribution, users, rng=stream("usage", users, seed=seed))
    return np.linspace(0, upper, 97), counts


def exact_error(
    name: str, values: NDArray[np.float64], counts: NDArray[np.int64], *, epsilon: float, upper: float
) -> float:
    """Return the exact root mean squared error of a mechanism, by its name in `MECHANISMS`, for given data."""
    users = int(counts.sum())
    variances = {
        "1-bit": lambda: means.one_bit_variance(values, counts, epsilon=epsilon, upper=upper),
        "local Laplace": lambda: means.local_laplace_variance(epsilon, upper, users),
        "central Laplace": lambda: means.central_laplace_variance(epsilon, upper, users),
    }
    return float(np.sqrt(variances[name]()))


def errors_by_users(sizes: Sequence[int], *, epsilon: float, upper: float, runs: int, seed: int) -> pd.DataFrame:
    """Compare simulated and exact root mean squared errors of the mean of `usage` over numbers of users.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of users.
    epsilon, upper : float
        Of the mechanisms.
    runs : int
        Simulated surveys per point.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``mechanism, users, rmse, standard_error``; exact rows have no standard error.
    """
    rows = []
    for users in sizes:
        values, counts = usage(users, upper, seed=seed)
        truth = values @ counts / users
        for name, mechanism in MECHANISMS.items():
            draw = mechanism(epsilon, upper)
            rng = stream("mean", name, users, epsilon, seed=seed)
            squared = (draw.estimate(draw.sample_sums(values, counts, rng=rng, repetitions=runs), users) - truth) ** 2
            simulated = np.sqrt(squared.mean())
            rows.append((name, users, exact_error(name, values, counts, epsilon=epsilon, upper=upper), np.nan))
            rows.append((name, users, simulated, squared.std(ddof=1) / np.sqrt(runs) / (2 * simulated)))
    return pd.DataFrame(rows, columns=["mechanism", "users", "rmse", "standard_error"])


def errors_by_budget(
    budgets: Sequence[float], values: NDArray[np.float64], counts: NDArray[np.int64], *, upper: float
) -> pd.DataFrame:
    """Compute the exact root mean squared errors of the local mechanisms over budgets, times ``sqrt(users) / upper``.

    Parameters
    ----------
    budgets : sequence of float
        Nats.
    values, counts : (v,) arrays
        The data.
    upper : float
        Largest value.

    Returns
    -------
    DataFrame
        Columns ``mechanism, epsilon, error``; one bit for the given data, at worst (all values in the middle), and for
        values 0 and `upper` only.
    """
    users = int(counts.sum())
    unit = np.sqrt(users) / upper
    rows = []
    for epsilon in budgets:
        worst = np.sqrt(means.one_bit_worst_variance(epsilon, upper, users))
        bit, noise = (
            exact_error(name, values, counts, epsilon=epsilon, upper=upper) for name in ("1-bit", "local Laplace")
        )
        rows += [
            ("1-bit, worst data", epsilon, unit * worst),
            ("local Laplace", epsilon, unit * noise),
            ("1-bit, these data", epsilon, unit * bit),
            ("1-bit, values 0 and m", epsilon, np.sqrt(means.warner_variance(epsilon, 1))),
        ]
    return pd.DataFrame(rows, columns=["mechanism", "epsilon", "error"])


def bit_errors(budgets: Sequence[float], users: int, *, failure: float) -> pd.DataFrame:
    """Tabulate the errors of the mean of bits that are exceeded with a given probability.

    Parameters
    ----------
    budgets : sequence of float
        Nats.
    users : int
    failure : float

    Returns
    -------
    DataFrame
        A row per budget. ``randomised_response`` and ``local_laplace`` in the normal limit, ``guaranteed`` Hoeffding's
        bound for randomised response, ``central_laplace`` exact, ``variance_ratio`` of local Laplace to randomised
        response, and ``constant``, the error of randomised response times ``epsilon sqrt(users)``.
    """
    rows = []
    for epsilon in budgets:
        warner = means.warner_variance(epsilon, users)
        laplace = means.local_laplace_variance(epsilon, 1.0, users)
        likely = mean_tails.normal_error(warner, failure)
        rows.append(
            {
                "epsilon": epsilon,
                "randomised_response": likely,
                "guaranteed": mean_tails.one_bit_hoeffding_error(epsilon, 1.0, users, failure),
                "local_laplace": mean_tails.normal_error(laplace, failure),
                "central_laplace": mean_tails.central_laplace_error(epsilon, 1.0, users, failure),
                "variance_ratio": laplace / warner,
                "constant": likely * epsilon * np.sqrt(users),
            }
        )
    return pd.DataFrame(rows)


def error_quantiles(budgets: Sequence[float], users: int, *, upper: float, failure: float) -> pd.DataFrame:
    """Compute the errors that are exceeded with a given probability over budgets: one bit for the worst data, and both
    Laplace means.

    Parameters
    ----------
    budgets : sequence of float
        Nats.
    users : int
    upper, failure : float

    Returns
    -------
    DataFrame
        Columns ``mechanism, epsilon, error``.
    """
    rows = []
    for epsilon in budgets:
        bit, local = (
            variance(epsilon, upper, users) for variance in (means.one_bit_worst_variance, means.local_laplace_variance)
        )
        rows += [
            ("1-bit", epsilon, mean_tails.normal_error(bit, failure)),
            ("local Laplace", epsilon, mean_tails.normal_error(local, failure)),
            ("central Laplace", epsilon, mean_tails.central_laplace_error(epsilon, upper, users, failure)),
        ]
    return pd.DataFrame(rows, columns=["mechanism", "epsilon", "error"])


def users_needed(budgets: Sequence[float], *, upper: float, error: float, failure: float) -> pd.DataFrame:
    """Tabulate how many users a target error needs, by the lecture's order and with its constant.

    Parameters
    ----------
    budgets : sequence of float
        Nats.
    upper, error : float
        Largest value and tolerated error.
    failure : float
        Tolerated failure probability.

    Returns
    -------
    DataFrame
        A row per budget and mechanism. ``order`` is the lecture's number of users, ``success_at_order`` the probability
        that it meets the error, ``users`` what is needed, ``constant`` their ratio, and ``guaranteed`` what Hoeffding's
        bound asks for (one bit only).
    """
    rows = []
    for epsilon in budgets:
        share = upper / (epsilon * error)
        few, many = int(np.ceil(share)), int(np.ceil(share**2))
        central = mean_tails.central_laplace_clients(epsilon, upper, error, failure)
        local = mean_tails.local_laplace_clients_exact(epsilon, upper, error, failure)
        bit = mean_tails.one_bit_clients(epsilon, upper, error, failure)
        certain = mean_tails.one_bit_clients_hoeffding(epsilon, upper, error, failure)
        met = (
            -np.expm1(-few / share),
            mean_tails.local_laplace_success(epsilon, upper, many, error),
            mean_tails.one_bit_worst_success(epsilon, upper, many, error),
        )
        rows += [
            ("central Laplace", epsilon, few, met[0], int(np.ceil(central)), central / share, np.nan),
            ("local Laplace", epsilon, many, met[1], local, local / share**2, np.nan),
            ("1-bit", epsilon, many, met[2], int(np.ceil(bit)), bit / share**2, np.ceil(certain)),
        ]
    columns = ["mechanism", "epsilon", "order", "success_at_order", "users", "constant", "guaranteed"]
    return pd.DataFrame(rows, columns=columns)
