"""Keeps the list of published versions: ``python docs/versions.py SITE VERSION`` after SITE/VERSION was put in place.

SITE/versions.json is what the switcher of every page reads; "stable" is the newest release, or "dev" before the first.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

from wellsvm._address import DOCS


def main(site: Path, version: str) -> None:
    """Update ``stable``, the front page and versions.json."""
    found = sorted(path.name for path in site.iterdir() if path.is_dir() and re.fullmatch(r"\d+(\.\d+)*", path.name))
    releases = sorted(found, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    newest = releases[0] if releases else version
    if version == newest:
        shutil.rmtree(site / "stable", ignore_errors=True)
        shutil.copytree(site / newest, site / "stable")
    entries = [{"name": f"{newest} (stable)", "version": newest, "url": f"{DOCS}/stable/", "preferred": True}]
    entries += [{"version": name, "url": f"{DOCS}/{name}/"} for name in releases[1:]]
    if (site / "dev").is_dir() and newest != "dev":
        entries.append({"name": "dev", "version": "dev", "url": f"{DOCS}/dev/"})
    (site / "versions.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    (site / "index.html").write_text('<meta http-equiv="refresh" content="0; url=stable/">\n', encoding="utf-8")
    (site / ".nojekyll").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
