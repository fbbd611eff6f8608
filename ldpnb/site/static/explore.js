"use strict";

// A live section: controls pick one of the settings that were computed when the site was built.

class Explore {
  constructor(host, grid) {
    this.grid = grid;
    this.at = grid.controls.map((control) => control.start);
    this.says = element("p", { class: "says", role: "status" });
    this.chart = element("div");
    const reset = element("button", { type: "button" }, "Reset");
    reset.addEventListener("click", () => this.reset());
    this.inputs = grid.controls.map((control, i) => this.input(control, i));
    const fields = this.inputs.map(({ field }) => field);
    const form = element("form", { class: "controls", autocomplete: "off" }, ...fields, reset);
    form.addEventListener("submit", (event) => event.preventDefault());
    host.replaceChildren(form, this.says, this.chart);
    this.show();
  }

  input(control, i) {
    const id = `explore-${control.name}`;
    const label = element("label", { for: id }, control.label + (control.unit ? ` (${control.unit})` : ""));
    const choice = control.kind === "choice";
    const input = choice
      ? element("select", { id }, ...control.values.map((value, at) => element("option", { value: at }, value)))
      : element("input", { id, type: "range", min: 0, max: control.values.length - 1, step: 1 });
    const value = element("output", { for: id });
    input.addEventListener("input", () => { this.at[i] = Number(input.value); this.show(); });
    return { input, value, choice, field: element("div", {}, label, input, ...(choice ? [] : [value])) };
  }

  reset() {
    this.at = this.grid.controls.map((control) => control.start);
    this.show();
  }

  show() {
    let setting = 0;
    this.grid.controls.forEach((control, i) => {
      const { input, value, choice } = this.inputs[i];
      const text = control.values[this.at[i]];
      setting = setting * control.values.length + this.at[i];
      input.value = this.at[i];
      value.textContent = text;
      if (!choice) input.setAttribute("aria-valuetext", `${text} ${control.unit}`.trim());
    });
    const { says, panels, ...about } = this.grid.settings[setting];
    this.says.textContent = says;
    this.chart.hidden = !panels;
    if (panels) this.wanted = { ...about, panels: panels.map((panel) => this.panel(panel)) };
    if (panels && !this.drawing) this.drawing = this.draw();
  }

  panel({ series, ...about }) {
    const { looks, columns } = this.grid;
    const full = ({ look, ...places }) =>
      ({ ...looks[look], ...Object.fromEntries(Object.entries(places).map(([name, place]) => [name, columns[place]])) });
    return { ...about, series: series.map(full) };
  }

  // one setting is drawn at a time, and of those asked for meanwhile the last
  async draw() {
    while (this.wanted) {
      const { wanted } = this;
      this.wanted = undefined;
      if (this.drawn?.axes !== wanted.axes) {
        this.drawn = { axes: wanted.axes, chart: new Chart(this.grid.axes[wanted.axes]) };
        this.chart.replaceChildren(this.drawn.chart.host);
      }
      await this.drawn.chart.show(wanted);
    }
    this.drawing = undefined;
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const host = document.getElementById("live-section");
  if (host && window.EXPLORE && window.vegaEmbed) new Explore(host, window.EXPLORE);
});
