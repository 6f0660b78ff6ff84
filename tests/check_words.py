"""Fails if code, comments or pages use a word that the project has replaced.

Usage: check_words.py ROOT [WORDS]

WORDS (default: words.txt beside this script) lists the patterns, their replacements, and the lines
that may contain them; its first lines describe the format. Prints each finding with file and line.
"""

import dataclasses
import fnmatch
import pathlib
import re
import sys

SUFFIXES = {".c", ".cmake", ".cpp", ".css", ".cu", ".cuh", ".dict", ".hpp", ".html", ".in", ".js", ".md", ".py",
            ".sh", ".txt", ".yaml", ".yml"}
SKIPPED_FOLDERS = {"build", "results", "__pycache__"}


@dataclasses.dataclass
class Word:
    pattern: re.Pattern
    instead: str
    globs: list[str]

    def applies(self, path: str) -> bool:
        return not self.globs or any(fnmatch.fnmatchcase(path, glob) for glob in self.globs)


@dataclasses.dataclass
class Allowance:
    glob: str
    text: str
    is_used: bool = False

    def covers(self, path: str, line: str) -> bool:
        if not fnmatch.fnmatchcase(path, self.glob) or self.text not in line:
            return False
        self.is_used = True
        return True


def read_words(path: pathlib.Path) -> tuple[list[Word], list[Allowance]]:
    words, allowances = [], []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        allowed = re.fullmatch(r"allow (\S+): (.+)", line)
        entry = re.fullmatch(r"(.+?) => (.+?)(?: in ((?:\S*[*/]\S* ?)+))?", line)
        if allowed:
            allowances.append(Allowance(allowed[1], allowed[2]))
        elif entry:
            words.append(Word(re.compile(entry[1]), entry[2], (entry[3] or "").split()))
        else:
            raise SystemExit(f"{path}:{number}: neither 'PATTERN => INSTEAD' nor 'allow GLOB: TEXT'")
    return words, allowances


def files_of(root: pathlib.Path):
    folders = [root]
    while folders:
        for path in folders.pop().iterdir():
            if path.is_symlink():
                continue
            if path.is_dir():
                hidden = path.name.startswith(".") and path.name != ".github"
                if not hidden and path.name not in SKIPPED_FOLDERS and not (path / "CMakeCache.txt").exists():
                    folders.append(path)
            elif path.suffix in SUFFIXES:
                yield path


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1]).resolve()
    list_file = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else pathlib.Path(__file__).with_name("words.txt"))
    words, allowances = read_words(list_file)
    findings = files = 0
    for file in sorted(files_of(root)):
        path = file.relative_to(root).as_posix()
        if file.resolve() == list_file.resolve():
            continue
        files += 1
        applying = [word for word in words if word.applies(path)]
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            for word in applying:
                match = word.pattern.search(line)
                if match and not any(allowance.covers(path, line) for allowance in allowances):
                    print(f"{path}:{number}: '{match[0]}'; write: {word.instead}", file=sys.stderr)
                    findings += 1
    for allowance in allowances:
        if not allowance.is_used:
            print(f"{list_file.name}: 'allow {allowance.glob}: {allowance.text}' allows nothing", file=sys.stderr)
            findings += 1
    if findings or not files:
        print(f"{findings} findings in {files} files", file=sys.stderr)
        return 1
    print(f"no word of {list_file.name} in {files} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
