"""What the generator does not do by itself to pages: examples are copied as commands alone, and nothing is loaded from elsewhere."""

import html
import json
import re
import sys
from pathlib import Path

from mkdocs.plugins import event_priority

sys.path.insert(0, str(Path(__file__).parent))
from pages import split

BLOCK = re.compile(r'<div class="highlight">(<pre>.*?</pre>)</div>', re.S)
# Where the search runs in a page that was opened as a file, the generator takes its worker from here.
SHIM = "https://unpkg.com/iframe-worker/shim"
# The search compares nodes of its tree of words by a text of letters and numbers without separators: two children, "1" with number 1 and "2" with
# number 3, give the same text as one child "1" with number 123. It then looks up words that no page has, and fails (issue 279 of lunr.js).
NAMED, NAMED_APART = "e=e+s+o.id", 'e=e+s+o.id+","'


def on_page_content(content: str, **_) -> str:
    """Blocks with prompts tell the button what to copy: no prompts, nothing that was printed."""

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
    """Each term of the glossary is found by its name: the generator finds sections only, and those of the glossary have many terms."""
    path = site / "search/search_index.json"
    index = json.loads(path.read_text())
    rows = re.findall(r'<tr>\s*<td><span id="(term-[^"]*)"></span>(.*?)</td>\s*<td>(.*?)</td>\s*</tr>', (site / "glossary.html").read_text(), re.S)
    plain = lambda text: re.sub(r"<[^>]*>", "", text)
    terms = [{"location": f"glossary.html#{anchor}", "title": plain(term), "text": plain(meaning)} for anchor, term, meaning in rows]
    index["docs"] = [one for one in index["docs"] if one["location"] not in {term["location"] for term in terms}] + terms
    text = json.dumps(index, separators=(",", ":"))
    path.write_text(text)
    path.with_suffix(".js").write_text(f"var __index = {text}")


@event_priority(-200)  # After the plug-ins.
def on_post_build(config, **_) -> None:
    """The page of missing pages is no page for the generator. The search gets the terms. What the pages promise is checked."""
    site = Path(config["site_dir"])
    index_terms(site)
    for path in site.glob("*.html"):
        path.write_text(path.read_text().replace(SHIM, "worker.js"))
    [worker] = site.glob("assets/javascripts/workers/search.*.min.js")
    code = worker.read_text()
    if code.count(NAMED) != 1:
        raise SystemExit(f"{worker.name} of the generator names the nodes of its words in another way: see NAMED in scripts/site/hooks.py")
    worker.write_text(code.replace(NAMED, NAMED_APART))
    problems = [] if (site / "search/search_index.js").is_file() else ["the search needs an index that is a script"]
    for path in site.rglob("*.html"):
        text = path.read_text()
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="(https?:[^"]*)"', text)
        problems += [f"{path.name} loads {address}" for address in loaded]
        copied = re.findall(r'data-copy="([^"]*)"', text)
        problems += [f"{path.name} copies a prompt: {words}" for words in copied if words.startswith(("$ ", "&gt; "))]
    if problems:
        raise SystemExit("\n".join(problems))
