"use strict";
// Draw each chart when it comes near the screen, and let live sections follow their controls.

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

async function draw(host, spec) {
  const width = host.clientWidth;
  if (spec.facet) {
    spec.columns = Math.max(1, Math.min(spec.columns, Math.floor(width / 240)));
    spec.spec.width = Math.floor(width / spec.columns) - 62;
  } else spec.width = "container";
  spec.config.legend.columns = Math.max(1, Math.floor(width / 210));
  const actions = { export: true, source: false, compiled: false, editor: false };
  const { view } = await vegaEmbed(host, spec, { renderer: "svg", actions, logLevel: 1 });
  host.querySelector("summary").ariaLabel = "Save this chart";
  label(host, host.dataset.label);
  return view;
}

function label(host, text) {
  const svg = host.querySelector("svg.marks");
  svg.querySelectorAll("[role]").forEach((part) => part.removeAttribute("role"));
  Object.assign(svg, { role: "img", ariaLabel: text });
}

// a setting's rows: a list of one number is that number throughout, and half a spread lies on either side
function rows({ kinds, columns }, [, , , , curves]) {
  return curves.flatMap(([kind, ...places]) => {
    const { columns: fields, ...words } = kinds[kind], lists = places.map((place) => columns[place]);
    return Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, i) => {
      const row = { ...words };
      fields.forEach((field, j) => { row[field] = lists[j][lists[j].length === 1 ? 0 : i]; });
      return "half" in row ? { ...row, low: row.y - row.half, high: row.y + row.half } : row;
    });
  });
}

// a slider shows its value, and ticks where the others need not move
function control({ name, label, values, marks, choice, start }) {
  const id = `live-${name}`;
  const options = choice ? values.map((text, value) => ({ text, value, defaultSelected: value === start })) : marks.map((value) => ({ value }));
  const list = make(choice ? "select" : "datalist", { id: choice ? id : `${id}-ticks` }, ...options.map((o) => make("option", o)));
  const slider = { type: "range", id, max: values.length - 1, defaultValue: start };
  const parts = choice ? [list] : [make("input", slider), make("output", { defaultValue: values[start] }), list];
  if (!choice && marks.length < values.length) parts[0].setAttribute("list", list.id);
  return make("div", { className: "control" }, make("label", { htmlFor: id, textContent: label }), ...parts);
}

class Live {
  constructor(host) {
    const { specs, grid } = JSON.parse(host.querySelector("script").textContent), form = host.querySelector("form");
    Object.assign(this, { specs, grid, says: host.querySelector(".says"), view: host.querySelector(".view") });
    this.settings = new Map(grid.settings.map((setting) => [setting[0].join(), setting]));
    form.prepend(...grid.controls.map(control));
    this.inputs = [...form.querySelectorAll("input, select")];
    this.inputs.forEach((input, i) => input.addEventListener("input", () => this.move(i)));
    form.addEventListener("reset", () => setTimeout(() => this.move(0)));
    const asked = new URLSearchParams(location.search);
    grid.controls.forEach(({ name, values }, i) => {
      if (values.includes(asked.get(name))) this.inputs[i].value = values.indexOf(asked.get(name));
    });
    this.show(0);
  }

  move(i) {
    this.show(i);
    const address = new URLSearchParams(location.search);
    this.grid.controls.forEach(({ name, values }, j) => address.set(name, values[this.inputs[j].value]));
    history.replaceState(null, "", `?${address}${location.hash}`);
  }

  // the setting of the controls, where those not moved go to their nearest mark if they must
  show(moved) {
    const { controls, words } = this.grid;
    let place = this.inputs.map((input) => Number(input.value));
    const nearest = (marks, v) => marks.reduce((best, mark) => (Math.abs(mark - v) < Math.abs(best - v) ? mark : best));
    if (!this.settings.has(place.join())) place = place.map((v, i) => (i === moved ? v : nearest(controls[i].marks, v)));
    this.inputs.forEach((input, i) => {
      input.value = place[i];
      if (!controls[i].choice) input.nextSibling.value = input.ariaValueText = controls[i].values[place[i]];
    });
    this.wanted = this.settings.get(place.join());
    this.says.textContent = words[this.wanted[2]].map((word, i) => word + (this.wanted[3][i] ?? "")).join("");
    this.drawing ??= this.draw();
  }

  // of the settings asked for while one is drawn, only the last is drawn next
  async draw() {
    while (this.wanted) {
      const [setting, axes] = [this.wanted, this.wanted[1]];
      this.wanted = undefined;
      const spec = structuredClone(this.specs[axes]);
      spec.data.values = rows(this.grid, setting);
      if (this.axes === axes) {
        await this.chart.data("rows", spec.data.values).runAsync();
      } else {
        this.chart = await draw(this.view, spec);
        this.axes = axes;
      }
      label(this.view, this.says.textContent);
    }
    this.drawing = undefined;
  }
}

const near = new IntersectionObserver((seen) => {
  for (const { target } of seen.filter((entry) => entry.isIntersecting)) {
    near.unobserve(target);
    if (target.className === "live") target.live = new Live(target);
    else draw(target, JSON.parse(target.querySelector("script").textContent));
  }
}, { rootMargin: "500px" });
// what scrolls sideways can be reached and scrolled by keyboard
const wide = new ResizeObserver((seen) => {
  for (const { target } of seen) target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
});
document.querySelectorAll(".formula, .cell_output").forEach((part) => wide.observe(part));
document.querySelectorAll(".chart, .live").forEach((chart) => near.observe(chart));
