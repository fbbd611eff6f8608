"""The numbers printed for lopuhaa2020, computed anew in high precision from channels and priors written out."""

from mpmath import exp, expm1, log, mp, mpf, polyroots, sqrt

Rows = list[list[mpf]]
HALF = mpf("0.5")


def subsets(a: int, k: int, epsilon: object) -> mpf:
    """Limiting error of sets of k at the uniform distribution: ``a - 1`` equal directions."""
    t = exp(mpf(epsilon))
    return (a - 1) ** 2 * (k * t + a - k) ** 2 / (a * k * (a - k) * (t - 1) ** 2)


def unary_error(p: mpf, q: mpf, a: int) -> mpf:
    return (p * (1 - p) + (a - 1) * q * (1 - q)) / (p - q) ** 2


def optimised(epsilon: mpf, a: int) -> mpf:
    return unary_error(mpf("0.5"), 1 / (exp(epsilon) + 1), a)


def symmetric(epsilon: mpf, a: int) -> mpf:
    return unary_error(1 / (1 + exp(-epsilon / 2)), 1 / (1 + exp(epsilon / 2)), a)


def bounds(a: int, epsilon: mpf) -> tuple[mpf, mpf]:
    return a / expm1(epsilon) ** 2, a * exp(-a * epsilon / (a - 1)) / expm1(epsilon) ** 2


def warner(epsilon: mpf) -> mpf:
    return 2 * exp(epsilon) / expm1(epsilon) ** 2


def warner_ratios(epsilon: mpf) -> list[mpf]:
    one, other = bounds(2, epsilon)
    return [one / (warner(epsilon) + mpf("0.25")), other / warner(epsilon)]


def at_bounds(epsilon: str, a: int) -> list[mpf]:
    """Both bounds from the budget, and the errors of OUE and SUE, times ``epsilon^2 / a``."""
    errors = [*bounds(a, mpf(epsilon)), optimised(mpf(epsilon), a), symmetric(mpf(epsilon), a)]
    return [error * mpf(epsilon) ** 2 / a for error in errors]


def raised(a: int) -> mpf:
    """What every channel's error is over (59) at least, as epsilon falls."""
    return mpf((a - 1) ** 2) / (a * a // 4)


CERTIFICATES = {
    "abstract": {
        "= {}; simulated": lambda: max(mp.re(r) for r in polyroots([4, -17, 1, -3])),
        "every $\\varepsilon$ above {}.": lambda: log(
            max(mp.re(r) for r in polyroots([4, -17, 1, -3]))
        ),
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
    "section-3.1-frequencies": {
        "the MLE is {}, {}, {}, {}, but": lambda: [
            10 * (mpf(s) / 10 * (expm1(2) + 2) - 1) / expm1(2) for s in range(5, 9)
        ]
    },
    "section-5-equivalence": {
        "MLE [{}, {}, {}], [25] [{}, {}, {}];": lambda: [mpf(x) / 16 for x in (14, 2, 0, 15, 1, 0)]
    },
    "section-6-prior-knowledge": {
        "error {} under Jeffreys' prior, {} under": lambda: [mpf(3), mpf(6)]
    },
    "theorem-4.1": {
        "(Gaussian errors {});": lambda: mpf(3) / 2 / sqrt(mpf(3)),
        "a^{1/(a-1)}$, {} at $a = 10$": lambda: mpf("0.9") * mpf(10) ** (mpf(1) / 9),
    },
    "theorem-4.5": {
        "(59) says {} for": lambda: bounds(1024, mpf("0.5"))[0] / 10**4,
        "guess errs by {}, less": lambda: (1 - mpf(1) / 1024) / 513,
        "with up to {} users": lambda: (
            mp.ceil(bounds(1024, mpf("0.5"))[0] * 513 / (1 - mpf(1) / 1024)) - 1
        ),
        "Table I: {}, {}; OUE {}, SUE {} |": lambda: at_bounds("0.001", 1024),
    },
    "section-4.3-nearness": {
        "{}, {}, {} ($a = 2$), {}, {}, {} (10)": lambda: [
            x for a in (2, 10) for x in (raised(a), raised(a) * a / (a - 1), 4)
        ],
    },
    "section-4.3-number-of-outputs": {
        "error {} with the Fano plane's 7 outputs, {} with": lambda: 2 * [subsets(7, 3, "0.5")],
        "4 values: {} with 6 pairs, {} with": lambda: [subsets(4, k, "0.5") for k in (2, 1)],
    },
    "section-6-more-than-two-values": {
        "published one {}, {}, {}, {} |": lambda: [raised(a) for a in (2, 3, 4, 6)],
    },
    "section-6-optimal-protocols": {
        "$ = {}, {}, {}, {} on": lambda: [
            log(mpf((a - 1) * (a - 2)) / 2) / 2 for a in (4, 5, 6, 1024)
        ],
        "costs {} times": lambda: (
            subsets(1024, 1, 1) / min(subsets(1024, k, 1) for k in range(250, 300))
        ),
    },
    "proposition-4.6": {
        "MSE_F$ = {}, $n\\,MSE_P$ = {} (": lambda: [warner(mpf(1)), warner(mpf(1)) + mpf("0.25")],
        "errors {}, {} at 1, {}, {} at .001": lambda: (
            warner_ratios(mpf(1)) + warner_ratios(mpf("0.001"))
        ),
    },
}
EXCEPTIONS = {
    "algorithm-1": "prints whole numbers",
    "section-6-large-domains": "prints whole numbers and tolerances",
    "theorem-4.2": "entropies of many posteriors, printed to three digits; two routes in the check",
    "corollary-4.3": "means over drawn distributions",
    "theorem-3.1": "every sequence enumerated",
    "proposition-3.2": "the mixture written out, and two routes of the package",
    "section-3-monte-carlo": "marginal likelihoods, compared by their second routes",
    "theorem-3.3": "every tally enumerated",
    "theorem-4.4": "least slack over drawn channels and distributions",
}
