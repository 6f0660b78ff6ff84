"""The SDK in CUDA sources. The backends are CPU code, so no GPU is needed."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from out_of_tree import BUILD_TREE, NVCC, OutOfTreeCase, needs_nvcc
from program import ROOT


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
