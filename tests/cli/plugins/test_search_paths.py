"""The library search of built and installed programs: never in the working directory, which may be writable for others.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from elf import Elf, elf_files
from filtered_hdf5 import FILTERED
from out_of_tree import BUILD_TREE, UNOPTIMISED, OutOfTreeCase
from program import IRIS, LLOYD, SANITIZED, SMALL_EXPERIMENT, TestCase, run


class SearchPathCase(OutOfTreeCase):
    def check(self, folder, *expected):
        """Checks everything below the folder; the expected files must be present."""
        found = elf_files(folder)
        self.assertLessEqual(set(expected), {path.name for path in found})
        for path, elf in found.items():
            with self.subTest(str(path)):
                for text in elf.search_paths:
                    for entry in text.split(":"):
                        self.assertRegex(entry, r"^(/|\$ORIGIN(/|$))", f"an entry of '{text}'")
                for name in elf.needed:
                    self.assertFalse("/" in name and not name.startswith("/"), name)
                if elf.interpreter is not None:
                    self.assertTrue(elf.interpreter.startswith("/"), elf.interpreter)
        return found


class SearchPaths(SearchPathCase):
    def test_of_the_build_tree(self):
        self.check(BUILD_TREE, "lloyd", "lloyd_sequential.so", "lloyd_good.so")

    def test_of_an_installed_copy(self):
        installed = self.check(self.moved_install(), "lloyd", "lloyd_sequential.so")
        for path, elf in installed.items():
            if path.name in ("lloyd", "lloyd_sequential.so", "lloyd_openmp.so"):
                built = Elf((BUILD_TREE / "bin" / path.name).read_bytes())
                self.assertEqual(elf.search_paths, built.search_paths)

    def test_of_a_new_plugin(self):
        source = self.folder / "mine"
        run("new-plugin", "mine", "--dir", source)
        self.build(source, BUILD_TREE, UNOPTIMISED)
        built = self.check(source, "lloyd_mine.so")
        self.assertEqual([elf.search_paths for path, elf in built.items() if path.name == "lloyd_mine.so"],
                         [["$ORIGIN"]])

    def test_of_a_plugin_with_a_library_of_another_project(self):
        if "," in str(self.folder):
            self.skipTest("CMake cannot put a folder with a comma into an RPATH")
        other = self.folder / "other"
        other.mkdir()
        (other / "other.cpp").write_text("int other_answer() { return 42; }\n")
        self.command(os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-o", other / "libother.so",
                     other / "other.cpp")
        source = self.template(change=lambda text: text.replace(
            "namespace {", "int other_answer();\nnamespace {", 1).replace(
                "    double sum = 0;", "    double sum = other_answer() - 42.0;"))
        lists = (source / "CMakeLists.txt").read_text()
        self.assertIn("SOURCES backend.cpp", lists)
        (source / "CMakeLists.txt").write_text(
            lists.replace("SOURCES backend.cpp", f"SOURCES backend.cpp LINK \"{other / 'libother.so'}\""))
        self.build(source, BUILD_TREE, UNOPTIMISED)
        self.check(source, "lloyd_plugin-template.so")
        self.command("cmake", "--install", source / "build", "--prefix", self.folder / "installed")
        self.check(self.folder / "installed", "lloyd_plugin-template.so")
        for plugins in (source / "build", self.folder / "installed" / "lib" / "lloyd"):
            run("--plugin-dir", plugins, "fit", IRIS, "-k", "3", "--backend", "plugin-template",
                cwd=self.folder)


class PluginDirectory(TestCase):
    def test_unknown_backend_names_the_option(self):
        done = run("fit", IRIS, "-k", "3", "-b", "my-kernel", cwd=self.folder, status=2)
        self.assertIn("; --plugin-dir and LLOYD_PLUGIN_PATH name further folders with plugins\n", done.stderr)
        config = self.write("c.yaml", SMALL_EXPERIMENT.replace("[sequential]", "[my-kernel]"))
        self.assertIn("--plugin-dir", run("run", config, "--dry-run", cwd=self.folder, status=2).stderr)

    def test_help_of_subcommands_lists_the_option(self):
        for command in ("run", "fit", "predict", "backends", "new-plugin", "doctor"):
            with self.subTest(command):
                self.assertRegex(run(command, "--help").stdout, r"(?m)^ +--plugin-dir DIR")


class PlantedLibraries(TestCase):
    def setUp(self):
        """Builds a library that creates the file `mark` when it is loaded."""
        super().setUp()
        self.mark, self.library = self.folder / "mark", self.folder / "planted.so"
        source = self.write("planted.cpp", '#include <cstdio>\n#include <cstdlib>\n'
                            '__attribute__((constructor)) static void run() {\n'
                            f'  std::fclose(std::fopen("{self.mark}", "w"));\n}}\n')
        subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-o", self.library, source],
                       check=True)

    @unittest.skipIf(SANITIZED, "the library was built without the sanitizer")
    def test_no_code_of_the_working_directory_runs(self):
        # The control: the library runs if it is preloaded explicitly. (A blank separates entries of LD_PRELOAD.)
        run("--version", env={"LD_PRELOAD": f"./{self.library.name}"}, cwd=self.folder)
        self.assertTrue(self.mark.exists())
        self.mark.unlink()
        bin_folder = pathlib.Path(LLOYD).resolve().parent
        needed = {name for elf in elf_files(bin_folder).values() for name in elf.needed}
        self.assertIn("libz.so.1", needed)
        opened_by_name = {"libnvidia-ml.so.1", "libcuda.so.1", "liblloyd_hdf5.so"}
        commands = [["--version"], ["backends"], ["doctor", "--quick"], ["fit", IRIS, "-k", "3"],
                    ["data", "info", IRIS]]
        if (bin_folder / "liblloyd_hdf5.so").exists():
            commands.append(["data", "convert", IRIS, "iris.h5"])
        for names in (opened_by_name, needed):
            planted = self.folder / f"planted-{len(names)}"
            planted.mkdir()
            for name in names:
                shutil.copy(self.library, planted / pathlib.Path(name).name)
            for arguments in commands:
                with self.subTest(planted=sorted(names), command=arguments[0]):
                    # If a planted library were loaded, its missing symbols would make this fail.
                    run(*arguments, cwd=planted)
                    self.assertFalse(self.mark.exists())

    @unittest.skipIf(SANITIZED, "the library was built without the sanitizer")
    def test_no_filter_of_the_working_directory_runs(self):
        file, filters = self.write("filtered.h5", FILTERED), self.folder / "filters"
        filters.mkdir()
        shutil.copy(self.library, filters / "libfilter.so")
        for path, cwd, runs in ((".", filters, False), ("filters", self.folder, False),
                                ("/nowhere:./filters", self.folder, False), (str(filters), self.folder, True)):
            with self.subTest(path):
                done = run("data", "info", file, cwd=cwd, env={"HDF5_PLUGIN_PATH": path}, status=2)
                if "without HDF5" in done.stderr:
                    self.skipTest("this build has no HDF5")
                self.assertEqual(self.mark.exists(), runs)

    def test_no_plugin_of_the_working_directory_runs(self):
        planted, mark = self.folder / "plugins", self.mark
        planted.mkdir()
        good = pathlib.Path(LLOYD).parents[1] / "bad_plugins" / "good" / "lloyd_good.so"
        shutil.copy(good, planted)
        env = {"LLOYD_LOADING_MARK": str(mark)}
        for path in ("", ".", ":", "./", "::.:", "plugins:../plugins"):
            with self.subTest(path):
                done = run("backends", cwd=planted, env={**env, "LLOYD_PLUGIN_PATH": path})
                self.assertFalse(mark.exists())
                # A message explains why the plugin was not found.
                passed_over = [entry for entry in path.split(":") if entry]
                self.assertEqual(done.stderr, "".join(
                    f"lloyd: LLOYD_PLUGIN_PATH: '{entry}' is ignored; write the folder's full path\n"
                    for entry in passed_over))
        self.assertIn("LLOYD_PLUGIN_PATH (absolute paths, separated by ':')",
                      " ".join(run("--help").stdout.split()))
        run("backends", cwd=planted, env={**env, "LLOYD_PLUGIN_PATH": str(planted)})
        self.assertTrue(mark.exists())


if __name__ == "__main__":
    unittest.main()
