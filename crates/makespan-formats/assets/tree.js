// The page of bags of tasks on a tree: who computes what and how busy links are. Its buttons, legend, colours, tooltip and files are
// those of the chart of placements; what it draws is a tree, since rates have no instants.

/** A port or processor that is busy for this part of its time never idles: floats stand for exact figures. */
const FULL = 1 - 1e-9;
const LIMITS = [0, 0.25, 0.5, 0.75, 0.9, FULL];
const LOADS = ["idle", "up to 25 %", "to 50 %", "to 75 %", "to 90 %", "below 100 %", "never idles"];
const PAD = 14;
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** The tree: where each node stands, in leaves across and generations down. */
class Tree {
  constructor(data) {
    Object.assign(this, data, { title: shown(data.title), names: data.names.map(shown), applications: data.applications.map(shown) });
    const count = this.names.length;
    this.leaves = new Uint32Array(count);
    this.first = new Uint32Array(count);
    this.depth = new Uint32Array(count);
    this.children = this.names.map(() => []);
    for (const node of this.order) if (this.parents[node] >= 0) this.children[this.parents[node]].push(node);
    for (const node of this.order.toReversed()) {
      this.leaves[node] ||= 1;
      if (this.parents[node] >= 0) this.leaves[this.parents[node]] += this.leaves[node];
    }
    for (const node of this.order) {
      let next = this.first[node];
      for (const child of this.children[node]) {
        this.first[child] = next;
        this.depth[child] = this.depth[node] + 1;
        next += this.leaves[child];
      }
    }
    this.width = this.leaves[this.order[0]];
    this.height = this.depth.reduce((deepest, depth) => Math.max(deepest, depth), 0) + 0.62;
    for (const picture of this.pictures) this.measure(picture);
  }
  /** How busy processors and ports are, from the shares of the applications and the loads of the links. */
  measure(picture) {
    const { length } = this.applications;
    picture.busy = this.names.map((_, node) => picture.shares.slice(node * length, (node + 1) * length).reduce((sum, share) => sum + share, 0));
    picture.sends = this.children.map((children) => children.reduce((sum, child) => sum + picture.links[child], 0));
  }
  middle(node) {
    return this.first[node] + this.leaves[node] / 2;
  }
}

const WAYS = [
  { key: "application", word: "application" },
  { key: "busy", word: "load of processors", of: (picture, node) => picture.busy[node] },
  { key: "links", word: "load of links", of: (picture, node) => picture.links[node] },
  { key: "sends", word: "load of ports", of: (picture, node) => picture.sends[node] },
];

class TreeChart {
  constructor(host, model, tell) {
    Object.assign(this, { host, model, tell, page: { width: 0, height: 0, scale: 1 }, chosen: null, hovered: null, picks: null, search: { text: "", found: [], at: -1 } });
    this.view = { from: 0, to: model.width, top: 0, bottom: model.height };
    this.build();
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.colourBy("application");
    this.again();
    this.listen();
  }
  build() {
    const button = (name, text, label, act) => element("button", { type: "button", "data-act": name, "aria-label": label, title: label, onclick: act }, text);
    this.way = element("select", { "aria-label": "What colours mean", class: "way", onchange: () => this.colourBy(this.way.value) }, ...WAYS.map(({ key, word }) => element("option", { value: key }, word)));
    this.field = element("input", { type: "search", class: "find", placeholder: "Find a node", "aria-label": "Find a node by name; Enter goes to the next match", autocomplete: "off", spellcheck: "false" });
    this.found = element("output", { class: "found" });
    const zoom = element("div", { class: "buttons", role: "group", "aria-label": "Zoom" },
      button("zoom-out", "\u2212", "Zoom out (\u2212)", () => this.zoom(1.6)), button("zoom-in", "+", "Zoom in (+)", () => this.zoom(1 / 1.6)), button("fit", "Fit", "Show everything (0)", () => this.fit()));
    const files = element("div", { class: "buttons files", role: "group", "aria-label": "Save the picture" }, button("png", "PNG", "Save the picture as PNG", () => savePng(this)), button("svg", "SVG", "Save the picture as SVG", () => saveSvg(this)));
    this.bar = element("div", { class: "bar chart-bar" }, element("label", { class: "colour" }, "Colour ", this.way), element("div", { class: "search", role: "search" }, this.field, this.found), zoom, files);
    this.legend = element("div", { class: "chart-legend", role: "group", "aria-label": "Legend: press to show one class alone" });
    this.map = element("canvas", { class: "map", "aria-hidden": "true" });
    this.canvas = element("canvas", { class: "picture" });
    this.tooltip = element("div", { class: "chart-tip", role: "tooltip", hidden: true });
    this.stage = element("div", { class: "stage", tabindex: "0", role: "application", "aria-roledescription": "tree of nodes",
      "aria-label": "Tree of nodes. Plus and minus zoom; arrow keys move; 0 shows everything; N and P go to the next and previous node. The same data are in the tables below." }, this.canvas, this.tooltip);
    this.hint = element("p", { class: "hint" }, "Wheel or pinch: zoom \u00b7 Shift + wheel: zoom generations \u00b7 drag: move \u00b7 click: way to the root \u00b7 keys: + \u2212 arrows 0 N P");
    this.stage.chart = this;
    this.host.replaceChildren(this.bar, this.legend, this.map, this.stage, this.hint);
  }
  colourBy(key) {
    this.coloured = WAYS.find((way) => way.key === key) ?? WAYS[0];
    this.way.value = this.coloured.key;
    this.picks = null;
    this.mix();
    this.drawSoon();
  }
  /** The colours of the style sheet and of the legend, which follow the light or dark scheme; paper is always light. */
  mix() {
    const style = getComputedStyle(this.host);
    this.colours = Object.fromEntries(COLOUR_NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    const paper = document.documentElement.classList.contains("paper");
    const loads = Boolean(this.coloured.of);
    this.palette = loads ? rampOf("amount", LOADS.length, this.scheme.matches && !paper ? "dark" : "light") : this.model.applications.map((_, at) => CATEGORIES[at % CATEGORIES.length]);
    this.coloured.made = { words: loads ? LOADS : this.model.applications };
    this.showLegend();
  }
  showLegend() {
    const chips = this.coloured.made.words.map((word, at) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = this.palette[at];
      return element("button", { type: "button", class: "chip", "aria-pressed": String(this.picks === at), onclick: () => this.pick(at) }, swatch, element("bdi", {}, word));
    });
    this.legend.replaceChildren(...chips, ...this.notes().map((text) => element("span", {}, text)));
  }
  notes() {
    return ["a box is filled as far as its processors are busy", "a link is as thick as it is busy", "red: a port that never idles"];
  }
  pick(at) {
    this.picks = this.picks === at ? null : at;
    this.showLegend();
    this.drawSoon();
  }

  /** Places the panels, one for each picture below the other. */
  arrange() {
    const { page, model } = this;
    page.width = Math.max(this.stage.clientWidth, 120);
    page.scale = window.devicePixelRatio || 1;
    const room = model.pictures.length > 1 ? 320 : 560;
    const height = Math.min(Math.max(model.height * 88, 120), room);
    const title = model.pictures.length > 1 ? 30 : 12;
    this.panels = model.pictures.map((picture, at) => ({ picture, top: title + at * (height + title), height }));
    page.height = title + model.pictures.length * (height + title);
    for (const [canvas, width, tall] of [[this.canvas, page.width, page.height], [this.map, page.width, 44]]) {
      canvas.width = Math.round(width * page.scale);
      canvas.height = Math.round(tall * page.scale);
      if (canvas !== this.map) canvas.style.height = `${tall}px`;
    }
    this.mix();
  }
  again() {
    this.arrange();
    this.draw();
  }
  plotWidth() {
    return this.page.width - 2 * PAD;
  }
  xOf(leaf) {
    return PAD + ((leaf - this.view.from) / (this.view.to - this.view.from)) * this.plotWidth();
  }
  yOf(panel, depth) {
    return panel.top + ((depth - this.view.top) / (this.view.bottom - this.view.top)) * panel.height;
  }
  /** The box of a node: as wide as its leaves let it be. */
  boxOf(panel, node) {
    const { model, view } = this;
    const cell = this.plotWidth() / (view.to - view.from);
    const row = panel.height / (view.bottom - view.top);
    const width = Math.min(Math.max(model.leaves[node] * cell * 0.88, 1.5), 92);
    const height = Math.min(Math.max(row * 0.46, 3), 40);
    return { x: this.xOf(model.middle(node)) - width / 2, y: this.yOf(panel, model.depth[node]) + Math.min(8, row * 0.1), width, height };
  }
  /** Which nodes are bright; null for all: the way of the chosen node to the root and what hangs below it, or what was found. */
  bright() {
    const { model, chosen, search } = this;
    if (chosen !== null) {
      const rows = new Set(this.wayOf(chosen));
      const open = [chosen];
      while (open.length) for (const child of model.children[open.pop()]) rows.add(child) && open.push(child);
      return rows;
    }
    return search.text ? new Set(search.found) : null;
  }
  wayOf(node) {
    const way = [];
    for (let at = node; at >= 0; at = this.model.parents[at]) way.push(at);
    return way;
  }
  draw() {
    this.drawOn(this.context(this.canvas));
    this.drawMap();
  }
  drawOn(pen) {
    const { model, view } = this;
    const bright = this.bright();
    for (const panel of this.panels) {
      if (model.pictures.length > 1) write(pen, fitted(pen, shown(panel.picture.title), this.page.width - 2 * PAD) ?? "", PAD, panel.top - 14, this.colours.ink, `600 12px ${FONT}`);
      pen.save();
      pen.beginPath();
      pen.rect(0, panel.top - 2, this.page.width, panel.height + 4);
      pen.clip();
      const seen = model.order.filter((node) => model.first[node] < view.to && model.first[node] + model.leaves[node] > view.from);
      const boxes = new Map(seen.map((node) => [node, this.boxOf(panel, node)]));
      this.drawLinks(pen, panel, boxes, bright);
      for (const [node, box] of boxes) this.drawNode(pen, panel, node, box, bright && !bright.has(node));
      pen.restore();
    }
    return true;
  }
  classOf(panel, node) {
    return firstWhere(LIMITS.length, (k) => this.coloured.of(panel.picture, node) <= LIMITS[k] + (k ? 0 : 1e-12));
  }
  /** Links that look alike are one path: of thousands, each stroke of its own is what takes the time. */
  drawLinks(pen, panel, boxes, bright) {
    const { picture } = panel;
    const { model, colours, coloured, palette, picks } = this;
    const alike = new Map();
    for (const [node, own] of boxes) {
      const [load, parent] = [picture.links[node], model.parents[node]];
      if (parent < 0) continue;
      const above = boxes.get(parent) ?? this.boxOf(panel, parent);
      const place = coloured.key === "links" ? this.classOf(panel, node) : -1;
      const faint = (bright && !bright.has(node)) || (place >= 0 && picks !== null && place !== picks);
      const loaded = place >= 0 ? palette[place] : picture.sends[parent] >= FULL ? colours.missed : colours.soft;
      const width = Math.round(2 + 2 * Math.min(7, Math.max(1, own.width / 6)) * Math.min(load, 1)) / 2;
      const look = `${faint ? 0.2 : 1} ${width} ${load > 0 ? loaded : colours.line}`;
      if (!alike.has(look)) alike.set(look, []);
      alike.get(look).push(above.x + above.width / 2, above.y + above.height, own.x + own.width / 2, own.y);
    }
    for (const [look, ends] of alike) {
      const [alpha, width, colour] = look.split(/ (.*?) (.*)/);
      pen.globalAlpha = Number(alpha);
      pen.lineWidth = Number(width);
      pen.strokeStyle = colour;
      pen.beginPath();
      for (let at = 0; at < ends.length; at += 4) {
        pen.moveTo(ends[at], ends[at + 1]);
        pen.lineTo(ends[at + 2], ends[at + 3]);
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }
  drawNode(pen, panel, node, box, faint) {
    const { model, colours } = this;
    const { picture } = panel;
    const { x, y, width, height } = box;
    const loads = Boolean(this.coloured.of);
    const off = faint || (this.picks !== null && loads && this.classOf(panel, node) !== this.picks);
    pen.globalAlpha = off ? 0.2 : 1;
    pen.fillStyle = loads ? this.palette[this.classOf(panel, node)] : model.computes[node] ? colours.field : colours.card;
    pen.fillRect(x, y, width, height);
    let at = x;
    model.applications.forEach((_, app) => {
      const part = picture.shares[node * model.applications.length + app] * width;
      if (loads || part <= 0) return;
      pen.globalAlpha = off || (this.picks !== null && app !== this.picks) ? 0.2 : 1;
      pen.fillStyle = this.palette[app];
      pen.fillRect(at, y, part, height);
      at += part;
    });
    pen.globalAlpha = off ? 0.2 : 1;
    const marked = node === this.chosen || node === this.hovered;
    pen.strokeStyle = marked ? colours.ink : picture.sends[node] >= FULL ? colours.missed : colours.hatch;
    pen.lineWidth = node === this.chosen ? 3 : 1;
    if (width > 4 || marked || picture.sends[node] >= FULL) pen.strokeRect(x, y, width, height);
    if (height >= 24 && width >= 20) this.drawText(pen, panel, node, loads ? textOn(this.palette[this.classOf(panel, node)]) : null);
    pen.globalAlpha = 1;
  }
  /** The name of a node and its load, where they fit; on a plate of their own where colours change below them. */
  drawText(pen, panel, node, ink) {
    const { x, y, width, height } = this.boxOf(panel, node);
    const { model, colours } = this;
    const value = this.coloured.of ? this.coloured.of(panel.picture, node) : panel.picture.busy[node];
    const load = model.computes[node] || this.coloured.of ? `${(100 * value).toFixed(0)} %` : "switch";
    pen.font = `11px ${FONT}`;
    const name = fitted(pen, model.names[node], width - 6);
    if (name === null) return;
    const lines = pen.measureText(load).width <= width - 6 && height >= 30 ? [name, load] : [name];
    const plate = Math.max(...lines.map((line) => pen.measureText(line).width)) + 8;
    if (!ink) {
      pen.fillStyle = colours.card;
      pen.globalAlpha *= 0.78;
      pen.fillRect(x + (width - plate) / 2, y + height / 2 - 7 * lines.length, plate, 14 * lines.length);
      pen.globalAlpha = pen.globalAlpha < 0.3 ? 0.4 : 1;
    }
    lines.forEach((line, at) => write(pen, line, x + width / 2, y + height / 2 + 14 * (at - (lines.length - 1) / 2), ink ?? colours.ink, pen.font, "center"));
    pen.textAlign = "left";
  }
  /** The whole tree above, with the part in view. */
  drawMap() {
    const { model, view, page, colours } = this;
    const pen = this.context(this.map);
    const x = (leaf) => PAD + (leaf / model.width) * this.plotWidth();
    const y = (depth) => 5 + ((depth + 0.5) / model.height) * 34;
    const [{ picture }] = this.panels;
    for (const node of model.order) {
      pen.fillStyle = picture.busy[node] > 0 || picture.links[node] > 0 ? colours.busy : colours.line;
      pen.fillRect(x(model.middle(node)) - 1, y(model.depth[node]) - 1.5, Math.max(1.5, this.plotWidth() / model.width / 3), 3);
    }
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 1.5;
    pen.strokeRect(x(view.from), 5 + (view.top / model.height) * 34 - 2, x(view.to) - x(view.from), ((view.bottom - view.top) / model.height) * 34 + 4);
    page.map = { x };
  }

  show(from, span, top = this.view.top, rows = this.view.bottom - this.view.top) {
    const { view, model } = this;
    const width = Math.min(Math.max(span, 0.5), model.width);
    const height = Math.min(Math.max(rows, 0.8), model.height);
    view.from = Math.min(Math.max(from, 0), model.width - width);
    view.to = view.from + width;
    view.top = Math.min(Math.max(top, 0), model.height - height);
    view.bottom = view.top + height;
    this.drawSoon();
  }
  fit() {
    this.showTip(null);
    this.show(0, this.model.width, 0, this.model.height);
  }
  zoom(factor, x = this.page.width / 2) {
    this.showTip(null);
    const { view } = this;
    const fixed = view.from + ((x - PAD) / this.plotWidth()) * (view.to - view.from);
    this.show(fixed - (fixed - view.from) * factor, (view.to - view.from) * factor);
  }
  zoomRows(factor) {
    const { view } = this;
    const [middle, rows] = [(view.top + view.bottom) / 2, (view.bottom - view.top) * factor];
    this.show(view.from, view.to - view.from, middle - rows / 2, rows);
  }
  move(leaves, rows) {
    this.showTip(null);
    this.show(this.view.from + leaves, this.view.to - this.view.from, this.view.top + rows);
  }
  /** Chooses a node, and brings it into view if asked for. */
  select(node, near = false) {
    this.chosen = node;
    if (node !== null && near) {
      const { model, view } = this;
      const [span, rows] = [Math.min(view.to - view.from, Math.max(model.leaves[node] * 2, (24 * this.plotWidth()) / 1000)), view.bottom - view.top];
      this.show(model.middle(node) - span / 2, span, Math.min(Math.max(view.top, model.depth[node] + 1 - rows), model.depth[node]));
      const box = this.boxOf(this.panels[0], node);
      this.showTip(node, box.x + box.width / 2, box.y + box.height / 2);
    }
    if (node !== null) this.tell(`${this.model.names[node]}: ${this.describe(node, this.panels[0]).map((pair) => pair.join(" ")).join(", ")}`);
    for (const row of document.querySelectorAll("tr[data-node]")) row.classList.toggle("chosen", Number(row.dataset.node) === node);
    this.drawSoon();
  }
  step(direction) {
    const { order } = this.model;
    const at = this.chosen === null ? (direction > 0 ? -1 : order.length) : order.indexOf(this.chosen);
    this.select(order[Math.min(Math.max(at + direction, 0), order.length - 1)], true);
  }
  find(text) {
    const { search, model } = this;
    const wanted = text.trim().toLowerCase();
    Object.assign(search, { text: wanted, at: -1, found: wanted ? model.order.filter((node) => model.names[node].toLowerCase().includes(wanted)) : [] });
    this.chosen = null;
    this.showTip(null);
    this.sayFound();
    this.drawSoon();
  }
  nodeAt(x, y) {
    const panel = this.panels.find(({ top, height }) => y >= top && y < top + height);
    if (!panel) return null;
    const hit = (node) => {
      const box = this.boxOf(panel, node);
      const slack = Math.max(0, 4 - box.width / 2);
      return x >= box.x - slack && x <= box.x + box.width + slack && y >= box.y && y <= box.y + box.height;
    };
    const node = this.model.order.findLast(hit);
    return node === undefined ? null : { node, panel };
  }
  describe(node, { picture }) {
    const { model } = this;
    const tasks = model.applications.map((name, app) => [name, picture.tasks[node * model.applications.length + app]]).filter(([, rate]) => rate > 0);
    return [
      model.computes[node] ? ["processors busy", percent(picture.busy[node])] : ["processors", "none: a switch"],
      ...tasks.map(([name, rate]) => [name, `${Number(rate.toPrecision(4))} tasks/s`]),
      ...(model.parents[node] >= 0 ? [["link from above busy", percent(picture.links[node])]] : []),
      ...(model.children[node].length ? [["port busy", percent(picture.sends[node])], ["children", String(model.children[node].length)]] : []),
    ];
  }
  showTip(node, x = 0, y = 0, panel = this.panels[0]) {
    const { tooltip } = this;
    tooltip.hidden = node === null;
    if (node === null) return;
    const rows = this.describe(node, panel).flatMap(([word, value]) => [element("dt", {}, word), element("dd", {}, value)]);
    tooltip.replaceChildren(element("strong", {}, this.model.names[node]), element("dl", {}, ...rows));
    const left = x + 14 + tooltip.offsetWidth > this.page.width ? x - 14 - tooltip.offsetWidth : x + 14;
    tooltip.style.transform = `translate(${Math.max(2, Math.min(left, this.page.width - tooltip.offsetWidth - 2))}px, ${Math.max(2, Math.min(y + 14, this.page.height - tooltip.offsetHeight - 2))}px)`;
  }

  listen() {
    new ResizeObserver(() => this.stage.clientWidth && this.stage.clientWidth !== this.page.width && requestAnimationFrame(() => this.again())).observe(this.stage);
    this.scheme.addEventListener("change", () => this.again());
    for (const [event, printing] of [["beforeprint", true], ["afterprint", false]]) {
      addEventListener(event, () => {
        document.documentElement.classList.toggle("paper", printing);
        this.mix();
        this.draw();
      });
    }
    this.listenToPointer();
    this.stage.addEventListener("wheel", (event) => {
      const isWhole = this.view.from <= 0 && this.view.to >= this.model.width;
      // Where all is shown nothing is left to zoom out of: the wheel scrolls the page.
      if (event.metaKey || (isWhole && event.deltaY > 0 && !event.shiftKey)) return;
      event.preventDefault();
      const factor = Math.exp(Math.sign(event.deltaY || event.deltaX) * 0.18);
      if (event.shiftKey) this.zoomRows(factor);
      else this.zoom(factor, this.pointOf(event)[0]);
    }, { passive: false });
    const centre = (event) => {
      if (!(event.buttons & 1)) return;
      const { view, model } = this;
      const leaf = ((event.clientX - this.map.getBoundingClientRect().left - PAD) / this.plotWidth()) * model.width;
      this.show(leaf - (view.to - view.from) / 2, view.to - view.from);
    };
    this.map.addEventListener("pointerdown", centre);
    this.map.addEventListener("pointermove", centre);
    this.listenToKeys();
  }
  /** One pointer drags, two pinch, as on the chart of placements. */
  listenToPointer() {
    const down = new Map();
    let drag = null;
    const middle = () => [...down.values()].reduce(([x, y], point) => [x + point[0] / down.size, y + point[1] / down.size], [0, 0]);
    const wide = () => (down.size > 1 ? Math.max(20, Math.hypot(...[0, 1].map((axis) => [...down.values()][0][axis] - [...down.values()][1][axis]))) : 0);
    const begin = () => {
      drag = { at: middle(), wide: wide(), view: { ...this.view }, moved: drag?.moved ?? false };
    };
    this.stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      down.set(event.pointerId, this.pointOf(event));
      this.stage.setPointerCapture(event.pointerId);
      begin();
    });
    this.stage.addEventListener("pointermove", (event) => {
      if (!down.has(event.pointerId)) return this.hover(...this.pointOf(event));
      down.set(event.pointerId, this.pointOf(event));
      const [x, y] = middle();
      drag.moved ||= down.size > 1 || Math.abs(x - drag.at[0]) + Math.abs(y - drag.at[1]) > 3;
      if (!drag.moved) return undefined;
      this.showTip(null);
      this.stage.classList.add("dragging");
      const { view } = drag;
      const span = drag.wide && wide() ? ((view.to - view.from) * drag.wide) / wide() : view.to - view.from;
      const fixed = view.from + ((drag.at[0] - PAD) / this.plotWidth()) * (view.to - view.from);
      const rows = view.bottom - view.top;
      return this.show(fixed - ((x - PAD) / this.plotWidth()) * span, span, view.top - ((y - drag.at[1]) / this.panels[0].height) * rows, rows);
    });
    const end = (event) => {
      if (!down.delete(event.pointerId)) return;
      if (down.size) return begin();
      if (!drag.moved && event.type === "pointerup") {
        const [x, y] = this.pointOf(event);
        const hit = this.nodeAt(x, y);
        this.select(hit?.node ?? null);
        this.showTip(hit?.node ?? null, x, y, hit?.panel);
      }
      drag = null;
      this.stage.classList.remove("dragging");
      return undefined;
    };
    this.stage.addEventListener("pointerup", end);
    this.stage.addEventListener("pointercancel", end);
    this.stage.addEventListener("pointerleave", () => !down.size && this.hover(-1, -1));
  }
  hover(x, y) {
    const hit = this.nodeAt(x, y);
    const changed = this.hovered !== (hit?.node ?? null);
    this.hovered = hit?.node ?? null;
    this.showTip(this.hovered, x, y, hit?.panel);
    if (changed) this.drawSoon();
  }
  listenToKeys() {
    const [across, down] = [() => (this.view.to - this.view.from) / 8, () => (this.view.bottom - this.view.top) / 8];
    const keys = {
      "+": (shift) => (shift ? this.zoomRows(1 / 1.4) : this.zoom(1 / 1.4)),
      "-": (shift) => (shift ? this.zoomRows(1.4) : this.zoom(1.4)),
      ArrowLeft: () => this.move(-across(), 0),
      ArrowRight: () => this.move(across(), 0),
      ArrowUp: () => this.move(0, -down()),
      ArrowDown: () => this.move(0, down()),
      0: () => this.fit(),
      n: () => this.step(1),
      p: () => this.step(-1),
      Escape: () => {
        this.showTip(null);
        this.select(null);
      },
    };
    const sign = { "=": "+", "_": "-", "*": "+", N: "n", P: "p" };
    this.stage.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const action = keys[sign[event.key] ?? event.key];
      if (!action) return;
      event.preventDefault();
      action(event.shiftKey);
    });
    this.field.addEventListener("input", () => this.find(this.field.value));
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.find((this.field.value = ""));
      const { search } = this;
      if (event.key !== "Enter" || !search.found.length) return;
      search.at = (search.at + (event.shiftKey ? -1 : 1) + search.found.length) % search.found.length;
      this.select(search.found[search.at], true);
      this.sayFound();
    });
  }
}
// What does not depend on what is drawn is that of the chart of placements.
Object.assign(TreeChart.prototype, { context: drawing.context, pointOf: moving.pointOf, sayFound: moving.sayFound, drawSoon: Chart.prototype.drawSoon });

const model = new Tree(JSON.parse(document.getElementById("data").textContent));
const chart = new TreeChart(document.getElementById("chart-host"), model, (text) => {
  document.getElementById("status").textContent = text;
});
/** A row of a table that names a node shows it. */
const places = new Map(model.names.map((name, node) => [name, node]));
for (const row of document.querySelectorAll("tbody tr")) {
  const word = row.cells[0].textContent;
  const node = places.get(word) ?? places.get(word.replace(/^(processors of|link to|port of) /, ""));
  if (node === undefined) continue;
  row.dataset.node = node;
  row.addEventListener("click", () => {
    chart.select(node, true);
    chart.stage.scrollIntoView({ block: "center" });
  });
}
explainTerms(document);
window.makespan = { chart, model };
