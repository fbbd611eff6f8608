"""The live section that ends a notebook: a few controls that redraw a result.

In JupyterLab `live` shows sliders and drop-downs, the figure and the number that changes. Without a browser (papermill, nbval) it draws once
at the starting values and prints the number, so the section is executed wherever the notebook is.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from ldpnb import environment


@dataclass(frozen=True, slots=True)
class Slider:
    """A number between two limits, on a linear or logarithmic scale, with its unit."""

    start: float
    low: float
    high: float
    step: float
    unit: str = ""
    log: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One out of a few values."""

    start: Any
    among: Sequence[Any]
    unit: str = ""


def live(redraw: Callable[..., tuple[Figure, str]], **controls: Slider | Choice) -> None:
    """Show `redraw`'s figure and sentence for the values of some controls, and redraw when one changes.

    Parameters
    ----------
    redraw : callable
        Takes one keyword per control and returns a figure and the sentence with the number that changes; under 0.2 s.
    **controls : Slider or Choice
        By parameter name; their starting values are the source's setting, which *Reset* returns to.
    """
    for name, control in controls.items():
        inside = (
            control.low <= control.start <= control.high
            if isinstance(control, Slider)
            else control.start in control.among
        )
        if not inside:
            raise ValueError(f"{name} must start inside its range, got {control}")
    if os.environ.get(environment.HEADLESS):
        figure, sentence = redraw(**{name: control.start for name, control in controls.items()})
        plt.close(figure)
        print(sentence)
        return
    _show(redraw, controls)


def _show(redraw: Callable[..., tuple[Figure, str]], controls: dict[str, Slider | Choice]) -> None:
    import ipywidgets as widgets
    from IPython.display import display

    inputs = {name: _widget(name, control) for name, control in controls.items()}
    sentence = widgets.HTML()
    sentence.add_class("ldpnb-number")
    reset = widgets.Button(description="Reset", tooltip="back to the source's setting")
    picture = widgets.Output()

    def update(_change: Any = None) -> None:
        figure, text = redraw(**{name: widget.value for name, widget in inputs.items()})
        with picture:
            picture.clear_output(wait=True)
            display(figure)
        plt.close(figure)
        sentence.value = f"<b>{text}</b>"

    def start_again(_button: Any) -> None:
        for name, control in controls.items():
            inputs[name].value = control.start

    for widget in inputs.values():
        widget.observe(update, names="value")
    reset.on_click(start_again)
    update()
    display(widgets.VBox([*inputs.values(), reset, sentence, picture]))


def _widget(name: str, control: Slider | Choice) -> Any:
    import math

    import ipywidgets as widgets

    label = name.replace("_", " ") + (f" ({control.unit})" if control.unit else "")
    shape = {"description": label, "style": {"description_width": "initial"}, "layout": widgets.Layout(width="32em")}
    if isinstance(control, Choice):
        return widgets.Dropdown(options=list(control.among), value=control.start, **shape)
    limits = {"value": control.start, "step": control.step, "continuous_update": False}
    if control.log:
        return widgets.FloatLogSlider(
            min=math.log10(control.low), max=math.log10(control.high), readout_format=".3g", **limits, **shape
        )
    kind = widgets.IntSlider if isinstance(control.start, int) else widgets.FloatSlider
    return kind(min=control.low, max=control.high, **limits, **shape)
