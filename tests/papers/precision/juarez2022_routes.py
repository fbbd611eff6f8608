"""High-precision routes to the numbers of juarez2022, from the mechanisms' definitions and equations (19) and (20)."""

from collections.abc import Callable
from csv import DictReader
from functools import cache
from itertools import pairwise, product

from certify import largest
from mpmath import exp, findroot, log, loggamma, mp, mpf, ncdf, npdf, quad, sqrt

from ldpnb.run.catalogue import home

PUBLISHED = {
    (row["place"], row["key"]): row["value"]
    for row in DictReader((home() / "ldpnb/papers/juarez2022/printed.csv").read_text().splitlines())
}
BUDGETS = ("0.1", "0.5", "1", "2", "4")


def number(key: str) -> mpf:
    return mpf(PUBLISHED["Repository", key])


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


def variance(name: str, e: mpf, sizes: tuple = (10_000, 10_000), nu2: int = 1) -> mpf:
    """Largest variance of the gap by budget, or for M_L that at `nu2`: a mechanism that keeps it, or one as published."""
    if name.startswith("M_R"):
        return gap_signs(e if name == "M_R published" else log((1 + exp(e)) / 2), e, sizes)
    first, k = published_split(e) if name == "M_L published" else (e / 2, mpf(2))
    return gap_noise(first, e, k, sizes, nu2)


def crossing(one: str, other: str, near: str, nu2: int = 1) -> mpf:
    return findroot(lambda e: variance(one, e, nu2=nu2) - variance(other, e, nu2=nu2), mpf(near))


def published_crossings() -> list[mpf]:
    return [crossing("M_R published", "M_L published", near) for near in ("0.36", "3.53")]


def bounds_part(e: mpf) -> tuple[mpf, mpf]:
    signs, noise = variance("M_R published", e), variance("M_L published", e)
    return signs / noise, 5_000 * (signs - noise)


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


def sign_delta(e: mpf) -> mpf:
    pairs = product(sign_reports(e, e), repeat=2)
    return max(sum(max(p - exp(e) * q, 0) for p, q in zip(one, other, strict=True)) for one, other in pairs)


def worst_excess() -> mpf:
    pairs = [(mpf(a), mpf(b)) for a, b in product(BUDGETS, BUDGETS)]
    return max(sign_loss(*pair) - max(pair) for pair in pairs)


def equal_budgets(e: mpf) -> mpf:
    return findroot(lambda x: x + log(2 / (1 + exp(-x))) - e, e / 2)


def allocation_ratios() -> tuple[mpf, mpf]:
    ratios = []
    for text, sizes in product(BUDGETS, ((5000, 5000), (100, 9900))):
        e = mpf(text)
        same = equal_budgets(e)
        ratios.append(gap_signs(same, same, sizes) / gap_signs(log((1 + exp(e)) / 2), e, sizes))
    return min(ratios), max(ratios)


def log_density(law: tuple, x: mpf) -> mpf:
    chance, centre, scale = law
    return log(chance / (2 * scale)) - abs(x - centre) / scale


def laplace_mass(law: tuple, x: mpf) -> mpf:
    """Return the mass of a scaled Laplace law up to x."""
    chance, centre, scale = law
    y = (x - centre) / scale
    return chance * (exp(y) / 2 if y < 0 else 1 - exp(-y) / 2)


def piece_delta(one: tuple, other: tuple, e: mpf) -> mpf:
    """Hockey-stick divergence of two scaled Laplace densities: their log-ratio is linear between the centres."""
    far, total = 200 * max(one[2], other[2]), mpf(0)
    for low, high in pairwise(sorted({-far, one[1], other[1], far})):
        first, last = (log_density(one, x) - log_density(other, x) - e for x in (low, high))
        if max(first, last) <= 0:
            continue
        if min(first, last) < 0:
            turn = low + (high - low) * first / (first - last)
            low, high = (low, turn) if first > 0 else (turn, high)
        ours, theirs = (laplace_mass(law, high) - laplace_mass(law, low) for law in (one, other))
        total += ours - exp(e) * theirs
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


def claimed_delta(k: mpf) -> mpf:
    e1, e2 = mpf("0.5"), mpf(1)
    return noise_delta(e1, e2, k, equation_1(e1, e2, k))


def report_ratio(k: mpf) -> mpf:
    """Largest log-ratio of the densities of the reports -2000 and 2000."""
    laws = noisy_laws(mpf("0.5"), mpf(1), k)
    logs = [[log_density(law[group], x) for law in laws] for x in (-2000, 2000) for group in (0, 1)]
    return max(max(densities) - min(densities) for densities in logs)


def saving(share: str) -> mpf:
    """Per cent of the variance that the best split of the budget 6 saves, from the root of the derivative."""
    small = int(mpf(10**6) * mpf(share))
    sizes, e = (small, 10**6 - small), mpf(6)

    def variance(s: mpf) -> mpf:
        return gap_noise(e - s / 2, s, mpf(2), sizes)

    best = largest(lambda s: mp.diff(variance, s) <= 0, e / 2, e)
    return 100 * (1 - variance(best) / variance(e))


def window(small: int, *near: str) -> list[mpf]:
    """Budgets at which the variance, next to a few of 10^6, ceases or begins to fall at ``eps2 = epsilon``."""
    sizes = (small, 10**6 - small)

    def slope(e: mpf) -> mpf:
        return mp.diff(lambda s: gap_noise(e - s / 2, s, mpf(2), sizes) * sizes[0], e)

    return [findroot(slope, (mpf(budget), mpf(budget) + mpf("0.01"))) for budget in near]


def keeps() -> list[mpf]:
    kept = [(keep(mpf(text), d), d) for text, d in product(BUDGETS, (2, 3, 5))]
    totals = [a + d * (1 - a) / (d - 1) for a, d in kept]
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


def standard_deviation(name: str, e: str, sizes: tuple = (5 * 10**6, 5 * 10**6)) -> mpf:
    return sqrt(variance(f"{name} published", mpf(e), sizes))


def best_k(text: str) -> tuple[mpf, mpf, mpf]:
    """The source's ``K`` times variance under equation (1), the least one and its k, from the root of the derivative."""
    e, total = mpf(text), mpf(20_000)

    def scaled(k: mpf) -> mpf:
        return total * 2 * noise_variance(log(2 / k) + e * (1 - 1 / k), e, k, total / 2, total)

    best = largest(lambda k: mp.diff(scaled, k) <= 0, mpf(2) / 3, mpf("1.9"))
    return scaled(max(mpf(2) / 3, e)), scaled(best), best


def figure_3() -> tuple[mpf, mpf]:
    budgets, ten = (mpf(2) / 3, mpf(1) / 5), (10, 10)
    low, high = (gap_noise(log(3) - e / 2, e, mpf(2) / 3, ten) / gap_noise(e / 2, e, mpf(2), ten) for e in budgets)
    return low, high


SHARES = ("0.25", "0.1", "0.05", "0.01", "0.001")


def minority(signs: bool, share: str) -> mpf:
    """Variance of the gap next to a minority of 20,000, over that of equal groups."""
    n = int(20_000 * mpf(share))
    gap = (lambda sizes: gap_signs(mpf(1), mpf(1), sizes)) if signs else lambda sizes: variance("M_L", mpf(1), sizes)
    return gap((n, 20_000 - n)) / gap((10_000, 10_000))


def exponents() -> list[mpf]:
    pairs = (("0.1", "0.05"), ("0.01", "0.005"))
    return [log(minority(True, b) / minority(True, a)) / log(mpf(a) / mpf(b)) for a, b in pairs]


def wrong_sizes(text: str, total: int) -> tuple[mpf, mpf, mpf]:
    """Bias, relative variance and squared error of the gap with sizes ``1 +- d`` times the true ones, means 0.8."""
    d, mean = mpf(text), mpf("0.8")
    base = gap_signs(mpf(1), mpf(1), (total // 2,) * 2, mean**2)
    bias = mean / (1 + d) - mean / (1 - d)
    variance = base / 2 * (1 / (1 + d) ** 2 + 1 / (1 - d) ** 2)
    return bias, variance / base, (variance + bias**2) / base


def wrong_sizes_of_unlike_groups() -> list[mpf]:
    """Variance at budgets of 5 with sizes half wrong over that with true ones: values 0 and +-1, and +-1 and 0."""
    a, t = exp(mpf(5)) / (exp(mpf(5)) + 1), mp.tanh(mpf(5) / 2)
    zeros, ones = ((1 + (1 - a) / a) / (a * t**2) - moment for moment in (0, 1))
    pairs = [(zeros, ones), (ones, zeros)]
    return [(one / mpf("1.5") ** 2 + other / mpf("0.5") ** 2) / (one + other) for one, other in pairs]


def chebyshev_budget(name: str, total: int, alpha: str) -> mpf:
    allowed = mpf("0.01") * mpf(alpha) ** 2
    return largest(lambda e: variance(f"{name} published", e, (total // 2,) * 2) > allowed, mpf(10) ** -4, mpf(1000))


def kept_budget(name: str, alpha: str) -> mpf:
    """Budget at which a mechanism that keeps it meets a target with 10^7 clients, by Chebyshev's inequality."""
    allowed, halves = mpf("0.01") * mpf(alpha) ** 2, (5 * 10**6,) * 2
    return largest(lambda e: variance(name, e, halves) > allowed, mpf(10) ** -4, mpf(1000))


def smallest_gain() -> mpf:
    """Least gain that Chebyshev's inequality demands over the dashes of Table 1; none exceeds 1."""
    dashes = ((10**5, "0.01"), (10**5, "0.001"), (10**6, "0.01"), (10**6, "0.001"), (10**7, "0.001"), (10**8, "0.001"))
    return min(2 / (mpf(alpha) * sqrt(mpf("0.01") * users)) for users, alpha in dashes)


def hoeffding_budget(total: int, alpha: str) -> mpf:
    gain = sqrt(8 * log(200) / total) / mpf(alpha)
    return log((1 + 3 * gain) / (1 - gain))


def binomial_budget(total: int, alpha: str) -> mpf:
    """The budget at which the least tail of the sum of fair signs that is at most 0.01 begins.

    It is added up from 7 standard deviations on; what lies beyond is 1e-10 of it."""
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


def figure_4(nu2: mpf | None = None) -> mpf:
    """Mean squared error of one group's mean, at the second moment of the source's values unless another is given."""
    e = number("figure_4_epsilon")
    held = number("figure_4_second_moment") if nu2 is None else nu2
    return signs_variance(e, e, mpf(10), mpf(20), held)


ROWS = {
    row["group"]: row for row in DictReader((home() / "ldpnb/papers/juarez2022/rates.csv").read_text().splitlines())
}


def expected_error(name: str, text: str) -> mpf:
    return _expected_error(name, text, mp.prec)


@cache
def _expected_error(name: str, text: str, precision: int) -> mpf:
    """Mean error of the absolute gap between published rates; ``code`` has the scales reversed and k capped at 2."""
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
    gap = 2 * abs(number("mean_fnr_male") - number("mean_fnr_female"))
    s = sqrt(variance)

    def weighted(x: mpf) -> mpf:
        return abs(x - gap) * (npdf((x - gap) / s) + npdf((x + gap) / s)) / s

    edges = sorted({mpf(0), gap, *(x for c in (-15, -5, 5, 15) if (x := gap + c * s) > 0)})
    return quad(weighted, edges, method="gauss-legendre") / 2


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
