"""The live section at the end of a notebook: a few controls that redraw a result.

To a reader `live` shows the `interactive` of ipywidgets, with a slider or a drop-down list for each
control, the figure, and a sentence with the number that changes. In ``ldpnb run`` and in a script
it draws once, at the starting values, so that the section is executed like the rest of its
notebook. The plain text of the output is the sentence.
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
    """Show a chart and a sentence for the values of some controls, and redraw when one changes.

    Parameters
    ----------
    redraw : callable
        It takes one keyword argument for each control, and returns a chart and a sentence with the
        number that changes.
    **controls : Slider or Choice
        The controls by the names of these arguments. They start at the setting of the source.

    Raises
    ------
    ValueError
        If a control starts outside its range.
    """
    for name, control in controls.items():
        if control.start not in control.values:
            raise ValueError(f"{name} must start inside its range, got {control}")

    if os.environ.get(environment.HEADLESS) or not in_notebook():
        starts = {name: control.start for name, control in controls.items()}
        _, sentence = redraw(**starts)
        show({"text/plain": sentence})
    else:
        show(_shown(redraw, controls))


def _shown(
    redraw: Callable[..., tuple[Chart, str]], controls: Mapping[str, Slider | Choice]
) -> dict[str, Any]:
    """Return the output: the controls, and the sentence for a front end that has no controls."""
    import ipywidgets as widgets

    picture = widgets.HTML()

    def draw(**values: Any) -> str:
        chart, sentence = redraw(**values)
        words = html.escape(sentence)
        content = base64.b64encode(png(chart)).decode()
        style = f"width: {100 * WIDTH:.0f}px; max-width: 100%; background: white"
        picture.value = (
            f"<p><b>{words}</b></p>"
            f'<img alt="{words}" style="{style}" src="data:image/png;base64,{content}">'
        )
        return sentence

    # A slider redraws when it is let go, not at every step on its way.
    slider = partial(widgets.SelectionSlider, continuous_update=False)
    shown = {}
    for name, control in controls.items():
        words = described(name, control)
        widget = widgets.Dropdown if words["choice"] else slider
        shown[name] = widget(
            options=list(zip(words["values"], control.values, strict=True)),
            value=control.start,
            description=words["label"],
            style={"description_width": "initial"},
            layout={"width": "32em", "max_width": "100%"},
        )

    section = widgets.interactive(draw, **shown)
    bundle: dict[str, Any] = widgets.VBox([section, picture])._repr_mimebundle_()
    return bundle | {"text/plain": section.result}
