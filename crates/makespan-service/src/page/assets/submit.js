// The view that submits a job, or shows the effects of a submission.

import { send } from "./api.js";
import { el, expectedEnd, expectedStart, link, range, relative, span, table, time, words } from "./dom.js";

// Returns a text about the maximum distance of a plan from the best possible plan.
export function gap(bound) {
  const name = words(bound.objective);
  if (bound.ratio === null) return `${name}: no bound above 0 is known`;
  const percent = (bound.ratio - 1) * 100;
  const text = percent < 0.05 ? "the best possible" : `at most ${(Math.ceil(percent * 10) / 10).toFixed(1)} % above the best possible`;
  return `${name}: ${text}, proved by ${bound.proof}${bound.conditions.map((one) => `, ${one}`).join("")}`;
}

function changed(all, others) {
  return others.flatMap((after) => {
    const before = all.find((one) => one.objective === after.objective);
    if (!before) return [];
    const more = before.plan > 0 ? `${((after.plan / before.plan - 1) * 100).toFixed(1)} %` : "";
    return [el("tr", {}, el("td", {}, words(after.objective)), el("td", { class: "figure" }, span(before.plan)), el("td", { class: "figure" }, span(after.plan)),
      el("td", { class: "figure" }, more.startsWith("-") || !more ? more : `+${more}`))];
  });
}

const many = (count) => `${count} ${count === 1 ? "job" : "jobs"}`;

function answerOf({ waiting, ranges, others, before, after }) {
  const one = (job) => ({ expected_start: job.start, expected_end: job.end, behind: job.behind });
  const [first, last] = [waiting[0], waiting[waiting.length - 1]];
  const [why] = first.reasons;
  const costs = changed(before, after);
  const hidden = others.hidden ? ` (${others.hidden} of other users)` : "";
  return [el("h2", {}, "What if"),
    el("p", {}, "It would start ", el("b", {}, expectedStart(one(first))), range(first, ranges), why && why.kind !== "next" ? `, because ${why.text}` : "", "."),
    why?.remedy ? el("p", {}, `Would help: ${why.remedy}.`) : "", el("p", {}, "It would end ", expectedEnd(one(last)), "."),
    el("p", {}, others.later ? `${many(others.later)} would start later${hidden}, by at most ${span(others.most_seconds)}.` : "No other job would start later.",
      others.earlier ? ` ${many(others.earlier)} would start earlier.` : ""),
    el("ul", {}, others.jobs.slice(0, 10).map(({ job, seconds }) => el("li", {}, "job ", link(job), ` would start ${span(seconds)} later`))),
    costs.length ? table([["what it costs all"], ["now", "figure"], ["with it", "figure"], ["", "figure"]], costs) : ""];
}

export function submit(root) {
  const field = (name, attributes = {}) => el("input", { name, autocomplete: "off", ...attributes });
  const seconds = { type: "number", min: 0, step: "any" };
  const form = el("form", {},
    el("label", { class: "wide" }, "Command, run by sh -c", el("textarea", { name: "command", required: true, spellcheck: "false", rows: 4 })),
    el("label", {}, "Name", field("name")), el("label", {}, "Folder", field("directory", { placeholder: "/home/.." })),
    el("label", {}, "After jobs", field("after", { placeholder: "3, 7" })),
    el("label", {}, "Processors", field("processors", { type: "number", min: 1, value: 1 })),
    el("label", {}, "Memory, MiB", field("memory", { type: "number", min: 1 })),
    el("label", {}, "Weight", field("weight", { ...seconds, placeholder: "1" })),
    el("label", {}, "Expected seconds", field("time", { ...seconds, placeholder: "from earlier runs" })),
    el("label", {}, "Ended after seconds", field("walltime", { ...seconds, placeholder: "never" })),
    el("label", {}, "Deadline", field("deadline", { type: "datetime-local" })));
  const answer = el("div", { role: "status" });
  const made = () => {
    const data = new FormData(form);
    const number = (name) => data.get(name) ? Number(data.get(name)) : undefined;
    const memory = number("memory");
    return {
      content: { command: { argv: ["sh", "-c", data.get("command")], needs: { processors: number("processors"), time: number("time"), walltime: number("walltime"),
        resources: memory ? { memory: memory * 1048576 } : undefined } } },
      name: data.get("name") || undefined, directory: data.get("directory") || undefined, weight: number("weight"),
      deadline: data.get("deadline") ? new Date(data.get("deadline")).getTime() / 1000 : undefined,
      after: data.get("after").split(/[\s,]+/).filter(Boolean).map(Number),
    };
  };
  const told = async (act) => {
    if (!form.reportValidity()) return;
    try { answer.replaceChildren(...await act()); } catch (error) { answer.replaceChildren(el("p", { role: "alert", class: "error" }, error.message)); }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    told(async () => {
      const receipt = await send("/jobs", made());
      document.getElementById("live").textContent = `Submitted job ${receipt.jobs[0]}`;
      return [el("p", {}, "Submitted as job ", link(receipt.jobs[0]), `, ${relative(receipt.submitted)}.`)];
    });
  });
  const what = () => told(async () => answerOf(await send("/what-if", made())));
  form.append(el("div", { class: "wide tools" }, el("button", { class: "main" }, "Submit"), el("button", { type: "button", onclick: what }, "What if?")));
  root.append(el("h1", {}, "Submit"), el("div", { class: "panel" }, form, answer));
  return async () => {};
}
