// Tests the chart in headless Chromium: colours, graphs, nodes, alternatives, touch, files. Run by scripts/browser-test.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";

import { launch, openPage, settle } from "./open.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Returns the colour of a placement. */
const colourAt = (page, schedule, placement) => page.evaluate(([s, i]) => {
  const { colour } = makespan.schedules[s];
  return makespan.chart.palette[colour[i]];
}, [schedule, placement]);

const press = (page, name) => page.locator(`[data-act="${name}"]`).click();

describe("colours", () => {
  let report;
  before(async () => {
    report = await openPage(browser, "two");
  });
  after(() => report.close());

  it("differ between jobs that touch, and are the same in both schedules", async () => {
    const wrong = await report.page.evaluate(() => {
      const found = [];
      const jobColour = new Map();
      makespan.schedules.forEach((schedule, s) => {
        for (let i = 0; i < schedule.count; i++) {
          const job = schedule.job(i);
          if (jobColour.has(job) && jobColour.get(job) !== schedule.colour[i]) found.push(`job ${job} has two colours`);
          jobColour.set(job, schedule.colour[i]);
          for (let j = 0; j < i; j++) {
            const overlap = schedule.start[i] < schedule.end[j] && schedule.start[j] < schedule.end[i];
            const [a, b] = [schedule.intervals(i), schedule.intervals(j)];
            const beside = a.some((_, k) => k % 2 === 0 && b.some((__, m) => m % 2 === 0 && (a[k] === b[m + 1] + 1 || b[m] === a[k + 1] + 1)));
            if (overlap && beside && schedule.colour[i] === schedule.colour[j]) found.push(`${s}: ${i} and ${j}`);
          }
        }
      });
      return found;
    });
    assert.deepEqual(wrong, []);
  });

  it("of jobs that touch are told apart by the colour-blind as well", async () => {
    const { page } = report;
    const shares = await page.evaluate(() => {
      makespan.chart.colourBy("job");
      const alike = (a, b) => (a === 3 && b === 5) || (a === 5 && b === 3) || (a === 6 && b === 7) || (a === 7 && b === 6);
      let [pairs, same, close] = [0, 0, 0];
      for (const schedule of makespan.schedules) {
        for (let i = 0; i < schedule.count; i++) {
          const spans = schedule.intervals(i);
          for (let k = 1; k < spans.length; k += 2) {
            const other = schedule.placementAt(schedule.start[i], spans[k] + 1);
            if (other < 0 || schedule.job(other) === schedule.job(i)) continue;
            pairs++;
            if (schedule.colour[other] === schedule.colour[i]) same++;
            else if (alike(schedule.colour[other], schedule.colour[i])) close++;
          }
        }
      }
      return { pairs, same: same / pairs, close: close / pairs };
    });
    // With random colours, an eighth of the pairs would be equal, and a sixteenth similar.
    assert.ok(shares.pairs > 50 && shares.same === 0 && shares.close < 0.01, JSON.stringify(shares));
  });

  it("of every way have a legend, and one class of it can be shown alone", async () => {
    const { page } = report;
    for (const way of await page.locator(".way option").evaluateAll((options) => options.map((option) => option.value))) {
      await page.locator(".way").selectOption(way);
      assert.match(await page.locator(".chart-legend").textContent(), /\S/, way);
    }
    await page.locator(".way").selectOption("allotment");
    const chip = page.locator(".chip").first();
    await chip.click();
    const lit = await page.evaluate(() => {
      const { lit, width } = makespan.schedules[0];
      return Array.from(width).every((processors, i) => Boolean(lit[i]) === (processors === 1));
    });
    assert.ok(lit, "the first class is one processor");
    await page.locator(".chip").first().click();
    assert.equal(await page.evaluate(() => makespan.schedules[0].lit), null);
  });

  it("are told apart by people with any common kind of colour blindness", async () => {
    // Viénot, Brettel and Mollon 1999: the colours that dichromats see, in linear light.
    const near = await report.page.evaluate(() => {
      const seen = [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]], [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]];
      const linear = (colour) => [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
      const lab = ([r, g, b]) => {
        const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
        const [x, y, z] = [f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505), f(0.2126 * r + 0.7152 * g + 0.0722 * b), f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089)];
        return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
      };
      const job = makespan.chart.ways.find((way) => way.key === "job");
      job.made ??= job.make();
      const palette = job.made.colours("light");
      return seen.map((matrix) => {
        const places = palette.map((colour) => lab(matrix.map((row) => Math.max(0, row.reduce((sum, part, k) => sum + part * linear(colour)[k], 0)))));
        return Math.min(...places.flatMap((a, i) => places.slice(i + 1).map((b) => Math.hypot(...a.map((value, k) => value - b[k])))));
      });
    });
    near.forEach((distance, kind) => assert.ok(distance > 7, `kind ${kind}: two colours are ${distance.toFixed(1)} apart`));
  });
});

describe("a graph of tasks", () => {
  let report;
  before(async () => {
    report = await openPage(browser, "graph");
  });
  after(() => report.close());

  it("names tasks without what all share, and colours them by type", async () => {
    const { page } = report;
    assert.equal(await page.locator(".way").inputValue(), "type");
    assert.deepEqual((await page.locator(".chip").allTextContents()).sort(), ["align", "merge", "split", "train"]);
    assert.equal(await page.evaluate(() => makespan.model.labelOf(3)), "align_ID0000003");
    assert.notEqual(await colourAt(page, 0, 0), await colourAt(page, 0, 1));
  });

  it("colours tasks so that neighbours differ, or says how many do not", async () => {
    const { page } = report;
    await page.locator(".way").selectOption("task");
    const found = await page.evaluate(() => {
      const [schedule] = makespan.schedules;
      let same = 0;
      for (let i = 0; i < schedule.count; i++) {
        for (let j = 0; j < i; j++) {
          const [a, b] = [schedule.intervals(i), schedule.intervals(j)];
          const meets = schedule.end[j] === schedule.start[i] && a.some((_, k) => k % 2 === 0 && b.some((__, m) => m % 2 === 0 && a[k] <= b[m + 1] && b[m] <= a[k + 1]));
          if (meets && schedule.row[i] !== schedule.row[j] && schedule.colour[i] === schedule.colour[j]) same++;
        }
      }
      return { same, legend: document.querySelector(".chart-legend").textContent };
    });
    assert.equal(found.same > 0, !found.legend.includes("neighbours differ"), `${found.same}: ${found.legend}`);
    await page.locator(".way").selectOption("type");
  });

  it("clears a class of the legend by Escape", async () => {
    const { page } = report;
    await page.locator(".chip").first().click();
    assert.equal(await page.locator('.chip[aria-pressed="true"]').count(), 1);
    await page.locator(".stage").focus();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator('.chip[aria-pressed="true"]').count(), 0);
    assert.equal(await page.locator("#status").textContent(), "");
  });

  it("shows what a task waits for and what waits for it", async () => {
    const { page, faults } = report;
    await page.locator(".find").fill("merge_ID0000019");
    await page.locator(".find").press("Enter");
    await settle(page);
    const found = await page.evaluate(() => {
      const { related } = makespan.chart;
      return { before: related.before.length, after: related.after.length, lit: makespan.schedules[0].lit.reduce((sum, one) => sum + one, 0) };
    });
    assert.deepEqual(found, { before: 18, after: 1, lit: 60 });
    assert.match(await page.locator(".chart-tip").textContent(), /waits for18 tasks/);
    const drawn = await page.evaluate(() => {
      const overlay = document.querySelector(".overlay");
      return overlay.getContext("2d").getImageData(0, 0, overlay.width, overlay.height).data.some((value) => value > 0);
    });
    assert.ok(drawn, "arrows and a frame");
    await page.locator(".stage").focus();
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => makespan.view.chosen), null);
    await page.locator(".find").fill("");
    assert.deepEqual(faults, []);
  });

  it("has lanes of memory and GPUs, and says how tasks ended", async () => {
    const { page } = report;
    assert.deepEqual(await page.evaluate(() => makespan.chart.lanes.map((lane) => lane.name ?? "processors")), ["processors", "gpus", "memory"]);
    await page.locator(".way").selectOption("outcome");
    assert.match(await page.locator(".chart-legend").textContent(), /ended at its time limit/);
    const [bad] = await page.evaluate(() => [...makespan.schedules[0].outcomes.keys()]);
    await page.evaluate((placement) => makespan.chart.show({ schedule: 0, placement }), bad);
    assert.match(await page.locator(".chart-tip").textContent(), /endedfailed/);
    await press(page, "fit");
  });

  it("collapses nodes by a press, a button and a key", async () => {
    const { page } = report;
    await page.locator(".stage").scrollIntoViewIfNeeded();
    const box = await page.locator(".stage").boundingBox();
    await page.mouse.click(box.x + 12, box.y + 60);
    assert.deepEqual(await page.evaluate(() => [...makespan.chart.collapsed]), [0]);
    await page.mouse.click(box.x + 12, box.y + 34);
    assert.equal(await page.evaluate(() => makespan.chart.collapsed.size), 0);
    await press(page, "fold");
    assert.equal(await page.evaluate(() => makespan.chart.rows.total), 4);
    await page.mouse.move(box.x + box.width / 2, box.y + 60);
    assert.match(await page.locator(".chart-tip").textContent(), /of 8 processors/);
    await page.locator(".stage").focus();
    await page.keyboard.press("c");
    assert.equal(await page.evaluate(() => makespan.chart.rows.total), 32);
  });

  it("goes from placement to placement by keys, and says each", async () => {
    const { page } = report;
    await page.locator(".stage").focus();
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    await page.keyboard.press("n");
    assert.equal(await page.evaluate(() => makespan.view.chosen.placement), 1);
    assert.match(await page.locator("#status").textContent(), /align_ID0000001/);
    await page.keyboard.press("p");
    assert.equal(await page.evaluate(() => makespan.view.chosen.placement), 0);
    await page.keyboard.press("Escape");
    await page.keyboard.press("0");
  });

  it("saves PNG and SVG", async () => {
    const { page, faults } = report;
    const saved = async (name) => {
      const [file] = await Promise.all([page.waitForEvent("download"), press(page, name)]);
      return readFileSync(await file.path());
    };
    const png = await saved("png");
    assert.deepEqual([...png.subarray(1, 4)], [0x50, 0x4e, 0x47]);
    assert.ok(png.readUInt32BE(16) > 1000);
    const svg = (await saved("svg")).toString();
    assert.ok((await page.evaluate((text) => new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("rect title").length, svg)) >= 60);
    assert.match(svg, /merge_ID0000019/);
    assert.deepEqual(faults.filter((fault) => !fault.startsWith("request blob:")), []);
  });

  it("explains a term where it stands", async () => {
    const { page } = report;
    await page.locator("[data-term=makespan]").focus();
    assert.equal(await page.locator("#meaning").textContent(), "When the last job ends.");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#meaning").isVisible(), false);
  });
});

describe("alternatives", () => {
  it("are shown one at a time", async () => {
    const { page, faults, close } = await openPage(browser, "front");
    assert.equal(await page.evaluate(() => makespan.chart.panels.length), 1);
    await page.locator(".which").selectOption({ label: "with gaps" });
    assert.equal(await page.evaluate(() => makespan.chart.panels[0].schedule), 1);
    // Cards, table and search results belong to the schedule in the chart.
    const cards = page.locator("dl.cards:not([hidden])");
    assert.equal(await cards.count(), 1);
    assert.equal(await cards.getAttribute("data-schedule"), "1");
    const [shown, other] = await page.locator("dl.cards").evaluateAll((all) => all.toReversed().map((cards) => cards.querySelector("dd").firstChild.data));
    assert.notEqual(shown, other, "the makespans of the two");
    await page.locator(".find").fill("merge");
    assert.ok(await page.evaluate(() => makespan.chart.search.found.every(({ schedule }) => schedule === 1)));
    assert.deepEqual(faults, []);
    await close();
  });
});

describe("a run that was far shorter than its plan", () => {
  it("fills the view, and all of the plan is a press away", async () => {
    const { page, faults, close } = await openPage(browser, "short");
    const place = () => page.evaluate(() => [makespan.view.from, makespan.view.to, makespan.schedules[0].makespan, makespan.model.end]);
    const [from, to, happened] = await place();
    assert.ok(from === 0 && to >= happened && to < happened * 1.2, `${from} to ${to} of ${happened}`);
    assert.match(await page.locator(".chart-legend").textContent(), /press Fit for all of the plan/);
    await press(page, "fit");
    const [, whole, , end] = await place();
    assert.equal(whole, end);
    await press(page, "fit");
    assert.ok(Math.abs((await place())[1] - to) < 1e-9 * to);
    assert.deepEqual(faults, []);
    await close();
  });
});

describe("data between nodes", () => {
  it("count where a placement could end later", async () => {
    const { page, faults, close } = await openPage(browser, "transfers");
    const wrong = await page.evaluate(() => {
      const { model, slackOf } = makespan;
      const [schedule] = model.schedules;
      const latest = slackOf(schedule).map((slack, i) => schedule.end[i] + slack);
      const limits = latest.map(() => schedule.makespan);
      const begin = (i) => latest[i] - (schedule.end[i] - schedule.start[i]);
      const nodes = (i) => schedule.intervals(i).map((processor) => model.nodeOf(processor));
      for (let i = 0; i < schedule.count; i++) {
        for (let j = 0; j < schedule.count; j++) {
          if (model.before(schedule.row[j]).includes(schedule.row[i])) {
            // A gigabyte takes a second between any two nodes.
            const far = nodes(i).some((a) => nodes(j).some((b) => a !== b));
            limits[i] = Math.min(limits[i], begin(j) - (far ? 1 : 0));
          }
          const shared = schedule.intervals(i).some((processor) => schedule.holds(j, processor)) || schedule.intervals(j).some((processor) => schedule.holds(i, processor));
          if (i !== j && shared && schedule.start[j] >= schedule.end[i]) limits[i] = Math.min(limits[i], begin(j));
        }
      }
      return Array.from(latest, (end, i) => [schedule.nameAt(i), end, limits[i]]).filter(([, end, limit]) => Math.abs(end - limit) > 1e-6);
    });
    assert.deepEqual(wrong, []);
    assert.deepEqual(faults, []);
    await close();
  });
});

describe("a phone", () => {
  it("shows what is known of a placement that is tapped", async () => {
    const { page, close } = await openPage(browser, "demo", { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
    await page.locator(".stage").scrollIntoViewIfNeeded();
    const box = await page.locator(".stage").boundingBox();
    const at = await page.evaluate(() => {
      const { schedules, point } = makespan;
      const i = Array.from(schedules[0].end, (end, k) => [end - schedules[0].start[k], k]).sort((a, b) => b[0] - a[0])[0][1];
      return point(0, i);
    });
    await page.touchscreen.tap(box.x + at[0], box.y + at[1]);
    await settle(page);
    assert.equal(await page.locator(".chart-tip").isVisible(), true);
    await close();
  });

  it("pans by a finger and zooms by two, and has no page wider than itself", async () => {
    const { page, faults, close } = await openPage(browser, "demo", { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const top = (await page.locator(".stage").boundingBox()).y;
    assert.ok(top < 560, `the chart begins at ${top}`);
    await page.locator(".stage").scrollIntoViewIfNeeded();
    const box = await page.locator(".stage").boundingBox();
    const touch = await page.context().newCDPSession(page);
    const send = (type, ...points) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    const y = box.y + 120;
    await send("touchStart", [150, y], [250, y]);
    for (let k = 1; k <= 6; k++) await send("touchMove", [150 - 10 * k, y], [250 + 10 * k, y]);
    await send("touchEnd");
    await settle(page);
    const near = await page.evaluate(() => ({ ...makespan.view }));
    const all = await page.evaluate(() => makespan.model.end);
    assert.ok(near.to - near.from < 0.7 * all, `${near.to - near.from} of ${all}`);
    await send("touchStart", [280, y]);
    for (let k = 1; k <= 6; k++) await send("touchMove", [280 - 20 * k, y]);
    await send("touchEnd");
    await settle(page);
    const moved = await page.evaluate(() => ({ ...makespan.view }));
    assert.ok(moved.from > near.from);
    assert.deepEqual(faults, []);
    await close();
  });
});
