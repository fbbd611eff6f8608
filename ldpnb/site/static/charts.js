"use strict";

// Charts of `ldpnb.site.charts`: a view per panel, one legend of buttons, and the values under the pointer or the arrow keys.

const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  const made = name === "svg" || name === "line" || name === "circle" || name === "rect"
    ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function swatch(series) {
  const dots = series.mark === "points";
  const inside = dots
    ? element("circle", { cx: 12, cy: 5, r: 4 })
    : series.mark === "line"
      ? element("line", { x1: 0, y1: 5, x2: 24, y2: 5, "stroke-width": 2, "stroke-dasharray": series.dash.join(" ") })
      : element("rect", { x: 2, y: 0, width: 20, height: 10, opacity: series.mark === "band" ? 0.3 : 0.85 });
  const picture = element("svg", { width: 24, height: 10, "aria-hidden": "true" }, inside);
  picture.style.color = series.colour;
  inside.style.stroke = inside.style.fill = "currentColor";
  return picture;
}

// a name that has both a line and points is one entry, which the line stands for
function namesOf(panels) {
  const found = new Map();
  for (const panel of panels) {
    for (const series of panel.series) {
      if (series.name && !found.has(series.name)) found.set(series.name, series);
    }
  }
  return found;
}

// as `ldpnb.notebook.prose.short` writes numbers, with four digits
const [whole, plain, tiny] = [{ maximumFractionDigits: 0 }, { maximumSignificantDigits: 4 }, { maximumSignificantDigits: 4, notation: "scientific" }]
  .map((digits) => new Intl.NumberFormat("en", digits));
const shortly = (value) => {
  if (typeof value !== "number") return value ?? "–";
  const size = Math.abs(value);
  if (size && (size < 1e-4 || size >= 1e9)) return tiny.format(value).toLowerCase();
  return (size < 1000 ? plain : whole).format(value);
};

const ranging = (values) => `${values.length} values, ${shortly(Math.min(...values))} to ${shortly(Math.max(...values))}`;

function rowsOf(series) {
  const { x, y, low, high, aside, ...look } = series;
  return x.map((at, i) => ({ ...look, x: at, y: y[i], low: low?.[i], high: high?.[i], aside: aside?.[i] }));
}

const areWhole = (values) => values.every((value) => value === null || Number.isInteger(value)) && Math.max(...values) - Math.min(...values) > 1;

// how values become pixels; a category is at its middle
function axesOf(view) {
  return ["x", "y"].map((axis) => view.scale(axis)).map((scale) => (value) => scale(value) + (scale.bandwidth ? scale.bandwidth() / 2 : 0));
}

// pixels that curves and points cover
function covered(view, rows) {
  const [across, up] = axesOf(view);
  const category = view.scale("x").bandwidth ? view.scale("xOffset") : null;
  const beside = (row) => (category ? category(row.aside) + (category.bandwidth() - view.scale("x").bandwidth()) / 2 : 0);
  const found = [];
  let last = null;
  for (const row of rows) {
    const at = row.y === null ? null : [across(row.x) + beside(row), up(row.y)];
    const joined = at && last && row.mark === "line" && last.row.name === row.name && last.row.mark === "line";
    const steps = joined ? Math.min(200, Math.ceil(Math.hypot(at[0] - last.at[0], at[1] - last.at[1]) / 3)) : 1;
    for (let i = 1; at && i <= steps; i++) {
      found.push(joined ? [0, 1].map((k) => last.at[k] + ((at[k] - last.at[k]) * i) / steps) : at);
    }
    if (at && row.mark === "points") found.push(...[-4, 4].flatMap((by) => [[at[0] + by, at[1]], [at[0], at[1] + by]]));
    last = at && { row, at };
  }
  return found;
}

const AROUND = [["center", 0, -11], ["center", 0, 13], ["left", 8, 0], ["right", -8, 0], ["left", 6, -9], ["right", -6, -9], ["left", 6, 11], ["right", -6, 11],
  ["center", 0, -24], ["left", 0, -24], ["right", 0, -24], ["center", 0, 26]];
const pen = document.createElement("canvas").getContext("2d");
pen.font = "11px system-ui, sans-serif";

// every label goes where it covers least, around its point or along its rule; the place that its figure asks for is the first choice
function settled(view, rows, marks) {
  const [width, height] = [view.width(), view.height()];
  const [across, up] = axesOf(view);
  const curves = covered(view, rows);
  const taken = marks.filter((mark) => mark.x !== null && mark.y !== null).map((mark) => [across(mark.x) - 4, up(mark.y) - 4, across(mark.x) + 4, up(mark.y) + 4]);
  const along = Array.from({ length: 19 }, (_, i) => i / 20);
  return marks.map((mark) => {
    if (!mark.label) return mark;
    const own = [mark.align, mark.dx, mark.dy];
    const places = mark.y === null ? [own, ...along.flatMap((by) => [["left", 4, 8 + by * height], ["right", -4, 8 + by * height]])]
      : mark.x === null ? [own, ...along.flatMap((by) => [["right", -by * width, -8], ["right", -by * width, 9]])] : [own, ...AROUND];
    const [x, y] = [mark.x === null ? width : across(mark.x), mark.y === null ? 0 : up(mark.y)];
    let best = null;
    places.forEach(([align, dx, dy], rank) => {
      const wide = pen.measureText(mark.label).width, left = x + dx - wide * { left: 0, center: 0.5, right: 1 }[align];
      const box = [left, y + dy - 7, left + wide, y + dy + 7];
      const hidden = curves.filter(([a, b]) => a > box[0] - 2 && a < box[2] + 2 && b > box[1] - 1 && b < box[3] + 1).length;
      const shared = taken.reduce((sum, other) => sum + Math.max(0, Math.min(box[2], other[2]) - Math.max(box[0], other[0])) * Math.max(0, Math.min(box[3], other[3]) - Math.max(box[1], other[1])), 0);
      const out = Math.max(0, -box[0], -box[1] - 4, box[2] - width - 4, box[3] - height);
      const cost = 3 * hidden + (400 * shared) / (14 * wide) + (out && 150 + out) + rank / 3;
      if (!best || cost < best.cost) best = { cost, box, align, dx, dy };
    });
    taken.push(best.box);
    // entries leave out the symbol by which Vega knows a row that it has seen
    return { ...Object.fromEntries(Object.entries(mark)), align: best.align, dx: best.dx, dy: best.dy };
  });
}

class Panel {
  constructor(chart, host) {
    this.chart = chart;
    this.title = element("p", { class: "panel-title" });
    this.view = element("div", { class: "view" });
    this.readout = element("div", { class: "readout", role: "status", hidden: "" });
    this.frame = element("div", { class: "frame", tabindex: "0", role: "application", "aria-roledescription": "chart" }, this.view, this.readout);
    this.host = element("div", { class: "panel" }, this.title, this.frame);
    this.view.setAttribute("aria-hidden", "true");
    host.append(this.host);
    this.frame.addEventListener("pointermove", (event) => this.point(event));
    this.frame.addEventListener("pointerdown", (event) => this.point(event));
    this.frame.addEventListener("pointerleave", () => this.leave());
    this.frame.addEventListener("blur", () => this.leave());
    this.frame.addEventListener("keydown", (event) => this.key(event));
  }

  async show(panel, series, domain, marks) {
    this.series = series;
    this.title.textContent = panel.title;
    this.title.hidden = !panel.title;
    const axes = [this.chart.y, this.chart.x].filter(Boolean).join(" against ");
    const label = [panel.title, axes].filter(Boolean).join(": ");
    this.frame.setAttribute("aria-label", `${label}. The arrow keys read the values.`);
    const rows = series.flatMap(rowsOf);
    this.places = [...new Set(rows.filter((row) => row.y !== null).map((row) => row.x))];
    // series stand side by side where they share places
    const names = rows.length > this.places.length ? [...new Set(rows.map((row) => row.name))] : [];
    for (const row of rows) row.aside ??= names.indexOf(row.name);
    if (typeof this.places[0] === "number") this.places.sort((a, b) => a - b);
    this.hush();
    const signals = { ...domain, wholeX: areWhole(rows.map((row) => row.x)), wholeY: areWhole(rows.map((row) => row.y)) };
    // between clouds of points there is room for the labels of rules
    signals.apart = series.some((one) => one.aside) ? 0.5 : 0.25;
    if (!this.drawn) {
      this.drawn = this.draw(rows, signals, marks);
      await this.drawn;
    } else {
      const { view } = await this.drawn;
      for (const [name, value] of Object.entries(signals)) view.signal(name, value);
      // labels of other numbers may need more room
      await view.resize().data("rows", rows).data("marks", marks).data("cursor", []).runAsync();
    }
    if (!marks.some((mark) => mark.label)) return;
    const { view } = await this.drawn;
    if (!this.chart.flip) await view.data("marks", settled(view, rows, marks)).runAsync();
  }

  draw(rows, signals, marks) {
    const params = Object.entries(signals).map(([name, value]) => ({ name, value }));
    const spec = { ...structuredClone(SPECIFICATIONS[this.chart.kind]), params, datasets: { rows, marks, cursor: [] } };
    const quiet = { actions: false, tooltip: false, logLevel: 1 };
    return vegaEmbed(this.view, spec, { ...quiet, renderer: "svg", ast: true, mode: "vega-lite" });
  }

  async pixels() {
    const { view } = await this.drawn;
    const scale = view.scale(this.chart.flip ? "y" : "x");
    const [left, top] = view.origin();
    const half = scale.bandwidth ? scale.bandwidth() / 2 : 0;
    return this.places.map((place) => scale(place) + half + (this.chart.flip ? top : left));
  }

  async point(event) {
    if (!this.drawn || !this.places.length) return;
    const box = this.view.getBoundingClientRect();
    const at = this.chart.flip ? event.clientY - box.top : event.clientX - box.left;
    const gaps = (await this.pixels()).map((pixel) => Math.abs(pixel - at));
    this.read(gaps.indexOf(Math.min(...gaps)));
  }

  key(event) {
    const last = this.places.length - 1;
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    const to = { Home: 0, End: last }[event.key]
      ?? (step && (this.at === undefined ? (step > 0 ? 0 : last) : Math.max(0, Math.min(last, this.at + step))));
    if (event.key === "Escape") this.leave();
    if (to === undefined) return;
    event.preventDefault();
    this.read(to);
  }

  async read(at) {
    if (at === this.at) return;
    this.at = at;
    const x = this.places[at];
    const lines = [], cursor = [];
    for (const series of this.series) {
      if (series.aside) {
        const values = series.y.filter((_, i) => series.x[i] === x);
        if (values.length) lines.push(element("li", {}, swatch(series), ` ${series.name} ${ranging(values)}`));
        continue;
      }
      series.x.forEach((place, i) => {
        if (place !== x || series.y[i] === null) return;
        const spread = series.low ? ` (${shortly(series.low[i])} to ${shortly(series.high[i])})` : "";
        lines.push(element("li", {}, swatch(series), ` ${series.name} ${shortly(series.y[i])}${spread}`));
        cursor.push({ x, y: series.y[i], colour: series.colour });
      });
    }
    const unit = this.chart.x ? `${this.chart.x}: ` : "";
    this.readout.replaceChildren(element("p", {}, `${unit}${shortly(x)}`), element("ul", {}, ...lines));
    const { view } = await this.drawn;
    await view.data("cursor", cursor).runAsync();
    if (this.at !== at) return;
    this.readout.hidden = false;
    const pixel = this.chart.flip ? this.frame.clientWidth / 2 : (await this.pixels())[at];
    const right = pixel > this.frame.clientWidth / 2;
    this.readout.style.left = right ? "" : `${pixel + 12}px`;
    this.readout.style.right = right ? `${this.frame.clientWidth - pixel + 12}px` : "";
  }

  hush() {
    this.at = undefined;
    this.readout.hidden = true;
  }

  async leave() {
    this.hush();
    if (this.drawn) (await this.drawn).view.data("cursor", []).runAsync();
  }
}

class Chart {
  constructor(chart) {
    this.chart = chart;
    this.hidden = new Set();
    this.panels = [];
    this.title = element("p", { class: "chart-title" });
    this.setting = element("p", { class: "chart-setting" });
    this.value = element("p", { class: "axis-name" }, chart.flip ? chart.x : chart.y);
    this.grid = element("div", { class: "panels" });
    this.grid.style.setProperty("--columns", chart.columns);
    this.along = element("p", { class: "axis-name along" }, chart.flip ? chart.y : chart.x);
    this.legend = element("ul", { class: "legend", "aria-label": "Series" });
    this.host = element("div", { class: "chart-box" }, this.title, this.setting, this.value, this.grid, this.along, this.legend);
  }

  async show({ title = "", setting = "", panels }) {
    this.title.textContent = title;
    this.setting.textContent = setting;
    this.title.hidden = !title;
    this.setting.hidden = !setting;
    this.shown = panels;
    this.name(namesOf(panels));
    this.grid.classList.toggle("single", panels.length === 1);
    while (this.panels.length < panels.length) this.panels.push(new Panel(this.chart, this.grid));
    this.panels.forEach((panel, i) => { panel.host.hidden = i >= panels.length; });
    await this.draw();
  }

  async draw() {
    const visible = this.shown.map((panel) => panel.series.filter((series) => !this.hidden.has(series.name)));
    const domain = this.domain(visible);
    await Promise.all(this.shown.map((panel, i) => this.panels[i].show(panel, visible[i], domain, panel.marks ?? [])));
  }

  // panels that share their values' axis show all of it
  domain(visible) {
    if (!this.chart.shared || visible.length < 2) return { least: null, most: null };
    const values = visible.flat().flatMap((series) => [series.y, series.low ?? [], series.high ?? []].flat())
      .filter((value) => typeof value === "number" && (this.chart.log ? value > 0 : true));
    return values.length ? { least: Math.min(...values), most: Math.max(...values) } : { least: null, most: null };
  }

  name(names) {
    const known = [...names].map(([name, series]) => `${name} ${series.colour}`).join("\n");
    if (known === this.known) return;
    this.known = known;
    this.legend.hidden = !names.size;
    this.legend.replaceChildren(...[...names].map(([name, series]) => {
      const button = element("button", { type: "button", "aria-pressed": String(!this.hidden.has(name)) }, swatch(series), ` ${name}`);
      button.addEventListener("click", () => {
        if (!this.hidden.delete(name)) this.hidden.add(name);
        button.setAttribute("aria-pressed", String(!this.hidden.has(name)));
        this.draw();
      });
      return element("li", {}, button);
    }));
  }
}

async function replacePicture(figure, chart) {
  const made = new Chart(chart);
  const picture = figure.querySelector("a");
  figure.prepend(made.host);
  try {
    await made.show(chart);
    picture.hidden = true;
  } catch (error) {
    made.host.remove();
    throw error;
  }
}

// figures are drawn when they come near
function drawFigures(charts) {
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      replacePicture(target, charts[target.id]);
    }
  }, { rootMargin: "600px" });
  for (const id of Object.keys(charts)) near.observe(document.getElementById(id));
}

document.addEventListener("DOMContentLoaded", () => {
  if (window.vegaEmbed && window.FIGURES) drawFigures(window.FIGURES);
});
