"""Headings and links of the Markdown pages of this tree, as GitHub reads them."""

import dataclasses
import pathlib
import re

# [text](target) or ![text](target "title"), and definitions of reference links.
# The text may go on in the next line, but not in the next paragraph.
_LINK = re.compile(r"(!?)\[((?:(?!\n\s*\n)[^\[\]]|\[[^\]]*\])*)\]\(\s*([^()\s]+)(?:\s+\"[^\"]*\")?\s*\)")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]^]+\]:\s+(\S+)")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
# A code span may go on in the next line, too.
_CODE = re.compile(r"(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
_SKIPPED_FOLDERS = {"build", "results", "__pycache__"}


@dataclasses.dataclass(frozen=True)
class Heading:
    line: int  # from 0
    level: int
    text: str  # with its markup
    anchor: str


@dataclasses.dataclass(frozen=True)
class Link:
    line: int  # from 0
    text: str
    target: str
    is_image: bool


def pages_of(root: pathlib.Path) -> list[pathlib.Path]:
    """All pages of the tree, sorted; without build folders and hidden ones but .github."""
    found = []
    folders = [root]
    while folders:
        for path in folders.pop().iterdir():
            if path.is_symlink():
                continue
            if path.is_dir():
                hidden = path.name.startswith(".") and path.name != ".github"
                if not hidden and path.name not in _SKIPPED_FOLDERS and not (path / "CMakeCache.txt").exists():
                    folders.append(path)
            elif path.suffix == ".md":
                found.append(path)
    return sorted(found)


def prose_lines(text: str) -> list[str | None]:
    """The lines of a page; None for those of fenced code, fences included."""
    lines: list[str | None] = []
    fence = None
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence is not None:
            lines.append(None)
            if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = None
        elif mark:
            fence = mark[1]
            lines.append(None)
        else:
            lines.append(line)
    return lines


def without_code(text: str) -> str:
    """The text of a page with code spans and fenced code blanked out; lines and columns stay."""
    lines = text.split("\n")
    prose = "\n".join(" " * len(line) if shown is None else line for line, shown in zip(lines, prose_lines(text)))
    return _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), prose)


def headings_of(text: str) -> list[Heading]:
    headings = []
    seen: dict[str, int] = {}
    for number, line in enumerate(prose_lines(text)):
        match = _HEADING.match(line) if line is not None else None
        if not match:
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[2])
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        headings.append(Heading(number, len(match[1]), match[2], f"{anchor}-{count}" if count else anchor))
    return headings


def replace_links(text: str, replacement) -> str:
    """A page with each link outside of code replaced by replacement(text, target, is_image, line)."""
    # The text of a link may be code: only its brackets must not be in code.
    blank = without_code(text)
    result, begin = [], 0
    for match in _LINK.finditer(text):
        if blank[match.start() + len(match[1])] != "[" or blank[match.end() - 1] != ")":
            continue
        result.append(text[begin:match.start()])
        result.append(replacement(match[2], match[3], match[1] == "!", text.count("\n", 0, match.start())))
        begin = match.end()
    return "".join(result) + text[begin:]


def links_of(text: str) -> list[Link]:
    links = [Link(number, "", definition[1], False)
             for number, line in enumerate(prose_lines(text)) if line is not None
             for definition in [_DEFINITION.match(line)] if definition]

    def keep(text: str, target: str, is_image: bool, line: int) -> str:
        links.append(Link(line, text, target, is_image))
        return ""

    replace_links(text, keep)
    return sorted(links, key=lambda link: link.line)


def is_external(target: str) -> bool:
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", target) is not None
