// The chart of all pages: its parts and their arrangement, and the chosen, marked and coloured placements.

const COLOUR_NAMES = ["card", "ink", "soft", "line", "field", "rule", "hatch", "busy", "lane", "second", "bound", "accent", "missed", "good"];
/** Maximum number of tasks before or after a chosen task that are searched for. */
const MAX_RELATED = 20000;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

class Chart {
  /** Creates a chart. `options` contains functions: `tell` passes a text to a screen reader, `picked` is called with the chosen
   * placement, `turned` with the index of the schedule that is shown, and `searched` with the result of a search (null without
   * a search). `open` is called if the user presses Enter on a chosen placement. */
  constructor(host, model, options = {}) {
    Object.assign(this, { host, model, tell: options.tell ?? (() => {}), picked: options.picked ?? (() => {}), turned: options.turned ?? (() => {}), searched: options.searched ?? (() => {}), open: options.open });
    const [from, to] = model.home ?? [model.begin, model.end];
    this.view = { from, to, top: 0, bottom: model.processors, chosen: null, hovered: null };
    this.collapsed = new Set();
    this.rows = new RowMap(model, this.collapsed, 1);
    this.page = { width: 0, height: 0, gutter: 0, right: 14, axis: 0, scale: 1 };
    this.layers = [];
    this.version = 0;
    this.search = { text: "", found: [], at: -1, hits: null };
    this.picks = null;
    this.chosenSchedule = 0;
    this.ways = this.waysOf(model);
    this.build();
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.arrange();
    this.colourBy(this.firstWay());
    this.listen();
    this.draw();
  }

  /** Returns the ways to colour the chart. The page of a tree has other ways. */
  waysOf(model) {
    return coloursFor(model);
  }
  firstWay() {
    return firstWay(this.model, this.ways);
  }
  /** Texts of the controls. */
  get words() {
    return {
      item: "a job", across: "time", down: "processors", role: "Gantt chart", table: "table", step: "placement",
      keys: "C collapses nodes; ", hint: "click: what it waits for \u00b7 keys: + \u2212 arrows 0 C N P",
    };
  }

  build() {
    const { words } = this;
    const button = (name, text, label, act) => element("button", { type: "button", "data-act": name, "aria-label": label, title: label, onclick: act }, text);
    this.way = element("select", { "aria-label": "What colours mean", class: "way", onchange: () => this.colourBy(this.way.value) }, ...this.ways.map(({ key, word }) => element("option", { value: key }, word)));
    this.field = element("input", { type: "search", class: "find", placeholder: `Find ${words.item}`, "aria-label": `Find ${words.item} by name; Enter goes to the next match`, autocomplete: "off", spellcheck: "false" });
    this.found = element("output", { class: "found" });
    this.which = element("select", { class: "which", "aria-label": "Schedule shown", onchange: () => this.choose(Number(this.which.value)) }, ...this.model.schedules.map(({ name }, at) => element("option", { value: at }, name)));
    const nodes = this.model.nodes.length > 1;
    this.fold = button("fold", "Collapse nodes", "Show each node as one lane, or all its processors (C)", () => this.foldAll());
    this.fold.hidden = !nodes;
    this.which.hidden = !this.model.choose || this.model.schedules.length < 2;
    const zoom = element("div", { class: "buttons", role: "group", "aria-label": "Zoom" },
      button("zoom-out", "\u2212", `Zoom out of ${words.across} (\u2212)`, () => this.zoomTime(1.6)), button("zoom-in", "+", `Zoom in on ${words.across} (+)`, () => this.zoomTime(1 / 1.6)),
      button("rows-out", "\u2195\u2212", `Zoom out of ${words.down} (Shift \u2212)`, () => this.zoomRows(1.6)), button("rows-in", "\u2195+", `Zoom in on ${words.down} (Shift +)`, () => this.zoomRows(1 / 1.6)),
      button("fit", "Fit", this.model.home ? "Show the initial view; press again to show everything (0)" : "Show everything (0)", () => this.fit()));
    const files = element("div", { class: "buttons files", role: "group", "aria-label": "Save the picture" }, button("png", "PNG", "Save the picture as PNG", () => savePng(this)), button("svg", "SVG", "Save the picture as SVG", () => saveSvg(this)));
    this.bar = element("div", { class: "bar chart-bar" }, this.which, element("label", { class: "colour" }, "Colour ", this.way), element("div", { class: "search", role: "search" }, this.field, this.found), this.fold, zoom, files);
    this.legend = element("div", { class: "chart-legend", role: "group", "aria-label": "Legend: press to show one class alone" });
    this.map = element("canvas", { class: "map", "aria-hidden": "true" });
    this.canvas = element("canvas", { class: "picture" });
    this.overlay = element("canvas", { class: "overlay", "aria-hidden": "true" });
    // On a phone, the user hides the tooltip by pressing it. The click that belongs to the tap that showed the tooltip is ignored.
    let isPressed = false;
    const press = (event) => {
      event.stopPropagation();
      isPressed = true;
    };
    const away = () => {
      if (isPressed) this.showTip(null);
      isPressed = false;
    };
    this.tooltip = element("div", { class: "chart-tip", role: "tooltip", hidden: true, onpointerdown: press, onclick: away });
    this.stage = element("div", { class: "stage", tabindex: "0", role: "application", "aria-roledescription": words.role,
      "aria-label": `${words.role}. Plus and minus zoom, with Shift over ${words.down}; arrow keys move; 0 shows everything; ${words.keys}N and P go to the next and previous ${words.step}. The same data are in the ${words.table} below.` }, this.canvas, this.overlay, this.tooltip);
    this.hint = element("p", { class: "hint" }, `Wheel or pinch: zoom ${words.across} \u00b7 Shift + wheel: zoom ${words.down} \u00b7 drag: move \u00b7 ${words.hint}`);
    // For tests, and for access from the console of the browser.
    this.stage.chart = this;
    this.host.replaceChildren(this.bar, this.legend, this.map, this.stage, this.hint);
  }

  /** Shows a later state of the same cluster. Zoom, colours and search are unchanged. */
  replace(model) {
    const { view } = this;
    const before = this.model.home ?? [this.model.begin, this.model.end];
    const atHome = view.from === before[0] && view.to === before[1];
    const key = (target) => this.model.schedules[target.schedule].keys?.[target.placement];
    const chosen = view.chosen && key(view.chosen);
    this.model = model;
    this.layers = [];
    view.hovered = view.chosen = null;
    const again = chosen ? (model.schedules[0].keys ?? []).indexOf(chosen) : -1;
    if (again >= 0) view.chosen = { schedule: 0, placement: again };
    if (atHome) [view.from, view.to] = model.home ?? [model.begin, model.end];
    for (const node of this.collapsed) if (node >= model.nodes.length) this.collapsed.delete(node);
    this.rows = new RowMap(model, this.collapsed, 1);
    if (view.bottom > this.rows.total) Object.assign(view, { top: 0, bottom: this.rows.total });
    this.ways = this.waysOf(model);
    this.arrange();
    this.colourBy(this.coloured.key);
    if (this.search.text) this.find(this.search.text);
    this.draw(true);
  }

  /** Places the parts of the chart for the current width. */
  arrange() {
    const { page, model } = this;
    page.width = Math.max(this.stage.clientWidth, 120);
    page.scale = window.devicePixelRatio || 1;
    const narrow = page.width < 560;
    const longest = model.nodes.reduce((most, node) => Math.max(most, Math.min(narrow ? 7 : 16, node.name.length)), 0);
    page.gutter = 28 + 6.6 * (model.nodes.length > 1 ? longest + 1 : Math.max(String(model.processors).length, 2));
    const amounts = model.resources.filter(({ isHeld }) => isHeld).map(({ name, total }) => amountText(name, total).length);
    page.gutter = Math.max(page.gutter, 10 + 6.4 * Math.max(0, ...amounts));
    const shownNow = model.choose ? [this.chosenSchedule] : model.schedules.map((_, at) => at);
    const limit = shownNow.length > 2 ? 190 : shownNow.length > 1 ? 270 : narrow ? 330 : 430;
    const each = Math.min(Math.max(model.processors * 26, 90), limit);
    this.fitRows(each);
    let y = 0;
    this.panels = shownNow.map((schedule) => {
      const panel = { schedule, top: y + ABOVE, height: each, rough: true, titled: page.gutter };
      y = panel.top + each;
      return panel;
    });
    this.arrangeLanes(y, narrow);
    this.sizeCanvases();
  }
  sizeCanvases() {
    const { page } = this;
    for (const [canvas, height] of [[this.canvas, page.height], [this.overlay, page.height], [this.map, 44]]) {
      const width = canvas === this.map ? this.map.clientWidth : page.width;
      canvas.width = Math.round(width * page.scale);
      canvas.height = Math.round(height * page.scale);
      if (canvas !== this.map) canvas.style.height = `${height}px`;
    }
    this.readColours();
  }
  arrangeLanes(from, narrow) {
    const { page, model } = this;
    this.lanes = [{ resource: -1, total: model.processors, label: grouped(model.processors), height: narrow ? 60 : 76 }];
    model.resources.forEach(({ name, total, consumable, isHeld }, resource) => {
      if (isHeld && total > 0) this.lanes.push({ resource, total, consumable, name, label: amountText(name, total), height: narrow ? 40 : 48 });
    });
    let y = from;
    for (const lane of this.lanes) {
      lane.top = y + 26;
      y = lane.top + lane.height;
    }
    page.axis = y;
    page.height = y + 30;
  }
  /** Adapts the heights of rows. A collapsed node keeps a lane that is high enough to be read and clicked. */
  fitRows(height) {
    const { model, collapsed } = this;
    const open = model.nodes.reduce((sum, node, at) => sum + (collapsed.has(at) ? 0 : node.count), 0);
    const least = Math.min(15, height / Math.max(1, collapsed.size) / 2);
    const lane = collapsed.size === model.nodes.length ? 1 : Math.max(1, (least * open) / Math.max(1, height - least * collapsed.size));
    const whole = this.view.top === 0 && this.view.bottom === this.rows.total;
    this.rows = new RowMap(model, collapsed, lane);
    if (whole || this.view.bottom > this.rows.total) Object.assign(this.view, { top: 0, bottom: this.rows.total });
  }

  /** Reads the colours of the style sheet, which depend on the light or dark scheme. Printed pages always use the light scheme. */
  readColours() {
    const style = getComputedStyle(this.host);
    this.colours = Object.fromEntries(COLOUR_NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    if (this.coloured?.made && this.coloured.made.index.length === this.model.schedules.length) this.mix();
  }
  colourBy(key) {
    const way = this.ways.find((way) => way.key === key) ?? this.ways[0];
    if (way.made === undefined) way.made = way.make();
    this.coloured = way;
    this.way.value = way.key;
    this.picks = null;
    this.model.schedules.forEach((schedule, at) => {
      schedule.colour = way.made.index[at];
      schedule.flags ??= flagsOf(schedule);
    });
    this.mix();
    this.light();
    this.showLegend();
    this.drawSoon();
  }
  mix() {
    const paper = this.host.ownerDocument.documentElement.classList.contains("paper");
    this.palette = this.coloured.made.colours(this.scheme.matches && !paper ? "dark" : "light");
    this.table = Uint32Array.from(this.palette, (colour) => pixelOf(colour, 255));
    this.faint = Uint32Array.from(this.palette, (colour) => pixelOf(colour, 42));
    this.ink = this.palette.map(textOn);
    this.version++;
    this.showLegend();
  }
  showLegend() {
    const { words, first = 0 } = this.coloured.made;
    const chips = words.map((word, at) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = this.palette[first + at];
      return element("button", { type: "button", class: "chip", "aria-pressed": String(this.picks === first + at), onclick: () => this.pick(first + at) }, swatch, element("bdi", {}, word));
    });
    this.legend.replaceChildren(...chips, ...this.notes().map((text) => element("span", {}, text)));
  }
  /** Returns explanations for the legend in addition to its colours. */
  notes() {
    const signs = [];
    const { schedules } = this.model;
    if (schedules.some((one) => one.outcomes.size)) signs.push("red hatching: did not succeed");
    if (schedules.some((one) => one.marks.size)) signs.push("dark corner: moved after a collision");
    if (schedules.some((one) => one.guesses.size)) signs.push("dashed: the run time is a guess");
    if (schedules.some((one) => one.deadlines.length)) signs.push("triangle: deadline, red where missed");
    if (this.model.wasShort) signs.push("the view ends with the run; press Fit for all of the plan");
    if (this.model.unavailable.length) signs.push(`grey hatching: not available${this.model.live ? ", or reserved" : ""}`);
    if (this.collapsed.size) signs.push("collapsed node: its height shows the number of busy processors");
    return [this.coloured.made.note, ...signs].filter(Boolean);
  }
  /** Highlights one class of the legend, or all classes again. */
  pick(at) {
    this.picks = this.picks === at ? null : at;
    this.light();
    this.showLegend();
    this.drawSoon();
  }
  /** Determines the highlighted placements: those that are related to the chosen placement, those that match the search, or
   * those of one class of the legend. */
  light() {
    this.related = this.view.chosen ? relatedOf(this.model, this.view.chosen) : null;
    const { hits } = this.search;
    this.model.schedules.forEach((schedule, at) => {
      const { related, picks } = this;
      const test = related?.rows ? (i) => related.rows.has(schedule.row[i]) : hits ? (i) => hits[schedule.job(i)] : picks !== null ? (i) => schedule.colour[i] === picks : null;
      schedule.lit = test ? Uint8Array.from({ length: schedule.count }, (_, i) => (test(i) ? 1 : 0)) : null;
      if (this.layers[at]) this.layers[at].key = "";
    });
  }
  choose(schedule) {
    this.chosenSchedule = schedule;
    this.which.value = schedule;
    this.view.chosen = this.view.hovered = null;
    this.light();
    this.again();
    if (this.search.text) this.find(this.search.text);
    this.turned(schedule);
    this.tell(`Schedule ${this.model.schedules[schedule].name} is shown`);
  }
  foldAll() {
    if (this.collapsed.size) this.collapsed.clear();
    else this.model.nodes.forEach((_, at) => this.collapsed.add(at));
    this.folded();
  }
  foldNode(node) {
    if (!this.collapsed.delete(node)) this.collapsed.add(node);
    this.folded();
  }
  folded() {
    this.fold.textContent = this.collapsed.size ? "Expand nodes" : "Collapse nodes";
    this.showLegend();
    Object.assign(this.view, { top: 0, bottom: this.rows.total });
    this.again();
  }
  again() {
    this.version++;
    this.arrange();
    this.draw(true);
  }

  /** Draws the whole picture in the next frame. Further calls until then have no effect. */
  drawSoon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }
  draw(exact = false) {
    clearTimeout(this.settling);
    const whole = this.drawOn(this.context(this.canvas), exact);
    this.drawOverlay();
    this.drawMap();
    if (!whole) this.settling = setTimeout(() => this.draw(true), 160);
  }
  /** Draws on a canvas or on the pen of a file. Returns whether the picture is up to date. */
  drawOn(pen, exact) {
    const { view, page } = this;
    const step = stepOf(view.to - view.from, this.plotWidth() / 105);
    let whole = true;
    for (const panel of this.panels) {
      this.drawGrid(pen, panel, step);
      whole = this.refresh(panel, exact) && whole;
      this.clipped(pen, panel, () => {
        this.drawUnavailable(pen, panel);
        if (pen.drawVector) pen.drawVector(this, panel);
        else this.drawPlacements(pen, panel);
      });
      const name = this.model.schedules[panel.schedule].name;
      if (this.panels.length > 1 || this.model.choose) {
        pen.font = `600 12px ${FONT}`;
        const title = fitted(pen, isolated(name), page.width * 0.4) ?? "";
        write(pen, title, page.gutter, panel.top - 15, this.colours.ink, pen.font);
        panel.titled = page.gutter + pen.measureText(title).width;
      }
      this.drawRowLabels(pen, panel);
      this.drawDeadlines(pen, panel);
      this.drawLines(pen, panel);
    }
    for (const lane of this.lanes) {
      this.drawGrid(pen, lane, step);
      this.clipped(pen, lane, () => this.drawLane(pen, lane, view.from, view.to, page.gutter, this.plotWidth()));
      this.drawLaneTitle(pen, lane);
    }
    this.drawAxis(pen, step);
    return whole;
  }
}
Object.assign(Chart.prototype, drawing, overlays, moving);

/** Returns flags for placements with a special sign: those that did not succeed, are guessed or are marked. */
function flagsOf(schedule) {
  if (!schedule.outcomes.size && !schedule.guesses.size && !schedule.marks.size) return null;
  const flags = new Uint8Array(schedule.count);
  for (const i of [...schedule.outcomes.keys(), ...schedule.guesses, ...schedule.marks.keys()]) flags[i] = 1;
  return flags;
}

/** Returns the placements that precede or follow a placement, because of an edge or because one releases a processor when the
 * other starts. */
function relatedOf(model, { schedule, placement }) {
  const source = model.schedules[schedule];
  const row = source.row[placement];
  const related = { before: [], after: [], processors: [], rows: null };
  if (model.hasEdges) {
    related.before = Array.from(model.before(row));
    related.after = Array.from(model.after(row));
    if (related.before.length + related.after.length) {
      related.rows = new Set([row]);
      for (const side of ["before", "after"]) spread(model, row, side, related.rows);
    }
  }
  const near = Math.max(1e-9, source.makespan * 1e-9);
  const [start, end] = [source.start[placement], source.end[placement]];
  const meets = (i) => {
    for (let k = 2 * source.first[placement]; k < 2 * source.first[placement + 1]; k += 2) {
      for (let m = 2 * source.first[i]; m < 2 * source.first[i + 1]; m += 2) {
        if (source.spans[k] <= source.spans[m + 1] && source.spans[m] <= source.spans[k + 1]) return true;
      }
    }
    return false;
  };
  source.between(start - 2 * near, start + near, (i) => {
    if (i !== placement && Math.abs(source.end[i] - start) <= near && meets(i)) related.processors.push([i, placement]);
  });
  source.between(end - near, end + 2 * near, (i) => {
    if (i !== placement && Math.abs(source.start[i] - end) <= near && meets(i)) related.processors.push([placement, i]);
  });
  return related;
}

/** Adds all direct and indirect predecessors or successors of a task. */
function spread(model, row, side, rows) {
  const seen = new Set([row]);
  const open = [row];
  while (open.length && seen.size < MAX_RELATED) {
    for (const next of model[side](open.pop())) {
      if (seen.has(next)) continue;
      seen.add(next);
      rows.add(next);
      open.push(next);
    }
  }
}
