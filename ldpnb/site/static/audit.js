"use strict";

// The exact privacy loss of a channel that a reader types in: a line per value, an entry per report.

function chance(text, line) {
  const parts = text.split("/");
  const value = parts.length <= 2 && parts.every((part) => part.trim() !== "") ? parts.map(Number).reduce((a, b) => a / b) : NaN;
  if (!(value >= 0 && value <= 1)) throw new Error(`line ${line}: chances must lie between 0 and 1, got ${text}`);
  return value;
}

function readChannel(text) {
  const lines = text.split("\n").map((line) => line.split(/[\s,;]+/).filter(Boolean)).filter((line) => line.length);
  const rows = lines.map((line, i) => line.map((entry) => chance(entry, i + 1)));
  if (rows.length < 2) throw new Error("a channel needs at least two lines, one for every value");
  rows.forEach((row, i) => {
    if (row.length !== rows[0].length) {
      throw new Error(`every line must have as many entries as line 1, ${rows[0].length}; line ${i + 1} has ${row.length}`);
    }
    const sum = row.reduce((a, b) => a + b, 0);
    if (Math.abs(sum - 1) > 1e-9) throw new Error(`the chances of a line must sum to 1; those of line ${i + 1} sum to ${Number(sum.toPrecision(10))}`);
  });
  return rows;
}

function lossOf(rows) {
  let worst = { loss: 0, report: 0, likely: 0, unlikely: 0 };
  rows[0].forEach((_, report) => {
    const column = rows.map((row) => row[report]);
    const [most, least] = [Math.max(...column), Math.min(...column)];
    const loss = most > 0 ? Math.log(most) - Math.log(least) : 0;
    if (loss > worst.loss) worst = { loss, report, likely: column.indexOf(most), unlikely: column.indexOf(least) };
  });
  return worst;
}

function told(rows) {
  const { loss, report, likely, unlikely } = lossOf(rows);
  if (loss === 0) return "The privacy loss is 0: all values send every report with the same chance.";
  const where = `at report ${report + 1}, between the values of lines ${likely + 1} and ${unlikely + 1}`;
  if (loss === Infinity) return `The privacy loss is infinite, ${where}: only the first can send it.`;
  return `The privacy loss is ${Number(loss.toPrecision(6))} nats, a ratio of ${Number(Math.exp(loss).toPrecision(6))}, ${where}.`;
}

document.addEventListener("DOMContentLoaded", () => {
  const [form, field, result] = ["audit-form", "channel", "audit-result"].map((id) => document.getElementById(id));
  const audit = () => {
    try {
      result.textContent = told(readChannel(field.value));
      field.removeAttribute("aria-invalid");
    } catch (error) {
      result.textContent = `No answer: ${error.message}.`;
      field.setAttribute("aria-invalid", "true");
    }
  };
  field.addEventListener("input", audit);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  audit();
});
