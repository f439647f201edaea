"""Every link between the pages of a built site leads somewhere: ``python docs/check_links.py docs/_build/html``."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect."""
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name in ("id", "name"):
                self.anchors.add(value)


def broken(site: Path) -> list[str]:
    """Links within the site that lead nowhere, with the page they are on."""
    files = (path for path in site.rglob("*.html") if "_static" not in path.parts)  # templates of the theme
    pages = {path.resolve(): Page(path) for path in files}
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            if urlparse(link).scheme or link.startswith("//"):
                continue
            target, anchor = urldefrag(link)
            there = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            there = there / "index.html" if there.is_dir() else there
            known = pages[there].anchors if there in pages else None
            if not there.exists() or (anchor and known is not None and unquote(anchor) not in known):
                wrong.append(f"{path.relative_to(site.resolve())}: {link}")
    return sorted(set(wrong))


if __name__ == "__main__":
    if not any(Path(sys.argv[1]).rglob("*.html")):
        sys.exit(f"{sys.argv[1]} has no pages; run make docs first")
    found = broken(Path(sys.argv[1]))
    print("\n".join(found) or "every internal link leads somewhere")
    sys.exit(bool(found))
