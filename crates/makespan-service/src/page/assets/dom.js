// Elements. Texts are only ever set as text.

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

export function span(seconds) {
  const whole = Math.round(Math.abs(seconds));
  if (whole < 60) return `${whole} s`;
  const two = (number) => String(number).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)}:${two(whole % 60)} min`;
  if (whole < 172800) return `${Math.floor(whole / 3600)}:${two(Math.floor((whole % 3600) / 60))} h`;
  return `${Math.floor(whole / 86400)} d`;
}

export function relative(instant) {
  if (instant === null || instant === undefined) return "–";
  const ahead = instant - Date.now() / 1000;
  return ahead >= 0 ? `in ${span(ahead)}` : `${span(ahead)} ago`;
}

export const state = (name) => el("span", { class: `state ${name}` }, words(name));

export function table(heads, rows) {
  const cell = ([text, kind]) => el("th", { scope: "col", class: kind }, text);
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads.map(cell))), el("tbody", {}, rows)));
}
