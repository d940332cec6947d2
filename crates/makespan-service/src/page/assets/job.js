// The view of a job: the state, the reasons for waiting, and the output.

import { PART, get, log, send } from "./api.js";
import { el, expectedEnd, expectedStart, link, listed, number, range, span, state, table, time } from "./dom.js";

// Maximum number of characters of an output that are shown.
const SHOWN = 200000;
// Maximum number of tasks that are shown.
const TASKS = 200;

const say = (text) => { document.getElementById("live").textContent = text; };

// The end of a task's output, which grows.
class Tail {
  constructor(name, stream, job) {
    Object.assign(this, { stream, job });
    this.note = el("p", { class: "dim" });
    this.pre = el("pre", { tabindex: "0", "aria-label": name });
    this.element = el("section", {}, el("h2", {}, name), this.note, this.pre);
    this.show(0);
  }

  show(task) {
    this.task = task;
    this.from = null;
    this.decoder = new TextDecoder();
    this.pre.replaceChildren();
    this.note.replaceChildren();
  }

  async refresh(whenEmpty) {
    // Only one read at a time is active.
    if (this.reads) return;
    this.reads = true;
    try {
      await this.read(whenEmpty);
    } finally {
      this.reads = false;
    }
  }

  async read(whenEmpty) {
    const { task } = this;
    let part = await log(this.job, task, this.stream, this.from ?? 0);
    if (this.from === null && part.size > PART) {
      this.from = part.size - PART;
      part = await log(this.job, task, this.stream, this.from);
      this.note.replaceChildren(`The last ${number(PART / 1024)} KiB; all of it: `, el("code", {}, `makespan logs ${this.job}`));
    }
    // The user may have chosen another task in the meantime.
    if (task !== this.task) return;
    this.from = (this.from ?? 0) + part.bytes.byteLength;
    const text = this.decoder.decode(part.bytes, { stream: true });
    const { pre } = this;
    const atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 5;
    if (text) pre.textContent = (pre.textContent + text).slice(-SHOWN);
    if (text && atEnd) pre.scrollTop = pre.scrollHeight;
    if (this.from === 0) this.note.textContent = whenEmpty ?? "";
    else if (this.note.textContent === whenEmpty) this.note.textContent = "";
    pre.hidden = this.from === 0;
    this.element.hidden = this.from === 0 && !whenEmpty;
  }
}

function facts(one) {
  const waits = one.started === null;
  const all = [["user", one.user], ["submitted", time(one.submitted)], [waits ? "starts" : "started", one.started ? time(one.started) : expectedStart(one)],
    [one.ended === null ? "ends" : "ended", one.ended ? time(one.ended) : expectedEnd(one)],
    ["ran for", one.ended !== null && one.started !== null ? span(one.ended - one.started) : null],
    ["processors", one.processors], ["tasks ended", one.tasks > 1 ? `${number(one.tasks_ended)} of ${number(one.tasks)}` : null],
    ["weight", one.weight === 1 && one.priority === 0 ? null : `${one.weight}, priority ${one.priority}`],
    ["not before", one.begin === null ? null : time(one.begin)], ["deadline", one.deadline === null ? null : time(one.deadline)],
    ["folder", one.directory], ["waits for", one.after.length ? listed(one.after.map(link)) : null], ["reason", one.reason]];
  const told = all.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return told.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, [value].flat())));
}

function reasons(told) {
  const sure = told.ranges.calibrated ? `The ranges are calibrated from ${number(told.ranges.known_starts)} known starts.`
    : `The ranges are not yet calibrated: ${told.ranges.known_starts} of 50 starts are known.`;
  const start = { expected_start: told.start, behind: told.behind };
  const one = (reason) => el("li", {}, reason.text, reason.jobs.length ? [" (", ...listed(reason.jobs.map(link)), ")"] : "", reason.remedy ? `; would help: ${reason.remedy}` : "");
  return [el("h2", {}, "Why it does not run now"), told.late === null ? "" : el("p", {}, "Expected to start ", el("b", {}, expectedStart(start)), range(told, told.ranges), "."),
    el("ul", {}, told.reasons.map(one)), told.late === null ? "" : el("p", { class: "dim" }, sure)];
}

function taskTable(one) {
  const heads = [["task"], ["state"], ["exit", "figure"], ["cores"], ["estimate", "optional"], ["memory", "optional figure"], ["command"]];
  const row = (task) => el("tr", {}, el("td", {}, task.name || String(task.task)), el("td", {}, state(task.state)),
    el("td", { class: "figure" }, String(task.exit ?? "–")), el("td", {}, task.processors ?? "–"),
    el("td", { class: "optional" }, `${span(task.estimate)}, ${task.estimated_by}`),
    el("td", { class: "optional figure" }, task.memory === null ? "–" : `${Math.ceil(task.memory / 1048576)} MiB`),
    el("td", { class: "name" }, el("code", {}, task.command.join(" "))));
  const left = one.tasks - Math.min(TASKS, one.task_list.length);
  return [table(heads, one.task_list.slice(0, TASKS).map(row)), left > 0 ? el("p", { class: "dim" }, `${number(left)} more tasks`) : ""];
}

export function job(root, id) {
  const title = el("h1", {}, `Job ${id}`);
  const tools = el("div", { class: "tools" });
  const about = el("dl", { class: "facts" });
  const why = el("div", { class: "panel" });
  const tasks = el("div", { class: "panel" });
  const out = new Tail("Output", "out", id);
  const err = new Tail("Errors", "err", id);
  const choice = el("select", { onchange: () => { out.show(choice.value); err.show(choice.value); refresh(); } });
  const choose = el("label", { class: "inline", hidden: true }, "Task", choice);
  root.append(title, tools, el("div", { class: "panel" }, about), why, choose, out.element, err.element, el("h2", {}, "Tasks"), tasks);
  const act = (what, question) => async () => {
    if (question && !confirm(question)) return;
    await send(`/jobs/${id}/${what}`);
    say(`Job ${id}: ${what}`);
    refresh();
  };
  const refresh = async () => {
    const one = await get(`/jobs/${id}`);
    title.replaceChildren(`Job ${one.number}: ${one.name} `, state(one.state));
    const button = (text, what, question) => el("button", { onclick: act(what, question) }, text);
    tools.replaceChildren(...[
      ["waiting", "held", "running"].includes(one.state) && button("Cancel", "cancel", `Cancel job ${id}?`),
      one.state === "waiting" && button("Hold", "hold"), one.state === "held" && button("Release", "release")].filter(Boolean));
    tools.hidden = tools.children.length === 0;
    about.replaceChildren(...facts(one));
    const waits = ["waiting", "held"].includes(one.state);
    if (waits) why.replaceChildren(...reasons(await get(`/jobs/${id}/explain`)));
    why.hidden = !waits;
    choose.hidden = one.tasks < 2;
    if (choice.length !== Math.min(TASKS, one.task_list.length)) {
      const all = one.task_list.slice(0, TASKS).sort((first, second) => first.task - second.task);
      choice.replaceChildren(...all.map((task) => el("option", { value: task.task }, task.name || String(task.task))));
    }
    tasks.replaceChildren(...taskTable(one));
    await out.refresh(one.started === null ? "It has not started." : "It has printed nothing.");
    await err.refresh();
  };
  return refresh;
}
