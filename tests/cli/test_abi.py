"""The layout of the plugin boundary is that of its version."""

import os
import shutil
import subprocess
import unittest

from program import ROOT, TestCase

# A change, the file, the code before which it is made, what is inserted.
CHANGES = [
    ("a virtual function", "backend.hpp", "  /// Labels the session's samples",
     "  virtual Status pause() noexcept = 0;\n"),
    ("a field", "fit.hpp", "  std::int64_t relocations = 0;  ///< empty clusters that were moved",
     "  std::int64_t inserted = 0;\n"),
    ("a field of a part", "parameters.hpp", "  const char* text = nullptr;", "  double more = 0;\n"),
    ("a field of an interface asked for by name", "seeding_kernels.hpp", "  WeightScale scale;",
     "  double more = 0;\n"),
]


class Abi(TestCase):
    def layout(self, include):
        """What the program prints, or nothing when a static_assert stops the build."""
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
                header = include / "lloyd" / "plugin" / file
                text = header.read_text()
                self.assertEqual(text.count(place), 1, f"{file} no longer has: {place}")
                header.write_text(text.replace(place, inserted + place))
                self.assertNotEqual(self.layout(include), golden)


if __name__ == "__main__":
    unittest.main()
