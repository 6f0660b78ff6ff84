"""tests/check_layers.py on artificial trees: one that it accepts, and one for each fault."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase

SCRIPT = ROOT / "tests" / "check_layers.py"
# {file: included files}, in order.
TREE = {
    "core/include/lloyd/plugin/device.hpp": ["<cstdint>"],
    "core/include/lloyd/fit.hpp": ["<lloyd/plugin/device.hpp>"],
    "core/internal/lloyd/internal/shown.hpp": ["<lloyd/fit.hpp>"],
    "core/src/fit/fit.cpp": ["<lloyd/fit.hpp>", "<lloyd/internal/shown.hpp>", '"text/names.hpp"'],
    "core/src/text/names.hpp": [],
    "plugins/mine/mine.cpp": ["<lloyd/plugin/device.hpp>", '"kernels/pass.hpp"'],
    "plugins/mine/kernels/pass.hpp": ['"other.hpp"'],
    "plugins/mine/kernels/other.hpp": [],
    "tests/conformance/suite.hpp": ["<lloyd/fit.hpp>"],
    "apps/main.cpp": ['"json/fields.hpp"', '"verify/verify.hpp"'],
    "apps/json/fields.hpp": ["<lloyd/internal/shown.hpp>"],
    "apps/verify/verify.hpp": ['"conformance/suite.hpp"', '"json/fields.hpp"'],
    "tests/unit/core/fit_test.cpp": ["<gtest/gtest.h>", '"text/names.hpp"', '"json/fields.hpp"', '"mine/kernels/pass.hpp"'],
}


class Layers(TestCase):
    def setUp(self):
        super().setUp()
        for file, included in TREE.items():
            self.put(file, *included)

    def put(self, file, *included):
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"#include {name}\n" for name in included))

    def check(self, *faults):
        """Expects these faults and no others."""
        done = subprocess.run([sys.executable, "-B", SCRIPT, self.folder], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.stderr.splitlines(), list(faults))
        self.assertEqual(done.returncode, 1 if faults else 0)
        self.assertRegex(done.stdout, rf"^\d+ files, \d+ includes of one another, {len(faults)} faults\n$")

    def test_a_tree_in_order_passes(self):
        self.check()

    def test_an_arrow_against_the_layers_fails(self):
        for file, included, target, layer, below in (
                ("core/src/fit/fit.cpp", '"json/fields.hpp"', "apps/json/fields.hpp", "core", "apps"),
                ("core/include/lloyd/fit.hpp", '"text/names.hpp"', "core/src/text/names.hpp", "core/include", "core"),
                ("core/include/lloyd/plugin/device.hpp", "<lloyd/fit.hpp>", "core/include/lloyd/fit.hpp",
                 "core/include/lloyd/plugin", "core/include"),
                ("plugins/mine/kernels/other.hpp", "<lloyd/fit.hpp>", "core/include/lloyd/fit.hpp", "plugins",
                 "core/include"),
                ("plugins/mine/kernels/other.hpp", "<lloyd/internal/shown.hpp>",
                 "core/internal/lloyd/internal/shown.hpp", "plugins", "core/internal"),
                ("core/include/lloyd/fit.hpp", "<lloyd/internal/shown.hpp>",
                 "core/internal/lloyd/internal/shown.hpp", "core/include", "core/internal"),
                ("apps/json/fields.hpp", '"text/names.hpp"', "core/src/text/names.hpp", "apps", "core"),
                ("apps/json/fields.hpp", '"unit/help.hpp"', "tests/unit/help.hpp", "apps", "tests")):
            with self.subTest(f"{file}: {included}"):
                self.put("tests/unit/help.hpp")
                self.put(file, included)
                self.check(f"{file} includes {target}: {layer} must not include {below}")
                self.put(file, *TREE[file])

    def test_a_circle_of_folders_fails(self):
        self.put("apps/json/fields.hpp", '"verify/other.hpp"')
        self.put("apps/verify/other.hpp")
        self.check("apps: a circle of folders, json -> verify -> json: apps/json/fields.hpp includes "
                   "apps/verify/other.hpp; apps/verify/verify.hpp includes apps/json/fields.hpp")

    def test_a_circle_through_the_folder_above_fails(self):
        self.put("plugins/mine/mine.hpp")
        self.put("plugins/mine/kernels/pass.hpp", '"../mine.hpp"')
        self.check("plugins/mine: a circle of folders, . -> kernels -> .: plugins/mine/mine.cpp includes "
                   "plugins/mine/kernels/pass.hpp; plugins/mine/kernels/pass.hpp includes plugins/mine/mine.hpp")

    def test_a_circle_of_three_folders_deep_down_fails(self):
        for folder, included in (("a", "b"), ("b", "c"), ("c", "a")):
            self.put(f"apps/run/{folder}/deep/x.hpp", f'"run/{included}/deep/x.hpp"')
        self.check("apps/run: a circle of folders, a -> b -> c -> a: "
                   "apps/run/a/deep/x.hpp includes apps/run/b/deep/x.hpp; "
                   "apps/run/b/deep/x.hpp includes apps/run/c/deep/x.hpp; "
                   "apps/run/c/deep/x.hpp includes apps/run/a/deep/x.hpp")

    def test_a_folder_of_more_than_20_files_fails(self):
        for number in range(18):
            self.put(f"plugins/mine/kernels/file{number}.cpp")
        self.put("plugins/mine/kernels/__pycache__/file.pyc")
        self.put("plugins/mine/kernels/.hidden")
        self.check()
        self.put("plugins/mine/kernels/notes.md")
        fault = "plugins/mine/kernels has 21 files, more than 20: sort them into folders"
        self.check(fault)
        listed = "tests/large_folders.txt"
        self.put(listed)
        (self.folder / listed).write_text("# A comment.\nplugins/mine/kernels  generated, one a shape\n")
        self.check()
        (self.folder / listed).write_text("plugins/mine/kernels\n")
        self.check(f"{listed}: plugins/mine/kernels has no reason behind it")
        (self.folder / "plugins/mine/kernels/notes.md").unlink()
        (self.folder / listed).write_text("plugins/mine/kernels generated\napps/json long\nplugins/mine flat\n")
        only = "is no folder of plugins without further folders; only these may be large"
        self.check(f"{listed}: plugins/mine/kernels has no more than 20 files: take the line out",
                   f"{listed}: apps/json {only}", f"{listed}: plugins/mine {only}")

    def test_another_folder_than_the_root_is_refused(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT, self.folder / "apps"], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected the root of the project", done.stderr)


if __name__ == "__main__":
    unittest.main()
