"""Builds projects that find Lloyd as third-party projects do: in its build folder or in an installed copy."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from program import LLOYD, ROOT, SANITIZED, TestCase

BUILD_TREE = pathlib.Path(LLOYD).resolve().parents[1]
TEMPLATE = ROOT / "apps" / "plugin_template"
CUDA_TEMPLATE = ROOT / "apps" / "cuda_plugin_template"
# An option of configure() and build() for plugins that compute little.
UNOPTIMISED = "-DCMAKE_BUILD_TYPE=Debug"


def find_nvcc():
    """An nvcc with C++20 (12 or newer), in PATH or where NVIDIA's packages put it; None if there is none."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is None:
        return None
    printed = subprocess.run([nvcc, "--version"], stdout=subprocess.PIPE, text=True).stdout
    release = re.search(r"release ([0-9]+)\.", printed)
    return nvcc if release and int(release.group(1)) >= 12 else None


NVCC = find_nvcc()
needs_nvcc = unittest.skipUnless(NVCC, "nvcc 12 or newer is not installed")


@unittest.skipIf(SANITIZED, "the plain build shows it")
class OutOfTreeCase(TestCase):
    SPACE = 300_000_000

    def command(self, *words, cwd=None, status=0, environment=None):
        """Runs a command; fails unless it ends with `status` (None: any status but 0). Returns its output."""
        done = subprocess.run(
            [str(word) for word in words], cwd=cwd or self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=550,
            env={**os.environ, "OMP_WAIT_POLICY": "passive", "CCACHE_BASEDIR": str(self.folder),
                 **(environment or {})})
        wrong = done.returncode == 0 if status is None else done.returncode != status
        if wrong:
            self.fail(f"{' '.join(map(str, words))}: ended with status {done.returncode}, not "
                      f"{'a failure' if status is None else status}\n{done.stdout[-4000:]}")
        return done.stdout

    def configure(self, source, lloyd, *options, compiler=None, status=0):
        """Configures `source` into its folder `build`, using the Lloyd in the folder `lloyd`."""
        if compiler:
            options = (f"-DCMAKE_CXX_COMPILER={compiler}", *options)
        if shutil.which("ccache"):
            options = ("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", *options)
        return self.command("cmake", "-G", "Ninja", "-S", source, "-B", source / "build",
                            f"-DCMAKE_PREFIX_PATH={lloyd}", *options, status=status)

    def build(self, source, lloyd, *options, compiler=None):
        self.configure(source, lloyd, *options, compiler=compiler)
        return self.command("cmake", "--build", source / "build")

    def ctest(self, source, *options, status=0):
        return self.command("ctest", "--test-dir", source / "build", "--no-tests=error",
                            "--output-on-failure", *options, status=status)

    def template(self, name="template", change=lambda backend: backend):
        """A copy of the example with a changed backend source."""
        folder = self.folder / name
        shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("build"))
        source = (folder / "backend.cpp").read_text()
        (folder / "backend.cpp").write_text(change(source))
        return folder

    def replace(self, old, new):
        """A change for template(): replaces one text."""
        def change(source):
            self.assertEqual(source.count(old), 1, f"the template has no single '{old}'")
            return source.replace(old, new)
        return change

    def moved_install(self):
        """An installed copy that was moved: no file may contain the original path."""
        first, second = self.folder / "installed", self.folder / "moved to, später" / "lloyd"
        self.command("cmake", "--install", BUILD_TREE, "--prefix", first)
        second.parent.mkdir()
        first.rename(second)
        return second
