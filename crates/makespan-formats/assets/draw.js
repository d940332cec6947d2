// Draws what the view shows. Nothing here changes the view.

const stage = byId("stage");
const chart = byId("chart");
const overlay = byId("overlay");
const map = byId("map");

/** The visible part: instants `from` to `to`, rows `top` to `bottom`. Search marks jobs; null when there is none. */
const view = { from: 0, to: horizon, top: 0, bottom: data.processors, marked: null, chosen: null, hovered: null };
const longestNode = Math.max(0, ...data.nodes.map((node) => Math.min(14, node[0].length)));
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
  for (const name of ["card", "ink", "soft", "line", "field", "rule", "hatch", "busy", "second", "bound", "accent"]) {
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

/** Device pixels already painted by something smaller than them; `stamp` says in which pass. */
const painted = { stamps: new Uint32Array(0), stamp: 0 };

/** The rectangles in view, as flat quadruples for each colour and for marked and other jobs, and their labels. */
function collect(schedule, rows) {
  const boxes = Array.from({ length: data.colours.length * 2 }, () => []);
  const labels = [];
  const size = chart.width * chart.height;
  if (painted.stamps.length !== size) painted.stamps = new Uint32Array(size);
  painted.stamp++;
  const [low, high] = between(schedule, view.from, view.to);
  const height = rowHeight(rows);
  for (let i = low; i < high; i++) {
    if (schedule.end[i] <= view.from) continue;
    const x = Math.max(xOf(schedule.start[i]), page.gutter - 4);
    const w = Math.min(xOf(schedule.end[i]), page.width + 4) - x;
    const job = schedule.job[i];
    const colour = job % data.colours.length;
    const box = boxes[colour * 2 + (view.marked && !view.marked.has(job) ? 1 : 0)];
    const intervals = schedule.processors[i];
    let largest = null;
    for (let k = 0; k < intervals.length; k += 2) {
      if (intervals[k + 1] < view.top || intervals[k] >= view.bottom) continue;
      const y = yOf(rows, intervals[k]);
      const h = (intervals[k + 1] - intervals[k] + 1) * height;
      if (w < 1 && h < 1) {
        const cell = Math.floor(x * page.scale) + chart.width * Math.floor(y * page.scale);
        if (painted.stamps[cell] === painted.stamp) continue;
        painted.stamps[cell] = painted.stamp;
      }
      box.push(x, y, w, h);
      if (w > 30 && h >= 10 && (!largest || h > largest[3])) largest = [x, y, w, h];
    }
    if (largest) labels.push([job, colour, ...largest]);
  }
  return { boxes, labels };
}

function drawPlacements(pen, schedule, rows) {
  const { boxes, labels } = collect(schedule, rows);
  boxes.forEach((box, kind) => {
    pen.fillStyle = data.colours[kind >> 1];
    pen.globalAlpha = kind & 1 ? 0.16 : 1;
    for (let k = 0; k < box.length; k += 4) {
      // A gap of one pixel parts neighbours, where there is room for it.
      const w = box[k + 2] > 3 ? box[k + 2] - 1 : Math.max(box[k + 2], 0.7);
      const h = box[k + 3] > 3 ? box[k + 3] - 1 : Math.max(box[k + 3], 0.7);
      pen.fillRect(box[k], box[k + 1], w, h);
    }
  });
  pen.globalAlpha = 1;
  pen.textAlign = "center";
  for (const [job, colour, x, y, w, h] of labels) {
    if (view.marked && !view.marked.has(job)) continue;
    const size = Math.min(11, h * 0.85);
    const left = Math.max(x, page.gutter);
    const room = Math.min(x + w, page.width - page.right) - left - 8;
    const fits = Math.floor(room / (size * 0.58));
    const name = nameOf(job);
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
  if (bound !== null) labels.unshift(line(bound, "proven bound", page.colours.bound, [5, 3], after));
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
  x += 112;
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
    });
    drawRowLabels(pen, rows);
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
