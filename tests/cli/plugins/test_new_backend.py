"""A new folder in plugins/ becomes a new backend without any other edit."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import LLOYD, ROOT, SANITIZED, TestCase

SOURCES = ["core", "plugins", "apps", "docs", "tests", "CMakeLists.txt", "CMakePresets.json"]


class NewBackend(TestCase):
    @unittest.skipIf(SANITIZED, "the plain build shows it")
    def test_appears_in_build_conformance_and_list(self):
        # Paths with blanks and non-ASCII characters, as users may have.
        tree, build = self.folder / "the tree, größer", self.folder / "the build, größer"
        tree.mkdir()
        # Without openmp, which takes minutes to compile and adds nothing to this test.
        for name in SOURCES:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("openmp"))
            else:
                shutil.copy(source, tree / name)
        # A renamed copy of a backend, a folder that also builds out of tree, one written for this tree, and the
        # example of README.
        shutil.copytree(tree / "plugins" / "sequential", tree / "plugins" / "copied-backend")
        shutil.copytree(tree / "apps" / "plugin_template", tree / "plugins" / "plugin-template")
        self.call(LLOYD, "new-plugin", "written", "--dir", tree / "plugins" / "written")
        self.assertFalse((tree / "plugins" / "written" / "README.md").exists())
        self.write_readme_backend(tree / "plugins" / "mine")

        names = ["copied-backend", "plugin-template", "written", "mine"]
        self.call("cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                  "-DLLOYD_BUILD_BENCH=OFF", "-DLLOYD_BUILD_CUDA=OFF")
        # It suffices that the conformance suite would build the plugins: the suite's program, which finds them beside
        # itself, and the rest of the tree come from the build under test.
        planned = self.call("ninja", "-C", build, "-t", "commands", "conformance_tests")
        for name in names:
            self.assertIn(f"lloyd_{name}.so", planned)
        self.call("cmake", "--build", build, "--target", *(f"lloyd_{name}" for name in names))
        shutil.copy(pathlib.Path(LLOYD).parent / "conformance_tests", build / "bin")
        for name in names:
            listing = self.call(LLOYD, "--plugin-dir", build / "bin", "backends", name)
            self.assertIn(name, listing)
            # The whole suite for one of them: unoptimised code is slow.
            cases = "*" if name == names[0] else "edge/*"
            suite = self.call(build / "bin" / "conformance_tests",
                              f"--gtest_filter={name.replace('-', '_')}.{cases}")
            self.assertRegex(suite, r"\[  PASSED  \] [1-9][0-9]* tests")

    def write_readme_backend(self, folder):
        readme = (ROOT / "README.md").read_text()
        folder.mkdir()
        (folder / "mine.cpp").write_text(re.search(r"```cpp\n(.*?)```", readme, re.DOTALL).group(1))
        line = re.search(r"`(lloyd_add_plugin\(mine [^`]*)`", readme).group(1)
        (folder / "CMakeLists.txt").write_text(line + "\n")

    def call(self, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=550)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
        return done.stdout


if __name__ == "__main__":
    unittest.main()
