"""Means of bounded numbers: simulated errors beside exact ones, over numbers of users and budgets."""

import numpy as np

from ldpnb.accuracy import means
from ldpnb.arithmetic import Floats, Ints
from ldpnb.data import synthetic
from ldpnb.data.column import Column
from ldpnb.designs.strata import largest_remainder
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.registry import MEAN
from ldpnb.notebook import Rows, table
from ldpnb.rng import stream


def answers(
    users: int, upper: float, own: Column | None = None, *, seed: int
) -> tuple[Floats, Ints]:
    """Return values in ``[0, upper]`` and how many users hold each: those of a column, or simulated hours of daily use.

    The latter are 97 equally spaced values, drawn from a binomial law with mean ``upper / 8``.
    """
    if own is None:
        counts = synthetic.sample_counts(
            synthetic.binomial(96, 1 / 8), users, rng=stream("usage", users, seed=seed)
        )
        return np.linspace(0, upper, 97), counts
    return own.numbers, largest_remainder(own.counts / own.users * users)


@table
def errors_by_users(
    sizes: list[int],
    *,
    epsilon: float,
    upper: float,
    runs: int,
    seed: int,
    own: Column | None = None,
    unit: str = "hours",
) -> Rows:
    """Yield the exact error of the mean of `answers`, and that of simulated surveys with its standard error."""
    for users in sizes:
        values, counts = answers(users, upper, own, seed=seed)
        truth = values @ counts / users
        for name, make in MEAN.items():
            mechanism, rng = make(epsilon, upper), stream("mean", name, users, epsilon, seed=seed)
            sums = mechanism.sample_sums(values, counts, rng=rng, repetitions=runs)
            squared = (mechanism.estimate(sums, users) - truth) ** 2
            exact, simulated = (
                np.sqrt(means.variance(mechanism, values, counts)),
                np.sqrt(squared.mean()),
            )
            spread = squared.std(ddof=1) / np.sqrt(runs) / (2 * simulated)
            point = {"mechanism": name, "users": users}
            yield point | {f"root mean squared error ({unit})": exact, "standard error": np.nan}
            yield point | {f"root mean squared error ({unit})": simulated, "standard error": spread}


@table
def error_quantiles(
    budgets: list[float], users: int, *, upper: float, failure: float, unit: str = "hours"
) -> Rows:
    """Yield the errors exceeded with a given probability: one bit at the worst data, and both Laplace means."""
    for epsilon in budgets:
        bit, noise = OneBit(epsilon, upper), LocalLaplace(epsilon, upper)
        errors = {
            "1-bit": means.normal_error(means.worst_variance(bit, users), failure),
            "local Laplace": means.normal_error(means.worst_variance(noise, users), failure),
            "central Laplace": means.certain_error(CentralLaplace(epsilon, upper), users, failure),
        }
        for name, error in errors.items():
            yield {"mechanism": name, "epsilon (nats)": epsilon, f"error ({unit})": error}
