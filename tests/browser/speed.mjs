// Measures a page in headless Chromium: node speed.mjs PAGE. Run by scripts/chart-speed.

import { createRequire } from "node:module";
import { loadavg } from "node:os";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(`${process.env.MAKESPAN_MODULES}/`)("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const page = await (await browser.newContext({ viewport: { width: 1400, height: 1000 } })).newPage();
await page.goto(pathToFileURL(resolve(process.argv[2])).href);
await page.waitForFunction(() => window.makespan);
const figures = await page.evaluate(async () => {
  const { chart, model } = makespan;
  const { view } = chart;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  /** Changes and draws the view in each of 60 frames. */
  const rate = async (act) => {
    const costs = [];
    const begin = performance.now();
    for (let k = 0; k < 60; k++) {
      act(k);
      const drawn = performance.now();
      chart.draw();
      costs.push(performance.now() - drawn);
      await frame();
    }
    const seconds = (performance.now() - begin) / 1000;
    costs.sort((a, b) => a - b);
    return { framesPerSecond: Math.round(60 / seconds), medianMs: Math.round(costs[30] * 10) / 10, worstMs: Math.round(costs[59]) };
  };
  const pan = (k) => chart.move(((k % 40 < 20 ? 1 : -1) * (view.to - view.from)) / 60, 0);
  const found = { placements: model.schedules[0].count, firstPictureMs: Math.round(makespan.first), wholePictureMs: Math.round(makespan.timeRedraw()) };
  chart.zoomTime(0.5);
  chart.draw(true);
  found.panningHalf = await rate(pan);
  found.zooming = await rate((k) => chart.zoomTime(k % 20 < 10 ? 0.9 : 1 / 0.9));
  chart.showTime(model.end * 0.4, model.end * 0.05);
  chart.draw(true);
  found.panningTwentieth = await rate(pan);
  found.colouringMs = {};
  for (const { key } of chart.ways) {
    const begin = performance.now();
    chart.colourBy(key);
    chart.draw(true);
    found.colouringMs[key] = Math.round(performance.now() - begin);
  }
  const begin = performance.now();
  chart.find("0001");
  found.searchingMs = Math.round(performance.now() - begin);
  return found;
});
console.log(JSON.stringify({ ...figures, browser: browser.version(), loadOfMachine: loadavg()[0] }, null, 2));
await browser.close();
