"""The numbers printed for lecture20, computed anew in high precision."""

from mpmath import erf, erfinv, exp, expm1, findroot, log, log1p, mpf, nint, sinh, sqrt, tanh


def z() -> mpf:
    """Two-sided normal quantile at 99 %."""
    return sqrt(mpf(2)) * erfinv(mpf("0.99"))


def one_bit(epsilon: str) -> mpf:
    return (z() * mpf(epsilon) / (2 * tanh(mpf(epsilon) / 2))) ** 2


def met_by_one_bit(epsilon: str) -> mpf:
    """Chance that 1 / (epsilon / 100)^2 users at their worst are off by at most .01, in the normal limit."""
    users = nint((mpf(epsilon) / 100) ** -2)
    return erf(mpf("0.01") * 2 * tanh(mpf(epsilon) / 2) * sqrt(users / 2))


def binary_entropy(p: mpf) -> mpf:
    return -(p * log(p) + (1 - p) * log(1 - p)) / log(mpf(2))


def lies(users: int, ones: int, epsilon: mpf) -> list[mpf]:
    """Chances that lies of holders of a zero exceed those of holders of a one by ``-ones .. users - ones``."""
    lie = 1 / (1 + exp(epsilon))
    law = [mpf(1)]
    for user in range(users):
        share = (1 - lie, lie) if user >= ones else (lie, 1 - lie)
        law = [sum(law[j - s] * share[s] for s in (0, 1) if 0 <= j - s < len(law)) for j in range(len(law) + 1)]
    return law


def warner_constant(users: int, ones: int, excess: int, near: str) -> mpf:
    """Error of that excess of lies times epsilon sqrt(users), at the budget near which smaller ones have chance 99 %."""

    def centre(epsilon: mpf) -> mpf:
        return (users - 2 * ones) / (1 + exp(epsilon))

    def smaller(epsilon: mpf) -> mpf:
        size = abs(excess - centre(epsilon)) * (1 - mpf(10) ** -9)
        law = lies(users, ones, epsilon)
        return sum(p for j, p in enumerate(law, -ones) if abs(j - centre(epsilon)) < size) - mpf("0.99")

    epsilon = findroot(smaller, mpf(near))
    return epsilon * abs(excess - centre(epsilon)) / (tanh(epsilon / 2) * sqrt(mpf(users)))


CERTIFICATES = {
    "local-model-accuracy": {
        "one bit {}, local noise {}, bits {} times": lambda: [
            100 / (2 * sqrt(mpf(2)) * tanh(mpf("0.5"))),
            mpf(100),
            100 / (2 * sqrt(mpf(2)) * sinh(mpf("0.5"))),
        ],
    },
    "randomised-response": {
        r"n$ within {} (Chebyshev), {>=} (Hoeffding": lambda: [mpf(10), sqrt(log(mpf(200)) / 2) / tanh(mpf("0.5"))],
        "worst {}, {}, {}, {} for $n": lambda: [
            mpf(99) / 98 * log(mpf(99)),
            warner_constant(5, 0, 3, "2.13"),
            warner_constant(20, 10, 6, "0.425"),
            warner_constant(100, 50, 13, "0.45"),
        ],
        "(normal limit at 1: {})": lambda: z() / (2 * sinh(mpf("0.5"))),
    },
    "mean-central-laplace": {
        r"exactly $\ln 100 = {}$ times": lambda: log(mpf(100)),
        "probability {} |": lambda: 1 - exp(mpf(-1)),
        r"failure})$, {} at": lambda: log(mpf(100)),
    },
    "mean-local-laplace": {
        "response's: {} times at $\\varepsilon = 1$, {} at 4": lambda: [
            8 * sinh(mpf(e) / 2) ** 2 / e**2 for e in (1, 4)
        ],
        "takes {} to {} times": lambda: [2 * (1 - sqrt(mpf("0.06"))), mpf(200)],
        "(normal limit {})": lambda: 2 * z() ** 2,
        "$2z^2$, {} at": lambda: 2 * z() ** 2,
    },
    "mean-error-of-local-laplace": {
        "within ${}\\,m/(\\sqrt n\\,\\varepsilon)$ lies": lambda: sqrt(mpf(2)) * z(),
        "within ${>=}\\,m/(\\sqrt n\\,\\varepsilon)$ with": lambda: sqrt(mpf(200)),
        r"z\sqrt 2 = {}$": lambda: sqrt(mpf(2)) * z(),
    },
    "1-bit-mean": {
        "enough: {>=} $m^2": lambda: log(mpf(200)) / 2 / tanh(mpf("0.5")) ** 2,
        "normal limit {}, {}, {}, {}, {} at": lambda: [one_bit(e) for e in ("0.1", "0.5", "1", "3", "30")],
        "(success at equality {}, {}, {} at": lambda: [met_by_one_bit(e) for e in ("0.1", "1", "3")],
        r"iff $\varepsilon < {}$": lambda: findroot(lambda x: x / tanh(x / 2) - sqrt(mpf(8)), mpf("2.3")),
    },
    "frequency-central-laplace": {
        "is off by at most {} with": lambda: -2 * log(-expm1(log(mpf("0.99")) / 1000)),
        "(union bound {})": lambda: 2 * log(mpf(10) ** 5),
    },
    "frequency-sign-randomiser": {
        "2\\varepsilon$: {}, {}, {}, {} at": lambda: [
            log1p(mpf(b)) - log1p(-mpf(b)) for b in ("0.1", "0.25", "0.5", "0.9")
        ],
        r"at most {>=} $\varepsilon$ up to": lambda: 2 * log(mpf(3)),
    },
    "frequency-communication": {
        "h(p)$: {} bits at": lambda: 7 + binary_entropy(exp(mpf("0.1")) / (1 + exp(mpf("0.1")))),
    },
}
EXCEPTIONS = {
    "frequency-estimator": "prints whole numbers, and a bias",
    "mean-communication": "the second route is at these sizes",
    "local-model-pure-or-approximate": "second routes are at these budgets and channels",
}
