"""The live section that ends a notebook: a few controls that redraw a result.

For a reader `live` shows ipywidgets' `interactive` with a slider or drop-down for each control, the figure, and the
sentence with the number that changes. In ``ldpnb run`` it draws once at the starting values, so that the section is
executed with its notebook. The plain text of both is the sentence.
"""

import base64
import html
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ldpnb import writing
from ldpnb.notebook import environment, grids
from ldpnb.notebook.controls import Choice, Slider, label
from ldpnb.notebook.figures import WIDTH, Chart
from ldpnb.notebook.prose import short


def live(redraw: Callable[..., tuple[Chart, str]], **controls: Slider | Choice) -> None:
    """Show `redraw`'s chart and sentence for the values of some controls, and redraw when one changes.

    Parameters
    ----------
    redraw : callable
        Takes one keyword per control and returns a chart and the sentence with the number that changes.
    **controls : Slider or Choice
        By parameter name; they start at the source's setting.
    """
    from IPython.display import display

    for name, control in controls.items():
        if control.start not in control.values:
            raise ValueError(f"{name} must start inside its range, got {control}")
    if os.environ.get(environment.HEADLESS):
        _, sentence = redraw(**{name: control.start for name, control in controls.items()})
        display({"text/plain": sentence}, raw=True)
        if os.environ.get(environment.GRIDS):
            grid = grids.grid(redraw, controls).encode()
            writing.write(Path(os.environ[environment.FIGURES_FOLDER], grids.NAME), grid)
    else:
        display(_shown(redraw, controls), raw=True)


def _shown(redraw: Callable[..., tuple[Chart, str]], controls: Mapping[str, Slider | Choice]) -> dict[str, Any]:
    """Return what a front end shows: controls if it has them, and the sentence as plain text."""
    import ipywidgets as widgets

    picture = widgets.HTML()

    def draw(**values: Any) -> str:
        chart, sentence = redraw(**values)
        says, drawn = html.escape(sentence), base64.b64encode(chart.png()).decode()
        style = f"width: {100 * WIDTH:.0f}px; max-width: 100%; background: white"
        picture.value = f'<p><b>{says}</b></p><img alt="{says}" style="{style}" src="data:image/png;base64,{drawn}">'
        return sentence

    section = widgets.interactive(draw, **{name: _widget(name, control) for name, control in controls.items()})
    return widgets.VBox([section, picture])._repr_mimebundle_() | {"text/plain": section.result}


def _widget(name: str, control: Slider | Choice) -> Any:
    import ipywidgets as widgets

    layout = widgets.Layout(width="32em", max_width="100%")
    shape = {"description": label(name, control), "style": {"description_width": "initial"}, "layout": layout}
    if isinstance(control, Choice):
        return widgets.Dropdown(options=control.values, value=control.start, **shape)
    options = [(short(value, 4), value) for value in control.values]
    return widgets.SelectionSlider(options=options, value=control.start, continuous_update=False, **shape)
