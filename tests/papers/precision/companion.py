"""The numbers printed for the companion's own results, computed anew in high precision."""

from mpmath import e, exp, expm1, log, log1p, mpf, sqrt


def poisson(rate: str, epsilon: int = 1) -> mpf:
    q = mpf(rate)
    return log1p(q * expm1(mpf(epsilon))) - log1p(q * expm1(-mpf(epsilon)))


def fixed(rate: str, epsilon: int) -> mpf:
    return log1p(mpf(rate) * expm1(mpf(epsilon)))


def lottery(epsilon: str) -> list[mpf]:
    """Largest variances of the secret lottery and of a fixed allocation: sampling and twice the squared scale."""
    sampling, growth = mpf(5) / 72, exp(mpf(epsilon))
    scales = 1 / (4 * log(sqrt(6 * growth - 2) - 1)), 1 / (2 * log(3 * growth - 2))
    return [sampling + 2 * scale**2 for scale in scales]


CERTIFICATES = {
    "when-rounding-amplifies": {
        "rates up to {} lose at most": lambda: 1 / (1 + e),
        "lose {}, more": lambda: log(1 + expm1(mpf(2)) / 3),
        "more than {} at most": lambda: mpf(1) / 4 / (1 / (1 + exp(1)) - mpf(1) / 4),
    },
    "poisson-against-fixed-size": {
        "{} against {} at $q = 0.2$, {} against {} at $q = 0.05$": lambda: [
            *(poisson("0.2"), fixed("0.2", 2), poisson("0.05"), fixed("0.05", 2)),
        ],
    },
    "samples-drawn-with-replacement": {
        "\\varepsilon = 1$: {} against {} without": lambda: [10 * log1p(expm1(mpf(1)) / 100), fixed("0.1", 1)],
    },
    "local-hashing-is-unary-encoding": {"= 1$ have {} times": lambda: (e + 3) ** 2 / (12 * e)},
    "several-releases-from-one-sample": {
        "a tenth lose {}, on fresh samples {};": lambda: [fixed("0.1", 2), 2 * fixed("0.1", 1)],
        "replacement {} and {} |": lambda: [poisson("0.8", 2), 2 * poisson("0.8")],
    },
    "bias-or-variance": {
        "below {} users; at": lambda: (e + mpf("2.5")) * 6,
    },
    "a-secret-lottery-over-allocations": {
        "(2, 1)$ {} against": lambda: lottery("0.3")[0],
        "against {} by either": lambda: lottery("0.3")[1],
        "{} against {} at $3$": lambda: lottery("3"),
    },
}
EXCEPTIONS = {
    "dropouts-with-estimated-group-sizes": "roots of variances that a proof decides user by user",
    "the-best-channel-for-a-gap": "ratios to an optimum that its dual bound certifies to six digits",
    "the-best-rule-looks-at-the-data-at-random": "linear programs, bracketed to a thousandth",
    "approximate-to-pure": "a maximum over drawn channels, to be compared with 1 and 2",
    "shuffled-reports-of-any-randomizer": "upper bounds by a Fourier transform that adds its own error",
    "shuffled-reports-against-central-gaussian-noise": "roots of bounds on delta that meet to a few thousandths",
}
