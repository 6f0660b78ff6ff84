"""Builds the documentation as one site: the Markdown pages of the tree and the reference, by Doxygen.

Usage: build_site.py DOXYGEN DOXYFILE ROOT PAGES

DOXYFILE reads the folder PAGES, which is made anew with a copy of each page below ROOT. A copy differs from
its page in what Doxygen does not read as GitHub does: headings get the anchors that GitHub gives them, links
between pages become Doxygen's, and links to files that the site does not have become their text.

The navigation is that of the lists of links in docs/index.md and in each README.md or index.md below docs/: a
page that a list item begins with is a page below this one. A page that no list names goes below the README.md or
index.md of its folder or the next one above, that of a plugin below docs/backends.md; elsewhere it is an error.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import markdown_pages

MAIN = pathlib.PurePosixPath("docs/index.md")
BACKENDS = pathlib.PurePosixPath("docs/backends.md")
INDEX_NAMES = ("README.md", "index.md")
# Pages of the repository's web site, not of the documentation.
SKIPPED_FOLDER = ".github"
TOC_HEADINGS = 4


class Site:
    def __init__(self, root: pathlib.Path, folder: pathlib.Path):
        self.root = root
        self.folder = folder
        self.texts = {}
        for page in markdown_pages.pages_of(root):
            path = pathlib.PurePosixPath(page.relative_to(root).as_posix())
            if path.parts[0] != SKIPPED_FOLDER:
                self.texts[path] = page.read_text()
        self.parents: dict[pathlib.PurePosixPath, pathlib.PurePosixPath] = {}
        self.titles: dict[pathlib.PurePosixPath, str] = {}  # as the navigation has them
        self.placed: set[pathlib.PurePosixPath] = set()
        self.errors: list[str] = []

    def page_id(self, path: pathlib.PurePosixPath) -> str:
        if path == MAIN:
            return "mainpage"
        return re.sub(r"[^a-z0-9]+", "_", str(path.with_suffix("")).lower())

    def heading_id(self, path: pathlib.PurePosixPath, anchor: str) -> str:
        return f"{self.page_id(path)}-{anchor}"

    def resolve(self, page: pathlib.PurePosixPath, target: str) -> tuple[pathlib.PurePosixPath, str]:
        """The path that a link leads to, relative to the root, and its anchor."""
        file, _, anchor = target.partition("#")
        if not file:
            return page, anchor
        path = (self.root / page.parent / file).resolve()
        return pathlib.PurePosixPath(path.relative_to(self.root).as_posix()), anchor

    def link(self, page: pathlib.PurePosixPath, text: str, target: str, is_image: bool, _line: int) -> str:
        text = text.replace("\n", " ")  # Doxygen reads the text of its links in one line only
        if markdown_pages.is_external(target):
            return f"[{text}]({target})"
        path, anchor = self.resolve(page, target)
        if is_image:
            shutil.copy(self.root / path, self.folder / path.name)
            return f"![{text}]({path.name})"
        if path not in self.texts:
            return text
        if path == MAIN:
            return f"[{text}](@ref index)"
        return f"[{text}](@ref {self.heading_id(path, anchor) if anchor else self.page_id(path)})"

    def is_index(self, path: pathlib.PurePosixPath) -> bool:
        return path in (MAIN, BACKENDS) or (path.parts[0] == "docs" and path.name in INDEX_NAMES)

    def listed_page(self, page: pathlib.PurePosixPath, line: str):
        """The page that an item of an index page's list begins with, and the item's match, or None."""
        match = re.match(r"^(\s*- )\[([^\]]+)\]\(([^)#]+\.md)\)", line)
        if not match or not self.is_index(page) or markdown_pages.is_external(match[3]):
            return None
        path, _ = self.resolve(page, match[3])
        return (path, match) if path in self.texts and path != MAIN else None

    def find_parents(self) -> None:
        """Which page each is below in the navigation."""
        for page, text in self.texts.items():
            for line in markdown_pages.prose_lines(text):
                listed = self.listed_page(page, line) if line is not None else None
                if listed:
                    self.parents.setdefault(listed[0], page)
                    self.titles.setdefault(listed[0], listed[1][2])
        for page in self.texts:
            if page != MAIN and page not in self.parents:
                parent = self.enclosing_index(page)
                if parent:
                    self.parents[page] = parent
                else:
                    self.errors.append(f"{page}: no list in docs/index.md names it, and no README.md stands above it")

    def enclosing_index(self, page: pathlib.PurePosixPath):
        for folder in page.parents[:-1]:  # without the root
            for name in INDEX_NAMES:
                index = folder / name
                if index != page and index != MAIN and index in self.texts:
                    return index
        return BACKENDS if page.parts[0] == "plugins" else None

    def title(self, path: pathlib.PurePosixPath) -> str:
        return self.texts[path].split("\n", 1)[0].removeprefix("# ")

    def item(self, page: pathlib.PurePosixPath, line: str) -> str:
        """A line of a page, where it is an item of the navigation as Doxygen's."""
        listed = self.listed_page(page, line)
        if not listed or self.parents[listed[0]] != page or listed[0] in self.placed:
            return line
        path, match = listed
        self.placed.add(path)
        return f'{match[1]}@subpage {self.page_id(path)} "{match[2]}"{line[match.end():]}'

    def write(self, path: pathlib.PurePosixPath) -> None:
        text = self.texts[path]
        headings = {heading.line: heading for heading in markdown_pages.headings_of(text)}
        lines = []
        for number, (line, prose) in enumerate(zip(text.split("\n"), markdown_pages.prose_lines(text))):
            heading = headings.get(number)
            if prose is None:
                lines.append(line)
            elif heading and heading.level == 1:
                lines.append(f"# {self.titles.get(path, heading.text).replace('`', '')} {{#{self.page_id(path)}}}")
                if len(headings) >= TOC_HEADINGS and path != MAIN:
                    lines.append("\n@tableofcontents\n")
            elif heading and path != MAIN:
                lines.append(f"{'#' * heading.level} {heading.text} "
                             f"{{#{self.heading_id(path, heading.anchor)}}}")
            else:
                lines.append(self.item(path, line))
        below = [page for page, parent in self.parents.items() if parent == path and page not in self.placed]
        lines += [""] if below else []
        lines += [f'- @subpage {self.page_id(page)} "{self.title(page).replace("`", "")}"'
                  for page in sorted(below)]
        lines += [""]
        linked = markdown_pages.replace_links("\n".join(lines), lambda *link: self.link(path, *link))
        (self.folder / f"{self.page_id(path)}.md").write_text(linked)

    def check_titles(self) -> None:
        for path, text in self.texts.items():
            titles = [heading for heading in markdown_pages.headings_of(text) if heading.level == 1]
            if len(titles) != 1 or titles[0].line != 0:
                self.errors.append(f"{path}: a page begins with its only heading of level 1")


def main() -> int:
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    doxygen, doxyfile = sys.argv[1:3]
    root, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[3:])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    site = Site(root, folder)
    site.check_titles()
    site.find_parents()
    if site.errors:
        print("\n".join(site.errors), file=sys.stderr)
        return 1
    for path in site.texts:
        site.write(path)
    return subprocess.run([doxygen, doxyfile], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
