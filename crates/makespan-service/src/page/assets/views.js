// What each view shows. A view fills its root once, and returns what refreshes it.

import { get, log, send } from "./api.js";
import { Chart } from "./chart.js";
import { el, relative, span, state, svg, table, words } from "./dom.js";

const open = (job) => { location.hash = `#/job/${job}`; };
const say = (text) => { document.getElementById("live").textContent = text; };

function gap(bound) {
  if (bound.ratio === null) return `${words(bound.objective)}: no bound above 0`;
  const percent = (bound.ratio - 1) * 100;
  const text = percent < 0.05 ? "the best possible" : `at most ${(Math.ceil(percent * 10) / 10).toFixed(1)} % above the best possible`;
  return `${words(bound.objective)} of the plan: ${text}${bound.conditions.map((one) => `, ${one}`).join("")}`;
}

function plan(root) {
  const cards = el("div", { class: "cards" });
  const bounds = el("ul", { class: "bounds" });
  const remarks = el("ul");
  const chart = new Chart(open);
  root.append(el("h1", {}, "Plan"), cards, chart.element,
    el("p", { class: "optional" }, "Drag or use the arrow keys to move, Shift and the wheel or + and − to zoom, 0 for all."), bounds, remarks);
  return async () => {
    const picture = await get("/plan");
    const card = (name, value) => el("div", { class: "card" }, el("b", {}, String(value)), el("span", {}, name));
    cards.replaceChildren(card("running", picture.running), card("waiting", picture.waiting), card("held", picture.held),
      card(`processors, ${picture.engine}`, picture.processors));
    chart.show(picture);
    bounds.replaceChildren(...picture.bounds.map((bound) => el("li", {}, gap(bound))));
    const empty = picture.boxes.length === 0 && picture.waiting === 0;
    const notes = picture.remarks.slice(-3).reverse();
    if (picture.planned_left_out) notes.unshift(`${picture.planned_left_out} more tasks wait and are not planned one by one yet`);
    remarks.replaceChildren(...(empty ? ["Nothing has run yet. Submit a job: makespan submit -- sh -c 'echo hello'"] : notes).map((text) => el("li", {}, text)));
  };
}

function row(job) {
  return el("tr", {},
    el("td", {}, el("a", { href: `#/job/${job.number}` }, String(job.number))), el("td", {}, state(job.state)),
    el("td", { class: "name" }, job.name), el("td", { class: "optional" }, job.user), el("td", { class: "optional" }, String(job.processors)),
    el("td", { class: "optional" }, job.tasks > 1 ? `${job.tasks_ended} of ${job.tasks}` : "1"),
    el("td", {}, relative(job.started ?? job.expected_start)), el("td", { class: "optional" }, relative(job.ended ?? job.expected_end)));
}

function queue(root) {
  const text = el("input", { type: "search", placeholder: "part of a name", "aria-label": "Part of a name" });
  const which = el("select", { "aria-label": "State" }, el("option", { value: "open" }, "waiting and running"), el("option", { value: "" }, "all"),
    ["held", "waiting", "running", "succeeded", "failed", "timed_out", "cancelled", "not_started"].map((name) => el("option", { value: name }, words(name))));
  const body = el("div");
  const count = el("span", { class: "optional" });
  const more = el("button", {}, "Next page");
  const back = el("button", {}, "First page");
  let after = null;
  let next = null;
  const refresh = async () => {
    const query = new URLSearchParams({ limit: "100" });
    const states = which.value === "open" ? ["held", "waiting", "running"] : which.value ? [which.value] : [];
    states.forEach((name) => query.append("state", name));
    if (which.value === "") query.set("newest", "true");
    if (text.value) query.set("text", text.value);
    if (after !== null) query.set("after", after);
    const page = await get(`/jobs?${query}`);
    next = page.next;
    more.disabled = next === null;
    back.disabled = after === null;
    count.textContent = `${page.total} jobs`;
    const heads = [["job"], ["state"], ["name"], ["user", "optional"], ["cores", "optional"], ["tasks", "optional"], ["starts"], ["ends", "optional"]];
    body.replaceChildren(page.items.length ? table(heads, page.items.map(row)) : el("p", {}, "There are none. Submit one: makespan submit -- sh -c 'echo hello'"));
  };
  const again = () => { after = null; refresh(); };
  text.addEventListener("change", again);
  which.addEventListener("change", again);
  more.addEventListener("click", () => { after = next; refresh(); });
  back.addEventListener("click", again);
  root.append(el("h1", {}, "Queue"), el("div", { class: "tools" }, which, text, back, more, count), el("div", { class: "panel" }, body));
  return refresh;
}

function job(root, number) {
  const head = el("h1", {}, `Job ${number}`);
  const tools = el("div", { class: "tools" });
  const facts = el("dl");
  const why = el("ul");
  const tasks = el("div");
  const output = el("pre", { tabindex: "0", "aria-label": "Output" });
  const errors = el("pre", { tabindex: "0", "aria-label": "Errors" });
  const read = { out: 0, err: 0 };
  root.append(head, tools, el("div", { class: "panel" }, facts, why), el("h2", {}, "Output"), output, el("h2", {}, "Errors"), errors,
    el("h2", {}, "Tasks"), el("div", { class: "panel" }, tasks));
  const act = (what, ask) => async () => {
    if (ask && !confirm(ask)) return;
    await send(`/jobs/${number}/${what}`);
    say(`Job ${number}: ${what}`);
    refresh();
  };
  const tail = async (stream, pre) => {
    const part = await log(number, 0, stream, read[stream]);
    if (!part.text) return;
    const atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 5;
    read[stream] += new TextEncoder().encode(part.text).length;
    pre.append(part.text);
    if (atEnd) pre.scrollTop = pre.scrollHeight;
  };
  const refresh = async () => {
    const one = await get(`/jobs/${number}`);
    head.replaceChildren(`Job ${one.number}: ${one.name} `, state(one.state));
    const button = (text, what, ask) => el("button", { onclick: act(what, ask) }, text);
    tools.replaceChildren(...[
      ["waiting", "held", "running"].includes(one.state) && button("Cancel", "cancel", `Cancel job ${number}?`),
      one.state === "waiting" && button("Hold", "hold"), one.state === "held" && button("Release", "release")].filter(Boolean));
    const fact = (name, value) => value === null || value === undefined || value === "" ? [] : [el("dt", {}, name), el("dd", {}, String(value))];
    facts.replaceChildren(...[fact("user", one.user), fact("submitted", relative(one.submitted)), fact("starts", relative(one.started ?? one.expected_start)),
      fact("ends", relative(one.ended ?? one.expected_end)), fact("processors", one.processors), fact("weight", `${one.weight}, priority ${one.priority}`),
      fact("folder", one.directory), fact("waits for", one.after.join(", ")), fact("reason", one.reason)].flat());
    if (["waiting", "held"].includes(one.state)) {
      const told = await get(`/jobs/${number}/explain`);
      const range = told.early === null ? [] : [el("li", {}, `in eight of ten cases it starts between ${relative(told.early)} and ${relative(told.late)}`)];
      why.replaceChildren(...told.why_not.map((reason) => el("li", {}, reason.text)), ...range);
    } else why.replaceChildren();
    const heads = [["task"], ["state"], ["exit"], ["cores"], ["command"]];
    tasks.replaceChildren(table(heads, one.task_list.slice(0, 200).map((task) => el("tr", {}, el("td", {}, task.name || String(task.task)), el("td", {}, state(task.state)),
      el("td", {}, task.exit ?? "–"), el("td", {}, task.processors ?? "–"), el("td", { class: "name" }, task.command.join(" "))))));
    await tail("out", output);
    await tail("err", errors);
  };
  return refresh;
}

function submit(root) {
  const field = (name, attributes = {}) => el("input", { name, autocomplete: "off", ...attributes });
  const form = el("form", {},
    el("label", { class: "wide" }, "Command, run by sh -c", el("textarea", { name: "command", required: true, spellcheck: "false" })),
    el("label", {}, "Name", field("name")), el("label", {}, "Folder", field("directory", { placeholder: "/home/.." })),
    el("label", {}, "Processors", field("processors", { type: "number", min: 1, value: 1 })),
    el("label", {}, "Expected seconds", field("time", { type: "number", min: 0, step: "any" })),
    el("label", {}, "At most, seconds", field("walltime", { type: "number", min: 0, step: "any" })),
    el("label", {}, "Weight", field("weight", { type: "number", min: 0, step: "any" })),
    el("label", {}, "After jobs", field("after", { placeholder: "3, 7" })));
  const answer = el("div", { role: "status" });
  const made = () => {
    const data = new FormData(form);
    const number = (name) => data.get(name) ? Number(data.get(name)) : undefined;
    return {
      content: { command: { argv: ["sh", "-c", data.get("command")], needs: { processors: number("processors"), time: number("time"), walltime: number("walltime") } } },
      name: data.get("name") || undefined, directory: data.get("directory") || undefined, weight: number("weight"),
      after: data.get("after").split(/[\s,]+/).filter(Boolean).map(Number),
    };
  };
  const told = async (act) => {
    if (!form.reportValidity()) return;
    try { answer.replaceChildren(...await act()); } catch (error) { answer.replaceChildren(el("p", { role: "alert" }, error.message)); }
  };
  const what = () => told(async () => {
    const found = await send("/what-if", made());
    return [el("ul", {}, el("li", {}, `it would start ${relative(found.starts[0])} and end ${relative(found.ends[0])}`),
      found.delays.slice(0, 10).map((delay) => el("li", {}, `job ${delay.job} would start ${span(delay.seconds)} ${delay.seconds > 0 ? "later" : "earlier"}`)),
      found.after.map((bound) => el("li", {}, gap(bound))))];
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    told(async () => {
      const receipt = await send("/jobs", made());
      say(`Submitted job ${receipt.jobs[0]}`);
      return [el("p", {}, "Submitted as job ", el("a", { href: `#/job/${receipt.jobs[0]}` }, String(receipt.jobs[0])), ".")];
    });
  });
  form.append(el("div", { class: "wide tools" }, el("button", { class: "main" }, "Submit"), el("button", { type: "button", onclick: what }, "What if?")));
  root.append(el("h1", {}, "Submit"), el("div", { class: "panel" }, form, answer));
  return async () => {};
}

function history(root) {
  const length = el("select", { "aria-label": "Since" }, [["1 hour", 3600], ["1 day", 86400], ["1 week", 604800], ["4 weeks", 2419200]]
    .map(([text, value]) => el("option", { value, selected: value === 86400 }, text)));
  const charts = el("div");
  const refresh = async () => {
    const end = Date.now() / 1000;
    const spans = await get(`/history?start=${end - Number(length.value)}&end=${end}&spans=48`);
    const bars = (title, value, unit, kind) => {
      const most = Math.max(...spans.map((one) => value(one) ?? 0));
      const tall = (one) => most > 0 ? (value(one) ?? 0) / most * 100 : 0;
      return el("div", { class: "panel" }, el("h2", {}, `${title}, at most ${unit(most)}`),
        svg("svg", { class: "chart", viewBox: "0 0 960 104", role: "img", "aria-label": title },
          spans.map((one, at) => svg("rect", { class: kind, x: at * 20 + 1, width: 18, y: 102 - tall(one), height: tall(one) })), svg("line", { class: "grid", x1: 0, x2: 960, y1: 103, y2: 103 })));
    };
    charts.replaceChildren(bars("Submitted jobs", (one) => one.submitted, String, "bar"), bars("Ended jobs", (one) => one.ended, String, "bar"),
      bars("Jobs that did not succeed", (one) => one.failed, String, "bad"), bars("Wait", (one) => one.wait, span, "bar"),
      bars("Processors in use", (one) => one.use_of_processors, (part) => `${Math.round(part * 100)} %`, "used"));
  };
  length.addEventListener("change", refresh);
  root.append(el("h1", {}, "History"), el("div", { class: "tools" }, length), charts);
  return refresh;
}

function users(root) {
  const body = el("div", { class: "panel" });
  root.append(el("h1", {}, "Users"), body);
  return async () => {
    const all = await get("/users");
    const heads = [["user"], ["waiting"], ["running"], ["ended", "optional"], ["recent share"], ["weight", "optional"], ["most waiting", "optional"], ["most processors", "optional"]];
    body.replaceChildren(table(heads, all.map((one) => el("tr", {}, el("td", { class: "name" }, one.user), el("td", {}, String(one.waiting)), el("td", {}, String(one.running)),
      el("td", { class: "optional" }, String(one.ended)), el("td", {}, `${Math.round(one.share * 100)} %`), el("td", { class: "optional" }, String(one.weight)),
      el("td", { class: "optional" }, one.most_waiting ?? "–"), el("td", { class: "optional" }, one.most_processors ?? "–")))));
  };
}

export const views = { plan, queue, job, submit, history, users };
