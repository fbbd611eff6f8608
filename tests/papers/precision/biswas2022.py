"""The numbers printed for biswas2022, computed anew in high precision from what one user does under Definition 2.4."""

from collections.abc import Iterable

from mpmath import acosh, exp, mpf

USERS, VALUES = 50_000, 101
RARE = (USERS, 0, "0.1", 1, VALUES)
"""Users, share of holders, rate, epsilon and values; nobody holds the value."""

Groups = Iterable[tuple[int, int, str]]
"""How many users, how many of them hold the value, and their rate."""


def randomiser(epsilon: object, k: int) -> tuple[mpf, mpf]:
    """Probability of one's own value and of a given other one."""
    return exp(mpf(epsilon)) / (exp(mpf(epsilon)) + k - 1), 1 / (exp(mpf(epsilon)) + k - 1)


def user(chance: mpf, rate: mpf, cost: mpf) -> tuple[mpf, mpf]:
    """Mean and variance of ``1{reports i} - cost * 1{reports}``; a report is of i with that chance."""
    mean = rate * (chance - cost)
    square = rate * (chance * (1 - cost) ** 2 + (1 - chance) * cost**2)
    return mean, square - mean**2


def unadjusted_mean(n: int, share: object, rate: object, epsilon: object, k: int) -> mpf:
    (p, q), f, r = randomiser(epsilon, k), mpf(share), mpf(rate)
    return (n * f * user(p, r, 0)[0] + n * (1 - f) * user(q, r, 0)[0] - n * q) / (p - q)


def variance(
    n: int,
    share: object,
    rate: object,
    epsilon: object,
    k: int,
    *,
    realised: bool = False,
    iid: bool = False,
) -> mpf:
    """Variance of g_DE, or of c-hat, for fixed or iid data."""
    (p, q), f, r = randomiser(epsilon, k), mpf(share), mpf(rate)
    alike = (
        [(1, f * p + (1 - f) * q)] if iid else [(f, p), (1 - f, q)]
    )  # shares of the users, and their chance
    return (
        n
        * sum(part * user(s, r, q if realised else mpf(0))[1] for part, s in alike)
        / (r * (p - q)) ** 2
    )


def personal(groups: Groups, epsilon: int, k: int) -> mpf:
    """Variance of T."""
    p, q = randomiser(epsilon, k)
    parts = sum(h * user(p, mpf(r), 0)[1] + (c - h) * user(q, mpf(r), 0)[1] for c, h, r in groups)
    return (
        parts
        * (sum(c for c, _, _ in groups) / (sum(c * mpf(r) for c, _, r in groups) * (p - q))) ** 2
    )


CERTIFICATES = {
    "definition-2.3-remark-1": {"1$: {} > {} |": lambda: randomiser(1, 4)},
    "theorem-2.1": {
        "1))$: {} users": lambda: (
            unadjusted_mean(USERS, "0.05", "0.1", 1, VALUES) - USERS * mpf("0.05")
        ),
    },
    "theorem-3.2": {"k = 101$: {} |": lambda: variance(*RARE)},
    "theorem-3.2-proof": {
        "exact {} for fixed data and {} for iid": lambda: [
            variance(1000, "0.3", "0.2", 2, 4, iid=iid) for iid in (False, True)
        ]
    },
    "section-3-order-of-the-variances": {
        "variances {} and {}, from all users {};": lambda: [
            *(variance(*RARE), variance(*RARE) / 100, variance(USERS, 0, 1, 1, VALUES))
        ],
        "below {} users": lambda: (exp(mpf(1)) + VALUES - mpf("1.1")) * mpf("1.1") / mpf("0.09"),
    },
    "definition-3.1-theorem-3.3": {
        r"0.1$: {} at $f = 0.05$ for $n = 50\,000$, {} for ten times the users, {} at $f": lambda: [
            variance(n, f, "0.1", 1, 100) / (n * mpf(f))
            for n, f in ((USERS, "0.05"), (10 * USERS, "0.05"), (USERS, "1e-4"))
        ],
    },
    "section-3-limit": {
        "printed {};": lambda: USERS / (exp(mpf(1)) - 1),
        "{-12}$ {}; were": lambda: unadjusted_mean(USERS, 0, "1e-12", 1, VALUES),
        "would be {} |": lambda: USERS * (exp(mpf(1)) + VALUES - 2) / (exp(mpf(1)) - 1),
    },
    "theorem-3.5": {
        r"4$: {} against {} for $\hat c$": lambda: [
            variance(1000, "0.3", "0.5", 1, 4, realised=realised) for realised in (False, True)
        ]
    },
    "theorem-3.6": {"below {}, and": lambda: 9 / (exp(mpf(1)) - 1)},
    "figure-3-diminishing-returns": {r"up to $\varepsilon = {}$;": lambda: acosh(151)},
    "theorem-5.1-unbiasedness": {
        "mean {} instead": lambda: 5 * mpf("1.6") / mpf("2.5"),
        "overall: {} |": lambda: 1251 * mpf("0.75") / mpf("0.5634"),
    },
    "theorem-5.1-var": {
        "the first: {} |": lambda: personal(((2, 0, "0.8"), (2, 0, "0.2"), (1, 0, "0.5")), 1, 4)
    },
    "theorem-5.1-proof": {
        "exact {} |": lambda: personal(((1300, 1200, "0.8"), (700, 100, "0.1")), 2, 4)
    },
    "section-6-open-question-iii": {
        "10$: {} at equal rates, {} with 100 users": lambda: [
            personal(groups, 1, 10)
            for groups in (((1000, 0, "0.1"),), ((100, 0, "1"), (900, 0, "0")))
        ],
    },
}
EXCEPTIONS = {
    "figure-1-and-2": "simulated beside the closed form",
    "figure-3-trade-off": "an expected distance, compared with an integral by its second route",
    "section-3-meaning-of-f": "the population shown is enumerated",
    "section-6-rate-.1-against-1": "ratios of simulated distances",
    "section-6-open-question-i": "the channels shown are written out",
    "section-6-open-question-ii": "an upper and a lower bound meet",
    "section-6-ii-maximum-likelihood": "a calibrated deviation, compared with an integral by its second route",
}
