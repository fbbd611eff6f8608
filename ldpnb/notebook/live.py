"""The live section that ends a notebook: a few controls that redraw a result.

For a reader `live` shows ipywidgets' `interactive` with a slider or drop-down for each control, the figure, and the
sentence with the number that changes. In ``ldpnb run``, and in a script, it draws once at the starting values, so that
the section is executed with its notebook. The plain text of all is the sentence.
"""

import base64
import html
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ldpnb.notebook import environment
from ldpnb.notebook.charts import WIDTH, Chart
from ldpnb.notebook.controls import Choice, Slider, described
from ldpnb.notebook.figures import png
from ldpnb.notebook.outputs import in_notebook, show


def live(redraw: Callable[..., tuple[Chart, str]], **controls: Slider | Choice) -> None:
    """Show `redraw`'s chart and sentence for the values of some controls, and redraw when one changes.

    - `redraw`, callable: takes one keyword per control and returns a chart and the sentence with the number that
      changes.
    - `**controls`, Slider or Choice: by parameter name; they start at the source's setting.
    """
    for name, control in controls.items():
        if control.start not in control.values:
            raise ValueError(f"{name} must start inside its range, got {control}")
    if os.environ.get(environment.HEADLESS) or not in_notebook():
        _, sentence = redraw(**{name: control.start for name, control in controls.items()})
        show({"text/plain": sentence})
    else:
        show(_shown(redraw, controls))


def _shown(
    redraw: Callable[..., tuple[Chart, str]], controls: Mapping[str, Slider | Choice]
) -> dict[str, Any]:
    """Return what a front end shows: controls if it has them, and the sentence as plain text."""
    import ipywidgets as widgets

    picture = widgets.HTML()

    def draw(**values: Any) -> str:
        chart, sentence = redraw(**values)
        says, drawn = html.escape(sentence), base64.b64encode(png(chart)).decode()
        style = f"width: {100 * WIDTH:.0f}px; max-width: 100%; background: white"
        picture.value = f'<p><b>{says}</b></p><img alt="{says}" style="{style}" src="data:image/png;base64,{drawn}">'
        return sentence

    shown = {}
    slider = partial(widgets.SelectionSlider, continuous_update=False)
    for name, control in controls.items():
        words = described(name, control)
        shown[name] = (widgets.Dropdown if words["choice"] else slider)(
            options=list(zip(words["values"], control.values, strict=True)),
            value=control.start,
            description=words["label"],
            style={"description_width": "initial"},
            layout={"width": "32em", "max_width": "100%"},
        )
    section = widgets.interactive(draw, **shown)
    return widgets.VBox([section, picture])._repr_mimebundle_() | {"text/plain": section.result}
