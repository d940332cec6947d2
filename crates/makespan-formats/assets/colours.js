// Colours of a chart and their meanings. Categories use Paul Tol's "light" scheme, which people with a common form of colour
// blindness can distinguish. Amounts use ramps with steady changes of lightness.

const CATEGORIES = ["#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#aaaa00"];
const OTHER = "#c5cad1";
/** For each category, and for the last colour, the categories with a similar colour: the CIELAB distance is below 18 in normal,
 * protan or deutan vision. */
const ALIKE = [[], [], [], [5, 8], [8], [3, 8], [7], [6], [3, 4, 5]];
/** Colour ramps, from small to large amounts. In the dark scheme, large amounts are bright. */
const RAMPS = {
  amount: { light: ["#c4dff2", "#8fc3e3", "#56a3d1", "#2f7fb8", "#27609a", "#2f4377", "#34265a"], dark: ["#35476b", "#35628f", "#3f80b3", "#5a9fd0", "#83bde2", "#b1d8ef", "#dff0fa"] },
  trouble: { light: ["#a9cbe8", "#f3d78f", "#efb155", "#dd8033", "#bd531f", "#8a3012", "#55180c"], dark: ["#3f6585", "#8a6a2f", "#b98a3a", "#e0a04a", "#f0b878", "#f7d3ab", "#fdeede"] },
};
const SEVERE = "#d1495b";

const hex = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
function luminance(colour) {
  const channel = (at) => {
    const value = hex(colour, at) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}
/** Returns black or white, whichever has the higher contrast. */
const textOn = (colour) => ((luminance(colour) + 0.05) ** 2 > 0.05 * 1.05 ? "#111111" : "#ffffff");

/** Returns classes of a quantity, with the given limits and texts for the legend. */
function classesOf(limits, words) {
  return { count: limits.length + 1, of: (value) => firstWhere(limits.length, (k) => value <= limits[k]), words };
}
const between = (limits, text) => [
  `up to ${text(limits[0])}`,
  ...limits.slice(1).map((limit) => `to ${text(limit)}`),
  `more than ${text(limits.at(-1))}`,
];

const TIMES = [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400];
/** Returns classes of times, with up to six limits below the largest value. */
function timeClasses(largest) {
  const above = TIMES.findIndex((limit) => limit >= largest);
  const last = above < 0 ? TIMES.length : above;
  const limits = [0, ...TIMES.slice(Math.max(0, last - 5), last)];
  return classesOf(limits, ["none", ...between(limits, duration).slice(1)]);
}

/** Returns a ramp with one colour for each class. The first and the last colour of the ramp are always used. */
function rampOf(name, count, scheme) {
  const ramp = RAMPS[name][scheme];
  if (count === 1) return [ramp[2]];
  return Array.from({ length: count }, (_, k) => ramp[Math.round((k * (ramp.length - 1)) / (count - 1))]);
}

/** Assigns all placements to classes by a value. Returns the index of the colour of each placement. */
function byClass(model, value, classes, ramp) {
  const index = model.schedules.map((schedule) => {
    const column = new Uint8Array(schedule.count);
    for (let i = 0; i < schedule.count; i++) column[i] = classes.of(value(schedule, i));
    return column;
  });
  return { index, words: classes.words, colours: (scheme) => rampOf(ramp, classes.count, scheme) };
}

/** Gives the values with the largest area their own colours. All other values share one colour. */
function byCategory(model, key, word) {
  // Each value is looked up only once, because this takes most of the time for a million placements.
  const known = new Map();
  const areas = [];
  const codes = model.schedules.map((schedule) => {
    const { count, width, start, end } = schedule;
    const column = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      const value = key(schedule, i);
      let code = known.get(value);
      if (code === undefined) known.set(value, (code = areas.push(0) - 1));
      column[i] = code;
      areas[code] += width[i] * (end[i] - start[i]);
    }
    return column;
  });
  const sorted = [...known].sort((a, b) => areas[b[1]] - areas[a[1]] || (String(a[0]) < String(b[0]) ? -1 : 1)).map(([value]) => value);
  const named = sorted.length > CATEGORIES.length ? sorted.slice(0, CATEGORIES.length) : sorted;
  const places = new Map(named.map((value, at) => [value, at]));
  const others = sorted.length > named.length;
  const colours = new Uint8Array(areas.length).fill(named.length);
  for (const [value, code] of known) if (places.has(value)) colours[code] = places.get(value);
  const index = codes.map((column) => {
    const made = new Uint8Array(column.length);
    for (let i = 0; i < made.length; i++) made[i] = colours[column[i]];
    return made;
  });
  const words = [...named.map((value) => word(value)), ...(others ? [`${sorted.length - named.length} others`] : [])];
  return { index, words, colours: () => [...CATEGORIES.slice(0, named.length), ...(others ? [OTHER] : [])] };
}

/** Gives each job or task (unit) a colour, such that units that touch each other have different colours. `of` returns the number
 * of the unit of a placement, less than `count`. `isGrey` returns whether a unit has the shared grey colour.
 *
 * Units get their colours in the reverse of the following order: the unit with the fewest remaining neighbours is removed,
 * again and again. If each unit is one rectangle, eight colours then suffice to give neighbours different colours that are not
 * similar. */
function byUnit(model, word, count, of, isGrey) {
  const all = colouring(model, model.schedules, count, of, isGrey);
  const { schedules } = model;
  // Alternative schedules are shown one at a time. So if no common colouring separates all neighbours, each schedule gets its own
  // colouring.
  const apart = model.choose && schedules.length > 1 && all.same > 0 ? schedules.map((schedule) => colouring(model, [schedule], count, of, isGrey)) : null;
  const made = (schedule, at) => apart?.[at] ?? all;
  const index = schedules.map((schedule, at) => {
    const { colour } = made(schedule, at);
    return Uint8Array.from({ length: schedule.count }, (_, i) => colour[of(schedule, i)]);
  });
  const last = CATEGORIES.length;
  const hasGrey = index.some((column) => column.includes(last));
  const same = (apart ?? [all]).reduce((sum, one) => sum + one.same, 0);
  const pairs = (apart ?? [all]).reduce((sum, one) => sum + one.pairs, 0);
  const told = same ? `${grouped(same)} of ${grouped(pairs)} pairs of neighbours share a colour` : "neighbours differ";
  const kept = schedules.length < 2 ? "" : apart ? "; each schedule has colours of its own" : `; a ${word} has one colour in every schedule`;
  return { index, words: hasGrey ? ["best effort"] : [], first: last, colours: () => [...CATEGORIES, OTHER], note: count > 1 ? told + kept : "" };
}
const byJob = (model) => byUnit(model, "job", model.jobs, (schedule, i) => schedule.job(i), (job) => model.isBestEffort(job));
const byTask = (model) => byUnit(model, "task", model.rows, (schedule, i) => schedule.row[i], (row) => model.isBestEffort(model.jobOf(row)));

/** Returns a colour for each unit, the number of pairs of neighbours, and the number of these pairs with equal colours. */
function colouring(model, schedules, count, of, isGrey) {
  const last = CATEGORIES.length;
  const near = unitsThatTouch(model, schedules, count, of);
  const colour = new Uint8Array(count).fill(last + 1);
  for (let unit = 0; unit < count; unit++) if (isGrey(unit)) colour[unit] = last;
  const used = new Uint32Array(last + 2);
  const order = removedOf(count, near);
  for (let k = count - 1; k >= 0; k--) {
    const unit = order[k];
    if (colour[unit] === last) continue;
    used.fill(0);
    for (let at = near.first[unit]; at < near.end[unit]; at++) used[colour[near.list[at]]]++;
    // Chooses the colour that the fewest neighbours have, and then the colour that is similar to the fewest neighbours. The search
    // begins at a colour that depends on the number of the unit.
    const alike = (at) => ALIKE[at].reduce((sum, other) => sum + used[other], 0);
    let best = unit % last;
    for (let step = 1; step < last && used[best] + alike(best); step++) {
      const next = (unit + step) % last;
      if (used[next] < used[best] || (used[next] === used[best] && alike(next) < alike(best))) best = next;
    }
    colour[unit] = best;
  }
  let [same, pairs] = [0, 0];
  for (let unit = 0; unit < count; unit++) {
    for (let at = near.first[unit]; at < near.end[unit]; at++) {
      const other = near.list[at];
      if (other > unit) pairs++;
      if (other > unit && colour[other] === colour[unit] && colour[unit] !== last) same++;
    }
  }
  return { colour, same, pairs };
}

/** Returns all units in an order in which each unit has the fewest neighbours among the units after it. */
function removedOf(count, near) {
  const degree = Uint32Array.from({ length: count }, (_, job) => near.end[job] - near.first[job]);
  const waiting = Array.from({ length: degree.reduce((most, one) => Math.max(most, one), 0) + 1 }, () => []);
  for (let job = 0; job < count; job++) waiting[degree[job]].push(job);
  const order = new Uint32Array(count);
  const gone = new Uint8Array(count);
  for (let [found, least] = [0, 0]; found < count; ) {
    // A job is in the list of each degree that it has had. Only the entry for its current degree is valid.
    const job = waiting[least].pop();
    if (job === undefined) {
      least++;
      continue;
    }
    if (gone[job] || degree[job] !== least) continue;
    gone[job] = 1;
    order[found++] = job;
    for (let at = near.first[job]; at < near.end[job]; at++) {
      const other = near.list[at];
      if (gone[other]) continue;
      waiting[--degree[other]].push(other);
      least = Math.min(least, degree[other]);
    }
  }
  return order;
}

/** Returns the units that touch each unit: one follows the other on a processor, or runs at the same time in an adjacent row.
 * The neighbours of a unit are in `list`, from `first` to `end`. */
function unitsThatTouch(model, schedules, count, of) {
  const pairs = [];
  for (const schedule of schedules) {
    const holder = new Int32Array(model.processors).fill(-1);
    const touch = (i, other) => {
      const [a, b] = [of(schedule, i), of(schedule, other)];
      if (a !== b) pairs.push(a, b);
    };
    // A placement that has already ended is not adjacent to a placement that starts later.
    const beside = (i, other) => other >= 0 && schedule.end[other] > schedule.start[i] && touch(i, other);
    for (let i = 0; i < schedule.count; i++) {
      for (let k = schedule.first[i]; k < schedule.first[i + 1]; k++) {
        const [first, end] = [schedule.spans[2 * k], schedule.spans[2 * k + 1]];
        if (first > 0) beside(i, holder[first - 1]);
        if (end + 1 < model.processors) beside(i, holder[end + 1]);
        let previous = -1;
        for (let processor = first; processor <= end; processor++) {
          if (holder[processor] !== previous && (previous = holder[processor]) >= 0) touch(i, previous);
        }
        if (end < model.processors) holder.fill(i, first, end + 1);
      }
    }
  }
  const first = new Uint32Array(count + 1);
  for (const unit of pairs) first[unit + 1]++;
  for (let unit = 0; unit < count; unit++) first[unit + 1] += first[unit];
  const next = first.slice();
  const list = new Uint32Array(pairs.length);
  for (let k = 0; k < pairs.length; k += 2) {
    list[next[pairs[k]]++] = pairs[k + 1];
    list[next[pairs[k + 1]]++] = pairs[k];
  }
  // Removes repeated neighbours.
  const end = new Uint32Array(count);
  for (let unit = 0; unit < count; unit++) {
    const own = list.subarray(first[unit], first[unit + 1]).sort();
    let kept = 0;
    for (let k = 0; k < own.length; k++) if (k === 0 || own[k] !== own[k - 1]) own[kept++] = own[k];
    end[unit] = first[unit] + kept;
  }
  return { first, end, list };
}

/** Returns how much later each placement could end without a change of the makespan, if the processors and the order are
 * unchanged. */
function slackOf(schedule) {
  const { model, count } = schedule;
  const latest = new Float64Array(count);
  const limit = new Float64Array(model.processors).fill(schedule.makespan);
  const ends = model.hasEdges ? new Float64Array(model.rows).fill(schedule.makespan) : null;
  for (let i = count - 1; i >= 0; i--) {
    let end = schedule.makespan;
    for (let k = 2 * schedule.first[i]; k < 2 * schedule.first[i + 1]; k += 2) {
      for (let processor = schedule.spans[k]; processor <= schedule.spans[k + 1]; processor++) end = Math.min(end, limit[processor]);
    }
    if (ends) end = Math.min(end, ends[schedule.row[i]]);
    const begin = end - (schedule.end[i] - schedule.start[i]);
    for (let k = 2 * schedule.first[i]; k < 2 * schedule.first[i + 1]; k += 2) limit.fill(begin, schedule.spans[k], schedule.spans[k + 1] + 1);
    if (ends) schedule.eachBefore(i, (row, transfer) => (ends[row] = Math.min(ends[row], begin - transfer)));
    latest[i] = end - schedule.end[i];
  }
  return latest;
}

function byCriticality(model) {
  const slacks = new Map(model.schedules.map((schedule) => [schedule, slackOf(schedule)]));
  const exactly = model.end * 1e-9;
  const limits = [exactly, model.end * 0.01, model.end * 0.1];
  const classes = classesOf(limits, ["on a critical path", `could end up to ${duration(limits[1])} later`, `up to ${duration(limits[2])} later`, "later still"]);
  const made = byClass(model, (schedule, i) => slacks.get(schedule)[i], classes, "amount");
  return { ...made, colours: (scheme) => (scheme === "light" ? ["#c2410c", "#eebb77", "#b9d4ea", "#d9dee4"] : ["#ff8a4c", "#a8763b", "#48698a", "#3a4450"]) };
}

function largestOf(model, value) {
  let largest = 0;
  for (const schedule of model.schedules) for (let i = 0; i < schedule.count; i++) largest = Math.max(largest, value(schedule, i));
  return largest;
}

function byAllotment(model) {
  const largest = largestOf(model, (schedule, i) => schedule.width[i]);
  const powers = [];
  for (let power = 1; power < largest; power *= 2) powers.push(power);
  const limits = powers.length > 6 ? powers.filter((_, k) => (powers.length - 1 - k) % Math.ceil(powers.length / 6) === 0) : powers;
  const words = limits.map((limit, k) => (k === 0 || limits[k - 1] + 1 === limit ? `${limit}` : `${limits[k - 1] + 1}\u2013${limit}`));
  const from = (limits.at(-1) ?? 0) + 1;
  words.push(largest > from ? `${from}\u2013${largest}` : `${Math.max(largest, from)}`);
  return byClass(model, (schedule, i) => schedule.width[i], classesOf(limits, words), "amount");
}

function byWait(model) {
  const wait = (schedule, i) => schedule.start[i] - schedule.ready(i);
  return byClass(model, wait, timeClasses(largestOf(model, wait)), "trouble");
}

function byStretch(model) {
  const stretch = (schedule, i) => (schedule.end[i] - schedule.ready(i)) / Math.max(schedule.end[i] - schedule.start[i], 1e-9);
  const limits = [1.001, 1.5, 3, 10, 100, 1000];
  return byClass(model, stretch, classesOf(limits, ["1: no wait", "to 1.5", "to 3", "to 10", "to 100", "to 1000", "more"]), "trouble");
}

function byResource(model, resource) {
  const { name } = model.resources[resource];
  const held = (schedule, i) => schedule.held[resource](i);
  const largest = largestOf(model, held);
  const limits = [0, ...[1 / 16, 1 / 8, 1 / 4, 1 / 2].map((part) => (name === "memory" ? largest * part : Math.floor(largest * part)))].filter((limit, k, all) => k === 0 || limit > all[k - 1]);
  const words = ["none", ...between(limits, (value) => amountText(name, value)).slice(1)];
  words[words.length - 1] = `to ${amountText(name, largest)}`;
  return byClass(model, held, classesOf(limits, words), "amount");
}

/** Formats an amount of a resource for people. */
function amountText(name, amount) {
  if (name !== "memory") return grouped(Math.round(amount * 100) / 100);
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  let value = amount;
  while (value >= 1024 && at < units.length - 1) [value, at] = [value / 1024, at + 1];
  return `${Number(value.toPrecision(3))} ${units[at]}`;
}

const OUTCOMES = { failed: "failed", signalled: "killed by a signal", killed: "ended at its time limit", interrupted: "interrupted, ran again", "not started": "not started" };
function byOutcome(model) {
  const words = ["planned", "ended well", ...Object.values(OUTCOMES)];
  const keys = Object.keys(OUTCOMES);
  // A plan that is shown in addition to a run has no outcomes.
  const of = (schedule, i) => (schedule.outcomes.size ? keys.indexOf(schedule.outcomes.get(i)) + 2 : 0);
  const all = model.schedules.map((schedule) => Uint8Array.from({ length: schedule.count }, (_, i) => of(schedule, i)));
  const there = words.map((_, at) => at).filter((at) => all.some((column) => column.includes(at)));
  const colours = (scheme) => [OTHER, scheme === "light" ? "#b9d4ea" : "#48698a", SEVERE, "#aa4499", "#ee8866", "#eedd88", "#888888"];
  return {
    index: all.map((column) => column.map((at) => there.indexOf(at))),
    words: there.map((at) => words[at]),
    colours: (scheme) => there.map((at) => colours(scheme)[at]),
  };
}

function byState(model) {
  const states = ["succeeded", "running", "waiting", "failed", "timed out", "cancelled", "not started", "held"];
  const present = states.filter((state) => model.schedules.some((schedule) => schedule.states.includes(state)));
  const light = { succeeded: "#b9c4cf", running: "#44bb99", waiting: "#99ccee", failed: SEVERE, "timed out": "#ee8866", cancelled: "#aaaa00", "not started": "#888888", held: "#eedd88" };
  const index = model.schedules.map((schedule) => Uint8Array.from(schedule.states, (state) => Math.max(0, present.indexOf(state))));
  return { index, words: present, colours: () => present.map((state) => light[state]) };
}

const several = (model, key) => {
  const seen = new Set();
  for (const schedule of model.schedules) {
    const step = Math.max(1, Math.floor(schedule.count / 2000));
    for (let i = 0; i < schedule.count; i += step) seen.add(key(schedule, i));
  }
  return seen.size;
};

/** Returns the ways to colour a chart that are useful for this model. */
function coloursFor(model) {
  const ways = [];
  const add = (key, word, make) => ways.push({ key, word, make });
  // The first names decide whether names contain types. Checking all names could delay the first picture too long.
  const first = Math.min(model.rows, 512);
  const types = new Set(Array.from({ length: first }, (_, row) => model.typeOf(row))).size;
  if (model.schedules.some((schedule) => schedule.states)) add("state", "state", () => byState(model));
  if (model.jobs > 1 || model.rows === 1) add("job", "job", () => byJob(model));
  if (model.rows > model.jobs) add("task", "task", () => byTask(model));
  if (model.user && several(model, (schedule, i) => model.user(schedule.job(i))) > 1) {
    add("user", "user", () => byCategory(model, (schedule, i) => model.user(schedule.job(i)), (user) => model.userName(user)));
  }
  if (types > 1 && types <= Math.max(8, first / 4)) add("type", "task type", () => byCategory(model, (schedule, i) => model.types.of[schedule.row[i]], (type) => model.types.names[type]));
  if (model.schedules.some((schedule) => schedule.groups.length > 0)) {
    const group = (schedule, i) => schedule.groups[(schedule.group?.[i] ?? 0) - 1] ?? "none";
    add("group", "group", () => byCategory(model, group, (word) => word));
  }
  if (several(model, (schedule, i) => schedule.width[i]) > 1) add("allotment", "allotment", () => byAllotment(model));
  if (!model.live) {
    add("wait", "wait", () => byWait(model));
    add("stretch", "stretch", () => byStretch(model));
    add("critical", "critical path", () => byCriticality(model));
  }
  model.resources.forEach(({ name, isHeld }, at) => {
    if (isHeld) add(`resource ${at}`, name, () => byResource(model, at));
  });
  if (model.schedules.some((schedule) => schedule.outcomes.size > 0)) add("outcome", "outcome", () => byOutcome(model));
  return ways;
}

/** Returns the initial way to colour a chart: jobs if their number is small enough, or else common properties of jobs. */
function firstWay(model, ways) {
  const known = new Set(ways.map((way) => way.key));
  const count = Math.max(0, ...model.schedules.map((schedule) => schedule.count));
  const wished = known.has("state") ? ["state"] : known.has("group") ? ["group"] : model.jobs === 1 && model.rows > 1 ? ["type", ...(count <= 600 ? ["task"] : []), "critical"] : count <= 600 ? ["job"] : ["user", "type", "allotment", "wait", "job"];
  return wished.find((key) => known.has(key)) ?? ways[0].key;
}
