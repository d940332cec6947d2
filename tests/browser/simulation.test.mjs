// Tests the pages of simulations. MAKESPAN_PAGES contains replay.html (a short log) and long.html.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { launch, openPage, settle } from "./open.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const reading = (page) => page.locator("#reading").textContent();

for (const [name, colorScheme] of [["replay", "light"], ["replay", "dark"], ["long", "light"]]) {
  describe(`a simulation, ${name}, ${colorScheme}`, () => {
    let report;
    before(async () => {
      report = await openPage(browser, name, { colorScheme });
    });
    after(() => report.close());

    it("tells what holds under the pointer", async () => {
      const { page } = report;
      await page.locator("#panels").scrollIntoViewIfNeeded();
      const box = await page.locator("#panels").boundingBox();
      const seen = new Set();
      for (const share of [0.2, 0.5, 0.8]) {
        await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
        await settle(page);
        const text = await reading(page);
        assert.match(text, /: .fcfs. [\d.]+ busy, [\d.]+ waiting; .*onerror.* [\d.]+ busy, [\d.]+ waiting$/);
        seen.add(text);
      }
      assert.equal(seen.size, 3);
      assert.equal(await page.locator("#pointer").getAttribute("visibility"), "visible");
      await page.mouse.move(box.x + 3, box.y + box.height / 2);
      assert.equal(await page.locator("#pointer").getAttribute("visibility"), "hidden");
      await page.mouse.move(2, 2);
      assert.equal(await reading(page), "");
    });

    it("shows the table and, of a short log, figures, the chart and all jobs", async () => {
      const { page } = report;
      assert.equal(await page.locator(".tables tbody tr").count(), 12);
      assert.equal(await page.locator("#panels .policy").count(), 2);
      const short = name === "replay";
      assert.equal(await page.locator("#figures").isVisible(), short);
      assert.equal(await page.locator("#chart-host .stage").count(), short ? 1 : 0);
      if (!short) return;
      assert.equal(await page.locator("#figures .figure").count(), 6);
      assert.equal(await page.locator("#figures .line").count(), 2 * 2 + 2);
      assert.equal(await page.locator("#heat .figure").count(), 3);
      assert.deepEqual(await page.evaluate(() => makespan.chart.panels.map((panel) => panel.schedule)), [0, 1]);
    });

    if (name === "replay") {
      it("compares two policies job by job", async () => {
        const { page } = report;
        const saved = page.locator("#compare-table tbody tr td:nth-child(4)");
        assert.doesNotMatch(await saved.first().textContent(), /\u2212/);
        await page.locator("#policy-one").selectOption("1");
        await page.locator("#policy-two").selectOption("0");
        assert.match(await page.locator("#compare-text").textContent(), /jobs wait less under fcfs/);
        await page.locator("#compare-table tbody tr").first().click();
        assert.ok(await page.evaluate(() => makespan.view.chosen !== null));
      });

      it("finds jobs in the table of all jobs", async () => {
        const { page } = report;
        await page.locator("#find-job").fill("29");
        const names = await page.locator("#jobs tbody tr td:first-child").allTextContents();
        assert.ok(names.length > 10 && names.every((text) => text.includes("29")));
        assert.equal(await page.locator("#found-jobs").textContent(), `${names.length} matches`);
        await page.locator("#find-job").fill("");
      });
    }

    it("fits a small window, without faults", async () => {
      const { page, faults } = report;
      await page.setViewportSize({ width: 420, height: 700 });
      await settle(page);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      assert.deepEqual(faults, []);
    });
  });
}
