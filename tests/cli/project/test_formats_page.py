"""docs/file_formats.md lists all keys that the program writes, and its program joins labels and rows."""

import csv
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, ROOT, TestCase, run


class FileFormats(TestCase):
    def check(self, document):
        """Each key of the object and of nested objects appears in the page as `key`."""
        page = (ROOT / "docs" / "file_formats.md").read_text()
        for key, value in document.items():
            self.assertIn(f"`{key}`", page)
            if isinstance(value, dict):
                self.check(value)

    def test_every_key_of_a_model(self):
        model = self.folder / "model.json"
        run("fit", IRIS, "-k", "3", "--model", model)
        self.check(json.loads(model.read_text()))

    def test_every_extension(self):
        page = (ROOT / "docs" / "file_formats.md").read_text()
        sentence = run("data", "info", self.folder / "x.unknown", status=2).stderr
        extensions = re.findall(r"\.[a-z0-9]+", sentence.split(" unknown; ")[1])
        self.assertGreaterEqual(len(extensions), 9)
        for extension in extensions:
            self.assertIn(f"`{extension}`", page)

    def test_the_program_joins_labels_and_rows(self):
        page = (ROOT / "docs" / "file_formats.md").read_text()
        program = re.search(r"### Join labels and rows\n.*?```python\n(.*?)```", page, re.DOTALL)[1]
        rows = [[str(i % 2 * 20 + i % 5), "" if i == 7 else str(i % 3), "a\nb, c" if i % 4 == 0 else "d"] for i in range(20)]
        lines = [f'{x},{y},"{note}"' for x, y, note in rows]
        for end in ("\n", "\r\n"):
            text = end.join(["x,y,note", *lines[:5], "", *lines[5:12], " \t", "", *lines[12:], "", ""])
            self.write("data.csv", b"\xef\xbb\xbf" + text.encode())
            run("fit", "data.csv", "-k", "2", "--drop-columns", "note", "--drop-missing", "--labels", "labels.csv",
                cwd=self.folder)
            labels = (self.folder / "labels.csv").read_text().split()
            self.assertEqual((len(labels), labels.count("-1"), labels[7]), (20, 1, "-1"))
            subprocess.run([sys.executable, "-c", program], cwd=self.folder, check=True)
            with open(self.folder / "labelled.csv", newline="") as file:
                joined = list(csv.reader(file))
            self.assertEqual(joined[0], ["x", "y", "note", "cluster"])
            self.assertEqual(joined[1:], [[*row, label] for row, label in zip(rows, labels)])


if __name__ == "__main__":
    unittest.main()
