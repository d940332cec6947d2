"""What the generator does not do by itself to pages: examples are copied as commands alone, and nothing is loaded from elsewhere."""

import html
import re
import sys
from pathlib import Path

from mkdocs.plugins import event_priority

sys.path.insert(0, str(Path(__file__).parent))
from pages import split

BLOCK = re.compile(r'<div class="highlight">(<pre>.*?</pre>)</div>', re.S)
# Where the search runs in a page that was opened as a file, the generator takes its worker from here.
SHIM = "https://unpkg.com/iframe-worker/shim"


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


@event_priority(-200)  # After the plug-ins.
def on_post_build(config, **_) -> None:
    """The page of missing pages is no page for the generator. What the other pages promise is checked."""
    site = Path(config["site_dir"])
    for path in site.glob("*.html"):
        path.write_text(path.read_text().replace(SHIM, "worker.js"))
    problems = [] if (site / "search/search_index.js").is_file() else ["the search needs an index that is a script"]
    for path in site.rglob("*.html"):
        text = path.read_text()
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="(https?:[^"]*)"', text)
        problems += [f"{path.name} loads {address}" for address in loaded]
        copied = re.findall(r'data-copy="([^"]*)"', text)
        problems += [f"{path.name} copies a prompt: {words}" for words in copied if words.startswith(("$ ", "&gt; "))]
    if problems:
        raise SystemExit("\n".join(problems))
