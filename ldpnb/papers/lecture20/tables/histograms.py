"""Histograms when everybody reports: sign vectors beside k-RR, unary encoding and a curator."""

from types import MappingProxyType

import numpy as np

from ldpnb.accuracy import histograms
from ldpnb.arithmetic import Ints
from ldpnb.data import synthetic
from ldpnb.estimators import frequency
from ldpnb.mechanisms.means import CentralLaplace, histogram_sensitivity
from ldpnb.mechanisms.registry import FREQUENCY
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.notebook import Rows, table
from ldpnb.rng import stream

LOCAL = MappingProxyType({name: FREQUENCY[name] for name in ("k-RR", "OUE", "signs")})
"""By name: epsilon and domain size to a local mechanism of exactly that loss."""


def zipf_counts(domain_size: int, users: int, *, seed: int) -> Ints:
    """Draw how many users hold each value, by a Zipf law.

    The value of rank ``x`` has a probability proportional to ``1 / x``.
    """
    weights = 1 / np.arange(1.0, domain_size + 1)
    return synthetic.sample_counts(
        weights / weights.sum(), users, rng=stream("Zipf", domain_size, users, seed=seed)
    )


@table
def count_errors(counts: Ints, budgets: list[float], runs: int, *, seed: int) -> Rows:
    """Tabulate the error of a count, averaged over all values: exact, and simulated."""
    users = int(counts.sum())
    size = counts.size
    for epsilon in budgets:
        errors = {}
        for name, make in LOCAL.items():
            mechanism = make(epsilon, size)
            rng = stream("counts", name, epsilon, seed=seed)
            tallies = np.array([mechanism.sample_tallies(counts, rng=rng) for _ in range(runs)])
            exact = histograms.pure_variance(counts, users=users, mechanism=mechanism).mean()
            errors[name] = (exact, users * frequency.unbiased(tallies, users, mechanism) - counts)
        curator = CentralLaplace(epsilon, histogram_sensitivity("replacement"))
        noise = (
            curator.release(
                counts, rng=stream("counts", "central", epsilon, seed=seed), repetitions=runs
            )
            - counts
        )
        errors["central Laplace"] = (histograms.central_laplace_count_variance(epsilon), noise)
        for name, (variance, deviations) in errors.items():
            squared = (deviations**2).mean(axis=1)
            simulated = np.sqrt(squared.mean())
            spread = squared.std(ddof=1) / np.sqrt(runs) / (2 * simulated)
            for error, standard in ((np.sqrt(variance), np.nan), (simulated, spread)):
                point = {"mechanism": name, "epsilon (nats)": epsilon}
                yield point | {"root mean squared error (users)": error, "standard error": standard}


@table
def public_coin_counts(
    users: int, domain_size: int, epsilon: float, runs: int, *, seed: int
) -> Rows:
    """Tabulate one estimated count, from sign vectors and from one bit with public signs.

    The values of the users are uniform.
    """
    mechanism = SignRandomiser(epsilon, domain_size)
    values = stream("public coins", "values", seed=seed).integers(0, domain_size, users)
    truth = int((values == 0).sum())
    exact = float(np.sqrt(histograms.pure_variance(truth, users=users, mechanism=mechanism)))
    for sent, bits in (("signs", domain_size), ("one bit, public signs", 1)):
        rng = stream("public coins", sent, seed=seed)
        sums = np.empty(runs)
        for run in range(runs):
            if bits == 1:
                public = 2 * rng.integers(0, 2, (users, domain_size), dtype=np.int8) - 1
                reports = (
                    mechanism.randomize_with_public_signs(values, public, rng=rng) * public[:, 0]
                )
            else:
                reports = mechanism.randomize(values, rng=rng)[:, 0]
            sums[run] = reports.sum()
        estimates = sums / mechanism.bias
        spread = estimates.std(ddof=1)
        row = {"sent": sent, "bits": bits, "truth": truth, "mean": estimates.mean()}
        yield row | {
            "standard error": spread / np.sqrt(runs),
            "standard deviation": spread,
            "exact": exact,
        }
