"""The numbers printed for lecture20, computed anew in high precision."""

from mpmath import erf, erfinv, exp, expm1, findroot, linspace, log, log1p, mpf, pi, quad, sin, sinh, sqrt, tanh


def z() -> mpf:
    """Two-sided normal quantile at 99 %."""
    return sqrt(mpf(2)) * erfinv(mpf("0.99"))


def within(users: int, threshold: mpf) -> mpf:
    """Chance that a sum of standard Laplace variables is within a threshold of 0, from its characteristic function."""
    reach = sqrt(expm1(mpf(100) / users))
    parts = linspace(0, reach, 2 + int(threshold * reach / 6))
    return 2 / pi * quad(lambda u: (sin(threshold * u) / u if u else threshold) * (1 + u * u) ** -users, parts)


def local_successes(scaled_up: bool) -> list[mpf]:
    constant = sqrt(mpf(2)) * z()
    return [within(n, constant * sqrt(mpf(n)) if scaled_up else constant / sqrt(mpf(n))) for n in (100, 10_000)]


def least_users() -> mpf:
    """Fewest users, per square of m / (error epsilon) = 10, whose mean of noises is within 0.1 with 99 %."""
    near = 1328
    enough = [within(n, mpf(n) / 10) >= mpf("0.99") for n in (near - 1, near)]
    assert enough == [False, True]
    return mpf(near) / 100


def one_bit(epsilon: str) -> mpf:
    return (z() * mpf(epsilon) / (2 * tanh(mpf(epsilon) / 2))) ** 2


def one_bit_success(epsilon: str) -> mpf:
    n = round(10**4 / float(epsilon) ** 2)
    return erf(mpf("0.01") * tanh(mpf(epsilon) / 2) * sqrt(mpf(2) * n))


def crossing() -> mpf:
    return findroot(lambda e: 2 / e**2 - 1 / (2 * tanh(e / 2)) ** 2, mpf("2.3"))


def binary_entropy(p: mpf) -> mpf:
    return -(p * log(p) + (1 - p) * log(1 - p)) / log(mpf(2))


def approximate(epsilon: str, delta: str) -> mpf:
    """Variance of the best weights where the bit is shown with probability delta, over that of randomised response."""
    e, d = mpf(epsilon), mpf(delta)
    kept = exp(e) / (1 + exp(e))
    hidden = (1 - d) * (2 * kept - 1) ** 2
    # information of both parts about the bit, at equal chances: 1 when shown, the squared correlation when randomised
    best = 1 / (d + hidden) - 1
    return best / (1 / (2 * kept - 1) ** 2 - 1)


CERTIFICATES = {
    "randomised-response": {
        "epsilon sqrt(n) is {} at epsilon = 1 and at most {} for": lambda: [z() / (2 * sinh(mpf("0.5"))), z()],
        "bound: {} at 1": lambda: sqrt(log(mpf(200)) / 2) / tanh(mpf("0.5")),
    },
    "mean-central-laplace": {"= {}/(epsilon n) at": lambda: log(mpf(100))},
    "mean-local-laplace": {
        "2), {} times that": lambda: mpf(2),
        "-> 0, {} at 1 and {} at 4": lambda: [8 * sinh(mpf(e) / 2) ** 2 / e**2 for e in (1, 4)],
    },
    "mean-error-of-local-laplace": {
        "within {} m/": lambda: sqrt(mpf(2)) * z(),
        "probability {} (n = 100) and {} (n": lambda: local_successes(False),
        "noises with {} and {} |": lambda: local_successes(True),
        "z sqrt(2) = {} |": lambda: sqrt(mpf(2)) * z(),
    },
    "sample-complexity-central": {
        "probability {} only, and 99% takes {} m": lambda: [1 - exp(mpf(-1)), log(mpf(100))],
        "failure), {} at": lambda: log(mpf(100)),
    },
    "sample-complexity-local": {
        "probability {} only, and": lambda: within(100, mpf(10)),
        "99% takes {} m": least_users,
        "({} in the normal": lambda: 2 * z() ** 2,
        "2 z^2, {} at": lambda: 2 * z() ** 2,
    },
    "1-bit-mean": {
        "bias 0 at mean {} of": lambda: mpf(13) / 6,
        "values {}, {}, {}, {} at": lambda: [
            max(log(a / b) for a in (1, exp(mpf(e))) for b in (1, exp(mpf(e)))) for e in ("0.1", "0.5", "1", "3")
        ],
    },
    "1-bit-mean-error": {
        "c = {}, {}, {}, {}, {} at": lambda: [one_bit(e) for e in ("0.1", "0.5", "1", "3", "30")],
        "equality {}, {}, {} at": lambda: [one_bit_success(e) for e in ("0.1", "1", "3")],
        "iff epsilon < {} |": crossing,
    },
    "frequency-central-laplace": {
        "is off by {} at most": lambda: -2 * log(-expm1(log(mpf("0.99")) / 1000)),
        "(union bound {})": lambda: 2 * log(mpf(10) ** 5),
    },
    "frequency-sign-randomiser": {
        "0.1 -> {}, 0.25 -> {}, 0.5 -> {}, 0.9 -> {};": lambda: [
            log1p(mpf(b)) - log1p(-mpf(b)) for b in ("0.1", "0.25", "0.5", "0.9")
        ]
    },
    "frequency-communication": {
        "h(p), {} bit": lambda: mpf(1),
        "({} bits at": lambda: 7 + binary_entropy(exp(mpf("0.1")) / (1 + exp(mpf("0.1")))),
    },
    "local-model-pure-or-approximate": {
        "1 - {} at (1, 1e-6), {} at (1, 0.01), {} at": lambda: [
            1 - approximate("1", "1e-6"),
            approximate("1", "0.01"),
            approximate("0.01", "0.001"),
        ]
    },
}
EXCEPTIONS = {"frequency-estimator": "prints whole numbers"}
