// The table of jobs: one page of rows at a time, so that its size does not matter.

const PAGE_ROWS = 50;

/** Heading, value to sort by, text to show. */
const COLUMNS = [
  { name: "job", value: nameAt, text: nameAt },
  { name: "start", value: (s, i) => s.start[i] },
  { name: "end", value: (s, i) => s.end[i] },
  { name: "time", value: (s, i) => s.end[i] - s.start[i] },
  { name: "allotment", value: (s, i) => s.width[i], text: (s, i) => String(s.width[i]) },
  { name: "processors", value: (s, i) => s.processors[i][0] ?? -1, text: (s, i) => setText(s.processors[i], 24) },
  { name: "weight", value: (s, i) => data.jobs.weight[s.job[i]], text: (s, i) => String(data.jobs.weight[s.job[i]]) },
  { name: "release", value: (s, i) => data.jobs.release[s.job[i]] },
  { name: "wait", value: (s, i) => s.start[i] - data.jobs.release[s.job[i]] },
  { name: "flow", value: (s, i) => s.end[i] - data.jobs.release[s.job[i]] },
];
const cellText = (column, s, i) => (column.text ? column.text(s, i) : exact(column.value(s, i)));
const isText = (column) => column.name === "job" || column.name === "processors";

const table = { which: 0, column: 1, down: false, page: 0, order: [] };

function sortTable() {
  const schedule = schedules[table.which];
  const { value } = COLUMNS[table.column];
  const keys = Array.from({ length: schedule.count }, (_, i) => value(schedule, i));
  const compare = table.column === 0 ? (a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0) : (a, b) => keys[a] - keys[b];
  const order = Uint32Array.from(keys, (_, i) => i);
  const sign = table.down ? -1 : 1;
  table.order = order.sort((a, b) => sign * compare(a, b) || a - b);
}

function showTable() {
  const schedule = schedules[table.which];
  const pages = Math.max(1, Math.ceil(schedule.count / PAGE_ROWS));
  table.page = Math.min(Math.max(table.page, 0), pages - 1);
  const first = table.page * PAGE_ROWS;
  const rows = Array.from(table.order.slice(first, first + PAGE_ROWS), (i) => rowOf(schedule, i));
  byId("jobs").tBodies[0].replaceChildren(...rows);
  const last = first + rows.length;
  byId("page").textContent = schedule.count ? `${first + 1}\u2013${last} of ${schedule.count}` : "no jobs";
  byId("previous").disabled = table.page === 0;
  byId("next").disabled = table.page === pages - 1;
  COLUMNS.forEach((_, index) => {
    const heading = byId("jobs").tHead.rows[0].cells[index];
    if (index === table.column) heading.setAttribute("aria-sort", table.down ? "descending" : "ascending");
    else heading.removeAttribute("aria-sort");
  });
}

function rowOf(schedule, i) {
  const row = document.createElement("tr");
  row.dataset.placement = i;
  const chosen = view.chosen;
  if (chosen && chosen.schedule === table.which && chosen.placement === i) row.className = "chosen";
  for (const column of COLUMNS) {
    const cell = row.insertCell();
    const text = document.createElement(column.name === "job" ? "button" : "bdi");
    text.textContent = cellText(column, schedule, i);
    if (column.name === "job") {
      text.type = "button";
      text.dir = "auto";
      text.title = `Show ${text.textContent} in the chart`;
    }
    if (!isText(column)) cell.className = "number";
    cell.append(text);
  }
  return row;
}

/** Builds the headings and listens; `show` is told which placement was clicked. */
function startTable(show) {
  const heading = byId("jobs").tHead.rows[0];
  COLUMNS.forEach((column, index) => {
    const cell = document.createElement("th");
    cell.scope = "col";
    if (!isText(column)) cell.className = "number";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = column.name;
    button.addEventListener("click", () => {
      table.down = table.column === index && !table.down;
      Object.assign(table, { column: index, page: 0 });
      sortTable();
      showTable();
    });
    cell.append(button);
    heading.append(cell);
  });
  const turn = (pages) => {
    table.page += pages;
    showTable();
  };
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("jobs").tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) show({ schedule: table.which, placement: Number(row.dataset.placement) });
  });
  const which = byId("which");
  which.hidden = schedules.length < 2;
  which.append(...schedules.map((schedule, index) => new Option(schedule.name, index)));
  which.addEventListener("change", () => {
    Object.assign(table, { which: Number(which.value), page: 0 });
    sortTable();
    showTable();
  });
  sortTable();
  showTable();
}
