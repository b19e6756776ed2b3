"use strict";
// A figure's bar or a table's row opens the jobs that it counts. Texts are only ever set as text.
const data = JSON.parse(document.getElementById("data").textContent);
const panel = document.getElementById("jobs"), PAGE = 100;
let chosen = [], shown = 0;

function jobsOf(table, rows) {
  const found = new Set();
  for (const row of rows) for (const job of data.tables[table][row]) found.add(job);
  return [...found].sort((a, b) => a - b);
}

function cell(row, column, value) {
  const made = row.insertCell();
  made.dataset.head = data.columns[column];
  made.textContent = value;
  if (data.columns[column] === "Line") made.className = "line";
  else if (data.columns[column] === "Nodes") made.className = "names";
  else if (typeof value === "number") made.className = "number";
}

function more() {
  const body = panel.querySelector("tbody");
  for (const job of chosen.slice(shown, shown + PAGE)) {
    const row = body.insertRow();
    data.columns.forEach((_, column) => {
      const value = data.values[column][job];
      cell(row, column, data.words[column] ? data.words[column][value] : value);
    });
  }
  shown = Math.min(chosen.length, shown + PAGE);
  panel.querySelector("#more").hidden = shown >= chosen.length;
}

function open(table, rows, says) {
  chosen = jobsOf(table, rows);
  shown = 0;
  panel.hidden = false;
  panel.querySelector("h2").textContent = says + ": " + chosen.length.toLocaleString("en") + (chosen.length === 1 ? " job" : " jobs");
  panel.dataset.count = chosen.length;
  panel.querySelector("tbody").replaceChildren();
  more();
  history.replaceState(null, "", "#" + table + "=" + rows.join(","));
  panel.scrollIntoView();
}

function choose(element) {
  const rows = (element.dataset.rows || element.dataset.row).split(",").map(Number);
  const within = element.closest("[data-table]");
  const title = element.querySelector("title");
  open(within.dataset.table, rows, title ? title.textContent.replace(/: [^:]*$/, "") : (element.cells ? element.cells[0] : element.lastChild).textContent);
}

function asked(event) {
  const element = event.target.closest(".mark, tr[data-row], li[data-rows]");
  if (!element || (event.type === "keydown" && event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  choose(element);
}

document.addEventListener("click", asked);
document.addEventListener("keydown", asked);
panel.querySelector("#more").addEventListener("click", more);
panel.querySelector("#close").addEventListener("click", () => { panel.hidden = true; history.replaceState(null, "", "#"); });
const link = /^#(\w+)=([\d,]+)$/.exec(location.hash);
if (link && data.tables[link[1]] && link[2].split(",").every((row) => data.tables[link[1]][row])) {
  const from = document.querySelector(`[data-table="${link[1]}"] :is(tr[data-row="${link[2]}"], .mark[data-rows="${link[2]}"])`)
    || document.querySelector(`li[data-table="${link[1]}"][data-rows="${link[2]}"]`);
  if (from) choose(from);
  else open(link[1], link[2].split(",").map(Number), "Jobs");
}
