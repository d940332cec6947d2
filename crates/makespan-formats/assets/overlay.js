// Draws the marks at the pointer and at the chosen placement on a separate canvas, so that moving the pointer never redraws the
// chart. Also draws the map above the chart.

const overlays = {
  drawOverlay() {
    const pen = this.context(this.overlay);
    if (this.view.chosen) this.drawArrows(pen);
    if (this.view.hovered?.placement !== undefined) this.frame(pen, this.view.hovered, 1.5);
    if (this.view.chosen) this.frame(pen, this.view.chosen, 3);
  },
  panelOf(target) {
    return this.panels.find((panel) => panel.schedule === target.schedule);
  },
  frame(pen, target, width) {
    const panel = this.panelOf(target);
    if (!panel) return;
    const schedule = this.model.schedules[target.schedule];
    const i = target.placement;
    this.clipped(pen, { top: panel.top - 2, height: panel.height + 4 }, () => {
      pen.strokeStyle = this.colours.ink;
      pen.lineWidth = width;
      for (const [x, y, w, h] of this.boxesOf(panel, schedule.intervals(i), schedule.start[i], schedule.end[i])) {
        pen.strokeRect(x, y, Math.max(w, 3) - 1, Math.max(h, 3) - 1);
      }
    });
  },
  /** Returns the row in the middle of the first processor interval of a placement. */
  middleOf(schedule, i) {
    const k = 2 * schedule.first[i];
    return this.rows.of((schedule.spans[k] + schedule.spans[k + 1]) >> 1) + 0.5;
  },
  drawArrows(pen) {
    const { chosen } = this.view;
    const panel = this.panelOf(chosen);
    if (!panel || !this.related) return;
    const schedule = this.model.schedules[chosen.schedule];
    const to = (i, time) => [this.xOf(time), this.yOf(panel, this.middleOf(schedule, i))];
    const arrow = (from, into, colour, dashes) => this.arrow(pen, to(from, schedule.end[from]), to(into, schedule.start[into]), colour, dashes);
    this.clipped(pen, panel, () => {
      for (const [from, into] of this.related.processors.slice(0, 60)) arrow(from, into, this.colours.soft, [4, 3]);
      for (const row of this.related.before.slice(0, 300)) for (const i of schedule.of(row).slice(-1)) arrow(i, chosen.placement, this.colours.accent, []);
      for (const row of this.related.after.slice(0, 300)) for (const i of schedule.of(row).slice(0, 1)) arrow(chosen.placement, i, this.colours.second, []);
    });
  },
  arrow(pen, [x0, y0], [x1, y1], colour, dashes) {
    const bend = Math.max(18, Math.abs(x1 - x0) / 3);
    pen.strokeStyle = colour;
    pen.lineWidth = 1.6;
    pen.setLineDash(dashes);
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
    pen.stroke();
    pen.setLineDash([]);
    fillPath(pen, colour, [[x1, y1], [x1 - 8, y1 - 4], [x1 - 8, y1 + 4]]);
  },

  /** Draws the map above the chart: the whole schedule, with a frame around the part in view. */
  drawMap() {
    const { page, view, model } = this;
    const pen = this.context(this.map);
    const width = this.map.clientWidth - page.gutter - page.right;
    const span = model.end - model.begin;
    const at = (time) => page.gutter + ((time - model.begin) / span) * width;
    this.mapLevels ??= {};
    const lane = { ...this.lanes[0], top: 5, height: 34 };
    pen.save();
    pen.beginPath();
    pen.rect(page.gutter, 5, width, 34);
    pen.clip();
    this.drawLane(pen, lane, model.begin, model.end, page.gutter, width);
    pen.restore();
    const [from, to] = [Math.max(at(view.from), page.gutter), Math.min(at(view.to), page.gutter + width)];
    pen.fillStyle = this.colours.card;
    pen.globalAlpha = 0.66;
    pen.fillRect(page.gutter, 5, from - page.gutter, 34);
    pen.fillRect(to, 5, page.gutter + width - to, 34);
    pen.globalAlpha = 1;
    // The frame shows the rows in view if these are not all rows.
    const [top, bottom] = [view.top, view.bottom].map((row) => 4 + (36 * row) / this.rows.total);
    pen.strokeStyle = this.colours.accent;
    pen.lineWidth = 2;
    pen.strokeRect(from, top, Math.max(to - from, 3), Math.max(bottom - top, 3));
  },

  /** Returns the object at a point of the stage: a placement, a node, a period, or null. */
  targetAt(x, y) {
    const { page } = this;
    const panel = this.panels.find(({ top, height }) => y >= top && y < top + height);
    if (!panel || x > page.width - page.right) return null;
    const row = this.view.top + (y - panel.top) / this.rowHeight(panel);
    const schedule = this.model.schedules[panel.schedule];
    const node = this.model.nodes.length > 1 ? Math.min(this.rows.nodeAt(row), this.model.nodes.length - 1) : 0;
    if (x < page.gutter) return this.model.nodes.length > 1 ? { node, gutter: true } : null;
    const time = this.timeAt(x);
    const processor = this.rows.processorAt(row);
    if (processor < 0) return { node, time, schedule: panel.schedule };
    const placement = schedule.placementAt(time, processor);
    if (placement >= 0) return { schedule: panel.schedule, placement };
    const period = this.model.unavailable.find((one) => one.start <= time && time < one.end && one.processors.some((first, k) => k % 2 === 0 && first <= processor && processor <= one.processors[k + 1]));
    return period ? { period } : null;
  },

  describe(target) {
    if (target.period) {
      const { why, start, end, processors } = target.period;
      const when = why ? [["why", why]] : [["start", exact(start)], ["end", exact(end)]];
      return ["not available", [...when, ["processors", setText(processors)]]];
    }
    if (target.node !== undefined) return this.describeNode(target);
    const { model } = this;
    const source = model.schedules[target.schedule];
    const i = target.placement;
    if (source.texts) return [source.nameAt(i), source.texts[i]];
    const job = source.job(i);
    const ready = source.ready(i);
    const time = source.end[i] - source.start[i];
    const rows = model.commands ? [["command", model.commandOf(source.row[i], source.copy?.[i])]] : [];
    if (source.ended) rows.push(["exit status", source.ended(i)]);
    rows.push(["start", exact(source.start[i])], ["end", exact(source.end[i])],
      ["time", exact(time) + (source.guesses.has(i) ? ", a guess" : "")], ["allotment", plural(source.width[i], "processor")], ["processors", setText(source.intervals(i))]);
    if (model.nodes.length > 1 && source.width[i]) rows.push(["on", model.nodes[model.nodeOf(source.intervals(i)[0])].name + (model.nodeOf(source.intervals(i)[0]) === model.nodeOf(source.intervals(i).at(-1)) ? "" : " and others")]);
    model.resources.forEach(({ name }, at) => source.held[at](i) > 0 && rows.push([name, amountText(name, source.held[at](i))]));
    if (!model.isPlain) rows.push(["weight", model.isBestEffort(job) ? "best effort" : String(model.weight(job))]);
    if (model.user) rows.push(["user", model.userOf(job) || "unknown"]);
    if (!model.isPlain) rows.push(["release", exact(model.release[job])]);
    rows.push(["wait", exact(source.start[i] - ready)]);
    if (!model.isPlain) rows.push(["completion", `${exact(source.end[i] - model.release[job])} after release`]);
    const due = source.due().get(job);
    if (due !== undefined) rows.push(["deadline", exact(due) + (source.end[i] > due ? ", missed" : "")]);
    if (time > 0) rows.push(["stretch", ((source.end[i] - ready) / time).toFixed(2)]);
    if (source.groups.length && source.group?.[i]) rows.push(["group", source.groups[source.group[i] - 1]]);
    if (source.outcomes.has(i)) rows.push(["ended", OUTCOMES[source.outcomes.get(i)] + (retried(source, i) ? ", then retried" : "")]);
    if (source.marks.has(i)) rows.push(["moved", shown(source.marks.get(i))]);
    const row = source.row[i];
    if (model.hasEdges) rows.push(["waits for", plural(model.before(row).length, "task")], ["waited for by", plural(model.after(row).length, "task")]);
    return [source.nameAt(i), model.schedules.length > 1 ? [["schedule", source.name], ...rows] : rows];
  },
  describeNode({ node, time, schedule, gutter }) {
    const { name, first, count } = this.model.nodes[node];
    const rows = [["processors", `${first}\u2013${first + count - 1}`]];
    if (gutter) return [name, [...rows, ["click", this.collapsed.has(node) ? "expands the node" : "collapses the node"]]];
    let busy = 0;
    const source = this.model.schedules[schedule];
    source.between(time, time + 1e-12, (i) => {
      for (let k = 2 * source.first[i]; k < 2 * source.first[i + 1]; k += 2) busy += Math.max(0, Math.min(source.spans[k + 1], first + count - 1) - Math.max(source.spans[k], first) + 1);
    });
    return [name, [["at", exact(time)], ["busy", `${busy} of ${count} processors`]]];
  },
  showTip(target, x, y) {
    const { tooltip, page } = this;
    tooltip.hidden = !target;
    if (!target) return;
    const [name, rows] = this.describe(target);
    const list = element("dl");
    for (const [word, value] of rows) list.append(element("dt", termOf(word), word), element("dd", { class: value.length > 40 ? "prose" : null }, value));
    tooltip.replaceChildren(element("strong", { dir: "auto" }, name), list);
    const [w, h] = [tooltip.offsetWidth, tooltip.offsetHeight];
    // If arrows are shown, the tooltip is on the other side of the chart, so that it does not hide the ends of the arrows.
    const isAside = target === this.view.chosen && this.related && this.related.before.length + this.related.after.length > 0 && page.width > 3 * w;
    const near = x + 16 + w > page.width ? x - 16 - w : x + 16;
    const left = !isAside ? near : x > page.width / 2 ? page.gutter + 4 : page.width - page.right - w - 4;
    tooltip.style.left = `${Math.min(Math.max(left, 4), Math.max(4, page.width - w - 4))}px`;
    tooltip.style.top = `${isAside ? ABOVE + 4 : Math.max(Math.min(y + 14, page.height - h - 4), 4)}px`;
  },
};

/** Returns whether a later placement is of the same task. */
function retried(schedule, i) {
  return Array.from(schedule.of(schedule.row[i])).some((other) => schedule.start[other] >= schedule.end[i] && schedule.copy?.[other] === schedule.copy?.[i]);
}
