"use strict";

// the words of a text as the index has them
function searchTerms(text) {
  const named = [...text.toLowerCase()].map((c) => (searchIndex.greek[c] ? ` ${searchIndex.greek[c]} ` : c)).join("");
  const plain = named.normalize("NFKD").replace(/\p{M}/gu, "");
  return (plain.match(/[a-z0-9]+(?:\.\d+)*/g) || []).map((word) => word.replaceAll("z", "s"));
}

// sections that hold all words, or else any, best first; three letters or more also stand for words that begin with them
function searchSections(text) {
  const wanted = [...new Set(searchTerms(text))];
  const found = new Map();
  for (const word of wanted) {
    const best = new Map();
    for (const [known, places] of Object.entries(searchIndex.words)) {
      if (known !== word && !(known.startsWith(word) && /^[a-z]{3}/.test(word))) continue;
      const share = known === word ? 1 : 0.5;
      for (let i = 0; i < places.length; i += 2) {
        best.set(places[i], Math.max(best.get(places[i]) || 0, share * places[i + 1]));
      }
    }
    for (const [section, score] of best) {
      const [words, sum] = found.get(section) || [0, 0];
      found.set(section, [words + 1, sum + score]);
    }
  }
  const ranked = [...found].sort(([, a], [, b]) => b[0] - a[0] || b[1] - a[1]);
  const whole = ranked.filter(([, [words]]) => words === wanted.length);
  return (whole.length ? whole : ranked).map(([section]) => searchIndex.sections[section]);
}

document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("search");
  const field = form.elements.q;
  const list = document.getElementById("results");
  const show = () => {
    const found = searchSections(field.value);
    list.replaceChildren(...found.slice(0, 50).map(([kind, address, title, excerpt]) => {
      const item = document.getElementById("result").content.cloneNode(true);
      item.querySelector("a").href = address;
      item.querySelector("a").textContent = title;
      item.querySelector(".kind").textContent = kind;
      item.querySelector(".excerpt").textContent = excerpt;
      return item;
    }));
    const count = `${found.length} found${found.length > 50 ? ", the best 50 shown" : ""}`;
    form.querySelector("output").textContent = field.value.trim() ? count : "";
  };
  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("input", show);
  form.addEventListener("submit", (event) => { event.preventDefault(); list.querySelector("a")?.focus(); });
  form.hidden = false;
  show();
  field.focus();
});
