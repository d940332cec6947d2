// Paints placements as pixels. This is about ten times faster than calling fillRect for each placement.

/** Rows of processors. Each processor is a row, or all processors of a collapsed node share one lane. Positions are in rows. */
class RowMap {
  constructor(model, collapsed, lane) {
    this.model = model;
    this.collapsed = collapsed;
    this.total = model.processors;
    this.tops = null;
    if (collapsed.size === 0) return;
    this.tops = new Float64Array(model.nodes.length + 1);
    model.nodes.forEach((node, at) => {
      this.tops[at + 1] = this.tops[at] + (collapsed.has(at) ? lane : node.count);
    });
    this.total = this.tops[model.nodes.length];
  }
  top(node) {
    return this.tops ? this.tops[node] : this.model.nodes[node].first;
  }
  height(node) {
    return this.tops ? this.tops[node + 1] - this.tops[node] : this.model.nodes[node].count;
  }
  of(processor) {
    if (!this.tops) return processor;
    const node = this.model.nodeOf(processor);
    return this.tops[node] + (this.collapsed.has(node) ? 0 : processor - this.model.nodes[node].first);
  }
  nodeAt(row) {
    if (!this.tops) return this.model.nodeOf(Math.floor(row));
    return firstWhere(this.model.nodes.length, (node) => this.tops[node + 1] > row);
  }
  /** Returns the processor in a row, or -1 in the lane of a collapsed node. */
  processorAt(row) {
    if (!this.tops) return Math.floor(row);
    const node = this.nodeAt(row);
    return this.collapsed.has(node) || node >= this.model.nodes.length ? -1 : this.model.nodes[node].first + Math.floor(row - this.tops[node]);
  }
  /** Calls `act` with the top and bottom row of each piece of a processor interval. For pieces in collapsed nodes, calls `lane`
   * instead. */
  pieces(first, last, act, lane) {
    if (!this.tops) return act(first, last + 1);
    const { nodes } = this.model;
    for (let node = this.model.nodeOf(first), from = first; from <= last && node < nodes.length; node++) {
      const until = Math.min(last, nodes[node].first + nodes[node].count - 1);
      if (this.collapsed.has(node)) lane?.(node, until - from + 1);
      else act(this.tops[node] + from - nodes[node].first, this.tops[node] + until + 1 - nodes[node].first);
      from = until + 1;
    }
    return undefined;
  }
}

/** Converts `#rrggbb` and an opacity to the bytes of a pixel in memory. */
const pixelOf = (colour, alpha) => new Uint32Array(Uint8Array.of(hex(colour, 1), hex(colour, 3), hex(colour, 5), alpha).buffer)[0];

/** Pixels of a panel. Column 0 is the instant `from`, and row 0 is `top`. */
class Layer {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.pen = this.canvas.getContext("2d");
    this.key = "";
    this.labels = [];
    this.flagged = [];
  }
  resize(width, height) {
    if (this.image && this.width === width && this.height === height) return;
    Object.assign(this, { width, height });
    Object.assign(this.canvas, { width, height });
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }
  /** Returns whether the painted pixels differ from the given view only in time. */
  isAt(place, key) {
    return this.key === key && this.perSecond === place.perSecond && this.top === place.top && this.perRow === place.perRow;
  }
  /** Paints all pixels. */
  paint(job) {
    const { place, key } = job;
    Object.assign(this, place, { key });
    this.labels = [];
    this.flagged = [];
    this.pixels.fill(0);
    this.columns(job, 0, this.width);
    this.show();
  }
  /** Moves the painted pixels by whole columns, and paints the newly visible columns. */
  shift(job, columns) {
    const { width, pixels } = this;
    this.from += columns / this.perSecond;
    if (columns > 0) pixels.copyWithin(0, columns);
    else pixels.copyWithin(-columns, 0, pixels.length + columns);
    const [low, high] = columns > 0 ? [width - columns, width] : [0, -columns];
    for (let at = low; at < pixels.length; at += width) pixels.fill(0, at, Math.min(at + high - low, pixels.length));
    this.columns(job, low, high);
    this.show();
  }
  show() {
    this.pen.putImageData(this.image, 0, 0);
  }
  /** Paints the columns in [low, high). */
  columns({ schedule, rows, table, faint, scale, crowded, pixelOfLane }, low, high) {
    const { width, height, pixels, from, perSecond, top, perRow, labels } = this;
    const { start, end, first, spans, colour, lit, flags } = schedule;
    const lanes = rows.tops ? new Map() : null;
    const wide = 30 * scale;
    const tall = 10 * scale;
    let [left, right, pixel, pieces] = [0, 0, 0, null];
    const fill = (rowTop, rowBottom) => {
      const y0 = (rowTop - top) * perRow;
      const y1 = (rowBottom - top) * perRow;
      if (y1 <= 0 || y0 >= height) return;
      const a = Math.max(0, Math.round(y0));
      const b = Math.min(height, Math.max(Math.round(y1) - (y1 - y0 > 3 ? 1 : 0), Math.round(y0) + 1));
      for (let row = a * width; row < b * width; row += width) {
        for (let at = row + left, last = row + right; at < last; at++) pixels[at] = pixel;
      }
      if (!pieces) return;
      // Adjacent nodes are one piece.
      const last = pieces.at(-1);
      if (last && Math.abs(last[1] - rowTop) < 1e-6) last[1] = rowBottom;
      else pieces.push([rowTop, rowBottom]);
    };
    const count = (node, processors) => {
      let lane = lanes.get(node);
      if (!lane) lanes.set(node, (lane = { part: new Float64Array(width + 2), change: new Float64Array(width + 2) }));
      addSpan(lane, this.laneFrom, this.laneTo, processors, width);
    };
    schedule.between(from + low / perSecond, from + high / perSecond, (i) => {
      const x0 = (start[i] - from) * perSecond;
      const x1 = (end[i] - from) * perSecond;
      left = Math.round(x0);
      right = Math.round(x1) - (x1 - x0 > 3 ? 1 : 0);
      // If there are fewer pixels than placements, each pixel shows the placement at its centre, not the last placement that
      // touches it.
      if (right <= left) {
        if (crowded) return;
        right = left + 1;
      }
      left = Math.max(left, low);
      right = Math.min(right, high);
      const bright = !lit || lit[i];
      pixel = (bright ? table : faint)[colour[i]];
      pieces = bright && x1 - x0 > wide && labels.length < 4000 ? [] : null;
      for (let k = first[i]; k < first[i + 1]; k++) {
        if (!lanes) fill(spans[2 * k], spans[2 * k + 1] + 1);
        else {
          [this.laneFrom, this.laneTo] = [x0, x1];
          rows.pieces(spans[2 * k], spans[2 * k + 1], fill, count);
        }
      }
      for (const [pieceTop, pieceBottom] of pieces ?? []) if ((pieceBottom - pieceTop) * perRow >= tall) labels.push([i, pieceTop, pieceBottom]);
      if (flags?.[i] && this.flagged.length < 4000) this.flagged.push(i);
    });
    if (lanes) this.fillLanes(rows, lanes, pixelOfLane);
  }
  /** Fills the lanes of collapsed nodes from below, in proportion to their busy processors. */
  fillLanes(rows, lanes, pixel) {
    const { width, height, pixels, top, perRow } = this;
    for (const [node, lane] of lanes) {
      const levels = levelsOf(lane, width);
      const y0 = (rows.top(node) - top) * perRow;
      const y1 = (rows.top(node) + rows.height(node) - top) * perRow - 1;
      for (let x = 0; x < width; x++) {
        const filled = Math.min(1, levels[x] / rows.model.nodes[node].count) * (y1 - y0);
        for (let y = Math.max(0, Math.round(y1 - filled)); y < Math.min(height, Math.round(y1)); y++) pixels[y * width + x] = pixel;
      }
    }
  }
}

/** Adds an amount between two positions on an axis of unit cells. The first and the last cell may be covered partly. */
function addSpan({ part, change }, from, to, amount, cells) {
  const a = Math.max(from, 0);
  const b = Math.min(to, cells);
  if (b <= a) return;
  const first = Math.floor(a);
  const last = Math.floor(b);
  if (first === last) part[first] += amount * (b - a);
  else {
    part[first] += amount * (first + 1 - a);
    part[last] += amount * (b - last);
    change[first + 1] += amount;
    change[last] -= amount;
  }
}

function levelsOf({ part, change }, cells) {
  const levels = new Float64Array(cells);
  let level = 0;
  for (let cell = 0; cell < cells; cell++) {
    level += change[cell];
    levels[cell] = part[cell] + level;
  }
  return levels;
}

/** Returns the mean amount that placements hold in each of `cells` equal parts of a period. */
function profileOf(schedule, amount, [from, to], cells, stays = false) {
  const lane = { part: new Float64Array(cells + 1), change: new Float64Array(cells + 2) };
  const perSecond = cells / (to - from);
  schedule.between(stays ? -Infinity : from, to, (i) => {
    const held = amount(i);
    if (held) addSpan(lane, (schedule.start[i] - from) * perSecond, stays ? cells : (schedule.end[i] - from) * perSecond, held, cells);
  });
  return levelsOf(lane, cells);
}

/** Profile of a whole schedule. It is so fine that the profile of any long enough period can be read from it. */
class Whole {
  constructor(levels, [from, to]) {
    Object.assign(this, { from, to, cells: levels.length });
    this.area = new Float64Array(levels.length + 1);
    for (let cell = 0; cell < levels.length; cell++) this.area[cell + 1] = this.area[cell] + levels[cell];
  }
  at(time) {
    const place = Math.min(Math.max(((time - this.from) / (this.to - this.from)) * this.cells, 0), this.cells);
    const cell = Math.min(Math.floor(place), this.cells - 1);
    return this.area[cell] + (place - cell) * (this.area[cell + 1] - this.area[cell]);
  }
  mean(from, to) {
    const width = ((to - from) / (this.to - this.from)) * this.cells;
    return width > 0 ? (this.at(to) - this.at(from)) / width : 0;
  }
}
