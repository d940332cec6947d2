// The page of a plan, or of a plan and what happened.

const byId = (id) => document.getElementById(id);
const model = new Model(JSON.parse(byId("data").textContent));
const page = { which: 0, table: null };

const chart = new Chart(byId("chart-host"), model, {
  tell: (text) => {
    byId("status").textContent = text;
  },
  picked: () => page.table?.mark(),
  turned: (schedule) => {
    for (const cards of document.querySelectorAll(".cards[data-schedule]")) cards.hidden = Number(cards.dataset.schedule) !== schedule;
    showTable(schedule);
  },
  searched: (found) => page.table?.only(found && Uint32Array.from(found.filter((one) => one.schedule === page.which), (one) => one.placement)),
});

function columnsOf(schedule) {
  const job = (i) => schedule.job(i);
  const due = schedule.due();
  const all = [
    // Without what all names begin with, as in the chart, so that the names of a column differ.
    { name: "job", kind: "text", value: (i) => model.labelOf(schedule.row[i], schedule.copy?.[i]), title: (i) => schedule.nameAt(i) },
    { name: "start", kind: "time", value: (i) => schedule.start[i] },
    { name: "end", kind: "time", value: (i) => schedule.end[i] },
    { name: "time", kind: "time", value: (i) => schedule.end[i] - schedule.start[i] },
    { name: "allotment", kind: "number", value: (i) => schedule.width[i] },
    { name: "processors", kind: "text", value: (i) => (schedule.width[i] ? schedule.spans[2 * schedule.first[i]] : -1), text: (i) => setText(schedule.intervals(i), 24) },
    { name: "weight", kind: "number", value: (i) => model.weight(job(i)) },
    { name: "release", kind: "time", value: (i) => model.release[job(i)] },
    { name: "wait", kind: "time", value: (i) => schedule.start[i] - schedule.ready(i) },
    ...(schedule.deadlines.length ? [{ name: "deadline", kind: "time", value: (i) => due.get(job(i)) ?? NaN }] : []),
    { name: "flow", kind: "time", value: (i) => schedule.end[i] - model.release[job(i)] },
  ];
  if (model.user) all.splice(1, 0, { name: "user", kind: model.data.users ? "text" : "number", value: (i) => (model.data.users ? model.userOf(job(i)) : model.user(job(i))), text: (i) => model.userOf(job(i)) || "\u2013" });
  if (schedule.outcomes.size) all.push({ name: "ended", kind: "text", value: (i) => OUTCOMES[schedule.outcomes.get(i)] ?? "well" });
  return all;
}

function showTable(which) {
  page.which = which;
  const schedule = model.schedules[which];
  page.table = new PagedTable(byId("jobs"), {
    label: "Jobs",
    columns: columnsOf(schedule),
    count: schedule.count,
    sorted: model.user ? 2 : 1,
    act: (placement) => {
      chart.show({ schedule: which, placement });
      chart.stage.scrollIntoView({ block: "center" });
    },
  });
  page.table.chosen = (i) => chart.view.chosen?.schedule === which && chart.view.chosen.placement === i;
  byId("pager").replaceChildren(page.table.pager);
  page.table.show();
}

function start() {
  const which = byId("which");
  // Of alternatives the table is of the one in the chart.
  which.hidden = model.choose || model.schedules.length < 2;
  which.append(...model.schedules.map((schedule, index) => new Option(schedule.name, index)));
  which.addEventListener("change", () => showTable(Number(which.value)));
  // Of a plan and what happened the latter.
  const first = model.choose ? 0 : model.schedules.length - 1;
  which.value = first;
  if (model.schedules.length) showTable(first);
  // A row of the table of alternatives shows its schedule.
  for (const row of document.querySelectorAll("tr[data-schedule]")) {
    row.addEventListener("click", () => chart.choose(Number(row.dataset.schedule)));
  }
  explainTerms(document);
}

start();
