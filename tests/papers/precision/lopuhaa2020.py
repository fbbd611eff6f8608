"""The numbers printed for lopuhaa2020, computed anew in high precision from channels and priors written out."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import comb, factorial, prod

from mpmath import cos, exp, expm1, gamma, log, matrix, mp, mpf, pi, sqrt

Rows = list[list[mpf]]
JEFFREYS = ("0.5", "0.5", "0.5")


def krr(epsilon: mpf, a: int) -> Rows:
    scale = exp(epsilon) + a - 1
    return [[(exp(epsilon) if x == y else mpf(1)) / scale for x in range(a)] for y in range(a)]


def unary(p: mpf, q: mpf, a: int) -> Rows:
    def chance(bits: Sequence[int], x: int) -> mpf:
        ones = [p if y == x else q for y in range(a)]
        return mp.fprod(one if bit else 1 - one for bit, one in zip(bits, ones, strict=True))

    return [[chance(bits, x) for x in range(a)] for bits in product((0, 1), repeat=a)]


def subset_rows(epsilon: mpf, sets: Sequence[Sequence[int]], a: int) -> Rows:
    rows = [[exp(epsilon) if x in one else mpf(1) for x in range(a)] for one in sets]
    totals = [sum(row[x] for row in rows) for x in range(a)]
    return [[v / t for v, t in zip(row, totals, strict=True)] for row in rows]


def splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    return (counts for counts in product(range(total + 1), repeat=parts) if sum(counts) == total)


def multinomial(counts: Sequence[int]) -> int:
    return factorial(sum(counts)) // prod(map(factorial, counts))


def posterior(channel: Rows, seen: Sequence[int], prior: Sequence[str]) -> tuple[mpf, list[mpf], list[mpf], mpf, mpf]:
    """Chance of the tallies; means of distribution and frequencies, and of their squares, over who may hold what."""
    alpha, n, values = [mpf(c) for c in prior], sum(seen), len(prior)
    total, laws = sum(alpha), []
    for table in product(*(list(splits(count, values)) for count in seen)):
        held = [sum(column) for column in zip(*table, strict=True)]
        weight = mpf(multinomial(seen)) * gamma(total) / gamma(total + n)
        for y, row in enumerate(table):
            weight *= multinomial(row) * mp.fprod(channel[y][x] ** c for x, c in enumerate(row))
        weight *= mp.fprod(gamma(a + c) / gamma(a) for a, c in zip(alpha, held, strict=True))
        laws.append((weight, held, [a + c for a, c in zip(alpha, held, strict=True)]))
    chance = sum(weight for weight, _, _ in laws)
    first = [sum(w * after[x] for w, _, after in laws) / (total + n) / chance for x in range(values)]
    shares = [sum(w * held[x] for w, held, _ in laws) / n / chance for x in range(values)]
    square = sum(w * b * (b + 1) for w, _, after in laws for b in after) / ((total + n) * (total + n + 1)) / chance
    share_square = sum(w * c**2 for w, held, _ in laws for c in held) / n**2 / chance
    return chance, first, shares, square, share_square


def projection(vector: Sequence[mpf]) -> list[mpf]:
    falling = sorted(vector, reverse=True)
    kept = max(k for k in range(1, len(falling) + 1) if falling[k - 1] > (sum(falling[:k]) - 1) / k)
    shift = (sum(falling[:kept]) - 1) / kept
    return [max(v - shift, mpf(0)) for v in vector]


def maximum(shares: Sequence[mpf], epsilon: mpf) -> list[mpf]:
    """Maximise the likelihood of shares of reports under k-RR: drop the smallest while a coordinate is negative."""
    order, c = sorted(range(len(shares)), key=lambda x: -shares[x]), expm1(epsilon)
    for kept in range(len(shares), 0, -1):
        total = sum(shares[x] for x in order[:kept])
        point = {x: (shares[x] / total * (c + kept) - 1) / c for x in order[:kept]}
        if min(point.values()) >= 0:
            return [point.get(x, mpf(0)) for x in range(len(shares))]
    raise AssertionError("a single value is always nonnegative")


def theorem_3_1() -> list[mpf]:
    channel, n, c = krr(mpf(1), 3), 4, expm1(mpf(1))
    errors = [mpf(0)] * 5
    for seen in splits(n, 3):
        chance, mean, _, square, _ = posterior(channel, seen, JEFFREYS)
        plain = [(mpf(s) / n * (c + 3) - 1) / c for s in seen]
        tried = [mean, maximum([mpf(s) / n for s in seen], mpf(1)), projection(plain), plain, [mpf(1) / 3] * 3]
        for i, estimate in enumerate(tried):
            cross = sum(m * e for m, e in zip(mean, estimate, strict=True))
            errors[i] += chance * (square - 2 * cross + sum(e**2 for e in estimate))
    return errors


def proposition_a_3() -> list[mpf]:
    channel, errors = unary(mpf("0.5"), 1 / (exp(mpf("1.5")) + 1), 2), [mpf(0), mpf(0)]
    for seen in splits(3, 4):
        chance, mean, shares, square, share_square = posterior(channel, seen, ("0.5", "1.5"))
        errors[0] += chance * (square - sum(m**2 for m in mean))
        errors[1] += chance * (share_square - sum(m**2 for m in shares))
    return errors


def furthest_frequency() -> mpf:
    found = (posterior(krr(mpf(1), 3), seen, ("0.5", "1", "2")) for seen in splits(4, 3))
    return max(abs(a - b) for _, mean, shares, _, _ in found for a, b in zip(mean, shares, strict=True))


def distance_to_bayes(n: int) -> mpf:
    """Squared distance of MLE and posterior mean over the least error, two values: Gauss-Chebyshev, exact here."""
    c, size = expm1(mpf(1)), n // 2 + 3
    nodes = [(1 + cos((2 * i + 1) * pi / (2 * size))) / 2 for i in range(size)]
    low, high = [(1 + c * (1 - p)) / (c + 2) for p in nodes], [(1 + c * p) / (c + 2) for p in nodes]
    weights, odds = [x**n for x in low], [h / x for h, x in zip(high, low, strict=True)]
    apart, least = mpf(0), mpf(0)
    for seen in range(n + 1):
        total = sum(weights)
        mean = sum(w * p for w, p in zip(weights, nodes, strict=True)) / total
        square = sum(w * p**2 for w, p in zip(weights, nodes, strict=True)) / total
        chance = comb(n, seen) * total / size
        best = min(max((mpf(seen) / n * (c + 2) - 1) / c, mpf(0)), mpf(1))
        apart, least = apart + chance * (best - mean) ** 2, least + chance * (square - mean**2)
        weights = [w * o for w, o in zip(weights, odds, strict=True)]
    return apart / least


def limiting_error(channel: Rows, point: Sequence[mpf]) -> mpf:
    """Trace over all values of the inverse of the information matrix of all but the last."""
    size = len(point) - 1
    information = matrix(size, size)
    for row in channel:
        chance = sum(q * p for q, p in zip(row, point, strict=True))
        away = [q - row[-1] for q in row[:-1]]
        for i, j in product(range(size), repeat=2):
            information[i, j] += away[i] * away[j] / chance
    inverse = information**-1
    return sum(inverse[i, i] for i in range(size)) + sum(inverse)


def uniform_optimum(a: int, epsilon: mpf) -> mpf:
    """Least limiting error of subset selection at the uniform distribution: ``a - 1`` equal directions."""
    c = expm1(epsilon)
    best = max(a * k * (a - k) / (a - 1) / (k * c + a) ** 2 for k in map(mpf, range(1, a // 2 + 1)))
    return (a - 1) / (c**2 * best)


def unary_error(p: mpf, q: mpf, a: int) -> mpf:
    return (p * (1 - p) + (a - 1) * q * (1 - q)) / (p - q) ** 2


def optimised(epsilon: mpf, a: int) -> mpf:
    return unary_error(mpf("0.5"), 1 / (exp(epsilon) + 1), a)


def symmetric(epsilon: mpf, a: int) -> mpf:
    return unary_error(1 / (1 + exp(-epsilon / 2)), 1 / (1 + exp(epsilon / 2)), a)


def bounds(a: int, epsilon: mpf) -> tuple[mpf, mpf]:
    return a / expm1(epsilon) ** 2, a * exp(-a * epsilon / (a - 1)) / expm1(epsilon) ** 2


SKEWED = {
    2: ("0.9", "0.1"),
    3: ("0.7", "0.2", "0.1"),
    4: ("0.97", "0.01", "0.01", "0.01"),
    6: ("0.5", "0.3", "0.1", "0.05", "0.03", "0.02"),
}


def spread(pattern: Sequence[mpf], point: Sequence[mpf]) -> mpf:
    """Squared length of a pattern about its centre, over its squared mean."""
    centre, mean = sum(pattern) / len(pattern), sum(v * p for v, p in zip(pattern, point, strict=True))
    return sum((v - centre) ** 2 for v in pattern) / mean**2


def skewed_ratios() -> tuple[list[mpf], list[mpf]]:
    """Errors of subset selection over both bounds for any channel, and over the published one."""
    epsilon, sharper, published = mpf("0.001"), [], []
    for a, weights in SKEWED.items():
        point = [mpf(w) for w in weights]
        error = limiting_error(subset_rows(epsilon, list(combinations(range(a), a // 2)), a), point)
        largest = max(spread(pattern, point) for pattern in list(product((exp(epsilon), mpf(1)), repeat=a))[1:-1])
        sharper += [error * (a * a // 4) * expm1(epsilon) ** 2 / (a * (a - 1) ** 2), error * largest / (a - 1) ** 2]
        published.append(error / bounds(a, epsilon)[0])
    return sharper, published


LINES = ((0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5))


def seven(sets: Sequence[Sequence[int]]) -> mpf:
    return limiting_error(subset_rows(mpf("0.5"), sets, 7), [mpf(1) / 7] * 7)


def five() -> list[mpf]:
    shares, c = [mpf(t) / 1000 for t in (500, 300, 150, 40, 10)], expm1(mpf(1))
    return maximum(shares, mpf(1)) + projection([(s * (c + 5) - 1) / c for s in shares])


def drift() -> mpf:
    epsilon = mpf("0.01")
    plain = [mpf(x) for x in ("0.7", "0.5", "0.2", "-0.1", "-0.3")]
    shares = [(x * expm1(epsilon) + 1) / (expm1(epsilon) + 5) for x in plain]
    pairs = zip(maximum(shares, epsilon), projection(plain), strict=True)
    return max(abs(a - b) for a, b in pairs) / epsilon


def warner(epsilon: mpf) -> mpf:
    return 2 * exp(epsilon) / expm1(epsilon) ** 2


def warner_ratios(epsilon: mpf) -> list[mpf]:
    one, other = bounds(2, epsilon)
    return [one / (warner(epsilon) + mpf("0.25")), other / warner(epsilon)]


SMALL = "0.001"
CERTIFICATES = {
    "theorem-3.1": {"distribution {}, MLE {}, Norm-Sub {}, unbiased {}, uniform {} |": theorem_3_1},
    "equation-21": {"epsilon 1: [{}, {}, {}] by": lambda: posterior(krr(mpf(1), 3), (4, 1, 2), JEFFREYS)[1]},
    "proposition-a.3": {"distribution {}, of the frequencies {} for": proposition_a_3},
    "section-3.1-frequencies": {"by up to {} with": furthest_frequency},
    "theorem-3.3": {"Jeffreys: {}, {},": lambda: [distance_to_bayes(n) for n in (64, 256)]},
    "section-5-equivalence": {
        "MLE [{}, {}, {}, {}, {}], Norm-Sub [{}, {}, {}, {}, {}];": five,
        "largest difference {} epsilon": drift,
    },
    "theorem-4.1-distribution": {
        "three values it is {} |": lambda: mpf(3) / 2 / sqrt(mpf(3)),
        "a^(1/(a-1)), {} at a = 10": lambda: mpf("0.9") * mpf(10) ** (mpf(1) / 9),
    },
    "theorem-4.5": {
        "it says {}, but": lambda: bounds(1024, mpf("0.5"))[0] / 10**4,
        "errs by {} |": lambda: (1 - mpf(1) / 1024) / 513,
    },
    "section-4.3-nearness": {
        "a = 2: {} and {}; a = 10: {} and {}; a = 1024: {} and {} |": lambda: [
            error / bounds(a, mpf(SMALL))[0]
            for a in (2, 10, 1024)
            for error in (uniform_optimum(a, mpf(SMALL)), optimised(mpf(SMALL), a))
        ]
    },
    "section-4.3-number-of-outputs": {
        "error {} with the 7 outputs of the Fano plane, {} with": lambda: [
            seven(sets) for sets in (LINES, list(combinations(range(7), 3)))
        ]
    },
    "section-6-more-than-two-values": {
        ".001: {} to {}; over": lambda: [min(skewed_ratios()[0]), max(skewed_ratios()[0])],
        "bound {}, {}, {}, {} |": lambda: skewed_ratios()[1],
    },
    "section-6-optimal-protocols": {
        "at epsilon {}, {}, {} for": lambda: [log(mpf((a - 1) * (a - 2)) / 2) / 2 for a in (4, 5, 6)]
    },
    "proposition-4.6": {"n MSE_F = {}, n MSE_P = {} under": lambda: [warner(mpf(1)), warner(mpf(1)) + mpf("0.25")]},
    "corollary-4.7": {
        "frequencies: {} and {} at epsilon 1, {} and {} at": lambda: warner_ratios(mpf(1)) + warner_ratios(mpf(SMALL))
    },
    "table-i": {
        "new bounds {} (distribution), {} (frequencies)": lambda: [
            b * mpf(SMALL) ** 2 / 1024 for b in bounds(1024, mpf(SMALL))
        ],
        "OUE {}, SUE {} |": lambda: [e(mpf(SMALL), 1024) * mpf(SMALL) ** 2 / 1024 for e in (optimised, symmetric)],
    },
}
EXCEPTIONS = {
    "proposition-3.2": "prints whole numbers",
    "algorithm-1": "prints whole numbers",
    "theorem-4.1-frequencies": "entropies of many posteriors, printed to two digits; two routes in the check",
    "theorem-4.2": "entropies of many posteriors, printed to three digits; two routes in the check",
    "corollary-4.3": "means over drawn distributions",
    "theorem-4.4": "least slack over drawn channels and distributions",
} | dict.fromkeys(
    (
        *("figures-2-and-3", "figure-2-n-10-6", "figure-2-n-10-4", "figure-2-n-comparable-to-a"),
        *("figure-3-n-10-6", "figure-3-n-100", "figure-4", "figure-5"),
    ),
    "simulated",
)
