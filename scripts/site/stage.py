"""Writes the pages for the generator: docs/ with links inside the site, and the generated pages."""

import html
import json
import re
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Files outside docs/ that become pages, and the paths of these pages in the site.
OUTSIDE = {"ARCHITECTURE.md": "internals/architecture.md", "CHANGELOG.md": "internals/changelog.md"}
LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
# Search weight of each folder. The search should list instructions first and decision records last.
RANKS = {"start": 4, "how-to": 4, "papers": 4, "concepts": 2, "decisions": 1e-6, "internals": 1e-3}
# Number of characters that fit in a line of the page.
WIDTH = 92
CODE = re.compile(r"^```.*?^```|^(?: {4}[^\n]*\n)+|`[^`\n]*`", re.M | re.S)
# Terms that each page explains at their first occurrence, with explanations from the glossary.
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
        # Removes words such as `varies`, which control how the output of an example is compared.
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
    """Returns the settings. Adds each page that is missing in the navigation to the end of the reference."""
    places = [path.relative_to(docs) for path in sorted(docs.rglob("*.md"))]
    new = [place for place in places if f": {place}\n" not in settings and place.parts[0] != "decisions"]
    heading = lambda place: re.search(r"^# (.*)", (docs / place).read_text(), re.M).group(1)
    titles = {place: heading(place) for place in new}
    lines = "".join(f"      - {json.dumps(titles[place])}: {place}\n" for place in new)
    return settings.replace("      - Limits: limits.md\n", f"{lines}      - Limits: limits.md\n")


def staged(path: Path):
    """Returns the place of a page in the site, or None if the site does not contain it."""
    relative = path.relative_to(ROOT)
    if relative.parts[0] == "docs":
        return Path(*relative.parts[1:])
    return Path(OUTSIDE[str(relative)]) if str(relative) in OUTSIDE else None


def linked(text: str, source: Path) -> str:
    """Changes links to their targets in the site. A link to a file outside the site becomes the name of the file."""
    here = staged(source)

    def link(match: re.Match) -> str:
        mark, words, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return match.group(0)
        named = (source.parent / path).resolve()
        if not named.exists():
            raise SystemExit(f"{source.relative_to(ROOT)}: the target of the link {target} does not exist")
        if named.is_dir():
            named = named / "README.md"
        place = staged(named) if named.is_relative_to(ROOT) else None
        if place is None:
            return words if words.startswith("`") else f"{words} (`{named.relative_to(ROOT)}`)"
        up = "../" * len(here.parent.parts)
        return f"{mark}[{words}]({up}{place}{'#' + anchor if anchor else ''})"

    return outside_code(text, lambda part: LINK.sub(link, part))


def outside_code(text: str, change) -> str:
    """Applies `change` to all text outside code."""
    parts, at = [], 0
    for match in CODE.finditer(text):
        # If the text of a link is code, treat the link as text outside code.
        if text[max(match.start() - 1, 0) : match.start()] == "[":
            continue
        parts += [change(text[at : match.start()]), match.group(0)]
        at = match.end()
    return "".join([*parts, change(text[at:])])


def unbroken(text: str) -> str:
    """Prevents a line break between a number and its percent sign."""
    return outside_code(text, lambda part: re.sub(r"(?<=\d) %", "\u00a0%", part))


def explained(glossary: str) -> dict:
    """Returns the first sentence of the glossary about each term."""
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
    """Returns the glossary with an anchor for each term, for links and the search."""
    anchor = lambda term: re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")

    def row(match: re.Match) -> str:
        first, *others = match.group(1).split(", ")
        return f'| <span id="term-{anchor(first)}"></span>{", ".join([first, *others])} |'

    return re.sub(r"^\| (?!word \||in the paper \||-)([^|]+) \|", row, glossary, flags=re.M)


def told(text: str, terms: dict) -> str:
    """Adds an explanation to the first occurrence of each term in a paragraph."""
    left = dict(terms)

    def paragraph(lines: str) -> str:
        for term in list(left):
            # "Makespan" with a capital letter is the name of the program and not the term.
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
    """Wraps long lines. The continuation of a line begins in the column of its text, which is the second column in a list."""
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
    text = "# The command line\n\nThis page contains the output of `makespan COMMAND --help` and `makespan-lab NAME --help`.\n"
    names = re.findall(r"^  ([a-z][a-z-]*)  ", printed(makespan, "--help").split("Options:")[0], re.M)
    for name in names:
        if name != "help":
            text += help_of(name, makespan, name)
    return text + help_of("makespan-lab", makespan.with_name("makespan-lab"))


def help_of(title: str, program: Path, *words: str) -> str:
    """Returns the help of a command, followed by the help of each of its subcommands."""
    page = printed(program, *words, "--help")
    text = f"\n## {title}\n\n```text\n{wrapped(page.rstrip())}\n```\n"
    inner = page.split("Commands:\n")[1].split("\n\n")[0] if "Commands:\n" in page else ""
    for name in re.findall(r"^  ([a-z][a-z-]*)  ", inner, re.M):
        if name != "help":
            text += f"\n### {title} {name}\n\n```text\n{wrapped(printed(program, *words, name, '--help').rstrip())}\n```\n"
    return text


# Specs of the measured algorithms. None has a time limit, so the figures are the same on every machine.
MEASURED = "optimise[objective=makespan,steps=2000],demt,dual,list[order=shelf],list[order=saf],list[order=smith],sweep,gang,sequential"
INSTANCES = 6


def algorithms(makespan: Path) -> str:
    """Returns a page with every entry of the catalogue, and with the measured quality of some algorithms."""
    entries = json.loads(printed(makespan, "algorithms", "--format", "json"))
    text = "# Algorithms\n\nThis page lists the algorithms of `makespan algorithms`. `makespan algorithms NAME` explains one of them.\n\n## Measured quality\n\n"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        files = []
        for number, family in enumerate(["weak", "high", "mixed", "cirne", "mixed", "cirne"][:INSTANCES]):
            files.append(place / f"{family}-{number}.toml")
            printed(makespan, "generate", "moldable", "--family", family, "--jobs", "60", "--processors", "32", "--seed", str(number), "--output", files[-1])
        printed(makespan, "compare", *files, "--algorithms", MEASURED, "--table", place / "table.md")
        text += (place / "table.md").read_text()
    text += (
        "\nThe table shows ratios of values to proven bounds on six random instances of 60 moldable jobs on 32 processors. Two instances are from each of the families "
        "`mixed` and `cirne`, and one from each of `weak` and `high`. The column *best* counts the instances on which no other algorithm was better. The figures were measured when this page was built.\n"
    )
    kinds = {"scheduler": "Schedulers", "policy": "Policies", "tree policy": "Policies for the nodes of a tree"}
    for kind, heading in kinds.items():
        text += f"\n## {heading}\n"
        for entry in (entry for entry in entries if entry["kind"] == kind):
            plain = lambda words: re.sub(r"doi:(10\.\S+?)(?=[;,.]?(\s|$))", r"[DOI \1](https://doi.org/\1)", words)
            text += f"\n### `{entry['name']}`\n\n{plain(entry['summary'])}\n\n| | |\n|---|---|\n"
            for label, key in (("guarantee", "guarantee"), ("supports", "supports"), ("source", "source")):
                if entry.get(key):
                    text += f"| {label} | {plain(entry[key])} |\n"
            for parameter in entry["parameters"]:
                text += f"| `{parameter['name']}=` | {parameter['values']}; default {parameter['default']} |\n"
    return text
