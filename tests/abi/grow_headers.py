"""Writes the headers of a fictitious later minor version: each struct that begins with its size gets one more field.

Usage: grow_headers.py SOURCE TARGET, both the folder that holds lloyd/."""

import pathlib
import re
import shutil
import sys

ADDED = " public:\n  std::int64_t added = 7;  ///< of the later version\n"
# A struct that begins with its size, up to the static assertion of that size.
STRUCT = re.compile(r"(struct (\w+) \{\n  std::uint64_t struct_size = sizeof\(\2\);.*?\n)"
                    r"(\};\nstatic_assert\(sizeof\(\2\) == )(\d+)\);", re.DOTALL)
MINOR = re.compile(r"(kAbiMinor = )(\d+);")


def grow(source, target):
    """Recreates the folder `target`."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    raised = 0
    for header in sorted((target / "lloyd" / "plugin").rglob("*.hpp")):
        text = header.read_text()
        sized = len(re.findall(r"std::uint64_t struct_size = ", text))
        text, grown = STRUCT.subn(
            lambda struct: f"{struct[1]}{ADDED}{struct[3]}{int(struct[4]) + 8});", text)
        if grown != sized:
            raise SystemExit(f"{header.name}: {sized} structs begin with their size, {grown} of them "
                             "with its assertion")
        text, minors = MINOR.subn(lambda minor: f"{minor[1]}{int(minor[2]) + 1};", text)
        raised += minors
        header.write_text(text)
    if raised != 1:
        raise SystemExit(f"the minor version stands in {raised} places")


if __name__ == "__main__":
    grow(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
