"""Means of bounded numbers: simulated errors beside exact ones, over numbers of users and budgets."""

import numpy as np
from numpy.typing import NDArray

from ldpnb.accuracy import means
from ldpnb.data import synthetic
from ldpnb.data.column import Column
from ldpnb.designs.strata import largest_remainder
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.registry import MEAN
from ldpnb.notebook import Rows, table
from ldpnb.rng import stream

Values = NDArray[np.float64]
Counts = NDArray[np.int64]


def answers(users: int, upper: float, own: Column | None = None, *, seed: int) -> tuple[Values, Counts]:
    """Return values in ``[0, upper]`` and how many users hold each: those of a column, or simulated hours of daily use.

    The latter are 97 equally spaced values, drawn from a binomial law with mean ``upper / 8``.
    """
    if own is None:
        counts = synthetic.sample_counts(synthetic.binomial(96, 1 / 8), users, rng=stream("usage", users, seed=seed))
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
            exact, simulated = np.sqrt(means.variance(mechanism, values, counts)), np.sqrt(squared.mean())
            spread = squared.std(ddof=1) / np.sqrt(runs) / (2 * simulated)
            point = {"mechanism": name, "users": users}
            yield point | {f"root mean squared error ({unit})": exact, "standard error": np.nan}
            yield point | {f"root mean squared error ({unit})": simulated, "standard error": spread}


@table
def bit_errors(budgets: list[float], users: int, *, failure: float) -> Rows:
    """Yield the errors of the mean of bits that are exceeded with a given probability.

    In the normal limit but for the guaranteed error (Hoeffding's bound, for randomised response) and the curator's. The
    ratio of variances is local Laplace to randomised response, the constant its error times ``epsilon sqrt(users)``.
    """
    for epsilon in budgets:
        warner, laplace = means.warner_variance(epsilon, users), means.worst_variance(LocalLaplace(epsilon), users)
        likely = means.normal_error(warner, failure)
        yield {
            "epsilon (nats)": epsilon,
            "randomised response": likely,
            "guaranteed": means.certain_error(OneBit(epsilon), users, failure),
            "local Laplace": means.normal_error(laplace, failure),
            "central Laplace": means.certain_error(CentralLaplace(epsilon), users, failure),
            "ratio of variances": laplace / warner,
            "constant": likely * epsilon * np.sqrt(users),
        }


@table
def error_quantiles(budgets: list[float], users: int, *, upper: float, failure: float, unit: str = "hours") -> Rows:
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


@table
def users_needed(budgets: list[float], *, upper: float, error: float, failure: float) -> Rows:
    """Yield how many users a target error needs, by the lecture's order and with its constant.

    The order is the lecture's number of users, the success at it the probability that it meets the error; then come
    what is needed, the ratio of the two, and what Hoeffding's bound asks for (one bit only).
    """
    for epsilon in budgets:
        share = upper / (epsilon * error)
        few, many = int(np.ceil(share)), int(np.ceil(share**2))
        bit, noise, curator = OneBit(epsilon, upper), LocalLaplace(epsilon, upper), CentralLaplace(epsilon, upper)
        central, one = means.users_needed(curator, error, failure), means.users_needed(bit, error, failure)
        local, certain = means.users_for_certain(noise, error, failure), means.users_for_certain(bit, error, failure)
        rows = (
            ("central Laplace", few, -np.expm1(-few / share), central, central / share, np.nan),
            ("local Laplace", many, means.success(noise, many, error), local, local / share**2, np.nan),
            ("1-bit", many, means.success(bit, many, error), one, one / share**2, np.ceil(certain)),
        )
        for name, order, met, users, constant, guaranteed in rows:
            yield {
                "mechanism": name,
                "epsilon (nats)": epsilon,
                "order (users)": order,
                "success at order": met,
                "users": int(np.ceil(users)),
                "constant": constant,
                "guaranteed (users)": guaranteed,
            }
