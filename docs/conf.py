"""How Sphinx makes the manual of the pages in this folder; scripts/build-manual runs it. The navigation is in index.rst."""

import os
import pathlib
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.ext.graphviz import graphviz
from sphinx.util import logging

# The address under which the repository's files can be read, up to the path of a file, without a slash at the end. Links
# from pages to files outside docs/ go there. While it is empty they go to the files of the checkout.
REPOSITORY = ""

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent

project = "Fairlead"
version = release = re.search(r"project\(fairlead VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
html_title = f"Fairlead {release}"
language = "en"

extensions = ["myst_parser", "sphinx.ext.graphviz"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["README.md"]  # index.rst includes it
myst_heading_anchors = 4
highlight_language = "none"
nitpicky = True
smartquotes = False  # options such as --report keep their hyphens
suppress_warnings = ["myst.header"]  # pages may go from a title to headings of the third level

html_theme = "furo"
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_show_search_summary = False  # excerpts are fetched, which browsers refuse for pages opened from a disk
graphviz_output_format = "svg"


def leads_to(link: nodes.Element, page: pathlib.Path) -> tuple[pathlib.Path, str]:
    """The file or folder that a relative link of a page names, and its fragment with the #."""
    path, mark, fragment = link["reftarget"].partition("#")
    return pathlib.Path(os.path.normpath(page.parent / path)), mark + fragment


def address(target: pathlib.Path, page: str, app) -> str:
    """Of a file outside docs/, as a built page links to it."""
    if REPOSITORY:
        return f"{REPOSITORY}/{target.relative_to(ROOT)}"
    built = pathlib.Path(app.outdir) / app.builder.get_target_uri(page)
    return pathlib.Path(os.path.relpath(target, built.parent)).as_posix()


def rewrite_links(app, doctree: nodes.document) -> None:
    """Links that leave docs/ get addresses. Links to README.md, or to a folder that has an index, get that page. This happens
    before Sphinx looks for pages: it would take ../machines for the page machines.md."""
    docname = app.env.docname
    page = pathlib.Path(app.env.doc2path(docname))
    for link in list(doctree.findall(lambda node: isinstance(node, (addnodes.pending_xref, addnodes.download_reference)))):
        if link.get("reftype") != "myst" or link["reftarget"].startswith("#"):
            continue
        target, fragment = leads_to(link, page)
        if target == DOCS / "README.md" or (target / "index.rst").is_file():
            folder = target if target.is_dir() else target.parent
            link["reftarget"] = os.path.relpath(folder / "index.rst", page.parent) + fragment
        elif not target.is_relative_to(DOCS):
            if target.exists() and target.is_relative_to(ROOT):
                link.replace_self(nodes.reference("", "", *link.children, refuri=address(target, docname, app) + fragment))
            else:
                logging.getLogger(__name__).warning("there is no file %s", link["reftarget"], location=link)


def draw_graphs(app, doctree: nodes.document) -> None:
    """Graphviz draws Mermaid blocks that consist of arrows between names; Mermaid itself would be a script from another host.
    Other Mermaid blocks stay text."""
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") != "mermaid":
            continue
        block["language"] = "none"
        first, *arrows = block.astext().splitlines()
        if first == "graph TD" and all(re.fullmatch(r" *\w+ --> \w+", arrow) for arrow in arrows):
            drawn = graphviz()
            edges = re.sub(r"(\w+) --> (\w+)", r'"\1" -> "\2"', "\n".join(arrows))
            drawn["code"] = f"digraph {{\nbgcolor=white\nnode [shape=box]\n{edges}\n}}"
            drawn["options"] = {"docname": app.env.docname}
            drawn["alt"] = block.astext()
            block.replace_self(drawn)


def include_imports(app, failure) -> None:
    """Debian's Furo is not bundled: its style sheet imports another by its address on a web server, and its script imports another,
    which browsers refuse for pages opened from a disk. The manual's files have the text of those instead."""
    static = pathlib.Path(app.outdir) / "_static"
    imports = {"styles/furo.css": (r"@import url\(/javascript/([^)]+)\);", pathlib.Path("/usr/share/javascript")),
               "scripts/furo.js": (r'import \w+ from "\./([^"]+)";', static / "scripts")}
    for name, (statement, folder) in imports.items():
        if failure is None and (static / name).is_file():
            text = (static / name).read_text()
            (static / name).write_text(re.sub(statement, lambda found, folder=folder: (folder / found[1]).read_text(), text))


def setup(app) -> None:
    app.connect("doctree-read", rewrite_links, priority=400)  # before Sphinx collects the files that it copies
    app.connect("doctree-read", draw_graphs)
    app.connect("build-finished", include_imports)
