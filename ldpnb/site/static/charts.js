"use strict";
// Draw each chart when it comes near the screen, and let the pointer read all its curves at one place.

const number = (v) => (typeof v === "number" ? String(Number(v.toPrecision(4))) : v);

function reading({ x, all }) {
  const rows = all.map((r) => [r.series, number(r.y) + (r.low == null ? "" : ` (${number(r.low)} to ${number(r.high)})`)]);
  return [[number(x), ""], ...rows];
}

const box = document.body.appendChild(document.createElement("table"));
box.className = "reading";
box.hidden = true;

function tooltip(_, event, __, value) {
  box.hidden = !value?.all;
  if (box.hidden) return;
  box.replaceChildren(...reading(value).map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    return row;
  }));
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.min(event.clientX + 14, innerWidth - width - 8)}px`;
  box.style.top = `${Math.max(8, Math.min(event.clientY + 14, innerHeight - height - 8))}px`;
}

async function draw(host, spec) {
  const width = host.clientWidth;
  if (spec.facet) {
    spec.columns = Math.max(1, Math.min(spec.columns, Math.floor(width / 240)));
    spec.spec.width = Math.floor(width / spec.columns) - 62;
  }
  const names = new Set();
  spec.config.legend.columns = Math.max(1, Math.floor(width / 210));
  const actions = { export: true, source: false, compiled: false, editor: false };
  const { view } = await vegaEmbed(host, spec, { renderer: "svg", actions, tooltip });
  host.querySelector("summary").ariaLabel = "Save this chart";
  const svg = host.querySelector("svg.marks");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", host.dataset.label);
  return view;
}

const near = new IntersectionObserver((seen) => {
  for (const { target } of seen.filter((entry) => entry.isIntersecting)) {
    near.unobserve(target);
    draw(target, JSON.parse(target.querySelector("script").textContent));
  }
}, { rootMargin: "500px" });
document.querySelectorAll(".chart").forEach((chart) => near.observe(chart));
