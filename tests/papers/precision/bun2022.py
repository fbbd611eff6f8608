"""The numbers printed for bun2022, computed anew in high precision; what a linear program finds is an exception."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb

from certify import largest
from mpmath import exp, expm1, log, mpf, sqrt, tanh


def fraction(x: Fraction) -> mpf:
    return mpf(x.numerator) / x.denominator


def growth(rate: mpf, epsilon: mpf) -> mpf:
    """``ln(1 + rate (e^epsilon - 1))``."""
    return log(1 + rate * (exp(epsilon) - 1))


def secret_budget() -> mpf:
    return log(1 + 10 * expm1(mpf(1)))


def gaussian(population: int, mean: int, deviation: str) -> list[mpf]:
    weights = [exp(-((m - mean) ** 2) / (2 * mpf(deviation) ** 2)) for m in range(population + 1)]
    return [w / sum(weights) for w in weights]


def tilted(law: Sequence[mpf], epsilon: mpf, values: Sequence[mpf] | None = None) -> mpf:
    """Mean of values, or of the rate, under the law reweighted by ``e^(epsilon m)``."""
    weights = [w * exp(epsilon * m) for m, w in enumerate(law)]
    held = [mpf(m) / (len(law) - 1) for m in range(len(law))] if values is None else values
    return sum(w * v for w, v in zip(weights, held, strict=True)) / sum(weights)


def lower(law: Sequence[mpf], epsilon: mpf, steps: int) -> mpf:
    """Loss of the noisy sum's tail when one record falls by one or two."""
    return -log(1 - (1 - exp(-steps * epsilon)) * tilted(law, epsilon))


def small_epsilon() -> list[mpf]:
    law, tiny = gaussian(100, 20, "4"), mpf("1e-7")
    rate = tilted(law, tiny)
    bounds = (growth(rate, 2 * tiny), lower(law, tiny, 1), lower(law, tiny, 2))
    return [bound / (tiny * rate) for bound in bounds]


def random_size(law: Sequence[mpf], epsilon: mpf) -> mpf:
    """Largest loss over all mechanisms: the best event's chances by the number of unchanged records, step by step."""
    n = len(law) - 1
    up, down = exp(epsilon), exp(-epsilon)
    alone = [law[m] * (n - m) / n for m in range(n)]
    joined = [law[m + 1] * (m + 1) / n for m in range(n)]
    pairs = [(a + up * j, a + down * j) for a, j in zip(alone, joined, strict=True)][::-1]

    def gain(ratio: mpf) -> mpf:
        """Best surplus of the first chance over `ratio` times the second, per unit of the event's chance at 0."""
        ahead = mpf(0)
        for first, second in pairs:
            ahead = ahead * (up if ahead > 0 else down) + first - ratio * second
        return ahead

    return largest(lambda loss: gain(exp(loss)) > 0, mpf(0), 2 * epsilon)


def symmetric_ratio(sizes: Sequence[int], chosen: int, epsilon: mpf) -> mpf:
    """Ratio of the elementary symmetric polynomials of orders ``m - 1`` and ``m`` in others' ``e^(-epsilon n_i)``."""

    def order(m: int) -> mpf:
        return sum(exp(-epsilon * sum(some)) for some in combinations(sizes[1:], m))

    return order(chosen - 1) / order(chosen)


def clusters(sizes: Sequence[int], chosen: int, epsilon: mpf, step: int = 1) -> mpf:
    """Loss of the tail of a noisy count of the first cluster's records less all others."""
    rho = symmetric_ratio(sizes, chosen, epsilon)
    return log((1 + rho * exp(epsilon * sizes[0])) / (1 + rho * exp(epsilon * (sizes[0] - step))))


def bound(sizes: Sequence[int], chosen: int, epsilon: mpf, other: int, changed: int | None = None) -> mpf:
    size, p = sizes[0] if changed is None else changed, mpf(chosen) / len(sizes)
    return log(1 + expm1(epsilon) / (1 + (1 / p - 1) * exp(-epsilon * (size - 1 + other))))


FOUR = ((3, 1, 2, 4), 2, mpf("0.5"))


def least_slack() -> mpf:
    cases = (FOUR, ((2, 4, 1), 1, mpf("0.3")), ((1, 3, 2, 2), 3, mpf(1)))
    return min(clusters(*case) - bound(*case, min(case[0][1:])) for case in cases)


def poisson(one: Sequence[mpf], other: Sequence[mpf], epsilon: mpf) -> mpf:
    """Loss of independent draws with two lists of chances, one record after the other."""

    def loss(here: Sequence[mpf], there: Sequence[mpf]) -> mpf:
        pairs = list(zip(here, there, strict=True))
        ratios = [[(1 + a * expm1(e)) / (1 + b * expm1(e)) for e in (epsilon, -epsilon)] for a, b in pairs]
        return sum(log(max(both)) for both in ratios)

    return max(loss(one, other), loss(other, one))


def limited_variation() -> list[mpf]:
    """Sizes from 1 to 2, of which the first is replaced by a 2: exact, the replaced one alone, and the bound."""
    half, exact, alone = mpf("0.5"), [], []
    for count in (6, 60, 600):
        sizes = [1 + mpf(i) / (count - 1) for i in range(count)]
        total = sum(sizes)
        here, there = (
            [mpf(count) / 4 * z / t for z in (first, *sizes[1:])] for first, t in ((1, total), (2, total + 1))
        )
        exact.append(poisson([*here, mpf(0)], [mpf(0), *there[1:], there[0]], half))
        alone.append(poisson([here[0], mpf(0)], [mpf(0), there[0]], half))
    return [*exact, *alone, *(loss + expm1(half) / 4 for loss in alone), mpf(2)]


def pps_clusters(own: int, others: Sequence[tuple[int, int]], epsilon: mpf) -> mpf:
    """Loss where one cluster is drawn in proportion to size; the others as sizes with their numbers."""
    n = own + sum(size * count for size, count in others)
    rest = sum(count * size * exp(-epsilon * (own + size)) for size, count in others)
    return log(mpf(n - 1) / n) + log((own + rest) / ((own - 1) * exp(-epsilon) + rest))


def equal_clusters(size: int, count: int) -> mpf:
    return pps_clusters(size, [(size, count - 1)], mpf("0.5"))


def two_stage_shares() -> list[mpf]:
    """Bound with records kept at a tenth over a tenth of the bound without, for one of ten clusters at budget 0.1."""
    tenth = mpf("0.1")
    pairs = [[bound((s,) * 10, 1, budget, s) for budget in (growth(tenth, tenth), tenth)] for s in (1, 5, 10, 26, 50)]
    return [with_stage / without / tenth for with_stage, without in pairs]


def near_certain() -> list[mpf]:
    odds = [(1 - mpf(p)) / mpf(p) for p in ("0.5", "0.9", "0.99", "1")]
    return [mpf("0.5") - log(1 + o * mpf("0.3") / (mpf("0.8") * exp(-mpf("0.5")))) for o in odds]


def larger_budgets() -> list[mpf]:
    """Budgets that lose one half by Theorem 4.3 and exactly, from their quadratic equations."""
    told, level = [], expm1(mpf("0.5"))
    for rate in ("0.01", "0.05", "0.1", "0.3"):
        r = mpf(rate)
        gain = (sqrt(9 * r**2 + 8 * r**2 * level) - 3 * r) / (4 * r**2)
        a, b, c = r * (1 - r), r, (1 - r) ** 2 - level - 1
        told += [log(1 + gain) / 2, log((sqrt(b**2 - 4 * a * c) - b) / (2 * a))]
    return told


def rounding(n: int, rate: str, epsilon: str) -> mpf:
    """Loss between n and n + 1 records, the size rounded at random to one of the same two, by the best event."""
    r, e = Fraction(rate), mpf(epsilon)
    m = int(r * n)
    assert r * (n + 1) < m + 1
    p, q = fraction(r * n - m), fraction(r * (n + 1) - m)
    kept, more = mpf(m) / (n + 1), mpf(m + 1) / (n + 1)
    sides = []
    for y, z in product((exp(e), exp(-e)), repeat=2):
        # a sample of m common records has chance 1 for the event, of one more z; the record itself changes it by y, or takes the place of one
        smaller = 1 - p + p * z
        larger = (1 - q) * (1 - kept + kept * y**2) + q * ((1 - more) * z + more * y)
        sides += [log(larger / smaller)] if y > 1 else [log(smaller / larger)]
    return max(sides)


GROUPS = ((1, 2, 4), (10, 14, 15, 21), (40, 60, 80, 100, 170))
LARGER = ((1, 2, 4, 3, 2, 9), (10, 14, 15, 21, 9, 30, 12), (40, 60, 80, 66, 70, 55, 90, 64, 58, 71))


def stratified_samples() -> list[mpf]:
    """Mean and variance of the weighted mean over all samples of 1, 2 and 3 records, in fractions."""
    total = sum(map(len, GROUPS))
    parts = [
        [Fraction(len(g) * sum(s), m * total) for s in combinations(g, m)]
        for g, m in zip(GROUPS, (1, 2, 3), strict=True)
    ]
    values = [sum(one) for one in product(*parts)]
    mean = sum(values) / len(values)
    return [fraction(mean), fraction(sum((v - mean) ** 2 for v in values) / len(values))]


def spread(group: Sequence[int]) -> Fraction:
    mean = Fraction(sum(group), len(group))
    return sum((v - mean) ** 2 for v in group) / (len(group) - 1)


def neyman() -> list[mpf]:
    weights = [len(g) * sqrt(fraction(spread(g))) for g in LARGER]
    return [9 * w / sum(weights) for w in weights]


def allocated(shares: Sequence[mpf]) -> mpf:
    groups = [(mpf(len(g)), fraction(spread(g)), m) for g, m in zip(LARGER, shares, strict=True)]
    return sum(n**2 * squared * (1 / m - 1 / n) for n, squared, m in groups) / sum(map(len, LARGER)) ** 2


def best_whole() -> mpf:
    whole = product(*(range(1, len(g) + 1) for g in LARGER))
    return min(allocated([mpf(m) for m in one]) for one in whole if sum(one) == 9)


FAMILY = ((20, 1), (10, 3))


def fixed_scale(drawn: Sequence[int], epsilon: mpf) -> mpf:
    """Noise that hides one record of a stratum, whose sampling hides it too."""
    return max(mpf(n * v) / (30 * m) / log(1 + expm1(epsilon) * n / m) for (n, v), m in zip(FAMILY, drawn, strict=True))


def fixed_variance(epsilon: str) -> mpf:
    def total(drawn: tuple[int, int]) -> mpf:
        sampling = mpf(0)
        for (n, v), m in zip(FAMILY, drawn, strict=True):
            half = mpf(n // 2) * (n - n // 2) * v**2 / (n * (n - 1))
            sampling += (mpf(n) / 30) ** 2 * half * (mpf(1) / m - mpf(1) / n)
        return sampling + 2 * fixed_scale(drawn, mpf(epsilon)) ** 2

    return min(total((m, 8 - m)) for m in range(1, 8))


def size_test(steps: int, epsilon: mpf) -> mpf:
    """Best advantage of a test whose chance of acceptance climbs through 1/2 symmetrically, private at each step."""
    chance = 1 / (1 + exp(epsilon)) if steps % 2 else mpf(1) / 2
    for _ in range(steps // 2):
        chance *= exp(-epsilon)
    return 1 - 2 * chance


def even_odds(epsilon: mpf) -> list[mpf]:
    """Losses of one of two records, and of none or both with weights ``e^(2 epsilon)`` to 1."""
    return [log((1 + exp(2 * epsilon)) / 2), log(2 / (1 + exp(-2 * epsilon)))]


def near_until() -> mpf:
    def near(epsilon: mpf) -> bool:
        one, other = even_odds(epsilon)
        return one <= 4 * other

    return largest(near, mpf("0.1"), mpf(10))


def binomial(trials: int, rate: str) -> list[mpf]:
    return [comb(trials, m) * mpf(rate) ** m * (1 - mpf(rate)) ** (trials - m) for m in range(trials + 1)]


HEAVY = [mpf("0.999") if m == 2 else mpf("0.001") if m == 12 else mpf(0) for m in range(13)]


CERTIFICATES = {
    "section-2.2": {"({} at epsilon 0.7)": lambda: mpf("1.4")},
    "theorem-2.2": {"at epsilon 0.5 {} and {} of": lambda: [growth(mpf("0.4"), mpf("0.5")), mpf("0.004")]},
    "equations-1-and-2": {
        "up to epsilon {}, and": lambda: largest(lambda x: expm1(x) <= mpf("1.1") * x, mpf("0.01"), mpf(5))
    },
    "section-2.4": {
        "scale {} instead of {}, mechanism budget {};": lambda: [
            *(1 / (100 * secret_budget()), mpf("0.01"), secret_budget())
        ],
        "would be {} times": lambda: 10 / secret_budget(),
    },
    "lemma-a.2": {"ends {} |": lambda: mpf("0.4") + mpf("0.9")},
    "lemma-a.4": {
        "program {} at": lambda: log(mpf("0.7") * exp(mpf("0.2")) + mpf("0.3") * exp(1)),
        "weaker ({})": lambda: mpf("0.2") + growth(mpf("0.3"), 1),
    },
    "lemma-b.1": {"epsilon 0.5: {}, 2 and 3: {})": lambda: [growth(mpf("0.4"), mpf(1)), mpf("0.5")]},
    "lemma-b.3": {"({} for five": lambda: tilted([mpf(m) / 10 for m in (6, 1, 0, 2, 1)], mpf("0.3"), [1, 1, 2, 2, 5])},
    "section-1.1-characterisation": {
        "up to epsilon {}, their": lambda: log((sqrt(mpf(17)) - 1) / 2),
        "lose {} and {} at epsilon 2": lambda: even_odds(mpf(2)),
        "beyond {}, and": near_until,
    },
    "section-3-maximum": {
        "lose {}, 2 of 4 {} |": lambda: [
            random_size([mpf(m) / 10 for m in (3, 2, 5, 0, 0)], mpf("0.8")),
            growth(mpf("0.5"), mpf("1.6")),
        ]
    },
    "theorem-3.1-lower-bound": {
        "bound ({} at": lambda: lower(gaussian(20, 5, "2"), mpf("0.5"), 1),
        "loses {}, always": lambda: lower(gaussian(20, 5, "2"), mpf("0.5"), 2),
    },
    "theorem-3.1-small-epsilon": {"-> 0: {} and {}, and {} for": small_epsilon},
    "section-3-tails": {
        "{} of 3 for": lambda: random_size(HEAVY, mpf("1.5")),
        "E~ {} <= {} at": lambda: [tilted(binomial(50, "0.1"), mpf("0.5")), mpf("0.35")],
    },
    "figure-2": {
        "loss {}, {}, {}, {}, {}, {} at": lambda: [
            random_size(gaussian(40, 8, d), mpf("0.5")) for d in ("0.1", "1", "2", "10", "15", "20")
        ],
        "rate of {}, {}, {};": lambda: [tilted(gaussian(40, 8, d), mpf(0)) for d in ("10", "15", "20")],
    },
    "section-4.1": {"advantage {} there": lambda: size_test(4, mpf("0.5"))},
    "proposition-4.1": {
        "attain ({} at": lambda: tanh(mpf("0.35")),
        "<= {}; necessary": lambda: tanh(rounding(3, "0.4", "1") / 2),
    },
    "proposition-4.2": {
        "1/epsilon is {}. Corrected": lambda: 100 / (1 + exp(mpf(1))) - 2,
        "the bound is {} |": lambda: 10 / (1 + exp(mpf("0.5"))) - 1,
    },
    "appendix-f": {"epsilon 0.5: {})": lambda: 10 / (1 + exp(mpf("0.5")))},
    "section-4.3-deterministic-rounding": {
        "lose {}, {} and {} at": lambda: [growth(mpf("0.4"), mpf(e)) for e in (1, 2, 4)],
    },
    "section-4.3-randomised-rounding": {
        "rates up to {} amplify": lambda: 1 / (1 + exp(mpf("0.5"))),
        "loses {} between": lambda: rounding(4, "0.75", "0.5"),
        "program), up to {} |": lambda: log(1 + mpf(3) / 16 * expm1(mpf(1)) + mpf("0.75") * expm1(mpf("0.5"))),
    },
    "theorem-4.3": {
        "r = 0.1 {} and {} |": lambda: [
            log(1 + mpf("0.09") * expm1(mpf("2e-6")) + mpf("0.1") * expm1(mpf("1e-6"))) / mpf("1e-7"),
            sum(growth(mpf(r), mpf("2e-6")) for r in ("0.2", "0.1")) / mpf("1e-7"),
        ]
    },
    "theorem-5.1": {
        "at least {} below": least_slack,
        "formula gives {} for": lambda: bound((1,) * 4, 1, mpf(1), 1, changed=2),
        "optimum {} |": lambda: clusters((1,) * 4, 1, mpf(1)),
    },
    "section-5.1-growing-clusters": {
        "epsilon 0.1: {}, {}, {}, {}, {}%": lambda: [
            1000 * bound((n,) * 10, 1, mpf("0.1"), n) for n in (1, 10, 20, 40, 80)
        ]
    },
    "section-5.1-shares-of-clusters-and-records": {
        "clusters, {} or {} of": lambda: [mpf(1) / 9, mpf(2) / 9],
        "deviation {}, {}, {} of": lambda: [1 / sqrt(mpf(k) - 1) for k in (10, 1000, 100_000)],
    },
    "section-5.2-privacy-is-conserved": {
        "lose {} (deletion) and {} (": lambda: [clusters((500,) * 20, 2, mpf("0.1"), step) for step in (1, 2)]
    },
    "theorem-5.2": {"epsilon 0.5: {} <= {} <= {} |": lambda: [bound(*FOUR, 1), clusters(*FOUR), bound(*FOUR, 4)]},
    "equation-3": {
        "designs ({} for": lambda: growth(mpf("0.4"), mpf("0.5")),
        "and {} for deletion": lambda: clusters((1,) * 5, 2, mpf("0.5")),
    },
    "theorem-5.3": {"1,2,4: {})": lambda: clusters(*FOUR)},
    "section-5.2-two-stage-sampling": {"= 0.1 {}, {}, {}, {}, {} of": two_stage_shares},
    "section-6-inclusion-near-1": {"{} at 0.5, {} at 0.9, {} at 0.99, {} at 1 |": near_certain},
    "section-6-data-dependent-inclusion": {
        "epsilon 0.5: {};": lambda: equal_clusters(2, 2),
        "= 100: {} of": lambda: growth(mpf("0.1"), mpf(1)),
    },
    "section-6-detectable-inclusion": {
        "= {}, {}, {}, {} for": lambda: [exp(mpf("0.6") * n) for n in (1, 2, 5, 10)],
        "e^epsilon = {} |": lambda: exp(mpf("0.3")),
    },
    "section-6.1-limited-variation": {
        "2: {}, {}, {} for 6, 60, 600 records, the replaced one alone {}, {}, {}, bound {}, {}, {}; 4 of 8 equal "
        "records systematically: {} |": limited_variation
    },
    "section-6.1-equal-sizes": {
        "lose {}, a": lambda: poisson([mpf("0.5")] * 6 + [mpf(0)], [mpf(0)] + [mpf("0.5")] * 6, mpf("0.5")),
        "loses {}, a": lambda: growth(mpf("0.5"), mpf(1)),
    },
    "section-6.2-limited-cluster-sizes": {
        "{} for 2, {} for 10, {} for 100, {} for 1,000": lambda: [equal_clusters(3, k) for k in (2, 10, 100, 1000)],
        "loses {} |": lambda: pps_clusters(60, [(3, 1000)], mpf("0.5")),
    },
    "section-6.2-equal-inclusion": {"chance {}; in": lambda: mpf("0.2"), "cluster's, {} to {} |": lambda: [0.2, 0.5]},
    "section-7.3-larger-budgets": {
        "allows {} (exact {}) at 0.01, {} (exact {}) at 0.05, {} (exact {}) at 0.1, {} (exact {}) at": larger_budgets,
        "up to {} |": lambda: mpf("0.5") / (3 * expm1(mpf(2))),
    },
    "section-7.3-proportional-for-all-statistics": {
        "allocation's {}; 100": lambda: fixed_variance("0.41"),
        "vary: {} times": lambda: mpf("0.999") / (1 / mpf(99) - 1 / mpf(1000)),
    },
    "section-6.1-pps-of-elements": {
        "floor {} (and {} from": lambda: [growth(mpf("0.8"), mpf(1)), 1 + log(mpf("0.8"))],
        "one draw loses {} where the 4 gives way to a 9, its floor is {} |": lambda: [
            *(growth(mpf("0.6"), mpf(e)) for e in (2, 1))
        ],
    },
    "section-6.2-pps-of-clusters": {
        "0.5 {} for 3 clusters of 2, {} for 3 clusters of 10, {} for 100 clusters of 2, {} for 100 clusters of 10, {} "
        "for": lambda: [equal_clusters(*case) for case in ((2, 3), (10, 3), (2, 100), (10, 100), (10, 100_000))]
    },
    "section-6.3-systematic-sampling": {
        "epsilon 0.5: {} in secret order, {} in known": lambda: [
            growth(mpf("0.5"), mpf(1)),
            clusters((4, 4), 1, mpf("0.5"), step=2),
        ],
        "and {} = 4 epsilon": lambda: mpf(2),
    },
    "definition-7.1": {
        "0.3 and 0.8 {} and {}, across them {};": lambda: [mpf("0.6"), mpf("1.6"), mpf("1.1")],
    },
    "section-7.2-weighted-mean": {"samples {} = population mean; their variance {} =": stratified_samples},
    "equation-6": {
        "shares [{} {} {}] reach the Cauchy-Schwarz bound {};": lambda: [*neyman(), allocated(neyman())],
        "(1, 2, 6), has {} |": best_whole,
    },
    "equation-7": {"allocation against {} under": lambda: fixed_scale((3, 5), mpf(1))},
    "equation-8": {f"epsilon {e}: {{}} at": lambda e=e: fixed_variance(e) for e in ("0.1", "1", "3")},
    "section-7.2-neyman-example": {"loses {} nats, best test {} |": lambda: [mpf("1.9"), size_test(19, mpf("0.1"))]},
    "theorem-7.2": {
        "cases ({} at": lambda: rounding(3, "0.4", "0.5"),
        "the bound {} |": lambda: growth(mpf("0.8"), mpf(1)) + growth(mpf("0.4"), mpf(1)),
    },
}
EXCEPTIONS = {
    "lemma-a.3": "prints whole multiples and a linear program's 0.3",
    "theorem-3.1-upper-bound": "slack over drawn laws",
    "proposition-6.1-equation-4": "slack over drawn designs",
    "proposition-6.1-equation-5": "slack over drawn designs",
}
