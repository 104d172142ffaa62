"""Checks pages that tools write: zeroc --report and zero-sim --html."""

import base64
import hashlib
import re
from html.parser import HTMLParser


class Page(HTMLParser):
    """Elements of the page, the texts of its scripts, and its policy."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.unmatched, self.scripts, self.policy = [], [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attrs = dict(attrs)
        assert not {"src", "href", "onclick", "onload"} & attrs.keys(), (tag, attrs)
        if tag != "meta":
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unmatched.append(tag)


def data_of(text):
    """The JSON of a page, which is one file without dependencies. Names in the JSON are not markup, and
    only the one script of the page may run."""
    page = Page(text)
    assert not page.open and not page.unmatched, (page.open, page.unmatched)
    data, script = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert page.policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert not re.search(r"https?://(?!www.w3.org/2000/svg)|@import|url\(", text)
    assert "<" not in data and "b" not in page.tags
    assert "{{data}}" not in text and not re.search(r"@\w+@", text)
    return data
