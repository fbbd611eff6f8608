"""The numbers printed for lopuhaa2020, computed anew in high precision from channels and priors written out."""

from collections.abc import Sequence
from itertools import combinations, product
from math import comb, factorial, prod

from mpmath import cos, exp, expm1, log, matrix, mp, mpf, pi, polyroots, rf, sqrt

Rows = list[list[mpf]]
HALF = mpf("0.5")


def subset_rows(epsilon: mpf, sets: Sequence[Sequence[int]], a: int) -> Rows:
    rows = [[exp(epsilon) if x in one else mpf(1) for x in range(a)] for one in sets]
    totals = [sum(row[x] for row in rows) for x in range(a)]
    return [[v / t for v, t in zip(row, totals, strict=True)] for row in rows]


def evidence(tallies: Sequence[int], alpha: Sequence[mpf], epsilon: mpf) -> mpf:
    """Mean of ``prod_x (1 + c P_x)^s_x`` under Dirichlet(alpha), multiplied out."""
    law = [mpf(1)]
    for s, a in zip(tallies, alpha, strict=True):
        own = [comb(s, j) * expm1(epsilon) ** j * rf(a, j) for j in range(s + 1)]
        ends = [(m, range(max(0, m - len(law) + 1), min(m, s) + 1)) for m in range(len(law) + s)]
        law = [mp.fsum(law[m - j] * own[j] for j in js) for m, js in ends]
    return mp.fsum(w / rf(sum(alpha), m) for m, w in enumerate(law))


def posterior(tallies: Sequence[int], epsilon: mpf) -> tuple[mpf, list[mpf], mpf]:
    """Chance of the tallies under k-RR and Jeffreys' prior, posterior mean and mean square of the distribution."""
    size, n = len(tallies), sum(tallies)
    ways = mpf(factorial(n)) / prod(map(factorial, tallies)) / (expm1(epsilon) + size) ** n
    raised = [[[HALF + (k if x == y else 0) for y in range(size)] for x in range(size)] for k in (0, 1, 2)]
    total = evidence(tallies, raised[0][0], epsilon)
    mean = [evidence(tallies, alpha, epsilon) / total / size for alpha in raised[1]]
    square = sum(evidence(tallies, alpha, epsilon) for alpha in raised[2]) * HALF * 3 / 2
    return ways * total, mean, square / total / (size * HALF * (size * HALF + 1))


def draws(n: int, shares: Sequence[str]) -> mpf:
    """Draws from Jeffreys' prior worth one from the posterior, k-RR at epsilon 1."""
    tallies, prior = [int(n * mpf(share) + HALF) for share in shares], [HALF] * len(shares)
    return evidence([2 * s for s in tallies], prior, mpf(1)) / evidence(tallies, prior, mpf(1)) ** 2


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


def three_values(users: int, epsilon: mpf) -> list[tuple[tuple[int, ...], list[mpf], list[mpf], list[mpf]]]:
    """Every tally of so many reports, with MLE, Norm-Sub and unbiased estimate."""
    found, c = [], expm1(epsilon)
    for seen in product(range(users + 1), repeat=3):
        if sum(seen) == users:
            plain = [(mpf(s) / users * (c + 3) - 1) / c for s in seen]
            found.append((seen, maximum([mpf(s) / users for s in seen], epsilon), projection(plain), plain))
    return found


def theorem_3_1() -> list[mpf]:
    errors = [mpf(0)] * 5
    for seen, *estimates in three_values(4, mpf(1)):
        chance, mean, square = posterior(seen, mpf(1))
        for i, estimate in enumerate([mean, *estimates, [mpf(1) / 3] * 3]):
            cross = sum(m * e for m, e in zip(mean, estimate, strict=True))
            errors[i] += chance * (square - 2 * cross + sum(e**2 for e in estimate))
    return errors


def at_one_value(epsilon: mpf) -> mpf:
    """MLE's error over Norm-Sub's where all of three users hold the first of three values."""
    errors = [mpf(0), mpf(0)]
    for seen, *estimates, _ in three_values(3, epsilon):
        chance = exp(epsilon * seen[0]) * factorial(3) / prod(map(factorial, seen))
        for i, estimate in enumerate(estimates):
            errors[i] += chance * sum((e - own) ** 2 for e, own in zip(estimate, (1, 0, 0), strict=True))
    return errors[0] / errors[1]


def two_values(n: int, epsilon: mpf) -> tuple[mpf, mpf]:
    """n times the least error, and the MLE's squared distance over it, Jeffreys' prior: Gauss-Chebyshev, exact here."""
    c, size = expm1(epsilon), n // 2 + 3
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
    return 2 * n * least, apart / least


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


def chosen(sets: Sequence[Sequence[int]], values: int) -> mpf:
    return limiting_error(subset_rows(mpf("0.5"), sets, values), [mpf(1) / values] * values)


def five() -> list[mpf]:
    """MLE, and that of [25] by normal errors of variance proportional to the frequency plus k."""
    shares, c = [mpf(t) / 1000 for t in (500, 300, 150, 40, 10)], expm1(mpf(1))
    p, q = exp(mpf(1)) / (c + 5), 1 / (c + 5)
    k, plain = q * (1 - q) / ((p - q) * (1 - p - q)), [(s - q) / (p - q) for s in shares]
    for kept in range(5, 0, -1):
        scale = (1 + kept * k) / (sum(plain[:kept]) + kept * k)
        normal = [scale * (f + k) - k for f in plain[:kept]]
        if min(normal) >= 0:
            return maximum(shares, mpf(1)) + normal + [mpf(0)] * (5 - kept)
    raise AssertionError("a single value is always nonnegative")


def warner(epsilon: mpf) -> mpf:
    return 2 * exp(epsilon) / expm1(epsilon) ** 2


def warner_ratios(epsilon: mpf) -> list[mpf]:
    one, other = bounds(2, epsilon)
    return [one / (warner(epsilon) + mpf("0.25")), other / warner(epsilon)]


def at_bounds(epsilon: str, a: int) -> list[mpf]:
    """Both bounds from the budget, and the errors of OUE and SUE, times ``epsilon^2 / a``."""
    errors = [*bounds(a, mpf(epsilon)), optimised(mpf(epsilon), a), symmetric(mpf(epsilon), a)]
    return [error * mpf(epsilon) ** 2 / a for error in errors]


def oue_limit(a: int, epsilon: mpf) -> mpf:
    """Limiting error of OUE at the uniform distribution, by the number of bits set: ``(a-1)^2`` over the trace."""
    p, q, trace = mpf("0.5"), 1 / (exp(epsilon) + 1), mpf(0)
    for k in range(1, a):
        held, other = (p * q ** (k - 1) * (1 - q) ** (a - k), (1 - p) * q**k * (1 - q) ** (a - k - 1))
        mean = (k * held + (a - k) * other) / a
        trace += comb(a, k) * (k * (held - mean) ** 2 + (a - k) * (other - mean) ** 2) / mean
    return (a - 1) ** 2 / trace


def nearness(a: int) -> list[mpf]:
    epsilon = mpf("0.001")
    errors = [uniform_optimum(a, epsilon), oue_limit(a, epsilon), optimised(epsilon, a)]
    return [error / bounds(a, epsilon)[0] for error in errors]


CERTIFICATES = {
    "abstract": {
        "Norm-Sub: {}, {}, {}, {} at": lambda: [at_one_value(mpf(e)) for e in (1, 2, 3, 4)],
        "= {} on; simulated": lambda: max(mp.re(r) for r in polyroots([4, -17, 1, -3])),
        "every $\\varepsilon$ above {}.": lambda: log(max(mp.re(r) for r in polyroots([4, -17, 1, -3]))),
    },
    "section-1.1-any-epsilon": {
        "(59) is {} at $\\varepsilon = 3$, the values themselves leave {},": lambda: [
            bounds(10, mpf(3))[0],
            mpf(3) / 4,
        ],
        "from $\\varepsilon$ = {} on": lambda: log(1 + sqrt(mpf(10) / mpf("0.75"))),
    },
    "section-1.2-optimised-unary-encoding": {
        "10$: {} and {} at $\\varepsilon = 2$, {} and {} at 6; equal at {} |": lambda: [
            *(error(mpf(epsilon), 10) for epsilon in (2, 6) for error in (optimised, symmetric)),
            2 * log(4 + sqrt(mpf(15))),
        ]
    },
    "section-2.4-assumptions": {"never below {};": lambda: mpf(2) / 15},
    "theorem-3.1": {"sequences: {}; MLE {}, Norm-Sub {}, unbiased {}, uniform {} |": theorem_3_1},
    "proposition-3.2": {"summands, ({}, {}, {}) |": lambda: posterior((4, 1, 2), mpf(1))[1]},
    "section-3-monte-carlo": {
        "160: {}, {}, {} (two values), {}, {}, {} (three)": lambda: [
            draws(n, shares) for shares in (("0.6", "0.4"), ("0.5", "0.3", "0.2")) for n in (10, 40, 160)
        ]
    },
    "section-3.1-frequencies": {
        "the MLE is {}, {}, {}, {}, but": lambda: [
            10 * maximum([mpf(s) / 10, 1 - mpf(s) / 10], mpf(2))[0] for s in range(5, 9)
        ]
    },
    "theorem-3.3": {"prior: {}, {},": lambda: [two_values(n, mpf(1))[1] for n in (64, 256)]},
    "section-5-equivalence": {"MLE [{}, {}, {}, {}, {}], [25] [{}, {}, {}, {}, {}];": five},
    "figures-2-and-3": {"1$: {} becomes {} |": lambda: [theorem_3_1()[3], theorem_3_1()[2]]},
    "section-6-prior-knowledge": {"error {} under Jeffreys' prior, {} under": lambda: [mpf(3), mpf(6)]},
    "theorem-4.1": {
        "(Gaussian errors {});": lambda: mpf(3) / 2 / sqrt(mpf(3)),
        "a^{1/(a-1)}$, {} at $a = 10$": lambda: mpf("0.9") * mpf(10) ** (mpf(1) / 9),
    },
    "theorem-4.5": {
        "({} >= {} > {});": lambda: [two_values(59, HALF)[0], bounds(2, HALF)[0], two_values(58, HALF)[0]],
        "(59) says {} for": lambda: bounds(1024, mpf("0.5"))[0] / 10**4,
        "guess errs by {}, less": lambda: (1 - mpf(1) / 1024) / 513,
        "with up to {} users": lambda: mp.ceil(bounds(1024, mpf("0.5"))[0] * 513 / (1 - mpf(1) / 1024)) - 1,
        "Table I: {}, {}; OUE {}, SUE {} |": lambda: at_bounds("0.001", 1024),
    },
    "section-4.3-nearness": {
        "{}, {}, {} ($a = 2$)": lambda: nearness(2),
        "{}, {}, {} (10)": lambda: nearness(10),
        "unbiased {}, {} (1024)": lambda: nearness(1024)[::2],
    },
    "section-4.3-number-of-outputs": {
        "error {} with the Fano plane's 7 outputs, {} with": lambda: [
            chosen(sets, 7) for sets in (LINES, list(combinations(range(7), 3)))
        ],
        "4 values: {} with 6 pairs, {} with": lambda: [chosen(list(combinations(range(4), k)), 4) for k in (2, 1)],
    },
    "section-6-more-than-two-values": {
        ".001$: {} to {}; over": lambda: [min(skewed_ratios()[0]), max(skewed_ratios()[0])],
        "published one {}, {}, {}, {} |": lambda: skewed_ratios()[1],
    },
    "section-6-optimal-protocols": {
        "$ = {}, {}, {}, {} for": lambda: [log(mpf((a - 1) * (a - 2)) / 2) / 2 for a in (4, 5, 6, 1024)],
        "costs {} times": lambda: (
            (1022 + exp(mpf(1)) + 1) ** 2 * 1023 / expm1(mpf(1)) ** 2 / 1024 / uniform_optimum(1024, mpf(1))
        ),
    },
    "proposition-4.6": {
        "MSE_F$ = {}, $n\\,MSE_P$ = {} (": lambda: [warner(mpf(1)), warner(mpf(1)) + mpf("0.25")],
        "errors {}, {} at 1, {}, {} at .001": lambda: warner_ratios(mpf(1)) + warner_ratios(mpf("0.001")),
    },
}
EXCEPTIONS = {
    "algorithm-1": "prints whole numbers",
    "section-6-large-domains": "prints whole numbers and tolerances",
    "theorem-4.2": "entropies of many posteriors, printed to three digits; two routes in the check",
    "corollary-4.3": "means over drawn distributions",
    "theorem-4.4": "least slack over drawn channels and distributions",
} | dict.fromkeys(
    (
        *("figure-2-n-10-6", "figure-2-n-10-4", "figure-2-n-comparable-to-a"),
        *("figure-3", "figures-4-and-5"),
    ),
    "simulated",
)
