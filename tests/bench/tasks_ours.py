"""The tasks as ldpnb does them, and the machine's floor for some.

The floor is what numpy's random generator or its sort alone takes. A function here prepares a task,
and returns what is timed.
"""

import numpy as np

EPSILON = 1.0


def zipf_counts(users: int, values: int) -> np.ndarray:
    weights = 1 / np.arange(1, values + 1)
    counts = np.floor(users * weights / weights.sum()).astype(np.int64)
    counts[0] += users - counts.sum()
    return counts


def shares(kind: str, users: int, values: int):
    from ldpnb.estimators.frequency import unbiased
    from ldpnb.mechanisms.registry import FREQUENCY

    counts = zipf_counts(users, values)
    rng = np.random.default_rng(7)
    mechanism = FREQUENCY[kind](EPSILON, values)
    return lambda: unbiased(mechanism.sample_tallies(counts, rng=rng), users, mechanism)


def krr_floor(users: int, values: int):
    counts = zipf_counts(users, values)
    rng = np.random.default_rng(7)
    truthful = 1 - values / (np.exp(EPSILON) + values - 1)
    uniform = np.full(values, 1 / values)

    def draw():
        kept = rng.binomial(counts, truthful)
        return rng.multinomial(users - kept.sum(), uniform)

    return draw


def unary_floor(users: int, values: int):
    counts = zipf_counts(users, values)
    rng = np.random.default_rng(7)

    def draw():
        true = rng.binomial(counts, 0.5)
        false = rng.binomial(users - counts, 1 / (1 + np.e))
        return true, false

    return draw


def noisy_tallies(values: int) -> np.ndarray:
    from ldpnb.mechanisms.frequency import KaryRandomisedResponse

    users = 1000 * values
    mechanism = KaryRandomisedResponse(EPSILON, values)
    return mechanism.sample_tallies(zipf_counts(users, values), rng=np.random.default_rng(7))


def norm_sub(values: int):
    from ldpnb.estimators.frequency import project_simplex, unbiased
    from ldpnb.mechanisms.frequency import KaryRandomisedResponse

    tallies = noisy_tallies(values)
    estimate = unbiased(tallies, int(tallies.sum()), KaryRandomisedResponse(EPSILON, values))
    return lambda: project_simplex(estimate)


def krr_mle(values: int):
    from ldpnb.estimators import likelihood

    tallies = noisy_tallies(values)
    return lambda: likelihood.krr_mle(tallies, epsilon=EPSILON)


def sort_and_pass(values: int, kind: str):
    from ldpnb.estimators.frequency import unbiased
    from ldpnb.mechanisms.frequency import KaryRandomisedResponse

    tallies = noisy_tallies(values)
    estimate = unbiased(tallies, int(tallies.sum()), KaryRandomisedResponse(EPSILON, values))
    column = tallies if kind == "tallies" else estimate
    return lambda: np.cumsum(np.sort(column)[::-1])


def unary_data(users: int, values: int, epsilon: float = EPSILON, counts: np.ndarray | None = None):
    from ldpnb.mechanisms.frequency import UnaryEncoding

    mechanism = UnaryEncoding.optimised(epsilon, values)
    held = zipf_counts(users, values) if counts is None else counts
    if values <= 100:
        return mechanism, *mechanism.sample_outputs(held, rng=np.random.default_rng(7))

    rng = np.random.default_rng(7)
    people = np.repeat(np.arange(values), held)
    pieces = []
    for some in np.array_split(people, 64):
        pieces.append(np.packbits(mechanism.randomize(some, rng=rng), axis=1))

    return mechanism, np.concatenate(pieces), np.ones(users, dtype=np.int64)


def unary_mle(users: int, values: int, epsilon: float = EPSILON, column: str = ""):
    from ldpnb.data.public import adult
    from ldpnb.estimators.likelihood import support_mle

    counts = adult("age").counts if column else None
    mechanism, outputs, tallies = unary_data(users, values, epsilon, counts)
    tolerance = 0.5 if values > 100 else 1e-3
    info = {}

    def fit():
        found = support_mle(outputs, tallies, mechanism, tolerance=tolerance)
        info["n gap"] = float(found.gap)

    return fit, 1.0, info


def gaps():
    from ldpnb.mechanisms.groups import DiscretisedMeans

    rng = np.random.default_rng(7)
    mechanism = DiscretisedMeans.calibrated(EPSILON)
    counts = np.full((2, 2), 250_000_000)
    values = np.array([-1.0, 1.0])
    return lambda: mechanism.sample_sums(counts, values, repetitions=1000, rng=rng)


def shuffled(users: int, values: int = 100, epsilon: float = 3.0):
    from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    from ldpnb.privacy import shuffling

    reports = shuffling.ShuffledReports(users, 1.0, KaryRandomisedResponse(epsilon, values))
    info = {}

    def account():
        upper = reports.epsilon_upper(1e-6)
        lower = reports.epsilon_lower(1e-6)
        info["relative width"] = (upper - lower) / upper

    return account, 1.0, info


def random_size(records: int):
    from ldpnb.papers.bun2022.formulas.random_size import random_size_loss
    from ldpnb.papers.bun2022.formulas.sizes import truncated_gaussian_size

    law = truncated_gaussian_size(records, records / 10, records / 100)
    return lambda: random_size_loss(law, EPSILON)


def clusters(count: int):
    from ldpnb.papers.bun2022.formulas.clusters import ClusterSample

    sizes = np.random.default_rng(7).integers(1, 100_000, count)
    return lambda: ClusterSample(sizes, count // 10).loss(0.1)


def fifteen_bits(value: int) -> list[int]:
    import random

    return [int(random.random() < (0.5 if bit == value else 0.25)) for bit in range(15)]


def audit_of_bits():
    from ldpnb.audit import exact_channel

    info = {}

    def audit():
        info["paths"] = exact_channel(fifteen_bits, range(3)).paths

    return audit, 1.0, info


def krr_client(value, rng):
    if rng.random() < np.e / (np.e + 3):
        return value
    other = int(rng.integers(3))
    return other + (other >= value)


def exact_audit():
    from ldpnb.audit import exact_channel

    return lambda: exact_channel(krr_client, range(4)).epsilon


def sampling_audit(reports: int):
    """Bound the loss by the tallies of so many reports of every value, as LDP-Auditor does."""
    from scipy.special import betaincinv

    rng = np.random.default_rng(7)

    def audit():
        tallies = np.zeros((4, 4))
        for value in range(4):
            for _ in range(reports):
                tallies[krr_client(value, rng), value] += 1

        low = betaincinv(tallies, reports - tallies + 1, 0.005)
        high = betaincinv(tallies + 1, reports - tallies, 0.995)
        return np.log(low.max(axis=1) / high.min(axis=1)).max()

    return audit


def many_reports(reports: int):
    """Estimate the share of yes, and that in each of five groups, from a simple sample."""
    import pandas as pd

    from ldpnb import estimate

    rng = np.random.default_rng(7)
    table = pd.DataFrame(
        {"report": rng.integers(2, size=reports), "group": rng.integers(5, size=reports)}
    )
    return lambda: estimate(table, p=0.75, q=0.25, population=10 * reports, by="group")


def plan_of_strata():
    """Allocate a sample to 16 strata of 83 million people, and find its size."""
    from ldpnb import plan

    population = {f"state {number}": 660_000 * number for number in range(1, 16)}
    population["state 16"] = 83_000_000 - sum(population.values())
    return lambda: plan(epsilon=1.0, error=0.01, failure=0.05, population=population).best.count


def command(*arguments: str):
    import subprocess
    import sys

    how = {"check": True, "capture_output": True}
    return lambda: subprocess.run([sys.executable, *arguments], **how)


TASKS = {
    "k-RR, n = 1e6, k = 1024": lambda: shares("k-RR", 10**6, 1024),
    "k-RR, n = 1e6, k = 1024 | floor": lambda: krr_floor(10**6, 1024),
    "OUE, n = 1e6, k = 1024": lambda: shares("OUE", 10**6, 1024),
    "OUE, n = 1e6, k = 1024 | floor": lambda: unary_floor(10**6, 1024),
    "k-RR, n = 1e9, k = 1e6": lambda: shares("k-RR", 10**9, 10**6),
    "k-RR, n = 1e9, k = 1e6 | floor": lambda: krr_floor(10**9, 10**6),
    "Norm-Sub, k = 1024": lambda: norm_sub(1024),
    "Norm-Sub, k = 1024 | floor": lambda: sort_and_pass(1024, "estimate"),
    "Norm-Sub, k = 1e6": lambda: norm_sub(10**6),
    "Norm-Sub, k = 1e6 | floor": lambda: sort_and_pass(10**6, "estimate"),
    "k-RR MLE, k = 1024": lambda: krr_mle(1024),
    "k-RR MLE, k = 1024 | floor": lambda: sort_and_pass(1024, "tallies"),
    "k-RR MLE, k = 1e6": lambda: krr_mle(10**6),
    "k-RR MLE, k = 1e6 | floor": lambda: sort_and_pass(10**6, "tallies"),
    "unary MLE, a = 10, n = 1e6": lambda: unary_mle(10**6, 10),
    "unary MLE, a = 74, n = 32561": lambda: unary_mle(32561, 74, column="age"),
    "unary MLE, a = 1024, n = 1e6": lambda: unary_mle(10**6, 1024),
    "group gap, K = 1e9, 1000 runs": gaps,
    "shuffled k-RR, n = 1e6": lambda: shuffled(10**6),
    "random size, n = 1000": lambda: random_size(1000),
    "random size, n = 1e5": lambda: random_size(10**5),
    "clusters, 1e5 unequal": lambda: clusters(10**5),
    "audit, 15 bits": audit_of_bits,
    "audit, k-RR of 4 values": exact_audit,
    "audit, k-RR of 4 values | sampling of 80,000 reports": lambda: sampling_audit(20_000),
    "estimate, 1e6 reports": lambda: many_reports(10**6),
    "plan, 16 strata of 83 million": plan_of_strata,
    "import ldpnb": lambda: command("-c", "import ldpnb"),
    "ldpnb list": lambda: command("-m", "ldpnb", "list"),
}
