// The page of a simulation: the results of all policies for the same jobs, in figures, in a chart and for each job.

const byId = (id) => document.getElementById(id);
const told = JSON.parse(byId("data").textContent);
const panels = byId("panels");
const pointer = byId("pointer");

/** Shows the values at the pointer, for all policies. */
panels.addEventListener("pointermove", (event) => {
  const box = panels.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * told.panels.width;
  const share = (x - told.panels.left) / (told.panels.width - told.panels.left - told.panels.right);
  const outside = share < 0 || share > 1;
  pointer.setAttribute("visibility", outside ? "hidden" : "visible");
  if (outside) return;
  pointer.setAttribute("transform", `translate(${x} 0)`);
  const time = share * told.panels.span;
  const parts = told.panels.policies.map(({ name, from, held, waiting }) => {
    const at = Math.max(firstWhere(from.length, (k) => from[k] > time) - 1, 0);
    return `${isolated(name)} ${held[at] ?? 0} busy, ${waiting[at] ?? 0} waiting`;
  });
  byId("reading").textContent = `${duration(time)}: ${parts.join("; ")}`;
});
panels.addEventListener("pointerleave", () => {
  pointer.setAttribute("visibility", "hidden");
  byId("reading").textContent = "";
});

const model = new Model(told.chart ?? { title: "", processors: 1, perSecond: 1, nodes: [], resources: [], bound: null, jobs: { count: 0, names: "", weight: { values: [1], rows: "" }, release: "" }, unavailable: [], open: { time: [0], processors: [1] }, schedules: [] });
const policies = model.schedules.map(jobsOf);
const choice = { one: 0, two: Math.min(1, policies.length - 1), table: null };
let chart = null;

function key() {
  const entry = ({ name }, at) => {
    const line = drawn("svg", { class: "key", viewBox: "0 0 30 8", "aria-hidden": "true" }, drawn("path", { class: "line", d: "M0 4H30", stroke: LINES[at % LINES.length], "stroke-dasharray": DASHES[at % DASHES.length] }));
    return element("span", {}, line, element("bdi", {}, name));
  };
  return element("p", { class: "legend keys" }, ...policies.map(entry));
}
const figure = (title, term, picture, note) => element("figure", { class: "card" }, element("figcaption", {}, element("b", { "data-term": term ?? "" }, title), note ? ` ${note}` : ""), picture);

function showFigures() {
  const { wait, slowdown } = QUANTITIES;
  const sizes = bySize(policies[0]);
  const users = byUser(model, policies[0]);
  const all = [
    figure("Wait", "wait", distributionOf(policies, wait), "share of jobs with at most x"),
    figure("Bounded slowdown", "bounded slowdown", distributionOf(policies, slowdown), "share of jobs with at most x"),
    figure("Wait by size", "wait", spreadOf(policies, wait, sizes), "dot: median; line: to the 90th percentile"),
    figure("Bounded slowdown by size", "bounded slowdown", spreadOf(policies, slowdown, sizes), "dot: median; line: to the 90th percentile"),
  ];
  if (users.length) {
    all.push(figure("Wait by user", "wait", spreadOf(policies, wait, users), "users with the most processor time"), figure("Bounded slowdown by user", "bounded slowdown", spreadOf(policies, slowdown, users), "users with the most processor time"));
  }
  byId("figures").replaceChildren(key(), element("div", { class: "pair" }, ...all));
}

/** Shows the number of jobs that were submitted in each hour of the week, and their waits. If all jobs were submitted within a
 * day, shows nothing. */
function showWeek() {
  const [first, last] = rangeOf(model.release);
  byId("heat").parentElement.hidden = last - first < 86400;
  if (last - first < 86400) return;
  const { week } = told;
  const hours = policies.map((jobs) => byHour(model, week, (job) => jobs.wait[job]));
  const all = byHour(model, week, () => 1).counts;
  const classes = seventhsOf(hours.map(({ means }) => means));
  const scale = policies.length > 1 ? "by hour of submission; each class has the same number of hours, over all policies" : "by hour of submission; each class has the same number of hours";
  const weeks = last - first > 7 * 86400 ? ", all weeks together" : "";
  byId("heat").replaceChildren(
    figure("Jobs submitted", null, heatMap({ counts: all, values: all, week }, seventhsOf([all.filter((count) => count)]), { text: grouped, label: "jobs submitted" }), week === null ? `by hour and day; day 1 begins at instant 0, because the log does not state weekdays${weeks}` : `by hour and day, by the clock of the log${weeks}`),
    ...hours.map(({ counts, means }, at) => figure(`Mean wait, ${policies[at].name}`, null, heatMap({ counts, values: means, week }, classes, { text: duration, label: "mean wait" }), scale)));
}

/** Shows the jobs with the largest differences between their waits under two policies. */
function compare() {
  const [one, two] = [policies[choice.one], policies[choice.two]];
  const gain = one.wait.map((wait, job) => wait - two.wait[job]);
  const both = known(gain);
  const [less, more] = [both.filter((value) => value > 0).length, both.filter((value) => value < 0).length];
  byId("compare-text").textContent = `${grouped(less)} ${less === 1 ? "job waits" : "jobs wait"} less under ${two.name}, ${grouped(more)} more, ${grouped(both.length - less - more)} as long. A dot is a job, in the colour of the policy under which it waits less.`;
  const table = new PagedTable(byId("compare-table"), {
    label: "Jobs under two policies",
    columns: [
      { name: "job", kind: "text", value: (job) => model.jobName(job) },
      { name: `wait, ${one.name}`, kind: "time", like: "wait", value: (job) => one.wait[job] },
      { name: `wait, ${two.name}`, kind: "time", like: "wait", value: (job) => two.wait[job] },
      { name: "saved", kind: "time", like: "wait", value: (job) => gain[job] },
    ],
    count: model.jobs,
    rows: 14,
    act: showJob,
  });
  table.sortBy(3);
  table.sortBy(3);
  byId("compare-pager").replaceChildren(table.pager);
  byId("scatter").replaceChildren(scatterOf(policies, [choice.one, choice.two], showJob));
}

/** Moves a job into view, in the chart of the first policy that ran it. */
function showJob(job) {
  for (const schedule of [chart?.chosenSchedule ?? 0, ...model.schedules.keys()]) {
    for (let i = 0; i < model.schedules[schedule].count; i++) {
      if (model.schedules[schedule].job(i) !== job) continue;
      chart.show({ schedule, placement: i });
      chart.stage.scrollIntoView({ block: "center" });
      return;
    }
  }
}

function showTable() {
  const first = policies[0];
  const columns = [
    { name: "job", kind: "text", value: (job) => model.jobName(job) },
    ...(model.user ? [{ name: "user", kind: model.data.users ? "text" : "number", value: (job) => (model.data.users ? model.userOf(job) : model.user(job)), text: (job) => model.userOf(job) || "\u2013" }] : []),
    { name: "release", kind: "time", value: (job) => model.release[job] },
    { name: "allotment", kind: "number", value: (job) => first.width[job] },
    { name: "time", kind: "time", value: (job) => first.end[job] - first.start[job] },
    ...policies.flatMap((jobs) => [
      { name: `wait, ${jobs.name}`, kind: "time", like: "wait", value: (job) => jobs.wait[job] },
      { name: `slowdown, ${jobs.name}`, kind: "number", value: (job) => jobs.slowdown[job], text: (job) => (Number.isNaN(jobs.slowdown[job]) ? "\u2013" : jobs.slowdown[job].toFixed(2)) },
    ]),
  ];
  choice.table = new PagedTable(byId("jobs"), { label: "All jobs", columns, count: model.jobs, act: showJob });
  byId("pager").replaceChildren(choice.table.pager);
  const field = byId("find-job");
  field.addEventListener("input", () => {
    const text = field.value.trim().toLowerCase();
    const rows = [];
    const isOf = (job) => model.user && model.userOf(job).toLowerCase() === text;
    if (text) model.names.all().forEach((name, job) => (shown(name).toLowerCase().includes(text) || isOf(job)) && rows.push(job));
    choice.table.only(text ? Uint32Array.from(rows) : null);
    byId("found-jobs").textContent = text ? plural(rows.length, "match") : "";
  });
}

function choosePolicies() {
  for (const [id, name] of [["policy-one", "one"], ["policy-two", "two"]]) {
    const select = byId(id);
    select.append(...policies.map((jobs, at) => new Option(jobs.name, at)));
    select.value = choice[name];
    select.addEventListener("change", () => {
      choice[name] = Number(select.value);
      compare();
    });
  }
}

function start() {
  if (policies.length) {
    for (const one of document.querySelectorAll(".needs-jobs")) one.hidden = false;
    chart = new Chart(byId("chart-host"), model, {
      tell: (text) => {
        byId("status").textContent = text;
      },
    });
    showFigures();
    showWeek();
    if (policies.length > 1) {
      byId("two-policies").hidden = false;
      choosePolicies();
      compare();
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", compare);
    }
    showTable();
    let width = figureWidth();
    addEventListener("resize", () => {
      if (width === figureWidth()) return;
      width = figureWidth();
      showFigures();
      showWeek();
      if (policies.length > 1) compare();
    });
  }
  explainTerms(document);
}

start();
