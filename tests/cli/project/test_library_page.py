"""The programs in apps/examples/ build against an installed copy and work; the pages show excerpts of them."""

import pathlib
import re
import shutil
import sys
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from out_of_tree import OutOfTreeCase
import mpi
from program import ROOT

EXAMPLES = ROOT / "apps" / "examples"
PAGES = [ROOT / "docs" / "index.md", ROOT / "docs" / "use_from_cpp.md"]
# The last lines that the programs print.
PRINTED = {
    "fit_and_predict": r"inertia 1, the last point is in cluster [01]",
    "progress_and_cancel": r"cancelled after 10 iterations",
    "choose_k": r"the best k is 6",
    "named_backend": r"openmp: inertia [0-9]+",
    "streaming": r"inertia [0-9]+, the same as in memory",
    "initial_centroids": r"the first point is in cluster 1, whose centroid is \(1, 1\.5\)",
    "standardized": r"a person of 1\.88 m is in the cluster with a mean height of 1\.91 m",
    "matrices": r"(span|Eigen|mdspan): inertia 1",
    "device_matrix": r"(cuda-[a-z-]+: inertia [0-9]+|no available backend reads samples in device "
                     r"memory; .+)",
    "own_ranks": r"ranks 2: 40000 samples, inertia [0-9]+",
}


class Examples(OutOfTreeCase):
    def test_build_against_a_moved_install_and_work(self):
        source = self.folder / "examples"
        shutil.copytree(EXAMPLES, source)
        self.build(source, self.moved_install(), "-DCMAKE_BUILD_TYPE=Debug")
        self.assertEqual(sorted(file.stem for file in EXAMPLES.glob("*.cpp")), sorted(PRINTED))
        for name, last in PRINTED.items():
            with self.subTest(name):
                program, environment = [source / "build" / name], None
                if name == "own_ranks":
                    if not mpi.MPIEXEC:
                        self.assertFalse(program[0].exists())
                        continue
                    program, environment = mpi.mpirun_command(2, program), mpi.ENVIRONMENT
                lines = self.command(*program, environment=environment).splitlines()
                self.assertRegex(lines[-1], f"^{last}$")

    def test_excerpts_on_the_pages_are_of_the_programs(self):
        programs = [file.read_text() for file in EXAMPLES.glob("*.cpp")]
        shown = []
        for page in PAGES:
            excerpts = re.findall(r"```cpp\n(.*?)```", page.read_text(), re.DOTALL)
            self.assertGreaterEqual(len(excerpts), 4, page)
            for excerpt in excerpts:
                # A body is shown without its indentation.
                sources = [program for program in programs
                           if excerpt in program or textwrap.indent(excerpt, "  ") in program]
                self.assertTrue(sources, f"{page} shows what no program has:\n{excerpt}")
                shown += sources
        for program in programs:
            self.assertIn(program, shown)

    def test_first_program_has_five_lines(self):
        first = re.search(r"```cpp\n(.*?)```", PAGES[0].read_text(), re.DOTALL).group(1)
        self.assertLessEqual(len(first.splitlines()), 5)
        for call in ("lloyd::kmeans(", ".save(", "load(", ".predict("):
            self.assertIn(call, first)

    def test_packages_that_the_cmake_package_needs_are_named(self):
        config = (ROOT / "core" / "cmake" / "LloydConfig.cmake.in").read_text()
        packages = {"fmt": "libfmt-dev", "ZLIB": "zlib1g-dev", "Threads": None}
        needed = re.findall(r"find_dependency\((\w+)", config)
        self.assertEqual(sorted(needed), sorted(packages))
        page = PAGES[1].read_text()
        for name in needed:
            if packages[name]:
                self.assertIn(packages[name], page)
        headers = (ROOT / "core" / "include").rglob("*.hpp")
        self.assertFalse([file for file in headers if re.search(r"#include <(fmt/|zlib)", file.read_text())])

    def test_all_stop_reasons_are_explained(self):
        header = (ROOT / "core" / "include" / "lloyd" / "plugin" / "abi" / "types.hpp").read_text()
        body = re.search(r"enum class StopReason[^{]*\{(.*?)\};", header, re.DOTALL).group(1)
        names = re.findall(r"(?m)^\s*([a-z_]+) = [0-9]+,", body)
        self.assertEqual(len(names), 5)
        rows = re.findall(r"(?m)^\| `StopReason::([a-z_]+)` \| \S", PAGES[1].read_text())
        self.assertEqual(sorted(rows), sorted(names))

    def test_lines_beside_other_libraries_are_counted(self):
        rows = re.findall(r"(?m)^\| ([^|]+) \| \[[^]]+\]\(([^)]+\.cpp)\) \| ([0-9]+) \|$", PAGES[1].read_text())
        self.assertEqual([row[0].split()[0] for row in rows], ["Lloyd", "OpenCV", "mlpack", "FAISS"])
        for library, program, lines in rows:
            text = (PAGES[1].parent / program).read_text()
            code = [line for line in text.splitlines() if not re.match(r"\s*(//|#include|$)", line)]
            self.assertEqual(int(lines), len(code), library)
        self.assertEqual(min(rows, key=lambda row: int(row[2]))[0], "Lloyd")


if __name__ == "__main__":
    unittest.main()
