"""The numbers printed for the companion's own results, computed anew in high precision."""

from mpmath import e, exp, expm1, log, log1p, mpf


def poisson(rate: str, epsilon: int = 1) -> mpf:
    q = mpf(rate)
    return log1p(q * expm1(mpf(epsilon))) - log1p(q * expm1(-mpf(epsilon)))


def fixed(rate: str, epsilon: int) -> mpf:
    return log1p(mpf(rate) * expm1(mpf(epsilon)))


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
}
EXCEPTIONS: dict[str, str] = {}
