"""Means of bounded numbers: exact and simulated errors, by number of users and by budget."""

import numpy as np

from ldpnb.accuracy import means
from ldpnb.arithmetic import Floats, Ints
from ldpnb.data import synthetic
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.registry import MEAN
from ldpnb.notebook import Rows, table
from ldpnb.rng import stream


def answers(users: int, upper: float, *, seed: int) -> tuple[Floats, Ints]:
    """Return values in ``[0, upper]`` and how many users hold each: simulated hours of daily use.

    There are 97 equally spaced values, drawn from a binomial law with mean ``upper / 8``.
    """
    counts = synthetic.sample_counts(
        synthetic.binomial(96, 1 / 8), users, rng=stream("usage", users, seed=seed)
    )
    return np.linspace(0, upper, 97), counts


@table
def errors_by_users(
    sizes: list[int],
    *,
    epsilon: float,
    upper: float,
    runs: int,
    seed: int,
) -> Rows:
    """Tabulate the error of the mean of `answers`: exact, and of simulated surveys."""
    for users in sizes:
        values, counts = answers(users, upper, seed=seed)
        truth = values @ counts / users
        for name, make in MEAN.items():
            mechanism = make(epsilon, upper)
            rng = stream("mean", name, users, epsilon, seed=seed)
            sums = mechanism.sample_sums(values, counts, rng=rng, repetitions=runs)
            squared = (mechanism.estimate(sums, users) - truth) ** 2
            exact = np.sqrt(means.variance(mechanism, values, counts))
            simulated = np.sqrt(squared.mean())
            spread = squared.std(ddof=1) / np.sqrt(runs) / (2 * simulated)
            point = {"mechanism": name, "users": users}
            yield point | {"root mean squared error (hours)": exact, "standard error": np.nan}
            yield point | {"root mean squared error (hours)": simulated, "standard error": spread}


@table
def error_quantiles(budgets: list[float], users: int, *, upper: float, failure: float) -> Rows:
    """Tabulate the errors that are exceeded with a given probability.

    One bit is taken at its worst data.
    """
    for epsilon in budgets:
        bit = OneBit(epsilon, upper)
        noise = LocalLaplace(epsilon, upper)
        errors = {
            "1-bit": means.normal_error(means.worst_variance(bit, users), failure),
            "local Laplace": means.normal_error(means.worst_variance(noise, users), failure),
            "central Laplace": means.certain_error(CentralLaplace(epsilon, upper), users, failure),
        }
        for name, error in errors.items():
            yield {"mechanism": name, "epsilon (nats)": epsilon, "error (hours)": error}
