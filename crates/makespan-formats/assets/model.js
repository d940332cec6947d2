// The data of the page, and questions about them. Times are seconds; processors are ids.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/** A name for the screen: controls that are invisible or reorder text become a visible sign. */
const shown = (name) => name.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
const nameOf = (job) => shown(data.jobs.name[job] ?? String(job));
const isBestEffort = (job) => data.jobs.kind[job] === 2;
/** A placement's name: of its job, or of a task of a bag or a compound job. */
const nameAt = (schedule, i) => {
  const job = schedule.job[i];
  const named = data.jobs.tasks[job];
  if (named && named.length > 0) return `${nameOf(job)}/${shown(named[schedule.task[i]])}`;
  return data.jobs.kind[job] ? `${nameOf(job)}/${schedule.task[i]}` : nameOf(job);
};
/** The last colour is that of best effort. */
const colourOf = (job) => (isBestEffort(job) ? data.colours.length - 1 : job % (data.colours.length - 1));

/** First index in [0, length) at which `test` holds; it must hold from there on. */
function firstWhere(length, test) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A step function from instants and the level after each, with its area, so that means cost O(log n). */
class Steps {
  constructor(times, levels) {
    this.times = times;
    this.levels = levels;
    this.areas = new Float64Array(times.length);
    for (let i = 1; i < times.length; i++) {
      this.areas[i] = this.areas[i - 1] + levels[i - 1] * (times[i] - times[i - 1]);
    }
  }
  area(time) {
    const at = firstWhere(this.times.length, (i) => this.times[i] > time) - 1;
    return at < 0 ? 0 : this.areas[at] + this.levels[at] * (time - this.times[at]);
  }
  mean(from, to) {
    return to > from ? (this.area(to) - this.area(from)) / (to - from) : 0;
  }
  at(time) {
    const at = firstWhere(this.times.length, (i) => this.times[i] > time) - 1;
    return at < 0 ? 0 : this.levels[at];
  }
}

/** Busy processors over time. */
function usageOf(schedule) {
  const changes = new Map();
  const add = (time, change) => changes.set(time, (changes.get(time) ?? 0) + change);
  for (let i = 0; i < schedule.count; i++) {
    add(schedule.start[i], schedule.width[i]);
    add(schedule.end[i], -schedule.width[i]);
  }
  const times = Float64Array.from(changes.keys()).sort();
  let level = 0;
  return new Steps(times, Float64Array.from(times, (time) => (level += changes.get(time))));
}

/** A schedule in columns; placements stand by start, so that those in view are found by bisection. */
function scheduleOf(source) {
  const count = source.job.length;
  const schedule = {
    name: shown(source.name),
    makespan: source.makespan,
    count,
    job: Uint32Array.from(source.job),
    task: Uint32Array.from(source.task),
    start: Float64Array.from(source.start),
    end: Float64Array.from(source.end),
    processors: source.processors,
    marks: new Map(source.marks),
    guesses: new Set(source.guesses),
    deadlines: source.deadlines,
    width: new Uint32Array(count),
    reach: new Float64Array(count),
  };
  let reach = 0;
  for (let i = 0; i < count; i++) {
    const intervals = source.processors[i];
    for (let k = 0; k < intervals.length; k += 2) schedule.width[i] += intervals[k + 1] - intervals[k] + 1;
    reach = Math.max(reach, schedule.end[i]);
    schedule.reach[i] = reach;
  }
  schedule.usage = usageOf(schedule);
  return schedule;
}

/** The placements that may overlap a period: a range of indices. */
function between(schedule, from, to) {
  return [
    firstWhere(schedule.count, (i) => schedule.reach[i] > from),
    firstWhere(schedule.count, (i) => schedule.start[i] >= to),
  ];
}

/** The placement that holds a processor at an instant, or -1. */
function placementAt(schedule, time, processor) {
  const [low, high] = between(schedule, time, time);
  for (let i = Math.min(high, schedule.count - 1); i >= low; i--) {
    if (schedule.start[i] > time || schedule.end[i] <= time) continue;
    const intervals = schedule.processors[i];
    for (let k = 0; k < intervals.length; k += 2) {
      if (intervals[k] <= processor && processor <= intervals[k + 1]) return i;
    }
  }
  return -1;
}

const schedules = data.schedules.map(scheduleOf);
const open = new Steps(Float64Array.from(data.open.time), Float64Array.from(data.open.processors));
const horizon = Math.max(...schedules.map((schedule) => schedule.makespan), data.bound ?? 0, 1e-9);

/** A set of processors as text: 0-3,8. */
function setText(intervals, limit = 60) {
  let text = "";
  for (let k = 0; k < intervals.length; k += 2) {
    if (text.length > limit) return `${text},\u2026`;
    const [first, last] = [intervals[k], intervals[k + 1]];
    text += (text && ",") + (first === last ? first : `${first}-${last}`);
  }
  return text;
}

const STEPS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 14400, 21600, 43200,
  86400, 172800, 432000, 604800, 864000];

function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= value * 0.999999) ?? value;
}

/** The distance of ticks so that at most `count` cover `span`. */
function stepOf(span, count) {
  const least = span / Math.max(1, count);
  if (least > 864000) return roundUp(least / 86400) * 86400;
  return least <= 0.5 ? roundUp(Math.max(least, 1e-9)) : STEPS.find((step) => step >= least);
}

function tickText(seconds, step) {
  if (Math.abs(seconds) < step / 2) return "0";
  let left = Math.round(seconds / step) * step;
  const parts = [];
  for (const [unit, name] of UNITS) {
    const whole = Math.floor(left / unit + 1e-6);
    // Below a second the last part carries the fraction.
    if (name === "s" && step < 1 && left > 1e-12) return [...parts, fraction(left, step)].join(" ");
    if (whole > 0) parts.push(`${whole} ${name}`);
    left -= whole * unit;
  }
  return parts.join(" ");
}

function fraction(seconds, step) {
  const [unit, name] = step >= 0.01 || seconds >= 1 ? [1, "s"] : step >= 1e-5 ? [1e-3, "ms"] : [1e-6, "\u00b5s"];
  return `${(seconds / unit).toFixed(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)))} ${name}`;
}

/** A time to the millisecond (finer below a second), in all its units: for tooltips and tables. */
function exact(seconds) {
  if (Math.abs(seconds) < 60) return duration(seconds);
  if (seconds < 0) return `\u2212${exact(-seconds)}`;
  let left = Math.round(seconds * 1000);
  const parts = [];
  for (const [unit, name] of UNITS) {
    const whole = name === "s" ? left / 1000 : Math.floor(left / (unit * 1000));
    if (whole > 0) parts.push(`${whole} ${name}`);
    left -= whole * unit * 1000;
  }
  return parts.join(" ");
}
