// Creates elements. Texts are always set as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const el = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
export const svg = (name, attributes = {}, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

export const words = (state) => state.replaceAll("_", " ");

const parts = (first, unit, rest, small) => rest ? `${first} ${unit} ${rest} ${small}` : `${first} ${unit}`;

export function span(seconds) {
  const whole = Math.round(Math.abs(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 600) return parts(Math.floor(whole / 60), "min", whole % 60, "s");
  const minutes = Math.round(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 2880) return parts(Math.floor(minutes / 60), "h", minutes % 60, "min");
  return parts(Math.floor(minutes / 1440), "d", Math.floor(minutes % 1440 / 60), "h");
}

export function relative(instant) {
  if (instant === null || instant === undefined) return "–";
  const ahead = instant - Date.now() / 1000;
  return ahead >= 0 ? `in ${span(ahead)}` : `${span(ahead)} ago`;
}

// Returns the text for the instant at which an event is expected. If this instant has passed, the text shows the
// present time.
export const ahead = (instant) => instant === null || instant === undefined ? relative(instant) : relative(Math.max(instant, Date.now() / 1000));

// Returns an element with a relative time, and with the clock time as a tooltip.
export function time(instant) {
  if (instant === null || instant === undefined) return "–";
  const date = new Date(instant * 1000);
  return el("time", { datetime: date.toISOString(), title: date.toLocaleString() }, relative(instant));
}

// Returns an element for an expected instant. The element of an overdue event shows "any moment", or a dash if another
// event must happen first.
export function expected(instant, isNext = true) {
  const shown = time(instant);
  if (instant === null || instant === undefined || instant > Date.now() / 1000) return shown;
  if (!isNext) return "–";
  shown.textContent = "any moment";
  return shown;
}

const isKnown = (value) => value !== null && value !== undefined;

// Returns the text for an unknown start or end. The text names the job that runs longer than expected.
export const unknownBehind = (job) => `unknown, depends on ${job ? `job ${job}` : "a job of another user"}`;

// Returns the text for the expected start of a waiting job.
export const expectedStart = (job) => (!isKnown(job.expected_start) && isKnown(job.behind) ? unknownBehind(job.behind) : expected(job.expected_start));

// Returns the text for the expected end of a job.
export function expectedEnd(job) {
  if (isKnown(job.longer_than)) return `longer than expected (${span(job.longer_than)}), end unknown`;
  if (!isKnown(job.expected_end) && isKnown(job.behind)) return isKnown(job.started) ? unknownBehind(job.behind) : "unknown";
  return expected(job.expected_end, Boolean(job.started));
}

// Returns the range of the start of a job as a clause, or an empty text.
export const range = ({ early, late }, { percent }) => (isKnown(early) && isKnown(late) ? `, between ${ahead(early)} and ${ahead(late)} (in ${percent} % of cases)` : "");

// Returns the reason why processors are closed, and the period in which they are closed.
export const reason = ({ reservation }) => (isKnown(reservation) ? `reserved for ${reservation}` : "down");
export const period = ({ start, end }) => (start > Date.now() / 1000 ? `${relative(start)}, for ${span(end - start)}` : `for another ${span(Math.max(0, end - Date.now() / 1000))}`);

// Formats ranges of processors, such as 0-3, 7.
export const ranges = (processors) => processors.map(([first, last]) => first === last ? String(first) : `${first}-${last}`).join(", ");

export const number = (value) => value.toLocaleString("en");
export const link = (job) => el("a", { href: `#/job/${job}` }, String(job));

// Separates elements by commas.
export const listed = (elements) => elements.flatMap((one, at) => at ? [", ", one] : [one]);

export const state = (name) => el("span", { class: `state ${name}` }, words(name));

export function table(heads, rows) {
  const cell = ([text, kind]) => el("th", { scope: "col", class: kind }, text);
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads.map(cell))), el("tbody", {}, rows)));
}
