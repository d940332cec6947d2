"""What the generator does not do by itself to pages: examples are copied as commands alone, and nothing is loaded from elsewhere."""

import html
import re
import sys
from pathlib import Path

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


def on_post_build(config, **_) -> None:
    """The page of missing pages is no page for the generator."""
    for path in Path(config["site_dir"]).glob("*.html"):
        text = path.read_text()
        if SHIM in text:
            path.write_text(text.replace(SHIM, "worker.js"))
