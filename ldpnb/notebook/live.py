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

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from ldpnb import writing
from ldpnb.notebook import environment, grids
from ldpnb.notebook.controls import Choice, Slider, label
from ldpnb.notebook.figures import png
from ldpnb.notebook.prose import short


def live(redraw: Callable[..., tuple[Figure, str]], **controls: Slider | Choice) -> None:
    """Show `redraw`'s figure and sentence for the values of some controls, and redraw when one changes.

    Parameters
    ----------
    redraw : callable
        Takes one keyword per control and returns a figure and the sentence with the number that changes.
    **controls : Slider or Choice
        By parameter name; they start at the source's setting.
    """
    from IPython.display import display

    for name, control in controls.items():
        if control.start not in control.values:
            raise ValueError(f"{name} must start inside its range, got {control}")
    if os.environ.get(environment.HEADLESS):
        figure, sentence = redraw(**{name: control.start for name, control in controls.items()})
        plt.close(figure)
        display({"text/plain": sentence}, raw=True)
        if os.environ.get(environment.GRIDS):
            grid = grids.grid(redraw, controls).encode()
            writing.write(Path(os.environ[environment.FIGURES_FOLDER], grids.NAME), grid)
    else:
        display(_shown(redraw, controls), raw=True)


def _shown(redraw: Callable[..., tuple[Figure, str]], controls: Mapping[str, Slider | Choice]) -> dict[str, Any]:
    """Return what a front end shows: controls if it has them, and the sentence as plain text."""
    import ipywidgets as widgets

    picture = widgets.HTML()

    def draw(**values: Any) -> str:
        with plt.ioff():
            figure, sentence = redraw(**values)
            says, drawn = html.escape(sentence), base64.b64encode(png(figure)).decode()
            wide = f"width: {100 * figure.get_figwidth():.0f}px; max-width: 100%; background: white"
            image = f'<img alt="{says}" style="{wide}" src="data:image/png;base64,{drawn}">'
            picture.value = f"<p><b>{says}</b></p>{image}"
            plt.close(figure)
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
