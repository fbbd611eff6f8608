"use strict";
// Show the claims that the form asks for; the address keeps it: ledger.html?source=bun2022&status=fails
const form = document.getElementById("filter");
if (form) {
  const claims = [...document.querySelectorAll(".claim")];
  for (const select of form.querySelectorAll("select")) {
    const words = claims.flatMap((claim) => [...claim.classList]).filter((word) => word.startsWith(`${select.name}-`));
    const values = [...new Set(words)].map((word) => word.slice(select.name.length + 1));
    select.append(new Option("any", ""), ...values.map((value) => new Option(value.replaceAll("-", " "), value)));
  }
  for (const [name, value] of new URLSearchParams(location.search)) if (form.elements[name]) form.elements[name].value = value;
  form.hidden = false;
  form.oninput = () => {
    const { text, ...words } = Object.fromEntries(new FormData(form));
    for (const claim of claims) {
      const fits = Object.entries(words).every(([name, value]) => !value || claim.classList.contains(`${name}-${value}`));
      claim.parentElement.hidden = !fits || !claim.parentElement.textContent.toLowerCase().includes(text.toLowerCase());
    }
    const shown = claims.filter((claim) => !claim.parentElement.hidden);
    document.querySelectorAll("section:has(> section > .claim)").forEach((source) => {
      source.hidden = !shown.some((claim) => source.contains(claim));
    });
    form.querySelector("output").value = `${shown.length} of ${claims.length} claims`;
    const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value)).toString();
    history.replaceState(null, "", (asked ? `?${asked}` : location.pathname) + location.hash);
  };
  form.onsubmit = (event) => event.preventDefault();
  if (location.search) form.oninput();
}
