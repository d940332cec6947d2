// Draws what the view shows. Nothing here changes the view.

const stage = byId("stage");
const chart = byId("chart");
const overlay = byId("overlay");
const map = byId("map");

/** The visible part: instants `from` to `to`, rows `top` to `bottom`. Search marks jobs; null when there is none. */
const view = { from: 0, to: horizon, top: 0, bottom: data.processors, marked: null, chosen: null, hovered: null };
const longestNode = data.nodes.reduce((longest, node) => Math.max(longest, Math.min(14, node[0].length)), 0);
const page = { width: 0, height: 0, gutter: 0, right: 14, rows: [], usage: null, axis: 0, scale: 1, colours: {} };

const FONT = 'system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif';
const isolated = (name) => `\u2068${name}\u2069`;

/** Places the parts of the chart for the present width. */
function arrange() {
  page.width = stage.clientWidth;
  page.scale = window.devicePixelRatio || 1;
  page.gutter = 26 + 7 * Math.max(String(data.processors).length, data.nodes.length > 1 ? longestNode : 0);
  const each = Math.min(Math.max(data.processors * 26, 90), schedules.length > 1 ? 270 : 430);
  let y = 0;
  page.rows = schedules.map(() => {
    const top = y + 26;
    y = top + each;
    return { top, height: each };
  });
  page.usage = { top: y + 30, height: 84 };
  page.axis = page.usage.top + page.usage.height;
  page.height = page.axis + 30;
  for (const [canvas, height] of [[chart, page.height], [overlay, page.height], [map, 44]]) {
    const width = canvas === map ? map.clientWidth : page.width;
    canvas.width = Math.round(width * page.scale);
    canvas.height = Math.round(height * page.scale);
    if (canvas !== map) canvas.style.height = `${height}px`;
  }
  readColours();
}

/** The colours of the style sheet, which follow the light or dark scheme; paper is always light. */
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["card", "ink", "soft", "line", "field", "rule", "hatch", "busy", "second", "bound", "accent", "missed"]) {
    page.colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
}

const plotWidth = () => page.width - page.gutter - page.right;
const xOf = (time) => page.gutter + ((time - view.from) / (view.to - view.from)) * plotWidth();
const timeAt = (x) => view.from + ((x - page.gutter) / plotWidth()) * (view.to - view.from);
const rowHeight = (rows) => rows.height / (view.bottom - view.top);
const yOf = (rows, processor) => rows.top + (processor - view.top) * rowHeight(rows);

function context(canvas) {
  const pen = canvas.getContext("2d");
  pen.setTransform(page.scale, 0, 0, page.scale, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.textBaseline = "middle";
  return pen;
}

function write(pen, text, x, y, colour, font = `11px ${FONT}`, align = "left") {
  pen.fillStyle = colour;
  pen.font = font;
  pen.textAlign = align;
  pen.fillText(text, x, y);
}

function clipped(pen, box, draw) {
  pen.save();
  pen.beginPath();
  pen.rect(page.gutter, box.top, plotWidth(), box.height);
  pen.clip();
  draw();
  pen.restore();
}

/** Diagonal lines inside the current path's boxes. */
function hatch(pen, boxes) {
  if (!boxes.length) return;
  pen.save();
  pen.beginPath();
  for (const [x, y, w, h] of boxes) pen.rect(x, y, w, h);
  pen.clip();
  pen.strokeStyle = page.colours.hatch;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let x = page.gutter - page.height; x < page.width; x += 7) {
    pen.moveTo(x, page.height);
    pen.lineTo(x + page.height, 0);
  }
  pen.stroke();
  pen.restore();
}

function drawGrid(pen, box, step) {
  pen.fillStyle = page.colours.field;
  pen.fillRect(page.gutter, box.top, plotWidth(), box.height);
  pen.fillStyle = page.colours.rule;
  for (let k = Math.ceil(view.from / step); k * step <= view.to; k++) {
    pen.fillRect(Math.round(xOf(k * step)), box.top, 1, box.height);
  }
}

function drawAxis(pen, step) {
  for (let k = Math.ceil(view.from / step); k * step <= view.to; k++) {
    const text = tickText(k * step, step);
    const x = xOf(k * step);
    pen.font = `11px ${FONT}`;
    const half = pen.measureText(text).width / 2;
    const inside = Math.min(Math.max(x, half + 2), page.width - half - 2);
    write(pen, text, inside, page.axis + 14, page.colours.soft, pen.font, "center");
  }
}

/** Node names, or ids of processors, beside the rows; a label is left out where it would touch the one above. */
function drawRowLabels(pen, rows) {
  const nodes = data.nodes.length > 1;
  const step = nodes ? 1 : Math.max(1, roundUp(15 / rowHeight(rows)));
  const label = (text, y) => write(pen, text, page.gutter - 8, y, page.colours.soft, `11px ${FONT}`, "right");
  let free = rows.top;
  const place = (text, y) => {
    if (y < free + 6 || y > rows.top + rows.height - 6) return;
    label(text, y);
    free = y + 8;
  };
  if (nodes) {
    for (const [name, first, count] of data.nodes) {
      const y = yOf(rows, first);
      if (y > rows.top + 1 && y < rows.top + rows.height && count * rowHeight(rows) > 6) {
        pen.fillStyle = page.colours.hatch;
        pen.fillRect(page.gutter - 6, Math.round(y), 6, 1);
      }
      place(isolated(shown(name).slice(0, 14)), y + (count * rowHeight(rows)) / 2);
    }
  } else {
    for (let id = Math.ceil(view.top / step) * step; id < view.bottom; id += step) {
      place(String(id), yOf(rows, id) + Math.min(rowHeight(rows), 26) / 2);
    }
  }
}

function unavailableBoxes(rows) {
  const boxes = [];
  data.unavailable.processors.forEach((intervals, i) => {
    const [x, end] = [xOf(data.unavailable.start[i]), xOf(data.unavailable.end[i])];
    for (let k = 0; k < intervals.length; k += 2) {
      boxes.push([x, yOf(rows, intervals[k]), end - x, (intervals[k + 1] - intervals[k] + 1) * rowHeight(rows)]);
    }
  });
  return boxes.filter(([x, y, w, h]) => x < page.width && x + w > page.gutter && y < rows.top + rows.height && y + h > rows.top);
}

/** The pixels of the rows, written directly: some ten times faster than as many calls of fillRect. */
const layer = { canvas: document.createElement("canvas"), image: null, pixels: null };

/** `#rrggbb` as the bytes of a pixel in memory, with an opacity. */
function pixelOf(colour, alpha) {
  const bytes = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return new Uint32Array(Uint8Array.of(...bytes, alpha).buffer)[0];
}
const CLEAR = data.colours.map((colour) => pixelOf(colour, 255));
const FAINT = data.colours.map((colour) => pixelOf(colour, 42));

function emptyLayer(width, height) {
  const { canvas } = layer;
  if (canvas.width !== width || canvas.height !== height || !layer.image) {
    Object.assign(canvas, { width, height });
    layer.image = new ImageData(width, height);
    layer.pixels = new Uint32Array(layer.image.data.buffer);
  } else {
    layer.pixels.fill(0);
  }
}

/** Fills whole device pixels. A gap of one parts neighbours where there is room for it. */
function fillLayer(left, top, right, bottom, pixel) {
  const { width, height } = layer.image;
  const x = Math.max(0, Math.round(left));
  const y = Math.max(0, Math.round(top));
  const x1 = Math.min(width, Math.max(Math.round(right) - (right - left > 3 ? 1 : 0), Math.round(left) + 1));
  const y1 = Math.min(height, Math.max(Math.round(bottom) - (bottom - top > 3 ? 1 : 0), Math.round(top) + 1));
  for (let row = y; row < y1; row++) {
    for (let at = row * width + x, end = row * width + x1; at < end; at++) layer.pixels[at] = pixel;
  }
}

/** Paints the placements in view into the layer; returns what may be labelled: placement, colour, box. */
function paint(schedule, rows) {
  const { scale } = page;
  emptyLayer(Math.max(1, Math.round(plotWidth() * scale)), Math.round(rows.height * scale));
  const labels = [];
  const [low, high] = between(schedule, view.from, view.to);
  const height = rowHeight(rows);
  for (let i = low; i < high; i++) {
    if (schedule.end[i] <= view.from) continue;
    const x = xOf(schedule.start[i]);
    const w = xOf(schedule.end[i]) - x;
    const job = schedule.job[i];
    const colour = colourOf(job);
    const marked = !view.marked || view.marked.has(job);
    const pixel = (marked ? CLEAR : FAINT)[colour];
    const left = (x - page.gutter) * scale;
    const right = left + w * scale;
    const intervals = schedule.processors[i];
    let largest = null;
    for (let k = 0; k < intervals.length; k += 2) {
      if (intervals[k + 1] < view.top || intervals[k] >= view.bottom) continue;
      const y = yOf(rows, intervals[k]);
      const h = (intervals[k + 1] - intervals[k] + 1) * height;
      const top = (y - rows.top) * scale;
      fillLayer(left, top, right, top + h * scale, pixel);
      if (marked && w > 30 && h >= 10 && (!largest || h > largest[3])) largest = [x, y, w, h];
    }
    if (largest) labels.push([i, colour, ...largest]);
  }
  return labels;
}

function drawPlacements(pen, schedule, rows) {
  const labels = paint(schedule, rows);
  layer.canvas.getContext("2d").putImageData(layer.image, 0, 0);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.drawImage(layer.canvas, Math.round(page.gutter * page.scale), Math.round(rows.top * page.scale));
  pen.setTransform(page.scale, 0, 0, page.scale, 0, 0);
  pen.textAlign = "center";
  for (const [i, colour, x, y, w, h] of labels) {
    const size = Math.min(11, h * 0.85);
    const left = Math.max(x, page.gutter);
    const room = Math.min(x + w, page.width - page.right) - left - 8;
    const fits = Math.floor(room / (size * 0.58));
    const name = nameAt(schedule, i);
    if (fits < Math.min(name.length, 4) || y + h / 2 < rows.top) continue;
    const text = name.length > fits ? `${name.slice(0, fits - 1)}\u2026` : name;
    pen.fillStyle = data.text[colour];
    pen.font = `${size}px ${FONT}`;
    pen.fillText(isolated(text), left + room / 2 + 4, y + h / 2, room + 4);
  }
}

/** The makespan and the bound of the plan. Labels stand on the outer sides of the lines, above the rows. */
function drawLines(pen, schedule, index, rows) {
  const bound = index === 0 ? data.bound : null;
  const after = bound !== null && bound > schedule.makespan;
  const line = (time, word, colour, dashes, right) => {
    const x = xOf(time);
    if (x < page.gutter - 1 || x > page.width - page.right + 1) return;
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.setLineDash(dashes);
    pen.beginPath();
    pen.moveTo(x, rows.top - 6);
    pen.lineTo(x, rows.top + rows.height);
    pen.stroke();
    pen.setLineDash([]);
    const text = `${word} ${duration(time)}`;
    pen.font = `11px ${FONT}`;
    const width = pen.measureText(text).width;
    return { x, text, colour, width, right };
  };
  const labels = [line(schedule.makespan, "makespan", page.colours.accent, [], !after)];
  if (bound !== null) labels.unshift(line(bound, data.bound_word, page.colours.bound, [5, 3], after));
  // From the right: each label ends before the one that stands to its right.
  let limit = page.width - 4;
  for (const label of labels.filter(Boolean).sort((a, b) => Number(b.right) - Number(a.right))) {
    const wished = label.right ? label.x + 4 : label.x - 4 - label.width;
    const x = Math.min(wished, limit - label.width);
    limit = x - 12;
    if (x > page.gutter + 60) write(pen, label.text, x, rows.top - 13, label.colour);
  }
}

/** Busy processors, the mean of each pixel column; what is unavailable hangs from the top. */
function drawUsage(pen, box, xAt, from, to, left, width) {
  const y = (level) => box.top + box.height * (1 - level / data.processors);
  const columns = Math.max(1, Math.round(width));
  const trace = (steps, start) => {
    pen.beginPath();
    start?.();
    for (let column = 0; column < columns; column++) {
      const [a, b] = [from + ((to - from) * column) / columns, from + ((to - from) * (column + 1)) / columns];
      const level = y(steps.mean(a, b));
      pen.lineTo(left + column, level);
      pen.lineTo(left + column + 1, level);
    }
  };
  const boxes = [];
  for (let i = 0; i < open.times.length; i++) {
    const closed = data.processors - open.levels[i];
    if (closed <= 0) continue;
    const [a, b] = [xAt(open.times[i]), xAt(open.times[i + 1] ?? horizon)];
    boxes.push([a, box.top, b - a, y(open.levels[i]) - box.top]);
  }
  schedules.forEach((schedule, index) => {
    if (index === 0) {
      trace(schedule.usage, () => pen.moveTo(left, box.top + box.height));
      pen.lineTo(left + columns, box.top + box.height);
      pen.fillStyle = page.colours.busy;
      pen.fill();
    } else {
      trace(schedule.usage);
      pen.strokeStyle = page.colours.second;
      pen.lineWidth = 1.5;
      pen.stroke();
    }
  });
  hatch(pen, boxes);
}

function drawUsageTitle(pen) {
  const { top } = page.usage;
  let x = page.gutter;
  write(pen, "Busy processors", x, top - 13, page.colours.ink, `600 12px ${FONT}`);
  x += pen.measureText("Busy processors").width + 24;
  if (schedules.length > 1) {
    schedules.slice(0, 2).forEach((schedule, index) => {
      pen.fillStyle = index ? page.colours.second : page.colours.busy;
      pen.fillRect(x, top - (index ? 14 : 18), 16, index ? 2 : 10);
      write(pen, isolated(schedule.name), x + 22, top - 13, page.colours.soft);
      x += 36 + pen.measureText(schedule.name).width;
    });
  }
  write(pen, String(data.processors), page.gutter - 8, top + 6, page.colours.soft, `11px ${FONT}`, "right");
  write(pen, "0", page.gutter - 8, page.axis - 6, page.colours.soft, `11px ${FONT}`, "right");
}

function drawChart() {
  const pen = context(chart);
  const step = stepOf(view.to - view.from, plotWidth() / 110);
  schedules.forEach((schedule, index) => {
    const rows = page.rows[index];
    const title = schedules.length > 1 ? isolated(schedule.name) : "Processors";
    write(pen, title, page.gutter, rows.top - 13, page.colours.ink, `600 12px ${FONT}`);
    drawGrid(pen, rows, step);
    clipped(pen, rows, () => {
      hatch(pen, unavailableBoxes(rows));
      drawPlacements(pen, schedule, rows);
      drawCorners(pen, schedule, rows);
    });
    drawRowLabels(pen, rows);
    drawDeadlines(pen, schedule, rows);
    drawLines(pen, schedule, index, rows);
  });
  drawGrid(pen, page.usage, step);
  clipped(pen, page.usage, () => drawUsage(pen, page.usage, xOf, view.from, view.to, page.gutter, plotWidth()));
  drawUsageTitle(pen);
  drawAxis(pen, step);
}

/** What follows the pointer: drawn alone, so that a hover never redraws the chart. */
function drawOverlay() {
  const pen = context(overlay);
  const frame = (target, width) => {
    const schedule = schedules[target.schedule];
    const rows = page.rows[target.schedule];
    const intervals = schedule.processors[target.placement];
    const x = xOf(schedule.start[target.placement]);
    const w = Math.max(xOf(schedule.end[target.placement]) - x, 3);
    clipped(pen, { top: rows.top - 2, height: rows.height + 4 }, () => {
      pen.strokeStyle = page.colours.ink;
      pen.lineWidth = width;
      for (let k = 0; k < intervals.length; k += 2) {
        const h = Math.max((intervals[k + 1] - intervals[k] + 1) * rowHeight(rows), 3);
        pen.strokeRect(x, yOf(rows, intervals[k]), w - 1, h - 1);
      }
    });
  };
  if (view.hovered) frame(view.hovered, 1.5);
  if (view.chosen) frame(view.chosen, 3);
}

/** The whole schedule above the chart, with the part in view. */
function drawMap() {
  const pen = context(map);
  const width = map.clientWidth - page.gutter - page.right;
  const xAt = (time) => page.gutter + (time / horizon) * width;
  pen.save();
  pen.beginPath();
  pen.rect(page.gutter, 5, width, 34);
  pen.clip();
  drawUsage(pen, { top: 5, height: 34 }, xAt, 0, horizon, page.gutter, width);
  pen.restore();
  const [from, to] = [xAt(view.from), xAt(view.to)];
  pen.fillStyle = page.colours.card;
  pen.globalAlpha = 0.62;
  pen.fillRect(page.gutter, 5, from - page.gutter, 34);
  pen.fillRect(to, 5, page.gutter + width - to, 34);
  pen.globalAlpha = 1;
  pen.strokeStyle = page.colours.accent;
  pen.lineWidth = 2;
  pen.strokeRect(from, 4, Math.max(to - from, 3), 36);
}
