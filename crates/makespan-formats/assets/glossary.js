// Explanations of terms, for all pages. A tooltip explains a term where it occurs.

const GLOSSARY = {
  makespan: "When the last job ends.",
  "weighted completion": "The sum over all jobs of weight times completion time.",
  "mean flow": "The mean over all jobs of the time from release to end.",
  utilisation: "The part of the available processor time, up to the end, that is used.",
  "bounded slowdown": "Time from release to end over run time, where run times below 10 s count as 10 s and no value is below 1.",
  stretch: "From the instant at which a job could have started to its end, over run time: 1 without any wait.",
  wait: "From the instant at which a job could have started to its start.",
  flow: "From the release of a job to its end.",
  release: "The job cannot start earlier.",
  completion: "When the job ends.",
  allotment: "How many processors a task has.",
  weight: "How important a job is in weighted completion.",
  "proven bound": "No schedule of this instance is better than this value; the file of the plan has the proof.",
  bound: "No schedule is better than this value, under the condition stated.",
  optimal: "Proved: no schedule is better.",
  ratio: "The value over its bound: at least the true ratio to the optimum.",
  "critical path": "Placements of which a delay delays the end of the schedule.",
  group: "The part of an algorithm's construction that a placement belongs to.",
  "best effort": "Planned after all other jobs, into the holes that they leave.",
  "best effort ends": "When the last task of the jobs ends that are planned into holes.",
  lateness: "By how much a job ends after its deadline; zero if it ends in time.",
  "maximum lateness": "The largest lateness of all jobs.",
  "weighted lateness": "The sum over all jobs of weight times lateness.",
  "task type": "What the names of tasks begin with, up to their numbers.",
  cost: "The sum over tasks of volume over time.",
  "backfilled jobs": "Jobs that started while one that was released before them still waited.",
  "fairness between users": "Jain's index of the users' mean slowdowns: 1 where all are treated alike.",
  "worst user over mean": "The largest mean slowdown of a user over the mean of all users.",
  "fair throughput": "The least throughput of an application, over its weight.",
  "ports that never idle": "A node sends to one child at a time; a port that sends all the time holds the throughput down.",
  "nodes at work": "The nodes that compute tasks; on the others no task arrives, or none is worth its way.",
  applications: "Bags of equal tasks, all of which begin at the root.",
  algorithm: "What made the plan; `makespan algorithms` explains all.",
  policy: "What decides at every event which jobs start, and where.",
  seed: "The number from which all random choices follow: the same seed gives the same plan.",
  "exit status": "The number with which the command ended: 0 if it succeeded.",
  "sum of run times": "The sum over all attempts of the time from start to end.",
  planned: "As planned before the run began.",
  happened: "As the run went.",
  "open area": "Processors times time up to the makespan, without what is not available.",
  slowdown: "Time from release to end over run time, where run times below 10 s count as 10 s and no value is below 1.",
  "back-pressure": "A node asks for a task only while it has room for one.",
  hops: "Links between a node and the root.",
  period: "The time after which a periodic schedule repeats itself.",
  buffers: "Tasks that a node may hold before it computes them.",
  backfilling: "A job that fits into a hole starts before others that came earlier, without putting them off.",
  deadline: "The job should have ended by then.",
  limit: "How long the job may run; then the cluster ends it.",
  starts: "The expected start: jobs end as was learned from those that ended, and the scheduler sees their limits.",
  between: "Eight of ten starts lie between these, as run times vary.",
  "ends about": "As learned from jobs that ended; the limit is the latest.",
  "why not now": "The first thing that stands in its way; below it what would help.",
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
