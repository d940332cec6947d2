"""Hooks of MkDocs. The copy button copies only the commands of an example, and pages load nothing from other servers."""

import html
import json
import re
import sys
from pathlib import Path

from mkdocs.plugins import event_priority

sys.path.insert(0, str(Path(__file__).parent))
from pages import split

BLOCK = re.compile(r'<div class="highlight">(<pre>.*?</pre>)</div>', re.S)
# The address from which a page loads a script for the search worker if the page is opened as a file.
SHIM = "https://unpkg.com/iframe-worker/shim"
# The search stores words in a tree. It identifies a node by the letters and numbers of the children of the node, without separators. So two children,
# "1" with number 1 and "2" with number 3, look like one child "1" with number 123. The search then finds words that no page contains, and fails
# (lunr.js issue 279). The hook replaces the code NAMED by NAMED_APART, which adds a separator.
NAMED, NAMED_APART = "e=e+s+o.id", 'e=e+s+o.id+","'


def on_page_content(content: str, **_) -> str:
    """Marks the commands of each block with prompts, so that the copy button omits prompts and output."""

    def block(match: re.Match) -> str:
        text = html.unescape(re.sub(r"<[^>]*>", "", match.group(1)))
        if not text.startswith("$ "):
            return match.group(0)
        commands = "\n".join(command for command, _ in split(text))
        return f'<div class="highlight" data-copy="{html.escape(commands)}">{match.group(1)}</div>'

    return BLOCK.sub(block, content)


def on_post_page(output: str, page, **_) -> str:
    up = "../" * page.file.dest_uri.count("/")
    return output.replace(SHIM, f"{up}worker.js")


def index_terms(site: Path) -> None:
    """Adds each term of the glossary to the search index. The generator indexes only sections, and a section of the glossary has many terms."""
    path = site / "search/search_index.json"
    index = json.loads(path.read_text())
    rows = re.findall(r'<tr>\s*<td><span id="(term-[^"]*)"></span>(.*?)</td>\s*<td>(.*?)</td>\s*</tr>', (site / "glossary.html").read_text(), re.S)
    plain = lambda text: re.sub(r"<[^>]*>", "", text)
    terms = [{"location": f"glossary.html#{anchor}", "title": plain(term), "text": plain(meaning)} for anchor, term, meaning in rows]
    index["docs"] = [one for one in index["docs"] if one["location"] not in {term["location"] for term in terms}] + terms
    text = json.dumps(index, separators=(",", ":"))
    path.write_text(text)
    path.with_suffix(".js").write_text(f"var __index = {text}")


@event_priority(-200)  # Run after the plug-ins.
def on_post_build(config, **_) -> None:
    """Adds the glossary to the search, repairs the search worker, and checks that pages load nothing and copy no prompts."""
    site = Path(config["site_dir"])
    index_terms(site)
    for path in site.glob("*.html"):
        path.write_text(path.read_text().replace(SHIM, "worker.js"))
    [worker] = site.glob("assets/javascripts/workers/search.*.min.js")
    code = worker.read_text()
    if code.count(NAMED) != 1:
        raise SystemExit(f"{worker.name} of the generator has changed; adapt NAMED in scripts/site/hooks.py")
    worker.write_text(code.replace(NAMED, NAMED_APART))
    problems = [] if (site / "search/search_index.js").is_file() else ["search/search_index.js is missing; the search needs it in pages that are opened as files"]
    for path in site.rglob("*.html"):
        text = path.read_text()
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="(https?:[^"]*)"', text)
        problems += [f"{path.name} loads {address}" for address in loaded]
        copied = re.findall(r'data-copy="([^"]*)"', text)
        problems += [f"{path.name} copies a prompt: {words}" for words in copied if words.startswith(("$ ", "&gt; "))]
    if problems:
        raise SystemExit("\n".join(problems))
