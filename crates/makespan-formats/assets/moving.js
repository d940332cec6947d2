// Moves the view by pointer, touch, keys, buttons and search.

const moving = {
  /** Shows a period of length `span` that begins at `from`. The period is moved into the schedule if necessary. */
  showTime(from, span) {
    const { view, model } = this;
    const all = model.end - model.begin;
    const width = Math.min(Math.max(span, model.least ?? all * 1e-7), all);
    view.from = Math.min(Math.max(from, model.begin), model.end - width);
    view.to = view.from + width;
    this.drawSoon();
  },
  showRows(top, count) {
    const { view, rows } = this;
    const height = Math.min(Math.max(count, 1), rows.total);
    view.top = Math.min(Math.max(top, 0), rows.total - height);
    view.bottom = view.top + height;
    this.drawSoon();
  },
  /** Zooms by a factor. The instant at `x` keeps its position. */
  zoomTime(factor, x = this.page.gutter + this.plotWidth() / 2) {
    this.showTip(null);
    const { view, page } = this;
    const fixed = this.timeAt(Math.min(Math.max(x, page.gutter), page.width - page.right));
    this.showTime(fixed - (fixed - view.from) * factor, (view.to - view.from) * factor);
  },
  zoomRows(factor, share = 0.5) {
    const { view } = this;
    const count = view.bottom - view.top;
    const fixed = view.top + share * count;
    this.showRows(fixed - share * count * factor, count * factor);
  },
  /** Shows the initial view. If it is already shown, shows the whole schedule. */
  fit() {
    this.showTip(null);
    const { home, begin, end } = this.model;
    const isThere = !home || (Math.abs(this.view.from - home[0]) + Math.abs(this.view.to - home[1]) < 1e-9 * (home[1] - home[0]));
    const [from, to] = isThere ? [begin, end] : home;
    this.showTime(from, to - from);
    this.showRows(0, this.rows.total);
  },
  move(seconds, rows) {
    this.showTip(null);
    this.showTime(this.view.from + seconds, this.view.to - this.view.from);
    this.showRows(this.view.top + rows, this.view.bottom - this.view.top);
  },

  /** Moves a placement into view, marks it, and announces it to screen readers. */
  show(target) {
    const { view, model } = this;
    if (model.choose && target.schedule !== this.chosenSchedule) this.choose(target.schedule);
    const schedule = model.schedules[target.schedule];
    const i = target.placement;
    const [start, time] = [schedule.start[i], schedule.end[i] - schedule.start[i]];
    const span = view.to - view.from;
    const fitting = (time / span) * this.plotWidth() < 40 || time > span * 0.8 ? Math.max(time * 10, (model.end - model.begin) * 1e-6) : span;
    this.showTime(start + time / 2 - fitting / 2, fitting);
    const middle = schedule.width[i] ? this.middleOf(schedule, i) : 0;
    if (middle < view.top || middle > view.bottom) this.showRows(middle - (view.bottom - view.top) / 2, view.bottom - view.top);
    this.select(target);
    this.showTip(target, this.xOf(start + time / 2), this.yOf(this.panelOf(target), middle));
  },
  select(target) {
    const before = this.related?.rows;
    this.view.chosen = target;
    this.related = target ? relatedOf(this.model, target) : null;
    if (before || this.related?.rows) this.light();
    this.drawSoon();
    this.picked(target);
    if (!target) return this.tell("");
    const [name, rows] = this.describe(target);
    return this.tell(`${name}: ${rows.map(([word, value]) => `${word} ${value}`).join(", ")}`);
  },
  /** Clears the choice of a placement and of a class in the legend. */
  clear() {
    this.showTip(null);
    this.select(null);
    if (this.picks !== null) this.pick(this.picks);
  },
  /** Chooses the next or previous placement by start. */
  step(direction) {
    const { chosen } = this.view;
    const schedule = chosen?.schedule ?? this.panels[0]?.schedule;
    const count = this.model.schedules[schedule]?.count;
    if (!count) return;
    const placement = chosen ? Math.min(Math.max(chosen.placement + direction, 0), count - 1) : direction > 0 ? 0 : count - 1;
    this.show({ schedule, placement });
  },

  find(text) {
    const { search, model } = this;
    search.text = text.trim().toLowerCase();
    Object.assign(search, { found: [], at: -1, hits: null });
    if (search.text) {
      search.hits = new Uint8Array(model.jobs);
      const rows = model.rowNames && new Uint8Array(model.rows);
      model.names.all().forEach((name, job) => {
        if (name.toLowerCase().includes(search.text)) search.hits[job] = 1;
      });
      if (rows) for (let row = 0; row < model.rows; row++) if (model.nameOf(row).toLowerCase().includes(search.text)) rows[row] = 1;
      // Among alternative schedules, only the shown schedule is searched.
      model.schedules.forEach((schedule, at) => {
        if (model.choose && at !== this.chosenSchedule) return;
        for (let i = 0; i < schedule.count; i++) if (search.hits[schedule.job(i)] || rows?.[schedule.row[i]]) search.found.push({ schedule: at, placement: i });
      });
      if (rows) for (let row = 0; row < model.rows; row++) if (rows[row]) search.hits[model.jobOf(row)] = 1;
    } else {
      this.select(null);
      this.showTip(null);
    }
    this.light();
    this.sayFound();
    this.searched(search.text ? search.found : null);
    this.drawSoon();
  },
  sayFound() {
    const { search } = this;
    const count = search.found.length;
    this.found.textContent = count ? (search.at < 0 ? plural(count, "match") : `${search.at + 1} of ${count}`) : search.text ? "no match" : "";
  },
  nextMatch(direction) {
    const { search } = this;
    const count = search.found.length;
    if (!count) return;
    search.at = search.at < 0 && direction < 0 ? count - 1 : (search.at + direction + count) % count;
    this.show(search.found[search.at]);
    this.sayFound();
  },

  pointOf(event) {
    const box = this.stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  },
  listen() {
    this.listenToWheel();
    this.listenToPointer();
    this.listenToMap();
    this.listenToKeys();
    new ResizeObserver(() => {
      // If the zoom of the browser changes, both the width and the number of pixels change.
      if (this.stage.clientWidth && this.stage.clientWidth !== this.page.width) requestAnimationFrame(() => this.again());
    }).observe(this.stage);
    this.scheme.addEventListener("change", () => this.again());
    for (const [event, printing] of [["beforeprint", true], ["afterprint", false]]) {
      addEventListener(event, () => {
        document.documentElement.classList.toggle("paper", printing);
        if (printing) this.clear();
        this.readColours();
        this.draw(true);
      });
    }
  },
  /** Returns whether a wheel event scrolls the page. This is the case if the whole schedule is in view, so that the chart cannot
   * zoom out. */
  leavesToPage(event) {
    const { view, model } = this;
    return !event.shiftKey && event.deltaY > Math.abs(event.deltaX) && view.from <= model.begin && view.to >= model.end;
  },
  listenToWheel() {
    this.stage.addEventListener("wheel", (event) => {
      if (event.metaKey || this.leavesToPage(event)) return;
      event.preventDefault();
      const [x, y] = this.pointOf(event);
      const factor = Math.exp(Math.sign(event.deltaY || event.deltaX) * 0.18);
      const panel = this.panels.find(({ top, height }) => y >= top && y < top + height);
      if (event.shiftKey) this.zoomRows(factor, panel ? (y - panel.top) / panel.height : 0.5);
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move((event.deltaX / this.plotWidth()) * (this.view.to - this.view.from), 0);
      else this.zoomTime(factor, x);
      this.showTip(null);
    }, { passive: false });
  },
  /** Handles pointers. One pointer drags the view, and two pointers zoom in time. The instant between them keeps its position. */
  listenToPointer() {
    const down = new Map();
    let drag = null;
    const begin = () => {
      const points = [...down.values()];
      const [x, y] = [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
      const wide = points.length > 1 ? Math.max(20, Math.hypot(points[0][0] - points[1][0], points[0][1] - points[1][1])) : 0;
      drag = { x, y, wide, from: this.view.from, span: this.view.to - this.view.from, top: this.view.top, moved: drag?.moved ?? false };
    };
    this.stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      down.set(event.pointerId, this.pointOf(event));
      this.stage.setPointerCapture(event.pointerId);
      begin();
    });
    this.stage.addEventListener("pointermove", (event) => {
      const [x, y] = this.pointOf(event);
      if (!down.has(event.pointerId)) return this.hover(x, y);
      down.set(event.pointerId, [x, y]);
      return this.dragged(drag, [...down.values()]);
    });
    const end = (event) => {
      if (!down.delete(event.pointerId)) return;
      if (down.size) return begin();
      if (drag && !drag.moved && event.type === "pointerup") this.click(...this.pointOf(event));
      drag = null;
      this.stage.classList.remove("dragging");
      return undefined;
    };
    this.stage.addEventListener("pointerup", end);
    this.stage.addEventListener("pointercancel", end);
    // For touch, `pointerleave` occurs after each tap. The tooltip must stay, so that the user can read it.
    this.stage.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && !down.size && this.hover(-1, -1));
  },
  dragged(drag, points) {
    const [x, y] = [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
    drag.moved ||= points.length > 1 || Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3;
    if (!drag.moved) return;
    this.stage.classList.add("dragging");
    this.showTip(null);
    const wide = points.length > 1 ? Math.max(20, Math.hypot(points[0][0] - points[1][0], points[0][1] - points[1][1])) : 0;
    const span = drag.wide && wide ? drag.span * (drag.wide / wide) : drag.span;
    const fixed = drag.from + ((drag.x - this.page.gutter) / this.plotWidth()) * drag.span;
    this.showTime(fixed - ((x - this.page.gutter) / this.plotWidth()) * span, span);
    const panel = this.panels[0];
    if (panel) this.showRows(drag.top - (y - drag.y) / this.rowHeight(panel), this.view.bottom - this.view.top);
  },
  click(x, y) {
    const target = this.targetAt(x, y);
    if (target?.gutter) return this.foldNode(target.node);
    const placement = target?.placement === undefined ? null : target;
    // A second click on a chosen placement opens the placement, if the page supports this.
    const { chosen } = this.view;
    if (placement && chosen && chosen.schedule === placement.schedule && chosen.placement === placement.placement) this.open?.(chosen);
    this.select(placement);
    this.showTip(placement, x, y);
    return undefined;
  },
  hover(x, y) {
    const target = this.targetAt(x, y);
    this.view.hovered = target;
    this.stage.classList.toggle("over-gutter", Boolean(target?.gutter));
    this.showTip(target, x, y);
    this.drawOverlay();
  },
  listenToMap() {
    const { map, page } = this;
    const centre = (event) => {
      if (!(event.buttons & 1)) return;
      const { model } = this;
      const box = map.getBoundingClientRect();
      const time = model.begin + ((event.clientX - box.left - page.gutter) / (box.width - page.gutter - page.right)) * (model.end - model.begin);
      this.showTime(time - (this.view.to - this.view.from) / 2, this.view.to - this.view.from);
    };
    map.addEventListener("pointerdown", (event) => {
      map.setPointerCapture(event.pointerId);
      centre(event);
    });
    map.addEventListener("pointermove", centre);
  },
  listenToKeys() {
    const span = () => (this.view.to - this.view.from) / 8;
    const rows = () => (this.view.bottom - this.view.top) / 8;
    const keys = {
      "+": (shift) => (shift ? this.zoomRows(1 / 1.4) : this.zoomTime(1 / 1.4)),
      "-": (shift) => (shift ? this.zoomRows(1.4) : this.zoomTime(1.4)),
      ArrowLeft: () => this.move(-span(), 0),
      ArrowRight: () => this.move(span(), 0),
      ArrowUp: () => this.move(0, -rows()),
      ArrowDown: () => this.move(0, rows()),
      0: () => this.fit(),
      c: () => this.model.nodes.length > 1 && this.foldAll(),
      n: () => this.step(1),
      p: () => this.step(-1),
      Enter: () => this.view.chosen && this.open?.(this.view.chosen),
      Escape: () => this.clear(),
    };
    // Shift changes the sign of a key, so both signs are accepted. The key itself depends on the keyboard layout.
    const sign = { "=": "+", "_": "-", "*": "+", C: "c", N: "n", P: "p" };
    this.stage.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const action = keys[sign[event.key] ?? event.key];
      if (!action) return;
      event.preventDefault();
      action(event.shiftKey);
      this.drawSoon();
    });
    // If there are very many names, the search waits until the user stops typing.
    let typing = 0;
    const now = () => {
      clearTimeout(typing);
      typing = 0;
      this.find(this.field.value);
    };
    this.field.addEventListener("input", () => {
      if (this.model.jobs < 100000) return now();
      clearTimeout(typing);
      typing = setTimeout(now, 250);
      return undefined;
    });
    this.field.addEventListener("keydown", (event) => {
      if (typing && event.key === "Enter") now();
      if (event.key === "Enter") this.nextMatch(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") this.find((this.field.value = ""));
    });
    this.legend.addEventListener("keydown", (event) => event.key === "Escape" && this.clear());
  },
};
