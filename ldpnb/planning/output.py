"""Where the results of a command go: to the terminal, or into a file, as text, CSV, JSON, a workbook or a picture."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import UsageError
from ldpnb.writing import write

PICTURES = ("png", "svg", "pdf")


def show(
    result: Any, style: str, output: Path | None, picture: Callable[[], Any] | None = None
) -> None:
    """Show a result, or write it to a file in the format of its name unless one is asked for; draw a `picture`.

    A result is text, and has ``tables()``: rows by the name of their table, the first of which is the result.
    """
    if output is None and style == "xlsx":
        raise UsageError("output must name a file for format xlsx, got none")
    style = output.suffix[1:] if output is not None and style == "text" else style
    buffer = io.BytesIO()
    if style in PICTURES and picture is not None:
        picture().savefig(buffer, format=style)
    elif style in ("csv", "xlsx"):
        import pandas as pd  # not needed to print a plan, and slow to import

        frames = {name: pd.DataFrame(rows, dtype=object) for name, rows in result.tables().items()}
        if style == "csv":
            next(iter(frames.values())).to_csv(buffer, index=False)
        else:
            with pd.ExcelWriter(buffer) as book:
                for name, frame in frames.items():
                    frame.to_excel(book, sheet_name=name, index=False)
    else:
        buffer.write(
            f"{json.dumps(result.tables(), indent=1) if style == 'json' else result}\n".encode()
        )
    if output is None:
        click.echo(buffer.getvalue().decode(), nl=False)
    else:
        write(output, buffer.getvalue())
