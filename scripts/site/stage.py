"""Writes the pages as the generator takes them: docs/ with links that stay within the site, and what is generated."""

import html
import json
import re
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Pages of the project that lie outside docs/, and where they stand in the site.
OUTSIDE = {"ARCHITECTURE.md": "internals/architecture.md", "CHANGELOG.md": "internals/changelog.md"}
LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
# How much the search makes of pages: who looks for a word wants to do something first, and why it was decided last.
RANKS = {"start": 4, "how-to": 4, "papers": 4, "concepts": 2, "decisions": 1e-6, "internals": 1e-3}
# As many characters fit in a line of the page.
WIDTH = 92
CODE = re.compile(r"^```.*?^```|^(?: {4}[^\n]*\n)+|`[^`\n]*`", re.M | re.S)
# Words that a newcomer meets first, explained at their first place on a page; the glossary has the explanations.
TERMS = [
    "allotment", "backfilled", "best effort", "bounded slowdown", "certificate", "compound job", "critical chain", "critical path", "dominated",
    "makespan", "moldable", "monotone", "pilot", "policy", "rigid", "steady state", "stretch", "utilisation", "walltime", "weighted completion",
]


def write(pages: list, makespan: Path, work: Path) -> None:
    docs = work / "docs"
    shutil.rmtree(docs, ignore_errors=True)
    shutil.copytree(ROOT / "docs", docs)
    terms = explained((ROOT / "docs/glossary.md").read_text())
    for page in pages:
        place = staged(page.path)
        if place is None:
            continue
        # How an example is compared is nothing for readers.
        text = re.sub(r"^```console \w[\w ]*$", "```console", linked(page.text, page.path), flags=re.M)
        name = place.name
        if name == "glossary.md":
            text = anchored(text)
        elif name != "formats.md":
            text = told(text, terms)
        (docs / place).write_text(unbroken(text))
        for picture, content in page.pictures.items():
            target = (docs / place).parent / picture
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    for source, target in OUTSIDE.items():
        (docs / target).parent.mkdir(exist_ok=True)
        (docs / target).write_text(linked((ROOT / source).read_text(), ROOT / source))
    generated = docs / "reference"
    generated.mkdir(exist_ok=True)
    (generated / "command-line.md").write_text(command_line(makespan))
    (generated / "algorithms.md").write_text(algorithms(makespan))
    for path in docs.rglob("*.md"):
        rank = RANKS.get(path.relative_to(docs).parts[0])
        if rank:
            path.write_text(f"---\nsearch:\n  boost: {rank:f}\n---\n{path.read_text()}")
    here = Path(__file__).parent
    for name in ("style.css", "worker.js"):
        (docs / name).write_text((here / name).read_text())
    (work / "mkdocs.yml").write_text(navigated((here / "mkdocs.yml").read_text(), docs).replace("HOOKS", str(here / "hooks.py")))


def navigated(settings: str, docs: Path) -> str:
    """The settings, with pages that nobody has put into the navigation behind those of the reference."""
    places = [path.relative_to(docs) for path in sorted(docs.rglob("*.md"))]
    new = [place for place in places if f": {place}\n" not in settings and place.parts[0] != "decisions"]
    heading = lambda place: re.search(r"^# (.*)", (docs / place).read_text(), re.M).group(1)
    titles = {place: heading(place) for place in new}
    lines = "".join(f"      - {json.dumps(titles[place])}: {place}\n" for place in new)
    return settings.replace("      - Limits: limits.md\n", f"{lines}      - Limits: limits.md\n")


def staged(path: Path):
    """Where a page of the project stands in the site, if it does."""
    relative = path.relative_to(ROOT)
    if relative.parts[0] == "docs":
        return Path(*relative.parts[1:])
    return Path(OUTSIDE[str(relative)]) if str(relative) in OUTSIDE else None


def linked(text: str, source: Path) -> str:
    """Links to other pages as they are called in the site; a link to a file that is no page becomes its name."""
    here = staged(source)

    def link(match: re.Match) -> str:
        mark, words, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return match.group(0)
        named = (source.parent / path).resolve()
        if not named.exists():
            raise SystemExit(f"{source.relative_to(ROOT)}: the link to {target} leads nowhere")
        if named.is_dir():
            named = named / "README.md"
        place = staged(named) if named.is_relative_to(ROOT) else None
        if place is None:
            return words if words.startswith("`") else f"{words} (`{named.relative_to(ROOT)}`)"
        up = "../" * len(here.parent.parts)
        return f"{mark}[{words}]({up}{place}{'#' + anchor if anchor else ''})"

    return outside_code(text, lambda part: LINK.sub(link, part))


def outside_code(text: str, change) -> str:
    """Changes what is no code."""
    parts, at = [], 0
    for match in CODE.finditer(text):
        # A link whose words are code is a link.
        if text[max(match.start() - 1, 0) : match.start()] == "[":
            continue
        parts += [change(text[at : match.start()]), match.group(0)]
        at = match.end()
    return "".join([*parts, change(text[at:])])


def unbroken(text: str) -> str:
    """No line ends between a number and its percent sign."""
    return outside_code(text, lambda part: re.sub(r"(?<=\d) %", "\u00a0%", part))


def explained(glossary: str) -> dict:
    """The first sentence that the glossary says of each of the terms."""
    found = {}
    for row in re.findall(r"^\| ([^|]+) \| (.+) \|$", glossary, re.M):
        for term in TERMS:
            inside = re.search(rf"\*\*{term}\*\*: (?:it is )?([^.]*)", row[1])
            if inside or term in [word.strip() for word in row[0].split(",")]:
                sentence = inside.group(1) if inside else re.split(r"(?<=[a-z)])\. ", row[1])[0]
                found.setdefault(term, re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", sentence).rstrip(". "))
    missing = [term for term in TERMS if term not in found]
    if missing:
        raise SystemExit(f"docs/glossary.md does not explain: {', '.join(missing)}")
    return found


def anchored(glossary: str) -> str:
    """The glossary with a place for each term, which links and the search lead to."""
    anchor = lambda term: re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")

    def row(match: re.Match) -> str:
        first, *others = match.group(1).split(", ")
        return f'| <span id="term-{anchor(first)}"></span>{", ".join([first, *others])} |'

    return re.sub(r"^\| (?!word \||in the paper \||-)([^|]+) \|", row, glossary, flags=re.M)


def told(text: str, terms: dict) -> str:
    """Explains each term where a paragraph first has it."""
    left = dict(terms)

    def paragraph(lines: str) -> str:
        for term in list(left):
            # A capital Makespan is the program.
            begin = term[0] if term == "makespan" else f"[{term[0]}{term[0].upper()}]"
            pattern = re.compile(rf"(?<![\w\[`*<>/-])({begin}{term[1:]}s?)(?![\w\]`*<>=/-])(?![^<\[]*[>\]])")
            changed = pattern.sub(lambda m: f'<abbr title="{html.escape(left[term])}">{m.group(1)}</abbr>', lines, count=1)
            if changed != lines:
                del left[term]
                lines = changed
        return lines

    def prose(part: str) -> str:
        blocks = re.split(r"(\n\s*\n)", part)
        plain = lambda block: not re.match(r"\s*(#|\||<|\d+\. |!)", block)
        return "".join(paragraph(block) if plain(block) else block for block in blocks)

    return outside_code(text, prose)


def printed(*command) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin", "NO_COLOR": "1"}).stdout


def wrapped(text: str) -> str:
    """Lines that fit, each as far to the right as its text begins, which in a list is its second column."""
    lines = []
    for line in text.splitlines():
        column = re.match(r"\s*(?:\S+ )*\S+ {2,}(?=\S)", line) if line.startswith("  ") else None
        indent = column.end() if column and column.end() < WIDTH // 2 else len(line) - len(line.lstrip())
        parts = textwrap.wrap(
            line, WIDTH, subsequent_indent=" " * indent, replace_whitespace=False, break_long_words=False, break_on_hyphens=False
        )
        lines += parts or [""]
    return "\n".join(lines)


def command_line(makespan: Path) -> str:
    text = "# The command line\n\nWhat `makespan COMMAND --help` and `makespan-lab NAME --help` print.\n"
    names = re.findall(r"^  ([a-z][a-z-]*)  ", printed(makespan, "--help").split("Options:")[0], re.M)
    for name in names:
        if name != "help":
            text += help_of(name, makespan, name)
    return text + help_of("makespan-lab", makespan.with_name("makespan-lab"))


def help_of(title: str, program: Path, *words: str) -> str:
    """The help of a command, and below it that of each of its own commands."""
    page = printed(program, *words, "--help")
    text = f"\n## {title}\n\n```text\n{wrapped(page.rstrip())}\n```\n"
    inner = page.split("Commands:\n")[1].split("\n\n")[0] if "Commands:\n" in page else ""
    for name in re.findall(r"^  ([a-z][a-z-]*)  ", inner, re.M):
        if name != "help":
            text += f"\n### {title} {name}\n\n```text\n{wrapped(printed(program, *words, name, '--help').rstrip())}\n```\n"
    return text


# Specs that plan without a clock, so that the figures are the same on every machine.
MEASURED = "optimise[objective=makespan,steps=2000],demt,dual,list[order=shelf],list[order=saf],list[order=smith],sweep,gang,sequential"
INSTANCES = 6


def algorithms(makespan: Path) -> str:
    """Every entry of the catalogue, and how good the plans of some are."""
    entries = json.loads(printed(makespan, "algorithms", "--format", "json"))
    text = "# Algorithms\n\nWhat `makespan algorithms` lists. `makespan algorithms NAME` explains one.\n\n## Measured quality\n\n"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        files = []
        for number, family in enumerate(["weak", "high", "mixed", "cirne", "mixed", "cirne"][:INSTANCES]):
            files.append(place / f"{family}-{number}.toml")
            printed(makespan, "generate", "moldable", "--family", family, "--jobs", "60", "--processors", "32", "--seed", str(number), "--output", files[-1])
        printed(makespan, "compare", *files, "--algorithms", MEASURED, "--table", place / "table.md")
        text += (place / "table.md").read_text()
    text += (
        "\nRatios are of values to proven bounds, over drawn sets of 60 moldable jobs on 32 processors, two of the families `mixed` and `cirne` and one of `weak` and `high`; "
        "*best* is on how many of them nobody was better. Measured when this page was built.\n"
    )
    kinds = {"scheduler": "Schedulers", "policy": "Policies", "tree policy": "Policies of nodes of a tree"}
    for kind, heading in kinds.items():
        text += f"\n## {heading}\n"
        for entry in (entry for entry in entries if entry["kind"] == kind):
            plain = lambda words: re.sub(r"doi:(10\.\S+?)(?=[;,.]?(\s|$))", r"[DOI \1](https://doi.org/\1)", words)
            text += f"\n### `{entry['name']}`\n\n{plain(entry['summary'])}\n\n| | |\n|---|---|\n"
            for label, key in (("guarantee", "guarantee"), ("takes", "supports"), ("source", "source")):
                if entry.get(key):
                    text += f"| {label} | {plain(entry[key])} |\n"
            for parameter in entry["parameters"]:
                text += f"| `{parameter['name']}=` | {parameter['values']}; default {parameter['default']} |\n"
    return text
