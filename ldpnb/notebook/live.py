"""The live section that ends a notebook: a few controls that redraw a result.

For a reader `live` shows sliders and drop-downs, the figure and the number that changes. In `ldpnb run` it draws once
at the starting values and shows the number, so that the section is executed with its notebook. The plain text of both
is the sentence with that number.

Only ipywidgets' own controls are used, and the figure is a picture within one of them rather than an output of the
kernel, since front ends differ in showing outputs of callbacks. JupyterLab, Notebook 7 and Binder (which is JupyterLab
from ``environment.yml``) show everything from the environment's own files; VS Code and Colab bring their own copies of
the same controls. Colab needs the package and its checkout installed first. A notebook opened without running it shows
the printed number. While a kernel computes, a front end holds back all but the latest value of a slider, so dragging
never queues redraws.
"""

import base64
import contextlib
import html
import io
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from matplotlib.transforms import Bbox

from ldpnb.notebook import environment
from ldpnb.notebook.ticks import numbers

_turn = threading.Lock()

_DOTS, _FINENESS = 100, 1.5
"""Dots per inch of a figure as shown, and the factor by which it is drawn finer for dense screens."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A number between two limits, with its unit; on a logarithmic scale `step` is that of the decimal exponent."""

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
        By parameter name; they start at the source's setting, to which *Reset* returns.
    """
    from IPython.display import display

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
        display(_Section(sentence))
    else:
        display(_shown(redraw, controls))


@dataclass(frozen=True, slots=True)
class _Section:
    """What `live` displays: controls if the front end has them, and the sentence as plain text."""

    sentence: str
    box: Any = None

    def __repr__(self) -> str:
        return self.sentence

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        controls = self.box._repr_mimebundle_(**options) if self.box else {}
        return {**controls, "text/plain": self.sentence}


def _shown(redraw: Callable[..., tuple[Figure, str]], controls: dict[str, Slider | Choice]) -> _Section:
    import ipywidgets as widgets

    inputs = {name: _widget(name, control) for name, control in controls.items()}
    sentence, picture = widgets.HTML(), widgets.HTML()
    sentence.add_class("ldpnb-number")
    picture.add_class("ldpnb-figure")
    reset = widgets.Button(description="Reset", tooltip="back to the source's setting")
    shown: dict[str, Any] = {}
    layout = _Layout()

    def update(_change: Any = None) -> None:
        with _alone():
            values = {name: _value(control, inputs[name].value) for name, control in controls.items()}
            if values == shown:
                return
            shown.update(values)
            try:
                figure, text = redraw(**values)
                picture.value, sentence.value = _picture(figure, text, layout), f"<b>{html.escape(text)}</b>"
            except Exception as error:  # which a front end would hide
                sentence.value = f"<b>{html.escape(f'{type(error).__name__}: {error}')}</b>"

    def start_again(_button: Any) -> None:
        for widget in inputs.values():
            widget.unobserve(update, names="value")
        for name, control in controls.items():
            inputs[name].value = control.start
        for widget in inputs.values():
            widget.observe(update, names="value")
        layout.boxes.clear()
        update()

    update()
    for widget in inputs.values():
        widget.observe(update, names="value")
    reset.on_click(start_again)
    text = html.unescape(sentence.value.removeprefix("<b>").removesuffix("</b>"))
    return _Section(text, widgets.VBox([*inputs.values(), reset, sentence, picture]))


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Allow one redraw at a time, and leave no figure open.

    JupyterLab handles slider moves and button clicks in different threads of the kernel; if pyplot were interactive,
    the notebook would show and close any open figure after each, even while another thread draws it.
    """
    with _turn, plt.ioff():
        before = plt.get_fignums()
        try:
            yield
        finally:
            for number in set(plt.get_fignums()) - set(before):
                plt.close(number)


@dataclass(slots=True)
class _Layout:
    """The positions of the axes of a section's figures, computed once: layout takes longer than drawing."""

    boxes: list[Bbox] = field(default_factory=list)
    room: list[float] = field(default_factory=list)

    def draw(self, figure: Figure) -> Any:
        """Return the canvas of the drawn figure, laid out again only if its labels have become longer."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas, engine = FigureCanvasAgg(figure), figure.get_layout_engine()
        if len(self.boxes) == len(figure.axes):
            figure.set_layout_engine("none")
            for axis, box in zip(figure.axes, self.boxes, strict=True):
                axis.set_position(box)
            canvas.draw()
            if all(now <= before + 1 for now, before in zip(_room(figure), self.room, strict=True)):
                return canvas
            for axis in figure.axes:
                axis.set_in_layout(True)
            figure.set_layout_engine(engine)
        canvas.draw()
        self.boxes, self.room = [axis.get_position() for axis in figure.axes], _room(figure)
        return canvas


def _room(figure: Figure) -> list[float]:
    """Return the distance of each axis title, which depends on the tick labels, in pixels."""
    stood = [(part.bbox, part.xaxis.label.get_position(), part.yaxis.label.get_position()) for part in figure.axes]
    return [abs(d) for box, below, beside in stood for d in (box.y0 - below[1], box.x0 - beside[0])]


def _picture(figure: Figure, text: str, layout: _Layout) -> str:
    """Return a figure as an element with its sentence as alternative text."""
    from PIL import Image

    figure.set_dpi(_FINENESS * _DOTS)
    numbers(figure)
    _thin_out(figure)
    content = io.BytesIO()
    Image.fromarray(np.asarray(layout.draw(figure).buffer_rgba())).save(content, "png", compress_level=1)
    width, source = figure.get_figwidth() * _DOTS, base64.b64encode(content.getvalue()).decode()
    style = f"width: {width:.0f}px; max-width: 100%; background: white"
    return f'<img alt="{html.escape(text)}" style="{style}" src="data:image/png;base64,{source}">'


def _thin_out(figure: Figure) -> None:
    """Drop minor ticks from axes with two or more powers of ten: each takes longer to draw than a curve."""
    for axis in (axis for part in figure.axes for axis in (part.xaxis, part.yaxis)):
        low, high = sorted(axis.get_view_interval())
        if axis.get_scale() == "log" and math.floor(math.log10(high)) > math.ceil(math.log10(low)):
            axis.set_minor_locator(NullLocator())


def _value(control: Slider | Choice, value: Any) -> Any:
    """Return a widget's value for redrawing: exactly the start, and whole if the control starts at a whole number.

    >>> people = Slider(1000, 1, 10_000, 0.1, log=True)
    >>> _value(people, 999.9999999999), _value(people, 1995.262), _value(Slider(0.5, 0.0, 1.0, 0.1), 0.25)
    (1000, 1995, 0.25)
    """
    if not isinstance(control, Slider):
        return value
    if math.isclose(value, control.start, rel_tol=1e-9, abs_tol=1e-12):
        return control.start
    return round(value) if isinstance(control.start, int) else value


def _ends(control: Slider) -> dict[str, float]:
    """Return the limits, moved inwards to whole steps from the start, as front ends round values to steps.

    >>> _ends(Slider(1.0, 0.5, 10.0, 0.25, log=True)), _ends(Slider(3, 0, 10, 2))
    ({'min': -0.25, 'max': 1.0}, {'min': 1, 'max': 9})
    """
    start, low, high = (math.log10(v) if control.log else v for v in (control.start, control.low, control.high))
    below, above = (math.floor(abs(end - start) / control.step + 1e-9) for end in (low, high))
    return {"min": round(start - below * control.step, 12), "max": round(start + above * control.step, 12)}


def positions(control: Slider | Choice) -> list[Any]:
    """Return all the values that a control can have.

    >>> positions(Slider(2, 0, 10, 4)), positions(Slider(1.0, 0.1, 10.0, 1.0, log=True)), positions(Choice("a", "ab"))
    ([2, 6, 10], [0.1, 1.0, 10.0], ['a', 'b'])
    """
    if isinstance(control, Choice):
        return list(control.among)
    low, high = _ends(control).values()
    exponents = [low + i * control.step for i in range(round((high - low) / control.step) + 1)]
    return [_value(control, round(10**at if control.log else at, 12)) for at in exponents]


def _widget(name: str, control: Slider | Choice) -> Any:
    import ipywidgets as widgets

    label = name.replace("_", " ") + (f" ({control.unit})" if control.unit else "")
    layout = widgets.Layout(width="32em", max_width="100%")
    shape = {"description": label, "style": {"description_width": "initial"}, "layout": layout}
    if isinstance(control, Choice):
        return widgets.Dropdown(options=list(control.among), value=control.start, **shape)
    shape |= {"value": control.start, "step": control.step} | _ends(control)
    if control.log:
        return widgets.FloatLogSlider(readout_format=".3r", **shape)
    if isinstance(control.start, int):
        return widgets.IntSlider(**shape)
    decimals = max(0, -math.floor(math.log10(control.step) + 1e-9))
    return widgets.FloatSlider(readout_format=f".{decimals}f", **shape)
