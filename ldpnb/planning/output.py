"""Where the results of a command go: to the terminal, or into a file, as text, CSV, JSON, a workbook or a picture."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import click

from ldpnb.checks import UsageError, needed_for
from ldpnb.writing import write


class Result(Protocol):
    """What a command computes: text, and tables by their names, the first of which is the result."""

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of each table."""


def show(result: Result, style: str, output: Path | None, picture: Callable[[], Any] | None = None) -> None:
    """Show a result, or write it to a file, in the format that its name tells unless one is asked for.

    Parameters
    ----------
    result : Result
    style : {"text", "csv", "json", "xlsx"}
    output : Path, optional
    picture : callable, optional
        Draws the figure of the result, for files that are named as pictures.
    """
    if output is None and style == "xlsx":
        raise UsageError("output must name a file for format xlsx, got none")
    style = output.suffix[1:] if output is not None and style == "text" else style
    buffer = io.BytesIO()
    if style in ("png", "svg", "pdf") and picture is not None:
        picture().savefig(buffer, format=style)
    elif style == "xlsx":
        import pandas as pd

        with needed_for("an Excel file"), pd.ExcelWriter(buffer) as book:
            for name, rows in result.tables().items():
                pd.DataFrame(rows, dtype=object).to_excel(book, sheet_name=name, index=False)
    elif style == "csv":
        import pandas as pd

        buffer.write(pd.DataFrame(next(iter(result.tables().values())), dtype=object).to_csv(index=False).encode())
    elif style == "json":
        buffer.write(f"{json.dumps(result.tables(), indent=1)}\n".encode())
    else:
        buffer.write(f"{result}\n".encode())
    if output is None:
        click.echo(buffer.getvalue().decode(), nl=False)
    else:
        write(output, buffer.getvalue())
