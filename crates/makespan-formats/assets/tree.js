// The page of bags of tasks on a tree. It shows the tasks that nodes compute and the loads of links. It has the
// buttons, legend, colours, tooltip and files of the chart of placements. But it draws a tree instead of placements,
// because rates have no instants.

/** Share of busy time from which a port or processor counts as always busy. It is less than 1, because floats only approximate
 * the exact values. */
const FULL = 1 - 1e-9;
const LIMITS = [0, 0.25, 0.5, 0.75, 0.9, FULL];
const LOADS = ["idle", "up to 25 %", "to 50 %", "to 75 %", "to 90 %", "below 100 %", "never idles"];
const PAD = 14;
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** Positions of the nodes in the tree: horizontally in leaves, and vertically in generations. */
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
    // For moving and zooming, the leaves are the time axis, and the generations are the axis of processors.
    const height = this.depth.reduce((deepest, depth) => Math.max(deepest, depth), 0) + 0.62;
    Object.assign(this, { begin: 0, end: this.width, least: 0.5, processors: height, jobs: count, nodes: [], schedules: [], resources: [] });
    for (const picture of this.pictures) this.measure(picture);
  }
  /** Computes the loads of processors and ports, from the shares of the applications and the loads of the links. */
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

class TreeChart extends Chart {
  waysOf({ applications }) {
    const loads = { words: LOADS, colours: (scheme) => rampOf("amount", LOADS.length, scheme), index: [] };
    const parts = { words: applications, colours: () => applications.map((_, at) => CATEGORIES[at % CATEGORIES.length]), index: [] };
    return WAYS.map((way) => ({ ...way, make: () => (way.of ? loads : parts) }));
  }
  firstWay() {
    return WAYS[0].key;
  }
  get words() {
    return {
      item: "a node", across: "leaves", down: "generations", role: "tree of nodes", table: "tables", step: "node",
      keys: "", hint: "click: path to the root \u00b7 keys: + \u2212 arrows 0 N P",
    };
  }
  get chosen() {
    return this.view.chosen?.placement ?? null;
  }
  notes() {
    return ["filled part of a box: busy time of its processors", "width of a link: its busy time", "red: a port that never idles"];
  }
  light() {}

  /** Places the panels below each other, one for each picture. */
  arrange() {
    const { page, model } = this;
    page.width = Math.max(this.stage.clientWidth, 120);
    page.scale = window.devicePixelRatio || 1;
    page.gutter = page.right = PAD;
    const room = model.pictures.length > 1 ? 320 : 560;
    const height = Math.min(Math.max(model.processors * 88, 120), room);
    const title = model.pictures.length > 1 ? 30 : 12;
    this.panels = model.pictures.map((picture, at) => ({ picture, top: title + at * (height + title), height }));
    page.height = title + model.pictures.length * (height + title);
    this.sizeCanvases();
  }
  /** Returns the box of a node. Its width depends on the number of leaves below it. */
  boxOf(panel, node) {
    const { model, view } = this;
    const cell = this.plotWidth() / (view.to - view.from);
    const row = panel.height / (view.bottom - view.top);
    const width = Math.min(Math.max(model.leaves[node] * cell * 0.88, 1.5), 92);
    const height = Math.min(Math.max(row * 0.46, 3), 40);
    return { x: this.xOf(model.middle(node)) - width / 2, y: this.yOf(panel, model.depth[node]) + Math.min(8, row * 0.1), width, height };
  }
  /** Returns the highlighted nodes, or null for all nodes. They are the path from the chosen node to the root and the nodes
   * below the chosen node, or the nodes that match the search. */
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
  /** Draws the links. Links with the same appearance are one path, because separate strokes for thousands of links take most of
   * the time. */
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
    const marked = node === this.chosen || node === this.view.hovered?.placement;
    pen.strokeStyle = marked ? colours.ink : picture.sends[node] >= FULL ? colours.missed : colours.hatch;
    pen.lineWidth = node === this.chosen ? 3 : 1;
    if (width > 4 || marked || picture.sends[node] >= FULL) pen.strokeRect(x, y, width, height);
    if (height >= 24 && width >= 20) this.drawText(pen, panel, node, loads ? textOn(this.palette[this.classOf(panel, node)]) : null);
    pen.globalAlpha = 1;
  }
  /** Draws the name of a node and its load, if they fit. If the colours below them change, they have a background of one colour. */
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
  /** Draws the map above the tree, with a frame around the part in view. */
  drawMap() {
    const { model, view, colours } = this;
    const pen = this.context(this.map);
    const across = this.map.clientWidth - 2 * PAD;
    const x = (leaf) => PAD + (leaf / model.width) * across;
    const y = (depth) => 5 + ((depth + 0.5) / model.processors) * 34;
    const [{ picture }] = this.panels;
    for (const node of model.order) {
      pen.fillStyle = picture.busy[node] > 0 || picture.links[node] > 0 ? colours.busy : colours.line;
      pen.fillRect(x(model.middle(node)) - 1, y(model.depth[node]) - 1.5, Math.max(1.5, across / model.width / 3), 3);
    }
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 1.5;
    pen.strokeRect(x(view.from), 5 + (view.top / model.processors) * 34 - 2, x(view.to) - x(view.from), ((view.bottom - view.top) / model.processors) * 34 + 4);
  }

  /** Draws the tree again if another node is at the pointer. There is no separate overlay. */
  drawOverlay() {
    const hovered = this.view.hovered?.placement;
    if (hovered !== this.marked) this.drawSoon();
    this.marked = hovered;
  }
  drawArrows() {}
  frame() {}

  /** Moves a node into view, marks it, and announces it to screen readers. */
  show(node) {
    const { model, view } = this;
    const [span, rows] = [Math.min(view.to - view.from, Math.max(model.leaves[node] * 2, (24 * this.plotWidth()) / 1000)), view.bottom - view.top];
    this.showTime(model.middle(node) - span / 2, span);
    this.showRows(Math.min(Math.max(view.top, model.depth[node] + 1 - rows), model.depth[node]), rows);
    const target = { schedule: 0, placement: node };
    this.select(target);
    const box = this.boxOf(this.panels[0], node);
    this.showTip(target, box.x + box.width / 2, box.y + box.height / 2);
  }
  select(target) {
    this.view.chosen = target;
    const node = this.chosen;
    if (target) this.tell(`${this.model.names[node]}: ${this.describe(target).map((pair) => pair.join(" ")).join(", ")}`);
    for (const row of document.querySelectorAll("tr[data-node]")) row.classList.toggle("chosen", Number(row.dataset.node) === node);
    this.drawSoon();
  }
  step(direction) {
    const { order } = this.model;
    const at = this.chosen === null ? (direction > 0 ? -1 : order.length) : order.indexOf(this.chosen);
    this.show(order[Math.min(Math.max(at + direction, 0), order.length - 1)]);
  }
  find(text) {
    const { search, model } = this;
    const wanted = text.trim().toLowerCase();
    Object.assign(search, { text: wanted, at: -1, found: wanted ? model.order.filter((node) => model.names[node].toLowerCase().includes(wanted)) : [] });
    this.view.chosen = null;
    this.showTip(null);
    this.sayFound();
    this.drawSoon();
  }
  targetAt(x, y) {
    const schedule = this.panels.findIndex(({ top, height }) => y >= top && y < top + height);
    if (schedule < 0) return null;
    const panel = this.panels[schedule];
    const hit = (node) => {
      const box = this.boxOf(panel, node);
      const slack = Math.max(0, 4 - box.width / 2);
      return x >= box.x - slack && x <= box.x + box.width + slack && y >= box.y && y <= box.y + box.height;
    };
    const node = this.model.order.findLast(hit);
    return node === undefined ? null : { schedule, placement: node };
  }
  describe({ schedule, placement: node }) {
    const { model } = this;
    const picture = model.pictures[schedule];
    const tasks = model.applications.map((name, app) => [name, picture.tasks[node * model.applications.length + app]]).filter(([, rate]) => rate > 0);
    return [
      model.computes[node] ? ["processors busy", percent(picture.busy[node])] : ["processors", "none: a switch"],
      ...tasks.map(([name, rate]) => [name, `${Number(rate.toPrecision(4))} tasks/s`]),
      ...(model.parents[node] >= 0 ? [["link from above busy", percent(picture.links[node])]] : []),
      ...(model.children[node].length ? [["port busy", percent(picture.sends[node])], ["children", String(model.children[node].length)]] : []),
    ];
  }
  showTip(target, x = 0, y = 0) {
    const { tooltip } = this;
    tooltip.hidden = !target;
    if (!target) return;
    const rows = this.describe(target).flatMap(([word, value]) => [element("dt", {}, word), element("dd", {}, value)]);
    tooltip.replaceChildren(element("strong", {}, this.model.names[target.placement]), element("dl", {}, ...rows));
    const left = x + 14 + tooltip.offsetWidth > this.page.width ? x - 14 - tooltip.offsetWidth : x + 14;
    tooltip.style.transform = `translate(${Math.max(2, Math.min(left, this.page.width - tooltip.offsetWidth - 2))}px, ${Math.max(2, Math.min(y + 14, this.page.height - tooltip.offsetHeight - 2))}px)`;
  }
}

const model = new Tree(JSON.parse(document.getElementById("data").textContent));
const chart = new TreeChart(document.getElementById("chart-host"), model, {
  tell: (text) => {
    document.getElementById("status").textContent = text;
  },
});
/** Makes table rows that name a node show this node. */
const places = new Map(model.names.map((name, node) => [name, node]));
for (const row of document.querySelectorAll("tbody tr")) {
  const word = row.cells[0].textContent;
  const node = places.get(word) ?? places.get(word.replace(/^(processors of|link to|port of) /, ""));
  if (node === undefined) continue;
  row.dataset.node = node;
  row.addEventListener("click", () => {
    chart.show(node);
    chart.stage.scrollIntoView({ block: "center" });
  });
}
explainTerms(document);
window.makespan = { chart, model };
