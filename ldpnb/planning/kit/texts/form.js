"use strict";
// The plan, as `ldpnb kit` wrote it. A chance is [numerator, denominator].
const plan = JSON.parse(document.getElementById("plan").textContent);

// ---- chance: whole numbers of the browser's cryptographic source, and nothing else ----

// A whole number 0, 1, ..., n - 1, each equally likely, for n up to 2^53. Numbers beyond the last whole multiple of n are
// drawn anew, since a remainder of them would favour the small ones.
function below(n) {
  const words = new Uint32Array(2);
  const most = 2 ** 53;
  let number;
  do {
    crypto.getRandomValues(words);
    number = (words[0] >>> 11) * 2 ** 32 + words[1];
  } while (number >= most - (most % n));
  return number % n;
}

function happens(chance) {
  return below(chance[1]) < chance[0];
}

// True with probability exp(-n/d), n <= d: Canonne, Kamath and Steinke (2020), Algorithm 1.
function decays(n, d) {
  let k = 1;
  while (below(d * k) < n) k += 1;
  return k % 2 === 1;
}

// A whole number x with probability proportional to exp(-|x| s/t): their Algorithm 2.
function noise(s, t) {
  for (;;) {
    const first = below(t);
    if (!decays(first, t)) continue;
    let more = 0;
    while (decays(1, 1)) more += 1;
    const size = Math.floor((first + t * more) / s);
    const negative = below(2) === 1;
    if (!(negative && size === 0)) return negative ? -size : size;
  }
}

// ---- from a true answer to a report ----

const steps = (number) => Math.round(((number - plan.low) / (plan.high - plan.low)) * plan.steps);

// `answer` is the place of the answer among `plan.answers`, or a number.
const reports = {
  binary: (answer) => Number(happens(answer === 0 ? plan.p : plan.q)),
  labels: (answer) => plan.answers[happens(plan.kept) ? answer : below(plan.answers.length)],
  bits: (answer) => plan.answers.map((_, i) => Number(happens(i === answer ? plan.p : plan.q))).join(""),
  number: (answer) => Number(happens(below(plan.steps) < steps(answer) ? plan.p : plan.q)),
  Laplace: (answer) =>
    plan.low + ((steps(answer) + noise(plan.scale[0], plan.scale[1])) * (plan.high - plan.low)) / plan.steps,
};

// ---- what is kept: reports in random order, and how many people declined; never an answer ----

const key = "ldpnb " + plan.sha256;
let kept = { rows: [], declined: 0 };
let unit = {};
let saved = false;

function restore() {
  try {
    kept = JSON.parse(localStorage.getItem(key)) || kept;
  } catch {
    // no storage here: the reports last as long as the page
  }
}

function store() {
  saved = false;
  try {
    localStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // as above
  }
}

function receipt() {
  const words = crypto.getRandomValues(new Uint8Array(6));
  return "r" + Array.from(words, (word) => word.toString(16).padStart(2, "0")).join("");
}

function csv() {
  const cell = (entry) => (/[",\r\n]/.test(entry) ? '"' + String(entry).replaceAll('"', '""') + '"' : String(entry));
  const lines = [plan.columns, ...kept.rows.map((row) => plan.columns.map((name) => row[name]))];
  return lines.map((line) => line.map(cell).join(",") + "\r\n").join("");
}

// ---- screens: each is made anew from its template, so that nothing of the one before is left in the page ----

const main = document.querySelector("main");
const part = (id) => main.querySelector("#" + id);

function show(name) {
  main.replaceChildren(document.getElementById("screen-" + name).content.cloneNode(true));
  screens[name]();
  main.querySelector("h1").focus();
}

function complain(text) {
  part("problem").textContent = "";
  part("problem").textContent = text;
}

function field(name, values) {
  const label = document.createElement("label");
  const input = document.createElement(values ? "select" : "input");
  label.append(name + " ", input);
  input.dataset.column = name;
  input.autocomplete = "off";
  for (const value of values ? ["", ...values] : []) input.add(new Option(value, value));
  if (name === "cluster_size") input.inputMode = "numeric";
  return label;
}

const screens = {
  ready() {
    part("count").textContent = "Reports kept on this device: " + kept.rows.length + ". People who declined: " + kept.declined + ".";
    for (const name of plan.unit) {
      const added = field(name, plan.values[name]);
      added.lastChild.value = unit[name] || "";
      part("unit").append(added);
    }
    for (const name of plan.groups) part("unit").append(field(name, plan.values[name]));
    part("begin").onclick = begin;
    part("save").onclick = save;
    part("remove").hidden = !saved;
    part("remove").onclick = remove;
  },
  consent() {
    part("yes").onclick = () => show("question");
    part("no").onclick = () => {
      kept.declined += 1;
      store();
      show("declined");
    };
  },
  question() {
    plan.answers.forEach((text, i) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      input.type = "radio";
      input.name = "answer";
      input.value = i;
      input.autocomplete = "off";
      label.append(input, " " + text);
      part("choices").append(label);
    });
    part("number").hidden = plan.answers.length > 0;
    part("record").onclick = record;
  },
  declined() {
    part("next").onclick = () => show("ready");
  },
  done() {
    part("next").onclick = () => show("ready");
  },
};

function begin() {
  const given = {};
  for (const input of part("unit").querySelectorAll("[data-column]")) {
    given[input.dataset.column] = input.value.trim();
    if (!input.value.trim()) return complain("Fill in " + input.dataset.column + " first.");
  }
  if ("cluster_size" in given && !/^[1-9][0-9]*$/.test(given.cluster_size)) {
    return complain("cluster_size must be a whole number of people.");
  }
  unit = given;
  show("consent");
}

// The answer leaves this function as a report only; the screen that holds it is replaced at once.
function record() {
  let answer;
  if (plan.answers.length) {
    const chosen = main.querySelector("input[name=answer]:checked");
    if (!chosen) return complain("Choose an answer.");
    answer = Number(chosen.value);
  } else {
    answer = part("typed").valueAsNumber;
    if (!(answer >= plan.low && answer <= plan.high)) {
      return complain("Give a number from " + plan.low + " to " + plan.high + ".");
    }
  }
  const row = { ...unit, id: receipt(), report: reports[plan.kind](answer) };
  show("done");
  kept.rows.splice(below(kept.rows.length + 1), 0, row);
  store();
  part("receipt").textContent = row.id;
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  link.download = "reports.csv";
  link.click();
  URL.revokeObjectURL(link.href);
  saved = true;
  part("remove").hidden = false;
  complain("Reports saved: " + kept.rows.length + ". Look into the file before you remove them here.");
}

function remove() {
  if (!confirm("Remove all reports (" + kept.rows.length + ") from this device? Look first whether the saved file is there.")) return;
  kept = { rows: [], declined: 0 };
  store();
  show("ready");
}

addEventListener("beforeunload", (event) => {
  if (kept.rows.length && !saved) event.preventDefault();
});
restore();
show("ready");
