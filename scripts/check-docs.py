#!/usr/bin/env python3
"""Checks the Markdown files of the repository.

usage: check-docs.py [FILE...]

- Lines have at most 100 columns, except in tables, code blocks and around long links.
- Relative links name files that exist, and anchors name headings.
- Paths of the repository in code spans exist; a suffix may be left out. Outside of the guides, so
  do names of sources without their directory.
- Flags in code spans of the guides and the reference are in docs/reference/flags.md.
- Words that have a plainer equivalent (WORDS) are not used outside of code.
- docs/README.md and docs/design/decisions/README.md list all pages beside and below them.
- docs/reference/c-api.md names every function of the headers in zero_rt/.
- docs/reference/config.md names every key of DeepSpeed that an option or a flag takes.
- Each page of docs/contributing ends with the date and the commit at which it was followed.
- docs/design/layout.md names every directory of lib/, lib/Transforms/ and dialects/.
- Every promise of docs/design/promises.md names a test, and tests that are named there exist.
- Each record of docs/design/decisions names, after **Holds.**, files and symbols that occur there.

Prints FILE:LINE: problem, and exits with 1 if there is one."""

import re
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100
# Pages that are not rewritten yet, which are not checked. To be emptied.
NOT_YET = []
# Pages that links may name before they exist. To be emptied.
TO_COME = []
# A pattern, and what to write instead.
WORDS = [
    (r"the house|houses?", "repository, project"),
    (r"rooms?", "directory, space"),
    (r"arrows?(?! keys?)", "dependency, dependency rule"),
    (r"(makes?|made|making|comput(e|es|ed|ing)) again", "recompute"),
    (r"the way of the data", "compilation pipeline"),
    (r"none is smaller", "minimal"),
    (r"bit for bit|to the last bit", "bitwise identical"),
    (r"mend(s|ed)?", "fixed"),
    (r"refus(e|es|ed|ing|al) by name", "an error that names it"),
    (r"nobody", "no ..., not"),
    (r"(is|are|was|be) told", "reports, knows"),
    (r"foretold", "predicted"),
    (r"lies", "is stored, resides, is"),
]
CHECKS = [(re.compile(rf"\b(?:{pattern})\b".replace(" ", r"\s+"), re.I), instead)
          for pattern, instead in WORDS]
PATH = re.compile(r"`((?:lib|include|dialects|runtime|tools|test|scripts|bench|docs|python)/[\w./*-]+)`")
# The name of a source, with or without the end of its path.
SOURCE = re.compile(r"`([\w-]+(?:[/.][\w-]+)*\.(?:cpp|h|td|py|sh|proto|mlir|test|def|js|css))`")
# Files that the contributing guides tell the reader to write.
STAND_INS = ["Gudermann.cpp", "SignSgd.cpp", "CountTransfers.cpp", "count-transfers*.mlir"]
TEST = re.compile(r"`([\w*./-]+\.(?:test|cpp|mlir|py))`")
FLAG = re.compile(r"`(--[a-z][\w-]*\w)(?![\w*-])")
FLAGS_PAGE = ROOT / "docs/reference/flags.md"
# A path of the repository and a symbol in that file.
PLACE = re.compile(r"`([^`]+)`:\s+`([^`]+)`")
FOLLOWED = re.compile(r"Followed on \d{4}-\d\d-\d\d at [0-9a-f]{7,40}\.")
DECISIONS = ROOT / "docs/design/decisions"
LINK = re.compile(r"\[[^][]*\]\(\s*([^()\s]+)(?:\s+\"[^\"]*\")?\s*\)")


def pages():
    skipped = {"build", "third_party", "node_modules"}
    for path in sorted(ROOT.rglob("*.md")):
        parts = path.relative_to(ROOT).parts
        if not any(part.startswith(".") or part in skipped for part in parts):
            yield path


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def is_among(name, patterns):
    return any(fnmatch(name, pattern) for pattern in patterns)


def without_fences(text):
    """The lines of a page, with those of code blocks empty."""
    lines, fence = [], None
    for line in text.splitlines():
        found = re.match(r" *(```+|~~~+)", line)
        if fence is None and found:
            fence = found[1]
            line = ""
        elif fence is not None:
            if found and found[1].startswith(fence):
                fence = None
            line = ""
        lines.append(line)
    return lines


def without_code(text):
    """Replaces code spans, which may span lines, by blanks."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])
    return re.sub(r"(?<!`)(`+)(?!`)((?:[^`]|(?!\1)`)+?)\1(?!`)", blank, text)


def slug_of(title):
    """The anchor of a heading, as GitHub forms it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def anchors_of(path):
    anchors, seen = set(), {}
    for line in without_fences(path.read_text()):
        found = re.match(r"#+ +(.*?) *#*$", line)
        if not found:
            continue
        slug = slug_of(re.sub(r"\[([^][]*)\]\([^()]*\)", r"\1", found[1]))
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        anchors.add(f"{slug}-{count}" if count else slug)
    return anchors


def check_width(lines):
    for number, line in enumerate(lines, 1):
        if len(line) <= WIDTH or line.lstrip().startswith("|"):
            continue
        if len(LINK.sub("[]", line)) > WIDTH and " " in line.strip():
            yield number, f"{len(line)} columns, at most {WIDTH} are allowed"


def check_links(path, lines):
    text = without_code("\n".join(lines))
    for found in LINK.finditer(text):
        target, number = found[1], text.count("\n", 0, found.start(1)) + 1
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        if not goal.is_relative_to(ROOT):
            yield number, f"link '{target}' leaves the repository"
        elif not goal.exists():
            if not is_among(name_of(goal), TO_COME):
                yield number, f"link to '{target}', which does not exist"
        elif anchor and goal.suffix == ".md" and anchor not in anchors_of(goal):
            if not is_among(name_of(goal), NOT_YET):
                yield number, f"link to '{target}', which has no such heading"


def check_paths(lines):
    text = "\n".join(lines)
    for found in PATH.finditer(text):
        name = found[1].rstrip("/")
        if re.search(r"[A-Z]{4}", name) or any(ROOT.glob(name)) or any(ROOT.glob(name + ".*")):
            continue
        yield text.count("\n", 0, found.start()) + 1, f"'{name}' does not exist"


@cache
def sources():
    """Paths of all files of the repository but those of builds, each after a slash."""
    skipped = {"build", "node_modules", "__pycache__"}
    return ["/" + name_of(path) for top in sorted(ROOT.iterdir())
            if top.is_dir() and not top.name.startswith(".") and top.name not in skipped
            for path in top.rglob("*")]


def check_sources(path, lines):
    """Sources that are named as from some directory, such as `Packing.h` or `host/link.h`."""
    if name_of(path).startswith(("docs/guides/", "examples/")):
        return
    text = "\n".join(lines)
    for found in SOURCE.finditer(text):
        name = found[1]
        if re.search(r"[A-Z]{4}", name) or is_among(name, STAND_INS):
            continue
        if not any(file.endswith("/" + name) for file in sources()):
            yield text.count("\n", 0, found.start()) + 1, f"no file is called '{name}'"


def check_flags(path, lines, known):
    text = "\n".join(lines)
    if not is_among(name_of(path), ["README.md", "docs/guides/*.md", "docs/reference/*.md"]):
        return
    for found in FLAG.finditer(text):
        if found[1] not in known:
            yield text.count("\n", 0, found.start()) + 1, f"no tool has the flag {found[1]}"


def check_words(lines):
    text = without_code("\n".join(lines))
    for pattern, instead in CHECKS:
        for found in pattern.finditer(text):
            words = " ".join(found[0].split())
            yield text.count("\n", 0, found.start()) + 1, f"'{words}': write {instead}"


def check_page(path, flags):
    lines = without_fences(path.read_text())
    yield from check_width(lines)
    yield from check_links(path, lines)
    yield from check_paths(lines)
    yield from check_sources(path, lines)
    yield from check_flags(path, lines, flags)
    yield from check_words(lines)


def check_index(index):
    """Checks that the page lists all pages of its directory, and the indices one level below."""
    listed = {(index.parent / target.partition("#")[0]).resolve()
              for target in LINK.findall(index.read_text())}
    inner = [path.parent for path in index.parent.rglob("README.md") if path != index]
    for path in sorted(index.parent.rglob("*.md")):
        is_inner = any(outer in path.parents and path.name != "README.md" for outer in inner)
        if is_inner or path == index or is_among(name_of(path), NOT_YET):
            continue
        if path.resolve() not in listed:
            yield 1, f"does not list {name_of(path)}"


def check_c_api(page):
    headers = sorted((ROOT / "runtime/include/zero_rt").glob("*.h"))
    header = "".join(path.read_text() for path in headers)
    text = page.read_text()
    for function in sorted(set(re.findall(r"\b(zero_rt_\w+)\(", header))):
        if function not in text:
            yield 1, f"does not name {function}()"


def check_config(page):
    text = page.read_text()
    for source in (*ROOT.glob("include/zero/Pipelines/Options/*.h"), *ROOT.glob("tools/zeroc/*.cpp")):
        for key in re.findall(r'fromDeepSpeed\("([\w.]+)"\)', source.read_text()):
            if f"`{key}`" not in text:
                yield 1, f"does not name {key}"


def check_followed(page):
    lines = page.read_text().splitlines()
    if not FOLLOWED.fullmatch(lines[-1]):
        yield len(lines), "expected a line 'Followed on 2026-11-29 at COMMIT.'"


def check_layout(page):
    """Checks that the page names the directories in which a model is compiled."""
    text = page.read_text()
    for folder, form in (("lib", "`lib/{}`"), ("lib/Transforms", "{}"), ("dialects", "{}")):
        for path in sorted((ROOT / folder).iterdir()):
            word = form.format(path.name)
            if path.is_dir() and not re.search(re.escape(word), text.replace("_", ""), re.I):
                yield 1, f"does not name {name_of(path)}"


def check_promises(page):
    """Checks the last column of the tables of tests."""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or set(line) <= set("|-: ") or cells[-1].startswith("test"):
            continue
        tests = TEST.findall(cells[-1])
        if not tests and "none" not in cells[-1] and "unit test" not in cells[-1]:
            yield number, "names no test"
        for test in tests:
            if not any(any(ROOT.glob(where + test)) for where in ("", "test/", "test/**/")):
                yield number, f"test '{test}' does not exist"


def check_place(path, symbol):
    """The problem of a place that a decision holds in, or nothing."""
    if not (ROOT / path).is_file():
        return f"'{path}', which a decision holds in, does not exist"
    if symbol not in (ROOT / path).read_text():
        return f"'{symbol}' does not occur in {path}"
    return None


def check_decisions(page):
    """Checks that each record says where it holds, in files that have the symbols."""
    lines = without_fences(page.read_text())
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    for start, end in zip(starts, starts[1:] + [len(lines)]):
        record = "\n".join(lines[start:end])
        before, _, after = record.partition("\n**Holds.**")
        text = after.partition("\n\n")[0]
        places = PLACE.findall(text)
        if not places or "`" in PLACE.sub("", text):
            yield start + 1, "expected a line '**Holds.** `path`: `symbol`' in the record"
        number = start + before.count("\n") + 2
        for problem in filter(None, (check_place(*place) for place in places)):
            yield number, problem


def main():
    chosen = [Path(name).resolve() for name in sys.argv[1:]]
    problems, flags = [], set(FLAG.findall(FLAGS_PAGE.read_text()))
    for path in chosen or pages():
        if not is_among(name_of(path), NOT_YET):
            problems += [(path, *problem) for problem in check_page(path, flags)]
    if not chosen:
        for index in (ROOT / "docs/README.md", DECISIONS / "README.md"):
            problems += [(index, *problem) for problem in check_index(index)]
        c_api = ROOT / "docs/reference/c-api.md"
        problems += [(c_api, *problem) for problem in check_c_api(c_api)]
        config = ROOT / "docs/reference/config.md"
        problems += [(config, *problem) for problem in check_config(config)]
        for page in sorted(ROOT.glob("docs/contributing/*.md")):
            problems += [(page, *problem) for problem in check_followed(page)]
        layout, promises = ROOT / "docs/design/layout.md", ROOT / "docs/design/promises.md"
        problems += [(layout, *problem) for problem in check_layout(layout)]
        problems += [(promises, *problem) for problem in check_promises(promises)]
        for page in sorted(set(DECISIONS.glob("*.md")) - {DECISIONS / "README.md"}):
            problems += [(page, *problem) for problem in check_decisions(page)]
    for path, number, problem in problems:
        print(f"{name_of(path)}:{number}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
