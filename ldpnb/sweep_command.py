"""The command line of sweeps."""

import inspect
import math
import multiprocessing
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import click

from ldpnb.checks import UsageError, shown
from ldpnb.notebook.parameters import Parameter, checked
from ldpnb.run.catalogue import require_uncommitted

EXPERIMENTS = {"frequencies": "ldpnb.papers.lopuhaa2020.experiments:frequencies"}
"""Experiments of ldpnb, by their short names."""

MOST_VALUES = 10_000
"""Most values that a range may have."""


def pairs(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return the values of an option ``NAME=VALUE`` that can be repeated, by their names."""
    given: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"expected name=value, got {text!r}")
        if name in given:
            raise click.BadParameter(f"{name} is given twice")
        given[name] = value
    return given


@click.command(short_help="Run an experiment over a grid of settings.")
@click.argument("experiment", default="frequencies", metavar="[EXPERIMENT]")
@click.option(
    "-g",
    "--grid",
    multiple=True,
    callback=pairs,
    metavar="NAME=VALUES",
    help="Values of a parameter: a list with commas, or the range low:high:count or"
    " low:high:count:log (repeatable).",
)
@click.option(
    "-r",
    "--repetitions",
    type=click.IntRange(2),
    default=1000,
    show_default=True,
    help="Number of repetitions at every point of the grid.",
)
@click.option(
    "--block",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Number of repetitions that are computed and saved together. Another size gives other "
    "random numbers.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=2022,
    show_default=True,
    help="Seed of all random streams.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for blocks/ and table.csv, which is needed to run.",
)
@click.option(
    "--depends",
    multiple=True,
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="File that the experiment reads (repeatable).",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 1024),
    help="Number of processes on this machine.  [default: all cores]",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Run on the workers of this Dask scheduler, such as tcp://127.0.0.1:8786.",
)
def sweep(
    experiment: str,
    grid: dict[str, str],
    repetitions: int,
    block: int,
    seed: int,
    output: Path | None,
    depends: tuple[Path, ...],
    jobs: int | None,
    scheduler: str | None,
) -> None:
    """Run an experiment over a grid of settings. Without options, show its parameters.

    EXPERIMENT is frequencies, or MODULE:FUNCTION for an experiment of your own in the current
    folder, whose code is then run. Finished blocks are saved, so the same command continues where
    an earlier one stopped. The numbers do not depend on the machine or on the order of the blocks.
    """
    from ldpnb.sweep import sweep as run_sweep

    if jobs is not None and scheduler is not None:
        raise UsageError("--jobs must not be given with --scheduler, which has its own workers")

    function = find(experiment, depends)
    declared = parameters(experiment, function)
    if output is None and not grid:
        first_line, *_ = [*(inspect.getdoc(function) or "").splitlines(), ""]
        click.echo(f"{experiment}: {first_line}")
        for parameter in declared.values():
            setting = f"{parameter.name}={parameter.default!r}"
            click.echo(f"  -g {setting}  ({parameter.type}) {parameter.meaning}".rstrip())
        return
    if output is None:
        raise UsageError("a sweep needs a folder for its results: --output FOLDER")

    # `checked` refuses a name that the experiment does not have, and names the nearest.
    undeclared = dict.fromkeys(grid.keys() - declared.keys())
    checked(declared.values(), undeclared, experiment)
    axes = {name: values(declared[name], text) for name, text in grid.items()}
    require_uncommitted(output)

    try:
        with executor(jobs or os.cpu_count() or 1, scheduler) as workers:
            table = run_sweep(
                function,
                axes,
                output,
                workers,
                repetitions=repetitions,
                block=block,
                seed=seed,
                depends=depends,
                tell=lambda state: click.echo(str(state), err=True),
            )
    except UsageError:
        raise
    except Exception as error:  # of the experiment, a worker, Dask or the disk
        kind = "" if type(error) is RuntimeError else f"{type(error).__name__}: "
        reason = shown(f"{kind}{' '.join(str(error).split())}")
        raise click.ClickException(
            f"{reason}; finished blocks are kept, and the same command continues from there"
        ) from error
    click.echo(f"{output / 'table.csv'}: {len(table)} rows")


# What is run


def find(name: str, depends: tuple[Path, ...] = ()) -> Callable[..., Any]:
    """Return one of ldpnb's experiments by its name, or the function of a ``module:function``.

    The current folder is searched after all others, and only while this one module is imported: a
    file of yours that has the name of a library's module is never imported in its place. Files
    that the module reads meanwhile must be named.
    """
    from ldpnb.sweep import files_read, require_named

    if ":" not in name and name not in EXPERIMENTS:
        raise UsageError(
            f"no experiment {shown(name)}: it must be {', '.join(EXPERIMENTS)} or MODULE:FUNCTION"
        )

    here = os.getcwd()
    sys.path.append(here)
    try:
        with files_read(Path(here).resolve()) as read:
            found = pkgutil.resolve_name(EXPERIMENTS.get(name, name))
    except (ModuleNotFoundError, AttributeError, ValueError) as error:
        raise UsageError(f"no experiment {shown(name)}: {shown(str(error))}") from None
    finally:
        sys.path.remove(here)

    require_named(read, [path.resolve() for path in depends])
    if not inspect.isfunction(found):
        raise UsageError(f"{shown(name)} must be a function, got {type(found).__name__}")
    return found


def parameters(name: str, experiment: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters of an experiment: type, default and, by `typing.Annotated`, meaning."""
    declared = {}
    for key, parameter in inspect.signature(experiment, eval_str=True).parameters.items():
        if key in ("repetitions", "rng"):
            continue

        # The parts of Annotated[kind, meaning], or the kind alone.
        kind, *meaning = get_args(parameter.annotation) or (parameter.annotation,)
        if kind not in (int, float, str, bool) or parameter.default is parameter.empty:
            raise UsageError(
                f"{shown(name)}: {key} needs a default and a type among int, float, str and bool,"
                f" such as {key}: float = 1.0"
            )
        declared[key] = Parameter(key, kind.__name__, parameter.default, "".join(meaning))
    return declared


def values(parameter: Parameter, text: str) -> tuple[Any, ...]:
    """Return the values that a text describes: a list with commas, or a range.

    A range is ``low:high:count`` or ``low:high:count:log``. Its numbers are rounded to 12 digits,
    or to whole ones.

    >>> epsilon = Parameter("epsilon", "float", 1.0, "")
    >>> values(epsilon, "0.1:0.5:3"), values(epsilon, "1,1.0, 2"), values(epsilon, "1e-2:1:3:log")
    ((0.1, 0.3, 0.5), (1.0, 2.0), (0.01, 0.1, 1.0))
    >>> values(Parameter("users", "int", 10, ""), "2:4:9")
    (2, 3, 4)
    """
    is_range = ":" in text and parameter.type in ("int", "float")
    items = _range(parameter, text) if is_range else text.split(",")
    if len(items) > MOST_VALUES:
        raise UsageError(
            f"{parameter.name} must have at most {MOST_VALUES:,} values, got {len(items):,}"
        )
    return tuple(dict.fromkeys(parameter.convert(item) for item in items))


def _range(parameter: Parameter, text: str) -> list[str]:
    """Return the numbers of a range as texts, which `Parameter.convert` reads."""
    import numpy as np

    rule = "low:high:count, low:high:count:log with low > 0, or a list with commas"
    refusal = UsageError(f"{parameter.name} must be {rule}, got {parameter.name}={shown(text)}")

    parts = text.split(":")
    is_log = parts[3:] == ["log"]
    if len(parts) != 3 + is_log or not parts[2].isdecimal():
        raise refusal

    low = parameter.convert(parts[0])
    high = parameter.convert(parts[1])
    if is_log and not (low > 0 and high > 0):
        raise refusal

    count = int(parts[2][:20])  # 20 digits are too many already, and more would take long to read
    if not 1 <= count <= MOST_VALUES:
        raise UsageError(
            f"the range of {parameter.name} must have 1 to {MOST_VALUES:,} values,"
            f" got {parameter.name}={shown(text)}"
        )

    if not float(high) - float(low) < math.inf:
        raise refusal

    space = np.geomspace if is_log else np.linspace
    numbers = space(float(low), float(high), count)
    if parameter.type == "int":
        return [str(round(number)) for number in numbers]
    return [f"{number:.12g}" for number in numbers]


# Where it is run


@contextmanager
def executor(jobs: int, scheduler: str | None) -> Iterator[Executor]:
    """Give the workers of a Dask scheduler, or as many processes as there are jobs."""
    if scheduler is None:
        with processes(jobs) as pool:
            yield pool
        return

    from distributed import Client

    with Client(scheduler, set_as_default=False) as client:
        yield client.get_executor(pure=False)


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """Give processes that end with this one, and at once if it is interrupted."""
    ways = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")
    context.set_forkserver_preload(["ldpnb.sweep"])
    pool = ProcessPoolExecutor(jobs, context, initializer=_end_with_the_parent)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        for child in multiprocessing.active_children():
            child.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def _end_with_the_parent() -> None:
    """Let a worker end without a word on Ctrl-C, and when its parent was killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
