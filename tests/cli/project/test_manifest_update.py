"""check_manifest.py: --update adds the tests of a build; a test that is not listed is a failure."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase

CHECK_MANIFEST = ROOT / "tests" / "check_manifest.py"

# Lists its tests as a GoogleTest program does.
PROGRAM = """#!{python}
import sys
path = next(word for word in sys.argv if word.startswith("--gtest_output=xml:")).partition(":")[2]
suites = {{}}
for name in {names}:
    suite, _, case = name.partition(".")
    suites.setdefault(suite, []).append(f'<testcase name="{{case}}"/>')
text = "".join(f'<testsuite name="{{suite}}">{{"".join(cases)}}</testsuite>' for suite, cases in suites.items())
open(path, "w").write(f"<testsuites>{{text}}</testsuites>")
"""


class ManifestUpdate(TestCase):
    def make_build(self, unit, conformance, others=()):
        """A build folder with these tests in its programs, and other tests of ctest."""
        build = self.folder / "build"
        build.mkdir(exist_ok=True)
        lines = [f'add_test([=[{name}]=] "true")\n' for name in others]
        for program, names in (("unit", unit), ("conformance", conformance)):
            file = build / f"{program}_tests"
            file.write_text(PROGRAM.format(python=sys.executable, names=names))
            file.chmod(0o755)
            lines += [f'add_test([=[{program}.{share}]=] "{file}")\n' for share in (1, 2)]
        (build / "CTestTestfile.cmake").write_text("".join(lines))
        return build

    def update(self, build, manifest, *options):
        """The manifest's names afterwards, and what was printed."""
        file = self.write("manifest.txt", "".join(f"{name}\n" for name in manifest))
        done = subprocess.run([sys.executable, "-B", CHECK_MANIFEST, build, file, "--update", *options],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return pathlib.Path(file).read_text().splitlines(), done.stdout.splitlines()

    def test_new_tests_are_added_and_absent_ones_stay(self):
        build = self.make_build(["Csv.Old", "Csv.New"], ["openmp.cancel"], ["docs.links"])
        names, printed = self.update(build, ["Csv.Old", "conformance.cuda_naive.device", "docs.doxygen"])
        self.assertEqual(names, ["Csv.New", "Csv.Old", "conformance.cuda_naive.device", "conformance.openmp.cancel",
                                 "docs.doxygen", "docs.links"])
        self.assertEqual(printed, ["added: Csv.New", "added: conformance.openmp.cancel", "added: docs.links",
                                   "kept, but not in this build: conformance.cuda_naive.device",
                                   "kept, but not in this build: docs.doxygen"])

    def test_prune_takes_out_renamed_tests(self):
        build = self.make_build(["Csv.New"], [])
        self.assertEqual(self.update(build, ["Csv.Old"], "--prune"),
                         (["Csv.New"], ["added: Csv.New", "removed: Csv.Old"]))

    def test_cases_that_need_a_gpu_are_not_listed(self):
        build = self.make_build([], ["cuda_new.cancel", "cuda_new.device", "openmp.cancel"])
        names, _ = self.update(build, [])
        self.assertEqual(names, ["conformance.cuda_new.device", "conformance.openmp.cancel"])

    def test_a_program_that_is_not_built_is_named(self):
        build = self.make_build(["Csv.New"], [])
        (build / "unit_tests").unlink()
        file = self.write("manifest.txt", "Csv.Old\n")
        done = subprocess.run([sys.executable, "-B", CHECK_MANIFEST, build, file, "--update"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("unit_tests is not built", done.stderr)
        self.assertEqual(pathlib.Path(file).read_text(), "Csv.Old\n")

    def check(self, build, manifest):
        """The status, and what was printed, of a check of results."""
        file = self.write("manifest.txt", "".join(f"{name}\n" for name in manifest))
        done = subprocess.run([sys.executable, "-B", CHECK_MANIFEST, build, file],
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def test_a_test_that_is_not_listed_is_a_failure(self):
        results = self.folder / "build" / "test_results"
        results.mkdir(parents=True)
        (results / "unit.1.xml").write_text(
            '<testsuites><testsuite name="Csv"><testcase name="New" status="run"/></testsuite></testsuites>')
        (results / "conformance.1.xml").write_text(
            '<testsuites><testsuite name="mine"><testcase name="cancel" status="run"/></testsuite></testsuites>')
        (results / "ctest.xml").write_text('<testsuite><testcase name="unit.1" status="run"/></testsuite>')
        self.assertEqual(self.check(self.folder / "build", ["Csv.New"]), (0, "2 passed, 0 skipped, 0 failed\n"))
        status, printed = self.check(self.folder / "build", [])
        self.assertEqual(status, 1)
        self.assertRegex(printed, r"not in .*manifest\.txt: Csv\.New; ")


if __name__ == "__main__":
    unittest.main()
