"""Makes the pages of the documentation site: runs examples, draws figures, writes generated pages, and adapts links.

A page of docs/ is Markdown. Four kinds of blocks contain commands. Each page runs in its own folder with a copy of examples/.

    ```console           lines after "$ " are run, and the following lines are their expected output. A line ".." stands
                         for any lines, and " .." at the end of a line for any rest of the line.
    ```console varies    like console, but figures depend on the machine: only words are compared.
    ```console fails     like console, but the last command must fail.
    ```figure            shows the last file that the commands name. Other lines are its caption.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(console(?: \w+)*|figure)\n(.*?)^```\n", re.M | re.S)
PICTURE = re.compile(r"[\w./-]+\.(?:svg|png|html)\b")
# Time limit for a command, in seconds. The limit is long because the machine may be busy.
LIMIT = 240


@dataclass
class Page:
    """A page with the results of its commands."""

    path: Path
    text: str
    problems: list = field(default_factory=list)
    pictures: dict = field(default_factory=dict)

    def run(self, makespan: Path, folder: Path) -> None:
        """Runs all commands of the page in order, and replaces figure blocks by pictures."""
        place = folder / "page"
        place.mkdir(parents=True)
        shutil.copytree(ROOT / "examples", place / "examples")
        (folder / "home").mkdir()
        environment = {
            "PATH": f"{makespan.parent}:{os.environ['PATH']}",
            "HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "TZ": "UTC",
        }

        def block(match: re.Match) -> str:
            kind, body = match.group(1), match.group(2)
            line = self.text[: match.start()].count("\n") + 1
            if kind == "figure":
                return self.figure(body, line, place, environment)
            return self.example(kind, body, line, place, environment)

        self.text = FENCE.sub(block, self.text)

    def example(self, kind: str, body: str, line: int, place: Path, environment: dict) -> str:
        shown = []
        commands = split(body)
        for at, (command, expected) in enumerate(commands):
            status, printed = execute(command, place, environment)
            fails = "fails" in kind and at == len(commands) - 1
            where = f"{self.path.relative_to(ROOT)}:{line}: $ {command}"
            if (status != 0) != fails:
                self.problems.append(f"{where}\nends with status {status}:\n{printed}")
            if not same(expected, printed, "varies" in kind):
                self.problems.append(f"{where}\nprints\n{printed}")
            whole = printed if ".." not in expected and "varies" not in kind else "".join(f"{l}\n" for l in expected)
            typed = command.replace("\n", "\n> ") if "\\\n" not in command else command
            shown.append(f"$ {typed}\n{whole}")
        return f"```{kind}\n{''.join(shown)}```\n"

    def figure(self, body: str, line: int, place: Path, environment: dict) -> str:
        commands = split(body)
        caption = " ".join(text for _, lines in commands for text in lines)
        for command, _ in commands:
            status, printed = execute(command, place, environment)
            if status != 0:
                self.problems.append(f"{self.path.relative_to(ROOT)}:{line}: $ {command}\nends with {status}:\n{printed}")
        named = PICTURE.findall(commands[-1][0])
        if not named or not (place / named[-1]).is_file():
            self.problems.append(f"{self.path.relative_to(ROOT)}:{line}: this command made no picture: {commands[-1][0]}")
            return ""
        made = "\n".join(f"$ {command}" for command, _ in commands)
        self.pictures[named[-1]] = (place / named[-1]).read_bytes()
        about = f'<figcaption markdown="span">{caption}</figcaption>'
        how = f"<details markdown><summary>The command</summary>\n\n```console\n{made}\n```\n\n</details>"
        if named[-1].endswith(".html"):
            shown = f'<div class="page"><iframe src="{named[-1]}" title="{caption}" loading="lazy"></iframe></div>\n<p><a href="{named[-1]}">Open the page</a></p>'
        else:
            shown = f'<a href="{named[-1]}"><img class="drawn" src="{named[-1]}" alt="{caption}" loading="lazy"></a>'
        return f"<figure markdown>\n{shown}\n{about}\n{how}\n</figure>\n"


def split(body: str) -> list:
    """Returns the commands of a block, each with its expected output."""
    found = []
    continued = False
    for line in body.splitlines():
        if line.startswith("> ") and found and not found[-1][1]:
            # A shell prints `> ` before the second and each later line of a command.
            found[-1][0] += "\n" + line[2:]
        elif continued:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], []])
        elif found:
            found[-1][1].append(line)
        continued = (continued or line.startswith("$ ")) and line.endswith("\\")
    return [(command, lines) for command, lines in found]


def execute(command: str, place: Path, environment: dict) -> tuple:
    """Runs a command in a shell. Returns its status and its output."""
    try:
        ended = subprocess.run(
            ["sh", "-c", command], cwd=place, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT, check=False,
        )
    except subprocess.TimeoutExpired:
        return "timeout", ""
    return ended.returncode, "\n".join(l.rstrip() for l in ended.stdout.decode(errors="replace").splitlines()) + "\n" * bool(ended.stdout)


def same(expected: list, printed: str, varies: bool) -> bool:
    """Returns true if the output matches the expected lines, in which ".." stands for any number of lines."""
    def loose(line: str) -> str:
        # The unit of a time (ms, s, min) depends on its value, so the unit is removed together with the number.
        line = re.sub(r"\d[\d.,]*( (ms|us|s|min|h)\b)?", "#", line) if varies else line
        return " ".join(line.split())

    def pattern_of(line: str) -> str:
        if line.strip() == "..":
            return ".*"
        if line.endswith(" .."):
            return re.escape(loose(line[:-3])) + "[^\n]*\n"
        return re.escape(loose(line) + "\n")

    pattern = "".join(map(pattern_of, expected))
    return re.fullmatch(pattern, "".join(loose(line) + "\n" for line in printed.splitlines()), re.S) is not None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--makespan", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--only", help="only pages whose path contains this")
    options = parser.parse_args()
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages = [Page(path, path.read_text()) for path in paths if not options.only or options.only in str(path)]
    originals = {page.path: page.text for page in pages}
    with tempfile.TemporaryDirectory(prefix="makespan-site-") as scratch:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            work = [pool.submit(page.run, options.makespan.resolve(), Path(scratch) / str(number)) for number, page in enumerate(pages)]
            for one in work:
                one.result()
    problems = [problem for page in pages for problem in page.problems]
    problems += showpiece(pages, options.update)
    if options.update:
        for page in pages:
            update(page.path, originals[page.path], page.text)
    for problem in problems:
        print(problem, file=sys.stderr)
    examples = sum(text.count("\n```console") for text in originals.values())
    figures = sum(text.count("\n```figure") for text in originals.values())
    print(f"{examples} examples, {figures} figures, {len(problems)} problems")
    if options.examples or options.update or problems:
        return 1 if problems and not options.update else 0
    import stage

    stage.write(pages, options.makespan.resolve(), options.work)
    return 0


def showpiece(pages: list, write: bool) -> list:
    """Compares the picture file of README.md with the picture that docs/index.md draws, and updates it if `write` is set."""
    drawn = [page.pictures["plan.svg"] for page in pages if page.path == ROOT / "docs/index.md" and "plan.svg" in page.pictures]
    shown = ROOT / "docs/pictures/plan.svg"
    if not drawn or drawn[0] == shown.read_bytes():
        return []
    if write:
        shown.write_bytes(drawn[0])
        print(f"updated {shown.relative_to(ROOT)}")
        return []
    return ["docs/pictures/plan.svg differs from the picture of docs/index.md; scripts/site/build --update writes it"]


def update(path: Path, before: str, after: str) -> None:
    """Writes the output of examples into a page. Figure blocks stay unchanged."""
    blocks = iter(match.group(0) for match in FENCE.finditer(before) if match.group(1) == "figure")
    text = re.sub(r"<figure markdown>\n.*?</figure>\n", lambda _: next(blocks), after, flags=re.S)
    if text != before:
        path.write_text(text)
        print(f"updated {path.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
