"""Third-party plugins and programs, built against a build folder and an installed copy."""

import os
import pathlib
import platform
import json
import re
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from out_of_tree import BUILD_TREE, UNOPTIMISED, OutOfTreeCase
from program import ROOT

CLANG = shutil.which("clang++")
needs_clang = unittest.skipIf(not CLANG and not os.environ.get("CI"), "clang++ is not installed")


class Example(OutOfTreeCase):
    def check(self, lloyd, compiler):
        source = self.template()
        self.build(source, lloyd, "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror",
                   compiler=compiler)
        tested = self.ctest(source, "--verbose")
        self.assertRegex(tested, r"plugin-template 0\.1\.0: [1-9][0-9]+ passed, 0 failed")
        self.assertRegex(tested, r"conformance\.plugin-template \.+ +Passed")
        return source / "build" / "lloyd_plugin-template.so"

    def test_build_folder_gcc(self):
        self.check(BUILD_TREE, "g++")

    @needs_clang
    def test_build_folder_clang(self):
        self.check(BUILD_TREE, "clang++")

    def test_moved_install_gcc(self):
        plugin = self.check(self.moved_install(), "g++")
        symbols = self.command("nm", "--dynamic", "--defined-only", plugin).splitlines()
        self.assertEqual([line.split()[-1] for line in symbols], ["lloyd_plugin"])

    @needs_clang
    def test_moved_install_clang(self):
        self.check(self.moved_install(), "clang++")

    def test_parameter_leaves_the_labels_as_they_are(self):
        source = self.template()
        self.build(source, BUILD_TREE)
        data = self.folder / "blobs.npy"
        lloyd = BUILD_TREE / "bin" / "lloyd"
        self.command(lloyd, "data", "blobs", data, "--samples", 2000, "--features", 37)
        outputs = []
        for portion in (1, 8, 36, 37, 4096):
            self.command(lloyd, "fit", data, "-k", 20, "--plugin-dir", source / "build", "--backend",
                         "plugin-template", "--param", f"portion={portion}", "-o",
                         self.folder / f"{portion}")
            outputs.append((self.folder / f"{portion}" / "labels.csv").read_text())
        self.assertGreater(len(set(outputs[0].split())), 10)
        self.assertEqual(len(set(outputs)), 1)

    def test_installed_copy_has_experiments_programs_and_documentation(self):
        lloyd = self.moved_install()
        share = lloyd / "share" / "lloyd"
        for file in ("README.md", "CHANGELOG.md", "LICENSE", "docs/index.md", "docs/write_a_backend.md",
                     "docs/report.png", "docs/decisions/README.md", "configs/quickstart.yaml",
                     "configs/data/iris.csv", "bench/peers/program.py", "apps/examples/CMakeLists.txt"):
            self.assertTrue((share / file).is_file(), file)
        # The paths from an experiment to its data and to the programs hold, and the programs can be started.
        for config in ("peers-cpu.yaml", "examples/iris.yaml"):
            self.command(lloyd / "bin" / "lloyd", "run", share / "configs" / config, "--dry-run")
        described = json.loads(self.command(share / "bench" / "peers" / "scikit-learn.py", "describe"))
        self.assertEqual(described["name"], "scikit-learn")
        # So do the links of the pages.
        self.command(sys.executable, ROOT / "tests" / "check_links.py", lloyd)

    def test_installed_pages_name_installed_files(self):
        share = self.moved_install() / "share" / "lloyd"
        # Pages about the development of Lloyd, which needs the sources.
        development = {"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md"}
        paths = 0
        for page in share.rglob("*.md"):
            name = page.relative_to(share).as_posix()
            if name in development or name.startswith(("docs/decisions/", "docs/design/", "tests/")):
                continue
            quoted = r"`((?:apps|bench|configs|core|docs|plugins|tests)/[\w./-]+)`(?!\s+of\s+the\s+sources)"
            for path in re.findall(quoted, page.read_text()):
                if (ROOT / path).exists():  # else it is an example
                    self.assertTrue((share / path).exists(), f"{name}: {path}")
                    paths += 1
        self.assertGreater(paths, 30)
        self.assertEqual([folder for folder in share.rglob("*") if folder.is_dir() and not any(folder.iterdir())], [])

    def test_man_pages_and_completion_are_installed(self):
        if not (BUILD_TREE / "apps" / "manual").exists():
            self.skipTest("a cross build writes no man pages")
        share = self.moved_install() / "share"
        for file in ("man/man1/lloyd.1", "man/man1/lloyd-data-blobs.1", "bash-completion/completions/lloyd",
                     "zsh/site-functions/_lloyd", "fish/vendor_completions.d/lloyd.fish"):
            self.assertGreater((share / file).stat().st_size, 500, file)

    def test_installs_beside_the_backends(self):
        lloyd, source = self.moved_install(), self.template()
        self.build(source, lloyd, UNOPTIMISED)
        def backends():
            listing = json.loads(self.command(lloyd / "bin" / "lloyd", "backends", "--json"))
            return [backend["name"] for backend in listing["backends"]]

        before = backends()
        self.command("cmake", "--install", source / "build", "--prefix", lloyd)
        self.assertEqual(backends(), sorted([*before, "plugin-template"]))


class Refusals(OutOfTreeCase):
    def test_undefined_symbol_is_refused_at_link_time(self):
        source = self.template(change=lambda text: text.replace(
            "namespace {", "void elsewhere();\nnamespace {", 1).replace(
                "    double sum = 0;", "    elsewhere();\n    double sum = 0;"))
        self.configure(source, BUILD_TREE, UNOPTIMISED)
        printed = self.command("cmake", "--build", source / "build", status=None)
        self.assertRegex(printed, "undefined (reference|symbol).*elsewhere")

    def test_broken_kernel_fails_the_authors_tests(self):
        source = self.template(change=self.replace("return nearest.label;", "return 0;"))
        self.build(source, BUILD_TREE)
        printed = self.ctest(source, status=8)
        self.assertRegex(printed, r"failed +lattice/one-iteration/float32: ")
        self.assertIn("0% tests passed, 1 tests failed out of 1", printed)

    def test_unavailable_backend_is_skipped_not_passed(self):
        source = self.template(change=self.replace(
            "LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<PartialDistanceStep, kInfo>);", """
struct NoDevice {
  static lloyd::Status probe(lloyd::DeviceList*) noexcept {
    return lloyd::Status::error(lloyd::StatusCode::unavailable, "there is no such device");
  }
  static lloyd::Status create(lloyd::Backend** backend) noexcept {
    return lloyd::StepBackend<PartialDistanceStep, kInfo>::create(backend);
  }
};
LLOYD_EXPORT_PLUGIN(NoDevice);"""))
        self.build(source, BUILD_TREE, UNOPTIMISED)
        self.assertRegex(self.ctest(source), r"conformance\.plugin-template \.+\*\*\*Skipped")

    def test_arguments_of_lloyd_add_plugin(self):
        for project, call, message in [
                ("p", "mine SOURCES backend.cpp", "the project 'p' has none"),
                ("p VERSION 1.0", "Mine SOURCES backend.cpp", "lower-case letters"),
                ("p VERSION 1.0", "m" * 48 + " SOURCES backend.cpp", "at most 47"),
                ("p VERSION 1.0", "mine", "no SOURCES given"),
                ("p VERSION 1.0", "mine extra SOURCES backend.cpp", "unknown arguments: extra")]:
            with self.subTest(call):
                shutil.rmtree(self.folder / "p", ignore_errors=True)
                source = self.template("p")
                (source / "CMakeLists.txt").write_text(
                    f"cmake_minimum_required(VERSION 3.25)\nproject({project} LANGUAGES CXX)\n"
                    f"find_package(Lloyd REQUIRED)\nlloyd_add_plugin({call})\n")
                printed = " ".join(self.configure(source, BUILD_TREE, status=1).split())
                self.assertIn(message, printed)

    def test_version_of_the_project_or_the_call(self):
        for call, version in [("", "1.2.3"), ("VERSION 4.5", "4.5")]:
            with self.subTest(call):
                shutil.rmtree(self.folder / "p", ignore_errors=True)
                source = self.template("p")
                (source / "CMakeLists.txt").write_text(
                    "cmake_minimum_required(VERSION 3.25)\n"
                    "project(p VERSION 1.2.3 LANGUAGES CXX)\nfind_package(Lloyd 0.7 REQUIRED)\n"
                    f"lloyd_add_plugin(mine SOURCES backend.cpp {call})\n")
                self.build(source, BUILD_TREE)
                printed = self.command(BUILD_TREE / "bin" / "lloyd", "backends", "mine",
                                       "--plugin-dir", source / "build")
                self.assertTrue(printed.startswith(f"mine {version}: "), printed)


class Package(OutOfTreeCase):
    def test_sdk_needs_no_other_package(self):
        source = self.template()
        self.build(source, self.moved_install(), "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON",
                   "-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON", UNOPTIMISED)

    def test_unknown_component_is_refused(self):
        source = self.template()
        lists = source / "CMakeLists.txt"
        lists.write_text(lists.read_text().replace("find_package(Lloyd REQUIRED)",
                                                   "find_package(Lloyd REQUIRED COMPONENTS cores)"))
        printed = " ".join(self.configure(source, BUILD_TREE, status=1).split())
        self.assertIn("Lloyd has no component 'cores'; it has: core", printed)

    def embed(self, lloyd):
        source = self.folder / "embedder"
        shutil.copytree(ROOT / "tests" / "cli" / "embedder", source)
        # Building the core needs Boost; linking the core must not.
        self.build(source, lloyd, "-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON")
        for backend in ("sequential", "openmp"):
            printed = self.command(source / "build" / "embedder", backend)
            self.assertIn(printed, [f"{backend} inertia 4 centroids {centroids}\n"
                                    for centroids in ("0,1 9,1", "9,1 0,1")])
        build = source / "build"
        printed = self.command(build / "loader", build / "libfirst.so", build / "libsecond.so")
        self.assertEqual(printed, "inertia 0\ninertia 0\n")

    def test_core_of_a_build_folder(self):
        self.embed(BUILD_TREE)

    def test_installed_headers_need_no_internal_one(self):
        include = self.moved_install() / "include"
        headers = sorted(include.rglob("*.hpp"))
        self.assertIn(include / "lloyd" / "fit.hpp", headers)
        self.assertFalse((include / "lloyd" / "internal").exists())
        for header in headers:
            for name in re.findall(r"#include <(lloyd/[^>]+)>", header.read_text()):
                self.assertIn(include / name, headers, f"{header} includes it")

    def test_core_of_a_moved_install(self):
        self.embed(self.moved_install())

    @unittest.skipUnless(platform.machine() == "x86_64", "the flags and the words are x86-64's")
    def test_distances_are_not_contracted(self):
        # The processor may lack the instructions, so the code is disassembled, not run.
        source = self.template()
        lloyd = self.moved_install()
        self.build(source, lloyd, "-DCMAKE_CXX_FLAGS=-mfma", compiler="g++")
        self.assertNotIn("vfmadd", self.command(
            "objdump", "-d", source / "build" / "lloyd_plugin-template.so"))
        # The control: the same source compiled without lloyd_add_plugin contains them.
        self.command("g++", "-std=gnu++20", "-O3", "-mfma", "-fPIC", "-shared", "-o", "plain.so",
                     f"-I{lloyd / 'include'}", '-DLLOYD_PLUGIN_NAME="plain"',
                     '-DLLOYD_PLUGIN_VERSION="1"', source / "backend.cpp")
        self.assertIn("vfmadd", self.command("objdump", "-d", "plain.so"))


if __name__ == "__main__":
    unittest.main()
