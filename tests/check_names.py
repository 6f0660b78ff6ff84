"""Fails if names in anonymous namespaces would meet in a unity build.

Usage: check_names.py ROOT    (the root of the project)

A unity build compiles several files of a target as one, so a file sees the headers of others: its own function and
the header's then overload one another silently, and a call may choose the wrong one. Compared are the functions and
types in anonymous namespaces of the .cpp files of a group of GROUPS with the functions, in the same enclosing
namespace, of all headers that the group includes. A header that the file includes itself is left out: there the
overload is the same in every build.

Two files of a group must not define a type of the same name in an anonymous namespace either: a unity build that
compiles both does not compile, and which files it puts together depends on the libraries that are installed.

Prints one line per fault.
"""

import collections
import pathlib
import re
import sys

from check_layers import arrows_of, files_below, is_below

# Folders whose files may be compiled together.
GROUPS = ("tests/unit", "core/src", "apps")
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
                   re.S | re.M)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s*([\w:]*)$")
TYPE = re.compile(r"(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(?:alignas\s*\([^)]*\)\s*)?(?:\[\[[^\]]*\]\]\s*)?(\w+)")
ALIAS = re.compile(r"using\s+(\w+)\s*=")
FUNCTION = re.compile(r"(?<![\w:~])(\w+)\s*\(")
WORDS_BEFORE_PARENTHESES = {"alignas", "decltype", "noexcept", "operator", "requires", "static_assert", "sizeof"}


def without_angles(text: str) -> str:
    """Without template parameters and arguments, whose parentheses name no functions."""
    while (shorter := re.sub(r"<[^<>;{}]*>", " ", text)) != text:
        text = shorter
    return text


def name_of(declaration: str) -> tuple[str, str] | None:
    """("type", "alias" or "function", name) that the text up to a body, or to the semicolon, declares; else None."""
    text = " ".join(without_angles(re.sub(r"\btemplate\s*(?=<)", "", declaration)).split())
    if match := ALIAS.match(text):
        return "alias", match[1]
    function = next((match[1] for match in FUNCTION.finditer(text)
                     if match[1] not in WORDS_BEFORE_PARENTHESES and "=" not in text[:match.start()]), None)
    if function and not function.isupper() and not re.search(r"(?:^|\s)using\s", text):
        # A single word is a macro; "Class::member(" is defined elsewhere, and FUNCTION passes over it.
        return ("function", function) if FUNCTION.match(text) is None else None
    if match := TYPE.match(text):
        return "type", match[1]
    return None


def declarations(text: str):
    """(enclosing namespace, whether it is anonymous, kind, name) of what is declared in namespaces. The kind is that
    of name_of(), or "declaration" for a type without a body."""
    text = NOISE.sub(" ", text)
    namespaces, begin, at = [], 0, 0
    while at < len(text):
        sign = text[at]
        if sign in ";{":
            head = text[begin:at].strip()
            opened = NAMESPACE.search(head) if sign == "{" else None
            if opened:
                namespaces.append(opened[1])
            else:
                if found := name_of(head):
                    kind = "declaration" if found[0] == "type" and sign == ";" else found[0]
                    yield "::".join(filter(None, namespaces)), "" in namespaces, kind, found[1]
                if sign == "{":
                    at = end_of_block(text, at)
            begin = at + 1
        elif sign == "}":
            if namespaces:
                namespaces.pop()
            begin = at + 1
        at += 1


def end_of_block(text: str, begin: int) -> int:
    """The place of the bracket that closes the one at `begin`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, begin):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(text)


def headers_of(file: str, included: dict[str, list[str]]) -> set[str]:
    """The file's headers, and those that they include."""
    found, waiting = set(), [file]
    while waiting:
        for target in included.get(waiting.pop(), []):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def faults_of(root: pathlib.Path) -> list[str]:
    included = collections.defaultdict(list)
    files = files_below(root)
    for file, target in arrows_of(root, files):
        included[file].append(target)

    def read(file):
        return list(declarations((root / file).read_text(encoding="utf-8")))

    faults = []
    for group in GROUPS:
        sources = [file for file in files if is_below(file, group) and file.endswith(".cpp")]
        own = {file: headers_of(file, included) for file in sources}
        functions = collections.defaultdict(set)  # (namespace, name) -> headers
        for header in sorted(set().union(*own.values())):
            for space, anonymous, kind, name in read(header):
                if kind == "function" and not anonymous:
                    functions[space, name].add(header)
        defined = {}  # (namespace, name) of a type in an anonymous namespace -> the first file that defines it
        for file in sources:
            declared = read(file)
            for space, anonymous, kind, name in declared:
                if anonymous and kind == "type" and (first := defined.setdefault((space, name), file)) != file:
                    faults.append(f"{file}: its anonymous namespace defines '{name}', as does that of {first}: rename "
                                  "one of them, or share it")
            names = dict.fromkeys((space, name) for space, anonymous, _, name in declared if anonymous)
            faults += [f"{file}: '{name}' in its anonymous namespace is also a function of {header}, which it does not "
                       "include: rename it" for space, name in names
                       for header in sorted(functions[space, name] - own[file])]
    return faults


def main() -> int:
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "core" / "include").is_dir():
        print(f"check_names.py: expected the root of the project, not {sys.argv[1:]}", file=sys.stderr)
        return 2
    faults = faults_of(pathlib.Path(sys.argv[1]))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
