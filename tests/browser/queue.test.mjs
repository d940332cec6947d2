// Uses the page of a cluster's queue in headless Chromium: the chart of what is expected, its tables, a phone. Run by scripts/browser-test.
// MAKESPAN: the program. MAKESPAN_MODULES: where playwright-core is. CHROMIUM: the browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { launch, openPage, settle } from "./open.mjs";

let browser;
let folder;
let queue;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "makespan-queue-"));
  const saved = new URL("../../crates/makespan-slurm/tests/data/queue-22.05", import.meta.url).pathname;
  const text = execFileSync(process.env.MAKESPAN, ["queue", "--from", saved, "--report", join(folder, "queue.html"), "--format", "json"]);
  queue = JSON.parse(text);
  process.env.MAKESPAN_PAGES = folder;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const chartOf = (page, act) => page.locator(".stage").first().evaluate((stage, source) => new Function("chart", `return ${source}`)(stage.chart), act);

describe("the page of a queue", () => {
  it("draws all that runs and is expected, and loads nothing", async () => {
    const { page, faults, close } = await openPage(browser, "queue");
    const keys = new Set(await chartOf(page, "chart.model.schedules[0].keys"));
    for (const job of queue.running) assert.ok(keys.has(job.job), `${job.job} runs`);
    for (const job of queue.waiting) assert.equal(keys.has(job.job), job.nodes.length > 0, `${job.job}: ${job.nodes}`);
    assert.equal(await page.locator("tr[data-job]").count(), queue.running.length + queue.waiting.length);
    assert.deepEqual(faults.slice(0, 3), []);
    await close();
  });

  it("shows a job of the table in the chart, with what it waits for", async () => {
    const { page, close } = await openPage(browser, "queue");
    const job = queue.waiting.find((one) => one.nodes.length > 0 && one.after.length > 0);
    await page.locator(`tr[data-job="${job.job}"]`).click();
    await settle(page);
    const found = await chartOf(page, "[chart.model.schedules[0].keys[chart.view.chosen.placement], chart.related.before.map((row) => chart.model.schedules[0].keys[chart.model.schedules[0].of(row)[0]])]");
    assert.equal(found[0], job.job);
    assert.deepEqual(found[1].sort(), [...job.after].sort());
    assert.match(await page.textContent(".chart-tip"), /why not now/);
    assert.equal(await page.locator("tr.chosen").getAttribute("data-job"), job.job);
    await close();
  });

  it("finds jobs in chart and tables, and shows all again", async () => {
    const { page, close } = await openPage(browser, "queue");
    const { name } = queue.waiting[0];
    await page.fill(".find", name);
    const shown = page.locator("tr[data-job]:not([hidden])");
    const all = queue.running.length + queue.waiting.length;
    assert.ok((await shown.count()) >= 1 && (await shown.count()) < all);
    for (const text of await shown.allTextContents()) assert.ok(text.toLowerCase().includes(name.toLowerCase()));
    await page.locator(".find").press("Escape");
    assert.equal(await shown.count(), all);
    await close();
  });

  it("has room on a phone, in light and dark", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const { page, close } = await openPage(browser, "queue", { viewport: { width: 390, height: 844 }, colorScheme, hasTouch: true });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
      await close();
    }
  });
});
