// The page of a queue. A row of a table shows its job in the chart, and a search in the chart also filters the tables.

const data = JSON.parse(document.getElementById("data").textContent);
const model = new Model(data);
const { keys } = model.schedules[0];
const places = new Map(keys.map((key, placement) => [key, placement]));
const rows = [...document.querySelectorAll("tr[data-job]")];

function mark() {
  const chosen = chart.view.chosen && keys[chart.view.chosen.placement];
  if (chosen) closeDetail();
  for (const row of rows) row.classList.toggle("chosen", row.dataset.job === chosen);
}

/** Rows of long tables that are hidden at first. */
const late = new Set(rows.filter((row) => row.hidden));

/** During a search, shows only the rows that contain the searched text. */
function only() {
  const text = chart.search.text.trim().toLowerCase();
  closeDetail();
  for (const row of rows) row.hidden = text ? !row.textContent.toLowerCase().includes(text) : late.has(row);
  for (const table of tables) reach(table, shownRows(table)[0]);
}

for (const button of document.querySelectorAll(".more-rows button")) {
  button.addEventListener("click", () => {
    const table = button.closest("section").querySelector("table");
    for (const row of rows) if (table.contains(row)) late.delete(row);
    button.parentElement.remove();
    only();
  });
}

const chart = new Chart(document.getElementById("chart-host"), model, {
  tell: (text) => {
    document.getElementById("status").textContent = text;
  },
  picked: mark,
  searched: only,
});

/** Selected row of a job that is not in the chart, and the row below it that shows all data of the table, also on a phone. */
let detail = null;

function closeDetail() {
  detail?.below.remove();
  detail = null;
}

function unfold(row) {
  const again = detail?.row === row;
  closeDetail();
  chart.select(null);
  chart.showTip(null);
  if (again) return;
  const list = element("dl");
  const add = (word, text) => text && list.append(element("dt", termOf(word), word), element("dd", {}, text));
  const heads = row.closest("table").tHead.rows[0].cells;
  [...row.cells].forEach((cell, at) => {
    if (cell.matches(".when")) return;
    add(heads[at].textContent, cell.matches(".why") ? cell.firstChild?.textContent : cell.textContent);
  });
  add("would help", row.querySelector("td.why small")?.textContent);
  const cell = element("td", { colspan: row.cells.length }, element("p", {}, "This job is not in the chart, because its start and its nodes cannot be predicted."), list);
  detail = { row, below: element("tr", { class: "told" }, cell) };
  row.after(detail.below);
  row.classList.add("chosen");
  document.getElementById("status").textContent = cell.textContent;
}

function press(row) {
  const placement = places.get(row.dataset.job);
  if (placement === undefined) return unfold(row);
  chart.show({ schedule: 0, placement });
  chart.stage.scrollIntoView({ block: "center" });
  return undefined;
}

/** In each table, the Tab key reaches one row, and the arrow keys move between rows. */
const tables = ["waiting", "running"].map((id) => ({ body: document.getElementById(id).tBodies[0], reached: null }));
const shownRows = ({ body }) => rows.filter((row) => !row.hidden && row.parentElement === body);

function reach(table, row) {
  if (table.reached) table.reached.tabIndex = -1;
  table.reached = row ?? null;
  if (row) row.tabIndex = 0;
}

for (const table of tables) {
  reach(table, shownRows(table)[0]);
  table.body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-job]");
    if (!row) return;
    reach(table, row);
    press(row);
  });
  table.body.addEventListener("keydown", (event) => {
    const row = event.target;
    if (!row.matches("tr[data-job]") || event.ctrlKey || event.altKey || event.metaKey) return;
    const all = shownRows(table);
    const at = all.indexOf(row);
    const next = { ArrowDown: all[at + 1], ArrowUp: all[at - 1], Home: all[0], End: all.at(-1) }[event.key];
    if (event.key === "Enter" || event.key === " ") press(row);
    else if (next) {
      reach(table, next);
      next.focus();
    } else return;
    event.preventDefault();
  });
}
explainTerms(document);
