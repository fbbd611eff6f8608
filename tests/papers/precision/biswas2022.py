"""The numbers printed for biswas2022, computed anew in high precision from what one user does under Definition 2.4."""

from collections import Counter
from collections.abc import Callable, Iterable

from mpmath import acosh, binomial, exp, findroot, log, mp, mpf, pi, sqrt

USERS = 50_000
VALUES = 101
PAIRS = ", ".join([r"${} \to {}$"] * 4)


def randomiser(epsilon: mpf, k: int) -> tuple[mpf, mpf]:
    """Probability of one's own value and of a given other one."""
    return exp(epsilon) / (exp(epsilon) + k - 1), 1 / (exp(epsilon) + k - 1)


def user(chance: mpf, rate: mpf, cost: mpf) -> tuple[mpf, mpf]:
    """Mean and variance of ``1{reports i} - cost * 1{reports}``; a report is of i with that chance."""
    mean = rate * (chance - cost)
    square = rate * (chance * (1 - cost) ** 2 + (1 - chance) * cost**2)
    return mean, square - mean**2


def unadjusted_mean(n: mpf, f: mpf, rate: mpf, epsilon: mpf, k: int) -> mpf:
    p, q = randomiser(epsilon, k)
    reports = n * f * user(p, rate, 0)[0] + n * (1 - f) * user(q, rate, 0)[0]
    return (reports - n * q) / (p - q)


def line_before() -> mpf:
    """Return what the line before equation (4) gives: ``n pi ((p + q) / 2 - n q) / (p - q)`` with ``pi = f = 1/2``."""
    p, q = randomiser(mpf(1), 4)
    return 2 * ((p + q) / 2 - 4 * q) / (p - q)


def variance(n: mpf, f: mpf, rate: mpf, epsilon: mpf, k: int, *, realised: bool = False) -> mpf:
    """Variance of g_DE, or of c-hat, for fixed data."""
    p, q = randomiser(epsilon, k)
    cost = q if realised else mpf(0)
    parts = n * f * user(p, rate, cost)[1] + n * (1 - f) * user(q, rate, cost)[1]
    return parts / (rate * (p - q)) ** 2


def variance_iid(n: mpf, f: mpf, rate: mpf, epsilon: mpf, k: int) -> mpf:
    p, q = randomiser(epsilon, k)
    return n * user(f * p + (1 - f) * q, rate, mpf(0))[1] / (rate * (p - q)) ** 2


def survey() -> tuple[mpf, mpf, mpf, mpf, int]:
    return mpf(1000), mpf("0.3"), mpf("0.5"), mpf(1), 4


def displayed(n: mpf, f: mpf, rate: mpf, epsilon: mpf, k: int) -> mpf:
    """The proof of Theorem 3.2, divided by the squared rate."""
    p, q = randomiser(epsilon, k)
    r = f * p + (1 - f) * q
    total = n * rate * (f * p * (1 - p) + (1 - f) * q * (1 - q)) + n * rate * (1 - rate) * r**2
    return total / (rate * (p - q)) ** 2


def stated_for_c_hat() -> mpf:
    """The proof of Theorem 3.5: the displayed variance and that of q times the size, added."""
    n, _, rate, epsilon, k = survey()
    p, q = randomiser(epsilon, k)
    return displayed(*survey()) + n * rate * (1 - rate) * q**2 / (rate * (p - q)) ** 2


def bias_and_deviations() -> list[mpf]:
    """At a value nobody holds: the bias of c_DE, and the standard deviations of c_DE and g_DE."""
    deviation = sqrt(variance(mpf(USERS), mpf(0), mpf("0.1"), mpf(1), VALUES))
    return [unadjusted_mean(mpf(USERS), mpf(0), mpf("0.1"), mpf(1), VALUES), deviation / 10, deviation]


def definition_3_1(n: int, f: str) -> mpf:
    return variance(mpf(n), mpf(f), mpf("0.1"), mpf(1), 100) / (n * mpf(f))


def chance_below(bound: mpf, chance: mpf) -> mpf:
    """Chance that fewer than `bound` of all users report a value."""
    term = total = (1 - chance) ** USERS
    for reports in range(1, int(mp.ceil(bound))):
        term *= (USERS - reports + 1) * chance / (reports * (1 - chance))
        total += term
    return total


def negative() -> list[mpf]:
    q = randomiser(mpf(1), VALUES)[1]
    return [chance_below(USERS * q, q / 10), chance_below(USERS * q / 10, q / 10)]


def bin_law(trials: int, probability: str) -> list[mpf]:
    c = mpf(probability)
    law = [binomial(trials, v) * c**v * (1 - c) ** (trials - v) for v in range(trials + 1)]
    return law + [mpf(0)] * (VALUES - len(law))


def first() -> list[mpf]:
    return bin_law(100, "0.5")


def mixture() -> list[mpf]:
    return [(a + b) / 2 for a, b in zip(bin_law(50, "0.6"), bin_law(50, "0.4"), strict=True)]


def distance(law: list[mpf], rate: mpf, epsilon: mpf, *, realised: bool = True) -> mpf:
    """Mean total variation distance between c-hat, or g_DE, and the data, deviations being normal."""
    deviations = (
        times * sqrt(variance(mpf(USERS), f, rate, epsilon, VALUES, realised=realised))
        for f, times in Counter(law).items()
    )
    return sqrt(2 / pi) * sum(deviations) / (2 * USERS)


def improvements(law: Callable[[], list[mpf]]) -> Callable[[], list[mpf]]:
    return lambda: [distance(law(), mpf(r), mpf(e), realised=False) for e in (1, 2, 3, 5) for r in ("0.1", "0.9")]


def apart() -> list[mpf]:
    high, low = bin_law(50, "0.6")[:51], bin_law(50, "0.4")[:51]
    total = [sum(high[i] * low[v - i] for i in range(max(0, v - 50), min(50, v) + 1)) for v in range(VALUES)]
    return [sum(abs(a - b) for a, b in zip(law, first(), strict=True)) / 2 for law in (total, mixture())]


def per_cent_lower() -> list[mpf]:
    at = [distance(first(), mpf(r), mpf(3)) for r in ("0.1", "0.2", "0.9", "1")]
    return [100 * (1 - at[1] / at[0]), 100 * (1 - at[3] / at[2])]


def root(function: Callable[[mpf], mpf], near: str) -> mpf:
    return findroot(function, (mpf(near), mpf(near) + mpf("0.01")))


def differences() -> list[mpf]:
    law = first()
    return [
        root(lambda e, level=level: distance(law, mpf("0.1"), e) - distance(law, mpf(1), e) - mpf(level), near)
        for level, near in (("0.1", "4.1"), ("0.05", "5.4"))
    ]


def rare_personal(rates: dict[mpf, int], epsilon: mpf, k: int) -> mpf:
    """Variance of T at a value nobody holds, users counted by rate."""
    p, q = randomiser(epsilon, k)
    n, expected = sum(rates.values()), sum(r * c for r, c in rates.items())
    return sum(c * user(q, r, mpf(0))[1] for r, c in rates.items()) * (n / (expected * (p - q))) ** 2


GROUPS = ((1300, 1200, "0.8"), (700, 100, "0.1"))


def exact_personal() -> mpf:
    p, q = randomiser(mpf(2), 4)
    parts = sum(h * user(p, mpf(r), 0)[1] + (c - h) * user(q, mpf(r), 0)[1] for c, h, r in GROUPS)
    return parts * (2000 / (sum(c * mpf(r) for c, _, r in GROUPS) * (p - q))) ** 2


def displayed_personal() -> mpf:
    p, q = randomiser(mpf(2), 4)
    f = mpf(1300) / 2000
    noise, r = f * p * (1 - p) + (1 - f) * q * (1 - q), f * p + (1 - f) * q
    total = sum(c * (mpf(x) * (1 - mpf(x)) * (noise + r**2) + mpf(x) ** 2 * noise) for c, _, x in GROUPS)
    return total * (2000 / (sum(c * mpf(x) for c, _, x in GROUPS) * (p - q))) ** 2


def silent_loss() -> mpf:
    """Loss of reports and silence when users of four values take part with these rates."""
    rates = [mpf(x) for x in ("0.08", "0.5", "0.8", "0.3")]
    p, q = randomiser(mpf(1), 4)
    laws = [[r * (p if y == x else q) for y in range(4)] + [1 - r] for x, r in enumerate(rates)]
    return max(log(a / b) for one in laws for other in laws for a, b in zip(one, other, strict=True))


def noise(epsilon: str) -> mpf:
    p, q = randomiser(mpf(epsilon), 10)
    return q * (1 - q) / (p - q) ** 2


def horvitz_thompson(rates: Iterable[str | mpf], budgets: tuple[str, str]) -> mpf:
    return sum(500 * noise(e) / mpf(r) for r, e in zip(rates, budgets, strict=True))


def best_rates() -> list[mpf]:
    roots = [sqrt(noise(e)) for e in ("0.5", "3")]
    return [100 * r / (500 * sum(roots)) for r in roots]


def generic_bound() -> mpf:
    growth = exp(mpf(5))
    return log(1 + 8 * (growth - 1) / (growth + 1) * (sqrt(growth * log(4 * 10**6) / USERS) + growth / USERS))


CERTIFICATES = {
    "definition-2.3-remark-1": {"1$: {} > {} |": lambda: randomiser(mpf(1), 4)},
    "theorem-2.1": {
        "1))$: {} users": lambda: unadjusted_mean(USERS, mpf("0.05"), mpf("0.1"), 1, VALUES) - USERS * mpf("0.05"),
        "the mean is {}, the line before (4) gives {} |": lambda: [
            unadjusted_mean(mpf(4), mpf("0.5"), mpf("0.5"), mpf(1), 4),
            line_before(),
        ],
    },
    "section-3-meaning-of-f": {
        "with chance {};": lambda: sum(randomiser(mpf(1), 4)) / 2,
        "gives {} with that, {} with one half; the mean is {} |": lambda: [
            unadjusted_mean(mpf(4), share, mpf("0.5"), mpf(1), 4)
            for share in (sum(randomiser(mpf(1), 4)) / 2, mpf("0.5"), mpf("0.5"))
        ],
    },
    "theorem-3.2": {"k = 101$: {} |": lambda: variance(mpf(USERS), mpf(0), mpf("0.1"), mpf(1), VALUES)},
    "theorem-3.2-proof": {
        "displayed {}, exact {} for fixed data and {} for iid": lambda: [
            f(mpf(1000), mpf("0.3"), mpf("0.2"), mpf(2), 4) for f in (displayed, variance, variance_iid)
        ]
    },
    "section-3-order-of-the-variances": {
        "k = 101$: {} against {} and, from all users, {} |": lambda: [
            variance(mpf(USERS), mpf(0), mpf("0.1"), mpf(1), VALUES),
            variance(mpf(USERS), mpf(0), mpf("0.1"), mpf(1), VALUES) / 100,
            variance(mpf(USERS), mpf(0), mpf(1), mpf(1), VALUES),
        ]
    },
    "section-3-bias-against-variance": {
        r"pi))$: {} at": lambda: (exp(mpf(1)) + VALUES - mpf("1.1")) * mpf("1.1") / mpf("0.09"),
        "bias {}, standard deviations {} and {} |": bias_and_deviations,
    },
    "definition-3.1-theorem-3.3": {
        r"0.1$: {} at $f = 0.05$ for $n = 50\,000$, {} for ten times the users, {} at $f": lambda: [
            definition_3_1(*at) for at in ((USERS, "0.05"), (10 * USERS, "0.05"), (USERS, "1e-4"))
        ],
        r"\pi))$ is {}, $\mathrm{Var}^*(g/n)$ {} |": lambda: [
            variance(mpf(USERS), mpf(0), mpf("0.1"), mpf(1), 100) / (USERS * scale) ** 2 for scale in (mpf("0.1"), 1)
        ],
    },
    "section-3-limit": {
        "printed {};": lambda: USERS / (exp(mpf(1)) - 1),
        "{-12}$ {}; were": lambda: unadjusted_mean(mpf(USERS), mpf(0), mpf("1e-12"), mpf(1), VALUES),
        "would be {} |": lambda: USERS * (exp(mpf(1)) + VALUES - 2) / (exp(mpf(1)) - 1),
    },
    "theorem-3.5": {
        r"4$: {} against {} for $\hat c$ (the source's formula: {})": lambda: [
            *(variance(*survey()), variance(*survey(), realised=True), stated_for_c_hat())
        ]
    },
    "theorem-3.6": {
        "below {} (always)": lambda: 9 / (exp(mpf(1)) - 1),
        "chance {}, $g_{DE} < 0$ with {} |": negative,
    },
    "figure-1-and-2": {
        rf"5$: {PAIRS} (Figure 1),": improvements(first),
        rf"(Figure 1), {PAIRS} (Figure 2)": improvements(mixture),
        "total variation of {} only, the mixture by {}": apart,
    },
    "figure-3-trade-off": {
        "at distance {} for": lambda: distance(first(), mpf("0.1"), mpf(3)),
        "at {} for 0.9": lambda: distance(first(), mpf("0.9"), mpf(3)),
    },
    "figure-3-diminishing-returns": {
        "distance by {}%, from .9 to 1 by {}%,": per_cent_lower,
        r"up to $\varepsilon = {}$;": lambda: acosh(151),
    },
    "section-6-rate-.1-against-1": {
        r"for $\varepsilon$ above {}, below .05 above {} (normal": differences,
    },
    "theorem-5.1-unbiasedness": {
        "mean {} instead": lambda: 5 * mpf("1.6") / mpf("2.5"),
        "overall: {} |": lambda: 1251 * mpf("0.75") / mpf("0.5634"),
    },
    "theorem-5.1-var": {
        "the first: {} |": lambda: rare_personal({mpf("0.8"): 2, mpf("0.2"): 2, mpf("0.5"): 1}, mpf(1), 4)
    },
    "theorem-5.1-proof": {"displayed {}, exact {} |": lambda: [displayed_personal(), exact_personal()]},
    "section-6-open-question-i": {
        "means {}, {}, {}, {}, the": lambda: [2500] * 4,
        "lose {} in place of 1; by the noisy report {} |": lambda: [silent_loss(), mpf(1)],
    },
    "section-6-ii-a-higher-epsilon": {
        "3, 8$: {}, {}, {} |": lambda: [
            sqrt(variance(mpf(USERS), mpf(0), mpf("0.1"), mpf(e), VALUES, realised=True)) for e in (1, 3, 8)
        ]
    },
    "section-6-open-question-ii": {"bound at 5: {} |": generic_bound},
    "section-6-open-question-iii": {
        "10$: {} at equal rates, {} with 100 users": lambda: [
            rare_personal(rates, mpf(1), 10) for rates in ({mpf("0.1"): 1000}, {mpf(1): 100, mpf(0): 900})
        ],
        "Horvitz-Thompson {}, at .15/.05 {};": lambda: [
            horvitz_thompson(rates, ("1", "1")) for rates in (("0.1", "0.1"), ("0.15", "0.05"))
        ],
        "rates {}, {} give {} (equal {})": lambda: [
            *best_rates(),
            horvitz_thompson(best_rates(), ("0.5", "3")),
            horvitz_thompson(("0.1", "0.1"), ("0.5", "3")),
        ],
    },
}
EXCEPTIONS = {
    "section-6-ii-maximum-likelihood": "a calibrated deviation, compared with an integral by its second route"
}
