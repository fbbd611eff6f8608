"""``ldpnb get``: unpack the notebooks and figures of this version into a folder."""

import shutil
from pathlib import Path

import click

import ldpnb
from ldpnb.checks import UsageError
from ldpnb.run.catalogue import MARK, require_uncommitted


@click.command(short_help="Unpack this version's notebooks and figures.")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def get(folder: Path | None) -> None:
    """Unpack the notebooks and figures of this version into FOLDER, by default ldpnb-VERSION.

    In that folder list, show, run, check and verdicts work on them; nothing is downloaded.
    """
    target = folder or Path(f"ldpnb-{ldpnb.__version__}")
    require_uncommitted(target)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise UsageError(f"the folder must be new or empty, got {target}")
    package = Path(ldpnb.__file__).resolve().parent
    source = package / "companion" if (package / "companion").is_dir() else package.parent
    leave = shutil.ignore_patterns("*.failed.ipynb", "*.executed.ipynb", ".ipynb_checkpoints", ".*.partial")
    try:
        for part in ("notebooks", "figures"):
            shutil.copytree(source / part, target / part, ignore=leave)
        (target / MARK).touch()
    except OSError as error:
        raise UsageError(f"the folder cannot be written: {target} ({error.strerror or error})") from None
    click.echo(f"{target}: after `cd {target}`, `ldpnb list` shows the notebooks; open notebooks/00_start_here.ipynb")
