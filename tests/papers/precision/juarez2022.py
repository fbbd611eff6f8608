"""The numbers printed for juarez2022, computed anew in high precision from its mechanisms and equations (19), (20)."""

from certify import largest
from mpmath import exp, findroot, log, mpf, ncdf, npdf, sqrt, tanh

HALVES, MILLIONS = (10_000, 10_000), (5 * 10**6, 5 * 10**6)


def signs_variance(e1: mpf, e2: mpf, n: mpf, total: mpf, nu2: mpf) -> mpf:
    """Add up the variances of what every client adds to one group's estimated mean."""
    a, t = 1 / (1 + exp(-e1)), tanh(e2 / 2)
    return (n * (a - a**2 * t**2 * nu2) + (total - n) * (1 - a)) / (a * t * n) ** 2


def noise_variance(e1: mpf, e2: mpf, k: mpf, n: mpf, total: mpf, nu2: mpf) -> mpf:
    a, (kept, moved) = 1 / (1 + exp(-e1)), (2 * (scale / e2) ** 2 for scale in (2, k))
    return (n * (a * (nu2 + kept) - a**2 * nu2) + (total - n) * (1 - a) * moved) / (a * n) ** 2


def variance(name: str, e: mpf, sizes: tuple = HALVES) -> mpf:
    """Largest variance of the gap by budget: as kept, or as published."""
    total, worst = mpf(sum(sizes)), name.startswith("M_L")
    if name.startswith("M_R"):
        first = log((1 + exp(e)) / 2) if name == "M_R" else e
        return sum(signs_variance(first, e, mpf(n), total, worst) for n in sizes)
    split = (log(2 / e) + e - 1, e) if e >= mpf(2) / 3 else (log(3) - e / 2, mpf(2) / 3)
    first, k = (e / 2, mpf(2)) if name == "M_L" else split
    return sum(noise_variance(first, e, k, mpf(n), total, worst) for n in sizes)


def ratios(one: str, other: str, *budgets: str) -> list[mpf]:
    return [variance(one, mpf(e)) / variance(other, mpf(e)) for e in budgets]


def crossing(one: str, other: str, near: str) -> mpf:
    return findroot(lambda e: variance(one, e) - variance(other, e), mpf(near))


def sign_loss(e1: int, e2: int) -> mpf:
    return max(mpf(e2), log(exp(mpf(e1)) * 2 / (1 + exp(-mpf(e2)))))


def folded(gap: str, s: mpf = 1) -> tuple[mpf, mpf]:
    """Bias of the size of a normal estimate, and its squared error ``E X^2 + D^2 - 2 D E|X|`` over ``s^2``."""
    d = mpf(gap)
    bias = 2 * s * (npdf(d / s) - d / s * ncdf(-d / s))
    return bias, 1 - 2 * d * bias / s**2


def minority(name: str, *shares: str) -> list[mpf]:
    """Variances of the gap next to minorities of 20,000, over that of equal groups, at a budget of 1."""
    sizes = [int(20_000 * mpf(share)) for share in shares]
    return [variance(name, mpf(1), (n, 20_000 - n)) / variance(name, mpf(1)) for n in sizes]


def chebyshev_budget(name: str, total: int, alpha: str) -> mpf:
    """Budget at which a mechanism, kept or as published, meets a target by Chebyshev's inequality."""
    allowed = mpf("0.01") * mpf(alpha) ** 2
    return largest(
        lambda e: variance(name, e, (total // 2,) * 2) > allowed, mpf(10) ** -4, mpf(1000)
    )


SHARES, GAPS = ("0.25", "0.1", "0.05", "0.01", "0.001"), ("0", "0.5", "1", "2")
CERTIFICATES = {
    "theorem-4.1": {"the exact loss is {},": lambda: sign_loss(1, 1)},
    "equation-21": {
        r"is {} at $\varepsilon=10$": lambda: log(2 / mpf("0.7")) + 10 - 10 / mpf("0.7")
    },
    "section-4-sequential-composition": {"loses {}, $M_L$": lambda: sign_loss(1, 1)},
    "section-5-largest-variance": {
        "{}, {} and {} times": lambda: [
            signs_variance(mpf(e), mpf(e), mpf(1), mpf(2), 0) for e in (1, 4, 10)
        ]
    },
    "theorem-5.4-unbiased": {
        "bias {}, {}, {}, {} of": lambda: [folded(gap)[0] for gap in GAPS],
        "error {}, {}, {}, {} of the sum": lambda: [folded(gap)[1] for gap in GAPS],
        "$0.1$ show {} on": lambda: folded(
            "0", sqrt(variance("M_R published", mpf("0.1"), MILLIONS))
        )[0],
    },
    "figure-1": {
        "cross at {} and {} only": lambda: [
            crossing("M_R published", "M_L published", near) for near in ("0.36", "3.53")
        ],
        "once at {} |": lambda: crossing("M_R", "M_L", "3.13"),
        "being {}, {}, {} and {} at": lambda: ratios(
            "M_R published", "M_L published", "2.6", "5", "10", "20"
        ),
    },
    "section-5-no-best-mechanism": {"has {} times": lambda: ratios("M_R", "M_L", "1")},
    "section-5-k-2": {
        "{}, {}, {}, {}, {} and {} times": lambda: ratios(
            "M_L published", "M_L", "0.1", "1", "2.56", "3", "4", "6.32"
        ),
        r"\varepsilon <$ {} and": lambda: crossing("M_L published", "M_L", "5.6"),
    },
    "figure-3": {
        "{} at $2/3$, {} at $0.2$": lambda: ratios("M_L published", "M_L", "0.66666", "0.2")
    },
    "figure-2-small-groups": {
        "$M_R$ {}, {}, {}, {}, {};": lambda: minority("M_R published", *SHARES),
        "($k=2$) {}, {}, {}, {}, {} |": lambda: minority("M_L", *SHARES),
    },
    "figure-2-misestimated-sizes": {"a gap of {}:": lambda: mpf(-16) / 15},
    "table-1": {
        "$M_R$ {}, $M_L$ {} |": lambda: [
            chebyshev_budget(f"{m} published", 10**5, "0.1") for m in ("M_R", "M_L")
        ]
    },
    "table-1-dashes": {r"8\ln 200$ = {} (Hoeff": lambda: 8 * log(200)},
    "table-2-bounds": {
        "$0.01$: {}, $M_L$ at $0.01$: {} |": lambda: [
            5 * sqrt(variance(f"{m} published", mpf("0.01"), MILLIONS)) for m in ("M_R", "M_L")
        ]
    },
    "section-5-percentage-points": {
        "takes {} and {} |": lambda: [chebyshev_budget(m, 10**7, "0.02") for m in ("M_R", "M_L")]
    },
}
EXCEPTIONS = dict.fromkeys(
    ("theorem-4.3-k-2", "theorem-4.3-other-k", "appendix-b-privacy"),
    "compares its deltas with quadrature",
) | {
    "definition-2.2": "prints the probability of randomised response",
    "theorem-4.1-allocation": "divides variances of equation (20), which figure-1 certifies",
    "theorem-4.3-allocation": "is solved by ball arithmetic in the check, and compared with the best of a grid",
    "equations-19-and-20": "divides the printed formulas by an enumeration in the check",
    "appendix-b-error": "is the least of equation (19), which is compared with an enumeration",
    "section-6-dropouts": "prints two decimals that are exact",
    "figure-4": "prints equation (20), which section-5-largest-variance certifies",
    "appendix-d-rates": "subtracts printed numbers",
    "appendix-d-synthetic-data": "subtracts published numbers, and a chance certified by ball arithmetic",
    "appendix-d-bounds": "divides what table-2-bounds certifies by what table-2-errors prints",
    "appendix-d-less-budget": "prints budgets by the normal quantile, compared with the variance in the check",
    "proposition-5.2": "prints no number but whole ones",
}
