// The machines over time, with ended, running and planned jobs. Uses the same chart as all other pages.

import { Chart as Picture, Model } from "./gantt.js";
import { el, period, reason, relative, span, unknownBehind, words } from "./dom.js";

const known = (box) => (box.job ? `${box.job}/${box.task}` : "");

export class Chart {
  // `open` is called with the number of a job.
  constructor(open) {
    this.open = open;
    this.element = el("div", { class: "panel chart" });
    this.chart = null;
  }

  // Returns the initial period of the chart: all running and planned jobs, after a period in the past that is a third
  // as long. If there are no such jobs, returns the period of the jobs that ended last.
  // A reservation within the next day is shown if there are no running or planned jobs.
  home({ now, boxes, closed }) {
    const ends = boxes.filter((box) => box.state === "running" || box.state === "waiting").map((box) => box.end);
    if (!ends.length) ends.push(...closed.filter((one) => one.start < now + 86400).map((one) => Math.min(one.end, now + 86400)));
    const last = ends.reduce((most, end) => Math.max(most, end), now + 30);
    const past = boxes.filter((box) => box.end <= now).map((box) => box.start).sort((one, other) => other - one).slice(0, 20);
    const shown = ends.length ? (last - now) / 3 : Math.min(now - (past.at(-1) ?? now), 86400);
    return [now - Math.max(30, shown * 1.05), last + (last - now) / 20];
  }

  tell(box) {
    const planned = box.state === "waiting";
    const open = planned || box.state === "running";
    const unknown = box.longer_than !== null && box.longer_than !== undefined;
    const behind = box.behind !== null && box.behind !== undefined;
    // An overdue event has not happened yet, so the text is "any moment".
    const at = (instant, isPast) => (isPast || instant > Date.now() / 1000 ? relative(instant) : "any moment");
    return [["job", box.job ? String(box.job) : "of another user"], ["state", planned ? "planned" : words(box.state)],
      [planned ? "starts" : "started", behind ? unknownBehind(box.behind) : at(box.start, !planned)], [open ? "ends" : "ended", unknown ? `longer than expected (${span(box.longer_than)}), end unknown` : behind ? "unknown" : at(box.end, !open)],
      ["time", unknown ? `more than ${span(Date.now() / 1000 - box.start)}` : span(box.end - box.start)], ...(box.user ? [["user", box.user]] : [])];
  }

  // Returns the data of a chart. Instants are relative to the first picture, so that a zoom keeps its position.
  data(picture) {
    this.now = picture.now;
    this.base ??= picture.now;
    const at = (time) => time - this.base;
    const boxes = picture.boxes.toSorted((one, other) => one.start - other.start);
    const jobs = new Map();
    const users = [...new Set(boxes.map((box) => box.user))].sort();
    const names = [];
    const user = [];
    const rows = boxes.map((box) => {
      const key = box.job || `someone ${names.length}`;
      if (!jobs.has(key)) {
        jobs.set(key, names.length);
        // If a label does not fit, the chart shows the number at its end.
        names.push(box.job ? `${box.name} #${box.job}` : "a job of another user");
        user.push(users.indexOf(box.user));
      }
      return jobs.get(key);
    });
    const [from, to] = this.home(picture).map(at);
    // Zooming out shows reservations up to a week ahead.
    const near = picture.closed.map((one) => at(Math.min(one.end, picture.now + 604800)));
    const end = boxes.reduce((most, box) => Math.max(most, at(box.end)), Math.max(to, ...near));
    const unavailable = picture.closed.map((one) => ({
      start: at(one.start), end: at(one.end), processors: one.processors.flat(), why: `${reason(one)}, ${period(one)}`,
    }));
    return {
      title: "plan", processors: picture.processors, perSecond: 1, live: true, origin: at(picture.now), home: [from, to],
      begin: Math.min(from, boxes.length ? at(boxes[0].start) : from), end,
      nodes: picture.nodes.map((node) => [`${node.name}${node.down ? " \u2717" : ""}`, node.first, node.processors]),
      resources: [], bound: null, users: users.map((name) => name || "unknown"), unavailable, open: { time: [0], processors: [picture.processors] },
      jobs: { count: names.length, names, weight: { values: [1], rows: "" }, user },
      schedules: [{
        name: "plan", makespan: end, count: boxes.length, marks: [], guesses: [], outcomes: [], deadlines: [], groups: [], held: [],
        boxes: boxes.map((box, i) => ({ row: rows[i], start: at(box.start), end: at(box.end), processors: box.processors })),
        states: boxes.map((box) => words(box.state)), texts: boxes.map((box) => this.tell(box)), keys: boxes.map(known), jobs: boxes.map((box) => box.job),
      }],
    };
  }

  show(picture) {
    if (!picture.processors || this.element.hidden || !this.element.isConnected) return;
    const data = this.data(picture);
    const model = new Model(data);
    this.jobs = data.schedules[0].jobs;
    const open = ({ placement }) => this.jobs[placement] && this.open(this.jobs[placement]);
    if (this.chart) this.chart.replace(model);
    else this.chart = new Picture(this.element, model, { open, tell: (text) => { document.getElementById("live").textContent = text; } });
  }
}
