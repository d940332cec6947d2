// Wraps the web worker that runs the search of the site generator.
//
// Before a query reaches the search, this file removes "-" from the beginning of words. Otherwise, the search would
// interpret "-" as "without", and users could not find an option such as `--from`. This file also sorts the results.
// If the query is a term, its glossary entry comes first. If the query is an option, the page of the command line
// comes first.
//
// Browsers do not start workers for pages that are opened as files. For such pages, the search runs in a hidden frame.
{
  const COMMANDS = "reference/command-line.html", TERMS = "glossary.html#term-";
  const QUERY = 2, RESULT = 3;
  const Native = window.Worker;

  class Framed extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame;
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const load = (source) => new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, { src: source, onload: done, onerror: failed });
        inside.document.body.append(script);
      });
      inside.importScripts = async (...sources) => {
        for (const source of sources) await load(source);
      };
      this.ready = load(new URL(url, location));
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  }

  // Words that are removed from a query. The index still contains these words, since some are also options: `--from`, `--on`.
  const STOP = new Set("a an and are as at be by can do does for from has have how i if in is it me my of on or so that the this to was what when where which who why will with".split(" "));

  /** Returns the words of a query without operators, except quotation marks around several words. */
  function words(query) {
    const all = query.replace(/[~^*:]/g, " ").trim().split(/\s+/);
    const telling = all.filter((word) => !STOP.has(word.toLowerCase()));
    return (telling.length ? telling : all).map((word) => word.replace(/^("?)[-+]+/, "$1")).filter(Boolean).join(" ");
  }
  const options = (query) => query.match(/(?<![\w-])--?[a-z][a-z-]*/g) ?? [];
  const plain = (html) => html.replace(/<[^>]*>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
  const same = (text) => plain(text).toLowerCase().replace(/[\s-]+/g, " ").trim();
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  /** Returns true if the title of a glossary row, such as "wait, flow time" or "guess (of a search)", contains the term. */
  const defines = (title, term) => plain(title).split(", ").some((name) => same(name.replace(/ \(.*\)$/, "")) === term);

  /** Returns the rank of an entry. Higher ranks come first. An entry that only contains the words of the query has rank 0. */
  function rank(entry, query, asked) {
    if (entry.location.startsWith(TERMS) && defines(entry.title, same(query))) return 4;
    if (!asked.length) return 0;
    const text = plain(`${entry.title} ${entry.text}`);
    if (!asked.every((option) => new RegExp(`(?<![\\w-])${escaped(option)}(?![\\w-])`).test(text))) return 0;
    if (!entry.location.startsWith(COMMANDS)) return 1;
    // If the query is "queue --from", the entry of the command `queue` comes first.
    const named = same(query.replace(/--?[a-z][a-z-]*/g, " "));
    return named && same(entry.title) === named ? 3 : 2;
  }

  const safe = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  /** Returns the help of the options in the query, from the help of a command. */
  function excerpt(text, asked) {
    const parts = plain(text).split(/\n\s*\n/).map((part) => part.trim().replace(/^[A-Z][a-z ]*:\n\s*/, "").split("\n"));
    const told = parts.filter(([first]) => asked.some((option) => first.split(/[\s,]+/).includes(option)));
    const shown = told.map(([first, ...rest]) => `<p><code>${safe(first)}</code><br>${safe(rest.join(" ").replace(/\s+/g, " "))}</p>`);
    return shown.join("").replace(new RegExp(`(?<![\\w-])(${asked.map(escaped).join("|")})(?![\\w-])`, "g"), "<mark>$1</mark>");
  }

  /** Sorts groups of entries by rank. Each group belongs to a page. Groups of equal rank keep their order. */
  function ordered(groups, query) {
    const asked = options(query);
    const ranked = groups.map((group) => {
      const entries = group.map((entry) => ({ entry, rank: rank(entry, query, asked) })).sort((a, b) => b.rank - a.rank);
      const top = entries[0].rank;
      entries.filter((one) => one.rank === 2 || one.rank === 3).forEach(({ entry }) => (entry.text = excerpt(entry.text, asked) || entry.text));
      // The search shows all entries that share the highest score, and hides the other entries behind a link.
      if (top) entries.forEach(({ entry, rank }) => (entry.score = rank === top ? 1e9 : Math.min(entry.score, 1e8)));
      return { group: entries.map(({ entry }) => entry), top };
    });
    return ranked.sort((a, b) => b.top - a.top).map(({ group }) => group);
  }

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.queries = [];
      this.inner = location.protocol === "file:" ? new Framed(url) : new Native(url);
      this.inner.addEventListener("message", ({ data: message }) => {
        const query = message.type === RESULT ? this.queries.shift() : undefined;
        if (query) message = { ...message, data: { ...message.data, items: ordered(message.data.items, query) } };
        this.dispatchEvent(new MessageEvent("message", { data: message }));
      });
    }
    postMessage(message) {
      if (message.type === QUERY) {
        this.queries.push(message.data);
        message = { ...message, data: words(message.data) };
      }
      this.inner.postMessage(message);
    }
    terminate() {
      this.inner.terminate();
    }
  };
  if (location.protocol === "file:") window.IFrameWorker = window.Worker;
}
