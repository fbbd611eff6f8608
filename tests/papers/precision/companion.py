"""The numbers printed for the companion's own results, computed anew in high precision."""

from mpmath import e, expm1, log1p, mpf


def poisson(rate: str, epsilon: int = 1) -> mpf:
    q = mpf(rate)
    return log1p(q * expm1(mpf(epsilon))) - log1p(q * expm1(-mpf(epsilon)))


def fixed(rate: str, epsilon: int) -> mpf:
    return log1p(mpf(rate) * expm1(mpf(epsilon)))


CERTIFICATES = {
    "poisson-against-fixed-size": {
        "{} against {} at $q = 0.2$, {} against {} at $q = 0.05$": lambda: [
            *(poisson("0.2"), fixed("0.2", 2), poisson("0.05"), fixed("0.05", 2)),
        ],
    },
    "local-hashing-is-unary-encoding": {"= 1$ have {} times": lambda: (e + 3) ** 2 / (12 * e)},
    "several-releases-from-one-sample": {
        "a tenth lose {}, on fresh samples {};": lambda: [fixed("0.1", 2), 2 * fixed("0.1", 1)],
        "replacement {} and {} |": lambda: [poisson("0.8", 2), 2 * poisson("0.8")],
    },
}
EXCEPTIONS = {
    "the-best-channel-for-a-gap": "ratios to an optimum that its dual bound certifies to six digits",
    "shuffled-reports-of-any-randomizer": "upper bounds by a Fourier transform that adds its own error",
    "shuffled-reports-against-central-gaussian-noise": "roots of bounds on delta that meet to a few thousandths",
}
