"""docs/file_formats.md lists all keys that the program writes."""

import json
import pathlib
import re
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


if __name__ == "__main__":
    unittest.main()
