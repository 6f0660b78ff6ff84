"""The layout of the plugin boundary matches its version."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase

sys.path.insert(0, str(ROOT / "tests" / "abi"))
from grow_headers import grow

# A change, the file, the code before which a line is inserted, the inserted line.
CHANGES = [
    ("a virtual function", "backend.hpp", "  /// Assigns the session's samples",
     "  virtual Status pause() noexcept = 0;\n"),
    ("a field", "requests.hpp", "  std::int64_t relocations = 0;  ///< relocations of empty clusters",
     "  std::int64_t inserted = 0;\n"),
    ("a field of a part", "parameters.hpp", "  const char* text = nullptr;", "  double more = 0;\n"),
    ("a field of an interface asked for by name", "seeding_kernels.hpp", "  WeightScale scale;",
     "  double more = 0;\n"),
    ("a value", "types.hpp", "1,  ///< IEEE 754 binary64", "1"),
]


def parts(layout):
    """{name: (size or "", {field, slot or value: its printed description})}, without the version."""
    found = {}
    for line in layout.splitlines()[1:]:
        name, _, value = line.strip().partition(" ")
        if line.startswith("  "):
            last[1][name] = value
        else:
            last = found[name] = (value, {})
    return found


def grows(older, newer):
    """True if the newer layout extends the older one: every entry keeps its place, only structs that begin with their
    size are longer, and only types without a vtable have more members.
    """
    newer = parts(newer)
    for name, (size, members) in parts(older).items():
        new_size, new_members = newer.get(name, ("", {}))
        same = {member: new_members.get(member) for member in members} == members
        table = any(value.startswith("slot ") for value in members.values())
        longer = size == new_size or ("struct_size" in members and int(size) < int(new_size))
        if not (same and longer) or (table and new_members != members):
            return False
    return True


class Abi(TestCase):
    def layout(self, include):
        """The output of the program; empty if a static_assert stops the build."""
        program = self.folder / "print_layout"
        built = subprocess.run(
            [os.environ.get("CXX", "c++"), "-std=c++20", "-Wno-invalid-offsetof", "-I", str(include),
             str(ROOT / "tests" / "abi" / "print_layout.cpp"), "-o", str(program)],
            capture_output=True, text=True)
        if built.returncode != 0:
            self.assertRegex(built.stderr, "static.assert")
            return ""
        return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout

    def test_layout_is_that_of_its_version(self):
        layout = self.layout(ROOT / "core" / "include")
        version = layout.splitlines()[0].removeprefix("version ")
        golden = ROOT / "tests" / "abi" / f"layout_{version}.txt"
        self.assertEqual(
            layout, golden.read_text(),
            "the boundary's layout changed: raise its version in abi.hpp and keep what "
            f"print_layout prints as tests/abi/layout_VERSION.txt")

    def test_each_change_is_seen(self):
        golden = self.layout(ROOT / "core" / "include")
        for what, file, place, inserted in CHANGES:
            with self.subTest(what):
                include = self.folder / "include"
                shutil.rmtree(include, ignore_errors=True)
                shutil.copytree(ROOT / "core" / "include", include)
                header = include / "lloyd" / "plugin" / "abi" / file
                text = header.read_text()
                self.assertEqual(text.count(place), 1, f"{file} no longer has: {place}")
                header.write_text(text.replace(place, inserted + place))
                changed = self.layout(include)
                self.assertNotEqual(changed, golden)
                self.assertFalse(grows(golden, changed))

    def test_a_minor_version_only_grows(self):
        versions = {}
        for file in (ROOT / "tests" / "abi").glob("layout_*.txt"):
            major, minor = re.fullmatch(r"layout_(\d+)\.(\d+)\.txt", file.name).groups()
            versions.setdefault(int(major), []).append((int(minor), file.read_text()))
        for major, layouts in versions.items():
            layouts.sort()
            for (_, older), (minor, newer) in zip(layouts, layouts[1:]):
                with self.subTest(f"{major}.{minor}"):
                    self.assertTrue(grows(older, newer))
        # The headers of tests/abi/newer_host_test.cpp are such a version, but none of the recorded ones.
        include = self.folder / "include"
        grow(ROOT / "core" / "include", include)
        newest, later = max(max(versions.items())[1])[1], self.layout(include)
        self.assertTrue(grows(newest, later))
        self.assertFalse(grows(later, newest))


if __name__ == "__main__":
    unittest.main()
