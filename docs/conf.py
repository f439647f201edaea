"""Sphinx configuration: the Markdown pages of this folder, the gallery and the API reference."""

import importlib
import inspect
import os
import re
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder, FileNameSortKey

import wellsvm
from wellsvm import __version__
from wellsvm._address import DOCS, REPOSITORY

project = "wellsvm"
author = "wellsvm developers"
release = __version__
copyright = "wellsvm developers, BSD 3-Clause"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "sg_execution_times.rst"]
# What this build is called on the site: a release, or "dev" for everything between them.
version_name = os.environ.get("WELLSVM_DOCS_VERSION", "dev")
templates_path = ["_templates"]

# ------------------------------------------------------------------ the look

html_theme = "pydata_sphinx_theme"
html_title = "wellsvm"
html_static_path = ["_static"]
html_css_files = ["wellsvm.css"]
html_show_sourcelink = False
html_sidebars = {"index": []}
CHOICES = sorted(page.stem for page in Path(__file__).parent.glob("choices*.md"))
WIDE_PAGES = ("which", *CHOICES, "results", "reproduction", "benchmarks", "performance")
html_theme_options = {
    "navigation_with_keys": False,
    "github_url": REPOSITORY,
    "switcher": {"json_url": f"{DOCS}/versions.json", "version_match": version_name},
    "check_switcher": False,  # the list is on the site, which may not be there yet
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "show_version_warning_banner": True,
    "show_toc_level": 2,
    # Pages of wide tables get the whole width.
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], **{page: [] for page in WIDE_PAGES}},
    "footer_start": ["copyright"],
    "footer_end": [],
}

# ------------------------------------------------------------------ pages and docstrings

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# Links from a page to files of the repository work on the code host; the site has no target for them.
# The gallery is sorted by objects that cannot be pickled: its configuration is read anew, which costs nothing.
suppress_warnings = ["myst.xref_missing", "config.cache"]
autosummary_generate = True
# MISVM and miSVM would share a file where names of files know no case.
autosummary_filename_map = {"wellsvm.baselines.miSVM": "wellsvm.baselines.mi-SVM"}
numpydoc_show_class_members = False
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"

# ------------------------------------------------------------------ the gallery

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": ExplicitOrder(
        ["../examples/semi_supervised", "../examples/multi_instance", "../examples/clustering"]
    ),
    "within_subsection_order": FileNameSortKey,
    "doc_module": "wellsvm",
    "backreferences_dir": "generated/backreferences",
    "reference_url": {"wellsvm": None},
    "capture_repr": (),
    "download_all_examples": False,
    "show_signature": False,
    "plot_gallery": os.environ.get("WELLSVM_GALLERY") != "0",  # 0: a quick build, without running the examples
    "abort_on_example_error": True,
}


def plain_references(app, what, name, obj, options, lines):
    """Docstrings inherited from scikit-learn refer to sections and terms of its own manual: keep their words."""
    lines[:] = [re.sub(r":(?:ref|term):`(?:([^<`]+?) *<[^>`]+>|([^`]+))`", r"\1\2", line) for line in lines]


def linkcode_resolve(domain, info):
    """The lines of a public name in the repository, at the tag of a release."""
    if domain != "py" or not info["module"]:
        return None
    found = importlib.import_module(info["module"])
    for part in info["fullname"].split("."):
        found = getattr(found, part, None)
    try:
        found = inspect.unwrap(found)
        path, (lines, first) = inspect.getsourcefile(found), inspect.getsourcelines(found)
    except (TypeError, OSError, AttributeError):
        return None
    root = Path(wellsvm.__file__).parent
    if path is None or not Path(path).is_relative_to(root):
        return None
    where = f"src/wellsvm/{Path(path).relative_to(root).as_posix()}"
    tag = "main" if version_name == "dev" else f"v{version_name}"
    return f"{REPOSITORY}/blob/{tag}/{where}#L{first}-L{first + len(lines) - 1}"


def setup(app):
    app.connect("autodoc-process-docstring", plain_references)
