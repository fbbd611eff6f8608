"""Tables for lopuhaa2020: errors of estimators beside lower bounds, exact risks of small cases, and the best channel at
each budget.

Errors are ``n`` times the mean squared error where a column is called ``scaled_error``; a bound that holds in the limit
of many users only has ``valid`` false where the least error, exact or simulated and by four standard errors, is
smaller.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import exact_risk, information, lower_bounds
from ldpnb.estimators import bayes, frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.lopuhaa2020.tables.frequencies import (
    MECHANISMS,
    SOURCE_ESTIMATORS,
    FromPrior,
    bayes_estimator,
    compare,
)
from ldpnb.privacy.best_channel import best_channel
from ldpnb.rng import stream

Floats = NDArray[np.float64]


def binary_errors_and_bounds(users: Sequence[int], epsilons: Sequence[float]) -> pd.DataFrame:
    """Compute exact errors of the distribution and the bounds on them, randomised response on two values, Jeffreys'
    prior.

    Parameters
    ----------
    users : sequence of int
    epsilons : sequence of float
        Nats.

    Returns
    -------
    DataFrame
        Columns ``epsilon, users, quantity, scaled_error, valid``. The unbiased estimate's is the limit of all
        (Proposition 4.6).
    """
    rows = []
    for epsilon in epsilons:
        limit = information.unbiased_frequency_error(KaryRandomisedResponse(epsilon, 2)) + 0.25
        for count in users:
            seen = np.arange(count + 1)
            maximum = likelihood.krr_mle(np.column_stack([seen, count - seen]), epsilon=epsilon)[:, 0]
            exact, bounds = exact_risk.TwoValues(count, epsilon), lower_bounds.LowerBounds(2, epsilon)
            best, entropy = exact.risk().distribution, exact.entropies()[0]
            errors = {
                "Bayes": best,
                "MLE": exact.risk(maximum).distribution,
                "unbiased": limit / count,
                "(59)": bounds.distribution() / count,
                "entropy, any n": lower_bounds.EntropyBounds(2).distribution(entropy),
                "any channel, any n": bounds.finite_users(count),
            }
            for name, error in errors.items():
                rows.append((epsilon, count, name, count * error, name != "(59)" or bool(error <= best)))
    return pd.DataFrame(rows, columns=["epsilon", "users", "quantity", "scaled_error", "valid"])


def errors_and_bounds(
    mechanism: str, domain_size: int, users: int, epsilons: Sequence[float], *, draws: int, seed: int
) -> pd.DataFrame:
    """Simulate errors of the distribution under Jeffreys' prior and compute the bounds on them.

    Parameters
    ----------
    mechanism : str
        ``"k-RR"``, ``"OUE"`` or ``"SUE"``.
    domain_size, users : int
    epsilons : sequence of float
        Nats.
    draws : int
        Repetitions, and points of the prior over which information is averaged.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``mechanism, users, epsilon, quantity, scaled_error, standard_error, valid``; bounds have no standard
        error. The Bayes estimate is there for k-RR only.
    """
    estimators = dict(SOURCE_ESTIMATORS)
    if mechanism == "k-RR":
        estimators["Bayes"] = bayes_estimator(0.5, exact=False)
    found = compare(mechanism, FromPrior(domain_size, users), epsilons, draws=draws, seed=seed, estimators=estimators)
    found = found[found["target"] == "distribution"]
    errors, deviations = users * found["mse"].to_numpy(), users * found["standard_error"].to_numpy()
    least = pd.Series(errors + 4 * deviations).groupby(found["epsilon"].to_numpy()).min()
    points = stream("prior", domain_size, seed=seed).dirichlet(np.full(domain_size, 0.5), size=draws)
    rows = list(zip(found["epsilon"], found["estimator"], errors, deviations, [True] * len(found), strict=True))
    for epsilon in epsilons:
        for name, bound in _bounds(mechanism, domain_size, users, epsilon, points).items():
            asymptotic = name != "any channel, any n"
            rows.append((epsilon, name, bound, np.nan, not asymptotic or bool(bound <= least[epsilon])))
    table = pd.DataFrame(rows, columns=["epsilon", "quantity", "scaled_error", "standard_error", "valid"])
    table.insert(0, "users", users)
    table.insert(0, "mechanism", mechanism)
    return table


def _bounds(mechanism: str, size: int, users: int, epsilon: float, points: Floats) -> dict[str, float]:
    """Return the bounds on ``n`` times the error of the distribution, by name."""
    made = MECHANISMS[mechanism](epsilon, size)
    if isinstance(made, UnaryEncoding):
        channel = made.channel()
        limit = float(np.mean([information.distribution_error(channel, point) for point in points]))
        constant = float(np.mean([np.linalg.slogdet(information.fisher_information(channel, p))[1] for p in points]))
    else:
        limit = information.unbiased_frequency_error(made) + information.SymmetricDirichlet(size).diversity()
        constant = float(np.mean([information.krr_log_det_information(point, epsilon=epsilon) for point in points]))
    bounds, entropies = lower_bounds.LowerBounds(size, epsilon), lower_bounds.EntropyBounds(size)
    return {
        "(59)": bounds.distribution(),
        "any channel": bounds.any_channel(),
        "(51), raised": entropies.factor() * entropies.asymptotic(constant, 0.0)[0],
        "limit of this channel": limit,
        "any channel, any n": users * bounds.finite_users(users),
    }


def exact_small_risks(users: Sequence[int], epsilon: float, concentrations: dict[str, float]) -> pd.DataFrame:
    """Compute exact errors of the distribution under k-ary randomised response on three values, relative to the least.

    Parameters
    ----------
    users : sequence of int
    epsilon : float
        Nats.
    concentrations : dict of str to float
        Symmetric Dirichlet priors by name.

    Returns
    -------
    DataFrame
        Columns ``prior, users, estimator, error, ratio``.
    """
    mechanism, rows = KaryRandomisedResponse(epsilon, 3), []
    for prior, concentration in concentrations.items():
        for count in users:
            estimators = {
                "MLE": lambda s: likelihood.krr_mle(s, epsilon=epsilon),
                "Norm-Sub": lambda s: frequency.project_simplex(frequency.unbiased(s, int(s[0].sum()), mechanism)),
                "uniform guess": lambda s: np.full(s.shape, 1 / 3),
            }
            risks = exact_risk.exact_risks(mechanism.channel(), count, np.full(3, concentration), estimators)
            best = risks["Bayes"].distribution
            for name, risk in risks.items():
                rows.append((prior, count, name, risk.distribution, risk.distribution / best))
    return pd.DataFrame(rows, columns=["prior", "users", "estimator", "error", "ratio"])


def distance_to_bayes(users: Sequence[int], epsilon: float, concentrations: dict[str, float]) -> pd.DataFrame:
    """Compute how far the MLE is from the posterior mean on average, exactly, two values, relative to the least error.

    Parameters
    ----------
    users : sequence of int
    epsilon : float
        Nats.
    concentrations : dict of str to float
        Symmetric Dirichlet priors by name.

    Returns
    -------
    DataFrame
        Columns ``prior, users, distance``.
    """
    rows = []
    for prior, concentration in concentrations.items():
        for count in users:
            found, seen = exact_risk.TwoValues(count, epsilon, concentration).posteriors(), np.arange(count + 1)
            maximum = likelihood.krr_mle(np.column_stack([seen, count - seen]), epsilon=epsilon)[:, 0]
            distance = found.chances @ (maximum - found.means) ** 2 / (found.chances @ found.variances)
            rows.append((prior, count, float(distance)))
    return pd.DataFrame(rows, columns=["prior", "users", "distance"])


def channel_errors(domain_size: int, epsilons: Sequence[float], distributions: Floats) -> pd.DataFrame:
    """Compute the limiting error of the distribution for several channels and the best one, averaged over
    distributions.

    Parameters
    ----------
    domain_size : int
        At most 8.
    epsilons : sequence of float
        Nats.
    distributions : (draws, a) float
        Points of equal weight.

    Returns
    -------
    DataFrame
        Columns ``epsilon, channel, error, relative``: n times the error, and that over the certified lower bound of the
        best channel. ``best`` is the optimum by convex optimisation, ``unbiased`` rows are what the usual estimate
        makes of OUE.
    """
    rows = []
    for epsilon in epsilons:
        unary = UnaryEncoding.optimised(epsilon, domain_size)
        channels = {
            "k-RR": KaryRandomisedResponse(epsilon, domain_size).channel(),
            "subset selection": SubsetSelection.optimal(epsilon, domain_size).channel(),
            "OUE": unary.channel(),
            "SUE": UnaryEncoding.symmetric(epsilon, domain_size).channel(),
        }
        best = best_channel(distributions, epsilon)
        errors = {
            name: float(np.mean([information.distribution_error(channel, point) for point in distributions]))
            for name, channel in channels.items()
        }
        diversity = float(1 - (distributions**2).sum(axis=1).mean())
        errors |= {
            "OUE, unbiased estimate": information.unbiased_frequency_error(unary) + diversity,
            "best": best.error,
        }
        rows += [(epsilon, name, error, error / best.lower_bound) for name, error in errors.items()]
    return pd.DataFrame(rows, columns=["epsilon", "channel", "error", "relative"])


def best_subset_sizes(domain_size: int, epsilons: Sequence[float]) -> pd.DataFrame:
    """Compute how the best channel at the uniform distribution divides its reports among subset sizes.

    Parameters
    ----------
    domain_size : int
        At most 8.
    epsilons : sequence of float
        Nats.

    Returns
    -------
    DataFrame
        Columns ``epsilon, subset_size, share``: the probability of a report that favours so many values.
    """
    uniform, rows = np.full(domain_size, 1 / domain_size), []
    sizes = np.array([int(code).bit_count() for code in range(1, 2**domain_size - 1)])
    for epsilon in epsilons:
        chances = best_channel(uniform, epsilon).channel @ uniform
        rows += [(epsilon, size, float(chances[sizes == size].sum())) for size in range(1, domain_size)]
    return pd.DataFrame(rows, columns=["epsilon", "subset_size", "share"])


def unary_posterior(domain_size: int, users: int, epsilon: float, sweeps: int, *, seed: int) -> pd.DataFrame:
    """Estimate one data set under optimised unary encoding by Gibbs sampling, under Jeffreys' prior, beside the MLE.

    Parameters
    ----------
    domain_size, users : int
    epsilon : float
        Nats.
    sweeps : int
    seed : int

    Returns
    -------
    DataFrame
        Columns ``value, truth, MLE, posterior_mean, monte_carlo_error``.
    """
    rng, mechanism = stream("unary posterior", seed=seed), UnaryEncoding.optimised(epsilon, domain_size)
    distribution, held = FromPrior(domain_size, users).draw(rng)
    outputs, tallies = mechanism.sample_outputs(held, rng=rng)
    maximum = likelihood.support_mle(outputs, tallies, mechanism).estimate
    found, error = bayes.support_posterior(outputs, tallies, mechanism, 0.5, sweeps=sweeps, rng=rng)
    columns = {"value": np.arange(domain_size), "truth": distribution, "MLE": maximum}
    return pd.DataFrame(columns | {"posterior_mean": found.distribution, "monte_carlo_error": error})
