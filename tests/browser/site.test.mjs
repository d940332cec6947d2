// Tests the search of the documentation site, opened as files and from a server. MAKESPAN_SITE: the folder of the site.

import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch } from "./open.mjs";

const site = process.env.MAKESPAN_SITE;
const KINDS = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".css": "text/css", ".svg": "image/svg+xml" };
let browser, server;

before(async () => {
  browser = await launch();
  server = createServer((request, answer) => {
    const path = new URL(request.url, "http://localhost").pathname;
    const file = createReadStream(join(site, path));
    file.on("error", () => answer.writeHead(404).end());
    file.on("open", () => answer.writeHead(200, { "content-type": KINDS[extname(path)] ?? "application/octet-stream" }));
    file.pipe(answer);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
});
after(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});

/** Searches the site. Returns the heading of each page found, with the headings of its visible sections. */
async function asked(page, query) {
  const field = page.locator("input[name=query]");
  await field.fill("");
  await page.locator(".md-search-result__item").first().waitFor({ state: "detached" });
  await field.pressSequentially(query);
  // The search runs after each letter, so the results for the whole query come last.
  await page.waitForTimeout(600);
  await page.locator(".md-search-result__item").first().waitFor();
  return page.$$eval(".md-search-result__item", (items) =>
    items.map((item) => [...item.querySelectorAll(":scope > a")].map((link) => link.querySelector("h1, h2").textContent)));
}

for (const how of ["files", "a server"]) {
  test(`the search of a site of ${how} finds options, terms and papers`, async () => {
    const page = await browser.newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(message.text()));
    await page.goto(how === "files" ? pathToFileURL(join(site, "index.html")).href : `http://127.0.0.1:${server.address().port}/index.html`);
    await page.locator("input[name=query]").click();
    for (const [query, command] of [["--gantt", "plan"], ["--report", "plan"], ["queue --from", "queue"], ["--from", "queue"]]) {
      const [first, second] = await asked(page, query);
      assert.equal(first[0], "The command line", query);
      assert.ok(first.includes(command), `${query}: ${first}`);
      assert.ok(second, `${query} is also elsewhere`);
    }
    assert.deepEqual((await asked(page, "queue --from"))[0], ["The command line", "queue"], "the command that is named");
    const told = await page.locator(".md-search-result__item a").nth(1).innerText();
    assert.ok(told.includes("--from") && told.length < 800, `only the option is told of: ${told}`);
    for (const term of ["bounded slowdown", "Makespan", "policy", "flow time", "utilisation", "stretch", "critical path"]) {
      const [[first, row]] = await asked(page, term);
      assert.equal(first, "Glossary", term);
      assert.equal(row, term === "flow time" ? "wait, flow time" : term.toLowerCase());
    }
    const papers = (await asked(page, "DEMT")).slice(0, 2).flat();
    assert.ok(papers.includes("Papers that are reproduced") && papers.includes("DEMT"), papers);
    assert.equal((await asked(page, "how do I compare algorithms"))[0][0], "How to compare algorithms");
    // The query is invalid in the language of the search.
    assert.ok((await asked(page, "tree^ ~x: --")).length > 0);
    assert.deepEqual(faults, []);
    await page.close();
  });
}
