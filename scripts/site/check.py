#!/usr/bin/env python3
"""Checks the pages of a site.

usage: check.py SITE [PAGE...]

- Links lead to files of the site, and their fragments to elements of the page.
- Pages and style sheets load nothing from other hosts; links to other hosts are allowed.
- Each page has a title, one heading of the first level, and no identifier twice.
- The site has each PAGE.

Prints FILE: problem, and exits with 1 if there is one. The last line is the number of pages."""

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

# The attributes with which elements load files; <a href> only leads there.
LOADS = {"src", "srcset", "poster", "data", "background", "action"}
STYLE = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
REMOTE = re.compile(r"(?:[a-z][a-z+.-]*:)?//", re.I)


class Page(HTMLParser):
    """The links, the files to load and the identifiers of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.names, self.titles = [], [], [], 0
        self.heads, self.inside, self.title = 0, None, ""
        self.feed(path.read_text())
        self.close()

    def handle_starttag(self, tag, attributes):
        self.inside, self.heads = tag, self.heads + (tag == "h1")
        for key, value in attributes:
            value = value or ""
            if key in ("id", "name") and (key == "id" or tag == "a"):
                self.names.append((key, value))
            elif key == "href" and tag in ("a", "area"):
                self.links.append(value)
            elif key == "srcset":
                self.loads += [part.split()[0] for part in value.split(",") if part.strip()]
            elif key in LOADS or key == "href":
                self.loads.append(value)
            elif key == "style":
                self.loads += _style_loads(value)

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "title":
            self.title += data.strip()
        elif self.inside == "style":
            self.loads += _style_loads(data)


def _style_loads(text):
    return [first or second for first, second in STYLE.findall(text)]


@cache
def read(path):
    return Page(path)


def check_target(site, path, target):
    """The problem of a link or a file to load that is part of the site, if there is one."""
    file, _, fragment = target.partition("#")
    file = unquote(file.partition("?")[0])
    goal = (path.parent / file).resolve() if file else path
    if file.startswith("/"):
        return f"'{target}' depends on where the site is"
    if not goal.is_relative_to(site) or not goal.exists():
        return f"'{target}' does not exist"
    if goal.is_dir():
        return f"'{target}' is a directory, which a browser lists"
    if fragment and goal.suffix == ".html":
        if unquote(fragment) not in {name for _, name in read(goal).names}:
            return f"'{target}' has no such fragment"
    return None


def check_page(site, path):
    page = read(path)
    for target in page.loads:
        if REMOTE.match(target):
            yield f"loads '{target}' from another host"
        elif not target.startswith("data:") and (problem := check_target(site, path, target)):
            yield problem
    for target in page.links:
        if not re.match(r"[a-z]+:", target) and (problem := check_target(site, path, target)):
            yield problem
    if not page.title:
        yield "has no title"
    if page.heads != 1:
        yield f"expected one <h1>, got {page.heads}"
    identifiers = [name for key, name in page.names if key == "id"]
    for name in sorted({name for name in identifiers if identifiers.count(name) > 1}):
        yield f"has the identifier '{name}' twice"


def check_style(site, path):
    for target in _style_loads(path.read_text()):
        if REMOTE.match(target):
            yield f"loads '{target}' from another host"
        elif not target.startswith(("data:", "#")):
            if problem := check_target(site, path, target):
                yield problem


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    site = Path(sys.argv[1]).resolve()
    # The server sends 404.html for any address, so its links are absolute.
    pages = [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]
    problems = [(page, "is missing") for page in sys.argv[2:] if not (site / page).is_file()]
    for path in pages:
        problems += [(path.relative_to(site), text) for text in check_page(site, path)]
    for path in sorted(site.rglob("*.css")):
        problems += [(path.relative_to(site), text) for text in check_style(site, path)]
    for path, text in problems:
        print(f"{path}: {text}")
    print(f"{len(pages)} pages")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
