"""A small notebook: what it declares, what it computes, and its file."""

import json

PARAMETERS = (
    'users: int = 4  # number of users\nfactor: float = 0.5  # what they are multiplied by\nlabel: str = "a"  # a name'
)
COMPUTE = (
    "import pandas as pd\n"
    "from ldpnb.notebook import curves, publish\n"
    'table = pd.DataFrame({"x": range(users), "y": [factor * i for i in range(users)]})\n'
    'publish(curves(table, "x", "y"), table, "figure_1", caption="A line.")'
)


def notebook(*cells: str) -> str:
    """A notebook whose first code cell is tagged parameters."""
    made = [{"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# A demonstration"]}]
    for i, cell in enumerate(cells):
        tags = {"tags": ["parameters"]} if i == 0 else {}
        made.append(
            {
                "cell_type": "code",
                "id": f"c{i}",
                "metadata": tags,
                "source": cell.splitlines(True),
                "outputs": [],
                "execution_count": None,
            }
        )
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})
