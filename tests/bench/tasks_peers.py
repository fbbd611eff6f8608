"""The same tasks as other libraries do them, each through its own interface.

Where all users would take minutes, a share of them is done.
"""

import math

import numpy as np

EPSILON = 1.0


def zipf_values(users: int, values: int) -> list[int]:
    weights = 1 / np.arange(1, values + 1)
    counts = np.floor(users * weights / weights.sum()).astype(np.int64)
    counts[0] += users - counts.sum()
    return np.repeat(np.arange(values), counts).tolist()


def pure_ldp_krr(users: int, values: int, share: float):
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer

    held = [x + 1 for x in zipf_values(int(users * share), values)]
    client = DEClient(EPSILON, values)

    def estimate():
        server = DEServer(EPSILON, values)
        for x in held:
            server.aggregate(client.privatise(x))
        return server.estimate_all(range(1, values + 1), suppress_warnings=True)

    return estimate, share


def multi_freq_krr(users: int, values: int, share: float):
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client

    held = zipf_values(int(users * share), values)

    def estimate():
        reports = [GRR_Client(x, values, EPSILON) for x in held]
        return GRR_Aggregator_MI(reports, values, EPSILON)

    return estimate, share


def krr_chances(values: int) -> tuple[float, float]:
    """Return the chances that k-RR keeps a value, and that it reports any other one."""
    p = math.exp(EPSILON) / (math.exp(EPSILON) + values - 1)
    return p, (1 - p) / (values - 1)


def unbiased(reports: list[int], values: int) -> np.ndarray:
    """Return the frequencies of the true values, which two of the libraries do not estimate."""
    p, q = krr_chances(values)
    return (np.bincount(reports, minlength=values) / len(reports) - q) / (p - q)


def opendp_krr(users: int, values: int, share: float):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    held = zipf_values(int(users * share), values)
    p, _ = krr_chances(values)
    mechanism = dp.m.make_randomized_response(categories=list(range(values)), prob=p)

    def estimate():
        return unbiased([mechanism(x) for x in held], values)

    return estimate, share


def diffprivlib_krr(users: int, values: int, share: float):
    from diffprivlib.mechanisms import Exponential

    held = zipf_values(int(users * share), values)
    shape = {"epsilon": EPSILON, "sensitivity": 1, "monotonic": True}
    mechanisms = {}
    for x in set(held):
        utility = [float(value == x) for value in range(values)]
        mechanisms[x] = Exponential(utility=utility, **shape)

    def estimate():
        return unbiased([mechanisms[x].randomise() for x in held], values)

    return estimate, share


def pure_ldp_unary(users: int, values: int, share: float):
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    held = [x + 1 for x in zipf_values(int(users * share), values)]
    client = UEClient(EPSILON, values, use_oue=True)

    def estimate():
        server = UEServer(EPSILON, values, use_oue=True)
        for x in held:
            server.aggregate(client.privatise(x))
        return server.estimate_all(range(1, values + 1), suppress_warnings=True)

    return estimate, share


def multi_freq_unary(users: int, values: int, share: float):
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

    held = zipf_values(int(users * share), values)

    def estimate():
        return UE_Aggregator_MI([UE_Client(x, values, EPSILON) for x in held], EPSILON)

    return estimate, share


def pure_ldp_projection(values: int):
    from pure_ldp.core.prob_simplex import project_probability_simplex

    point = np.random.default_rng(7).normal(1 / values, 0.01, values)
    return lambda: project_probability_simplex(point)


def cvxpy_unary_mle(users: int, values: int):
    import cvxpy

    q = 1 / (math.exp(EPSILON) + 1)
    bits = (np.arange(2**values)[:, None] >> np.arange(values)) & 1
    base = np.power(q, bits.sum(axis=1)) * np.power(1 - q, values - bits.sum(axis=1))
    channel = base[:, None] * np.where(bits == 1, 0.5 / q, 0.5 / (1 - q))

    rng = np.random.default_rng(7)
    counts = np.bincount(zipf_values(users, values), minlength=values)
    tallies = sum(
        rng.multinomial(counts[x], channel[:, x] / channel[:, x].sum()) for x in range(values)
    )
    seen = tallies > 0
    weights = tallies[seen] / tallies.sum()
    info = {}

    def fit():
        p = cvxpy.Variable(values, nonneg=True)
        likelihood = cvxpy.Maximize(weights @ cvxpy.log(channel[seen] @ p))
        cvxpy.Problem(likelihood, [cvxpy.sum(p) == 1]).solve(solver="CLARABEL")

        found = np.maximum(p.value, 0) / np.maximum(p.value, 0).sum()
        gradient = channel[seen].T @ (weights / (channel[seen] @ found))
        info["n gap"] = float(users * (gradient.max() - 1))

    return fit, 1.0, info


def samplics_estimate(reports: int):
    """Estimate the share of yes, and that in each of five groups, from unbiased scores."""
    import warnings

    warnings.simplefilter("ignore", FutureWarning)  # its successor needs Python 3.12
    import pandas as pd
    from samplics.estimation import TaylorEstimator
    from samplics.utils.types import PopParam

    rng = np.random.default_rng(7)
    score = pd.Series((rng.integers(2, size=reports) - 0.25) / 0.5)
    group = pd.Series(rng.integers(5, size=reports))
    weight = pd.Series(np.full(reports, 10.0))

    def estimate():
        TaylorEstimator(PopParam.mean).estimate(y=score, samp_weight=weight, fpc=0.9**0.5)
        of_groups = TaylorEstimator(PopParam.mean)
        of_groups.estimate(y=score, samp_weight=weight, domain=group, fpc=0.9**0.5)
        return of_groups.point_est

    return estimate, 1.0


N = 10**6
K = 1024
TASKS = {
    "k-RR, n = 1e6, k = 1024 | pure-ldp": lambda: pure_ldp_krr(N, K, 0.2),
    "k-RR, n = 1e6, k = 1024 | multi-freq-ldpy": lambda: multi_freq_krr(N, K, 0.2),
    "k-RR, n = 1e6, k = 1024 | opendp": lambda: opendp_krr(N, K, 0.004),
    "k-RR, n = 1e6, k = 1024 | diffprivlib": lambda: diffprivlib_krr(N, K, 0.0005),
    "OUE, n = 1e6, k = 1024 | pure-ldp": lambda: pure_ldp_unary(N, K, 0.01),
    "OUE, n = 1e6, k = 1024 | multi-freq-ldpy": lambda: multi_freq_unary(N, K, 0.01),
    "Norm-Sub, k = 1024 | pure-ldp": lambda: pure_ldp_projection(1024),
    "Norm-Sub, k = 1e6 | pure-ldp": lambda: pure_ldp_projection(10**6),
    "estimate, 1e6 reports | samplics": lambda: samplics_estimate(N),
    "unary MLE, a = 10, n = 1e6 | cvxpy/Clarabel": lambda: cvxpy_unary_mle(N, 10),
}
