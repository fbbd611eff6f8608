"""The numbers printed for juarez2022, anew in high precision from definitions and equations (19) and (20)."""

from collections.abc import Callable
from csv import DictReader
from functools import cache
from itertools import pairwise, product

from mpmath import exp, expm1, findroot, inf, log, loggamma, mp, mpf, ncdf, npdf, quad, sqrt

from ldpnb.run.catalogue import home

PUBLISHED = {
    (row["place"], row["key"]): row["value"]
    for row in DictReader((home() / "ldpnb/papers/juarez2022/printed.csv").read_text().splitlines())
}
BUDGETS = ("0.1", "0.5", "1", "2", "4")


def number(place: str, key: str) -> mpf:
    return mpf(PUBLISHED[place, key])


def keep(e1: mpf, d: int = 2) -> mpf:
    return exp(e1) / (exp(e1) + d - 1)


def sharpness(e2: mpf) -> mpf:
    return 2 * exp(e2) / (1 + exp(e2)) - 1


def signs_variance(e1: mpf, e2: mpf, n: mpf, total: mpf, nu2: mpf = 0, d: int = 2) -> mpf:
    """Add up the variances of what every client adds to one group's estimated mean."""
    a, t = keep(e1, d), sharpness(e2)
    own, other = a - a**2 * t**2 * nu2, (1 - a) / (d - 1)
    return (n * own + (total - n) * other) / (a * t * n) ** 2


def noise_variance(e1: mpf, e2: mpf, k: mpf, n: mpf, total: mpf, nu2: mpf = 1, d: int = 2) -> mpf:
    a = keep(e1, d)
    own = a * (nu2 + 2 * (2 / e2) ** 2) - a**2 * nu2
    other = (1 - a) / (d - 1) * 2 * (k / e2) ** 2
    return (n * own + (total - n) * other) / (a * n) ** 2


def published_split(e: mpf) -> tuple[mpf, mpf]:
    return (log(2 / e) + e - 1, e) if e >= mpf(2) / 3 else (log(3) - e / 2, mpf(2) / 3)


def gap_signs(e1: mpf, e2: mpf, sizes: tuple, nu2: mpf = 0) -> mpf:
    return sum(signs_variance(e1, e2, mpf(n), mpf(sum(sizes)), nu2) for n in sizes)


def gap_noise(e1: mpf, e2: mpf, k: mpf, sizes: tuple, nu2: mpf = 1) -> mpf:
    return sum(noise_variance(e1, e2, k, mpf(n), mpf(sum(sizes)), nu2) for n in sizes)


EQUAL = (10_000, 10_000)


def family(name: str) -> Callable[[mpf], mpf]:
    """Variance of the gap between two equal groups by budget."""
    return {
        "M_R published": lambda e: gap_signs(e, e, EQUAL),
        "M_R": lambda e: gap_signs(log((1 + exp(e)) / 2), e, EQUAL),
        "M_L published": lambda e: gap_noise(published_split(e)[0], e, published_split(e)[1], EQUAL),
        "M_L": lambda e: gap_noise(e / 2, e, mpf(2), EQUAL),
    }[name]


def crossing(one: str, other: str, near: str) -> mpf:
    return findroot(lambda e: family(one)(e) - family(other)(e), mpf(near))


def sign_reports(e1: mpf, e2: mpf) -> list[list[mpf]]:
    """Laws over group and sign of two groups of clients with values -1 and 1."""
    a, b = keep(e1), exp(e2) / (1 + exp(e2))
    laws = []
    for group, value in product((0, 1), (-1, 1)):
        law = {(g, s): (1 - a) / 2 for g in (0, 1) for s in (-1, 1)}
        law |= {(group, s): a * (b if s == value else 1 - b) for s in (-1, 1)}
        laws.append(list(law.values()))
    return laws


def sign_loss(e1: mpf, e2: mpf) -> mpf:
    laws = sign_reports(e1, e2)
    return max(log(p / q) for one, other in product(laws, laws) for p, q in zip(one, other, strict=True))


def equal_budgets(e: mpf) -> mpf:
    return findroot(lambda x: x + log(2 / (1 + exp(-x))) - e, e / 2)


def allocation_ratios() -> tuple[mpf, mpf]:
    ratios = []
    for text, sizes in product(BUDGETS, ((5000, 5000), (100, 9900))):
        e = mpf(text)
        same = equal_budgets(e)
        ratios.append(gap_signs(same, same, sizes) / gap_signs(log((1 + exp(e)) / 2), e, sizes))
    return min(ratios), max(ratios)


def laplace_mass(law: tuple, low: mpf, high: mpf) -> mpf:
    chance, centre, scale = law

    def below(x: mpf) -> mpf:
        if x == inf or x == -inf:
            return mpf(x > 0)
        y = (x - centre) / scale
        return exp(y) / 2 if y < 0 else 1 - exp(-y) / 2

    if low >= centre:
        above = [mpf(0) if x == inf else exp(-(x - centre) / scale) / 2 for x in (low, high)]
        return chance * (above[0] - above[1])
    return chance * (below(high) - below(low))


def piece_delta(one: tuple, other: tuple, e: mpf) -> mpf:
    """Hockey-stick divergence of two scaled Laplace densities: their log-ratio is linear between the centres."""

    def log_ratio(x: mpf) -> mpf:
        logs = [log(w / (2 * s)) - abs(x - m) / s for w, m, s in (one, other)]
        return logs[0] - logs[1] - e

    corners = sorted({one[1], other[1]})
    far = 1 + max(abs(c) for c in corners)
    edges = [-inf, *corners, inf]
    total = mpf(0)
    for low, high in pairwise(edges):
        a = high - far if low == -inf else low
        b = low + far if high == inf else high
        at_a, at_b = log_ratio(a), log_ratio(b)
        slope = (at_b - at_a) / (b - a)
        turns = [a - at_a / slope] if slope else []
        points = [low, *(t for t in turns if low < t < high), high]
        for left, right in pairwise(points):
            inner = right - 1 if left == -inf else left + 1 if right == inf else (left + right) / 2
            if left == -inf and right == inf:
                inner = mpf(0)
            if log_ratio(inner) > 0:
                total += laplace_mass(one, left, right) - exp(e) * laplace_mass(other, left, right)
    return total


def noisy_laws(e1: mpf, e2: mpf, k: mpf) -> list[list[tuple]]:
    a = keep(e1)
    laws = []
    for group, value in product((0, 1), (-1, 0, 1)):
        law = [(1 - a, mpf(0), k / e2)] * 2
        law[group] = (a, mpf(value), 2 / e2)
        laws.append(law)
    return laws


def noise_delta(e1: mpf, e2: mpf, k: mpf, e: mpf) -> mpf:
    laws = noisy_laws(e1, e2, k)
    return max(sum(piece_delta(p, q, e) for p, q in zip(one, other, strict=True)) for one, other in product(laws, laws))


def published_delta(text: str, at: str | None = None) -> mpf:
    e1, k = published_split(mpf(text))
    return noise_delta(e1, mpf(text), k, mpf(text if at is None else at))


def equation_1(e1: mpf, e2: mpf, k: mpf) -> mpf:
    return max(e2, log(2 / k) + e2 / 2 - e1, log(k / 2) + e2 / k + e1)


def report_ratio(k: mpf) -> mpf:
    """Largest log-ratio of the densities of the reports -2000 and 2000."""
    laws = noisy_laws(mpf("0.5"), mpf(1), k)
    logs = [[log(w / (2 * s)) - abs(x - m) / s for w, m, s in law] for law in laws for x in (mpf(-2000), mpf(2000))]
    by_report = [[logs[i] for i in range(j, len(logs), 2)] for j in (0, 1)]
    return max(max(x[g] for x in one) - min(x[g] for x in one) for one in by_report for g in (0, 1))


def saving(share: str) -> mpf:
    """Per cent of the variance that the best split of the budget 6 saves, from the root of the derivative."""
    small = int(mpf(10**6) * mpf(share))
    sizes, e = (small, 10**6 - small), mpf(6)

    def variance(s: mpf) -> mpf:
        return gap_noise(e - s / 2, s, mpf(2), sizes)

    low, high = e / 2, e
    slope = mp.diff
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(variance, middle) > 0 else (middle, high)
    return 100 * (variance(e) / variance(low) - 1)


def keeps() -> list[mpf]:
    totals = []
    for text, d in product(BUDGETS, (2, 3, 5)):
        a = keep(mpf(text), d)
        totals.append(a + d * (1 - a) / (d - 1))
    return [min(totals), max(totals)]


COUNTS = ((2, 1, 3, 4), (5, 0, 2, 1), (1, 1, 1, 3))
HELD = ("-1", "-0.2", "0.4", "1")


def three_groups(printed: Callable, exact: Callable) -> tuple[mpf, mpf]:
    total, ratios = mpf(sum(map(sum, COUNTS))), []
    for row in COUNTS:
        n = mpf(sum(row))
        nu2 = sum(c * mpf(v) ** 2 for c, v in zip(row, HELD, strict=True)) / n
        ratios.append(printed(n, total, nu2) / exact(n, total, nu2))
    return min(ratios), max(ratios)


def equation_19() -> tuple[mpf, mpf]:
    e1, e2, k = mpf("0.7"), mpf("0.4"), mpf(2) / 3

    def printed(n: mpf, total: mpf, nu2: mpf) -> mpf:
        decay = exp(-e1)
        return (nu2 * decay + (1 + decay) * (8 / e2**2 + (total - n) / n * decay * 2 * (k / e2) ** 2)) / n

    return three_groups(printed, lambda n, total, nu2: noise_variance(e1, e2, k, n, total, nu2, 3))


def equation_20() -> tuple[mpf, mpf]:
    e1, e2 = mpf("0.3"), mpf(2)

    def printed(n: mpf, total: mpf, nu2: mpf) -> mpf:
        a, t = keep(e1, 3), sharpness(e2)
        return (1 - a * t**2 * nu2 + (total - n) / n * (1 - a) / a) / (a * t**2 * n)

    return three_groups(printed, lambda n, total, nu2: signs_variance(e1, e2, n, total, nu2, 3))


def folded_bias(gap: mpf, s: mpf = 1) -> mpf:
    return 2 * s * (npdf(gap / s) - gap / s * ncdf(-gap / s))


def folded_square(gap: mpf) -> mpf:
    """``E (|X| - D)^2 = E X^2 + D^2 - 2 D E|X|``."""
    return 1 + 2 * gap**2 - 2 * gap * (gap + folded_bias(gap))


def ten_and_ten() -> mpf:
    a, t = keep(mpf(1)), sharpness(mpf(1))
    mean = sum(mp.binomial(20, h) * abs(2 * h - 20) for h in range(21)) / mpf(2) ** 20
    return mean / 10 / (a * t)


def standard_deviation(name: str, text: str, sizes: tuple = (5 * 10**6, 5 * 10**6)) -> mpf:
    e = mpf(text)
    if name == "M_R":
        return sqrt(gap_signs(e, e, sizes))
    first, k = published_split(e)
    return sqrt(gap_noise(first, e, k, sizes))


def best_k(text: str) -> tuple[mpf, mpf, mpf]:
    """The source's ``K`` times variance under equation (1), the least one and its k, from the root of the derivative."""
    e, total = mpf(text), mpf(20_000)

    def scaled(k: mpf) -> mpf:
        return total * 2 * noise_variance(log(2 / k) + e * (1 - 1 / k), e, k, total / 2, total)

    low, high = mpf(2) / 3, mpf("1.9")
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if mp.diff(scaled, middle) > 0 else (middle, high)
    return scaled(max(mpf(2) / 3, e)), scaled(low), low


def figure_3() -> tuple[mpf, mpf]:
    ratios = []
    for i in range(33):
        e = mpf("0.02") + i * mpf("0.02")
        one = noise_variance(log(3) - e / 2, e, mpf(2) / 3, mpf(10), mpf(20))
        ratios.append(one / noise_variance(e / 2, e, mpf(2), mpf(10), mpf(20)))
    return min(ratios), max(ratios)


SHARES = ("0.25", "0.1", "0.05", "0.01", "0.001")


def minority(signs: bool, share: str) -> mpf:
    n = int(20_000 * mpf(share))
    sizes = (n, 20_000 - n)
    if signs:
        return gap_signs(mpf(1), mpf(1), sizes) / gap_signs(mpf(1), mpf(1), EQUAL)
    return gap_noise(mpf("0.5"), mpf(1), mpf(2), sizes) / gap_noise(mpf("0.5"), mpf(1), mpf(2), EQUAL)


def exponents() -> list[mpf]:
    pairs = (("0.1", "0.05"), ("0.01", "0.005"))
    return [log(minority(True, b) / minority(True, a)) / log(mpf(a) / mpf(b)) for a, b in pairs]


def wrong_sizes(text: str, total: int) -> tuple[mpf, mpf, mpf]:
    """Bias, variance and squared error of the gap with sizes ``1 +- d`` times the true ones, both groups of mean 0.8;
    the last two relative.
    """
    d, mean = mpf(text), mpf("0.8")
    base = gap_signs(mpf(1), mpf(1), (total // 2,) * 2, mean**2)
    bias = mean / (1 + d) - mean / (1 - d)
    variance = base / 2 * (1 / (1 + d) ** 2 + 1 / (1 - d) ** 2)
    return bias, variance / base, (variance + bias**2) / base


def chebyshev_budget(name: str, total: int, alpha: str) -> mpf:
    def fails(e: mpf) -> bool:
        return standard_deviation(name, e, (total // 2,) * 2) ** 2 > mpf("0.01") * mpf(alpha) ** 2

    low, high = mpf(10) ** -4, mpf(1000)
    while high - low > mpf(10) ** -18:
        middle = sqrt(low * high)
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


def hoeffding_budget(total: int, alpha: str) -> mpf:
    gain = sqrt(8 * log(200) / total) / mpf(alpha)
    return log((1 + 3 * gain) / (1 - gain))


def binomial_budget(total: int, alpha: str) -> mpf:
    """The budget at which the least tail of the sum of fair signs that is at most 0.01 begins: added up from 7 standard
    deviations on, 1e-10 of it.
    """
    allowed = mpf("0.01")
    far = total // 2 + int(mpf("3.5") * sqrt(total))
    term = exp(loggamma(total + 1) - loggamma(far + 1) - loggamma(total - far + 1) - total * log(2))
    tail, heads = 2 * term, far
    while True:
        term *= mpf(heads) / (total - heads + 1)
        if tail + 2 * term > allowed:
            break
        tail, heads = tail + 2 * term, heads - 1
    # the sum must reach that many heads: the deviation may lie anywhere above the lattice point before it
    deviation = 2 * (heads - 1) - total
    gain = 2 * mpf(deviation) / (mpf(alpha) * total)
    return log((1 + 3 * gain) / (1 - gain))


def figure_4(nu2: mpf) -> mpf:
    e = number("Repository", "figure_4_epsilon")
    return signs_variance(e, e, mpf(10), mpf(20), nu2)


def figure_4_nu2() -> mpf:
    return number("Repository", "figure_4_second_moment")


ROWS = {
    row["group"]: row for row in DictReader((home() / "ldpnb/papers/juarez2022/rates.csv").read_text().splitlines())
}


def expected_error(name: str, text: str) -> mpf:
    return _expected_error(name, text, mp.prec)


@cache
def _expected_error(name: str, text: str, precision: int) -> mpf:
    """Mean error of the absolute gap between rates, 10^7 clients of the published data; ``code`` has the scales
    reversed and k capped at 2.
    """
    e, n, total = mpf(text), mpf(5 * 10**6), mpf(10**7)
    seconds = [mpf(ROWS[g]["second_moment"]) for g in ("male", "female")]
    if name == "M_R":
        variance = sum(signs_variance(e, e, n, total, m) for m in seconds)
    else:
        first, k = published_split(e)
        kept, moved = (mpf(2), k) if name == "M_L" else (min(mpf(2), k), mpf(2))
        a = keep(first)
        noise = [n * (a * (m + 2 * (kept / e) ** 2) - a**2 * m) + n * (1 - a) * 2 * (moved / e) ** 2 for m in seconds]
        variance = sum(noise) / (a * n) ** 2
    gap = 2 * abs(number("Repository", "mean_fnr_male") - number("Repository", "mean_fnr_female"))
    s = sqrt(variance)

    def weighted(x: mpf) -> mpf:
        return abs(x - gap) * (npdf((x - gap) / s) + npdf((x + gap) / s)) / s

    edges = sorted({mpf(0), gap, *(x for c in (-15, -5, 5, 15) if (x := gap + c * s) > 0)})
    return quad(weighted, edges) / 2


def errors(name: str) -> Callable[[], list[mpf]]:
    return lambda: [expected_error(name, text) for text in ("0.01", "0.1", "1", "10")]


def bound_ratio(name: str, text: str) -> mpf:
    return standard_deviation(name, text) / sqrt(mpf("0.01")) / 2 / expected_error(name, text)


def all_bound_ratios() -> tuple[mpf, mpf]:
    ratios = [bound_ratio(name, text) for name, text in product(("M_R", "M_L"), ("0.01", "0.1", "1", "10"))]
    return min(ratios), max(ratios)


def equal_counts() -> mpf:
    """Logarithm of the chance that 5 million draws from 25 values hit each 200,000 times."""
    return loggamma(5 * 10**6 + 1) - 25 * loggamma(200_001) - 5 * 10**6 * log(25)


def rates() -> list[mpf]:
    male, female = (100 * mpf(ROWS[g]["true_positive_rate"]) for g in ("male", "female"))
    return [male, female, male - female]


CERTIFICATES = {
    "definition-2.2": {
        "sum to {} up to {},": keeps,
        "the truth has probability {} <": lambda: keep(mpf("0.1"), 5),
    },
    "theorem-4.1": {
        "the exact loss is {},": lambda: sign_loss(mpf(1), mpf(1)),
        "delta = {} is left": lambda: max(
            sum(max(p - exp(1) * q, 0) for p, q in zip(one, other, strict=True))
            for one, other in product(sign_reports(mpf(1), mpf(1)), repeat=2)
        ),
        "up to {} here": lambda: max(
            sign_loss(mpf(a), mpf(b)) - max(mpf(a), mpf(b)) for a, b in product(BUDGETS, BUDGETS)
        ),
    },
    "theorem-4.1-allocation": {"have {} to {} times": allocation_ratios},
    "theorem-4.3-k-2": {"and {} at 0.98": lambda: noise_delta(mpf("0.5"), mpf(1), mpf(2), mpf("0.98"))},
    "theorem-4.3-allocation": {
        "saves {}% of the variance, next to 0.1 % {}%": lambda: [saving("0.01"), saving("0.001")]
    },
    "theorem-4.3-other-k": {
        "is {}, {} and {} for k": lambda: [report_ratio(k) for k in (mpf(2) / 3, mpf(1), mpf(3))],
        "delta = {}, {} and {} |": lambda: [
            noise_delta(mpf("0.5"), mpf(1), k, equation_1(mpf("0.5"), mpf(1), k)) for k in (mpf(2) / 3, mpf(1), mpf(3))
        ],
    },
    "appendix-b-privacy": {
        "is {} at 0.02, {} at 0.21, {} at 0.71, {} at 1, {} at 2.56": lambda: [
            published_delta(e) for e in ("0.02", "0.21", "0.71", "1", "2.56")
        ],
        "carry {} to {};": lambda: [published_delta("0.71"), published_delta("0.02")],
        "total variation distance {},": lambda: published_delta("0.02", "0"),
        "where {} would be private": lambda: expm1(mpf("0.02")) / (exp(mpf("0.02")) + 1),
    },
    "section-4-range-of-k": {"gives {} for 10": lambda: equation_1(published_split(mpf(10))[0], mpf(10), mpf(2))},
    "equation-19": {"is {} to {} times": equation_19},
    "equation-20": {"is {} to {} times": equation_20},
    "theorem-5.4-unbiased": {
        "bias {}, {}, {} and {} standard": lambda: [folded_bias(mpf(g)) for g in ("0", "0.5", "1", "2")],
        "error {}, {}, {} and {} of the sum": lambda: [folded_square(mpf(g)) for g in ("0", "0.5", "1", "2")],
        "show {} on average": ten_and_ten,
        "at 0.1 show {} |": lambda: folded_bias(mpf(0), standard_deviation("M_R", "0.1")),
    },
    "figure-1-crossings": {
        "cross at {} and {}, not": lambda: [crossing("M_R published", "M_L published", x) for x in ("0.36", "3.53")],
        "they cross once, at {} |": lambda: crossing("M_R", "M_L", "3.13"),
        "| {} and {} for the": lambda: [crossing("M_R published", "M_L published", x) for x in ("0.36", "3.53")],
        "for all epsilon < {} |": lambda: crossing("M_R", "M_L", "3.13"),
    },
    "section-5-k-2": {
        "is {}, {}, {}, {}, {} and {} times": lambda: [
            family("M_L published")(mpf(e)) / family("M_L")(mpf(e)) for e in ("0.1", "1", "2.56", "3", "4", "6.32")
        ],
        "2 < epsilon < {};": lambda: crossing("M_L published", "M_L", "5.6"),
    },
    "appendix-b-error": {
        "at epsilon = 1 is {} by the source and {} at k = {};": lambda: best_k("1"),
        "at 1.9 {} and {} at k = {};": lambda: best_k("1.9"),
    },
    "figure-3": {"{} to {} times": figure_3},
    "figure-2-small-groups": {
        "epsilon 1: {}, {}, {}, {} and {} times": lambda: [minority(True, s) for s in SHARES],
        "(k = 2): {}, {}, {}, {} and {};": lambda: [minority(False, s) for s in SHARES],
        "share {} between 10 and 5 %, {} below": exponents,
    },
    "figure-2-misestimated-sizes": {
        "the variance is {} times": lambda: wrong_sizes("0.5", 20_000)[1],
        "a gap of {}:": lambda: wrong_sizes("0.5", 20_000)[0],
        "error is {} times as large for K = 2e4 and {} times for 1e7": lambda: [
            wrong_sizes("0.5", n)[2] for n in (20_000, 10**7)
        ],
        "the gap shown is {} |": lambda: wrong_sizes("0.1", 20_000)[0],
    },
    "table-1": {
        "M_R {}, M_L {} |": lambda: [
            chebyshev_budget("M_R", 10**5, "0.1"),
            chebyshev_budget("M_L", 10**5, "0.1"),
        ]
    },
    "table-1-dashes": {
        "(smallest {})": lambda: min(
            2 / (mpf(a) * sqrt(mpf("0.01") * n))
            for n, a in (
                (10**5, "0.01"),
                (10**5, "0.001"),
                (10**6, "0.01"),
                (10**6, "0.001"),
                (10**7, "0.001"),
                (10**8, "0.001"),
            )
        ),
        "alpha=0.01 takes {} nats (exactly {})": lambda: [
            hoeffding_budget(10**6, "0.01"),
            binomial_budget(10**6, "0.01"),
        ],
        "alpha=0.001 takes {} nats (exactly {})": lambda: [
            hoeffding_budget(10**8, "0.001"),
            binomial_budget(10**8, "0.001"),
        ],
        "8 ln 200 = {} on": lambda: 8 * log(200),
    },
    "table-2-bounds": {
        "M_R at 0.01: {}, M_L at 0.01: {} |": lambda: [5 * standard_deviation(m, "0.01") for m in ("M_R", "M_L")]
    },
    "figure-4": {
        "mean squared error {} by": lambda: figure_4(figure_4_nu2()),
        "nu^2 = 0: {})": lambda: figure_4(mpf(0)),
        "whose error is {}": lambda: figure_4(figure_4_nu2()) + figure_4(mpf(0)),
    },
    "table-2-errors": {
        "M_R {}, {}, {}, {}; M_L": errors("M_R"),
        "M_L as stated {}, {}, {}, {}; as": errors("M_L"),
        "in the code {}, {}, {}, {}. The": errors("code"),
    },
    "appendix-d-rates": {"{} - {} = {}, not": rates},
    "appendix-d-synthetic-data": {
        "where {}% of": lambda: mpf(2500) / 87,
        "probability e^{};": equal_counts,
        "differ by {}, not": lambda: number("Repository", "mean_fnr_female") - number("Repository", "mean_fnr_male"),
    },
    "appendix-d-bounds": {
        "is {} for M_R and {} for M_L at 0.01": lambda: [bound_ratio(m, "0.01") for m in ("M_R", "M_L")],
        "at 0.01, {} to {} over": all_bound_ratios,
    },
}
EXCEPTIONS = {
    "equation-21": "prints settings only; an identity on a grid",
    "proposition-5.2": "prints no number but whole ones",
    "theorem-5.4-variance": "prints whole numbers only",
}
