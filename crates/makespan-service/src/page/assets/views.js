// The list of views, and the two views that show all jobs. A view fills its root once and returns a function that
// refreshes the view.

import { get } from "./api.js";
import { Chart } from "./chart.js";
import { el, expectedEnd, expectedStart, link, number, period, ranges, reason, state, table, time, words } from "./dom.js";
import { history } from "./history.js";
import { job } from "./job.js";
import { gap, submit } from "./submit.js";
import { users } from "./users.js";

const EXAMPLE = "makespan submit -- sh -c 'echo hello'";

function plan(root) {
  const cards = el("div", { class: "cards" });
  const bounds = el("ul");
  const remarks = el("ul");
  const empty = el("p", { hidden: true }, "Nothing has run yet. ", el("a", { href: "#/submit" }, "Submit a job here"), ", or by ", el("code", {}, EXAMPLE), ".");
  const chart = new Chart((job) => { location.hash = `#/job/${job}`; });
  const proof = el("div", { class: "panel" }, el("h2", {}, "How good this plan is"), bounds);
  const closed = el("ul");
  const closing = el("div", { class: "panel" }, el("h2", {}, "Reserved or down"), closed);
  root.append(el("h1", {}, "Plan"), cards, empty, chart.element, closing, proof, remarks);
  return async () => {
    const picture = await get("/plan");
    const card = (name, value) => el("div", { class: "card" }, el("b", {}, number(value)), el("span", {}, name));
    cards.replaceChildren(card("running", picture.running), card("waiting", picture.waiting), card("held", picture.held),
      card(`processors, ${picture.engine}`, picture.processors));
    const nothing = picture.boxes.length === 0;
    empty.hidden = !nothing || picture.waiting > 0;
    chart.element.hidden = nothing && picture.closed.length === 0;
    closing.hidden = picture.closed.length === 0;
    closed.replaceChildren(...picture.closed.map((one) => el("li", {}, `processors ${ranges(one.processors)}: ${reason(one)}, ${period(one)}`)));
    chart.show(picture);
    bounds.replaceChildren(...picture.bounds.map((bound) => el("li", {}, gap(bound))));
    proof.hidden = picture.bounds.length === 0;
    const notes = picture.remarks.slice(-3).reverse();
    if (picture.planned_left_out) notes.unshift(`${number(picture.planned_left_out)} more tasks wait; each is planned after others have started`);
    remarks.replaceChildren(...notes.map((text) => el("li", {}, text)));
  };
}

function row(job) {
  return el("tr", {},
    el("td", {}, link(job.number)), el("td", {}, state(job.state)),
    el("td", { class: "name" }, job.name), el("td", { class: "optional" }, job.user), el("td", { class: "optional figure" }, String(job.processors)),
    el("td", { class: "optional figure" }, job.tasks > 1 ? `${job.tasks_ended} of ${job.tasks}` : "1"),
    el("td", {}, job.started ? time(job.started) : expectedStart(job)), el("td", { class: "optional" }, job.ended ? time(job.ended) : expectedEnd(job)));
}

function queue(root) {
  const text = el("input", { type: "search", placeholder: "part of a name", "aria-label": "Part of a name" });
  const which = el("select", { "aria-label": "State" }, el("option", { value: "open" }, "waiting and running"), el("option", { value: "" }, "all"),
    ["held", "waiting", "running", "succeeded", "failed", "timed_out", "cancelled", "not_started"].map((name) => el("option", { value: name }, words(name))));
  const body = el("div");
  const count = el("span", { class: "dim" });
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
    for (const button of [back, more]) button.hidden = back.disabled && more.disabled;
    const others = page.others ? `, and ${number(page.others)} of others` : "";
    count.textContent = `${number(page.total)} ${page.total === 1 ? "job" : "jobs"}${others}`;
    const heads = [["job"], ["state"], ["name"], ["user", "optional"], ["cores", "optional figure"], ["tasks", "optional figure"], ["start"], ["end", "optional"]];
    body.replaceChildren(page.items.length ? table(heads, page.items.map(row)) : el("p", {}, "There are no jobs. Submit one: ", el("code", {}, EXAMPLE)));
  };
  const again = () => { after = null; refresh(); };
  text.addEventListener("change", again);
  which.addEventListener("change", again);
  more.addEventListener("click", () => { after = next; refresh(); scrollTo(0, 0); });
  back.addEventListener("click", again);
  root.append(el("h1", {}, "Queue"), el("div", { class: "tools" }, which, text, count, back, more), el("div", { class: "panel" }, body));
  return refresh;
}

export const views = { plan, queue, job, submit, history, users };
