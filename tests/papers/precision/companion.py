"""The numbers printed for the companion's own results, computed anew in high precision."""

from mpmath import e, exp, expm1, log, log1p, mpf, sqrt


def poisson(rate: str, epsilon: int = 1) -> mpf:
    q = mpf(rate)
    return log1p(q * expm1(mpf(epsilon))) - log1p(q * expm1(-mpf(epsilon)))


def fixed(rate: str, epsilon: int) -> mpf:
    return log1p(mpf(rate) * expm1(mpf(epsilon)))


def rare() -> list[mpf]:
    """Root mean squared errors at a value nobody holds and the best share: 60 users, pi = 1/2, k = 4, epsilon 1."""
    n, pi, q = 60, mpf(1) / 2, 1 / (e + 3)
    variance, bias = n * q * (1 - pi * q) / (pi * (q * expm1(mpf(1))) ** 2), n / expm1(mpf(1))
    best = variance / (variance + bias**2)
    unscaled = pi**2 * variance + (1 - pi) ** 2 * bias**2
    return [sqrt(unscaled), sqrt(variance), sqrt(best * bias**2), best]


CERTIFICATES = {
    "when-rounding-amplifies": {
        "rates up to {} amplify at": lambda: 1 / (1 + e),
        "lose {} (linear": lambda: log(1 + expm1(mpf(2)) / 3),
        "from {} records on that": lambda: mpf(1) / 4 / (1 / (1 + exp(1)) - mpf(1) / 4),
    },
    "poisson-against-fixed-size": {
        "{} against {} at q = 0.2 and {} against {} at q = 0.05": lambda: [
            *(poisson("0.2"), fixed("0.2", 2), poisson("0.05"), fixed("0.05", 2)),
        ],
    },
    "several-releases-from-one-sample": {
        "a tenth lose {}, on fresh samples {} (": lambda: [fixed("0.1", 2), 2 * fixed("0.1", 1)],
        "replacement lose {} and {} |": lambda: [poisson("0.8", 2), 2 * poisson("0.8")],
    },
    "bias-or-variance": {
        "below {} users; at 60": lambda: (e + mpf("2.5")) * 6,
        "errors of {} (c_DE), {} (g_DE) and {} at the share {} (": rare,
    },
}
EXCEPTIONS = {
    "errors-that-are-not-normal": "a double sum over reports for each of 101 values of simulated data",
}
