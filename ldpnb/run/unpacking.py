"""``ldpnb get``: unpack the notebooks and figures of this version into a folder."""

import os
import shutil
import tempfile
from pathlib import Path

import click

import ldpnb
from ldpnb.checks import UsageError
from ldpnb.run.catalogue import MARK, require_uncommitted

_PARTS = ("notebooks", "figures")


def source() -> Path:
    """Return the folder that has them: inside an installed package, or the checkout."""
    package = Path(ldpnb.__file__).resolve().parent
    return package / "companion" if (package / "companion").is_dir() else package.parent


def unpack(folder: Path) -> None:
    """Copy the notebooks and figures into a folder, which must be new or empty, completely or not at all.

    Raises
    ------
    UsageError
        If the folder is not empty or cannot be written.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UsageError(f"the folder must be new or empty, got {folder}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            made = Path(work, "made")
            for part in _PARTS:
                leave = shutil.ignore_patterns("*.failed.ipynb", "*.executed.ipynb", ".ipynb_checkpoints", ".*.partial")
                shutil.copytree(source() / part, made / part, ignore=leave)
            (made / MARK).write_text(f"{ldpnb.__version__}\n", encoding="utf-8")
            os.replace(made, folder)
    except OSError as error:
        raise UsageError(f"the folder cannot be written: {folder} ({error.strerror})") from None


@click.command(short_help="Unpack this version's notebooks and figures.")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def get(folder: Path | None) -> None:
    """Unpack the notebooks and figures of this version into FOLDER, by default ldpnb-VERSION.

    In that folder list, show, run, check and verdicts work on them; nothing is downloaded.
    """
    target = folder or Path(f"ldpnb-{ldpnb.__version__}")
    require_uncommitted(target)
    unpack(target)
    click.echo(f"{target}: after `cd {target}`, `ldpnb list` shows the notebooks; open notebooks/00_start_here.ipynb")
