"""Fails unless the folders of the sources are small and form layers.

Usage: check_layers.py ROOT    (the root of the project)

1. Files include only the layers that LAYERS allows: docs/architecture.md, "Layers".
2. There are no include circles between folders: the subfolders of a folder, each with everything below it,
   can be ordered so that each includes only later ones. The files directly in the folder count as one entry.
3. A folder directly holds at most 20 files. Folders of plugins may hold more if tests/large_folders.txt
   gives the reason.

Prints one line per fault; faults of rules 1 and 2 name a file and one of its includes.
"""

import collections
import pathlib
import re
import sys

MAX_FILES = 20
SOURCE_FOLDERS = ("apps", "bench", "core", "plugins", "tests")
# Header names are relative to one of these folders, to the file's own folder, or to its plugin's folder.
INCLUDE_FOLDERS = ("core/include", "core/internal", "core/src", "apps", "tests", "plugins")
SDK = "core/include/lloyd/plugin"
# The layers in order of precedence: a file belongs to the first that matches. The values are the layers that it may
# include besides its own.
LAYERS = {
    SDK: (),
    "core/include": (SDK,),
    # Headers for the program and the tests; they are not installed.
    "core/internal": ("core/include", SDK),
    "core": ("core/internal", "core/include", SDK),
    "plugins": (SDK,),
    # The conformance suite is part of the program, as `lloyd verify`.
    "tests/reference": (),
    "tests/conformance": ("tests/reference", "core/internal", "core/include", SDK),
    "apps": ("tests/conformance", "core/internal", "core/include", SDK),
    "bench": ("apps", "core/internal", "core/include", SDK),
    "tests": ("tests/conformance", "tests/reference", "apps", "bench", "plugins", "core", "core/internal",
              "core/include", SDK),
}
# Files whose includes are checked.
SOURCE = re.compile(r".+\.(cpp|hpp|cu|cuh|h)")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def files_below(root: pathlib.Path) -> list[str]:
    """Paths of all source files relative to the root, without caches and editor files."""
    found = []
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            parts = path.relative_to(root).parts
            if path.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in parts):
                found.append("/".join(parts))
    return found


def is_below(path: str, folder: str) -> bool:
    return path.startswith(folder + "/")


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def normal(path: str) -> str:
    """The path without '.' and '..'."""
    parts = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def included_file(file: str, name: str, files: set[str]) -> str | None:
    """The project file that an include of `file` refers to; None if it is not part of this project."""
    folders = [folder_of(file), *INCLUDE_FOLDERS]
    own_plugin = re.match(r"plugins/[^/]+", file)
    if own_plugin:
        folders.append(own_plugin[0])
    elif is_below(file, "tests"):
        folders += sorted({match[0] for path in files if (match := re.match(r"plugins/[^/]+(?=/)", path))})
    return next((path for folder in folders if (path := normal(f"{folder}/{name}")) in files), None)


def arrows_of(root: pathlib.Path, files: list[str]) -> list[tuple[str, str]]:
    """Pairs (file, included file), both of this project."""
    known = set(files)
    arrows = []
    for file in filter(SOURCE.fullmatch, files):
        text = (root / file).read_text(encoding="utf-8")
        targets = (included_file(file, name, known) for name in INCLUDE.findall(text))
        arrows += [(file, target) for target in targets if target not in (None, file)]
    return arrows


def layer_of(path: str) -> str:
    return next(layer for layer in LAYERS if is_below(path, layer))


def wrong_arrows(arrows: list[tuple[str, str]]) -> list[str]:
    faults = []
    for file, target in arrows:
        layer, included = layer_of(file), layer_of(target)
        if included != layer and included not in LAYERS[layer]:
            faults.append(f"{file} includes {target}: {layer} must not include {included}")
    return faults


def place_in(parent: list[str], folder: list[str]) -> str:
    """The entry of `parent` that contains the folder; '.' for `parent` itself."""
    return folder[len(parent)] if len(folder) > len(parent) else "."


def circles(arrows: list[tuple[str, str]]) -> list[str]:
    levels = collections.defaultdict(dict)  # folder -> {(entry, included entry): an example include}
    for file, target in arrows:
        if layer_of(file) != layer_of(target):
            continue
        from_folder, to_folder = folder_of(file).split("/"), folder_of(target).split("/")
        shared = 0
        while from_folder[shared:shared + 1] == to_folder[shared:shared + 1] != []:
            shared += 1
        parent = from_folder[:shared]
        pair = place_in(parent, from_folder), place_in(parent, to_folder)
        if pair[0] != pair[1]:
            levels["/".join(parent)].setdefault(pair, (file, target))
    faults = []
    for parent, pairs in sorted(levels.items()):
        circle = find_circle(pairs)
        if circle:
            shown = "; ".join("{} includes {}".format(*pairs[pair]) for pair in zip(circle, circle[1:]))
            faults.append(f"{parent}: a circle of folders, {' -> '.join(circle)}: {shown}")
    return faults


def find_circle(pairs) -> list[str]:
    """Entries of which each includes the next and the last is the first; empty if there is no circle."""
    after = collections.defaultdict(list)
    for including, included in sorted(pairs):
        after[including].append(included)
    done = set()

    def visit(entry, path):
        if entry in path:
            return path[path.index(entry):] + [entry]
        if entry in done:
            return []
        for included in after[entry]:
            found = visit(included, path + [entry])
            if found:
                return found
        done.add(entry)
        return []

    return next((found for entry in sorted(after) if (found := visit(entry, []))), [])


def large_folders(files: list[str], allowed: dict[str, str]) -> list[str]:
    counts = collections.Counter(map(folder_of, files))
    large = {folder for folder, count in counts.items() if count > MAX_FILES}
    faults = [f"{folder} has {counts[folder]} files, more than {MAX_FILES}: sort them into folders"
              for folder in sorted(large - allowed.keys())]
    for folder, reason in allowed.items():
        where = f"tests/large_folders.txt: {folder}"
        if not is_below(folder, "plugins") or any(is_below(other, folder) for other in counts):
            faults.append(f"{where} is no folder of plugins without further folders; only these may be large")
        elif not reason:
            faults.append(f"{where} has no reason behind it")
        elif folder not in large:
            faults.append(f"{where} has no more than {MAX_FILES} files: take the line out")
    return faults


def read_allowed(file: pathlib.Path) -> dict[str, str]:
    """{folder: reason}; lines that begin with '#' are comments."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    pairs = (line.partition(" ") for line in lines if line.strip() and not line.startswith("#"))
    return {folder: reason.strip() for folder, _, reason in pairs}


def main() -> int:
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "core" / "include").is_dir():
        print(f"check_layers.py: expected the root of the project, not {sys.argv[1:]}", file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1])
    files = files_below(root)
    arrows = arrows_of(root, files)
    allowed = read_allowed(root / "tests" / "large_folders.txt")
    faults = wrong_arrows(arrows) + circles(arrows) + large_folders(files, allowed)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(files)} files, {len(arrows)} includes of one another, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
