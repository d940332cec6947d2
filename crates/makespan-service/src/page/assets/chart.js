// The machines in time: what ended, runs and is planned.

import { el, relative, span, svg, words } from "./dom.js";


const STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 604800, 2592000, 31536000];

export class Chart {
  // `open` is called with the number of a job.
  constructor(open) {
    this.open = open;
    this.zoom = null;
    this.width = 1000;
    this.left = 76;
    this.tip = el("p", { class: "tip", "aria-live": "polite" }, "");
    this.root = svg("svg", { class: "chart", role: "img", tabindex: "0", "aria-label": "What runs on which processor, when" });
    this.root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("pointerdown", (event) => { this.drag = event.clientX; });
    this.root.addEventListener("pointermove", (event) => this.move(event));
    addEventListener("pointerup", () => { this.drag = null; });
    const key = (name, text) => el("span", { class: `key ${name}` }, text);
    this.legend = el("p", { class: "legend" }, key("succeeded", "succeeded"), key("failed", "failed"), key("cancelled", "cancelled"), key("running", "running"),
      key("waiting", "planned"), el("span", { class: "optional" }, "Drag or arrow keys move, Shift and the wheel or + and − zoom, 0 shows all."));
    this.element = el("div", { class: "panel" }, this.root, this.tip, this.legend);
  }

  range() {
    if (this.zoom) return this.zoom;
    const { now, boxes } = this.picture;
    const ends = boxes.filter((box) => box.state === "running" || box.state === "waiting").map((box) => box.end);
    const last = ends.reduce((most, end) => Math.max(most, end), now + 30);
    // Of the past a third of the width, and not less than what ended last.
    const past = boxes.filter((box) => box.end <= now).map((box) => box.start).sort((one, other) => other - one).slice(0, 20);
    const shown = ends.length ? (last - now) / 3 : Math.min(now - (past.at(-1) ?? now), 86400);
    return [now - Math.max(30, shown * 1.05), last + (last - now) / 20];
  }

  shift(part) {
    const [first, last] = this.range();
    this.zoom = [first + (last - first) * part, last + (last - first) * part];
    this.draw();
  }

  scale(factor, at = 0.5) {
    const [first, last] = this.range();
    const fixed = first + (last - first) * at;
    this.zoom = [fixed - (fixed - first) * factor, fixed + (last - fixed) * factor];
    this.draw();
  }

  place(event) {
    const { left, width } = this.root.getBoundingClientRect();
    return Math.min(1, Math.max(0, ((event.clientX - left) / width * this.width - this.left) / (this.width - this.left)));
  }

  wheel(event) {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    this.scale(event.deltaY > 0 ? 1.25 : 0.8, this.place(event));
  }

  move(event) {
    if (this.drag === null || this.drag === undefined || Math.abs(event.clientX - this.drag) < 3) return;
    const { width } = this.root.getBoundingClientRect();
    this.shift((this.drag - event.clientX) / width);
    this.drag = event.clientX;
  }

  key(event) {
    const acts = { ArrowLeft: () => this.shift(-0.2), ArrowRight: () => this.shift(0.2), "+": () => this.scale(0.7), "-": () => this.scale(1.4), 0: () => { this.zoom = null; this.draw(); } };
    if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
  }

  show(picture) {
    this.picture = picture;
    this.draw();
  }

  tell(box) {
    const name = box.name || "a job of somebody else";
    const what = box.state === "waiting" ? `planned ${relative(box.start)}` : words(box.state);
    this.tip.textContent = `${box.job ? `${box.job} ` : ""}${name}: ${what}, ${span(box.end - box.start)}${box.user ? `, ${box.user}` : ""}`;
  }

  draw() {
    const { picture } = this;
    if (!picture || !picture.processors) return;
    // One unit is one pixel, so that texts are as large on a phone.
    const width = this.width = Math.max(300, this.root.clientWidth || 1000);
    const left = this.left = width < 600 ? 52 : 76;
    const [first, last] = this.range();
    const row = Math.max(3, Math.min(26, 420 / picture.processors));
    const height = row * picture.processors + 26;
    const x = (at) => left + (at - first) / (last - first) * (width - left);
    const step = STEPS.find((step) => (last - first) / step <= (width - left) / 90) ?? STEPS.at(-1);
    const parts = [];
    for (let at = Math.ceil((first - picture.now) / step) * step; at <= last - picture.now; at += step) {
      const place = x(picture.now + at);
      parts.push(svg("line", { class: "grid", x1: place, x2: place, y1: 0, y2: height - 20 }));
      const text = at === 0 ? "now" : `${at < 0 ? "−" : "+"}${span(at)}`;
      parts.push(svg("text", { x: place, y: height - 6, "text-anchor": place > width - 30 ? "end" : "middle" }, text));
    }
    for (const node of picture.nodes.slice(0, 200)) {
      const top = node.first * row;
      parts.push(svg("line", { class: "grid", x1: 0, x2: width, y1: top, y2: top }));
      if (node.processors * row >= 11) {
        parts.push(svg("text", { x: 2, y: top + 11 }, `${node.name.slice(0, left < 60 ? 7 : 11)}${node.down ? " ✗" : ""}`));
      }
    }
    for (const box of picture.boxes) {
      if (box.end < first || box.start > last) continue;
      const from = Math.max(x(box.start), left);
      const long = Math.max(1, Math.min(x(box.end), width) - from);
      for (const [low, high] of box.processors) {
        parts.push(svg("rect", {
          class: `box ${box.state}`, x: from, width: long, y: low * row, height: (high - low + 1) * row,
          onpointerenter: () => this.tell(box), onclick: () => box.job && this.open(box.job),
        }));
        const text = String(box.job || "");
        if (text && row >= 12 && long > 8 * text.length + 6) parts.push(svg("text", { class: `label ${box.state}`, x: from + long / 2, y: (low + high + 1) / 2 * row + 4, "text-anchor": "middle" }, text));
      }
    }
    const now = x(picture.now);
    if (now >= left && now <= width) parts.push(svg("line", { class: "now", x1: now, x2: now, y1: 0, y2: height - 20 }));
    this.root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.root.replaceChildren(...parts);
  }
}
