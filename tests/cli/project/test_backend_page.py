"""The code in docs/ is code that is built: whole plugins are built here, excerpts match files of the tree."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from out_of_tree import BUILD_TREE, OutOfTreeCase
from program import ROOT

PAGE = ROOT / "docs" / "write_a_backend.md"
CODE = re.findall(r"```cpp\n(.*?)```", PAGE.read_text(), re.DOTALL)
PLUGINS = {re.match(r"// ([a-z-]+): ", code).group(1): code
           for code in CODE if "LLOYD_EXPORT_PLUGIN" in code}


CUDA_PAGE = ROOT / "docs" / "write_a_cuda_backend.md"


class WriteACudaBackend(OutOfTreeCase):
    def test_code_of_the_cuda_page_stands_in_files_that_are_built(self):
        excerpts = re.findall(r"```cpp\n(.*?)```", CUDA_PAGE.read_text(), re.DOTALL)
        self.assertGreaterEqual(len(excerpts), 6)
        sources = [file.read_text() for folder in ("plugins", "apps")
                   for file in (ROOT / folder).rglob("*.cu*")]
        for excerpt in excerpts:
            self.assertTrue(any(excerpt in source for source in sources), excerpt)

    def test_files_of_the_cuda_page_exist(self):
        files = re.findall(r"`((?:apps|plugins|core)/[a-z_./-]+)`", CUDA_PAGE.read_text())
        self.assertGreaterEqual(len(files), 5)
        for file in files:
            self.assertTrue((ROOT / file).exists(), file)


class WriteABackend(OutOfTreeCase):
    def check_plugin(self, name):
        source = self.template(name, change=lambda _: PLUGINS[name])
        call = re.search(rf"`(lloyd_add_plugin\({name} .*?\))`", PAGE.read_text())
        call = call.group(1) if call else f"lloyd_add_plugin({name} SOURCES backend.cpp)"
        lists = (source / "CMakeLists.txt").read_text()
        lists = re.sub(r"(?m)^lloyd_add_plugin\(.*\)$",
                       f"find_package(Threads REQUIRED)\n{call}", lists)
        (source / "CMakeLists.txt").write_text(lists)
        self.build(source, BUILD_TREE, "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror")
        self.assertRegex(self.ctest(source), rf"conformance\.{name} \.+ +Passed")

    def test_step_with_workers_passes(self):
        self.check_plugin("panels")

    def test_data_types_and_choices_pass(self):
        self.check_plugin("scan")

    def test_session_of_its_own_passes(self):
        self.check_plugin("own-loop")

    def test_every_plugin_is_built_above(self):
        self.assertEqual(sorted(PLUGINS), ["own-loop", "panels", "scan"])

    def test_excerpts_stand_in_files_that_are_built(self):
        excerpts = [code for code in CODE if code not in PLUGINS.values()]
        self.assertGreaterEqual(len(excerpts), 2)
        sources = [file.read_text() for folder in ("core", "plugins", "apps")
                   for file in (ROOT / folder).rglob("*.[ch]pp")]
        for excerpt in excerpts:
            self.assertTrue(any(excerpt in source for source in sources), excerpt)

    def test_links_and_files_exist(self):
        page = PAGE.read_text()
        files = re.findall(r"`((?:apps|plugins|core)/[a-z_./]+)`", page)
        self.assertGreaterEqual(len(files), 3)
        for file in files:
            self.assertTrue((ROOT / file).exists(), file)


if __name__ == "__main__":
    unittest.main()
