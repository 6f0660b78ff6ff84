"""check_links.py and check_words.py report the faults that they are meant to find."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase

CHECK_LINKS = ROOT / "tests" / "check_links.py"
CHECK_WORDS = ROOT / "tests" / "check_words.py"


class DocumentationChecks(TestCase):
    def check(self, script, *arguments):
        """The exit status and the findings of a check."""
        done = subprocess.run([sys.executable, "-B", script, *arguments], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr.splitlines()

    def write_tree(self, files):
        tree = self.folder / "tree"
        for name, text in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        return tree

    def test_broken_links_of_pages(self):
        tree = self.write_tree({
            "README.md": "# Title\n\n[good](docs/page.md#the-end-1) [bad\nlink](docs/absent.md)"
                         "`[code](absent.md)` [`bad`](docs/page.md#absent) [out](https://example.org/absent)\n"
                         "![picture](docs/absent.png)\n```\n[code](absent.md)\n```\n",
            "docs/page.md": "# A page\n\n## The end\n\n## The end\n\n[up](../README.md#title) [out](../../x.md)\n",
            "build/made.md": "[bad](absent.md)\n",
        })
        status, findings = self.check(CHECK_LINKS, tree)
        self.assertEqual(status, 1)
        self.assertEqual(findings, [
            "README.md:3: docs/absent.md: there is no such file",
            "README.md:4: docs/page.md#absent: docs/page.md has no heading of this name",
            "README.md:5: docs/absent.png: there is no such file",
            "docs/page.md:7: ../../x.md: it leads out of the tree",
        ])

    def test_broken_links_between_code_that_goes_on_in_the_next_line(self):
        tree = self.write_tree({"README.md": "`one\ntwo` [bad](absent.md) `three\nfour`\n\nA ` alone. [bad](gone.md)\n"})
        status, findings = self.check(CHECK_LINKS, tree)
        self.assertEqual(status, 1)
        self.assertEqual(findings, ["README.md:2: absent.md: there is no such file",
                                    "README.md:5: gone.md: there is no such file"])

    def test_broken_links_of_a_site(self):
        site = self.write_tree({
            "index.html": '<a href="page.html#here">good</a>\n<a href="page.html#absent">bad</a>\n<img src="absent.png">\n',
            "page.html": '<h2 id="here">Here</h2><a href="#here">good</a>\n',
        })
        status, findings = self.check(CHECK_LINKS, "--html", site)
        self.assertEqual(status, 1)
        self.assertEqual(findings, [
            "index.html:2: page.html#absent: page.html has no heading of this name",
            "index.html:3: absent.png: there is no such file",
        ])

    def test_good_links(self):
        tree = self.write_tree({"README.md": "# Title\n\n[self](#title)\n"})
        self.assertEqual(self.check(CHECK_LINKS, tree), (0, []))

    def test_replaced_words(self):
        tree = self.write_tree({
            "a.cpp": "// old words here\nint kOldThings;\n",
            "kernels/b.cpp": "// old words there\n",
            "c.md": "old records keep the key `old`\n",
        })
        words = self.write("words.txt", "# comment\n\\bold words\\b => new words in kernels/*\n"
                                        "\\bkOld\\w* => kNew...\n`old` => `new`\nallow *.md: keep the key\n")
        status, findings = self.check(CHECK_WORDS, tree, words)
        self.assertEqual(status, 1)
        self.assertEqual(findings, ["a.cpp:2: 'kOldThings'; write: kNew...",
                                    "kernels/b.cpp:1: 'old words'; write: new words",
                                    "2 findings in 3 files"])

    def test_allowances_that_allow_nothing(self):
        tree = self.write_tree({"a.cpp": "// new words\n"})
        words = self.write("words.txt", "old => new\nallow a.cpp: old words\n")
        status, findings = self.check(CHECK_WORDS, tree, words)
        self.assertEqual(status, 1)
        self.assertEqual(findings[0], "words.txt: 'allow a.cpp: old words' allows nothing")

    def test_ordinary_english_is_not_a_finding(self):
        tree = self.write_tree({"apps/a.cpp": "// The loader asks for a password. Three ways of running. It goes on.\n"})
        _, findings = self.check(CHECK_WORDS, tree)
        self.assertEqual([finding for finding in findings if finding.startswith("apps/")], [])


if __name__ == "__main__":
    unittest.main()
