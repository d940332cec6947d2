// Tests the page of bags on a tree in headless Chromium as a person would use it. MAKESPAN: the program. MAKESPAN_MODULES: folder
// with playwright-core. CHROMIUM: the browser. Run by scripts/browser-test.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { launch, openPage, settle } from "./open.mjs";

let browser;
let folder;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "makespan-tree-"));
  const makespan = (...words) => execFileSync(process.env.MAKESPAN, words, { cwd: folder });
  makespan("generate", "tree", "--nodes", "60", "--tasks", "100", "--output", "tree.json");
  makespan("plan", "tree.json", "--report", "plan.html");
  makespan("simulate", "tree.json", "--policy", "lp,fcfs", "--report", "runs.html");
  process.env.MAKESPAN_PAGES = folder;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the middle of the box of a node on the screen. */
const middleOf = (page, node, panel = 0) =>
  page.evaluate(([node, panel]) => {
    const { chart } = makespan;
    const stage = chart.stage.getBoundingClientRect();
    const box = chart.boxOf(chart.panels[panel], node);
    return [stage.left + box.x + box.width / 2, stage.top + box.y + box.height / 2];
  }, [node, panel]);
const leafOf = (page) => page.evaluate(() => makespan.model.order.findLast((node) => !makespan.model.children[node].length));

describe("the page of a tree", () => {
  it("shows what the table says, and loads nothing", async () => {
    const { page, faults, close } = await openPage(browser, "plan");
    const found = await page.evaluate(() => {
      const { model } = makespan;
      const rows = [...document.querySelectorAll("tr[data-node]")].filter((row) => row.cells.length > 3);
      return { nodes: model.names.length, rows: rows.map((row) => [row.cells[0].textContent, [...row.cells].at(-3).textContent, model.pictures[0].busy[Number(row.dataset.node)]]) };
    });
    assert.equal(found.nodes, 60);
    assert.ok(found.rows.length > 0);
    for (const [name, said, drawn] of found.rows) if (/^[\d.]+$/.test(said)) assert.ok(Math.abs(Number(said) - 100 * drawn) < 0.06, `${name}: ${said} and ${drawn}`);
    assert.deepEqual(faults, []);
    await close();
  });

  it("chooses a node by click, by key and from the table", async () => {
    const { page, close } = await openPage(browser, "plan");
    const root = await page.evaluate(() => makespan.model.order[0]);
    await page.mouse.click(...(await middleOf(page, root)));
    assert.equal(await page.evaluate(() => makespan.chart.chosen), root);
    assert.match(await page.textContent(".chart-tip"), /port busy/);
    await page.focus(".stage");
    await page.keyboard.press("n");
    const second = await page.evaluate(() => [makespan.chart.chosen, makespan.model.order[1], makespan.chart.bright().has(makespan.model.order[0])]);
    assert.deepEqual(second, [second[1], second[1], true]);
    await page.keyboard.press("Escape");
    await page.click("tr[data-node]");
    assert.equal(await page.evaluate(() => makespan.chart.chosen), await page.evaluate(() => Number(document.querySelector("tr[data-node]").dataset.node)));
    await close();
  });

  it("zooms, moves, finds, and shows everything again", async () => {
    const { page, close } = await openPage(browser, "plan");
    const span = () => page.evaluate(() => makespan.chart.view.to - makespan.chart.view.from);
    const whole = await span();
    await page.click('[data-act="zoom-in"]');
    assert.ok((await span()) < whole);
    const leaf = await leafOf(page);
    await page.fill(".find", await page.evaluate((leaf) => makespan.model.names[leaf], leaf));
    await page.press(".find", "Enter");
    assert.equal(await page.evaluate(() => makespan.chart.chosen), leaf);
    await settle(page);
    const [x] = await middleOf(page, leaf);
    assert.ok(x > 0 && x < 1400);
    await page.focus(".stage");
    await page.keyboard.press("0");
    assert.equal(await span(), whole);
    await page.fill(".find", "no such node");
    assert.equal(await page.textContent(".found"), "no match");
    await close();
  });

  it("colours by what is chosen, and shows one class alone", async () => {
    const { page, close } = await openPage(browser, "plan");
    for (const way of ["busy", "links", "sends", "application"]) {
      await page.selectOption(".way", way);
      const [words, chips] = await page.evaluate(() => [makespan.chart.coloured.made.words.length, document.querySelectorAll(".chip").length]);
      assert.equal(chips, words, way);
    }
    await page.click(".chip");
    assert.equal(await page.getAttribute(".chip", "aria-pressed"), "true");
    await close();
  });

  it("is saved as SVG and PNG", async () => {
    const { page, close } = await openPage(browser, "plan");
    for (const [act, start] of [["svg", "<svg"], ["png", "\u0089PNG"]]) {
      const [file] = await Promise.all([page.waitForEvent("download"), page.click(`[data-act="${act}"]`)]);
      const bytes = readFileSync(await file.path(), "latin1");
      assert.ok(bytes.startsWith(start), act);
      if (act === "svg") assert.ok(bytes.includes(await page.evaluate(() => makespan.model.names[makespan.model.order[0]])));
    }
    await close();
  });

  it("has a picture for each policy, fits a phone and follows the dark scheme", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const { page, faults, close } = await openPage(browser, "runs", { viewport: { width: 390, height: 844 }, colorScheme, hasTouch: true });
      const found = await page.evaluate(() => {
        const { chart } = makespan;
        const pixel = chart.canvas.getContext("2d").getImageData(2, 60 * chart.page.scale, 1, 1).data;
        const ground = getComputedStyle(chart.stage).backgroundColor.match(/\d+/g).slice(0, 3).map(Number);
        return { panels: chart.panels.length, wider: document.documentElement.scrollWidth - innerWidth, clear: pixel[3] === 0, ground };
      });
      assert.equal(found.panels, 2);
      assert.ok(found.wider <= 0, `the page is ${found.wider} pixels too wide`);
      assert.ok(found.clear && (colorScheme === "light" ? found.ground[0] > 200 : found.ground[0] < 60), JSON.stringify(found));
      assert.deepEqual(faults, []);
      await close();
    }
  });
});
