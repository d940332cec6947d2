// Moves the view: pointer, keys, buttons, search.

const tooltip = byId("tooltip");
let waiting = false;

/** Draws the whole picture at once. */
function redraw() {
  drawChart();
  drawOverlay();
  drawMap();
}

/** Draws at the next frame, however often it is asked until then. */
function redrawSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    redraw();
  });
}

/** Shows instants from `from` over `span`, inside the schedule. */
function showTime(from, span) {
  const width = Math.min(Math.max(span, horizon * 1e-7), horizon);
  view.from = Math.min(Math.max(from, 0), horizon - width);
  view.to = view.from + width;
  redrawSoon();
}

function showRows(top, count) {
  const height = Math.min(Math.max(count, 1), data.processors);
  view.top = Math.min(Math.max(top, 0), data.processors - height);
  view.bottom = view.top + height;
  redrawSoon();
}

/** Zooms by a factor; the instant at `x` stays where it is. */
function zoomTime(factor, x = page.gutter + plotWidth() / 2) {
  const fixed = timeAt(Math.min(Math.max(x, page.gutter), page.width - page.right));
  showTime(fixed - (fixed - view.from) * factor, (view.to - view.from) * factor);
}

function zoomRows(factor, share = 0.5) {
  const count = view.bottom - view.top;
  const fixed = view.top + share * count;
  showRows(fixed - share * count * factor, count * factor);
}

function fit() {
  showTime(0, horizon);
  showRows(0, data.processors);
}

function move(seconds, rows) {
  showTime(view.from + seconds, view.to - view.from);
  showRows(view.top + rows, view.bottom - view.top);
}

/** What is under a point of the stage. */
function targetAt(x, y) {
  if (x < page.gutter || x > page.width - page.right) return null;
  const schedule = page.rows.findIndex((rows) => y >= rows.top && y < rows.top + rows.height);
  if (schedule < 0) return null;
  const processor = Math.floor(view.top + (y - page.rows[schedule].top) / rowHeight(page.rows[schedule]));
  const placement = placementAt(schedules[schedule], timeAt(x), processor);
  return placement < 0 ? null : { schedule, placement };
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function describe({ schedule, placement: i }) {
  const source = schedules[schedule];
  const job = source.job[i];
  const rows = [
    ["start", exact(source.start[i])],
    ["end", exact(source.end[i])],
    ["time", exact(source.end[i] - source.start[i]) + (source.guesses.has(i) ? ", a guess" : "")],
    ["allotment", plural(source.width[i], "processor")],
    ["processors", setText(source.processors[i])],
    ["weight", isBestEffort(job) ? "best effort" : String(data.jobs.weight[job])],
    ["release", exact(data.jobs.release[job])],
    ["completion", `${exact(source.end[i] - data.jobs.release[job])} after release`],
  ];
  if (source.marks.has(i)) rows.push(["moved", shown(source.marks.get(i))]);
  return schedules.length > 1 ? [["schedule", source.name], ...rows] : rows;
}

function showTooltip(target, x, y) {
  tooltip.hidden = !target;
  if (!target) return;
  const title = document.createElement("strong");
  title.dir = "auto";
  title.textContent = nameAt(schedules[target.schedule], target.placement);
  const list = document.createElement("dl");
  for (const [word, value] of describe(target)) {
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = word;
    text.textContent = value;
    list.append(term, text);
  }
  tooltip.replaceChildren(title, list);
  const [w, h] = [tooltip.offsetWidth, tooltip.offsetHeight];
  const left = x + 16 + w > page.width ? x - 16 - w : x + 16;
  tooltip.style.left = `${Math.max(left, 4)}px`;
  tooltip.style.top = `${Math.max(Math.min(y + 14, page.height - h - 4), 4)}px`;
}

/** Brings a placement into view, marks it and says it. */
function show(target) {
  const schedule = schedules[target.schedule];
  const i = target.placement;
  const [start, time] = [schedule.start[i], schedule.end[i] - schedule.start[i]];
  const span = view.to - view.from;
  const fitting = (time / span) * plotWidth() < 40 || time > span * 0.8 ? Math.max(time * 10, horizon * 1e-6) : span;
  showTime(start + time / 2 - fitting / 2, fitting);
  const intervals = schedule.processors[i];
  const middle = ((intervals[0] ?? 0) + (intervals[1] ?? 0) + 1) / 2;
  if (middle < view.top || middle > view.bottom) showRows(middle - (view.bottom - view.top) / 2, view.bottom - view.top);
  view.chosen = target;
  const rows = page.rows[target.schedule];
  showTooltip(target, xOf(start + time / 2), yOf(rows, middle));
  const text = describe(target).map(([word, value]) => `${word} ${value}`).join(", ");
  byId("status").textContent = `${nameAt(schedule, i)}: ${text}`;
  for (const row of byId("jobs").tBodies[0].rows) {
    row.classList.toggle("chosen", table.which === target.schedule && Number(row.dataset.placement) === i);
  }
}

const search = { text: "", found: [], at: -1 };

function find(text) {
  search.text = text.trim().toLowerCase();
  search.found = [];
  search.at = -1;
  view.marked = null;
  if (search.text) {
    view.marked = new Set();
    data.jobs.name.forEach((_, job) => nameOf(job).toLowerCase().includes(search.text) && view.marked.add(job));
    schedules.forEach((schedule, index) => {
      for (let i = 0; i < schedule.count; i++) {
        if (view.marked.has(schedule.job[i])) search.found.push({ schedule: index, placement: i });
      }
    });
  } else {
    view.chosen = null;
    showTooltip(null);
  }
  sayFound();
  redrawSoon();
}

function sayFound() {
  const count = search.found.length;
  const none = search.text ? "no match" : "";
  byId("found").textContent = count ? (search.at < 0 ? plural(count, "match").replace("matchs", "matches") : `${search.at + 1} of ${count}`) : none;
}

function nextMatch(direction) {
  const count = search.found.length;
  if (!count) return;
  search.at = search.at < 0 && direction < 0 ? count - 1 : (search.at + direction + count) % count;
  show(search.found[search.at]);
  sayFound();
}

const pointOf = (event) => {
  const box = stage.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function listenToPointer() {
  let drag = null;
  stage.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const [x, y] = pointOf(event);
    const factor = Math.exp(Math.sign(event.deltaY || event.deltaX) * 0.18);
    const rows = page.rows.find((rows) => y >= rows.top && y < rows.top + rows.height);
    if (event.shiftKey) zoomRows(factor, rows ? (y - rows.top) / rows.height : 0.5);
    else zoomTime(factor, x);
    showTooltip(null);
  }, { passive: false });
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = pointOf(event);
    drag = { x, y, from: view.from, top: view.top, moved: false };
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    const [x, y] = pointOf(event);
    if (!drag) return hover(x, y);
    drag.moved ||= Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3;
    if (!drag.moved) return undefined;
    stage.classList.add("dragging");
    showTooltip(null);
    showTime(drag.from - ((x - drag.x) / plotWidth()) * (view.to - view.from), view.to - view.from);
    const perRow = rowHeight(page.rows[0] ?? page.usage);
    return showRows(drag.top - (y - drag.y) / perRow, view.bottom - view.top);
  });
  const end = (event) => {
    if (drag && !drag.moved && event.type === "pointerup") {
      view.chosen = targetAt(...pointOf(event));
      drawOverlay();
    }
    drag = null;
    stage.classList.remove("dragging");
  };
  stage.addEventListener("pointerup", end);
  stage.addEventListener("pointercancel", end);
  stage.addEventListener("pointerleave", () => hover(-1, -1));
}

function hover(x, y) {
  view.hovered = targetAt(x, y);
  showTooltip(view.hovered, x, y);
  drawOverlay();
}

function listenToMap() {
  const centre = (event) => {
    if (!(event.buttons & 1)) return;
    const box = map.getBoundingClientRect();
    const time = ((event.clientX - box.left - page.gutter) / (box.width - page.gutter - page.right)) * horizon;
    showTime(time - (view.to - view.from) / 2, view.to - view.from);
  };
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    centre(event);
  });
  map.addEventListener("pointermove", centre);
}

function listenToKeys() {
  const span = () => (view.to - view.from) / 8;
  const rows = () => (view.bottom - view.top) / 8;
  const keys = {
    "+": (shift) => (shift ? zoomRows(1 / 1.4) : zoomTime(1 / 1.4)),
    "-": (shift) => (shift ? zoomRows(1.4) : zoomTime(1.4)),
    ArrowLeft: () => move(-span(), 0),
    ArrowRight: () => move(span(), 0),
    ArrowUp: () => move(0, -rows()),
    ArrowDown: () => move(0, rows()),
    0: fit,
    Escape: () => showTooltip((view.chosen = null)),
  };
  // The key that bears the sign tells Shift from none, whatever its place on the keyboard.
  const sign = { "=": "+", "_": "-", "*": "+" };
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = keys[sign[event.key] ?? event.key];
    if (!action) return;
    event.preventDefault();
    action(event.shiftKey);
    redrawSoon();
  });
  byId("search").addEventListener("input", (event) => find(event.target.value));
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") find((event.target.value = ""));
  });
}

function start() {
  arrange();
  redraw();
  listenToPointer();
  listenToMap();
  listenToKeys();
  const buttons = {
    "zoom-in": () => zoomTime(1 / 1.6),
    "zoom-out": () => zoomTime(1.6),
    "rows-in": () => zoomRows(1 / 1.6),
    "rows-out": () => zoomRows(1.6),
    fit,
  };
  Object.entries(buttons).forEach(([id, action]) => byId(id).addEventListener("click", action));
  if (schedules.length) {
    startTable((target) => {
      show(target);
      stage.scrollIntoView({ block: "center" });
    });
  }
  const again = () => {
    arrange();
    redraw();
  };
  new ResizeObserver(() => {
    // A change of the zoom of the browser changes the width as well as the pixels.
    if (stage.clientWidth !== page.width) requestAnimationFrame(again);
  }).observe(stage);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  for (const [event, printing] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(event, () => {
      document.documentElement.classList.toggle("paper", printing);
      readColours();
      redraw();
    });
  }
  // For tests: the view, and how long a full redraw takes in milliseconds.
  window.makespan = {
    view,
    schedules,
    point: (schedule, i) => [
      xOf((schedules[schedule].start[i] + schedules[schedule].end[i]) / 2),
      yOf(page.rows[schedule], schedules[schedule].processors[i][0] + 0.5),
    ],
    timeRedraw: () => {
      const begin = performance.now();
      redraw();
      return performance.now() - begin;
    },
  };
}

start();
