"""Sphinx configuration: the Markdown pages of this folder and the API reference, in the ecosystem's theme."""

import importlib.metadata

project = "wellsvm"
author = "wellsvm developers"
release = importlib.metadata.version("wellsvm")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "wellsvm"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# Links from a page to files of the repository work on the code host; the site has no target for them.
suppress_warnings = ["myst.xref_missing"]
numpydoc_show_class_members = False
autodoc_typehints = "none"
