"use strict";

const root = document.documentElement;
const dark = window.matchMedia("(prefers-color-scheme: dark)");

function stored(value) {
  // a page opened from disk may have no storage
  try {
    if (value === undefined) return localStorage.getItem("theme");
    if (value) localStorage.setItem("theme", value);
    else localStorage.removeItem("theme");
  } catch {
    return null;
  }
  return value;
}

function wear(theme) {
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
}

wear(stored());

function prepareTheme(button) {
  const system = () => (dark.matches ? "dark" : "light");
  const shown = () => root.dataset.theme || system();
  const label = () => { button.textContent = shown() === "dark" ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    const next = shown() === "dark" ? "light" : "dark";
    wear(next === system() ? "" : next);
    stored(next === system() ? "" : next);
    label();
  });
  dark.addEventListener("change", label);
  label();
  button.hidden = false;
}

function prepareFilter(form) {
  const claims = [...document.querySelectorAll(".ledger > li")];
  const { source, status, reach, kind, text } = form.elements;

  function show() {
    const wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    claims.forEach((claim) => {
      claim.hidden = !(
        (!source.value || claim.dataset.source === source.value)
        && (!status.value || claim.dataset.status === status.value)
        && (!reach.value || claim.dataset.reach === reach.value)
        && (!kind.value || claim.dataset.kind === kind.value)
        && wanted.every((word) => claim.dataset.text.includes(word))
      );
      count += !claim.hidden;
    });
    form.querySelector("output").textContent = `${count} of ${claims.length} claims`;
  }

  function remember() {
    const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    try {
      history.replaceState(null, "", `#${chosen.size ? chosen : "verdicts"}`);
    } catch {
      // some browsers keep the address of a page opened from disk as it is
    }
  }

  function choose(values) {
    for (const field of [source, status, reach, kind, text]) field.value = values.get(field.name) || "";
    show();
  }

  form.addEventListener("input", () => { show(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { show(); remember(); }));
  for (const link of document.querySelectorAll("a[data-filter]")) {
    link.addEventListener("click", () => {
      choose(new URLSearchParams(link.dataset.filter));
      setTimeout(remember);
    });
  }
  const asked = location.hash.includes("=");
  choose(new URLSearchParams(asked ? location.hash.slice(1) : ""));
  form.hidden = false;
  if (asked) form.scrollIntoView();
}

function prepareSearch(form) {
  form.hidden = false;
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    form.elements.q.focus();
  });
}

// what scrolls in a box of its own is reached by keyboard
function reachWide() {
  for (const box of document.querySelectorAll(".scroll, pre, .formula, math.long, .kept")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
}

document.addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form.find")) prepareSearch(form);
  prepareTheme(document.getElementById("theme"));
  for (const form of document.querySelectorAll("form.filter")) prepareFilter(form);
  reachWide();
  document.addEventListener("toggle", reachWide, true);
});

addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll(".ledger details:not([open])")) {
    details.open = true;
    details.dataset.opened = "";
  }
});
addEventListener("afterprint", () => {
  for (const details of document.querySelectorAll("details[data-opened]")) {
    details.open = false;
    delete details.dataset.opened;
  }
});
