// Opens the plan of a service with a reservation in headless Chromium, at two widths, in light and in dark. Prints a JSON array with
// what is found, and writes a picture of each page. MAKESPAN_MODULES: folder with playwright-core. CHROMIUM: the browser.
// Arguments: the URL, the file with the token, the name of the reservation, the folder of the pictures.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { launch } from "../../tests/browser/open.mjs";

const [url, file, reservation, folder] = process.argv.slice(2);
const token = readFileSync(file, "utf8").trim();

/** Counts how often the chart draws hatching inside at least one box. */
function watch() {
  window.hatchings = 0;
  const { prototype } = CanvasRenderingContext2D;
  const { clip, stroke, restore } = prototype;
  const clipped = new WeakSet();
  prototype.clip = function (...words) { clipped.add(this); return clip.apply(this, words); };
  prototype.restore = function () { clipped.delete(this); return restore.apply(this); };
  prototype.stroke = function (...words) {
    const colour = getComputedStyle(document.documentElement).getPropertyValue("--hatch").trim();
    window.hatchings += clipped.has(this) && this.strokeStyle === colour;
    return stroke.apply(this, words);
  };
}

/** Returns the number of hatchings, the brightness of the page from 0 to 255, and the pixels by which the page is too wide. */
function look() {
  const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
  const overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  return { hatchings: window.hatchings, brightness: Math.round((red + green + blue) / 3), overflow };
}

const browser = await launch();
const found = [];
for (const width of [1400, 390]) {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    await page.addInitScript(watch);
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(`${message.text()} ${message.location().url}`));
    await page.goto(`${url}/#token=${token}`);
    await page.waitForSelector("main h1");
    await page.evaluate(() => { location.hash = "#/plan"; });
    await page.waitForFunction((name) => document.body.innerText.includes(`reserved for ${name}`), reservation);
    await page.waitForSelector(".chart canvas");
    await page.waitForTimeout(500);
    found.push({ width, colorScheme, faults, ...await page.evaluate(look) });
    await page.screenshot({ path: join(folder, `plan-${width}-${colorScheme}.png`) });
    await context.close();
  }
}
await browser.close();
console.log(JSON.stringify(found));
