"""Sphinx: HTML documentation from Markdown and docstrings."""

project = "rlscope"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
myst_heading_anchors = 4
# "--option" stays as it is typed.
smartquotes = False
exclude_patterns = ["design/template.md"]
