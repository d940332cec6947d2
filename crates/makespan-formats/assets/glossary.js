// Explanations of terms, for all pages. A tooltip explains a term where it occurs.

const GLOSSARY = {
  makespan: "When the last job ends.",
  "weighted completion": "The sum over all jobs of weight times completion time.",
  "mean flow": "The mean over all jobs of the time from release to end.",
  utilisation: "The used share of the processor time that is available up to the makespan.",
  "bounded slowdown": "Time from release to end, divided by the run time. Run times below 10 s are treated as 10 s, and the result is at least 1.",
  stretch: "Time from the earliest possible start of a job to its end, divided by its run time. It is 1 if the job does not wait.",
  wait: "Time from the earliest possible start of a job to its start.",
  flow: "Time from the release of a job to its end.",
  release: "The earliest start of a job.",
  completion: "The end of a job.",
  allotment: "The number of processors of a task.",
  weight: "The importance of a job in weighted completion.",
  "proven bound": "No schedule of this instance is better than this value. The plan file contains the proof.",
  bound: "No schedule is better than this value, under the stated condition.",
  optimal: "Proved: no schedule is better.",
  ratio: "The value divided by its bound. It is at least the true ratio to the optimum.",
  "critical path": "Placements without slack. A delay of such a placement would delay the end of the schedule.",
  group: "The part of an algorithm's construction that a placement belongs to.",
  "best effort": "Planned after all other jobs, into the gaps that they leave.",
  "best-effort jobs end": "The end of the last task that is planned into gaps.",
  tardiness: "Time by which a job ends after its deadline, or zero if it ends in time.",
  "maximum tardiness": "The largest tardiness of all jobs.",
  "weighted tardiness": "The sum over all jobs of weight times tardiness.",
  "maximum lateness": "The largest end minus deadline of all jobs; negative if all jobs end early.",
  "total tardiness": "The sum of the tardiness of all jobs.",
  "number of tardy jobs": "The number of jobs that end after their deadline.",
  "weighted number of tardy jobs": "The sum of the weights of the jobs that end after their deadline.",
  "total penalty": "The sum over all jobs of weight times the penalty of the end.",
  "maximum penalty": "The largest weight times penalty of all jobs.",
  "task type": "The common beginning of task names, up to their numbers.",
  cost: "The sum, over the tasks, of volume divided by time.",
  "backfilled jobs": "Jobs that started while a job with an earlier release still waited.",
  "fairness between users": "Jain's index of the users' mean slowdowns. It is 1 if all users have the same mean slowdown.",
  "worst user over mean": "The largest mean slowdown of a user, divided by the mean over all users.",
  "fair throughput": "The minimum, over the applications, of the throughput divided by the weight.",
  "ports that send all the time": "A node sends to one child at a time. A port that sends all the time limits the throughput.",
  "nodes at work": "Nodes that compute tasks. Tasks cannot reach the remaining nodes, or sending tasks to them does not increase the throughput.",
  applications: "Bags of equal tasks that all start at the root.",
  algorithm: "The algorithm that made the plan. `makespan algorithms` explains all algorithms.",
  policy: "The rules that decide at each event which jobs start, and where.",
  seed: "The number that determines all random choices. The same seed gives the same plan.",
  "exit status": "The number that the command returned. It is 0 if the command succeeded.",
  "sum of run times": "The sum of the run times of all attempts.",
  planned: "The plan before the run began.",
  happened: "The real course of the run.",
  "open area": "Processors times time up to the makespan, without unavailable periods.",
  slowdown: "Time from release to end, divided by the run time. Run times below 10 s are treated as 10 s, and the result is at least 1.",
  "back-pressure": "A node requests a task only if the node has space for a task.",
  hops: "The number of links between a node and the root.",
  period: "The time after which a periodic schedule repeats itself.",
  buffers: "The number of tasks that a node may hold before it computes them.",
  backfilling: "A job that fits into a gap starts before jobs that came earlier, without delaying them.",
  deadline: "The instant by which the job should have ended.",
  limit: "The time limit of the job, after which the cluster ends it.",
  starts: "The expected start. Run times are predicted from ended jobs, and the scheduler sees the time limits.",
  between: "Eight of ten simulated starts are in this range, because run times vary.",
  "ends about": "Predicted from jobs that ended. The job ends at its limit at the latest.",
  "why not now": "The first reason why the job does not start now. A possible remedy is below.",
};

/** Returns the attributes of an element that contains a term. */
function termOf(word) {
  const meaning = GLOSSARY[word.toLowerCase()];
  return meaning ? { class: "term", title: meaning } : {};
}

/** Words that have another meaning in ordinary text. They are explained only in headings and labels. */
const EVERYDAY = new Set(["wait", "flow", "release", "completion", "weight", "bound", "group", "cost", "applications", "algorithm", "policy", "seed", "planned", "happened", "limit", "starts", "between", "period", "deadline"]);
const byLength = Object.keys(GLOSSARY).sort((a, b) => b.length - a.length);
const patternOf = (words) => new RegExp(`(?<![\\w-])(?:${words.join("|")})(?![\\w-])`, "i");
const TERM = patternOf(byLength);
const TERM_IN_PROSE = patternOf(byLength.filter((word) => !EVERYDAY.has(word)));
/** Elements in which terms are not explained: controls, inputs, drawings and code. */
const QUIET = "script, style, button, select, option, input, code, svg, h1, td:not(:first-child), .chart, [data-term], .term, .paged, tr[hidden]";

/** Marks the first occurrence of each term on the page. */
function findTerms(root) {
  const seen = new Set([...root.querySelectorAll("[data-term]")].map((one) => one.dataset.term.toLowerCase()));
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (walker.currentNode.data.trim() && !walker.currentNode.parentElement.closest(QUIET)) texts.push(walker.currentNode);
  for (let text of texts) {
    const isLabel = text.parentElement.closest("th, td, figcaption b, h2");
    for (let found; (found = (isLabel ? TERM : TERM_IN_PROSE).exec(text.data)); ) {
      const word = found[0].toLowerCase();
      const rest = text.splitText(found.index + found[0].length);
      if (!seen.has(word)) {
        seen.add(word);
        text.splitText(found.index).replaceWith(element("span", { "data-term": word }, found[0]));
      }
      text = rest;
    }
  }
}

/** Shows explanations of the marked terms, for pointer, keyboard focus and touch. */
function explainTerms(root) {
  const box = element("div", { class: "meaning", role: "tooltip", id: "meaning", hidden: true });
  document.body.append(box);
  for (const part of root.querySelectorAll("body > header, main")) findTerms(part);
  for (const one of root.querySelectorAll("[data-term]")) {
    const meaning = GLOSSARY[one.dataset.term.toLowerCase()];
    if (!meaning) continue;
    one.classList.add("term");
    one.tabIndex = 0;
    one.setAttribute("aria-describedby", "meaning");
    const show = () => {
      box.textContent = meaning;
      box.hidden = false;
      const place = one.getBoundingClientRect();
      box.style.left = `${Math.max(8, Math.min(place.left, innerWidth - box.offsetWidth - 8))}px`;
      box.style.top = `${place.bottom + 6 + box.offsetHeight > innerHeight ? place.top - box.offsetHeight - 6 : place.bottom + 6}px`;
    };
    const hide = () => {
      box.hidden = true;
    };
    for (const event of ["pointerenter", "focus", "click"]) one.addEventListener(event, show);
    for (const event of ["pointerleave", "blur"]) one.addEventListener(event, hide);
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") box.hidden = true;
  });
}
