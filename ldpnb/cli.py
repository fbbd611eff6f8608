"""The command line: arguments in, calls out.

Exit code 0 for success, 1 for a failed run, 2 for wrong usage, 130 when interrupted.
"""

import io
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from ldpnb import __version__
from ldpnb.checks import UsageError, as_usage, shown
from ldpnb.data.options import reading_options
from ldpnb.guides.command import audit_table
from ldpnb.planning.command import plan
from ldpnb.planning.survey_command import power, questions, survey
from ldpnb.run import endings
from ldpnb.run.catalogue import NoNotebookError, Notebook, catalogue, find, home, require_uncommitted
from ldpnb.run.export import export
from ldpnb.run.parallel import BACKENDS
from ldpnb.run.unpacking import get

_LONGEST_MESSAGE = 4000
_FORMATS = ("md", "html", "csv")
# of any class, since JupyterLab moves some of them
_GUARDS = re.compile(
    r"--?([\w.]*\.)?(ip|token|password\w*|hashed_password|allow_remote_access|allow_origin\w*|allow_credentials"
    r"|allow_unauthenticated_access|disable_check_xsrf|identity_provider_class|authorizer_class|local_hostnames"
    r"|config\w*|sock\w*|sock-mode|gateway-url|gateway_url|trust_xheaders|root_dir|notebook-dir|notebook_dir|preferred-dir"
    r"|preferred_dir|tornado_settings)(=|$)|--?GatewayClient\."
)
_STATUSES = ("reproduced", "supported", "corrected", "refuted", "open")
_PARTS = {
    "over": "decided for",
    "evidence": "evidence",
    "corrected": "corrected",
    "assumption": "assumption",
    "argument": "argued in words",
    "reading": "reading",
}
_REACHES = ("all parameters", "a box", "instances")
_CHECK = (
    *("-q", "-c", os.devnull, "-p", "no:cacheprovider", "-p", "ldpnb.run.nbval_plugin"),
    *("--nbval", "--nbval-current-env", "--nbval-cell-timeout=120"),
)
_JOBS = "Processes on this machine.  [default: all cores]"
_BACKEND = "Processes of this machine, or a Dask cluster."
_SCHEDULER = "An existing Dask cluster, instead of one on this machine."
_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


def main() -> None:
    """Run the command line with the companion's exit codes."""
    endings.hear()
    try:
        code = cli.main(prog_name="ldpnb", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):  # the latter before click listens
        _fail("interrupted", 130)
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        click.echo(_printable(said.getvalue()), err=True, nl=False)
        sys.exit(error.exit_code)
    except UsageError as error:
        _fail(str(error), 2)
    except BrokenPipeError:
        endings.forget_output()
        sys.exit(1)
    except OSError as error:
        endings.forget_output()
        _fail(endings.cause(error), 1)
    except MemoryError as error:
        _fail(f"this takes more memory than there is: {error}", 1)
    sys.exit(code or 0)


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"ldpnb: {_printable(message)}", err=True)
    sys.exit(code)


def _printable(message: str) -> str:
    """Return a message without control characters, and not too long for a terminal."""
    kept = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in message[:_LONGEST_MESSAGE])
    return kept if len(message) <= _LONGEST_MESSAGE else f"{kept}..."


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="ldpnb %(version)s")
def cli() -> None:
    """Run, check and read the audited companion to five sources on local differential privacy and sampling."""


for _command in (survey, questions, power):
    plan.add_command(_command)
cli.add_command(plan)
cli.add_command(get)
cli.add_command(export)
cli.add_command(audit_table)


def _chosen(identifiers: tuple[str, ...]) -> list[Notebook]:
    if not identifiers:
        return list(catalogue())
    return list({n.id: n for n in map(find, identifiers)}.values())


@cli.command("list", short_help="List all notebooks.")
def list_notebooks() -> None:
    """List all notebooks: id, title, number of claims, and whether the results here are up to date."""
    from ldpnb.run.execution import up_to_date

    rows = [(n.id, str(len(n.claims) or ""), "up to date" if up_to_date(n) else "", n.title) for n in catalogue()]
    widths = [max(len(r[i]) for r in rows) for i in range(3)]
    for identifier, claims, state, title in rows:
        click.echo(f"{identifier:<{widths[0]}}  {claims:>{widths[1]}}  {state:<{widths[2]}}  {title}".rstrip())


@cli.command(short_help="Show a notebook's parameters and claims, or one claim.")
@click.argument("id")
def show(id: str) -> None:
    """Show a notebook's parameters (default, type, meaning) and claims, or a claim with its verdict and code.

    A notebook's ID, as `ldpnb list` prints it, may be shortened to any unique beginning of its name, such as
    03_cluster, and a claim's name to any unique part, such as theorem-5.2.
    """
    try:
        notebook = find(id)
    except NoNotebookError:
        from ldpnb.site import card

        click.echo(card.card(card.find_claim(id)))
        return
    click.echo(f"{notebook.id}: {notebook.title}\n")
    for p in notebook.parameters:
        click.echo(f"  -p {p.name}={p.default!r}  ({p.type}) {p.meaning}")
    if not notebook.parameters:
        click.echo("  no parameters")
    if notebook.claims:
        click.echo("\nclaims, which `ldpnb verdicts` decides:\n")
        click.echo("\n".join(f"  {c}" for c in notebook.claims))


def _pairs(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    given: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"expected name=value, got {text!r}")
        if name in given:
            raise click.BadParameter(f"{name} is given twice")
        given[name] = value
    return given


def _parallel(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options on where to run."""
    options = (
        click.option("-j", "--jobs", type=click.IntRange(1, 1024), default=os.cpu_count() or 1, help=_JOBS),
        click.option("--backend", type=click.Choice(BACKENDS), default="loky", help=_BACKEND),
        click.option("--scheduler", metavar="ADDRESS", help=_SCHEDULER),
    )
    for option in reversed(options):
        command = option(command)
    return command


@cli.command("inspect", short_help="Describe a file of your own, and what to run on it.")
@click.argument("file", type=_FILE)
@reading_options
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def inspect_file(file: Path, as_json: bool, **stated: Any) -> None:
    """Show how a file is read, what each of its columns seems to hold, and the command to run next.

    What is not stated is detected where that is safe. Nothing is written, and nothing leaves this machine.
    """
    import json

    from ldpnb.data.inspection import inspect
    from ldpnb.data.reading import Reading

    with as_usage():
        found = inspect(file, Reading(**stated))
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1) if as_json else found.report())


@cli.command(short_help="Run notebooks, with parameters of your own if you like.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "-p",
    "parameters",
    multiple=True,
    callback=_pairs,
    metavar="NAME=VALUE",
    help="Set a parameter (repeatable); `ldpnb show ID` names them.",
)
@click.option("-o", "--output", type=_FOLDER, help="Folder for the results.")
@click.option("-f", "--force", is_flag=True, help="Run unchanged notebooks too.")
@_parallel
def run(ids: tuple[str, ...], parameters: dict[str, Any], output: Path | None, force: bool, **where: Any) -> None:
    """Run notebooks, all by default, and renew their figures.

    An ID may be shortened to any unique beginning of a notebook's name, such as 03_cluster.

    With -p or --output the results go to a separate folder, and the committed ones stay unchanged.
    """
    from ldpnb.run import execution

    tasks = execution.plan(_chosen(ids), parameters, output)
    renew = [t for t in tasks if force or t.target != t.notebook.path or not execution.up_to_date(t.notebook)]
    if len(renew) < len(tasks):
        click.echo(f"up to date: {_notebooks(len(tasks) - len(renew))}")
    failed = _run(renew, where)
    if failed:
        raise SystemExit(1)


def _notebooks(count: int) -> str:
    return f"{count} notebook{'s' * (count != 1)}"


def _run(tasks: list[Any], where: dict[str, Any]) -> int:
    from tqdm import tqdm

    from ldpnb.run import execution

    outcomes = list[execution.Outcome]()
    try:
        with tqdm(total=len(tasks), unit="notebook", disable=not sys.stderr.isatty()) as bar:
            for outcome in execution.run(tasks, **where):
                outcomes.append(outcome)
                line = f"{outcome.task.notebook.id}  {outcome.seconds:.1f} s"
                line += ", by a second kernel: the first did not answer" if outcome.retried else ""
                bar.clear()
                click.echo(f"failed: {outcome.error}" if outcome.error else line, err=bool(outcome.error))
                bar.update()
    except KeyboardInterrupt:
        _fail("interrupted; finished notebooks are kept, the others are as they were", 130)
    own = [o.task.target.parent for o in outcomes if not o.error and o.task.target != o.task.notebook.path]
    for folder in dict.fromkeys(own):
        click.echo(f"results in {folder}")
    failed = sum(bool(outcome.error) for outcome in outcomes)
    if failed:
        click.echo(f"{failed} of {_notebooks(len(tasks))} failed; what was there before is untouched", err=True)
    return failed


@cli.command(short_help="Run an experiment over a grid of settings.")
@click.argument("id", required=False)
@click.option("--list", "listing", is_flag=True, help="List the experiments with their parameters.")
@click.option(
    "-g",
    "--grid",
    multiple=True,
    callback=_pairs,
    metavar="NAME=VALUES",
    help="Values of a parameter: low:high:count, low:high:count:log or a list with commas (repeatable).",
)
@click.option("-p", "fixed", multiple=True, callback=_pairs, metavar="NAME=VALUE", help="Set a parameter (repeatable).")
@click.option("-r", "--repetitions", type=int, default=1000, show_default=True, help="At every point of the grid.")
@click.option("--block", type=int, help="Most repetitions in one task.  [default: 1000]")
@click.option("--seed", type=int, default=2022, show_default=True, help="Of every random stream.")
@click.option("-o", "--output", type=_FOLDER, help="Folder for the results.")
@_parallel
def sweep(id: str | None, listing: bool, **described: Any) -> None:
    """Run an experiment over a grid, a task per point and block of repetitions.

    Results are stored as they finish, and the same command continues where it was stopped. The numbers do not depend on
    where or in what order it runs. ID is an experiment of the companion, or MODULE:FUNCTION for one of your own, whose
    code is then run.
    """
    from ldpnb.sweeps import session

    if id is None or listing:
        click.echo("\n".join(session.listed(id)))
    else:
        raise SystemExit(session.run(id, **described))


@cli.command(short_help="Draw columns of a sweep's table.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--x", required=True, metavar="COLUMN", help="On the horizontal axis.")
@click.option("--y", required=True, metavar="COLUMN", help="On the vertical axis.")
@click.option("--by", metavar="COLUMN", help="A series per value of this column.")
@click.option("--where", multiple=True, callback=_pairs, metavar="NAME=VALUE", help="Only these rows (repeatable).")
@click.option("--log", default="", metavar="x|y|x,y", help="Logarithmic axes.")
@click.option("-o", "--output", type=_FILE, help="Picture.  [default: FOLDER/Y_by_X.png]")
def plot(folder: Path, output: Path | None, x: str, y: str, **options: Any) -> None:
    """Draw any column of a sweep's table against any other; other columns that vary get panels."""
    from ldpnb.sweeps import plot as drawing

    path = output or folder / f"{y}_by_{x}.png"
    require_uncommitted(path)
    drawing.save(drawing.draw(folder, x, y, **options), path)
    click.echo(path)


@cli.command(short_help="Re-execute notebooks and compare with what is committed.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
def check(ids: tuple[str, ...]) -> None:
    """Re-execute notebooks against their committed outputs (nbval) and their figures' numbers."""
    from importlib.util import find_spec

    paths = [str(n.path) for n in _chosen(ids)]
    # without pytest-xdist, a tool of the checkout's tests, one notebook at a time
    jobs = ["-n", str(min(len(paths), os.cpu_count() or 1))] if find_spec("xdist") else []
    command = [sys.executable, "-m", "pytest", *_CHECK, f"--rootdir={home()}", *jobs, *paths]
    raise SystemExit(min(subprocess.run(command, cwd=home(), check=False).returncode, 1))


@cli.command(short_help="Decide every claim anew; print the ledger.")
@click.option("--source", help="Only this source's claims.")
@click.option("--status", type=click.Choice(_STATUSES), help="Only verdicts of this status.")
@click.option("--reach", type=click.Choice(_REACHES), help="Only verdicts decided for these.")
@click.option("-v", "--verbose", is_flag=True, help="With evidence, domain and corrected statements.")
def verdicts(source: str | None, status: str | None, reach: str | None, verbose: bool) -> None:
    """Decide every claim anew and print the ledger; exit 1 if a verdict differs from the committed one."""
    from ldpnb.run import ledger

    with as_usage():
        table = ledger.ledger(source, status, reach)
    for row in table.itertuples():
        click.echo(f"{row.status:<10}  {row.reach:<14}  {row.claim:<44}  {row.says}")
        if verbose:
            parts = {part: getattr(row, part) for part in _PARTS}
            click.echo("".join(f"{'':28}{_PARTS[part]}: {text}\n" for part, text in parts.items() if text))
    counts = (
        ", ".join(f"{n} {word}" for word, n in table[column].value_counts().items()) for column in ("status", "reach")
    )
    click.echo(f"{len(table)} claims: {'; decided for '.join(counts)}")
    differing = ledger.changes(source)
    for line in differing:
        click.echo(f"differs from the committed ledger: {line}", err=True)
    if differing:
        raise SystemExit(1)


@cli.command("report", short_help="Write the ledger as Markdown, HTML or CSV.")
@click.option(
    "--format", "kind", type=click.Choice(_FORMATS), help="Of the ledger.  [default: by the file's name, else md]"
)
@click.option("-o", "--output", type=_FILE, help="File to write.")
@click.option("--readme", is_flag=True, help="Renew the README's table of sources instead.")
def write_report(kind: str | None, output: Path | None, readme: bool) -> None:
    """Write the committed ledger as Markdown, HTML or CSV, to the terminal by default."""
    from ldpnb import writing
    from ldpnb.run import ledger
    from ldpnb.site import entries

    if readme:
        changed = ledger.write_readme_table(home() / "README.md")
        click.echo("README.md renewed" if changed else "README.md is current")
        return
    if output is not None and str(output) != "-":
        require_uncommitted(output)
    text = entries.document(kind or entries.format_of(str(output)))
    if output is None or str(output) == "-":
        click.echo(text, nl=False)
        return
    try:
        writing.write({output: text.encode()})
    except OSError as error:
        raise UsageError(f"output cannot be written: {shown(str(output))} ({error.strerror})") from None


@cli.command(short_help="Build the static site.")
@click.option("-o", "--output", type=_FOLDER, help="Folder for it.  [default: build/site]")
@click.option("--play", multiple=True, metavar="NOTEBOOK", help="Compute its live section, or all; runs its cells.")
@click.option("--settings", type=click.IntRange(1), default=200, show_default=True, help="Most settings per section.")
def site(output: Path | None, play: tuple[str, ...], settings: int) -> None:
    """Build the static site of the executed notebooks, which works from disk and offline.

    The live sections named by --play are computed on a grid of their controls, which takes minutes the first time;
    unchanged ones are reused from build/kept. Without --play no notebook code is run.
    """
    from ldpnb.run.execution import build
    from ldpnb.site import builder

    target = output or build() / "site"
    require_uncommitted(target)
    playing = catalogue() if "all" in play else [find(name) for name in play]
    click.echo(f"{builder.build(target, playing, settings)} pages; open {target / 'index.html'}")


@cli.command(short_help="Fetch public data.")
@click.argument("name", required=False)
@click.option("--url", default="", help="Where to fetch it from instead.")
@click.option("--cache", type=_FOLDER, help="Folder for downloads.  [env: LDPNB_CACHE]")
@click.option("--sha256", default="", help="Its checksum; without it the first download is trusted and recorded.")
def download(name: str | None, url: str, cache: Path | None, sha256: str) -> None:
    """Fetch public data by NAME and print the file's path; without a NAME, list what there is."""
    from ldpnb.data import download as public

    if name is None:
        for key, dataset in public.DATASETS.items():
            click.echo(f"{key:<6} {dataset.about}\n       {dataset.url}")
        return
    require_uncommitted(*([cache] if cache else []))
    try:
        found = public.fetch(name, url=url, cache=cache, sha256=sha256)
    except ValueError as error:
        raise UsageError(str(error)) from None
    except public.DownloadError as error:
        _fail(str(error), 1)
    click.echo(f"SHA-256 {found.sha256} {'recorded on trust' if found.trusted else 'as recorded'}", err=True)
    click.echo(found.path)


@cli.command(short_help="Open JupyterLab on the tour.", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[JUPYTER OPTION]...")
def lab(arguments: tuple[str, ...]) -> None:
    """Open JupyterLab on the tour, on the loopback interface and with a token; options against that are refused."""
    for refused in filter(_GUARDS.match, arguments):
        stays = "here JupyterLab stays on this machine, with its token; `jupyter lab` takes it"
        raise UsageError(f"{shown(refused)} is refused: {stays}")
    root = home()
    for folder in filter(os.path.isdir, arguments):
        raise UsageError(f"{shown(folder)} is refused: JupyterLab shows the checkout {root}")
    # the first folder of settings wins; this one requires token and loopback, and switches off news
    settings = [str(Path(__file__).with_name("jupyter")), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, settings))
    os.environ["JUPYTER_TOKEN"] = secrets.token_hex(24)
    click.echo(f"JupyterLab's token, should a browser ask for one: {os.environ['JUPYTER_TOKEN']}", err=True)
    command = [sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", f"--ServerApp.root_dir={root}"]
    command += ["--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb"]
    # replaces this process, so that stopping it stops the server
    os.execv(command[0], [*command, *arguments])


@cli.command(hidden=True)
@click.argument("paths", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def normalise(paths: tuple[Path, ...]) -> None:
    """Rewrite executed notebooks without what differs between runs; exit 1 if one changed or was not executed."""
    from ldpnb.run.execution import tidy

    problems = [problem for path in paths if (problem := tidy(path))]
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        raise SystemExit(1)
