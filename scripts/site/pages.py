"""Which pages the site has, in which order, and what they link to."""

import ast
import importlib.util
import os
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

import docstrings

ROOT = Path(__file__).resolve().parents[2]
API = "docs/reference/python-api.md"


def _load(path):
    spec = importlib.util.spec_from_file_location(path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


documents = _load(ROOT / "scripts/check-docs.py")


# Code spans that are paths of the repository, outside of links.
SOURCE = re.compile(rf"(?<!\[){documents.PATH.pattern}(?!\])")


def title_of(name):
    """The heading of a page of the repository."""
    return re.search(r"^# +(.*)", (ROOT / name).read_text(), re.M)[1]


def _linked_pages(name, text):
    """The pages that a text links to, by their names in the repository, in order."""
    for target in documents.LINK.findall(text):
        if not re.match(r"[a-z]+:|#", target):
            goal = os.path.normpath(Path(name).parent / target.partition("#")[0])
            if goal.endswith(".md"):
                yield goal


def _entry(name, seen):
    """A page, with the pages that it lists if it is the index of its directory."""
    seen.add(name)
    if Path(name).name != "README.md":
        return name
    inner = [page for page in _linked_pages(name, (ROOT / name).read_text())
             if Path(page).parent == Path(name).parent]
    below = [_entry(page, seen) for page in dict.fromkeys(inner) if page not in seen]
    return {title_of(name): [name, *below]} if below else name


def navigation(index="docs/README.md"):
    """The sections of the index, each with the pages that it links to, in its order.

    A page is in the section that names it first. The reference of the Python module, which is
    made from docstrings, follows the page of the module."""
    _, *sections = re.split(r"^## +", (ROOT / index).read_text(), flags=re.M)
    seen, tree = {"README.md", index}, [{"Home": ["README.md", index]}]
    for section in sections:
        entries = []
        for page in _linked_pages(index, section):
            if page not in seen:
                entries.append(_entry(page, seen))
                entries += [API] if page == "python/README.md" else []
        if entries:
            tree.append({section.partition("\n")[0]: entries})
    return tree


def _definitions(file):
    """The names that a module defines; what it imports is defined elsewhere."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def _modules(package):
    """Pairs of the name of each module, such as zero.names, and its file."""
    for file in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = file.relative_to(package.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def _constants(init):
    """The values of the names that a module assigns at its head, as syntax."""
    return {node.targets[0].id: node.value for node in init.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}


def _public(node, constants):
    """The names in `__all__`, which may contain `*NAMES` of a list or a dictionary."""
    for item in node.keys if isinstance(node, ast.Dict) else node.elts:
        if isinstance(item, ast.Starred):
            yield from _public(constants[item.value.id], constants)
        else:
            yield ast.literal_eval(item)


def _imported(package, init):
    """The full names that a package imports, also within functions, or by dictionaries from name
    to module."""
    for node in ast.walk(init):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            yield from (f"{package}.{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Dict):
            yield from (f"{package}.{value.value}.{key.value}"
                        for key, value in zip(node.keys, node.values)
                        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant))


def _homes(package, init):
    """The full name of each definition and module. Of several definitions with one name it is
    the one that the package imports."""
    imported = set(_imported(package.name, init))
    defined, modules = {}, {}
    for module, file in _modules(package):
        modules[module.rpartition(".")[2]] = module
        for name in _definitions(file):
            if name not in defined or f"{module}.{name}" in imported:
                defined[name] = f"{module}.{name}"
    return modules | defined


def python_api():
    """The page with a directive of mkdocstrings for each public name of the module `zero`, in the
    order of `__all__` with the errors last."""
    package = ROOT / "python/zero"
    init = ast.parse((package / "__init__.py").read_text())
    constants, homes = _constants(init), _homes(package, init)
    public = list(_public(constants["__all__"], constants))
    if lost := [name for name in public if name not in homes]:
        raise PluginError(f"python/zero: no module defines {', '.join(lost)} of __all__")
    lines = ["# Python API", "", "The public names of the module `zero`, from their docstrings.",
             f"[{title_of('python/README.md')}](../../python/README.md) is the introduction.", "",
             docstrings.rewrite(ast.get_docstring(init))]
    for name in sorted(public, key=lambda name: name.endswith("Error")):
        lines += ["", f"::: {homes[name]}"]
    return "\n".join(lines) + "\n"


def link_sources(name, text):
    """Turns links to source files, and code spans that are paths of source files, into links to
    pages with the source. Returns the text and the files."""
    sources = set()

    def page_of(path):
        sources.add(path)
        return os.path.relpath(f"{path}.md", Path(name).parent)

    def link(found):
        file = os.path.normpath(Path(name).parent / found[1])
        start, end = (found.span(1)[side] - found.start() for side in (0, 1))
        return found[0][:start] + page_of(file) + found[0][end:] if is_source(file) else found[0]

    def span(found):
        return f"[{found[0]}]({page_of(found[1])})" if is_source(found[1]) else found[0]

    lines = text.splitlines()
    for number, line in enumerate(documents.without_fences(text)):
        if line and not line.startswith("#"):
            line = documents.LINK.sub(link, line)
            lines[number] = SOURCE.sub(span, line)
    return "\n".join(lines) + "\n", sources


def is_source(name):
    """Whether the repository has the file, and a page can show it."""
    path = ROOT / name
    if name.startswith("..") or not path.is_file() or path.suffix in (".md", ".png", ".svg"):
        return False
    return b"\0" not in path.read_bytes()[:4096]


def source_page(name):
    """A page that shows a file."""
    try:
        language = get_lexer_for_filename(name).aliases[0]
    except ClassNotFound:
        language = "text"
    fence = "~" * 12
    text = (ROOT / name).read_text()
    return (f"---\nsearch:\n  exclude: true\nhide: [toc]\n---\n"
            f"# {Path(name).name}\n\n`{name}`\n\n{fence}{language}\n{text}\n{fence}\n")


def images(name, text):
    """The images of a page, by their names in the repository."""
    for target in re.findall(r"!\[[^][]*\]\(([^():\s]+)\)", text):
        yield os.path.normpath(Path(name).parent / target)
