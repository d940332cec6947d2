// Opens the pages of simulations and moves over them. MAKESPAN_PAGES has replay.html (a short log) and long.html.

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

    it("shows the table and, of a short log, the schedules", async () => {
      const { page } = report;
      assert.equal(await page.locator("table tbody tr").count(), 12);
      assert.equal(await page.locator("#panels .policy").count(), 2);
      const pictures = page.locator(".gantt img");
      assert.equal(await pictures.count(), name === "replay" ? 1 : 0);
      const width = (image) => image.naturalWidth;
      for (const picture of await pictures.all()) assert.ok((await picture.evaluate(width)) > 400);
    });

    it("fits a small window, without faults", async () => {
      const { page, faults } = report;
      await page.setViewportSize({ width: 420, height: 700 });
      await settle(page);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      assert.deepEqual(faults, []);
    });
  });
}
