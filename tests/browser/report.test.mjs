// Opens generated reports in headless Chromium and uses them as a person would. MAKESPAN_PAGES: folder with demo.html, two.html,
// bags.html, graph.html and front.html. CHROMIUM: the browser. Run by scripts/browser-test.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { launch, openPage, settle } from "./open.mjs";

const HOSTILE = "</script><img src=x onerror=alert(1)>";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());
const open = (name, options) => openPage(browser, name, options);

const view = (page) => page.evaluate(() => {
  const { hits } = makespan.chart.search;
  return { ...makespan.view, marked: hits ? hits.reduce((sum, hit) => sum + hit, 0) : null };
});

/** Returns the position of a placement on the screen. */
async function pointOf(page, schedule, placement) {
  await page.locator(".stage").scrollIntoViewIfNeeded();
  return page.evaluate(([s, i]) => {
    const box = document.querySelector(".stage").getBoundingClientRect();
    const [x, y] = makespan.point(s, i);
    return [x + box.left, y + box.top];
  }, [schedule, placement]);
}

/** Returns the tooltip as an object: its title and its rows. */
const tooltip = (page) => page.evaluate(() => {
  const box = document.querySelector(".chart-tip");
  if (box.hidden) return null;
  const words = [...box.querySelectorAll("dt")].map((word) => word.textContent);
  const values = [...box.querySelectorAll("dd")].map((value) => value.textContent);
  return { title: box.querySelector("strong").textContent, ...Object.fromEntries(words.map((word, i) => [word, values[i]])) };
});

const column = (page, index) => page.locator(`#jobs tbody tr td:nth-child(${index})`).allTextContents();

/** Returns the number of different colours in a sample of the canvas. */
const coloursOf = (page) => page.evaluate(() => {
  const chart = document.querySelector(".picture");
  const { data } = chart.getContext("2d").getImageData(0, 0, chart.width, chart.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4 * 37) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return seen.size;
});

describe("a report of 10,000 placements", () => {
  let report;
  before(async () => {
    report = await open("demo");
  });
  after(() => report.close());

  it("draws a chart of many colours", async () => {
    assert.ok((await coloursOf(report.page)) > 8);
    assert.equal(await report.page.evaluate(() => makespan.schedules[0].count), 10000);
  });

  it("draws again in a time fit for dragging", async (test) => {
    const times = await report.page.evaluate(() => Array.from({ length: 9 }, makespan.timeRedraw).sort((a, b) => a - b));
    test.diagnostic(`median redraw ${times[4].toFixed(1)} ms`);
    assert.ok(times.every((time) => time > 0 && Number.isFinite(time)));
  });

  it("zooms about the pointer, by keys and by buttons, and fits again", async () => {
    const { page } = report;
    const whole = await view(page);
    const box = await page.locator(".stage").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 200);
    await page.mouse.wheel(0, -400);
    await settle(page);
    const near = await view(page);
    assert.ok(near.to - near.from < whole.to - whole.from && near.from > 0);
    await page.locator(".stage").focus();
    await page.keyboard.press("+");
    await page.keyboard.press("Shift+ArrowRight");
    await page.locator('[data-act="rows-in"]').click();
    const nearer = await view(page);
    assert.ok(nearer.to - nearer.from < near.to - near.from && nearer.bottom - nearer.top < 256);
    await page.locator(".stage").focus();
    await page.keyboard.press("0");
    const again = await view(page);
    assert.deepEqual([again.from, again.to, again.top, again.bottom], [whole.from, whole.to, whole.top, whole.bottom]);
  });

  it("leaves the wheel to the page where all is shown", async () => {
    const { page } = report;
    const whole = await view(page);
    await page.evaluate(() => scrollTo(0, 0));
    const box = await page.locator(".stage").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 100);
    await page.mouse.wheel(0, 60);
    await page.waitForFunction(() => scrollY > 0);
    const { from, to } = await view(page);
    assert.deepEqual([from, to], [whole.from, whole.to]);
    await page.evaluate(() => scrollTo(0, 0));
    await page.mouse.wheel(0, -60);
    await settle(page);
    await page.mouse.wheel(0, 60);
    await settle(page);
    assert.equal(await page.evaluate(() => scrollY), 0, "there was something to zoom out of");
    await page.locator(".stage").focus();
    await page.keyboard.press("0");
  });

  it("pans by dragging and by the map", async () => {
    const { page } = report;
    for (let i = 0; i < 4; i++) await page.locator('[data-act="zoom-in"]').click();
    const before = await view(page);
    const box = await page.locator(".stage").boundingBox();
    await page.mouse.move(box.x + 700, box.y + 200);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 200, { steps: 5 });
    await page.mouse.up();
    const dragged = await view(page);
    assert.ok(dragged.from > before.from);
    assert.ok(Math.abs(dragged.to - dragged.from - (before.to - before.from)) < 1e-6);
    const map = await page.locator(".map").boundingBox();
    await page.mouse.click(map.x + map.width * 0.2, map.y + 20);
    assert.ok((await view(page)).from < dragged.from);
    await page.locator('[data-act="fit"]').click();
  });

  it("finds a hostile name, jumps to it and shows it as text", async () => {
    const { page, faults } = report;
    await page.locator(".find").fill("onerror");
    assert.equal(await page.locator(".found").textContent(), "1 match");
    await page.locator(".find").press("Enter");
    await settle(page);
    assert.equal(await page.locator(".found").textContent(), "1 of 1");
    const shown = await tooltip(page);
    assert.equal(shown.title, HOSTILE);
    assert.equal(shown.time, "1 h 6 min 40 s");
    assert.equal(shown.allotment, "40 processors");
    assert.ok((await page.locator("#status").textContent()).includes(HOSTILE));
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(faults, []);
    await page.locator(".find").fill("");
    assert.equal((await view(page)).marked, null);
    await page.locator('[data-act="fit"]').click();
  });

  it("walks through the matches of a search", async () => {
    const { page } = report;
    await page.locator(".find").fill("mesh-0001");
    const { marked } = await view(page);
    assert.equal(marked, 2);
    await page.locator(".find").press("Enter");
    await page.locator(".find").press("Enter");
    assert.equal(await page.locator(".found").textContent(), "2 of 2");
    await page.locator(".find").press("Enter");
    assert.equal(await page.locator(".found").textContent(), "1 of 2");
    await page.locator(".find").press("Escape");
    await page.locator('[data-act="fit"]').click();
  });

  it("sorts the table both ways and turns its pages", async () => {
    const { page } = report;
    const allotment = page.locator("#jobs th button", { hasText: "allotment" });
    await allotment.click();
    const up = (await column(page, 6)).map(Number);
    assert.equal(up.length, 50);
    assert.ok(up.every((value) => value === 1));
    await allotment.click();
    const down = (await column(page, 6)).map(Number);
    assert.equal(down[0], 40);
    assert.deepEqual(down, down.toSorted((a, b) => b - a));
    assert.equal(await page.locator("#jobs th").nth(5).getAttribute("aria-sort"), "descending");
    await page.locator('[data-act="next"]').click();
    assert.equal(await page.locator(".page").textContent(), "51\u2013100 of 10\u202f000");
    await page.locator('[data-act="previous"]').click();
  });

  it("jumps from the table to the chart", async () => {
    const { page } = report;
    await page.locator("#jobs tbody tr td button").first().click();
    await settle(page);
    const { from, to, chosen } = await view(page);
    const [start, end] = await page.evaluate((i) => [makespan.schedules[0].start[i], makespan.schedules[0].end[i]], chosen.placement);
    assert.ok(from <= start && end <= to);
    assert.equal((await tooltip(page)).title, HOSTILE);
  });

  it("makes no error, no dialog and no request", () => assert.deepEqual(report.faults, []));
});

describe("a report of an empty schedule", () => {
  it("shows itself without faults", async () => {
    const { page, faults, close } = await open("empty");
    assert.equal(await page.locator(".page").textContent(), "no jobs");
    await page.locator('[data-act="zoom-in"]').click();
    await page.locator(".stage").hover();
    await page.locator(".find").fill("a");
    assert.equal(await page.locator(".found").textContent(), "no match");
    assert.deepEqual(faults, []);
    await close();
  });
});

describe("a plan with bags of tasks", () => {
  it("names the tasks and says what best effort is", async () => {
    const { page, faults, close } = await open("bags");
    assert.match(await page.locator(".chart-legend").textContent(), /best effort/);
    assert.match(await page.locator(".cards").textContent(), /best-effort jobs end/i);
    const names = new Map();
    for (const wanted of ["fill", "urgent", "wide"]) {
      const at = await page.evaluate((name) => {
        const schedule = makespan.schedules[0];
        return schedule.row.findLastIndex((row) => makespan.model.jobName(makespan.model.jobOf(row)) === name);
      }, wanted);
      await page.mouse.move(...(await pointOf(page, 0, at)));
      names.set(wanted, await tooltip(page));
    }
    assert.equal(names.get("fill").title, "fill/49");
    assert.equal(names.get("fill").weight, "best effort");
    assert.equal(names.get("urgent").title, "urgent/3");
    assert.deepEqual([names.get("wide").title, names.get("wide").weight], ["wide", "1"]);
    await page.locator(".find").fill("fill");
    assert.equal(await page.locator(".found").textContent(), "50 matches");
    assert.ok((await column(page, 1)).some((name) => name.startsWith("fill/")));
    assert.deepEqual(faults, []);
    await close();
  });
});

for (const colorScheme of ["light", "dark"]) {
  describe(`a plan beside what happened, ${colorScheme}`, () => {
    let report;
    before(async () => {
      report = await open("two", { colorScheme, deviceScaleFactor: 2 });
    });
    after(() => report.close());

    it("tells each job of each schedule in its tooltip", async () => {
      const { page } = report;
      for (const schedule of [0, 1]) {
        const [x, y] = await pointOf(page, schedule, 5);
        await page.mouse.move(x, y);
        const expected = await page.evaluate((s) => {
          const schedule = makespan.schedules[s];
          return { title: schedule.nameAt(5), width: schedule.width[5], time: schedule.end[5] - schedule.start[5] };
        }, schedule);
        const shown = await tooltip(page);
        assert.equal(shown.title, expected.title);
        assert.equal(shown.schedule, ["happened", "planned"][schedule]);
        assert.equal(shown.command, `work '${expected.title}' ${HOSTILE}`);
        assert.equal(parseInt(shown.allotment, 10), expected.width);
        assert.ok(Math.abs(parseFloat(shown.time) - expected.time) < 0.001, shown.time);
      }
    });

    it("says what became of a task that collided", async () => {
      const { page } = report;
      const marked = await page.evaluate(() => {
        const { schedules } = JSON.parse(document.getElementById("data").textContent);
        return schedules.map(({ marks, deadlines }) => [marks, deadlines.length]);
      });
      assert.deepEqual(marked[1], [[], 0]);
      const [[[placement, text]], deadlines] = marked[0];
      assert.equal(deadlines, 2);
      const [x, y] = await pointOf(page, 0, placement);
      await page.mouse.move(x, y);
      assert.equal((await tooltip(page)).moved, text);
      const [i, j] = await pointOf(page, 1, placement);
      await page.mouse.move(i, j);
      assert.equal((await tooltip(page)).moved, undefined);
    });

    it("shows either schedule in the table", async () => {
      const { page } = report;
      // The table shows the recorded schedule first, as the figures at the top of the page do.
      assert.equal(await page.locator("#which option:checked").textContent(), "happened");
      const ends = await column(page, 6);
      await page.locator("#which").selectOption({ label: "planned" });
      assert.notDeepEqual(await column(page, 4), ends);
      await page.locator("#which").selectOption({ label: "happened" });
    });

    it("shows exit statuses and links to outputs in the table", async () => {
      const { page } = report;
      const heads = await page.locator("#jobs thead th").allTextContents();
      assert.deepEqual(heads.slice(0, 4), ["job", "exit status", "command", "output"]);
      const failed = page.locator("#jobs tbody tr").filter({ has: page.locator("td.bad") });
      assert.deepEqual(await failed.locator("td.bad").allTextContents(), ["3"]);
      assert.deepEqual(await failed.locator("a").allTextContents(), ["output", "errors"]);
      const names = await failed.locator("a").evaluateAll((all) => all.map((a) => decodeURIComponent(a.getAttribute("href"))));
      const stem = `./04-${HOSTILE.replaceAll("/", "-")}`;
      assert.deepEqual(names, [`${stem}.out`, `${stem}.err`]);
    });

    it("survives a small window and paper, without faults", async () => {
      const { page, faults } = report;
      await page.setViewportSize({ width: 420, height: 700 });
      await settle(page);
      assert.ok((await coloursOf(page)) > 8);
      await page.emulateMedia({ media: "print" });
      assert.equal(await page.locator(".map").isVisible(), false);
      assert.deepEqual(faults, []);
    });
  });
}
