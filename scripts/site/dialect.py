"""Pages as GitHub reads them (CommonMark with tables), written for Python-Markdown.

Python-Markdown wants four columns of indentation in list items, an empty line before a list or a
table and after an item of several paragraphs, one word after the fence of a code block, and no
escaped bars in code.
"""

import html
import re
from html.parser import HTMLParser

from markdown_it import MarkdownIt

PARSER = MarkdownIt("commonmark").enable("table")
MARKER = re.compile(r"( *)(?:[-*+]|\d+[.)])( +|$)")
# Elements that both must have in the same order.
COMPARED = {"h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "table", "tr", "th", "td", "pre",
            "code", "a", "img", "em", "strong", "blockquote", "hr"}


def _indent(lines, items):
    """Moves what belongs to list items to multiples of four columns.

    items: the first line and the line after the last of each item, outer ones first.
    """
    depth, column = [0] * len(lines), [0] * len(lines)
    for start, end in items:
        width = len(MARKER.match(lines[start])[0])
        for number in range(start + 1, end):
            depth[number], column[number] = depth[number] + 1, width
    for number, line in enumerate(lines):
        blanks = len(line) - len(line.lstrip(" "))
        if depth[number] and line.strip():
            lines[number] = " " * 4 * depth[number] + line[min(blanks, column[number]):]


def _code_with_bars(line):
    """Writes code with escaped bars as HTML."""
    def element(found):
        code = html.escape(found[2].strip().replace("\\|", "|"), quote=False)
        return f"<code>{code.replace('|', '&#124;')}</code>"
    return re.sub(r"(?<!`)(`+)(?!`)((?:(?!\1).)*\\\|(?:(?!\1).)*)\1(?!`)", element, line)


def for_python_markdown(text):
    """The text with the same meaning in Python-Markdown."""
    lines, tokens = text.splitlines(), PARSER.parse(text)
    breaks = set()
    for token in tokens:
        if token.type == "fence":
            first, end = token.map
            if info := token.info.strip():
                lines[first] = lines[first].replace(info, info.split()[0])
            breaks |= {end} if token.level else set()
        elif token.type == "list_item_open":
            first, end = token.map
            breaks |= set() if all(line.strip() for line in lines[first:end]) else {end}
        elif token.type == "tr_open":
            first = token.map[0]
            lines[first] = _code_with_bars(lines[first])
        elif token.level == 0 and token.type in ("bullet_list_open", "ordered_list_open",
                                                 "table_open"):
            breaks.add(token.map[0])
    _indent(lines, [token.map for token in tokens if token.type == "list_item_open"])
    return "\n".join(f"\n{line}" if number in breaks else line
                     for number, line in enumerate(lines)) + "\n"


class _Outline(HTMLParser):
    """The elements of a text in order, and its words."""

    def __init__(self, page):
        super().__init__()
        self.parts, self.ignored = [], None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag == "a" and "headerlink" in (dict(attributes).get("class") or ""):
            self.ignored = tag
        elif tag in COMPARED:
            self.parts.append(f"<{tag}>")

    def handle_endtag(self, tag):
        if tag == self.ignored:
            self.ignored = None

    def handle_data(self, data):
        if not self.ignored:
            self.parts += data.split()


def _letters(parts):
    """Elements, and the text between them without spaces: highlighting divides words."""
    return "".join(f"\n{part}\n" if re.fullmatch(r"<\w+>", part) else part
                   for part in parts).split()


def difference(text, page):
    """Where the page differs from what CommonMark makes of its text; None if it does not."""
    wanted, got = (_letters(_Outline(page).parts) for page in (PARSER.render(text), page))
    for expected, found in zip(wanted + [""], got + [""]):
        if expected != found:
            return f"expected '{expected[:200]}', got '{found[:200]}'"
    return None
