// Opens generated pages in headless Chromium and records everything that must not happen. MAKESPAN_PAGES: folder of the pages.
// MAKESPAN_MODULES: folder with playwright-core. CHROMIUM: the browser.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The browser driver is installed outside of the sources, so it is loaded from its folder.
const { chromium } = createRequire(`${process.env.MAKESPAN_MODULES}/`)("playwright-core");
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM, headless: true, args: FLAGS });

export const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Opens a page. `faults` collects errors, warnings, dialogs and requests. */
export async function openPage(browser, name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, ...options });
  const page = await context.newPage();
  const address = pathToFileURL(`${process.env.MAKESPAN_PAGES}/${name}.html`).href;
  const faults = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("dialog", (dialog) => {
    faults.push(`dialog ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const allowed = request.url() === address || request.url().startsWith("data:");
    if (!allowed) faults.push(`request ${request.url()}`);
  });
  await page.goto(address);
  await settle(page);
  return { page, faults, close: () => context.close() };
}
