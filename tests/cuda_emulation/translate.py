#!/usr/bin/env python3
"""Copies CUDA sources to a folder as C++ for emulation.hpp: translate.py FROM TO.

Translates kernel launches, shared variables and inline assembly. Lines keep their numbers."""
import pathlib
import re
import sys

INSTRUCTIONS = {
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16": "ldmatrix_x4",
    "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16": "wgmma_m64k16<128>",
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16": "wgmma_m64k16<64>",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": "mma_m16n8k16",
    # Nothing is asynchronous here.
    "wgmma.fence": "no_operation",
    "wgmma.commit_group": "no_operation",
    "wgmma.wait_group": "no_operation",
    "fence.proxy.async": "no_operation",
}


def closing(text, at):
    """The index after the bracket that closes the one at `at`."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    depth = 0
    while True:
        depth += (text[at] in pairs) - (text[at] in pairs.values())
        at += 1
        if depth == 0:
            return at


def kernel_begin(text, end):
    """The index of the kernel before `end`: a name, with template arguments or a call."""
    at = len(text[:end].rstrip())
    for brackets in ("()", "<>"):
        if text[at - 1] != brackets[1]:
            continue
        depth = 0
        while True:
            at -= 1
            depth += (text[at] == brackets[1]) - (text[at] == brackets[0])
            if depth == 0:
                break
    while re.match(r"[\w:]", text[at - 1]):
        at -= 1
    return at


def translate_launches(text):
    text = re.sub(r"(?m)^(\s*)(//.*)$", lambda m: m.group(1) + m.group(2).replace("<<<", "< < <"), text)
    while (opening := text.find("<<<")) >= 0:
        end = text.index(">>>", opening)
        begin = kernel_begin(text, opening)
        kernel, configuration = text[begin:opening], text[opening + 3 : end]
        name = re.match(r"[\w:]*", kernel).group()
        if re.search(r"template <[^;{]*>\s*__global__[^;{]*\b" + kernel.strip() + r"\(", text):
            # The arguments select the instance.
            kernel = f"[](auto... arguments) {{ {kernel}(arguments...); }}"
        text = f'{text[:begin]}emulation::configure("{name}", {kernel}, {configuration}){text[end + 3:]}'
    return text


def translate_shared(text):
    text = re.sub(
        r"extern __shared__ (__align__\(\d+\) )?([^;]+?) (\w+)\[\];",
        r"\2* const \3 = reinterpret_cast<\2*>(emulation::dynamic_shared());",
        text,
    )
    return re.sub(
        r"(?m)^(\s*)__shared__ (?:__align__\(\d+\) )?([^;]+?) (\w+)((?:\[[^;\]]*\])*);",
        r"\1auto& \3 = emulation::static_shared<\2\4>([] {});",
        text,
    )


def translate_assembly(text):
    for match in reversed(list(re.finditer(r"asm volatile\(", text))):
        opening = text.index("(", match.start())
        end = closing(text, opening)
        statement = text[opening:end]
        operands, at = [], 0
        while constraint := re.compile(r'"[=+]?[a-z]"(?=\()').search(statement, at):
            at = closing(statement, constraint.end())
            operands.append(statement[constraint.end() + 1 : at - 1])
        if statement.startswith('(""'):  # only keeps the compiler from moving code
            function, operands = "no_operation", []
        else:
            function = next(to for instruction, to in INSTRUCTIONS.items() if instruction in statement)
        call = f"emulation::{function}({', '.join(operands)})"
        text = text[: match.start()] + call + "\n" * statement.count("\n") + text[end:]
    return text


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    for copy in target.rglob("*"):  # of an earlier build
        if copy.is_file() and not (source / copy.relative_to(target)).exists():
            copy.unlink()
    for path in source.rglob("*"):
        if path.suffix not in (".cu", ".cuh", ".cpp", ".hpp"):
            continue
        text = path.read_text()
        if path.suffix in (".cu", ".cuh"):
            text = translate_assembly(translate_shared(translate_launches(text)))
        text = f'#line 1 "{path}"\n{text}'
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.read_text() != text:
            copy.write_text(text)


main()
