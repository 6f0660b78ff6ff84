"""Reads ELF files: needed libraries, search paths and interpreter of programs and shared libraries."""

import struct

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29


class Elf:
    """The entries of a 64-bit little-endian ELF file that the dynamic linker reads."""

    def __init__(self, data):
        offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
        segments = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]
        self.interpreter, entries = None, []
        for kind, _, begin, _, _, length in segments:
            if kind == PT_INTERP:
                self.interpreter = data[begin:begin + length].rstrip(b"\0").decode()
            if kind == PT_DYNAMIC:
                entries = list(struct.iter_unpack("<QQ", data[begin:begin + length - length % 16]))
        names = next((value for tag, value in entries if tag == DT_STRTAB), None)
        base = next((begin + names - address for kind, _, begin, address, _, length in segments
                     if kind == PT_LOAD and names is not None and address <= names < address + length), None)

        def texts(*tags):
            found = [value for tag, value in entries if tag in tags]
            return [data[base + value:data.index(b"\0", base + value)].decode() for value in found]
        self.needed = texts(DT_NEEDED)
        self.search_paths = texts(DT_RPATH, DT_RUNPATH)


def elf_files(folder):
    """Programs and shared libraries below the folder, by path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as file:
                start = file.read(18)
                if start[:6] == b"\x7fELF\x02\x01" and start[16] in (2, 3):  # no object files
                    found[path] = Elf(start + file.read())
    return found
