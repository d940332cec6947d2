// Tests the page of a cluster's queue in headless Chromium: the chart of expected jobs, the tables, a phone. Run by
// scripts/browser-test. MAKESPAN: the program. MAKESPAN_MODULES: folder with playwright-core. CHROMIUM: the browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { launch, openPage, settle } from "./open.mjs";

let browser;
let folder;
let queue;

/** Writes a queue on three nodes. Job 1 runs on the first and the last node, job 2 on the middle one. Job 3 waits for all nodes,
 * job 4 waits behind job 3, and job 5 is held. */
function small(folder) {
  mkdirSync(folder);
  const save = (name, text) => writeFileSync(join(folder, name), text);
  const job = (id, more) => `JobId=${id} JobName=job-${id} UserId=ann(1) Priority=${100 - id} SubmitTime=2026-11-22T01:00:00 Partition=p ${more}\n`;
  const runs = (id, nodes, cpus) => job(id, `JobState=RUNNING StartTime=2026-11-22T01:00:00 RunTime=00:01:00 TimeLimit=00:10:00 NodeList=${nodes} NumNodes=${cpus / 4} NumCPUs=${cpus}`);
  const waits = (id, more) => job(id, `JobState=PENDING TimeLimit=01:00:00 NumNodes=3-3 NumCPUs=12 MinCPUsNode=4 ${more}`);
  save("scontrol.nodes-d.txt", [0, 1, 2].map((at) => `NodeName=n${at} CPUTot=4 CPUAlloc=4 State=ALLOCATED Partitions=p\n`).join(""));
  save("scontrol.jobs-d.txt", runs(1, "n[0,2]", 8) + runs(2, "n1", 4) + waits(3, "") + waits(4, "") + waits(5, "Reason=JobHeldUser"));
  save("scontrol.partitions.txt", "PartitionName=p State=UP Default=YES Nodes=n[0-2] MaxTime=UNLIMITED\n");
  save("scontrol.config.txt", "SLURM_VERSION = 24.11.5\nSelectTypeParameters = CR_CORE\n");
  save("scontrol.reservations.txt", "No reservations in the system\n");
  save("scontrol.licenses.txt", "No licenses configured in Slurm.\n");
  save("scontrol.assoc.txt", "Current Association Manager state\n");
  save("sacct.history.txt", "JobIDRaw|User|Account|Partition|ElapsedRaw|TimelimitRaw|State|JobName\n");
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "makespan-queue-"));
  const saved = new URL("../../crates/makespan-slurm/tests/data/queue-22.05", import.meta.url).pathname;
  const text = execFileSync(process.env.MAKESPAN, ["queue", "--from", saved, "--report", join(folder, "queue.html"), "--format", "json"]);
  queue = JSON.parse(text);
  small(join(folder, "small"));
  execFileSync(process.env.MAKESPAN, ["queue", "--from", join(folder, "small"), "--report", join(folder, "small.html"), "--times", "limits"]);
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

  it("says of what begins behind the bars when that is", async () => {
    const { page, close } = await openPage(browser, "small");
    const later = page.locator('tr[data-job="4"] td.when .later');
    const starts = await page.textContent('tr[data-job="4"] td.t:not(.more)');
    assert.equal(await later.textContent(), `later, at ${starts} \u2192`);
    assert.equal(await page.locator('tr[data-job="1"] td.when .later').count(), 0);
    // Each row shows a bar or a sign, unless it never starts.
    for (const row of await page.locator("tr[data-job]").all()) {
      const [sign, bars, job] = [await row.locator(".later").count(), await row.locator("td.when rect").count(), await row.getAttribute("data-job")];
      assert.equal(sign + bars > 0, job !== "5", job);
    }
    await close();
  });

  it("opens the reason of a job that is not in the chart", async () => {
    for (const viewport of [{ width: 1400, height: 1000 }, { width: 390, height: 844 }]) {
      const { page, faults, close } = await openPage(browser, "small", { viewport });
      const row = page.locator('tr[data-job="5"]');
      const told = page.locator("tr.told");
      await row.click();
      assert.match(await told.innerText(), /not in the chart[\s\S]*partition\s+p[\s\S]*why not now\s+[\s\S]*would help\s+[\s\S]*scontrol release/);
      assert.equal(await page.locator("tr.chosen").getAttribute("data-job"), "5");
      await page.locator('tr[data-job="1"]').click();
      assert.equal(await told.count(), 0);
      await row.click();
      await row.click();
      assert.equal(await told.count(), 0, "a second press closes it");
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
      assert.deepEqual(faults, []);
      await close();
    }
  });

  it("is used by the keyboard alone", async () => {
    const { page, close } = await openPage(browser, "small");
    const focused = () => page.evaluate(() => document.activeElement.dataset.job);
    await page.locator(".stage").focus();
    const tabs = [];
    for (let at = 0; at < 12; at++) {
      await page.keyboard.press("Tab");
      if (await focused()) tabs.push(await focused());
    }
    assert.deepEqual(tabs, ["3", "1"], "one row of each table");
    await page.locator('tr[data-job="3"]').focus();
    for (const [key, job] of [["ArrowDown", "4"], ["ArrowDown", "5"], ["ArrowDown", "5"], ["Home", "3"], ["End", "5"]]) {
      await page.keyboard.press(key);
      assert.equal(await focused(), job, key);
    }
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("tr.told").count(), 1);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await settle(page);
    assert.equal(await chartOf(page, "chart.model.schedules[0].keys[chart.view.chosen.placement]"), "4");
    assert.equal(await page.locator("tr.told").count(), 0);
    // Tab reaches the first row that matches the search.
    await page.fill(".find", "job-5");
    assert.deepEqual(await page.locator('#waiting tr[tabindex="0"]').evaluateAll((all) => all.map((row) => row.dataset.job)), ["5"]);
    await close();
  });

  it("keeps a distance from its heading, with remarks and without", async () => {
    for (const [name, remarks] of [["small", 0], ["queue", 1]]) {
      const { page, close } = await openPage(browser, name);
      assert.equal(await page.locator(".remarks").count(), remarks, await page.locator("main").innerText());
      const gap = await page.evaluate(() => document.querySelector("main > *").getBoundingClientRect().top - document.querySelector("header").getBoundingClientRect().bottom);
      assert.ok(gap >= 12, `${name}: ${gap}`);
      await close();
    }
  });

  it("names each piece of a job", async () => {
    const { page, close } = await openPage(browser, "small");
    const labels = (job) => chartOf(page, `chart.layers[0].labels.filter(([i]) => chart.model.schedules[0].keys[i] === "${job}").map(([, top, bottom]) => [top, bottom])`);
    assert.deepEqual(await labels("1"), [[0, 4], [8, 12]]);
    assert.deepEqual([await labels("2"), await labels("3")], [[[4, 8]], [[0, 12]]]);
    // Adjacent processors form one piece, even if nodes are collapsed.
    await page.locator('[data-act="fold"]').click();
    await settle(page);
    assert.deepEqual(await labels("1"), []);
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
