"""The exact optimiser: the worst epsilon-DP mechanism that may follow a sampling design.

Given the laws ``p`` and ``q`` of the samples drawn from two neighbouring populations, `largest_loss` returns the
largest privacy loss over *all* epsilon-DP mechanisms that see only the sample, and a mechanism that attains it. Use it
to confirm closed forms on small populations.

It is exact for the following reason. The probability ``g(S)`` of an event given the sample ``S`` is log-Lipschitz:
``g(S) <= e^(epsilon d(S, S')) g(S')``, with ``d`` the number of neighbour steps between samples. Conversely, every such
``g`` on the samples extends to all data sets (the least Lipschitz extension of ``ln g``, truncated from above) and,
scaled to at most ``e^epsilon / (1 + e^epsilon)``, is the acceptance probability of an epsilon-DP test, because ``1 -
g`` is then log-Lipschitz too. For pure privacy one event decides, so the loss is the maximum of ``ln (p.g / q.g)`` over
log-Lipschitz ``g``: a linear program in ``g`` with ``q.g = 1``. Its vertices have a spanning tree of tight constraints,
along which ``ln g`` is recomputed without rounding error. The program is solved again around that optimum until it
yields no improvement.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints
from ldpnb.designs.laws import Sample

Budget = float | Mapping[Any, float]

_ROUNDS = 20
_LEAST = float(np.nextafter(-1, 0))

REACH = 30.0
"""Largest ``epsilon x distance`` in nats for which the linear program is well scaled."""


def lcs_distance(first: Sample, second: Sample) -> int:
    """Return how many records to add or remove to turn one multiset into the other (Definition A.1 of bun2022).

    It is the size of the multiset symmetric difference; replacing a record costs 2.

    >>> lcs_distance((1, 1, 2), (1, 3))
    3
    """
    here, there = Counter(first), Counter(second)
    return (here - there).total() + (there - here).total()


@dataclass(frozen=True, slots=True, eq=False)
class WorstMechanism:
    """A mechanism of two outputs that attains the largest privacy loss.

    - `loss`, float: the largest loss in nats, over both directions; may be infinite for a replacement-DP mechanism,
      which need not hide the sample's size.
    - `samples`, tuple of Sample: the samples of both laws.
    - `log_acceptance`, (len(samples),) float: logarithm of the probability of the first output given each sample, up to
      a constant; its maximum is 0. Empty if the loss is infinite.
    - `epsilon`, `mechanism`: its budget and neighbouring relation, as given to `largest_loss`.
    - `swapped`, bool: whether the second population makes the first output likelier than the first does.
    """

    loss: float
    samples: tuple[Sample, ...]
    log_acceptance: Floats
    epsilon: Budget
    mechanism: str
    swapped: bool

    def acceptance(self, sample: Sample) -> float:
        """Return the probability of the first output on *any* data set, including those that neither design draws."""
        steps = _distances((*self.samples, tuple(sample)), self.epsilon, self.mechanism)[-1, :-1]
        least = min(self.epsilon.values()) if isinstance(self.epsilon, Mapping) else self.epsilon
        return float(
            np.exp(min(0.0, (self.log_acceptance + steps).min()) - np.log1p(np.exp(-least)))
        )


_SMALLEST = 1e-9  # nats, of which a linear program in floats tells differences


def largest_loss(
    first: Mapping[Sample, float],
    second: Mapping[Sample, float],
    *,
    epsilon: Budget,
    mechanism: str = "deletion",
) -> WorstMechanism:
    """Return the largest loss between two sample laws over all epsilon-DP mechanisms, and a mechanism that attains it.

    - `first`, `second`, mapping from sample to probability: laws of the sample under two populations, as made by
      `ldpnb.designs.laws`.
    - `epsilon`, float or mapping from record to float: budget of the mechanism in nats, ``>= 1e-9``. With a mapping,
      adding or removing the record ``x`` costs ``epsilon[x]``, as for stratified deletion privacy (Definition 7.1 of
      bun2022).
    - `mechanism`, {"deletion", "replacement"}: the neighbouring relation for which the mechanism is epsilon-DP: one
      record more or less, or one record changed.
    - ValueError if a law is not a probability law, or two samples are further apart than `REACH` nats.
    - RuntimeError if the linear program fails or disagrees with the recomputed optimum.

    Half of two records, one of them replaced (Theorem 2.2 of bun2022): ``ln(1 + (e - 1)/2)``.

    >>> law, neighbour = {(0,): 0.5, (1,): 0.5}, {(0,): 0.5, (2,): 0.5}
    >>> worst = largest_loss(law, neighbour, epsilon=1.0, mechanism="replacement")
    >>> round(worst.loss, 12), round(float(np.log(1 + (np.e - 1) / 2)), 12)
    (0.620114506958, 0.620114506958)
    """
    checks.choice(mechanism, "mechanism", among=("deletion", "replacement"))
    for budget in epsilon.values() if isinstance(epsilon, Mapping) else (epsilon,):
        if checks.positive(budget, "epsilon") < _SMALLEST:
            raise ValueError(
                f"epsilon must be >= {_SMALLEST:g} nats for a linear program, got epsilon={budget!r}"
            )
    if isinstance(epsilon, Mapping) and (
        missing := {r for s in (*first, *second) for r in s} - epsilon.keys()
    ):
        raise ValueError(
            f"epsilon must have a budget for every record, got none for {checks.shortened(missing)}"
        )
    samples = tuple(sorted({*first, *second}, key=repr))
    p, q = (
        checks.distribution([law.get(s, 0.0) for s in samples], "law") for law in (first, second)
    )
    distances = _distances(samples, epsilon, mechanism)
    (forward, logs), (backward, others) = _optimum(p, q, distances), _optimum(q, p, distances)
    swapped = backward > forward
    return WorstMechanism(
        max(forward, backward), samples, others if swapped else logs, epsilon, mechanism, swapped
    )


def _distances(samples: tuple[Sample, ...], epsilon: Budget, mechanism: str) -> Floats:
    """Return the budget between every two samples, infinite where no chain of neighbours connects them."""
    universe = list(dict.fromkeys(r for s in samples for r in s))
    counts = np.array([[sample.count(record) for record in universe] for sample in samples])
    cost = np.array(
        [epsilon[r] if isinstance(epsilon, Mapping) else epsilon for r in universe], dtype=float
    )
    apart = np.einsum("ijr,r->ij", np.abs(counts[:, None, :] - counts[None, :, :]), cost)
    if mechanism == "deletion":
        return np.asarray(apart)
    sizes = counts.sum(axis=1)
    return np.where(sizes[:, None] == sizes[None, :], apart / 2, np.inf)


def _optimum(p: Floats, q: Floats, distances: Floats) -> tuple[float, Floats]:
    """Return the largest ``ln(p.g / q.g)`` and its ``ln g``, which rejects all but the best block of near samples."""
    names = np.isfinite(distances).argmax(axis=1)
    blocks = [np.flatnonzero(names == name) for name in np.unique(names[p > 0])]
    if not all(q[block].any() for block in blocks):
        return np.inf, np.empty(0)
    if (furthest := distances[np.isfinite(distances)].max()) > REACH:
        raise ValueError(
            f"epsilon x distance between samples must be at most {REACH} nats, got {furthest}"
        )
    optima = [
        (*largest_log_ratio(p[block], q[block], distances[np.ix_(block, block)]), block)
        for block in blocks
    ]
    best, logs, where = max(optima, key=lambda one: one[0])
    everywhere = np.full(len(p), -np.inf)
    everywhere[where] = logs
    return best, everywhere


def largest_log_ratio(p: Floats, q: Floats, distances: Floats) -> tuple[float, Floats]:
    """Return the largest ``ln(p.g / q.g)`` over log-Lipschitz ``g > 0``, and a ``ln g`` that attains it.

    That is, over ``g`` with ``|ln g_i - ln g_j| <= distances[i, j]``.

    - `p`, `q`, (points,) float: weights ``>= 0``, not all zero.
    - `distances`, (points, points) float: symmetric, in nats; infinite where a pair is unconstrained. The pairs with a
      finite distance must connect all points.
    - Returns (float, (points,) float): the logarithms have maximum 0.

    >>> loss, logs = largest_log_ratio(np.array([1.0, 0.0]), np.array([0.5, 0.5]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> round(float(np.exp(-loss)), 12), logs.tolist()
    (0.683939720586, [0.0, -1.0])
    """
    logs = np.zeros(len(p))
    if len(p) == 1:
        return np.log(p / q).item(), logs
    loss = _log_ratio(p, q, logs)
    for _ in range(_ROUNDS):
        promised, vertex = _improved(p, q, distances, logs)
        better = logs if vertex is None else vertex
        reached = _log_ratio(p, q, better)
        if reached <= loss + 1e-13:
            if promised > 1e-7 * float(distances[distances > 0].min()):
                raise RuntimeError(
                    f"the linear program promises {promised!r} nats beyond {loss!r} that no vertex reaches"
                )
            return loss, logs - logs.max()
        loss, logs = reached, better
    raise RuntimeError(f"the optimum did not settle in {_ROUNDS} linear programs")


def _improved(p: Floats, q: Floats, distances: Floats, logs: Floats) -> tuple[float, Floats | None]:
    """Return the gain that a linear program around ``e^logs`` promises, and the logarithms of its vertex, if any.

    With ``g = e^logs (1 + u unit)`` the unknowns are of order one, for tiny budgets and for chances over many orders of
    magnitude. A ratio may grow by `REACH` nats at most in one step, which keeps the coefficients in range.
    """
    unit = float(np.expm1(distances[distances > 0].min()))
    tail, head = np.nonzero(np.isfinite(distances) & ~np.eye(len(p), dtype=bool))
    room = np.clip(distances[tail, head] + logs[head] - logs[tail], 0.0, REACH)
    here, there = (w * np.exp(logs - logs.max()) for w in (p, q))
    matrix = _pairs(tail, head, np.exp(room), len(p))
    level = {"A_eq": there[None] / there.sum(), "b_eq": [0.0], "bounds": (None, None)}
    gain, u = _solve(here / here.sum(), matrix, np.expm1(room) / unit, **level)
    return float(np.log1p(unit * gain)), _along_tight(
        logs + np.log1p(np.maximum(unit * u, _LEAST)), distances
    )


def _log_ratio(p: Floats, q: Floats, logs: Floats) -> float:
    """Return ``ln(p.g / q.g)`` without cancellation when `g` is nearly constant."""
    middle = logs - logs.max()
    below = np.exp(middle) @ q
    total = p.sum() - q.sum()
    excess = (p - q) @ np.expm1(middle) + (total if abs(total) > 1e-12 else 0.0)
    return float(np.log1p(excess / below))


def _along_tight(logs: Floats, distances: Floats) -> Floats | None:
    """Return `logs` recomputed from its first entry along tight constraints, or None if these do not connect it."""
    exact = logs.copy()
    gaps = np.abs(np.abs(logs[:, None] - logs[None, :]) - distances)
    known, unknown = [0], set(range(1, len(logs)))
    while unknown:
        rest = sorted(unknown)
        near = gaps[np.ix_(known, rest)]
        source, target = np.unravel_index(int(near.argmin()), near.shape)
        i, j = known[int(source)], rest[int(target)]
        if gaps[i, j] > 1e-5 * distances[i, j] + 1e-9:
            return None
        exact[j] = exact[i] + np.sign(logs[j] - logs[i]) * distances[i, j]
        known.append(j)
        unknown.remove(j)
    if (np.abs(exact[:, None] - exact[None, :]) > distances * (1 + 1e-9) + 1e-12).any():
        return None
    return exact


def largest_size_test_advantage(first: ArrayLike, second: ArrayLike, *, epsilon: float) -> float:
    """Return the largest advantage of an epsilon-DP test that sees only the sample's size (Proposition 4.1 of bun2022).

    ``max Pr(accept | first) - Pr(accept | second)``, by linear programming, for two laws of the size on ``0, 1, ...``;
    both answers of the test change by at most ``e^epsilon`` from a size to the next.
    """
    p, q = checks.distribution(first, "first"), checks.distribution(second, "second")
    ratio = float(np.exp(checks.positive(epsilon, "epsilon")))
    count = max(len(p), len(q))
    p, q = np.pad(p, (0, count - len(p))), np.pad(q, (0, count - len(q)))
    here = np.arange(count - 1)
    tail, head = np.concatenate([here, here + 1]), np.concatenate([here + 1, here])
    accept = _pairs(
        tail, head, np.full(len(tail), ratio), count
    )  # g[tail] <= ratio g[head], and the same for 1 - g
    limits = np.repeat([0.0, ratio - 1], len(tail))
    return _solve(p - q, np.vstack([accept, -accept]), limits, bounds=(0, 1))[0]


def _pairs(tail: Ints, head: Ints, ratio: Floats, count: int) -> Floats:
    """Return the rows ``g[tail] - ratio g[head]``."""
    matrix = np.zeros((len(tail), count))
    rows = np.arange(len(tail))
    matrix[rows, tail] = 1
    matrix[rows, head] = -ratio
    return matrix


def _solve(
    objective: Floats, matrix: Floats, limits: Floats, **constraints: Any
) -> tuple[float, Floats]:
    """Maximise ``objective . x`` subject to ``matrix x <= limits`` and further constraints, named as scipy does."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    tolerances: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    sparse: Any = csr_array(matrix)
    result = linprog(
        -objective, A_ub=sparse, b_ub=limits, method="highs-ds", options=tolerances, **constraints
    )
    if result.status != 0:
        raise RuntimeError(f"the linear program failed: {result.message}")
    solution = np.asarray(result.x, dtype=float)
    return float(objective @ solution), solution
