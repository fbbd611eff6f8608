"""The numbers printed for lecture20, computed anew in high precision."""

from mpmath import erfinv, exp, expm1, findroot, log, log1p, mpf, sinh, sqrt, tanh


def z() -> mpf:
    """Two-sided normal quantile at 99 %."""
    return sqrt(mpf(2)) * erfinv(mpf("0.99"))


def one_bit(epsilon: str) -> mpf:
    return (z() * mpf(epsilon) / (2 * tanh(mpf(epsilon) / 2))) ** 2


CERTIFICATES = {
    "local-model-accuracy": {
        "one bit {}, local noise {}, bits {} times": lambda: [
            100 / (2 * sqrt(mpf(2)) * tanh(mpf("0.5"))),
            mpf(100),
            100 / (2 * sqrt(mpf(2)) * sinh(mpf("0.5"))),
        ],
    },
    "randomised-response": {
        r"n$ within {} (Chebyshev), {>=} (Hoeffding": lambda: [
            mpf(10),
            sqrt(log(mpf(200)) / 2) / tanh(mpf("0.5")),
        ],
        "(normal limit at 1: {})": lambda: z() / (2 * sinh(mpf("0.5"))),
    },
    "mean-central-laplace": {
        r"exactly $\ln 100 = {}$ times": lambda: log(mpf(100)),
        "probability {} |": lambda: 1 - exp(mpf(-1)),
        r"failure})$, {} at": lambda: log(mpf(100)),
    },
    "mean-local-laplace": {
        "takes {} to {} times": lambda: [2 * (1 - sqrt(mpf("0.06"))), mpf(200)],
        "(normal limit {})": lambda: 2 * z() ** 2,
    },
    "mean-error-of-local-laplace": {
        "within ${}\\,m/(\\sqrt n\\,\\varepsilon)$ lies": lambda: sqrt(mpf(2)) * z(),
        "within ${>=}\\,m/(\\sqrt n\\,\\varepsilon)$ with": lambda: sqrt(mpf(200)),
    },
    "1-bit-mean": {
        "enough: {>=} $m^2": lambda: log(mpf(200)) / 2 / tanh(mpf("0.5")) ** 2,
        "normal limit {}, {}, {} at": lambda: [one_bit(e) for e in ("0.1", "1", "3")],
        r"iff $\varepsilon < {}$": lambda: findroot(
            lambda x: x / tanh(x / 2) - sqrt(mpf(8)), mpf("2.3")
        ),
    },
    "frequency-central-laplace": {
        "is off by at most {} with": lambda: -2 * log(-expm1(log(mpf("0.99")) / 1000)),
        "(union bound {})": lambda: 2 * log(mpf(10) ** 5),
    },
    "frequency-sign-randomiser": {
        "2\\varepsilon$: {}, {}, {}, {} at": lambda: [
            log1p(mpf(b)) - log1p(-mpf(b)) for b in ("0.1", "0.25", "0.5", "0.9")
        ],
    },
}
EXCEPTIONS = {
    "frequency-communication": "prints an entropy whose formula is decided on symbols",
    "frequency-estimator": "prints whole numbers, and a bias",
    "mean-communication": "the second route is at these sizes",
    "local-model-pure-or-approximate": "second routes are at these budgets and channels",
}
