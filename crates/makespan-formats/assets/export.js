// Saves the picture as it is shown: as PNG from its pixels, or as SVG, with a pen that records the drawing operations.

/** Maximum number of placements in view that are saved as shapes. If there are more, the SVG contains pixels. */
const MAX_SHAPES = 20000;
const LEGEND_FONT = `11px ${FONT}`;

function download(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** Returns a file name for the title of the chart, without the file extension that the title may contain. */
function fileName(chart, ending) {
  const stem = chart.model.title.replace(/\.(toml|json|dot|xml|csv|etc|stg|swf|mm|sm)\b/gu, "").replace(/[^\p{L}\p{N}._-]+/gu, "-");
  return `${stem.slice(0, 80) || "schedule"}.${ending}`;
}

/** Returns the lines above the chart, with the title and the legend, and their total height. */
function headerOf(chart) {
  const measure = document.createElement("canvas").getContext("2d");
  measure.font = LEGEND_FONT;
  const { words, first = 0 } = chart.coloured.made;
  const all = [{ text: `${chart.coloured.word}:` }, ...words.map((text, at) => ({ text, colour: chart.palette[first + at] })), ...chart.notes().map((text) => ({ text }))];
  let [x, y] = [12, 42];
  for (const item of all) {
    const width = measure.measureText(item.text).width + (item.colour ? 34 : 16);
    if (x > 12 && x + width > chart.page.width) [x, y] = [12, y + 18];
    Object.assign(item, { x, y });
    x += width;
  }
  return { items: all, height: y + 16 };
}

function drawHeader(chart, pen, { items, height }) {
  pen.fillStyle = chart.colours.card;
  pen.fillRect(0, 0, chart.page.width, chart.page.height + height);
  pen.textBaseline = "middle";
  pen.font = `600 16px ${FONT}`;
  write(pen, fitted(pen, chart.model.title, chart.page.width - 24) ?? "", 12, 18, chart.colours.ink, pen.font);
  for (const { text, colour, x, y } of items) {
    if (colour) {
      pen.fillStyle = colour;
      pen.fillRect(x, y - 6, 14, 11);
    }
    write(pen, text, colour ? x + 19 : x, y, chart.colours.soft, LEGEND_FONT);
  }
}

function savePng(chart) {
  chart.draw(true);
  const { width, height, scale } = chart.page;
  const header = headerOf(chart);
  const canvas = element("canvas", { width: Math.round(width * scale), height: Math.round((height + header.height) * scale) });
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  drawHeader(chart, pen, header);
  pen.drawImage(chart.canvas, 0, header.height, width, height);
  if (chart.overlay) pen.drawImage(chart.overlay, 0, header.height, width, height);
  canvas.toBlob((blob) => download(fileName(chart, "png"), blob), "image/png");
}

function saveSvg(chart) {
  chart.draw(true);
  const { width, height } = chart.page;
  const header = headerOf(chart);
  const pen = new SvgPen(width, height + header.height);
  drawHeader(chart, pen, header);
  pen.move(header.height);
  chart.drawOn(pen, true);
  if (chart.view.chosen) {
    chart.drawArrows(pen);
    chart.frame(pen, chart.view.chosen, 3);
  }
  download(fileName(chart, "svg"), new Blob([pen.text(chart.model.title)], { type: "image/svg+xml" }));
}

const xml = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u2068\u2069\ufffe\uffff]/g, "").replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const tenth = (value) => String(Math.round(value * 10) / 10);

/** Implements the part of the canvas interface that the chart uses. */
class SvgPen {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], path: "", clips: 0, offset: 0, state: { depth: 0 }, stack: [] });
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: `11px ${FONT}`, textAlign: "left", dashes: [], globalAlpha: 1 });
    this.measure = document.createElement("canvas").getContext("2d");
  }
  move(offset) {
    this.parts.push(`<g transform="translate(0 ${offset})">`);
    this.offset++;
  }
  text(title) {
    const [w, h] = [tenth(this.width), tenth(this.height)];
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" role="img"><title>${xml(title)}</title>\n${this.parts.join("\n")}${"</g>".repeat(this.offset)}\n</svg>\n`;
  }
  save() {
    this.stack.push({ depth: 0 });
  }
  restore() {
    this.parts.push("</g>".repeat(this.stack.pop()?.depth ?? 0));
  }
  clip() {
    const id = `clip${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    const state = this.stack.at(-1);
    if (state) state.depth++;
    else this.offset++;
  }
  opacity() {
    return this.globalAlpha < 1 ? ` opacity="${Math.round(this.globalAlpha * 100) / 100}"` : "";
  }
  beginPath() {
    this.path = "";
  }
  moveTo(x, y) {
    this.path += `M${tenth(x)} ${tenth(y)}`;
  }
  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${tenth(x)} ${tenth(y)}`;
  }
  bezierCurveTo(...places) {
    this.path += `C${places.map(tenth).join(" ")}`;
  }
  rect(x, y, w, h) {
    this.path += `M${tenth(x)} ${tenth(y)}h${tenth(w)}v${tenth(h)}h${tenth(-w)}z`;
  }
  closePath() {
    this.path += "z";
  }
  fill() {
    this.parts.push(`<path d="${this.path}" fill="${this.fillStyle}"${this.opacity()}/>`);
  }
  stroke() {
    const dashes = this.dashes.length ? ` stroke-dasharray="${this.dashes.join(" ")}"` : "";
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${dashes}${this.opacity()}/>`);
  }
  setLineDash(dashes) {
    this.dashes = dashes;
  }
  fillRect(x, y, w, h) {
    this.parts.push(`<rect x="${tenth(x)}" y="${tenth(y)}" width="${tenth(w)}" height="${tenth(h)}" fill="${this.fillStyle}"${this.opacity()}/>`);
  }
  strokeRect(x, y, w, h) {
    this.beginPath();
    this.rect(x, y, w, h);
    this.stroke();
  }
  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }
  fillText(text, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const [, weight = "400", size = "11"] = /^(?:(\d+) )?([\d.]+)px/.exec(this.font) ?? [];
    this.parts.push(`<text x="${tenth(x)}" y="${tenth(y)}" dominant-baseline="central" text-anchor="${anchor}" font-family="system-ui, DejaVu Sans, sans-serif" font-size="${size}" font-weight="${weight}" fill="${this.fillStyle}"${this.opacity()}>${xml(text)}</text>`);
  }
  /** Draws the placements in view as shapes, or as pixels if there are too many. */
  drawVector(chart, panel) {
    const schedule = chart.model.schedules[panel.schedule];
    const layer = chart.layers[panel.schedule];
    if (schedule.countBetween(chart.view.from, chart.view.to) > MAX_SHAPES || chart.rows.tops) {
      const place = `x="${tenth(chart.page.gutter)}" y="${tenth(panel.top)}" width="${tenth(chart.plotWidth())}" height="${tenth(panel.height)}"`;
      this.parts.push(`<image ${place} preserveAspectRatio="none" href="${layer.canvas.toDataURL("image/png")}"/>`);
    } else {
      schedule.between(chart.view.from, chart.view.to, (i) => {
        const [x, end] = [chart.xOf(schedule.start[i]), chart.xOf(schedule.end[i])];
        this.fillStyle = chart.palette[schedule.colour[i]];
        const opacity = schedule.lit && !schedule.lit[i] ? ' fill-opacity=".16"' : "";
        for (const [, y, , h] of chart.boxesOf(panel, schedule.intervals(i), schedule.start[i], schedule.end[i])) {
          this.parts.push(`<rect x="${tenth(x)}" y="${tenth(y)}" width="${tenth(Math.max(end - x - (end - x > 3 ? 0.7 : 0), 0.4))}" height="${tenth(Math.max(h - (h > 3 ? 0.7 : 0), 0.4))}" fill="${this.fillStyle}"${opacity}><title>${xml(schedule.nameAt(i))}</title></rect>`);
        }
      });
    }
    chart.drawFlags(this, panel, layer);
    chart.drawLabels(this, panel, layer);
  }
}
