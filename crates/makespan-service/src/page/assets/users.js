// The view of users: usage, limits and reservations.

import { get, me, send } from "./api.js";
import { el, number, ranges as listOf, span, table, time } from "./dom.js";

// Returns a form that shows the answer of the service.
function form(fields, text, act) {
  const answer = el("p", { class: "wide", role: "status" });
  const element = el("form", { hidden: me.role !== "admin" }, fields, el("div", { class: "wide tools" }, el("button", { class: "main" }, text)), answer);
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await act(new FormData(element));
      answer.className = "wide";
      answer.textContent = "Done.";
    } catch (error) {
      answer.className = "wide error";
      answer.textContent = error.message;
    }
  });
  return element;
}

const field = (text, name, attributes = {}) => el("label", {}, text, el("input", { name, autocomplete: "off", ...attributes }));
const orNull = (text) => text === "" ? null : Number(text);

// Parses ranges such as `0-3, 7` into pairs.
function ranges(text) {
  return text.split(/[\s,]+/).filter(Boolean).map((part) => {
    const [first, last] = part.split("-").map(Number);
    return [first, last ?? first];
  });
}

export function users(root) {
  const people = el("div");
  const kept = el("div");
  let refresh = async () => {};
  const settings = form([field("User", "user", { required: true }), field("Weight", "weight", { type: "number", min: 0.001, step: "any", placeholder: "1" }),
    field("Maximum number of waiting jobs", "waiting", { type: "number", min: 0, placeholder: "any" }), field("Maximum number of processors at once", "processors", { type: "number", min: 0, placeholder: "any" })],
  "Set what a user may do", async (data) => {
    await send(`/users/${encodeURIComponent(data.get("user"))}`, { weight: orNull(data.get("weight")), most_waiting: orNull(data.get("waiting")), most_processors: orNull(data.get("processors")) }, "PUT");
    await refresh();
  });
  const reserving = form([field("Name", "name", { required: true }), field("From", "start", { type: "datetime-local", required: true }),
    field("Until", "end", { type: "datetime-local", required: true }), field("Processors", "processors", { placeholder: "0-3, 7", required: true })],
  "Reserve", async (data) => {
    const instant = (name) => new Date(data.get(name)).getTime() / 1000;
    await send("/reservations", { name: data.get("name"), start: instant("start"), end: instant("end"), processors: ranges(data.get("processors")) });
    await refresh();
  });
  root.append(el("h1", {}, "Users"), el("div", { class: "panel" }, people, settings), el("h2", {}, "Reservations"), el("div", { class: "panel" }, kept, reserving));
  const back = (one) => async () => {
    if (!confirm(`Cancel the reservation ${one.name}?`)) return;
    await send(`/reservations/${one.number}`, undefined, "DELETE");
    await refresh();
  };
  refresh = async () => {
    const [all, reserved] = [await get("/users"), await get("/reservations")];
    const figure = (text, kind = "figure") => el("td", { class: kind }, String(text));
    const heads = [["user"], ["waiting", "figure"], ["running", "figure"], ["ended", "optional figure"], ["used", "optional figure"], ["recent share", "figure"],
      ["weight", "optional figure"], ["most waiting", "optional figure"], ["most processors", "optional figure"]];
    people.replaceChildren(all.length ? table(heads, all.map((one) => el("tr", {}, el("td", { class: "name" }, one.user), figure(number(one.waiting)), figure(number(one.running)),
      figure(number(one.ended), "optional figure"), figure(span(one.used), "optional figure"), figure(`${Math.round(one.share * 100)} %`), figure(one.weight, "optional figure"),
      figure(one.most_waiting ?? "any", "optional figure"), figure(one.most_processors ?? "any", "optional figure"))))
      : el("p", {}, "No jobs have been submitted yet."));
    const row = (one) => el("tr", {}, el("td", { class: "name" }, one.name), el("td", {}, time(one.start)), el("td", {}, time(one.end)),
      el("td", {}, listOf(one.processors)),
      el("td", {}, me.role === "admin" ? el("button", { onclick: back(one) }, "Take back") : ""));
    kept.replaceChildren(reserved.length ? table([["name"], ["from"], ["until"], ["processors"], [""]], reserved.map(row)) : el("p", {}, "No processors are reserved."));
  };
  return () => refresh();
}
