"""Lets links of the documents that leave docs/ work in the site: what they lead to becomes a page of the site.

A document such as ARCHITECTURE.md becomes a page below project/, a source file a page below source/, and a folder a list of its
files. The documents themselves stay as code hosts show them."""
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
FENCED = re.compile(r"^ *```.*?^ *```[^\n]*$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`]*`|^    .*$", re.MULTILINE)  # spans, and indented lines
NO_TAG = re.compile(r"<(?=[A-Za-z])(?!https?:|details>|summary>)")
LINK = re.compile(r"(\]\()([^)\s]+)(?=\))")
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".cuh": "cpp", ".cu": "cpp", ".c": "c", ".comp": "glsl", ".glsl": "glsl", ".py": "python",
             ".cmake": "cmake", ".sh": "sh", ".yml": "yaml", ".yaml": "yaml", ".js": "js", ".json": "json"}
pages = {}  # path in the project: path in the site


def site_path(path):
    """Where something of the project is in the site."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.endswith(".md"):
        return "project/" + path
    there = re.sub(r"(^|/)\.", r"\1", path)  # mkdocs leaves out what begins with a dot
    return f"source/{there}/index.md" if (ROOT / path).is_dir() else f"source/{there}.md"


def project_path(page):
    """The document that a page of the site is made of, or None for a source file."""
    if page.startswith("source/"):
        return None
    return page.removeprefix("project/") if page.startswith("project/") else "docs/" + page


def outside_of_code(text, change):
    """Changes the text between blocks of code."""
    parts, end = [], 0
    for block in FENCED.finditer(text):
        parts += [change(text[end:block.start()]), block[0]]
        end = block.end()
    return "".join(parts + [change(text[end:])])


def target_of(link, document):
    """The path in the project that a link of a document leads to, and its anchor; None for links to elsewhere."""
    path, _, anchor = link.partition("#")
    if not path or "://" in link or path.startswith(("/", "mailto:")):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(document), path)), anchor


def source_page(path):
    """A source file, or the names in a folder, as a page that search leaves out."""
    head = f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n"
    if (ROOT / path).is_dir():
        names = sorted(p.name + "/" * p.is_dir() for p in (ROOT / path).iterdir() if not p.name.startswith("__"))
        return head + "".join(f"- `{name}`\n" for name in names)
    text = (ROOT / path).read_text()
    fence = "`" * (3 + max(map(len, re.findall(r"`{3,}", text)), default=0))
    return f"{head}{fence}{LANGUAGES.get(Path(path).suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def on_files(files, config):
    pages.clear()
    waiting = ["docs/" + file.src_uri for file in files.documentation_pages()]
    seen = set(waiting)
    while waiting:
        document = waiting.pop()
        for _, link in LINK.findall(FENCED.sub("", (ROOT / document).read_text())):
            target = target_of(link, document)
            if target is None or target[0].startswith("docs/") or not (ROOT / target[0]).exists() or target[0] in pages:
                continue
            path = target[0]
            pages[path] = site_path(path)
            content = (ROOT / path).read_text() if path.endswith(".md") else source_page(path)
            files.append(File.generated(config, pages[path], content=content))
            if path.endswith(".md") and path not in seen:
                seen.add(path)
                waiting.append(path)
    return files


def on_page_markdown(markdown, page, config, files):
    document = project_path(page.file.src_uri)
    if document is None:
        return markdown

    def moved(link):
        target = target_of(link[2], document)
        if target is None:
            return link[0]
        there = pages.get(target[0]) or (site_path(target[0]) if target[0].startswith("docs/") else None)
        if there is None:  # nothing is there: mkdocs warns of it
            return link[0]
        relative = posixpath.relpath(there, posixpath.dirname(page.file.src_uri) or ".")
        return link[1] + relative + ("#" + target[1] if target[1] else "")

    def change(text):
        # What code hosts and Python's Markdown read differently: a "\\|" in the code of a table's cell, a "<" that begins no tag,
        # and Markdown within a tag.
        text = re.sub(r"^ *\|.*$", lambda row: CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), text, flags=re.MULTILINE)
        parts, end = [], 0
        for code in CODE.finditer(text):
            parts += [NO_TAG.sub("&lt;", text[end:code.start()]), code[0]]
            end = code.end()
        text = "".join(parts + [NO_TAG.sub("&lt;", text[end:])])
        return LINK.sub(moved, text.replace("<details>", '<details markdown="1">'))

    return outside_of_code(markdown, change)
