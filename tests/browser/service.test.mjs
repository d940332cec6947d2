// Tests the page of a real service in headless Chromium as a person would use it. MAKESPAN: the program. MAKESPAN_MODULES: folder
// with playwright-core. CHROMIUM: the browser. Run by scripts/browser-test.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { launch } from "./open.mjs";

const HOSTILE = "<img src=x onerror=alert(1)> \u202e\"'";
const LIMIT = 30000;

let browser;
let store;
let service;
let url;
let port = 0;

/** Starts a service on the store, on the same port as before. */
function start() {
  service = spawn(process.env.MAKESPAN, ["serve", "--store", store, "--listen", `127.0.0.1:${port}`, "--processors", "2", "--oversubscribe", "--no-history"],
    { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((done, failed) => {
    let said = "";
    service.stdout.on("data", (part) => {
      said += part;
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said);
      if (found) { url = found[0]; port = Number(found[1]); done(); }
    });
    service.once("exit", () => failed(new Error(`the service ended: ${said}`)));
  });
}

function stop() {
  return new Promise((done) => { service.removeAllListeners("exit"); service.once("exit", done); service.kill("SIGTERM"); });
}

const token = () => readFileSync(join(store, "token"), "utf8").trim();

function makespan(...words) {
  return execFileSync(process.env.MAKESPAN, words, { env: { ...process.env, MAKESPAN_STORE: store }, encoding: "utf8" });
}

async function api(path, body) {
  const options = { headers: { Authorization: `Bearer ${token()}`, "Content-Type": "application/json" } };
  const answer = await fetch(`${url}/api/v1${path}`, body ? { ...options, method: "POST", body: JSON.stringify(body) } : options);
  assert.ok(answer.ok, `${path}: ${answer.status} ${answer.ok ? "" : await answer.text()}`);
  return answer.json();
}

const command = (script, more = {}) => ({ content: { command: { argv: ["sh", "-c", script] } }, ...more });

/** Opens a view. `faults` collects everything that must not happen. */
async function open(view, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(LIMIT);
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => /Content Security|Refused to/.test(message.text()) && faults.push(message.text()));
  page.on("dialog", (dialog) => (dialog.type() === "confirm" ? dialog.accept() : (faults.push(dialog.message()), dialog.dismiss())));
  page.on("request", (request) => request.url().startsWith(url) || request.url().startsWith("data:") || faults.push(request.url()));
  await page.goto(`${url}/#token=${token()}`);
  await page.waitForSelector("main h1");
  if (view) await page.evaluate((hash) => { location.hash = hash; }, `#/${view}`);
  return { page, faults, close: () => context.close() };
}

/** Waits until a condition holds. */
async function until(isSo) {
  for (const end = Date.now() + LIMIT; !(await isSo());) {
    assert.ok(Date.now() < end, `it does not come so far: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const seen = (page, text) => page.waitForFunction((text) => document.body.innerText.includes(text), text);
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

describe("the page of a service", () => {
  before(async () => {
    store = mkdtempSync(join(tmpdir(), "makespan-service-"));
    browser = await launch();
    await start();
  });
  after(async () => {
    await browser?.close();
    // Jobs outlive the service. The reservation keeps further jobs from starting while the running ones are cancelled.
    const now = Date.now() / 1000;
    await api("/reservations", { name: "end", start: now - 1, end: now + 1e6, processors: [[0, 1]] });
    await until(async () => {
      const { items } = await api("/jobs?state=running&limit=100");
      // A job that has just ended cannot be cancelled.
      try { if (items.length) makespan("cancel", ...items.map(({ number }) => String(number))); } catch { return false; }
      return items.length === 0;
    });
    await stop();
    rmSync(store, { recursive: true, force: true });
  });

  it("asks for a token, keeps it out of the address, and refuses a wrong one", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    await page.fill("#token", "mks_wrong");
    await page.click("button");
    await page.waitForSelector("[role=alert]:not([hidden])");
    await page.fill("#token", token());
    await page.click("button");
    await seen(page, "Plan");
    assert.ok(!page.url().includes(token()));
    await context.close();
    const { page: other, faults, close } = await open();
    assert.ok(!other.url().includes("token"));
    await seen(other, "Commands run as the user");
    assert.deepEqual(faults, []);
    await close();
  });

  it("submits a job and shows it to its end, with its output", async () => {
    const { page, faults, close } = await open("submit");
    await page.fill("textarea", `echo first; until [ -e ${store}/go ]; do sleep 0.1; done; echo last`);
    await page.fill("[name=name]", HOSTILE.replace("\u202e", ""));
    await page.click("button[type=button]");
    await seen(page, "It would start");
    await page.click("button.main");
    await page.click("[role=status] a");
    await page.waitForFunction(() => document.querySelector("h1 .state")?.textContent === "running");
    writeFileSync(join(store, "go"), "");
    await page.waitForFunction(() => document.querySelector("h1 .state")?.textContent === "succeeded");
    await page.waitForFunction(() => document.querySelector("pre").textContent === "first\nlast\n");
    assert.deepEqual(faults, []);
    await close();
  });

  it("cancels a job that runs, and explains one that waits", async () => {
    const long = makespan("submit", "--processors", "2", "--time", "100", "--", "sleep", "100").match(/\d+/)[0];
    const waits = makespan("submit", "--time", "5", "--", "true").match(/\d+/)[0];
    const { page, faults, close } = await open(`job/${waits}`);
    await seen(page, "it needs 1 processor, but only 0 of 2 are free");
    await page.evaluate((job) => { location.hash = `#/job/${job}`; }, long);
    await page.waitForFunction(() => document.querySelector("h1 .state")?.textContent === "running");
    await page.click("text=Cancel");
    await page.waitForFunction(() => document.querySelector("h1 .state")?.textContent === "cancelled");
    assert.deepEqual(faults, []);
    await close();
  });

  it("says what a submission would delay and cost, and keeps nothing", async () => {
    const long = makespan("submit", "--processors", "2", "--time", "100", "--", "sleep", "100").match(/\d+/)[0];
    const waits = makespan("submit", "--processors", "2", "--time", "500", "--", "true").match(/\d+/)[0];
    await until(async () => (await api(`/jobs/${waits}`)).expected_start);
    const before = (await api("/jobs?limit=1")).total;
    const { page, faults, close } = await open("submit");
    await page.fill("textarea", "true");
    await page.fill("[name=processors]", "2");
    await page.fill("[name=time]", "30");
    await page.fill("[name=weight]", "1000");
    await page.click("button[type=button]");
    await seen(page, `job ${waits} would start 30 s later`);
    await seen(page, "what it costs all");
    assert.equal((await api("/jobs?limit=1")).total, before);
    await page.fill("[name=processors]", "3");
    await page.click("button[type=button]");
    await page.waitForSelector("[role=status] .error");
    assert.deepEqual(faults, []);
    await close();
    makespan("cancel", waits, long);
  });

  it("shows the end of a long output, of each task", async () => {
    const job = makespan("submit", "--", "sh", "-c", "yes \u00e9\u00e9\u00e9\u00e9\u00e9 | head -n 50000; echo the last line").match(/\d+/)[0];
    makespan("wait", job);
    const { page, faults, close } = await open(`job/${job}`);
    await page.waitForFunction(() => document.querySelector("pre").textContent.endsWith("\nthe last line\n"));
    await seen(page, `makespan logs ${job}`);
    assert.ok(await page.evaluate(() => document.querySelector("pre").textContent.length) < 70000);
    const tasks = await api("/jobs", { content: { instance: { text: JSON.stringify({ version: 2, jobs: [{ name: "bag", time: 1, count: 3, command: ["sh", "-c", "echo this is {task}"] }] }) } } });
    makespan("wait", String(tasks.jobs[0]));
    await page.evaluate((job) => { location.hash = `#/job/${job}`; }, tasks.jobs[0]);
    await page.waitForFunction(() => document.querySelector("pre").textContent === "this is 0\n");
    await page.selectOption("label select", "2");
    await page.waitForFunction(() => document.querySelector("pre").textContent === "this is 2\n");
    assert.deepEqual(faults, []);
    await close();
  });

  it("lets an admin say what a user may do and reserve processors, and shows the history", async () => {
    const { page, faults, close } = await open("users");
    await page.fill("[name=user]", "carol");
    await page.fill("[name=waiting]", "7");
    await page.click("text=Set what a user may do");
    await page.waitForFunction(() => [...document.querySelectorAll("tr")].some((row) => row.innerText.startsWith("carol") && row.innerText.includes("7")));
    await page.locator("form").nth(1).locator("[name=name]").fill("upkeep");
    await page.fill("[name=start]", "2040-01-01T10:00");
    await page.fill("[name=end]", "2040-01-01T12:00");
    await page.locator("form").nth(1).locator("[name=processors]").fill("0-1");
    await page.click("text=Reserve >> nth=-1");
    await seen(page, "upkeep");
    await page.evaluate(() => { location.hash = "#/plan"; });
    await seen(page, "processors 0-1: reserved for upkeep");
    await page.waitForSelector(".chart canvas");
    await page.evaluate(() => { location.hash = "#/users"; });
    await page.click("text=Take back");
    await seen(page, "No processors are reserved.");
    await page.evaluate(() => { location.hash = "#/history"; });
    await page.waitForFunction(() => document.querySelectorAll(".pair svg").length === 5);
    assert.deepEqual(faults, []);
    await close();
  });

  it("goes on when the service was restarted", async () => {
    const job = makespan("submit", "--", "sh", "-c", `until [ -e ${store}/up ]; do sleep 0.1; done; echo done`).match(/\d+/)[0];
    const { page, close } = await open(`job/${job}`);
    await page.waitForFunction(() => document.querySelector("h1 .state")?.textContent === "running");
    await stop();
    await seen(page, "does not answer");
    await start();
    writeFileSync(join(store, "up"), "");
    await page.waitForFunction(() => document.querySelector("h1 .state")?.textContent === "succeeded");
    await page.waitForFunction(() => document.getElementById("trouble").hidden);
    await close();
  });

  it("shows thousands of jobs page by page, and names as text", async () => {
    const held = Array.from({ length: 2000 }, (_, at) => command("true", { hold: true, name: at === 0 ? HOSTILE : `held ${at}` }));
    await api("/jobs", { submissions: held });
    const { page, faults, close } = await open("queue");
    await seen(page, "2,000 jobs");
    await seen(page, "<img src=x");
    assert.equal(await page.locator("tbody tr").count(), 100);
    await page.click("text=Next page");
    await seen(page, "held 150");
    await page.fill("[type=search]", "held 1999");
    await page.keyboard.press("Enter");
    await seen(page, "1 job");
    await page.evaluate(() => { location.hash = "#/plan"; });
    await seen(page, "held");
    assert.deepEqual(faults, []);
    await close();
  });

  it("draws a plan of two thousand jobs, which can be moved by keys", async () => {
    const waiting = Array.from({ length: 2000 }, (_, at) => ({ content: { command: { argv: ["sleep", "600"], needs: { time: 60 + at } } } }));
    await api("/jobs", { submissions: waiting });
    const { page, faults, close } = await open("plan");
    await page.waitForFunction(() => document.querySelector(".stage")?.chart.model.schedules[0].states.filter((state) => state === "waiting").length > 1500);
    const shown = () => page.evaluate(() => {
      const { view } = document.querySelector(".stage").chart;
      return view.to - view.from;
    });
    const before = await shown();
    await page.focus(".stage");
    for (const key of ["+", "+", "+", "ArrowRight"]) await page.keyboard.press(key);
    assert.ok(await shown() < before / 2);
    assert.match(await page.locator(".chart-legend").textContent(), /waiting/);
    // Enter opens the chosen job.
    await page.keyboard.press("n");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("main h1")?.textContent.startsWith("Job"));
    await page.evaluate(() => { location.hash = "#/queue"; });
    await page.waitForFunction(() => document.querySelector("main h1")?.textContent === "Queue");
    await page.fill("[type=search]", "sleep 600");
    await page.keyboard.press("Enter");
    await seen(page, "2,000 jobs");
    assert.deepEqual(faults, []);
    await close();
  });

  it("fits a phone, in the dark, and the keyboard", async () => {
    const views = ["plan", "queue", "job/1", "submit", "history", "users"];
    for (const colorScheme of ["light", "dark"]) {
      const { page, faults, close } = await open("plan", { viewport: { width: 390, height: 800 }, colorScheme });
      for (const view of views) {
        await page.evaluate((hash) => { location.hash = hash; }, `#/${view}`);
        await page.waitForTimeout(600);
        assert.ok(await overflow(page) <= 0, `${view} is wider than a phone`);
        if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/${view.replace("/", "-")}-phone-${colorScheme}.png`, fullPage: true });
      }
      assert.deepEqual(faults, []);
      await close();
      const wide = await open("plan", { colorScheme });
      for (const view of process.env.PICTURES ? views : []) {
        await wide.page.evaluate((hash) => { location.hash = hash; }, `#/${view}`);
        await wide.page.waitForTimeout(600);
        await wide.page.screenshot({ path: `${process.env.PICTURES}/${view.replace("/", "-")}-${colorScheme}.png`, fullPage: true });
      }
      await wide.close();
    }
    const { page, close } = await open("plan");
    await page.focus(".skip");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash === "#/queue");
    await close();
  });
});
