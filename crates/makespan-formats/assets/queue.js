// The page of a queue: a row shows its job in the chart, and what is searched there is found in the tables.

const data = JSON.parse(document.getElementById("data").textContent);
const model = new Model(data);
const { keys } = model.schedules[0];
const places = new Map(keys.map((key, placement) => [key, placement]));
const rows = [...document.querySelectorAll("tr[data-job]")];

function mark() {
  const chosen = chart.view.chosen && keys[chart.view.chosen.placement];
  for (const row of rows) row.classList.toggle("chosen", row.dataset.job === chosen);
}

/** Rows of long tables that are not shown at first. */
const late = new Set(rows.filter((row) => row.hidden));

/** Of a search only the rows that have its words. */
function only() {
  const text = chart.search.text.trim().toLowerCase();
  for (const row of rows) row.hidden = text ? !row.textContent.toLowerCase().includes(text) : late.has(row);
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

for (const row of rows) {
  row.addEventListener("click", () => {
    const placement = places.get(row.dataset.job);
    if (placement === undefined) return;
    chart.show({ schedule: 0, placement });
    chart.stage.scrollIntoView({ block: "center" });
  });
}
explainTerms(document);
