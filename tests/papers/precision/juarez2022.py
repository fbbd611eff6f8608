"""The numbers printed for juarez2022, computed anew in high precision from its mechanisms and equations (19), (20)."""

from collections.abc import Sequence
from csv import DictReader
from functools import cache
from itertools import product

from certify import largest
from mpmath import exp, findroot, log, mp, mpf, ncdf, npdf, quad, sqrt, tanh

from ldpnb.run.catalogue import home

FOLDER = home() / "ldpnb/papers/juarez2022"
PUBLISHED = {
    (row["place"], row["key"]): row["value"] for row in DictReader((FOLDER / "printed.csv").read_text().splitlines())
}
ROWS = {row["group"]: row for row in DictReader((FOLDER / "rates.csv").read_text().splitlines())}
BUDGETS, HALVES, MILLIONS = ("0.1", "0.5", "1", "2", "4"), (10_000, 10_000), (5 * 10**6, 5 * 10**6)
HALF = mpf("0.5")


def number(key: str) -> mpf:
    return mpf(PUBLISHED["Repository", key])


def keep(e1: mpf, d: int = 2) -> mpf:
    return exp(e1) / (exp(e1) + d - 1)


def signs_variance(e1: mpf, e2: mpf, n: mpf, total: mpf, nu2: mpf = 0, d: int = 2) -> mpf:
    """Add up the variances of what every client adds to one group's estimated mean."""
    a, t = keep(e1, d), tanh(e2 / 2)
    return (n * (a - a**2 * t**2 * nu2) + (total - n) * (1 - a) / (d - 1)) / (a * t * n) ** 2


def noise_variance(e1: mpf, e2: mpf, scales: tuple, n: mpf, total: mpf, nu2: mpf = 1, d: int = 2) -> mpf:
    a, (kept, moved) = keep(e1, d), (2 * (k / e2) ** 2 for k in scales)
    return (n * (a * (nu2 + kept) - a**2 * nu2) + (total - n) * (1 - a) / (d - 1) * moved) / (a * n) ** 2


def published_split(e: mpf) -> tuple[mpf, mpf]:
    return (log(2 / e) + e - 1, e) if e >= mpf(2) / 3 else (log(3) - e / 2, mpf(2) / 3)


def variance(name: str, e: mpf, sizes: tuple = HALVES, nu2: Sequence | None = None) -> mpf:
    """Largest variance of the gap by budget, or that at second moments: kept, as published, or as in the code."""
    total, worst = mpf(sum(sizes)), (0, 0) if name.startswith("M_R") else (1, 1)
    cells = list(zip(map(mpf, sizes), worst if nu2 is None else nu2, strict=True))
    if name.startswith("M_R"):
        first = log((1 + exp(e)) / 2) if name == "M_R" else e
        return sum(signs_variance(first, e, n, total, moment) for n, moment in cells)
    first, k = (e / 2, mpf(2)) if name == "M_L" else published_split(e)
    scales = (min(mpf(2), k), mpf(2)) if name == "code" else (mpf(2), k)
    return sum(noise_variance(first, e, scales, n, total, moment) for n, moment in cells)


def ratio(one: str, other: str, e: str) -> mpf:
    return variance(one, mpf(e)) / variance(other, mpf(e))


def crossing(one: str, other: str, near: str, nu2: tuple | None = None) -> mpf:
    return findroot(lambda e: variance(one, e) - variance(other, e, nu2=nu2), mpf(near))


def published_crossings() -> list[mpf]:
    return [crossing("M_R published", "M_L published", near) for near in ("0.36", "3.53")]


def sign_laws(e1: mpf, e2: mpf) -> list[list[mpf]]:
    """Laws over group and sign of two groups of clients with values -1 and 1."""
    a, b = keep(e1), keep(e2)
    one = [a * b, a * (1 - b), (1 - a) / 2, (1 - a) / 2]
    return [one, [one[1], one[0], *one[2:]], [*one[2:], *one[:2]]]


def sign_loss(e1: mpf, e2: mpf) -> mpf:
    return max(
        log(p / q) for one, other in product(sign_laws(e1, e2), repeat=2) for p, q in zip(one, other, strict=True)
    )


def sign_delta(e: mpf) -> mpf:
    pairs = product(sign_laws(e, e), repeat=2)
    return max(sum(max(p - exp(e) * q, 0) for p, q in zip(one, other, strict=True)) for one, other in pairs)


def equation_1(e1: mpf, e2: mpf, k: mpf) -> mpf:
    return max(e2, log(2 / k) + e2 / 2 - e1, log(k / 2) + e2 / k + e1)


def folded(gap: mpf, s: mpf = 1) -> tuple[mpf, mpf]:
    """Bias of the size of a normal estimate, and its squared error ``E X^2 + D^2 - 2 D E|X|`` over ``s^2``."""
    bias = 2 * s * (npdf(gap / s) - gap / s * ncdf(-gap / s))
    return bias, 1 - 2 * gap * bias / s**2


def minority(name: str, share: str) -> mpf:
    """Variance of the gap next to a minority of 20,000, over that of equal groups, at a budget of 1."""
    n = int(20_000 * mpf(share))
    return variance(name, mpf(1), (n, 20_000 - n)) / variance(name, mpf(1))


def wrong_sizes(total: int) -> mpf:
    """Squared error of the gap with sizes 50 % off, times that with true ones, means 0.8."""
    base = variance("M_R published", mpf(1), (total // 2,) * 2, [mpf("0.64")] * 2)
    return mpf(20) / 9 + (mpf(16) / 15) ** 2 / base


def chebyshev_budget(name: str, total: int, alpha: str) -> mpf:
    """Budget at which a mechanism, kept or as published, meets a target by Chebyshev's inequality."""
    allowed = mpf("0.01") * mpf(alpha) ** 2
    return largest(lambda e: variance(name, e, (total // 2,) * 2) > allowed, mpf(10) ** -4, mpf(1000))


def figure_4(nu2: mpf | None = None) -> mpf:
    """Mean squared error of one group's mean, at the second moment of the source's values unless another is given."""
    e = number("figure_4_epsilon")
    return signs_variance(e, e, mpf(10), mpf(20), number("figure_4_second_moment") if nu2 is None else nu2)


def expected_error(name: str, text: str) -> mpf:
    return _expected_error(name, text, mp.prec)


@cache
def _expected_error(name: str, text: str, precision: int) -> mpf:
    """Mean error of the absolute gap between the published rates."""
    moments = [mpf(ROWS[g]["second_moment"]) for g in ("male", "female")]
    gap = 2 * abs(number("mean_fnr_male") - number("mean_fnr_female"))
    s = sqrt(variance(name, mpf(text), MILLIONS, moments))

    def weighted(x: mpf) -> mpf:
        return abs(x - gap) * (npdf((x - gap) / s) + npdf((x + gap) / s)) / s

    edges = sorted({mpf(0), gap, *(x for c in (-15, -5, 5, 15) if (x := gap + c * s) > 0)})
    return quad(weighted, edges, method="gauss-legendre") / 2


def errors(name: str) -> list[mpf]:
    return [expected_error(name, text) for text in ("0.01", "0.1", "1", "10")]


SHARES, GAPS = ("0.25", "0.1", "0.05", "0.01", "0.001"), ("0", "0.5", "1", "2")
CERTIFICATES = {
    "definition-2.2": {"truth has probability {} $<": lambda: keep(mpf("0.1"), 5)},
    "theorem-4.1": {
        "the exact loss is {},": lambda: sign_loss(mpf(1), mpf(1)),
        "$ = {} is left": lambda: sign_delta(mpf(1)),
        "up to {} |": lambda: max(
            sign_loss(mpf(a), mpf(b)) - max(mpf(a), mpf(b)) for a, b in product(BUDGETS, BUDGETS)
        ),
    },
    "equation-21": {
        r"is {} at $\varepsilon=10$": lambda: log(2 / mpf("0.7")) + 10 - 10 / mpf("0.7"),
        "({} for $10$)": lambda: equation_1(published_split(mpf(10))[0], mpf(10), mpf(2)),
    },
    "section-4-sequential-composition": {
        "loses {}, $M_L$": lambda: sign_loss(mpf(1), mpf(1)),
        "equation (1) gives {}, composition": lambda: equation_1(mpf(1), mpf(3), mpf(2) / 3),
    },
    "section-5-largest-variance": {
        "{}, {} and {} times": lambda: [signs_variance(mpf(e), mpf(e), mpf(1), mpf(2)) for e in (1, 4, 10)]
    },
    "theorem-5.4-unbiased": {
        "bias {}, {}, {}, {} of": lambda: [folded(mpf(g))[0] for g in GAPS],
        "error {}, {}, {}, {} of the sum": lambda: [folded(mpf(g))[1] for g in GAPS],
        "$0.1$ show {} |": lambda: folded(mpf(0), sqrt(variance("M_R published", mpf("0.1"), MILLIONS)))[0],
    },
    "figure-1": {
        "cross at {} and {} only": published_crossings,
        "once at {} |": lambda: crossing("M_R", "M_L", "3.13"),
        "being {}, {}, {} and {} at": lambda: [
            ratio("M_R published", "M_L published", e) for e in ("2.6", "5", "10", "20")
        ],
        r"$\varepsilon <$ {})": lambda: crossing("M_R", "M_L", "2.8", nu2=(0, 0)),
    },
    "section-5-no-best-mechanism": {
        "has {} times": lambda: ratio("M_R", "M_L", "1"),
        "at $1$ and {} times at $5$; as published, {} and {} times": lambda: [
            ratio("M_R", "M_L", "5"),
            *(ratio("M_R published", "M_L published", e) for e in ("1", "5")),
        ],
    },
    "section-5-k-2": {
        "{}, {}, {}, {}, {} and {} times": lambda: [
            ratio("M_L published", "M_L", e) for e in ("0.1", "1", "2.56", "3", "4", "6.32")
        ],
        "$2.56$ is {} with": lambda: chebyshev_budget("M_L", 10**5, "0.1"),
        r"\varepsilon <$ {} and": lambda: crossing("M_L published", "M_L", "5.6"),
    },
    "figure-3": {"{} at $2/3$, {} at $0.2$": lambda: [ratio("M_L published", "M_L", e) for e in ("0.66666", "0.2")]},
    "figure-2-small-groups": {
        "$M_R$ {}, {}, {}, {}, {};": lambda: [minority("M_R published", s) for s in SHARES],
        "($k=2$) {}, {}, {}, {}, {} |": lambda: [minority("M_L", s) for s in SHARES],
    },
    "figure-2-misestimated-sizes": {
        "variance by {} and": lambda: mpf(20) / 9,
        "a gap of {}:": lambda: mpf(-16) / 15,
        r"by {} for $K=2\cdot10^4$, {} for": lambda: [wrong_sizes(n) for n in (20_000, 10**7)],
    },
    "table-1": {
        "$M_R$ {}, $M_L$ {} |": lambda: [chebyshev_budget(f"{m} published", 10**5, "0.1") for m in ("M_R", "M_L")]
    },
    "table-1-dashes": {r"8\ln 200$ = {} (Hoeff": lambda: 8 * log(200)},
    "table-2-bounds": {
        "$0.01$: {}, $M_L$ at $0.01$: {} |": lambda: [
            5 * sqrt(variance(f"{m} published", mpf("0.01"), MILLIONS)) for m in ("M_R", "M_L")
        ]
    },
    "section-5-percentage-points": {
        "$M_R$ takes {} and $M_L$ ($k=2$) {} nats": lambda: [
            chebyshev_budget(m, 10**7, "0.01") for m in ("M_R", "M_L")
        ],
        "takes {} and {} |": lambda: [chebyshev_budget(m, 10**7, "0.02") for m in ("M_R", "M_L")],
    },
    "section-6-dropouts": {", {} by whole": lambda: mpf("0.8") * (mpf("0.1") - mpf("0.3"))},
    "figure-4": {
        "mean squared error {} by": figure_4,
        "nu^2 = 0$: {})": lambda: figure_4(mpf(0)),
        "whose error is {}": lambda: figure_4() + figure_4(mpf(0)),
    },
    "table-2-errors": {
        "$M_R$ expects {}, {}, {}, {}": lambda: errors("M_R published"),
        "so expects {}, {}, {}, {} at": lambda: errors("code"),
        "instead of {}, {}, {}, {};": lambda: errors("M_L published"),
    },
}
EXCEPTIONS = {
    "theorem-4.1-allocation": "divides variances of equation (20), which figure-1 certifies",
    "theorem-4.3-k-2": "prints a delta that the check compares with quadrature",
    "theorem-4.3-other-k": "prints deltas that the check compares with quadrature",
    "appendix-b-privacy": "prints deltas that the check compares with quadrature",
    "theorem-4.3-allocation": "is solved by ball arithmetic in the check, and compared with the best of a grid",
    "equations-19-and-20": "divides the printed formulas by an enumeration in the check",
    "appendix-b-error": "is the least of equation (19), which is compared with an enumeration",
    "table-2-standard-deviations": "prints chances counted in simulated sets of ten runs",
    "appendix-d-rates": "subtracts printed numbers",
    "appendix-d-synthetic-data": "subtracts published numbers, and a chance certified by ball arithmetic",
    "appendix-d-bounds": "divides what table-2-bounds and table-2-errors certify",
    "appendix-d-less-budget": "prints budgets by the normal quantile, compared with the variance in the check",
    "proposition-5.2": "prints no number but whole ones",
}
