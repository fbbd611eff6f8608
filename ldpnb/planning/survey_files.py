"""Tables that describe a design: strata, clusters of different sizes, classes with rates of their own, weights."""

from pathlib import Path
from typing import Any

import numpy as np

from ldpnb import checks
from ldpnb.data.files import column_names, load_rows
from ldpnb.data.reading import Reading
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.open_designs import ClusterDesign
from ldpnb.surveys.pilots import Pilot
from ldpnb.surveys.strata_designs import Allocation, StratifiedDesign
from ldpnb.surveys.unequal_designs import PoissonDesign, UnequalClusterDesign
from ldpnb.surveys.variances import kish_design_effect

_SPREAD = ("sd", "share", "mean")
Ends = tuple[float, float]


def load_strata(
    path: str | Path,
    *,
    allocation: Allocation = "proportional",
    reports: NumberReports | None = None,
    ends: Ends = (0.0, 1.0),
    binary: bool = False,
    pilot: Pilot | None = None,
    reading: Reading | None = None,
) -> StratifiedDesign:
    """Return the strata of a table with the columns ``stratum``, ``size`` and what else is known.

    Parameters
    ----------
    path : path
        A row per stratum; ``sd``, or for yes/no questions ``share`` or ``mean``; ``low`` and ``high``, a range of its
        own; ``response``, the share of those asked who answer.
    allocation : {"proportional", "neyman"}
    reports : NumberReports, optional
        Of the people, whose noise an allocation takes into account.
    ends : (float, float)
        The range of all values.
    binary : bool
        Whether values are the ends of their range only.
    pilot : Pilot, optional
        Gives the spread in the strata instead of the table.
    reading : Reading, optional

    Raises
    ------
    ValueError
        For a missing column or entry, a stratum named twice or not in the pilot, or a size that is no whole number.
    """
    ends = checked_ends(ends)
    frame = _frame(path, "strata", reading)
    names, sizes = _names(path, frame, "stratum"), _sizes(path, frame)
    own = dict(zip(("low", "high"), ends, strict=True))
    lows, highs = (frame[n].to_numpy() if n in frame else np.full(len(frame), end) for n, end in own.items())
    if ("low" in frame) != ("high" in frame):
        raise ValueError(f"{path}: low and high belong together, got one of them")
    for name, low, high in zip(names, lows, highs, strict=True):
        if not ends[0] <= low < high <= ends[1]:
            rule = f"must rise and lie in [{ends[0]:g}, {ends[1]:g}], the range of all values (--range)"
            raise ValueError(f"{path}: low and high of {name!r} {rule}, got {low:g} and {high:g}")
    s2 = _spreads(path, frame, np.array(sizes), lows, highs, binary)
    if pilot is not None:
        if missing := [name for name in names if name not in pilot.strata]:
            raise ValueError(f"{path}: every stratum must be in the pilot's --stratum, got {missing[0]!r}")
        s2 = tuple(pilot.strata[name] for name in names)
    spans = tuple((highs - lows).tolist()) if "low" in frame else None
    noise = (
        0.0
        if reports is None
        else float(checks.instance(NumberReports, reports=reports).within(max(spans or (reports.range,))).worst)
    )
    responses = tuple(frame["response"].tolist()) if "response" in frame else None
    return StratifiedDesign(sizes, s2, allocation, noise, names, spans, responses)


def load_clusters(
    path: str | Path,
    *,
    icc: float | None = None,
    take: int | None = None,
    s2: float | None = None,
    mean: float | None = None,
    ratio: bool = False,
    ends: Ends = (0.0, 1.0),
    binary: bool = False,
    reading: Reading | None = None,
) -> ClusterDesign | UnequalClusterDesign:
    """Return the clusters of a table with the column ``size``, and if known ``mean`` (or ``share``) and ``sd`` of each.

    Parameters
    ----------
    path : path
        A row per cluster; a column ``cluster`` may name them.
    icc, take, s2, ratio : optional
        As of `UnequalClusterDesign`.
    mean : float, optional
        Of all values, as far as it is known.
    ends, binary, reading
        As of `load_strata`.
    """
    ends = checked_ends(ends)
    frame = _frame(path, "cluster_sizes", reading, named=False)
    sizes, middle = _sizes(path, frame), sum(ends) / 2
    if binary and mean is not None and s2 is None:
        s2 = sum(sizes) / (sum(sizes) - 1) * (mean - ends[0]) * (ends[1] - mean)
    if "cluster" in frame:
        _names(path, frame, "cluster")
    told = next((name for name in ("mean", "share") if name in frame), None)
    if told is None and "sd" in frame:
        raise ValueError(f"{path}: sd within clusters needs their mean too, got no column mean")
    if told is None and len(set(sizes)) == 1:
        return ClusterDesign(len(sizes), sizes[0], icc, take, s2)
    if told is None:
        return UnequalClusterDesign(sizes, icc, take, s2, None if mean is None else mean - middle, ratio=ratio)
    means = _means(path, frame, told, ends)
    square = np.array(sizes) / np.maximum(np.array(sizes) - 1, 1) * (means - ends[0]) * (ends[1] - means)
    sds = frame["sd"].to_numpy() if "sd" in frame else np.sqrt(square) if binary else None
    within = None if sds is None else tuple(sds.tolist())
    return UnequalClusterDesign(sizes, None, take, means=tuple((means - middle).tolist()), sds=within, ratio=ratio)


def load_classes(
    path: str | Path,
    *,
    trim: float | None = None,
    ends: Ends = (0.0, 1.0),
    reading: Reading | None = None,
) -> PoissonDesign:
    """Return the classes of a table with the columns ``class``, ``size``, ``rate``, and if known ``mean`` and ``sd``.

    Parameters
    ----------
    path : path
        A row per class; rates are chances to take part, relative to each other.
    trim : float, optional
        Largest weight allowed, as a multiple of that at equal rates.
    ends, reading
        As of `load_strata`.
    """
    ends = checked_ends(ends)
    frame = _frame(path, "classes", reading)
    names, sizes = _names(path, frame, "class"), _sizes(path, frame)
    told, squares = next((name for name in ("mean", "share") if name in frame), None), None
    if told is not None and "sd" in frame:
        away = _means(path, frame, told, ends) - sum(ends) / 2
        held = np.array(sizes)
        squares = tuple(((held - 1) / held * frame["sd"].to_numpy() ** 2 + away**2).tolist())
    return PoissonDesign(sizes, tuple(frame["rate"].tolist()), squares, trim, names)


def load_weights(
    path: str | Path, *, trim: float | None = None, ends: Ends = (0.0, 1.0), reading: Reading | None = None
) -> tuple[float, str]:
    """Return Kish's design effect of the weights in the column ``weight`` of a table, and a remark on them.

    Parameters
    ----------
    path : path
        A row per answer expected; or a column ``size`` says how many a row stands for.
    trim : float, optional
        Weights above this multiple of their mean are cut to it. That biases the mean; the remark says by how much at
        most.
    ends, reading
        As of `load_strata`.
    """
    ends = checked_ends(ends)
    frame = _frame(path, "weights", reading, named=False)
    sizes = np.array(_sizes(path, frame)) if "size" in frame else np.ones(len(frame), dtype=int)
    if not (frame["weight"] > 0).all():
        raise ValueError(f"{path}: weight must be > 0, got {frame['weight'].min():g}")
    weights = frame["weight"].to_numpy() * sizes.sum() / (sizes @ frame["weight"].to_numpy())
    plain = kish_design_effect(weights, sizes)
    said = f"{sizes.sum():,} weights from {weights.min():.3g} to {weights.max():.3g} times their mean"
    if trim is None:
        return plain, f"{said}: design effect {plain:.4g} of the randomisation."
    if trim < 1:
        raise ValueError(f"trim must be >= 1, the mean of the weights, got trim={trim!r}")
    cut = np.minimum(weights, trim)
    kish = kish_design_effect(cut, sizes)
    moved = float(sizes @ np.abs(cut / (sizes @ cut) - weights / sizes.sum())) / 2 * (ends[1] - ends[0])
    return kish, (
        f"{said}, {int(sizes @ (weights > trim)):,} of them cut to {trim:g}: design effect {plain:.4g} became "
        f"{kish:.4g}, and the mean is biased by up to {moved:.3g}, however many answer, on top of the stated error."
    )


_COLUMNS = {
    "strata": ("stratum", ("size",), (*_SPREAD, "low", "high", "response")),
    "cluster_sizes": ("cluster", ("size",), _SPREAD),
    "classes": ("class", ("size", "rate"), _SPREAD),
    "weights": ("", ("weight",), ("size",)),
}
"""What tables may hold: a column of names, columns that they need, and columns that they may have."""


def unused(table: str, path: str | Path, reading: Reading | None = None) -> tuple[str, ...]:
    """Return a remark on columns that a kind of table does not use."""
    label, needs, may = _COLUMNS[table]
    names = column_names(path, reading or Reading(), name=table.replace("_", "-"))
    others = [name for name in names if name.lower() not in (label, *needs, *may)]
    return (f"{path}: columns that are not used: {', '.join(others)}.",) if others else ()


def _frame(path: str | Path, kind: str, reading: Reading | None, *, named: bool = True) -> Any:
    """Return the columns that a kind of table uses; the error for a missing one lists what it needs and may have."""
    label, needs, may = _COLUMNS[kind]
    columns = column_names(path, reading or Reading(), name=kind.replace("_", "-"))
    there = [name.lower() for name in columns]
    texts = (label,) if label in there or (label and named) else ()
    lacking = [name for name in (*texts, *needs) if name not in there]
    if lacking:
        wanted = f"{', '.join((*((label,) if named else ()), *needs))}, and may have {', '.join(may)}"
        raise ValueError(f"{path}: no column {lacking[0]}; it needs {wanted}; it has {', '.join(columns)}")
    several = [name for name in _SPREAD if name in there and name in may]
    if kind == "strata" and len(several) > 1:
        raise ValueError(f"{path}: one of {', '.join(several)} tells the spread, got columns for each")
    known = (*needs, *(name for name in may if name in there))
    frame = load_rows(path, numbers=known, texts=texts, reading=reading or Reading())
    for column in frame:
        if frame[column].isna().any():
            row = int(frame[column].isna().argmax())
            where = frame[label][row] if label in frame and column != label else f"row {row + 1}"
            raise ValueError(f"{path}: every row must have an entry in {column}, got none for {where}")
    return frame


def _names(path: str | Path, frame: Any, label: str) -> tuple[str, ...]:
    names = tuple(str(name).strip() for name in frame[label])
    if len(set(names)) < len(names):
        plural = {"stratum": "strata", "class": "classes", "cluster": "clusters"}[label]
        raise ValueError(f"{path}: {plural} must be named once each, got {max(names, key=names.count)!r} twice")
    return names


def _sizes(path: str | Path, frame: Any) -> tuple[int, ...]:
    if (frame["size"] != frame["size"].round()).any() or (frame["size"] < 1).any():
        wrong = frame["size"][(frame["size"] != frame["size"].round()) | (frame["size"] < 1)].iloc[0]
        raise ValueError(f"{path}: size must hold whole numbers >= 1, got {wrong:g}")
    return tuple(int(n) for n in frame["size"])


def checked_ends(ends: Ends) -> Ends:
    """Return the ends of a range: two numbers that floats hold, the second larger."""
    low, high = checks.numbers(ends=checks.entries(2, ends=tuple(ends)))
    if not low < high:
        raise ValueError(f"ends must rise, got ends={ends!r}")
    return float(low), float(high)


def _means(path: str | Path, frame: Any, column: str, ends: Ends) -> Any:
    means = frame[column].to_numpy()
    if column == "share":
        means = ends[0] + (ends[1] - ends[0]) * means
    if not ((means >= ends[0]) & (means <= ends[1])).all():
        wrong = frame[column][(means < ends[0]) | (means > ends[1])].iloc[0]
        within = "[0, 1]" if column == "share" else f"[{ends[0]:g}, {ends[1]:g}]"
        raise ValueError(f"{path}: {column} must lie in {within}, got {wrong:g}")
    return means


def _spreads(path: str | Path, frame: Any, sizes: Any, lows: Any, highs: Any, binary: bool) -> tuple[float, ...] | None:
    """Return the variance in each stratum, as its deviation or the share of a yes/no question tells it."""
    told = next((name for name in _SPREAD if name in frame), None)
    if told is None:
        return None
    if told == "sd":
        if (frame["sd"] < 0).any():
            raise ValueError(f"{path}: sd must be >= 0, got {frame['sd'].min():g}")
        return tuple((frame["sd"] ** 2).tolist())
    if not binary:
        raise ValueError(f"{path}: a {told} tells the spread of a yes/no question only; add --binary or a column sd")
    shares = frame[told].to_numpy() if told == "share" else (frame[told].to_numpy() - lows) / (highs - lows)
    if not ((shares >= 0) & (shares <= 1)).all():
        row = int(np.argmax((shares < 0) | (shares > 1)))
        raise ValueError(f"{path}: {told} must lie in the range of its stratum, got {frame[told].iloc[row]:g}")
    square = sizes / np.maximum(sizes - 1, 1) * shares * (1 - shares) * (highs - lows) ** 2
    # everybody alone in a stratum has no spread
    return tuple(np.where(sizes > 1, square, 0.0).tolist())


def kish_or_file(
    weights: str, *, trim: float | None = None, ends: Ends = (0.0, 1.0), reading: Reading | None = None
) -> tuple[float, tuple[str, ...]]:
    """Return Kish's design effect, given as a number or by a table, and remarks on it."""
    try:
        number = float(weights)
    except ValueError:
        kish, said = load_weights(weights, trim=trim, ends=ends, reading=reading)
        return kish, (said,)
    if trim is not None:
        raise ValueError(f"trim needs the weights themselves, in a file, got weights={checks.shortened(weights)}")
    return number, ()
