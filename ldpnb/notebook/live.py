"""The live section that ends a notebook: a few controls that redraw a result.

For a reader `live` shows ipywidgets' `interactive` with a slider or drop-down for each control, the figure, and the
sentence with the number that changes. In ``ldpnb run`` it draws once at the starting values, so that the section is
executed with its notebook. The plain text of both is the sentence.
"""

import base64
import html
import io
import os
from collections.abc import Callable, Mapping
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from ldpnb.notebook import environment, grids
from ldpnb.notebook.controls import Choice, Slider, label
from ldpnb.notebook.prose import short
from ldpnb.notebook.ticks import numbers


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
            grids.write(redraw, controls)
    else:
        display(_shown(redraw, controls), raw=True)


def _shown(redraw: Callable[..., tuple[Figure, str]], controls: Mapping[str, Slider | Choice]) -> dict[str, Any]:
    """Return what a front end shows: controls if it has them, and the sentence as plain text."""
    import ipywidgets as widgets

    picture = widgets.HTML()

    def draw(**values: Any) -> str:
        with plt.ioff():
            figure, sentence = redraw(**values)
            picture.value = f"<p><b>{html.escape(sentence)}</b></p>{_image(figure, sentence)}"
            plt.close(figure)
        return sentence

    section = widgets.interactive(draw, **{name: _widget(name, control) for name, control in controls.items()})
    return widgets.VBox([section, picture])._repr_mimebundle_() | {"text/plain": section.result}


def _image(figure: Figure, text: str) -> str:
    """Return a figure as an element with its sentence as alternative text."""
    content = io.BytesIO()
    numbers(figure)
    figure.savefig(content, format="png", dpi=150)
    source, width = base64.b64encode(content.getvalue()).decode(), round(100 * figure.get_figwidth())
    style = f"width: {width}px; max-width: 100%; background: white"
    return f'<img alt="{html.escape(text)}" style="{style}" src="data:image/png;base64,{source}">'


def _widget(name: str, control: Slider | Choice) -> Any:
    import ipywidgets as widgets

    layout = widgets.Layout(width="32em", max_width="100%")
    shape = {"description": label(name, control), "style": {"description_width": "initial"}, "layout": layout}
    if isinstance(control, Choice):
        return widgets.Dropdown(options=control.values, value=control.start, **shape)
    options = [(short(value, 4), value) for value in control.values]
    return widgets.SelectionSlider(options=options, value=control.start, continuous_update=False, **shape)
