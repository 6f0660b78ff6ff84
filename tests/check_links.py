"""Fails unless every link of the documentation leads somewhere.

Usage: check_links.py ROOT           the relative links and anchors of all Markdown pages below ROOT
       check_links.py --html FOLDER  those of all HTML pages of a site

Links to other hosts are not followed. Prints each broken link with its file and line.
"""

import html.parser
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs"))
import markdown_pages  # noqa: E402

# Doxygen 1.9 links to this anchor on pages of classes whose nested classes are all private, but does not define it.
UNCHECKED_ANCHORS = {"nested-classes"}


class HtmlLinks(html.parser.HTMLParser):
    """The links of an HTML page with their lines, and the anchors that it defines."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[tuple[int, str]] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.names.add(value)
            elif value and (name in ("href", "src") or (tag == "object" and name == "data")):
                self.links.append((self.getpos()[0], value))


def check(page: pathlib.Path, target: str, root: pathlib.Path, anchors_of) -> str:
    """The reason why a link of a page is broken; empty if it is not."""
    parts = urllib.parse.urlsplit(target)
    path = urllib.parse.unquote(parts.path)
    if path.startswith("/"):
        return "links are relative"
    file = (page.parent / path).resolve() if path else page
    if not file.is_relative_to(root):
        return "it leads out of the tree"
    if not file.exists():
        return "there is no such file"
    anchor = urllib.parse.unquote(parts.fragment)
    if not anchor or file.suffix != page.suffix or anchor in UNCHECKED_ANCHORS:
        return ""
    return "" if anchor in anchors_of(file) else f"{file.relative_to(root)} has no heading of this name"


def broken_links(root: pathlib.Path, pages, links_of, anchors_of):
    """(page, line, target, reason) of each broken link."""
    anchors: dict[pathlib.Path, set[str]] = {}

    def cached_anchors(file: pathlib.Path) -> set[str]:
        if file not in anchors:
            anchors[file] = anchors_of(file.read_text())
        return anchors[file]

    for page in pages:
        for line, target in links_of(page.read_text()):
            if markdown_pages.is_external(target):
                continue
            reason = check(page, target, root, cached_anchors)
            if reason:
                yield page.relative_to(root), line, target, reason


def main() -> int:
    arguments = sys.argv[1:]
    is_html = arguments[:1] == ["--html"]
    if len(arguments) != 1 + is_html:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[-1]).resolve()
    if is_html:
        pages = sorted(root.rglob("*.html"))
        broken = broken_links(root, pages, lambda text: HtmlLinks(text).links,
                              lambda text: HtmlLinks(text).names)
    else:
        pages = markdown_pages.pages_of(root)
        broken = broken_links(
            root, pages, lambda text: [(link.line + 1, link.target) for link in markdown_pages.links_of(text)],
            lambda text: {heading.anchor for heading in markdown_pages.headings_of(text)})
    if not pages:
        print(f"check_links.py: {root} has no pages", file=sys.stderr)
        return 1
    status = 0
    for page, line, target, reason in broken:
        print(f"{page}:{line}: {target}: {reason}", file=sys.stderr)
        status = 1
    if not status:
        print(f"the links of {len(pages)} pages lead somewhere")
    return status


if __name__ == "__main__":
    sys.exit(main())
