"""lloyd new-plugin: its output builds and passes unchanged, and it refuses bad arguments."""

import os
import pathlib
import re
import shlex
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from out_of_tree import BUILD_TREE, CUDA_TEMPLATE, NVCC, TEMPLATE, OutOfTreeCase, needs_nvcc
from program import LLOYD, run


class NewPlugin(OutOfTreeCase):
    def follow(self, program, name, *options, where=None):
        """Runs the commands that the program prints after writing a plugin."""
        where = where or self.folder
        printed = self.command(program, "new-plugin", name, *options, cwd=where)
        commands = re.findall(r"(?m)^  (.*)$", printed)
        self.assertEqual(len(commands), 5, printed)
        done = self.command("bash", "-euc", "\n".join(commands), cwd=where)
        self.assertRegex(done, rf"conformance\.{name} \.+ +Passed")
        self.assertRegex(done, rf"(?m)^{name}  +exact, canonical ")

    def test_commands_work_as_printed_from_the_build_folder(self):
        self.follow(LLOYD, "my-kernel")

    def test_commands_work_as_printed_from_a_moved_install(self):
        # A blank and a quote need escaping when the path is pasted into a shell.
        awkward = self.folder / "it's here"
        awkward.mkdir()
        lloyd = self.moved_install()
        self.follow(lloyd / "bin" / "lloyd", "x2", "--dir", "new/it's x2", where=awkward)

    @needs_nvcc
    def test_cuda_commands_work_as_printed(self):
        printed = self.command(LLOYD, "new-plugin", "--cuda", "gpu-kernel")
        commands = re.findall(r"(?m)^  (.*)$", printed)
        self.assertEqual(len(commands), 5, printed)
        # One architecture, since each takes time to compile.
        environment = {"CUDACXX": NVCC, "CUDAARCHS": "90"}
        done = self.command("bash", "-euc", "\n".join(commands), environment=environment)
        # Without a device the suite is skipped and the backend says why.
        self.assertRegex(done, r"conformance\.gpu-kernel \.+ *(Passed|\*\*\*Skipped)")
        self.assertRegex(done, r"(?m)^gpu-kernel  +exact, canonical |^gpu-kernel .*not available: no CUDA device")

    def test_cuda_files_are_the_templates(self):
        run("new-plugin", "plugin-template", "--cuda", cwd=self.folder)
        template = [file for file in CUDA_TEMPLATE.iterdir() if file.is_file()]
        self.assertIn("backend.cu", [file.name for file in template])
        for file in template:
            written = (self.folder / "plugin-template" / file.name).read_text()
            self.assertEqual(written, file.read_text().replace("/path/to/lloyd", shlex.quote(str(BUILD_TREE))))

    def test_cuda_folder_in_the_tree_is_part_of_its_build(self):
        plugin = self.folder / "core" / "include" / "lloyd" / "plugin" / "plugin.hpp"
        plugin.parent.mkdir(parents=True)
        plugin.touch()
        (self.folder / "plugins").mkdir()
        run("new-plugin", "my-kernel", "--cuda", "--dir", "plugins/my-kernel", cwd=self.folder)
        written = self.folder / "plugins" / "my-kernel"
        self.assertEqual(sorted(file.name for file in written.iterdir()), ["CMakeLists.txt", "backend.cu"])
        self.assertEqual((written / "CMakeLists.txt").read_text(),
                         "if(LLOYD_HAS_CUDA)\n  lloyd_add_plugin(my-kernel SOURCES backend.cu)\nendif()\n")

    def test_files_are_the_templates(self):
        run("new-plugin", "plugin-template", cwd=self.folder)
        template = [file for file in TEMPLATE.iterdir() if file.is_file()]
        for file in template:
            written = (self.folder / "plugin-template" / file.name).read_text()
            self.assertEqual(written, file.read_text().replace("/path/to/lloyd", shlex.quote(str(BUILD_TREE))))
        run("new-plugin", "other", cwd=self.folder)
        written = sorted((self.folder / "other").iterdir())
        self.assertEqual([file.name for file in written],
                         sorted(file.name for file in template))
        for file in written:
            self.assertNotRegex(file.read_text(), "plugin-template|path/to")

    def test_folder_in_the_tree_is_part_of_its_build(self):
        tree = self.folder / "tree"
        (tree / "plugins").mkdir(parents=True)
        (tree / "core" / "include" / "lloyd" / "plugin").mkdir(parents=True)
        (tree / "core" / "include" / "lloyd" / "plugin" / "plugin.hpp").touch()
        for folder in ("plugins/my-kernel", "plugins/other/", tree / "plugins" / "third"):
            printed = run("new-plugin", "my-kernel", "--dir", folder, cwd=tree).stdout
            written = tree / folder
            self.assertEqual(sorted(file.name for file in written.iterdir()), ["CMakeLists.txt", "backend.cpp"])
            self.assertEqual((written / "CMakeLists.txt").read_text(),
                             "lloyd_add_plugin(my-kernel SOURCES backend.cpp)\n")
            self.assertEqual((written / "backend.cpp").read_text(), (TEMPLATE / "backend.cpp").read_text())
            self.assertEqual(printed, f"  cd {shlex.quote(str(tree.resolve()))}\n"
                                      "  cmake --preset release\n"
                                      "  cmake --build build/release --target lloyd lloyd_my-kernel\n"
                                      "  build/release/bin/lloyd verify build/release/bin/lloyd_my-kernel.so\n")

    def refused(self, message, *arguments, **options):
        done = run("new-plugin", *arguments, status=2, cwd=self.folder, **options)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(message, done.stderr)

    def test_refuses_names_that_no_backend_may_have(self):
        for name, suggested in [("My_Kernel", "my-kernel"), ("3d", "backend-3d"), ("a/b", "a-b"),
                                ("..", "my-backend"), ("x" * 48, "x" * 47)]:
            self.refused(f"(for example '{suggested}')", name)
        self.refused("NAME needs a value, not an empty text", "")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_refuses_the_names_of_backends(self):
        self.refused("the name 'sequential' is taken", "sequential")
        (self.folder / "plugins").mkdir()
        os.symlink(BUILD_TREE / "bin" / "lloyd_openmp.so",
                   self.folder / "plugins" / "lloyd_mine.so")
        self.refused("the name 'openmp' is taken", "openmp", "--plugin-dir", "plugins")

    def test_refuses_what_exists(self):
        (self.folder / "folder").mkdir()
        os.symlink("nowhere", self.folder / "link")
        self.write("file", "kept")
        for name in ("folder", "link", "file"):
            self.refused(f"{name} exists", name)
            self.refused(f"{name} exists", "fine", "--dir", name)
        self.refused("cannot make the output folder file/under", "fine", "--dir", "file/under")
        self.assertEqual((self.folder / "file").read_text(), "kept")
        self.assertEqual(list((self.folder / "folder").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
