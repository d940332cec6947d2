// Draws the content of a chart. The functions in this file do not change the view.

const FONT = 'system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif';
/** Number of placements in view from which a movement repaints only the newly visible part. */
const HEAVY = 40000;
/** Number of cells in the profile of a whole schedule. */
const FINE = 16384;
const MARK = 8;
const LANE_DASHES = [[6, 3], [2, 2]];
const ABOVE = 28;

function write(pen, text, x, y, colour, font = `11px ${FONT}`, align = "left") {
  pen.fillStyle = colour;
  pen.font = font;
  pen.textAlign = align;
  pen.fillText(text, x, y);
}

function fillPath(pen, colour, points) {
  pen.fillStyle = colour;
  pen.beginPath();
  points.forEach(([x, y], at) => (at ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.fill();
}

/** Returns the longest prefix of a text that fits, with an ellipsis. Returns null if fewer than `fewest` letters fit. */
function fitted(pen, text, room, fewest = 3) {
  if (pen.measureText(text).width <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${text.slice(0, middle)}\u2026`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low < fewest ? null : `${text.slice(0, low)}\u2026`;
}

/** Shortens a text: if it does not fit, returns the number at its end, or else its prefix. Many names differ only at the end,
 * and similar names are shortened in the same way. */
function numbered(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  const end = /(?:^|[^\d])0*(\d{1,7})$/.exec(text)?.[1];
  if (!end) return fitted(pen, text, room);
  return pen.measureText(end).width <= room ? end : null;
}

const drawing = {
  plotWidth() {
    return this.page.width - this.page.gutter - this.page.right;
  },
  xOf(time) {
    return this.page.gutter + ((time - this.view.from) / (this.view.to - this.view.from)) * this.plotWidth();
  },
  timeAt(x) {
    return this.view.from + ((x - this.page.gutter) / this.plotWidth()) * (this.view.to - this.view.from);
  },
  rowHeight(panel) {
    return panel.height / (this.view.bottom - this.view.top);
  },
  yOf(panel, row) {
    return panel.top + (row - this.view.top) * this.rowHeight(panel);
  },

  context(canvas) {
    const pen = canvas.getContext("2d");
    const { scale } = this.page;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.textBaseline = "middle";
    return pen;
  },
  clipped(pen, box, draw) {
    pen.save();
    pen.beginPath();
    pen.rect(this.page.gutter, box.top, this.plotWidth(), box.height);
    pen.clip();
    draw();
    pen.restore();
  },

  drawGrid(pen, box, step) {
    pen.fillStyle = this.colours.field;
    pen.fillRect(this.page.gutter, box.top, this.plotWidth(), box.height);
    pen.fillStyle = this.colours.rule;
    const origin = this.model.origin ?? 0;
    for (let k = Math.ceil((this.view.from - origin) / step); k * step + origin <= this.view.to; k++) {
      pen.fillRect(Math.round(this.xOf(k * step + origin)), box.top, 1, box.height);
    }
  },
  drawAxis(pen, step) {
    pen.font = `11px ${FONT}`;
    const origin = this.model.origin ?? 0;
    let free = 0;
    for (let k = Math.ceil((this.view.from - origin) / step); k * step + origin <= this.view.to; k++) {
      const text = this.model.origin === undefined ? tickText(k * step, step) : k === 0 ? "now" : `${k < 0 ? "\u2212" : "+"}${tickText(Math.abs(k) * step, step)}`;
      const half = pen.measureText(text).width / 2;
      const inside = Math.min(Math.max(this.xOf(k * step + origin), half + 2), this.page.width - half - 2);
      if (inside - half < free) continue;
      free = inside + half + 10;
      write(pen, text, inside, this.page.axis + 14, this.colours.soft, pen.font, "center");
    }
  },

  /** Draws the names of nodes with the sign that collapses them, or the numbers of processors. Labels that would overlap are
   * omitted. */
  drawRowLabels(pen, panel) {
    const { page, rows, model, colours } = this;
    const perRow = this.rowHeight(panel);
    let free = panel.top - 2;
    const place = (text, y) => {
      if (y < free + 6 || y > panel.top + panel.height - 5) return false;
      write(pen, text, page.gutter - 9, y, colours.soft, `11px ${FONT}`, "right");
      free = y + 8;
      return true;
    };
    if (model.nodes.length < 2) {
      const step = Math.max(1, roundUp(15 / perRow));
      for (let id = Math.ceil(this.view.top / step) * step; id < this.view.bottom; id += step) {
        place(String(id), this.yOf(panel, id) + Math.min(perRow, 26) / 2);
      }
      return;
    }
    const last = Math.min(model.nodes.length - 1, rows.nodeAt(Math.max(0, this.view.bottom - 1e-9)));
    pen.font = `11px ${FONT}`;
    for (let node = rows.nodeAt(this.view.top); node <= last; node++) {
      const y = this.yOf(panel, rows.top(node));
      const height = rows.height(node) * perRow;
      if (y > panel.top + 1 && height > 6) {
        pen.fillStyle = colours.hatch;
        pen.fillRect(page.gutter - 6, Math.round(y), 6, 1);
      }
      const [a, b] = [Math.max(y, panel.top), Math.min(y + height, panel.top + panel.height)];
      const text = fitted(pen, isolated(model.nodes[node].name), page.gutter - 24, 1) ?? "";
      const middle = (a + b) / 2;
      if (place(text, middle) && b - a >= 9) this.drawSign(pen, this.collapsed.has(node), middle);
    }
  },
  drawSign(pen, closed, y) {
    const points = closed ? [[5, y - 4], [5, y + 4], [10, y]] : [[3, y - 2], [11, y - 2], [7, y + 3]];
    fillPath(pen, this.colours.hatch, points);
  },

  boxesOf(panel, intervals, from, to) {
    const boxes = [];
    const [x, end] = [this.xOf(from), this.xOf(to)];
    const act = (top, bottom) => {
      const y = this.yOf(panel, top);
      boxes.push([x, y, end - x, (bottom - top) * this.rowHeight(panel)]);
    };
    for (let k = 0; k < intervals.length; k += 2) this.rows.pieces(intervals[k], intervals[k + 1], act, (node) => act(this.rows.top(node), this.rows.top(node) + this.rows.height(node)));
    return boxes.filter(([left, y, w, h]) => left < this.page.width && left + w > this.page.gutter && y < panel.top + panel.height && y + h > panel.top);
  },
  drawUnavailable(pen, panel) {
    this.hatch(pen, this.model.unavailable.flatMap(({ start, end, processors }) => this.boxesOf(panel, processors, start, end)));
  },
  /** Draws diagonal lines inside boxes. */
  hatch(pen, boxes, colour = this.colours.hatch) {
    if (!boxes.length) return;
    const { page } = this;
    pen.save();
    pen.beginPath();
    for (const [x, y, w, h] of boxes) pen.rect(x, y, w, h);
    pen.clip();
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let x = page.gutter - page.height; x < page.width; x += 7) {
      pen.moveTo(x, page.height);
      pen.lineTo(x + page.height, 0);
    }
    pen.stroke();
    pen.restore();
  },

  /** Updates the pixels of a panel. With `exact`, updates them even if this takes a long time. Returns whether they are up to
   * date. */
  refresh(panel, exact) {
    const { page, view, layers } = this;
    const layer = (layers[panel.schedule] ??= new Layer());
    const width = Math.max(1, Math.round(this.plotWidth() * page.scale));
    const height = Math.max(1, Math.round(panel.height * page.scale));
    const place = { from: view.from, perSecond: width / (view.to - view.from), top: view.top, perRow: height / (view.bottom - view.top) };
    const key = `${width} ${height} ${this.version}`;
    const schedule = this.model.schedules[panel.schedule];
    const visible = schedule.countBetween(view.from, view.to);
    const shape = width * Math.min(this.model.processors, height);
    const job = { schedule, rows: this.rows, table: this.table, faint: this.faint, scale: page.scale, crowded: visible > shape / 3, place, key, pixelOfLane: pixelOf(this.colours.lane, 255) };
    const columns = Math.round((place.from - layer.from) * place.perSecond);
    if (layer.isAt(place, key)) {
      if (columns === 0 && !(exact && panel.rough)) return !panel.rough;
      if (!exact && visible > HEAVY && !this.rows.tops && Math.abs(columns) < width) {
        layer.shift(job, columns);
        panel.rough = true;
        return false;
      }
    } else if (!exact && visible > HEAVY && layer.key === key) {
      panel.rough = true;
      return false;
    }
    layer.resize(width, height);
    layer.paint(job);
    panel.rough = false;
    return true;
  },
  drawPlacements(pen, panel) {
    const { page, view } = this;
    const layer = this.layers[panel.schedule];
    const perSecond = this.plotWidth() / (view.to - view.from);
    // The pixels for an earlier view are moved and stretched until there is time to paint new ones.
    const x = page.gutter + (layer.from - view.from) * perSecond;
    const y = panel.top + (layer.top - view.top) * this.rowHeight(panel);
    const w = (layer.width / layer.perSecond) * perSecond;
    const h = (layer.height / layer.perRow) * this.rowHeight(panel);
    pen.imageSmoothingEnabled = false;
    const snap = (value) => Math.round(value * page.scale) / page.scale;
    pen.drawImage(layer.canvas, snap(x), snap(y), w, h);
    this.drawFlags(pen, panel, layer);
    this.drawLabels(pen, panel, layer);
  },
  drawLabels(pen, panel, layer) {
    const { page } = this;
    const schedule = this.model.schedules[panel.schedule];
    for (const [i, top, bottom] of layer.labels) {
      const left = Math.max(this.xOf(schedule.start[i]), page.gutter);
      const room = Math.min(this.xOf(schedule.end[i]), page.width - page.right) - left - 8;
      const h = (bottom - top) * this.rowHeight(panel);
      const y = Math.max(this.yOf(panel, top), panel.top);
      const visible = Math.min(this.yOf(panel, bottom), panel.top + panel.height) - y;
      if (room < 22 || visible < 9) continue;
      const size = Math.min(11, h * 0.85);
      pen.font = `${size}px ${FONT}`;
      const text = numbered(pen, this.model.labelOf(schedule.row[i], schedule.copy?.[i]), room);
      if (text) write(pen, isolated(text), left + 4 + room / 2, y + visible / 2, this.ink[schedule.colour[i]], pen.font, "center");
    }
  },
  /** Draws a frame and lines through placements that did not succeed, a corner in moved placements, and dashes around guessed
   * placements. */
  drawFlags(pen, panel, layer) {
    const schedule = this.model.schedules[panel.schedule];
    for (const i of layer.flagged) {
      const boxes = this.boxesOf(panel, schedule.intervals(i), schedule.start[i], schedule.end[i]);
      const bad = schedule.outcomes.has(i);
      pen.strokeStyle = bad ? this.colours.missed : this.colours.ink;
      pen.lineWidth = bad ? 1.5 : 1;
      pen.setLineDash(bad ? [] : [3, 2]);
      for (const [x, y, w, h] of boxes) {
        if (w < 4 || h < 4) continue;
        if (bad || schedule.guesses.has(i)) pen.strokeRect(x + 1, y + 1, w - 3, h - 3);
        if (schedule.marks.has(i)) fillPath(pen, "#111111", [[x, y], [x + Math.min(MARK, w, h), y], [x, y + Math.min(MARK, w, h)]]);
      }
      pen.setLineDash([]);
      if (bad) this.hatch(pen, boxes.filter(([, , w, h]) => w >= 4 && h >= 4), this.colours.missed);
    }
  },

  /** Draws a triangle above the rows for each deadline in view, with a frame if it is missed. Only one triangle is drawn for
   * several deadlines at the same pixel. */
  drawDeadlines(pen, panel) {
    const schedule = this.model.schedules[panel.schedule];
    const seen = new Set();
    const order = schedule.deadlines.toSorted((a, b) => Number(b[1]) - Number(a[1]));
    for (const [time, missed] of order) {
      if (time < this.view.from || time > this.view.to) continue;
      const [x, y] = [this.xOf(time), panel.top];
      if (seen.has(Math.round(x / 3))) continue;
      seen.add(Math.round(x / 3));
      fillPath(pen, missed ? this.colours.missed : this.colours.soft, [[x, y], [x - MARK / 2, y - MARK + 1], [x + MARK / 2, y - MARK + 1]]);
    }
  },
  /** Draws lines for the makespan and the bound of the plan. Labels are on the outer sides of the lines, above the rows. */
  drawLines(pen, panel) {
    const { model, page } = this;
    const schedule = model.schedules[panel.schedule];
    if (model.live) return this.drawNow(pen, panel);
    const bound = panel.schedule === (model.commands ? 1 : 0) || model.choose ? model.bound : null;
    const proved = bound !== null && Math.abs(bound - schedule.makespan) <= 1e-9 * schedule.makespan;
    const after = bound !== null && bound > schedule.makespan;
    const line = (time, word, colour, dashes, right) => {
      const x = this.xOf(time);
      if (x < page.gutter - 1 || x > page.width - page.right + 1) return null;
      this.verticalLine(pen, x, panel, colour, dashes);
      const text = `${word} ${duration(time)}`;
      pen.font = `11px ${FONT}`;
      return { x, text, colour, width: pen.measureText(text).width, right };
    };
    const labels = [line(schedule.makespan, proved && model.boundWord === "proven bound" ? "optimal makespan" : model.commands ? "end" : "makespan", this.colours.accent, [], !after)];
    if (bound !== null && !proved) labels.unshift(line(bound, model.boundWord, this.colours.bound, [5, 3], after));
    // From right to left: each label ends before the label to its right begins.
    let limit = page.width - 4;
    for (const label of labels.filter(Boolean).sort((a, b) => Number(b.right) - Number(a.right))) {
      const wished = label.right ? label.x + 4 : label.x - 4 - label.width;
      const x = Math.min(wished, limit - label.width);
      limit = x - 12;
      if (x > panel.titled + 8) write(pen, label.text, x, panel.top - 15, label.colour);
    }
    return undefined;
  },
  verticalLine(pen, x, panel, colour, dashes) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.setLineDash(dashes);
    pen.beginPath();
    pen.moveTo(x, panel.top - 6);
    pen.lineTo(x, panel.top + panel.height);
    pen.stroke();
    pen.setLineDash([]);
  },
  drawNow(pen, panel) {
    const x = this.xOf(this.model.origin);
    if (x >= this.page.gutter && x <= this.page.width - this.page.right) this.verticalLine(pen, x, panel, this.colours.missed, []);
  },

  /** Returns the mean of a quantity in each pixel column. It is computed from the placements in view, or, if there are many,
   * from a profile of the whole schedule. */
  levels(lane, schedule, from, to, columns) {
    const amount = lane.resource < 0 ? (i) => schedule.width[i] : schedule.held[lane.resource];
    if (!lane.consumable && (schedule.countBetween(from, to) <= HEAVY || (to - from) / columns < (this.model.end - this.model.begin) / FINE)) {
      return profileOf(schedule, amount, [from, to], columns);
    }
    const period = [this.model.begin, this.model.end];
    schedule.wholes ??= new Map();
    let whole = schedule.wholes.get(lane.resource);
    if (!whole) schedule.wholes.set(lane.resource, (whole = new Whole(profileOf(schedule, amount, period, FINE, lane.consumable), period)));
    return Float64Array.from({ length: columns }, (_, column) => whole.mean(from + ((to - from) * column) / columns, from + ((to - from) * (column + 1)) / columns));
  },
  /** Draws a quantity over time as an area, and the quantity of other schedules as lines. Unavailable amounts are drawn at the
   * top. */
  drawLane(pen, lane, from, to, left, width) {
    const columns = Math.max(1, Math.round(width));
    const y = (level) => lane.top + lane.height * (1 - Math.min(1, level / lane.total));
    // The first schedule is an area. The others are lines above it.
    this.panels.forEach((panel, at) => {
      const levels = this.levels(lane, this.model.schedules[panel.schedule], from, to, columns);
      pen.beginPath();
      if (at === 0) pen.moveTo(left, lane.top + lane.height);
      levels.forEach((level, column) => {
        pen.lineTo(left + (column * width) / columns, y(level));
        pen.lineTo(left + ((column + 1) * width) / columns, y(level));
      });
      if (at === 0) {
        pen.lineTo(left + width, lane.top + lane.height);
        pen.fillStyle = this.colours.busy;
        pen.fill();
      } else {
        pen.strokeStyle = this.laneColour(at);
        pen.lineWidth = 1.4;
        pen.setLineDash(at > 1 ? LANE_DASHES[(at - 2) % LANE_DASHES.length] : []);
        pen.stroke();
        pen.setLineDash([]);
      }
    });
    if (lane.resource >= 0) return;
    const { open, processors } = this.model;
    const boxes = [];
    for (let i = 0; i < open.time.length; i++) {
      if (open.processors[i] >= processors) continue;
      const [a, b] = [open.time[i], open.time[i + 1] ?? to].map((time) => left + ((time - from) / (to - from)) * width);
      boxes.push([a, lane.top, b - a, y(open.processors[i]) - lane.top]);
    }
    this.hatch(pen, boxes);
  },
  laneColour(at) {
    return [this.colours.busy, this.colours.second, this.colours.good, this.colours.bound][Math.min(at, 3)];
  },
  drawLaneTitle(pen, lane) {
    const { page, colours } = this;
    const text = lane.resource < 0 ? "busy processors" : lane.consumable ? `${lane.name}, used up` : lane.name;
    write(pen, text, page.gutter, lane.top - 9, colours.soft);
    write(pen, lane.label, page.gutter - 7, lane.top + 6, colours.soft, `11px ${FONT}`, "right");
    if (this.panels.length < 2) return;
    const names = this.panels.map((panel) => this.model.schedules[panel.schedule].name);
    pen.font = `11px ${FONT}`;
    let x = page.gutter + pen.measureText(text).width + 18;
    names.forEach((name, at) => {
      const fits = fitted(pen, isolated(name), Math.min(150, page.width - x - 22)) ?? "";
      if (!fits) return;
      pen.fillStyle = this.laneColour(at);
      pen.fillRect(x, lane.top - (at ? 10 : 13), 14, at ? 2 : 8);
      write(pen, fits, x + 19, lane.top - 9, colours.soft);
      x += 30 + pen.measureText(fits).width;
    });
  },
};
