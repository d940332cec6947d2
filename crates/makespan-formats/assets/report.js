// The page of a plan, or of a run with its plan.

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
    // Names are without their common prefix, as in the chart, so that the visible parts of names in a column differ.
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
  if (model.commands) return columnsOfRun(schedule, all);
  if (schedule.outcomes.size) all.push({ name: "ended", kind: "text", value: (i) => OUTCOMES[schedule.outcomes.get(i)] ?? "well" });
  return all;
}

/** Returns the columns for a run. They begin with the outcome of each job. Columns with only one value are omitted. */
function columnsOfRun(schedule, all) {
  const command = (i) => model.commandOf(schedule.row[i], schedule.copy?.[i]);
  const own = [{ name: "command", kind: "text", value: command, title: command }];
  if (schedule.ended) {
    own.unshift({ name: "exit status", kind: "text", value: (i) => schedule.ended(i), isBad: (i) => schedule.ended(i) !== "0" });
    own.push({ name: "output", kind: "text", value: (i) => schedule.written(i), links: (i) => schedule.files(i) });
  }
  all.splice(1, 0, ...own);
  const isWide = schedule.width.some((width) => width !== 1);
  const left = (model.isPlain ? ["weight", "release", "flow"] : []).concat(isWide ? [] : ["allotment"]);
  return all.filter(({ name }) => !left.includes(name));
}

function showTable(which) {
  page.which = which;
  const schedule = model.schedules[which];
  page.table = new PagedTable(byId("jobs"), {
    label: "Jobs",
    columns: columnsOf(schedule),
    count: schedule.count,
    sorted: columnsOf(schedule).findIndex(({ name }) => name === "start"),
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
  // If schedules are alternatives, the table shows the schedule in the chart.
  which.hidden = model.choose || model.schedules.length < 2;
  which.append(...model.schedules.map((schedule, index) => new Option(schedule.name, index)));
  which.addEventListener("change", () => showTable(Number(which.value)));
  if (model.schedules.length) showTable(0);
  // A row in the table of alternatives shows its schedule.
  for (const row of document.querySelectorAll("tr[data-schedule]")) {
    row.addEventListener("click", () => chart.choose(Number(row.dataset.schedule)));
  }
  explainTerms(document);
}

start();
