"""The HDF5 library is in a module, liblloyd_hdf5.so, that is loaded when an HDF5 file is read or written."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from elf import elf_files
from filtered_hdf5 import FILTERED
from out_of_tree import BUILD_TREE, OutOfTreeCase
from program import IRIS, LLOYD, ROOT, SANITIZED, TestCase, run

MODULE = BUILD_TREE / "bin" / "liblloyd_hdf5.so"
MAGIC = b"LLOYDH5\0"  # begins Hdf5ModuleHeader; then come the table's size, its fingerprint, HDF5's version
# libhdf5 and some of the libraries that it needs.
FOREIGN = re.compile(r"lib(hdf5|sz|aec|curl|krb5|gssapi|ldap)")

needs_hdf5 = unittest.skipUnless(MODULE.exists(), "this build has no HDF5")


def loaded_at_start(program):
    """The libraries that the dynamic linker loads with a program, by name."""
    done = subprocess.run([program], env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}, stdout=subprocess.PIPE,
                          text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines()]


class Start(TestCase):
    def test_no_program_of_the_build_is_linked_to_hdf5(self):
        linked = {path.name for path, elf in elf_files(BUILD_TREE / "bin").items()
                  if any(FOREIGN.match(name) for name in elf.needed)}
        # The unit tests write files with the library itself.
        self.assertLessEqual(linked, {MODULE.name, "unit_tests"})
        names = loaded_at_start(LLOYD)
        self.assertTrue(any(name.startswith("libz.so") for name in names), names)
        self.assertEqual([name for name in names if FOREIGN.match(name)], [])

    @needs_hdf5
    def test_only_hdf5_files_load_it(self):
        rows = {"x.csv": True, "x.npy": True, "x.h5": False}
        for name in rows:
            run("data", "convert", IRIS, self.folder / name, "--columns", "0,1")
        for name, without in rows.items():
            with self.subTest(name):
                logs = self.folder / f"{name}.log"
                logs.mkdir()
                run("data", "info", self.folder / name, env={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(logs / "ld")})
                text = "".join(log.read_text(errors="replace") for log in logs.iterdir())
                self.assertIn("libfmt", text)
                self.assertEqual("libhdf5" not in text, without)


@needs_hdf5
class Search(TestCase):
    def setUp(self):
        """A copy of the program without plugins and modules, and files of two formats."""
        super().setUp()
        # Messages name the program's folder without symbolic links.
        self.bin = self.folder.resolve() / "bin"
        self.bin.mkdir()
        self.program = self.bin / "lloyd"
        shutil.copy(LLOYD, self.program)
        self.h5, self.npy = self.folder / "x.h5", self.folder / "x.npy"
        for file in (self.h5, self.npy):
            run("data", "blobs", file, "--samples", "7", "--features", "2")

    def lloyd(self, *arguments, status=0, **environment):
        """Runs the copy in a folder that has the module; returns what it wrote to standard error."""
        cwd = self.folder / "cwd"
        if not cwd.exists():
            cwd.mkdir()
            shutil.copy(MODULE, cwd)
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
                              env={**os.environ, **environment}, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def refusal(self, **environment):
        """The message of the copy about an HDF5 file, without the file's name."""
        said = self.lloyd("data", "info", self.h5, status=2, **environment)
        start = f"lloyd: {self.h5}: "
        self.assertTrue(said.startswith(start), said)
        self.assertEqual(said.count("\n"), 1, said)
        return said[len(start):-1]

    def test_a_missing_module_is_one_sentence(self):
        missing = (f"HDF5 files need {MODULE.name}, which is not in {self.bin}, {self.bin.parent / 'lib' / 'lloyd'}; "
                   "install Lloyd's component hdf5 (cmake --install BUILD --component hdf5)")
        self.assertEqual(self.refusal(), missing)
        written = self.folder / "y.h5"
        self.assertEqual(self.lloyd("data", "convert", self.npy, written, status=2), f"lloyd: {written}: {missing}\n")
        self.assertEqual(list(self.folder.glob("y*")), [])
        self.lloyd("data", "info", self.npy)
        # If the file is missing too, the message says that instead.
        self.assertIn("No such file", self.lloyd("data", "info", self.folder / "z.h5", status=2))

    def test_never_in_the_working_directory(self):
        for path in ("", ".", ":", "./", "../cwd"):
            with self.subTest(path):
                said = self.lloyd("data", "info", self.h5, status=2, LLOYD_PLUGIN_PATH=path)
                self.assertIn(f"HDF5 files need {MODULE.name}, which is not in {self.bin}, ", said)
        self.lloyd("data", "info", self.h5, LLOYD_PLUGIN_PATH=str(self.folder / "cwd"))

    def test_beside_the_program_and_in_its_lib_folder(self):
        for folder in (self.bin, self.folder / "lib" / "lloyd"):
            with self.subTest(folder.name):
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(MODULE, folder)
                self.lloyd("data", "info", self.h5)
                (folder / MODULE.name).unlink()
                self.refusal()

    def test_other_files_are_refused(self):
        whole, file = MODULE.read_bytes(), self.bin / MODULE.name
        at = whole.index(MAGIC)
        self.assertEqual(whole.count(MAGIC), 1)

        def changed(offset, value):
            return whole[:at + offset] + value + whole[at + offset + len(value):]

        other_build = r"belongs to another build of Lloyd, with HDF5 1\.[0-9.]+; this one needs .* HDF5 1\.[0-9.]+"
        for name, content, message in (
                ("text", b"no library", "is not a shared library: it is too short for an ELF header"),
                ("cut", whole[:len(whole) // 2], "is truncated"),
                ("plugin", (BUILD_TREE / "bin" / "lloyd_sequential.so").read_bytes(),
                 r"is a shared library, but not Lloyd's HDF5 module: it has no section \.lloyd_hdf5"),
                ("magic", changed(0, b"X"), r"is not Lloyd's HDF5 module: its section .* Lloyd's header"),
                ("size", changed(8, b"\1"), other_build),
                ("fingerprint", changed(16, b"\0" * 8), other_build),
                ("version", changed(28, b"\x63"), other_build.replace("5 1.[0-9.]+;", "5 1.99.[0-9]+;", 1)),
                ("symbols", whole.replace(b"\0lloyd_hdf5_table\0", b"\0lloyd_hdf5_tablE\0"),
                 # A module that calls the function through its symbol is refused earlier.
                 "(does not export the function lloyd_hdf5_table|cannot be loaded: .+undefined symbol: lloyd_hdf5_tabl.)"),
                ("library", re.sub(rb"\0libhdf5[^\0]*", lambda name: b"\0libabsent".ljust(len(name[0]), b"!"), whole),
                 "cannot be loaded: libabsent!+: cannot open shared object file: No such file or directory")):
            with self.subTest(name):
                file.write_bytes(content)
                self.assertRegex(self.refusal(), rf"^{re.escape(str(file))} {message}$")
                self.lloyd("data", "info", self.npy)
                file.unlink()

    def test_one_of_another_build_is_passed_over(self):
        other = self.folder / "other"
        other.mkdir()
        whole = MODULE.read_bytes()
        at = whole.index(MAGIC) + 16
        (other / MODULE.name).write_bytes(whole[:at] + b"\0" * 8 + whole[at + 8:])
        shutil.copy(MODULE, self.bin)
        self.lloyd("data", "info", self.h5, LLOYD_PLUGIN_PATH=str(other))

    def test_doctor_names_it(self):
        report = json.loads(run("doctor", "--quick", "--json").stdout)["hdf5"]
        self.assertEqual((report["file"], report["problem"]), (str(MODULE), None))
        self.assertRegex(report["version"], r"^1\.[0-9]+\.[0-9]+$")

    @unittest.skipIf(SANITIZED, "the library was built without the sanitizer")
    def test_filters_find_the_symbols_of_the_library(self):
        # A filter need not be linked to libhdf5: its undefined symbols are found in the one that the module loaded.
        mark, filters = self.folder / "mark", self.folder / "filters"
        filters.mkdir()
        source = self.write("filter.cpp", '#include <cstdio>\nextern "C" int H5get_libversion(unsigned*, unsigned*, '
                            'unsigned*);\n__attribute__((constructor)) static void run() {\n  unsigned version[3];\n'
                            '  if (H5get_libversion(version, version + 1, version + 2) == 0) '
                            f'std::fclose(std::fopen("{mark}", "w"));\n}}\n')
        subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-o", filters / "libfilter.so", source],
                       check=True)
        run("data", "info", self.write("filtered.h5", FILTERED), env={"HDF5_PLUGIN_PATH": str(filters)}, status=2)
        self.assertTrue(mark.exists())


@needs_hdf5
class Installed(OutOfTreeCase):
    def converter(self, lloyd):
        """Builds a program that only copies data files."""
        source = self.folder / "embedder"
        shutil.copytree(ROOT / "tests" / "cli" / "embedder", source)
        self.build(source, lloyd, "-DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON")
        for program in ("embedder", "converter"):
            names = loaded_at_start(source / "build" / program)
            self.assertEqual([name for name in names if FOREIGN.match(name)], [])
        return source / "build" / "converter"

    def check_conversion(self, converter):
        for output in ("a.h5", "a.npy"):
            source = IRIS if output == "a.h5" else self.folder / "a.h5"
            self.assertEqual(self.command(converter, source, self.folder / output), "copied 150 samples\n")

    def test_embedding_program_of_a_build_folder(self):
        self.check_conversion(self.converter(BUILD_TREE))

    def test_embedding_program_of_an_installed_copy(self):
        lloyd = self.moved_install()
        converter = self.converter(lloyd)
        self.check_conversion(converter)
        module = lloyd / "lib" / "lloyd" / MODULE.name
        module.unlink()
        said = self.command(converter, self.folder / "a.h5", self.folder / "b.npy", status=1)
        self.assertRegex(said, r"a\.h5: HDF5 files need liblloyd_hdf5\.so, which is not in .*, [^,]*"
                               r", später/lloyd/lib/lloyd; install Lloyd's component hdf5")
        self.assertEqual(self.command(converter, self.folder / "a.npy", self.folder / "b.csv"), "copied 150 samples\n")

    def test_component_is_installed_alone(self):
        prefix = self.folder / "installed"
        self.command("cmake", "--install", BUILD_TREE, "--prefix", prefix, "--component", "hdf5")
        self.assertEqual([path for path in prefix.rglob("*") if path.is_file()],
                         [prefix / "lib" / "lloyd" / MODULE.name])
        (prefix / "bin").mkdir()
        shutil.copy(LLOYD, prefix / "bin")
        self.command(prefix / "bin" / "lloyd", "data", "blobs", "x.h5", "--samples", "7", "--features", "2")


if __name__ == "__main__":
    unittest.main()
