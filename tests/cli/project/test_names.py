"""tests/check_names.py on artificial trees: what it accepts, and what it finds."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase

SCRIPT = ROOT / "tests" / "check_names.py"
HEADER = """#pragma once
#include <vector>
#define SQUARE(x) ((x) * (x))
namespace lloyd {
struct Sample;
/// A comment with scattered_in_a_comment(1) and a brace {.
template <class T, class F = std::function<void(int)>>
std::vector<T> scattered(std::int64_t n, F body = {}) {
  if (n > 0) used_inside(n);
  return {};
}
[[nodiscard]] inline bool process_ends(int pid);
namespace inner {
void apart(const std::vector<int>& values = {1, 2}) noexcept;
}
}  // namespace lloyd
"""
USER = """#include "unit/support/samples.hpp"
namespace lloyd {
namespace {
int scattered(int n) { return n; }
}
}
"""
OTHER = """#include <string>
namespace lloyd {
void defined_elsewhere() {}
namespace {
DECLARATION
}
TEST(Suite, Case) { scattered(1); }
}
"""


class Names(TestCase):
    def setUp(self):
        super().setUp()
        (self.folder / "core" / "include").mkdir(parents=True)
        self.put("tests/unit/support/samples.hpp", HEADER)
        self.put("tests/unit/user_test.cpp", USER)

    def put(self, file, text):
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, *names):
        """Expects faults for these names of tests/unit/other_test.cpp alone."""
        done = subprocess.run([sys.executable, "-B", SCRIPT, self.folder], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr.splitlines(),
                         [f"tests/unit/other_test.cpp: '{name}' in its anonymous namespace is also a function of "
                          "tests/unit/support/samples.hpp, which it does not include: rename it" for name in names])
        self.assertEqual(done.returncode, 1 if names else 0)

    def test_functions_and_types_of_that_name_are_found(self):
        for declaration in ("double scattered(double n) { return n; }",
                            "template <class T> T scattered(std::pair<T, int (*)(int)> n);",
                            "struct scattered { int n; };", "enum class scattered { one };",
                            "using scattered = int;"):
            with self.subTest(declaration):
                self.put("tests/unit/other_test.cpp", OTHER.replace("DECLARATION", declaration))
                self.check("scattered")
        self.put("tests/unit/other_test.cpp",
                 OTHER.replace("DECLARATION", "bool process_ends(long); namespace other { int apart() { return 1; } }"))
        self.check("process_ends")
        self.put("tests/unit/other_test.cpp",
                 "namespace lloyd::inner {\nnamespace {\nint apart() { return '{'; }\n}\n}\n")
        self.check("apart")

    def test_other_uses_of_the_name_pass(self):
        for declaration in ("int scattered = 1;", "int f(int scattered);", "struct Set { int scattered(int n); };",
                            "int f() { return scattered(1); }", "// int scattered(int n);",
                            "const char* text = \"int scattered(int n);\";", "int used_inside(int n);",
                            "int scattered_in_a_comment(int n);", "int SQUARE(int n);"):
            with self.subTest(declaration):
                self.put("tests/unit/other_test.cpp", OTHER.replace("DECLARATION", declaration))
                self.check()

    def test_an_overload_of_an_included_header_passes(self):
        self.check()

    def test_another_group_does_not_see_the_header(self):
        self.put("apps/other.cpp", OTHER.replace("DECLARATION", "int scattered(int n);"))
        self.check()

    def test_a_type_that_two_files_define_is_found(self):
        text = OTHER.replace("DECLARATION", "struct Release { int n; };")
        self.put("tests/unit/first_test.cpp", text)
        self.put("tests/unit/second_test.cpp", OTHER.replace("DECLARATION", "class Release;"))
        self.put("tests/bad_plugins/third.cpp", text)  # not compiled together with the others
        self.check()
        self.put("tests/unit/second_test.cpp", OTHER.replace("DECLARATION", "class Release final : Base {};"))
        done = subprocess.run([sys.executable, "-B", SCRIPT, self.folder], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "tests/unit/second_test.cpp: its anonymous namespace defines 'Release', as does "
                                      "that of tests/unit/first_test.cpp: rename one of them, or share it\n")
        self.assertEqual(done.returncode, 1)

    def test_another_folder_than_the_root_is_refused(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT, self.folder / "tests"], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected the root of the project", done.stderr)


if __name__ == "__main__":
    unittest.main()
