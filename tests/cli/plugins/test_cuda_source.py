"""The SDK in CUDA sources, and the CUDA template on an emulated device. No GPU is needed."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from out_of_tree import BUILD_TREE, CUDA_TEMPLATE, NVCC, OutOfTreeCase, needs_nvcc
from program import ROOT


EMULATED = pathlib.Path(__file__).resolve().parent / "emulated_cuda"


class EmulatedDevice(OutOfTreeCase):
    """The template compiled for the host, with a CUDA runtime that runs the threads one after another."""

    def build_template(self, change=lambda text: text):
        source = self.folder / "emulated"
        source.mkdir()
        text, launches = re.subn(r"label_kernel<<<(.*?)>>>\(",
                                 r"launch_on_host(\1, [](auto... values) { label_kernel(values...); }, ",
                                 change((CUDA_TEMPLATE / "backend.cu").read_text()), flags=re.DOTALL)
        self.assertEqual(launches, 1)
        (source / "backend.cpp").write_text(text)
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(emulated VERSION 1.0 LANGUAGES CXX)\n"
            "enable_testing()\nfind_package(Lloyd REQUIRED)\nlloyd_add_plugin(emulated SOURCES backend.cpp)\n"
            f"target_include_directories(lloyd_emulated PRIVATE [[{EMULATED}]])\n")
        self.build(source, BUILD_TREE, "-DCMAKE_BUILD_TYPE=Release")
        return source

    def test_cuda_template_passes_the_suite(self):
        source = self.build_template()
        self.assertRegex(self.ctest(source), r"conformance\.emulated \.+ +Passed")
        listing = self.command(BUILD_TREE / "bin" / "lloyd", "backends", "emulated", "--json", "--plugin-dir",
                               source / "build")
        self.assertEqual([(device["name"], device["kind"]) for device in json.loads(listing)["devices"]],
                         [("emulated device 0", "gpu"), ("emulated device 1", "gpu")])
        refused = self.command(BUILD_TREE / "bin" / "lloyd", "fit", ROOT / "configs" / "data" / "iris.csv", "-k", "3",
                               "--plugin-dir", source / "build", "-b", "emulated", "--param", "device=2", status=None)
        self.assertIn("device is 2, but there are only 2 devices, counted from 0", refused)

    def test_emulation_shows_a_wrong_kernel(self):
        source = self.build_template(self.replace("if (distance < smallest)", "if (distance <= smallest)"))
        self.assertRegex(self.ctest(source, status=8), r"failed +")


@needs_nvcc
class CudaSource(OutOfTreeCase):
    def test_backend_of_readme_compiles_as_cuda(self):
        readme = (ROOT / "README.md").read_text()
        source = self.folder / "mine"
        source.mkdir()
        (source / "mine.cu").write_text(re.search(r"```cpp\n(#include <lloyd/plugin/plugin.*?)```", readme,
                                                  re.DOTALL).group(1))
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(mine VERSION 1.0 LANGUAGES CXX CUDA)\n"
            "find_package(Lloyd REQUIRED)\nlloyd_add_plugin(mine SOURCES mine.cu)\n")
        self.build(source, BUILD_TREE, f"-DCMAKE_CUDA_COMPILER={NVCC}", "-DCMAKE_CUDA_ARCHITECTURES=90",
                   "-DCMAKE_BUILD_TYPE=Release")
        verified = self.command(BUILD_TREE / "bin" / "lloyd", "verify", source / "build" / "lloyd_mine.so",
                                "--case", "lattice/*")
        self.assertRegex(verified, r"mine 1\.0: [1-9][0-9]* passed, 0 failed")


if __name__ == "__main__":
    unittest.main()
