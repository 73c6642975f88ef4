"""The documentation site: docs/*.md as HTML. It builds without a network."""

from importlib.metadata import version as installed_version

project = "shelfd"
author = "the shelfd developers"
release = version = installed_version("shelfd")

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns: list[str] = []
#: Headings that other pages link to, as the links are written for readers of the plain files.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]

html_theme = "furo"
html_title = f"shelfd {version}"
html_static_path: list[str] = []
html_copy_source = False
html_show_sphinx = False
