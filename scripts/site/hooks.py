"""Hooks of MkDocs: the site has the Markdown pages of the repository at their own paths.

So links between pages work as they do in the repository, without a copy of the documents.
"""

import logging
import os
import re
import sys
from pathlib import Path

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, InclusionLevel

sys.path.insert(0, str(Path(__file__).parent))

import dialect
import mlir_lexer
import pages

# Messages below this name count as warnings of the build, which --strict makes errors.
log = logging.getLogger("mkdocs.hooks.zero")
REPORT_PAGE = "docs/reference/report.md"
REPORT_PICTURE = "report.png"
# How much more than others a page counts in a search, by the folder that it is in.
SEARCH_BOOST = {"docs/guides/": 4, "docs/design/": 0.5}
SOURCE_BOOST = 0.25


@event_priority(-100)
def on_config(config):
    """Sets navigation and anchors, after the plugins."""
    mlir_lexer.register()
    config.nav = pages.navigation()
    config.mdx_configs["toc"]["slugify"] = lambda title, _: pages.documents.slug_of(title)
    # The plugin "offline" loads a script from another host, for which worker.js stands in.
    config.extra["polyfills"] = ["worker.js"]
    return config


def on_files(files, config):
    """Adds the pages, the sources that they name, and their images."""
    sources, pictures = set(), set()
    for path in pages.documents.pages():
        name = pages.documents.name_of(path)
        text, named = pages.link_sources(name, path.read_text())
        sources |= named
        pictures |= set(pages.images(name, text))
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, pages.API, content=pages.python_api()))
    for name in sorted(sources):
        files.append(File.generated(config, f"{name}.md", content=pages.source_page(name),
                                    inclusion=InclusionLevel.NOT_IN_NAV))
    for name in sorted(pictures):
        files.append(File.generated(config, name, abs_src_path=str(pages.ROOT / name)))
    if report := os.environ.get("ZERO_REPORT"):
        files.append(File.generated(config, "docs/reference/plan.html", abs_src_path=report))
    return files


def search_boost(page):
    """Guides are found before what describes a flag or a decision, and that before sources."""
    if page.file.inclusion == InclusionLevel.NOT_IN_NAV:
        return SOURCE_BOOST
    return next((boost for folder, boost in SEARCH_BOOST.items()
                 if page.file.src_uri.startswith(folder)), 1)


def on_page_markdown(markdown, page, **_):
    """Writes the text for Python-Markdown, and keeps it to compare the page with it."""
    name = page.file.src_uri
    page.meta["search"] = {"boost": search_boost(page)}
    if name == REPORT_PAGE and os.environ.get("ZERO_REPORT"):
        markdown = markdown.replace(f"]({REPORT_PICTURE})",
                                    f"]({REPORT_PICTURE})\n\n[Open this page](plan.html)")
    if page.file.inclusion == InclusionLevel.NOT_IN_NAV or name == pages.API:
        return markdown
    page.source_text = markdown
    return dialect.for_python_markdown(markdown)


def on_page_content(html, page, **_):
    """Compares the page with what CommonMark makes of its text, and marks code that is so short
    that it stays on one line."""
    if text := getattr(page, "source_text", None):
        if problem := dialect.difference(text, html):
            log.warning(f"{page.file.src_uri}: not read as CommonMark: {problem}")
    return re.sub(r"<code>([^<\n]{1,32})</code>", r'<code class="short">\1</code>', html)
