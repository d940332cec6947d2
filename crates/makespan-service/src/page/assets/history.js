// The view of the past: charts of values over time.

import { get } from "./api.js";
import { el, number, span, svg } from "./dom.js";

const SPANS = 48;
const LENGTHS = [["hour", 3600], ["day", 86400], ["week", 604800], ["4 weeks", 2419200]];

const clock = (instant, length) => new Date(instant * 1000).toLocaleString([], length > 172800
  ? { month: "short", day: "numeric" } : { weekday: length > 43200 ? "short" : undefined, hour: "2-digit", minute: "2-digit" });

const sum = (values) => values.reduce((all, one) => all + one, 0);
const most = (values) => Math.max(0, ...values);
function mean(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? sum(known) / known.length : 0;
}

const CHARTS = [
  { title: "Submitted jobs", value: (one) => one.submitted, unit: number, figure: sum, of: "in all", kind: "bar" },
  { title: "Ended jobs", value: (one) => one.ended, unit: number, figure: sum, of: "in all", kind: "bar" },
  { title: "Jobs that did not succeed", value: (one) => one.failed, unit: number, figure: sum, of: "in all", kind: "bad" },
  { title: "Wait before the start", value: (one) => one.wait, unit: span, figure: mean, of: "on average", kind: "bar" },
  { title: "Processors in use", value: (one) => one.use_of_processors, unit: (part) => `${Math.round(part * 100)} %`, figure: mean, of: "on average", kind: "used", top: 1 },
];

function bars(spans, length, { title, value, unit, figure, of, kind, top }) {
  const values = spans.map(value);
  const highest = top ?? most(values.map((one) => one ?? 0));
  const tall = (one) => highest > 0 ? (one ?? 0) / highest * 100 : 0;
  const bar = (one, at) => svg("rect", { class: kind, x: at * 10 + 1, width: 8, y: 106 - tall(one), height: tall(one) },
    svg("title", {}, `${clock(spans[at].start, length)}: ${one === null ? "none" : unit(one)}`));
  const label = (x, anchor, text) => svg("text", { x, y: 120, "text-anchor": anchor }, text);
  return el("div", { class: "panel" }, el("h2", {}, title, el("span", { class: "dim" }, ` ${unit(figure(values))} ${of}`)),
    svg("svg", { class: "chart", viewBox: "0 0 480 124", role: "img", "aria-label": `${title}: ${unit(figure(values))} ${of}` },
      [6, 56].map((y) => svg("line", { class: "grid", x1: 0, x2: 480, y1: y, y2: y })), values.map(bar),
      svg("line", { class: "grid", x1: 0, x2: 480, y1: 106, y2: 106 }), svg("text", { x: 0, y: 16 }, highest > 0 ? unit(highest) : ""),
      label(0, "start", clock(spans[0].start, length)), label(240, "middle", clock(spans[SPANS / 2].start, length)), label(480, "end", "now")));
}

export function history(root) {
  const length = el("select", { "aria-label": "Since" }, LENGTHS.map(([text, value]) => el("option", { value, selected: value === 86400 }, `last ${text}`)));
  const charts = el("div", { class: "pair" });
  const refresh = async () => {
    const end = Date.now() / 1000;
    const since = Number(length.value);
    const spans = await get(`/history?start=${end - since}&end=${end}&spans=${SPANS}`);
    charts.replaceChildren(...CHARTS.map((chart) => bars(spans, since, chart)));
  };
  length.addEventListener("change", refresh);
  root.append(el("h1", {}, "History"), el("div", { class: "tools" }, length), charts);
  return refresh;
}
