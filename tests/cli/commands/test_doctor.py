"""lloyd doctor: its report on a machine, in JSON and on one screen."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import BAD_PLUGINS, LLOYD, TestCase, run, run_json

# A stand-in for NVIDIA's management library, with the functions of nvml.h that doctor calls.
NVML = r"""
#include <string.h>
#ifdef BROKEN
int nvmlInit_v2(void) { return 9; }
#else
int nvmlInit_v2(void) { return 0; }
#endif
int nvmlShutdown(void) { return 0; }
const char* nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "other"; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) { strncpy(text, "570.124", size); return 0; }
int nvmlSystemGetCudaDriverVersion_v2(int* version) { *version = 12080; return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { *count = 2; return 0; }
static int devices[2];
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) { *device = devices + i; return 0; }
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  strncpy(text, device == devices ? "First GPU" : "Second GPU", size);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* total_free_used) {
  total_free_used[0] = 1ull << 34;
  total_free_used[1] = total_free_used[2] = 1ull << 33;
  return device == devices ? 0 : 3;
}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  *major = 9;
  *minor = device == devices;
  return 0;
}
"""


class Doctor(TestCase):
    def test_json_has_every_key_with_its_type(self):
        report = run_json("doctor")
        number, text = (int, float), str
        optional = lambda kind: (kind if isinstance(kind, tuple) else (kind,)) + (type(None),)
        expected = {
            "lloyd": dict, "os": text, "load": optional(number), "cpu": dict, "caches": list,
            "memory": dict, "ceilings": dict, "gpus": dict, "openmp_runtimes": list,
            "hdf5": dict, "environment": dict, "plugins": list, "refused": list, "usable": bool, "warnings": list}
        self.assertEqual(list(report), list(expected))
        for key, kind in expected.items():
            self.assertIsInstance(report[key], kind, key)
        for part, keys in {
                "lloyd": {"version": text, "compiler": text, "build_type": text, "flags": text,
                          "commit": optional(text), "libraries": dict},
                "cpu": {"model": optional(text), "features": list, "physical_cores": optional(int),
                        "logical_processors": int, "allowed_processors": int,
                        "quota_processors": optional(number), "kinds": list,
                        "governor": optional(text), "sockets": optional(int),
                        "boost": optional(bool)},
                "memory": {"total_bytes": int, "available_bytes": int, "limit_bytes": optional(int)},
                "hdf5": {"version": optional(text), "file": optional(text), "problem": optional(text)},
                "gpus": {"driver": optional(text), "cuda": optional(text), "list": list,
                         "problem": optional(text)}}.items():
            self.assertEqual(list(report[part]), list(keys))
            for key, kind in keys.items():
                self.assertIsInstance(report[part][key], kind, f"{part}.{key}")
        self.assertEqual(report["cpu"]["allowed_processors"], len(os.sched_getaffinity(0)))
        self.assertIn("-ffp-contract=off", report["lloyd"]["flags"])
        for rate in ("float32_gflops", "float64_gflops", "read_gbs", "triad_gbs"):
            for threads in ("one_thread", "all_threads"):
                self.assertGreater(report["ceilings"][rate][threads], 0)
        for plugin in report["plugins"]:
            self.assertTrue(pathlib.Path(plugin["file"]).is_file())
            self.assertEqual(plugin["available"], plugin["reason"] is None)
        self.assertTrue(report["usable"])

    def test_plugins_are_those_that_backends_lists(self):
        listed = run_json("backends")["backends"]
        found = run_json("doctor", "--quick")["plugins"]
        self.assertEqual([(b["name"], b["version"], b["file"]) for b in listed],
                         [(p["name"], p["version"], p["file"]) for p in found])
        text = run("doctor", "--quick").stdout
        for backend in listed:
            self.assertRegex(text, rf"(?m)^ +{backend['name']} +{backend['version']}, ABI ")

    def test_quick_measures_nothing(self):
        self.assertIsNone(run_json("doctor", "--quick")["ceilings"])
        self.assertIn("nothing (--quick)", run("doctor", "--quick").stdout)

    def test_text_fits_a_screen(self):
        lines = run("doctor").stdout.splitlines()
        self.assertLessEqual(len(lines), 45)
        for line in lines:
            if len(line) > 120:
                self.assertNotIn(" ", line[13:], "only a path may be wider")
        self.assertTrue(any("GFLOP/s" in line for line in lines))

    def test_a_refused_plugin_is_a_warning_with_its_reason(self):
        bad = self.write("lloyd_bad.so", "no library")
        report = run_json("--plugin-dir", self.folder, "doctor", "--quick")
        self.assertEqual([refused["file"] for refused in report["refused"]], [str(bad)])
        reason = report["refused"][0]["reason"]
        self.assertTrue(any(reason in warning for warning in report["warnings"]))
        text = run("--plugin-dir", self.folder, "doctor", "--quick").stdout
        self.assertIn("warning: a plugin is refused", text)

    def test_an_openmp_runtime_is_named_with_its_file(self):
        folder = BAD_PLUGINS / "brings-openmp"
        if not folder.exists():
            self.skipTest("the compiler has no OpenMP")
        runtimes = run_json("--plugin-dir", folder, "doctor", "--quick")["openmp_runtimes"]
        self.assertTrue(runtimes, "the plugin loads one")
        for runtime in runtimes:
            self.assertTrue(os.path.basename(runtime["path"]).startswith(runtime["name"]))

    def test_environment_shows_what_is_set(self):
        done = run("doctor", "--quick", "--json",
                   env={"OMP_WAIT_POLICY": "passive", "LLOYD_PLUGIN_PATH": "relative"})
        report = json.loads(done.stdout)
        self.assertEqual(report["environment"]["OMP_WAIT_POLICY"], "passive")
        self.assertTrue(any("'relative' is ignored" in w for w in report["warnings"]))

    def test_affinity_mask_is_seen(self):
        allowed = sorted(os.sched_getaffinity(0))
        if len(allowed) < 2:
            self.skipTest("needs two processors")
        done = subprocess.run(["taskset", "-c", str(allowed[0]), LLOYD, "doctor", "--json"],
                              capture_output=True, text=True, timeout=120, check=True)
        report = json.loads(done.stdout)
        self.assertEqual(report["cpu"]["allowed_processors"], 1)
        self.assertEqual(report["ceilings"]["threads"], 1)
        self.assertTrue(any("may run on 1 of" in warning for warning in report["warnings"]))

    def test_without_plugins_the_status_is_1(self):
        lonely = self.folder / "lloyd"
        shutil.copy(LLOYD, lonely)  # a folder without plugins
        environment = {k: v for k, v in os.environ.items() if k != "LLOYD_PLUGIN_PATH"}
        for arguments in (["--json"], []):
            done = subprocess.run([lonely, "doctor", "--quick", *arguments], capture_output=True,
                                  text=True, timeout=120, env=environment)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("there is no plugin", done.stdout)


class Gpus(TestCase):
    def library(self, *options):
        source = self.write("nvml.cpp", 'extern "C" {' + NVML + "}")
        subprocess.run([os.environ["CXX"], "-shared", "-fPIC", *options, source, "-o",
                        self.folder / "libnvidia-ml.so.1"], check=True, timeout=120)
        return {"LD_LIBRARY_PATH": str(self.folder)}

    def test_are_listed_with_the_driver(self):
        environment = self.library()
        gpus = json.loads(run("doctor", "--quick", "--json", env=environment).stdout)["gpus"]
        self.assertEqual((gpus["driver"], gpus["cuda"]), ("570.124", "12.8"))
        self.assertEqual(gpus["list"][0], {"name": "First GPU", "memory_bytes": 1 << 34,
                                           "compute_capability": "9.1"})
        self.assertEqual(gpus["list"][1]["memory_bytes"], None, "the call failed")
        self.assertIn("nvmlDeviceGetMemoryInfo: other", gpus["problem"])
        text = run("doctor", "--quick", env=environment).stdout
        self.assertIn("First GPU, 16.0 GiB, compute capability 9.1", text)
        self.assertIn("driver 570.124, CUDA up to 12.8", text)

    def test_a_driver_that_does_not_answer_is_a_warning(self):
        report = json.loads(run("doctor", "--quick", "--json", env=self.library("-DBROKEN")).stdout)
        self.assertEqual(report["gpus"]["list"], [])
        self.assertIn("nvmlInit: Driver Not Loaded", report["gpus"]["problem"])
        self.assertTrue(any("Driver Not Loaded" in warning for warning in report["warnings"]))


if __name__ == "__main__":
    unittest.main()
