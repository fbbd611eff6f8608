"use strict";
// Show the claims that the form asks for; the address keeps it: ledger.html?source=bun2022&status=fails
const form = document.getElementById("filter");

// A claim has its words as classes, such as source-bun2022 and status-fails.
function fill(select, claims) {
  const begin = `${select.name}-`;
  const words = claims.flatMap((claim) => [...claim.classList]).filter((word) => word.startsWith(begin));
  select.append(new Option("any", ""));
  for (const word of new Set(words)) {
    const value = word.slice(begin.length);
    select.append(new Option(value.replaceAll("-", " "), value));
  }
}

function choose(claims) {
  const { text, ...words } = Object.fromEntries(new FormData(form));
  const wanted = text.toLowerCase();
  let count = 0;
  for (const claim of claims) {
    const section = claim.parentElement;
    const fits = Object.entries(words).every(([name, value]) => !value || claim.classList.contains(`${name}-${value}`));
    section.hidden = !fits || !section.textContent.toLowerCase().includes(wanted);
    count += section.hidden ? 0 : 1;
  }
  for (const source of document.querySelectorAll("section:has(> section > .claim)")) {
    source.hidden = !source.querySelector(":scope > section:not([hidden]) > .claim");
  }
  form.querySelector("output").value = `${count} of ${claims.length} claims`;
}

function keepInAddress() {
  const given = [...new FormData(form)].filter(([, value]) => value);
  const asked = new URLSearchParams(given).toString();
  history.replaceState(null, "", (asked ? `?${asked}` : location.pathname) + location.hash);
}

if (form) {
  const claims = [...document.querySelectorAll(".claim")];
  for (const select of form.querySelectorAll("select")) fill(select, claims);
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (form.elements[name]) form.elements[name].value = value;
  }
  form.hidden = false;
  form.oninput = () => {
    choose(claims);
    keepInAddress();
  };
  form.onsubmit = (event) => event.preventDefault();
  if (location.search) choose(claims);
}
