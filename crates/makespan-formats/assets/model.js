// Data of a page, and functions to query them. Times are in seconds. Processors are numbered from 0.

/** Formats a name for the screen. Invisible control characters, and characters that reorder text, become a visible sign. */
const shown = (name) => name.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
const isolated = (name) => `\u2068${name}\u2069`;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : /(ch|s|x)$/.test(word) ? "es" : "s"}`;

/** Returns the first index in [0, length) for which `test` holds. `test` must also hold for all later indices. */
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

/** Number of consecutive placements for which the latest end is stored. */
const RUN = 512;

/** Schedule in columns. Placements are ordered by start, so those in view are found by bisection. */
class Schedule {
  constructor(model, source) {
    Object.assign(this, { model, name: shown(source.name), makespan: source.makespan, count: source.count });
    this.marks = new Map(source.marks);
    this.guesses = new Set(source.guesses);
    this.outcomes = new Map(source.outcomes);
    this.deadlines = source.deadlines;
    // For a run: how each placement ended, and its output files.
    this.ended = source.ended ? distinct(source.ended) : null;
    this.stems = source.stems ? new Names(source.stems, source.count) : null;
    this.written = source.written ? distinct(source.written) : null;
    this.groups = source.groups.map(shown);
    this.group = source.group ? new Reader(source.group) : null;
    this.held = source.held.map(distinct);
    this.transfers = source.transfers ? distinct(source.transfers) : null;
    // For a cluster: the state, the texts and the key of each placement.
    Object.assign(this, { states: source.states, texts: source.texts, keys: source.keys });
    if (source.placements === undefined) this.take(source.boxes);
    else this.decode(source);
    this.finish();
  }
  room(count, intervals) {
    this.row = new Uint32Array(count);
    this.copy = null;
    this.start = new Float64Array(count);
    this.end = new Float64Array(count);
    this.width = new Uint32Array(count);
    /** The processor intervals of placement i are spans[2 * first[i]] .. spans[2 * first[i + 1]]. Each is a first and a last
     * processor. */
    this.first = new Uint32Array(count + 1);
    this.spans = new Uint32Array(2 * intervals);
  }
  decode(source) {
    const { count } = this;
    this.room(count, source.intervals);
    const { perSecond } = this.model;
    const reader = new Reader(source.placements);
    if (source.copies) this.copy = new Uint32Array(count);
    let [row, begin, at] = [0, 0, 0];
    for (let i = 0; i < count; i++) {
      row += reader.signed();
      this.row[i] = row;
      if (source.copies) this.copy[i] = reader.next();
      begin += reader.signed();
      this.start[i] = begin / perSecond;
      this.end[i] = (begin + reader.next()) / perSecond;
      let width = 0;
      let free = 0;
      for (let left = reader.next(); left > 0; left--) {
        const first = free + reader.next();
        const length = reader.next();
        this.spans[at++] = first;
        this.spans[at++] = first + length;
        free = first + length + 1;
        width += length + 1;
      }
      this.first[i + 1] = at / 2;
      this.width[i] = width;
    }
    if (this.group) {
      const reader = this.group;
      this.group = Uint16Array.from({ length: count }, () => reader.next());
    }
  }
  /** Reads placements from objects, in any order. An object has a row, a start, an end and intervals. */
  take(boxes) {
    this.room(boxes.length, boxes.reduce((sum, box) => sum + box.processors.length, 0));
    let at = 0;
    boxes.forEach((box, i) => {
      [this.row[i], this.start[i], this.end[i]] = [box.row, box.start, box.end];
      for (const [first, last] of box.processors) {
        this.spans[at++] = first;
        this.spans[at++] = last;
        this.width[i] += last - first + 1;
      }
      this.first[i + 1] = at / 2;
    });
  }
  finish() {
    const { count, end } = this;
    this.latest = new Float64Array(Math.ceil(count / RUN));
    for (let i = 0; i < count; i++) {
      const block = Math.floor(i / RUN);
      if (end[i] > this.latest[block]) this.latest[block] = end[i];
    }
    this.lit = null;
    this.colour = null;
  }
  job(i) {
    return this.model.jobOf(this.row[i]);
  }
  nameAt(i) {
    return this.model.nameOf(this.row[i], this.copy?.[i]);
  }
  /** Calls `act` with each placement that overlaps a period, until `act` returns true. */
  between(from, to, act) {
    const high = firstWhere(this.count, (i) => this.start[i] >= to);
    for (let block = 0; block * RUN < high; block++) {
      if (this.latest[block] <= from) continue;
      const last = Math.min(high, (block + 1) * RUN);
      for (let i = block * RUN; i < last; i++) {
        if (this.end[i] > from && act(i)) return;
      }
    }
  }
  /** Returns the approximate number of placements that overlap a period. */
  countBetween(from, to) {
    const high = firstWhere(this.count, (i) => this.start[i] >= to);
    let count = 0;
    for (let block = 0; block * RUN < high; block++) {
      if (this.latest[block] > from) count += Math.min(high - block * RUN, RUN);
    }
    return count;
  }
  holds(i, processor) {
    for (let k = this.first[i]; k < this.first[i + 1]; k++) {
      if (this.spans[2 * k] <= processor && processor <= this.spans[2 * k + 1]) return true;
    }
    return false;
  }
  /** Returns the placement that holds a processor at an instant, or -1. */
  placementAt(time, processor) {
    const high = firstWhere(this.count, (i) => this.start[i] > time);
    for (let block = Math.floor((high - 1) / RUN); block >= 0; block--) {
      if (this.latest[block] <= time) continue;
      for (let i = Math.min(high, (block + 1) * RUN) - 1; i >= block * RUN; i--) {
        if (this.end[i] > time && this.holds(i, processor)) return i;
      }
    }
    return -1;
  }
  intervals(i) {
    return Array.from(this.spans.subarray(2 * this.first[i], 2 * this.first[i + 1]));
  }
  /** Returns the placements of each row, and the last end of each row. */
  byRow() {
    if (!this.rows) {
      const { rows } = this.model;
      const first = new Uint32Array(rows + 1);
      const ends = new Float64Array(rows).fill(-Infinity);
      for (let i = 0; i < this.count; i++) {
        first[this.row[i] + 1]++;
        ends[this.row[i]] = Math.max(ends[this.row[i]], this.end[i]);
      }
      for (let row = 0; row < rows; row++) first[row + 1] += first[row];
      const next = first.slice();
      const list = new Uint32Array(this.count);
      for (let i = 0; i < this.count; i++) list[next[this.row[i]]++] = i;
      this.rows = { first, list, ends };
    }
    return this.rows;
  }
  of(row) {
    const { first, list } = this.byRow();
    return list.subarray(first[row], first[row + 1]);
  }
  /** Returns the non-empty output files of a placement: a word and an address relative to the page for each. */
  files(i) {
    const stem = this.stems?.at(i);
    if (!stem) return [];
    const path = `./${stem.split("/").map(encodeURIComponent).join("/")}`;
    const written = this.written(i);
    return [["output", "out", 1], ["errors", "err", 2]].filter(([, , bit]) => written & bit).map(([word, ending]) => [word, `${path}.${ending}`]);
  }
  /** Returns the deadline of each job that has one. */
  due() {
    this.dues ??= new Map(this.deadlines.map(([at, , job]) => [job, at]));
    return this.dues;
  }
  /** Returns the earliest possible start of a placement: its job is released, all predecessors of its task have ended, and their
   * data have arrived. */
  ready(i) {
    let ready = this.model.release[this.job(i)];
    if (this.model.hasEdges) {
      const { ends } = this.byRow();
      this.eachBefore(i, (row, transfer) => (ready = Math.max(ready, ends[row] + transfer)));
    }
    return Math.min(ready, this.start[i]);
  }
  /** Calls `act` with each predecessor of a placement's task, and the duration of the data transfer from the predecessor. */
  eachBefore(i, act) {
    const { first, list } = this.model.edgesOf("incoming");
    for (let k = first[this.row[i]]; k < first[this.row[i] + 1]; k++) act(list[k], this.transfers?.(k) ?? 0);
  }
}

class Model {
  constructor(data) {
    this.data = data;
    this.title = shown(data.title);
    this.processors = data.processors;
    this.perSecond = data.perSecond;
    this.nodes = data.nodes.map(([name, first, count]) => ({ name: shown(name), first, count }));
    this.resources = data.resources.map((resource) => ({ ...resource, name: shown(resource.name) }));
    this.bound = data.bound;
    this.boundWord = data.boundWord;
    this.choose = data.choose;
    this.unavailable = data.unavailable;
    this.open = data.open;
    this.readJobs(data.jobs);
    this.readTasks(data.tasks);
    this.hasEdges = Boolean(data.edges);
    this.schedules = data.schedules.map((source) => new Schedule(this, source));
    // A resource that no placement holds has neither a lane nor a colour.
    this.resources.forEach((resource, at) => {
      resource.isHeld = data.schedules.some(({ held }) => held[at]?.values.some((value) => value > 0));
    });
    // For a cluster in operation: the instant "now", and the initial view.
    Object.assign(this, { live: Boolean(data.live), origin: data.origin, home: data.home });
    // In a run, the first schedule contains the actual runs. The view fits this schedule if the plan is far longer.
    this.commands = data.commands ? new Names(data.commands, this.rows) : null;
    const [happened, planned] = this.schedules;
    this.wasShort = Boolean(this.commands && planned) && happened.makespan > 0 && happened.makespan * 2 < planned.makespan;
    if (this.wasShort) this.home = [0, happened.makespan * 1.08];
    this.begin = data.begin ?? 0;
    this.end = data.end ?? Math.max(...this.schedules.map((one) => one.makespan), data.bound ?? 0, 1e-9);
  }
  readJobs(jobs) {
    this.jobs = jobs.count;
    this.names = typeof jobs.names === "string" ? new Names(jobs.names, jobs.count) : { at: (job) => jobs.names[job], all: () => jobs.names };
    this.weight = distinct(jobs.weight);
    this.user = Array.isArray(jobs.user) ? (job) => jobs.user[job] : jobs.user ? distinct(jobs.user) : null;
    this.kind = jobs.kind ? distinct(jobs.kind) : () => 0;
    this.release = new Float64Array(jobs.count);
    if (typeof jobs.release !== "string") return;
    const reader = new Reader(jobs.release);
    let release = 0;
    for (let job = 0; job < jobs.count; job++) this.release[job] = (release += reader.signed()) / this.perSecond;
  }
  readTasks(tasks) {
    this.rows = tasks ? tasks.count : this.jobs;
    this.rowJob = null;
    this.rowNames = null;
    if (!tasks) return;
    this.rowJob = new Uint32Array(tasks.count);
    this.rowNames = new Names(tasks.names, tasks.count);
    const reader = new Reader(tasks.rows);
    let row = 0;
    for (let job = 0; job < this.jobs; job++) for (let left = reader.next(); left > 0; left--) this.rowJob[row++] = job;
  }
  jobOf(row) {
    return this.rowJob ? this.rowJob[row] : row;
  }
  jobName(job) {
    return shown(this.names.at(job) ?? String(job));
  }
  /** Returns the text for a user in a legend. */
  userName(user) {
    const name = this.data.users?.[user];
    if (name !== undefined) return shown(name);
    return user < 0 ? "unknown" : `user ${user}`;
  }
  /** Returns the text for the user of a job in a table: a name, or a number if names are unknown, or an empty text. */
  userOf(job) {
    const user = this.user(job);
    if (user < 0) return "";
    return this.data.users ? this.userName(user) : String(user);
  }
  /** True for a run of jobs with equal weights and without releases, such as a list of commands. */
  get isPlain() {
    this.plain ??= Boolean(this.commands) && this.release.every((release) => release === 0) && (this.data.jobs.weight.values?.length ?? 2) < 2 && !this.data.jobs.kind;
    return this.plain;
  }
  /** Returns the command of a task in a run. `copy` is the number of a task within a bag. */
  commandOf(row, copy) {
    const command = shown(this.commands.at(row));
    return this.kind(this.jobOf(row)) ? command.replaceAll("{task}", copy ?? 0) : command;
  }
  isBestEffort(job) {
    return this.kind(job) === 2;
  }
  /** Returns the full name of a task. It is the name of the job, followed by the name or number of the task within a bag or a
   * compound job. */
  nameOf(row, copy) {
    const job = this.jobOf(row);
    const within = this.rowNames?.at(row);
    if (within) return `${this.jobName(job)}/${shown(within)}`;
    return this.kind(job) ? `${this.jobName(job)}/${copy ?? 0}` : this.jobName(job);
  }
  /** Returns the common prefix of all job names, up to and including a separator. */
  get prefix() {
    if (this.common === undefined) {
      const step = Math.max(1, Math.floor(this.jobs / 300));
      let common = this.jobs ? this.names.at(0) : "";
      for (let job = 0; job < this.jobs && common; job += step) {
        const name = this.names.at(job);
        let length = 0;
        while (length < common.length && common[length] === name[length]) length++;
        common = common.slice(0, length);
      }
      const cut = Math.max(...["-", "_", "/", ".", " ", ":"].map((sign) => common.lastIndexOf(sign)));
      this.common = this.jobs > 1 && cut >= 3 ? common.slice(0, cut + 1) : "";
    }
    return this.common;
  }
  /** Returns a short name for the chart, without the common prefix. If there is only one job, returns the name of the task
   * within it. */
  labelOf(row, copy) {
    const job = this.jobOf(row);
    const within = this.rowNames?.at(row);
    if (within && this.jobs === 1) return shown(within);
    const name = this.nameOf(row, copy);
    return this.prefix && name.startsWith(this.prefix) && name.length > this.prefix.length ? name.slice(this.prefix.length) : name;
  }
  /** Returns the type of a task: the part of its name before the number. For example, the type of `frequency_ID0000012` is
   * `frequency`. */
  typeOf(row) {
    const within = this.rowNames?.at(row);
    const name = within || this.names.at(this.jobOf(row));
    const end = name.search(/\d/);
    const trimmed = (end < 0 ? name : name.slice(0, end)).replace(/[\s_\-.#:/(]+$/, "");
    // The suffix is removed only if a separator precedes the suffix. A word such as `grid` ends with `id` by chance.
    const type = trimmed.replace(/[\s_\-.#:/(]+(ID|id|job|task)$|^(ID|id|job|task)$/, (_, after, alone) => alone ?? "");
    return shown(type || (end === 0 ? "numbered" : name));
  }
  /** Returns the types of all tasks, as indices into a list of types. */
  get types() {
    if (!this.allTypes) {
      const known = new Map();
      const of = new Uint32Array(this.rows);
      for (let row = 0; row < this.rows; row++) {
        const type = this.typeOf(row);
        if (!known.has(type)) known.set(type, known.size);
        of[row] = known.get(type);
      }
      this.allTypes = { of, names: [...known.keys()] };
    }
    return this.allTypes;
  }
  readEdges() {
    const reader = new Reader(this.data.edges);
    const first = new Uint32Array(this.rows + 1);
    const list = [];
    for (let row = 0; row < this.rows; row++) {
      for (let left = reader.next(); left > 0; left--) list.push(row - reader.signed());
      first[row + 1] = list.length;
    }
    const incoming = { first, list: Uint32Array.from(list) };
    const out = new Uint32Array(this.rows + 1);
    for (const row of list) out[row + 1]++;
    for (let row = 0; row < this.rows; row++) out[row + 1] += out[row];
    const next = out.slice();
    const targets = new Uint32Array(list.length);
    for (let row = 0; row < this.rows; row++) {
      for (let k = first[row]; k < first[row + 1]; k++) targets[next[list[k]]++] = row;
    }
    this.edges = { incoming, outgoing: { first: out, list: targets } };
  }
  edgesOf(side) {
    if (!this.edges) this.readEdges();
    return this.edges[side];
  }
  neighbours(row, side) {
    if (!this.hasEdges) return [];
    const { first, list } = this.edgesOf(side);
    return list.subarray(first[row], first[row + 1]);
  }
  /** Returns the tasks for which a task waits. `after` returns the tasks that wait for it. */
  before(row) {
    return this.neighbours(row, "incoming");
  }
  after(row) {
    return this.neighbours(row, "outgoing");
  }
  nodeOf(processor) {
    return firstWhere(this.nodes.length, (node) => this.nodes[node].first > processor) - 1;
  }
}

/** Formats a set of processors, such as 0-3,8. */
function setText(intervals, limit = 60) {
  let text = "";
  for (let k = 0; k < intervals.length; k += 2) {
    if (text.length > limit) return `${text},\u2026`;
    const [first, last] = [intervals[k], intervals[k + 1]];
    text += (text && ",") + (first === last ? first : `${first}-${last}`);
  }
  return text;
}
