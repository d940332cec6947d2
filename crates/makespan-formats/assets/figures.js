// Figures of a simulation as SVG: distributions, values by size and by user, a heat map, and a comparison of two policies for each
// job. The style sheet sets the colours, so that they follow the light or dark scheme.

const SVG = "http://www.w3.org/2000/svg";
/** Paul Tol's "vibrant" scheme for lines, and dash patterns. */
const LINES = ["#0077bb", "#ee7733", "#009988", "#cc3311", "#33bbee", "#ee3377", "#999933", "#777777"];
const DASHES = ["", "7 3", "2 2", "9 3 2 3", "4 2", "1 3", "12 4", "5 5"];

function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const place = (value) => Math.round(value * 10) / 10;
/** Returns the width of a figure. Figures are drawn for their real width, so that text has the same size on a phone. */
const figureWidth = () => (innerWidth < 640 ? 350 : 560);

/** Returns a logarithmic axis. Values below the first tick are at the beginning of the axis. */
function logAxis(least, most, [from, to]) {
  const low = Math.log10(least);
  const high = Math.max(Math.log10(Math.max(most, least * 1.01)), low + 0.3);
  return (value) => from + ((Math.log10(Math.max(value, least)) - low) / (high - low)) * (to - from);
}
const TIME_TICKS = [1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400];
const SLOWDOWN_TICKS = [1, 2, 5, 10, 100, 1000, 1e4, 1e5];

/** Quantities of figures: their ticks, and the format of their values. */
const QUANTITIES = {
  wait: { word: "wait", ticks: TIME_TICKS, text: duration, of: (jobs, job) => jobs.wait[job] },
  slowdown: { word: "bounded slowdown", ticks: SLOWDOWN_TICKS, text: (value) => String(Math.round(value * 100) / 100), of: (jobs, job) => jobs.slowdown[job] },
};

/** Returns the results of a policy for each job: the last start, the end, the wait, and the bounded slowdown. */
function jobsOf(schedule) {
  const { model } = schedule;
  const first = new Float64Array(model.jobs).fill(NaN);
  const start = new Float64Array(model.jobs).fill(NaN);
  const end = new Float64Array(model.jobs).fill(NaN);
  const width = new Uint32Array(model.jobs);
  const area = new Float64Array(model.jobs);
  const single = model.rowJob === null;
  for (let i = 0; i < schedule.count; i++) {
    const job = schedule.job(i);
    if (!(first[job] <= schedule.start[i])) first[job] = schedule.start[i];
    if (!(start[job] >= schedule.start[i])) start[job] = schedule.start[i];
    if (!(end[job] >= schedule.end[i])) end[job] = schedule.end[i];
    width[job] = Math.max(width[job], schedule.width[i]);
    area[job] += schedule.width[i] * (schedule.end[i] - schedule.start[i]);
  }
  const wait = new Float64Array(model.jobs);
  const slowdown = new Float64Array(model.jobs);
  for (let job = 0; job < model.jobs; job++) {
    // The wait of a job that ran several times ends at its last start. The wait of a job with several tasks ends at its first
    // start.
    const begin = single && !model.kind(job) ? start[job] : first[job];
    start[job] = begin;
    wait[job] = begin - model.release[job];
    slowdown[job] = Math.max(1, (end[job] - model.release[job]) / Math.max(end[job] - begin, 10));
    if (Number.isNaN(begin)) slowdown[job] = NaN;
  }
  return { name: schedule.name, start, end, wait, slowdown, width, area };
}

const known = (values) => values.filter((value) => !Number.isNaN(value));
function quantile(sorted, part) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] : NaN;
}

function frameOf(width, height, label) {
  return drawn("svg", { viewBox: `0 0 ${width} ${height}`, class: "figure", role: "img", "aria-label": label });
}
function axisBelow(picture, ticks, x, text, [top, bottom], [left, right]) {
  let free = -Infinity;
  for (const tick of ticks) {
    const at = x(tick);
    if (at < left - 1 || at > right + 1) continue;
    picture.append(drawn("path", { class: "rule", d: `M${place(at)} ${top}V${bottom}` }));
    const words = text(tick);
    const half = words.length * 3.4;
    const inside = Math.min(at, right + 12 - half);
    if (inside - half < free) continue;
    free = inside + half + 6;
    picture.append(drawn("text", { x: place(inside), y: bottom + 15, class: "middle" }, words));
  }
}

/** Draws, for each policy, the share of jobs with a value of at most x. The axis is logarithmic. */
function distributionOf(policies, quantity, width = figureWidth()) {
  const [left, right, top, height] = [44, width - 14, 12, 260];
  const bottom = height - 26;
  const columns = policies.map((jobs) => known(quantity === QUANTITIES.wait ? jobs.wait : jobs.slowdown).sort());
  const most = Math.max(...columns.map((values) => values.at(-1) ?? 1), quantity.ticks[2]);
  const x = logAxis(quantity.ticks[0], most, [left, right]);
  const y = (part) => bottom - part * (bottom - top);
  const picture = frameOf(width, height, `Distribution of ${quantity.word} for each policy`);
  picture.append(drawn("rect", { class: "ground", x: left, y: top, width: right - left, height: bottom - top }));
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    picture.append(drawn("path", { class: "rule", d: `M${left} ${place(y(part))}H${right}` }), drawn("text", { x: left - 6, y: place(y(part) + 4), class: "end" }, `${part * 100} %`));
  }
  axisBelow(picture, quantity.ticks, x, quantity.text, [top, bottom], [left, right]);
  columns.forEach((values, at) => {
    let path = "";
    for (let column = 0; column <= 240; column++) {
      const value = quantity.ticks[0] * (most / quantity.ticks[0]) ** (column / 240);
      const part = firstWhere(values.length, (k) => values[k] > value) / Math.max(1, values.length);
      path += `${column ? "L" : "M"}${place(x(value))} ${place(y(part))}`;
    }
    const line = drawn("path", { class: "line", d: path, stroke: LINES[at % LINES.length], "stroke-dasharray": DASHES[at % DASHES.length] });
    const words = [0.5, 0.9, 0.99].map((part) => `${part * 100} % at most ${quantity.text(quantile(values, part))}`).join(", ");
    line.append(drawn("title", {}, `${policies[at].name}: ${words}`));
    picture.append(line);
  });
  return picture;
}

/** Draws, for each class and policy, a dot at the median and a line to the 90th percentile. */
function spreadOf(policies, quantity, classes, width = figureWidth()) {
  const [left, right, top] = [96, width - 14, 8];
  const step = Math.max(16, policies.length * 7 + 8);
  const bottom = top + classes.length * step;
  const rows = classes.map(({ jobs }) => policies.map((policy) => known(Float64Array.from(jobs, (job) => quantity.of(policy, job))).sort()));
  const most = Math.max(quantity.ticks[2], ...rows.flat().map((values) => quantile(values, 0.9)).filter((value) => !Number.isNaN(value)));
  const lowest = Math.min(...rows.flat().map((values) => quantile(values, 0.5)).filter((value) => !Number.isNaN(value)));
  const least = quantity.ticks.findLast((tick) => tick <= lowest) ?? quantity.ticks[0];
  const x = logAxis(least, most, [left, right]);
  const picture = frameOf(width, bottom + 26, `${quantity.word} by class: median and ninth decile`);
  picture.append(drawn("rect", { class: "ground", x: left, y: top, width: right - left, height: bottom - top }));
  axisBelow(picture, quantity.ticks, x, quantity.text, [top, bottom], [left, right]);
  rows.forEach((row, at) => {
    const middle = top + (at + 0.5) * step;
    const name = classes[at].name;
    const label = drawn("text", { x: left - 8, y: place(middle + 4), class: "end" }, isolated(name.length > 14 ? `${name.slice(0, 13)}\u2026` : name));
    label.append(drawn("title", {}, `${name}: ${plural(classes[at].jobs.length, "job")}`));
    picture.append(label);
    row.forEach((values, policy) => {
      if (!values.length) return;
      const y = place(middle + (policy - (row.length - 1) / 2) * 7);
      const [median, high] = [quantile(values, 0.5), quantile(values, 0.9)];
      const colour = LINES[policy % LINES.length];
      const group = drawn("g", {}, drawn("path", { d: `M${place(x(median))} ${y}H${place(x(high))}`, stroke: colour, "stroke-width": 2.4 }), drawn("circle", { cx: place(x(median)), cy: y, r: 3.4, fill: colour }));
      group.append(drawn("title", {}, `${policies[policy].name}, ${name}: median ${quantity.text(median)}, 90 % at most ${quantity.text(high)}`));
      picture.append(group);
    });
  });
  return picture;
}

/** Returns classes of jobs by their numbers of processors, in powers of two. */
function bySize(policy) {
  const classes = new Map();
  policy.width.forEach((width, job) => {
    if (!width) return;
    const power = Math.ceil(Math.log2(width));
    if (!classes.has(power)) classes.set(power, []);
    classes.get(power).push(job);
  });
  const name = (power) => (power < 2 ? String(2 ** power) : `${2 ** (power - 1) + 1}\u2013${2 ** power}`);
  return [...classes].sort((a, b) => a[0] - b[0]).map(([power, jobs]) => ({ name: `${name(power)} proc.`, jobs }));
}

/** Returns up to ten users with the most processor time. */
function byUser(model, policy) {
  if (!model.user) return [];
  const users = new Map();
  for (let job = 0; job < model.jobs; job++) {
    const user = model.user(job);
    if (!users.has(user)) users.set(user, { name: model.userName(user), jobs: [], area: 0 });
    const one = users.get(user);
    one.jobs.push(job);
    one.area += policy.area[job];
  }
  return users.size > 1 ? [...users.values()].sort((a, b) => b.area - a.area).slice(0, 10) : [];
}

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/** Returns the number of jobs that were submitted in each hour of the week, and the mean of a quantity over these jobs. `week`
 * is the second of the week at instant 0, counted from Monday, or null if it is unknown. */
function byHour(model, week, value) {
  const sums = new Float64Array(168);
  const counts = new Uint32Array(168);
  for (let job = 0; job < model.jobs; job++) {
    const cell = Math.floor((model.release[job] + (week ?? 0)) / 3600) % 168;
    const one = value(job);
    if (cell < 0 || Number.isNaN(one)) continue;
    sums[cell] += one;
    counts[cell]++;
  }
  return { counts, means: sums.map((sum, cell) => (counts[cell] ? sum / counts[cell] : NaN)) };
}

/** Returns the minimum and the maximum of all values. There may be millions of values. */
function rangeOf(values) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return most >= least ? [least, most] : [0, 0];
}

/** Returns limits that split all values into seven classes of equal size, as far as the values differ. */
function seventhsOf(columns) {
  const all = columns.flatMap((column) => Array.from(column)).filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const limits = [1, 2, 3, 4, 5, 6].map((part) => quantile(all, part / 7));
  return all.length ? { least: all[0], most: all.at(-1), limits: limits.filter((limit, at) => limit > (at ? limits[at - 1] : all[0])) } : { least: 0, most: 0, limits: [] };
}

/** Draws a value for each hour of the week as a colour. The colour is the class of the value among the values of all maps in the
 * comparison. */
function heatMap({ counts, values, week }, { least, most, limits }, { text, label }) {
  const days = week === null ? Array.from({ length: 7 }, (_, day) => `day ${day + 1}`) : WEEKDAYS;
  const step = 6 / Math.max(1, limits.length);
  const shade = (value) => Math.round(firstWhere(limits.length, (k) => limits[k] > value) * step);
  const width = figureWidth();
  const cell = (width - 56) / 24;
  const picture = frameOf(width, width < 400 ? 250 : 230, `${label} by hour and day of the week`);
  for (let day = 0; day < 7; day++) {
    picture.append(drawn("text", { x: 42, y: 24 + day * 24, class: "end" }, days[day]));
    for (let hour = 0; hour < 24; hour++) {
      const at = day * 24 + hour;
      const empty = !counts[at];
      const square = drawn("rect", { class: empty ? "ground" : `heat heat${shade(values[at])}`, x: place(50 + hour * cell), y: 9 + day * 24, width: place(cell - 1), height: 23, rx: 2 });
      square.append(drawn("title", {}, `${days[day]}, ${hour}:00 to ${hour + 1}:00: ${empty ? "no job" : `${label} ${text(values[at])}, ${plural(counts[at], "job")}`}`));
      picture.append(square);
    }
  }
  for (let hour = 0; hour < 24; hour += width < 400 ? 6 : 3) picture.append(drawn("text", { x: place(50 + hour * cell), y: 192, class: "middle" }, `${hour}:00`));
  if (most > least) {
    // The label of a class is its lower limit. The last label also states the upper limit.
    const from = [least, ...limits].map((value) => text(value));
    let [free, y] = [50, 211];
    from.forEach((words, at) => {
      const last = at === from.length - 1 ? `${words} to ${text(most)}` : words;
      if (free + 19 + 6.4 * last.length > width) [free, y] = [50, y + 17];
      picture.append(drawn("rect", { class: `heat heat${Math.round(at * step)}`, x: free, y, width: 15, height: 11, rx: 2 }), drawn("text", { x: free + 19, y: y + 10 }, last));
      free += 19 + 6.4 * last.length + 8;
    });
  }
  return picture;
}

/** Draws a point for each job. Its coordinates are the waits under two policies, so points below the diagonal wait less under
 * the second policy. */
function scatterOf(policies, chosen, pick) {
  const [one, two] = chosen.map((at) => policies[at]);
  const [lessOne, lessTwo] = chosen.map((at) => LINES[at % LINES.length]);
  const width = figureWidth();
  const height = Math.min(430, width);
  const [left, right, top, bottom] = [70, width - 14, 10, height - 44];
  const count = one.wait.length;
  const most = Math.max(maximum(one.wait), maximum(two.wait), 60);
  const x = logAxis(1, most, [left, right]);
  const y = logAxis(1, most, [bottom, top]);
  const canvas = element("canvas", { class: "dots", width: width * 2, height: height * 2, role: "img", "aria-label": `Waits under ${one.name} against ${two.name}, one dot for each job` });
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  pen.scale(2, 2);
  pen.textBaseline = "middle";
  pen.fillStyle = colour("field");
  pen.fillRect(left, top, right - left, bottom - top);
  let free = 0;
  // The first tick also stands for all shorter waits, including no wait.
  const limit = (tick) => (tick === 1 ? `\u2264 ${duration(tick)}` : duration(tick));
  for (const tick of TIME_TICKS.filter((tick) => tick <= most)) {
    pen.fillStyle = colour("rule");
    pen.fillRect(x(tick), top, 1, bottom - top);
    pen.fillRect(left, y(tick), right - left, 1);
    if (x(tick) - 20 > free) {
      write(pen, limit(tick), x(tick), bottom + 14, colour("soft"), `11px ${FONT}`, "center");
      free = x(tick) + 20;
    }
    write(pen, limit(tick), left - 7, y(tick), colour("soft"), `11px ${FONT}`, "right");
  }
  write(pen, isolated(`wait under ${one.name}`), (left + right) / 2, bottom + 32, colour("ink"), `12px ${FONT}`, "center");
  pen.save();
  pen.translate(11, (top + bottom) / 2);
  pen.rotate(-Math.PI / 2);
  write(pen, isolated(`wait under ${two.name}`), 0, 0, colour("ink"), `12px ${FONT}`, "center");
  pen.restore();
  pen.strokeStyle = colour("soft");
  pen.beginPath();
  pen.moveTo(left, bottom);
  pen.lineTo(right, top);
  pen.stroke();
  pen.globalAlpha = Math.min(0.8, Math.max(0.06, 300 / Math.sqrt(count) / 20));
  const size = count > 5000 ? 2 : 4;
  for (let job = 0; job < count; job++) {
    const [a, b] = [one.wait[job], two.wait[job]];
    if (Number.isNaN(a) || Number.isNaN(b)) continue;
    pen.fillStyle = b < a ? lessTwo : b > a ? lessOne : colour("soft");
    pen.fillRect(x(a) - size / 2, y(b) - size / 2, size, size);
  }
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const [px, py] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    let [best, near] = [-1, 12];
    for (let job = 0; job < count; job++) {
      const distance = Math.hypot(x(one.wait[job]) - px, y(two.wait[job]) - py);
      if (distance < near) [best, near] = [job, distance];
    }
    if (best >= 0) pick(best);
  });
  return canvas;
}
const maximum = (values) => values.reduce((most, value) => (value > most ? value : most), 0);
