"""The exact optimiser: the worst epsilon-DP mechanism that may follow a sampling design.

For the distributions ``p`` and ``q`` of the samples from two neighbouring populations,
`largest_loss` returns the largest privacy loss over *all* epsilon-DP mechanisms that see only the
sample, and a mechanism that attains it. Use it to confirm closed forms on small populations.

It is exact for the following reason.

1. For pure privacy one event decides. Its probability ``g(S)``, given the sample ``S``, is
   log-Lipschitz: ``g(S) <= e^(epsilon d(S, S')) g(S')``, with ``d`` the number of neighbour steps
   between samples.
2. Conversely, every such ``g`` on the samples extends to all data sets, by the least Lipschitz
   extension of ``ln g``, cut off from above. Scaled to at most ``e^epsilon / (1 + e^epsilon)``, it
   is the acceptance probability of an epsilon-DP test, because ``1 - g`` is then log-Lipschitz too.
3. So the loss is the maximum of ``ln (p.g / q.g)`` over log-Lipschitz ``g``, a linear program in
   ``g`` with ``q.g = 1``. At a vertex, a spanning tree of constraints is tight. Along it ``ln g``
   is recomputed without rounding error. The program is solved again around that optimum until it
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
"""A budget for every record, or one for each."""

ROUNDS = 20
"""Most linear programs that are solved, each around the optimum of the one before."""

REACH = 30.0
"""Largest ``epsilon x distance`` in nats for which the linear program is well scaled."""

_SMALLEST_BUDGET = 1e-9
"""Smallest budget in nats whose effect a linear program in floats resolves."""

_ABOVE_MINUS_ONE = float(np.nextafter(-1, 0))


def lcs_distance(first: Sample, second: Sample) -> int:
    """Return how many records to add or remove to turn one multiset into the other.

    It is the size of the multiset symmetric difference, Definition A.1 of Bun et al. (2022). To
    replace a record costs 2.

    >>> lcs_distance((1, 1, 2), (1, 3))
    3
    """
    here = Counter(first)
    there = Counter(second)
    return (here - there).total() + (there - here).total()


@dataclass(frozen=True, slots=True, eq=False)
class WorstMechanism:
    """A mechanism of two outputs that attains the largest privacy loss.

    Attributes
    ----------
    loss : float
        The largest loss in nats, over both directions. It may be infinite for a mechanism that is
        private under replacement, which need not hide the sample's size.
    samples : tuple of Sample
        The samples that either population can give.
    log_acceptance : ndarray, shape (samples,)
        Logarithm of the probability of the first output given each sample, up to a constant; the
        largest is 0. Empty if the loss is infinite.
    epsilon : float or mapping
        The mechanism's budget, as given to `largest_loss`.
    mechanism : {"deletion", "replacement"}
        The neighbouring relation for which the mechanism is private.
    swapped : bool
        Whether the second population makes the first output likelier than the first population
        does.
    """

    loss: float
    samples: tuple[Sample, ...]
    log_acceptance: Floats
    epsilon: Budget
    mechanism: str
    swapped: bool

    def acceptance(self, sample: Sample) -> float:
        """Return the probability of the first output, on any data set.

        Parameters
        ----------
        sample : tuple
            Records; neither population needs to be able to give them.

        Returns
        -------
        float
        """
        every_sample = (*self.samples, tuple(sample))
        distances = _distances(every_sample, self.epsilon, self.mechanism)[-1, :-1]
        extended = min(0.0, (self.log_acceptance + distances).min())

        least = min(self.epsilon.values()) if isinstance(self.epsilon, Mapping) else self.epsilon
        return float(np.exp(extended - np.log1p(np.exp(-least))))


def largest_loss(
    first: Mapping[Sample, float],
    second: Mapping[Sample, float],
    *,
    epsilon: Budget,
    mechanism: str = "deletion",
) -> WorstMechanism:
    """Return the largest privacy loss between two sampled populations, over all private mechanisms.

    The mechanisms see the sample and nothing else.

    Parameters
    ----------
    first, second : mapping from sample to float
        Probability of each sample under two populations, as `ldpnb.designs.laws` makes them. A
        sample is a sorted tuple of records.
    epsilon : float or mapping from record to float
        Budget of the mechanism in nats, at least 1e-9. With a mapping, adding or removing the
        record ``x`` costs ``epsilon[x]``, as for stratified deletion privacy (Definition 7.1 of Bun
        et al. 2022).
    mechanism : {"deletion", "replacement"}, default "deletion"
        The neighbouring relation for which the mechanism is epsilon-DP: one record more or
        less, or one record changed.

    Returns
    -------
    WorstMechanism
        The `loss` in nats, and a mechanism that attains it.

    Raises
    ------
    ValueError
        If probabilities do not sum to 1, or two samples are further apart than 30 nats, or an
        argument is outside its range.
    RuntimeError
        If the linear program fails or disagrees with the recomputed optimum.

    Examples
    --------
    Half of two records is drawn, and one of them is replaced. At epsilon = ln 5 the loss is ln(1 +
    4/2) = ln 3, as Theorem 2.2 of Bun et al. (2022) says.

    >>> sampled, neighbour = {(0,): 0.5, (1,): 0.5}, {(0,): 0.5, (2,): 0.5}
    >>> worst = largest_loss(sampled, neighbour, epsilon=np.log(5), mechanism="replacement")
    >>> round(float(np.exp(worst.loss)), 12)
    3.0
    """
    checks.choice(mechanism, "mechanism", among=("deletion", "replacement"))
    _check_budget(epsilon, (*first, *second))

    samples = tuple(sorted({*first, *second}, key=repr))
    p = checks.distribution([first.get(sample, 0.0) for sample in samples], "first")
    q = checks.distribution([second.get(sample, 0.0) for sample in samples], "second")

    distances = _distances(samples, epsilon, mechanism)
    forward, forward_logs = _optimum(p, q, distances)
    backward, backward_logs = _optimum(q, p, distances)
    if backward > forward:
        return WorstMechanism(backward, samples, backward_logs, epsilon, mechanism, swapped=True)
    return WorstMechanism(forward, samples, forward_logs, epsilon, mechanism, swapped=False)


def _check_budget(epsilon: Budget, samples: tuple[Sample, ...]) -> None:
    budgets = epsilon.values() if isinstance(epsilon, Mapping) else (epsilon,)
    for budget in budgets:
        if checks.positive(budget, "epsilon") < _SMALLEST_BUDGET:
            rule = f"be >= {_SMALLEST_BUDGET:g} nats for a linear program"
            raise ValueError(f"epsilon must {rule}, got epsilon={budget!r}")

    if isinstance(epsilon, Mapping):
        missing = _records(samples).keys() - epsilon.keys()
        if missing:
            got = f"none for {checks.shortened(missing)}"
            raise ValueError(f"epsilon must have a budget for every record, got {got}")


def _records(samples: tuple[Sample, ...]) -> dict[Any, None]:
    """Return all records of some samples, once each, in the order in which they first occur."""
    records: dict[Any, None] = {}
    for sample in samples:
        records |= dict.fromkeys(sample)
    return records


def _counted(sample: Sample, records: list[Any]) -> list[int]:
    return [sample.count(record) for record in records]


def _distances(samples: tuple[Sample, ...], epsilon: Budget, mechanism: str) -> Floats:
    """Return the budget between every two samples, infinite if no neighbours join them."""
    records = list(_records(samples))
    counts = np.array([_counted(sample, records) for sample in samples])
    costs = [epsilon[r] if isinstance(epsilon, Mapping) else epsilon for r in records]

    differences = np.abs(counts[:, None, :] - counts[None, :, :])
    distances = np.einsum("ijr,r->ij", differences, np.array(costs, dtype=float))
    if mechanism == "deletion":
        return np.asarray(distances)

    sizes = counts.sum(axis=1)
    return np.where(sizes[:, None] == sizes[None, :], distances / 2, np.inf)


def _optimum(p: Floats, q: Floats, distances: Floats) -> tuple[float, Floats]:
    """Return the largest ``ln(p.g / q.g)`` and its ``ln g``.

    Samples that no chain of neighbours joins form separate blocks; ``g`` is 0 in all but the best.
    """
    labels = np.isfinite(distances).argmax(axis=1)
    blocks = [np.flatnonzero(labels == label) for label in np.unique(labels[p > 0])]
    if not all(q[block].any() for block in blocks):
        return np.inf, np.empty(0)

    furthest = distances[np.isfinite(distances)].max()
    if furthest > REACH:
        rule = f"at most {REACH} nats"
        raise ValueError(f"epsilon x distance between samples must be {rule}, got {furthest}")

    largest = -np.inf
    log_acceptance = np.empty(0)
    for block in blocks:
        within = distances[np.ix_(block, block)]
        ratio, logs = largest_log_ratio(p[block], q[block], within)
        if ratio > largest:
            largest = ratio
            log_acceptance = np.full(len(p), -np.inf)
            log_acceptance[block] = logs
    return largest, log_acceptance


def largest_log_ratio(p: Floats, q: Floats, distances: Floats) -> tuple[float, Floats]:
    """Return the largest ``ln(p.g / q.g)`` over log-Lipschitz ``g > 0``, and its ``ln g``.

    Parameters
    ----------
    p, q : ndarray, shape (points,)
        Weights ``>= 0``, not all zero.
    distances : ndarray, shape (points, points)
        ``|ln g_i - ln g_j|`` is at most ``distances[i, j]``, in nats. The matrix is symmetric, and
        infinite for pairs without constraint. Pairs with a finite distance must connect all points.

    Returns
    -------
    loss : float
        The largest logarithm of the ratio, in nats.
    logs : ndarray, shape (points,)
        The logarithms of ``g``; the largest is 0.

    Examples
    --------
    With ``g`` in the ratio e : 1 the sums are e and (e + 1) / 2.

    >>> apart = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> loss, logs = largest_log_ratio(np.array([1.0, 0.0]), np.array([0.5, 0.5]), apart)
    >>> round(float(np.exp(loss)), 12), round(2 * np.e / (np.e + 1), 12), logs.tolist()
    (1.46211715726, 1.46211715726, [0.0, -1.0])
    """
    logs = np.zeros(len(p))
    if len(p) == 1:
        return np.log(p / q).item(), logs

    loss = _log_ratio(p, q, logs)
    for _ in range(ROUNDS):
        promised, vertex = _improved(p, q, distances, logs)
        better = logs if vertex is None else vertex
        reached = _log_ratio(p, q, better)

        if reached <= loss + 1e-13:
            if promised > 1e-7 * float(distances[distances > 0].min()):
                promise = f"{promised!r} nats beyond {loss!r} that no vertex reaches"
                raise RuntimeError(f"the linear program promises {promise}")
            return loss, logs - logs.max()

        loss = reached
        logs = better
    raise RuntimeError(f"the optimum did not settle in {ROUNDS} linear programs")


def _improved(p: Floats, q: Floats, distances: Floats, logs: Floats) -> tuple[float, Floats | None]:
    """Solve the linear program around ``e^logs``; return the gain that it promises, and its vertex.

    With ``g = e^logs (1 + u unit)`` the unknowns ``u`` are of order one, for tiny budgets and for
    probabilities over many orders of magnitude. In one step a ratio may grow by `REACH` nats at
    most, which keeps the coefficients in range. The vertex is its ``ln g``, if tight constraints
    connect it.
    """
    unit = float(np.expm1(distances[distances > 0].min()))
    tail, head = np.nonzero(np.isfinite(distances) & ~np.eye(len(p), dtype=bool))
    room = np.clip(distances[tail, head] + logs[head] - logs[tail], 0.0, REACH)
    weights_p = p * np.exp(logs - logs.max())
    weights_q = q * np.exp(logs - logs.max())

    gain, u = _solve(
        weights_p / weights_p.sum(),
        _pairs(tail, head, np.exp(room), len(p)),
        np.expm1(room) / unit,
        A_eq=weights_q[None] / weights_q.sum(),
        b_eq=[0.0],
        bounds=(None, None),
    )
    moved = logs + np.log1p(np.maximum(unit * u, _ABOVE_MINUS_ONE))
    return float(np.log1p(unit * gain)), _along_tight(moved, distances)


def _log_ratio(p: Floats, q: Floats, logs: Floats) -> float:
    """Return ``ln(p.g / q.g)`` without cancellation if ``g`` is nearly constant."""
    middle = logs - logs.max()
    below = np.exp(middle) @ q
    total = p.sum() - q.sum()
    excess = (p - q) @ np.expm1(middle) + (total if abs(total) > 1e-12 else 0.0)
    return float(np.log1p(excess / below))


def _along_tight(logs: Floats, distances: Floats) -> Floats | None:
    """Recompute `logs` from the first entry along tight constraints.

    Return None if tight constraints do not connect all entries, or the result breaks a constraint.
    """
    exact = logs.copy()
    slack = np.abs(np.abs(logs[:, None] - logs[None, :]) - distances)
    connected = [0]
    others = list(range(1, len(logs)))
    while others:
        candidates = slack[np.ix_(connected, others)]
        row, column = np.unravel_index(int(candidates.argmin()), candidates.shape)
        source = connected[int(row)]
        target = others[int(column)]
        if slack[source, target] > 1e-5 * distances[source, target] + 1e-9:
            return None

        direction = np.sign(logs[target] - logs[source])
        exact[target] = exact[source] + direction * distances[source, target]
        connected.append(target)
        others.remove(target)

    if (np.abs(exact[:, None] - exact[None, :]) > distances * (1 + 1e-9) + 1e-12).any():
        return None
    return exact


def largest_size_test_advantage(first: ArrayLike, second: ArrayLike, *, epsilon: float) -> float:
    """Return the largest advantage of an epsilon-DP test that sees only the sample's size.

    It is ``max Pr(accept | first) - Pr(accept | second)``, by linear programming, as in Proposition
    4.1 of Bun et al. (2022).

    Parameters
    ----------
    first, second : array_like, shape (sizes,)
        Two distributions of the size on ``0, 1, ...``.
    epsilon : float
        From one size to the next, the probability of either answer changes by at most the factor
        ``e^epsilon``; ``> 0``.

    Returns
    -------
    float
        A difference of probabilities, in ``[0, 1]``.
    """
    p = checks.distribution(first, "first")
    q = checks.distribution(second, "second")
    ratio = float(np.exp(checks.positive(epsilon, "epsilon")))
    count = max(len(p), len(q))
    p = np.pad(p, (0, count - len(p)))
    q = np.pad(q, (0, count - len(q)))

    # accept[tail] <= ratio accept[head] for neighbouring sizes, and the same for 1 - accept
    smaller = np.arange(count - 1)
    tail = np.concatenate([smaller, smaller + 1])
    head = np.concatenate([smaller + 1, smaller])
    matrix = _pairs(tail, head, np.full(len(tail), ratio), count)
    limits = np.repeat([0.0, ratio - 1], len(tail))
    return _solve(p - q, np.vstack([matrix, -matrix]), limits, bounds=(0, 1))[0]


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
    """Maximise ``objective . x`` with ``matrix x <= limits`` and scipy's other constraints."""
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
