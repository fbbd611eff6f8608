"""The numbers printed for bun2022, computed anew in high precision; what a linear program finds is an exception."""

from collections.abc import Sequence
from itertools import combinations

from mpmath import exp, expm1, log, mpf, tanh

HALF, TENTH = mpf("0.5"), mpf("0.1")


def growth(rate: str, epsilon: str) -> mpf:
    """``ln(1 + rate (e^epsilon - 1))``."""
    return log(1 + mpf(rate) * expm1(mpf(epsilon)))


def clusters(sizes: Sequence[int], chosen: int, epsilon: mpf, step: int = 1) -> mpf:
    """Loss of the tail of a noisy count of the first cluster's records less all others."""
    draws = [
        sum(exp(-epsilon * sum(some)) for some in combinations(sizes[1:], m))
        for m in (chosen - 1, chosen)
    ]
    rho = draws[0] / draws[1]
    return log((1 + rho * exp(epsilon * sizes[0])) / (1 + rho * exp(epsilon * (sizes[0] - step))))


def bound(
    sizes: Sequence[int], chosen: int, epsilon: mpf, other: int, changed: int | None = None
) -> mpf:
    size, p = sizes[0] if changed is None else changed, mpf(chosen) / len(sizes)
    return log(1 + expm1(epsilon) / (1 + (1 / p - 1) * exp(-epsilon * (size - 1 + other))))


FOUR = ((3, 1, 2, 4), 2, HALF)


def pps_clusters(own: int, others: Sequence[tuple[int, int]]) -> mpf:
    """Loss at budget 0.5 where one cluster is drawn in proportion to size; the others as sizes with their numbers."""
    n = own + sum(size * count for size, count in others)
    rest = sum(count * size * exp(-HALF * (own + size)) for size, count in others)
    return log(mpf(n - 1) / n) + log((own + rest) / ((own - 1) * exp(-HALF) + rest))


def supremum(rate: str, epsilon: str) -> mpf:
    r, e = mpf(rate), mpf(epsilon)
    return log(1 + r * (1 - r) * expm1(2 * e) + r * expm1(e))


CERTIFICATES = {
    "section-2.3": {
        "replacement loses {}, a fifth {} |": lambda: [growth(r, "1") for r in ("0.1", "0.2")]
    },
    "theorem-2.2": {
        "noise {}, not {}: budget {} |": lambda: [
            1 / (100 * growth("10", "1")),
            mpf("0.01"),
            growth("10", "1"),
        ],
    },
    "lemmas-a.2-to-a.4": {
        "form {} is attained, the product form {} is": lambda: [
            log(mpf("0.7") * exp(mpf("0.2")) + mpf("0.3") * exp(1)),
            mpf("0.2") + growth("0.3", "1"),
        ],
    },
    "lemma-b.1": {"lose {}, $2$": lambda: growth("0.4", "1")},
    "section-1.1-characterisation": {
        "lose {} and {} at": lambda: [log((1 + exp(4)) / 2), log(2 / (1 + exp(-4)))]
    },
    "section-4.1": {"best test {};": lambda: 1 - exp(-mpf(1))},
    "proposition-4.1": {
        r"1)$, {} at $\varepsilon'=1$, not {};": lambda: [tanh(HALF), expm1(mpf(1))]
    },
    "proposition-4.2": {"never off {} off": lambda: 100 / (1 + exp(mpf(1))) - 2},
    "section-4.3-deterministic-rounding": {
        "lose {}, {} and {} at": lambda: [growth("0.4", e) for e in ("1", "2", "4")],
    },
    "section-4.3-randomised-rounding": {"at most {} |": lambda: supremum("0.75", "0.5")},
    "theorem-4.3": {
        ": {} and {} at": lambda: [
            value * 10**7
            for value in (supremum("0.1", "1e-6"), growth("0.2", "2e-6") + growth("0.1", "2e-6"))
        ],
    },
    "theorem-5.1": {
        "too large {}, above {} |": lambda: [
            bound((1,) * 4, 1, mpf(1), 1, 2),
            clusters((1,) * 4, 1, mpf(1)),
        ]
    },
    "theorem-5.2": {
        ": {} in {} to {};": lambda: [clusters(*FOUR), bound(*FOUR, 1), bound(*FOUR, 4)],
        "{}, {}, {}, {}, {} % of": lambda: [
            1000 * bound((n,) * 10, 1, TENTH, n) for n in (1, 10, 20, 40, 80)
        ],
    },
    "section-5.1-shares-of-clusters-and-records": {
        "holds {} or {} of": lambda: [mpf(1) / 9, mpf(2) / 9]
    },
    "equation-3": {
        ": {}; clusters": lambda: growth("0.4", "0.5"),
        "and {} under deletion": lambda: clusters((1,) * 5, 2, HALF),
    },
    "theorem-5.3": {"3,1,2,4$: {}; after": lambda: clusters(*FOUR)},
    "proposition-6.1": {
        ": {}, {}, {}, {} at $p=p'=": lambda: [
            HALF - log(1 + mpf(odds) * mpf("0.375") * exp(HALF))
            for odds in (1, mpf(1) / 9, mpf(1) / 99, 0)
        ]
    },
    "section-6-data-dependent-inclusion": {"loses {}; one": lambda: pps_clusters(2, [(2, 1)])},
    "section-6-detectable-inclusion": {
        "is {}, {}, {}, {} for": lambda: [exp(mpf("0.6") * n) for n in (1, 2, 5, 10)]
    },
    "section-6.1-pps-of-elements": {
        "least {} ({} by": lambda: [growth("0.8", "1"), 1 + log(mpf("0.8"))]
    },
    "section-6.1-equal-sizes": {"sample {} |": lambda: growth("0.5", "1")},
    "section-6.2-pps-of-clusters": {
        "lose {}, of $10$ {};": lambda: [pps_clusters(2, [(2, 99)]), pps_clusters(10, [(10, 99)])],
        "of $3$ {} |": lambda: pps_clusters(60, [(3, 1000)]),
    },
    "section-6.3-systematic-sampling": {
        ": {} in secret order, {} in": lambda: [
            growth("0.5", "1"),
            clusters((4, 4), 1, HALF, step=2),
        ],
    },
    "theorem-7.2": {", bound {};": lambda: growth("0.8", "1") + growth("0.4", "1")},
    "section-7.3-proportional-for-all-statistics": {
        "variance is {} times": lambda: mpf("0.999") / (1 / mpf(99) - 1 / mpf(1000)),
    },
}
EXCEPTIONS = {
    "equation-6": "shares in fractions, and an enumeration",
    "section-5.2-two-stage-sampling": "linear programs, and ratios of bounds that Theorem 5.2 certifies",
    "section-7.2-neyman-example": "shares of simulated establishments",
    "section-6.1-limited-variation": "sums over records that the linear program confirms at six of them",
    "section-6.3-duplicates-and-strata": "counts of an enumeration",
    "definition-7.1": "sums of two budgets",
    "equation-7": "roots by bisection on a fine grid of outputs",
    "equation-8": "roots by bisection on a fine grid of outputs",
    "section-7.1-data-independence": "densities of an enumeration",
} | dict.fromkeys(("lemma-b.3", "theorem-3.1", "section-3-tails", "figure-2"), "linear programs")
