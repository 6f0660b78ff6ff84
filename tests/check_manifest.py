"""Fails when a test named in a manifest is missing from a build.

Usage: check_manifest.py BUILD_FOLDER MANIFEST [--update | --only PREFIX] [--without WORD]

The manifest has a name a line, as `ctest -N` lists them; a build may have more tests (those of a new
backend, for example). --update writes the manifest from the build; --only looks at the names with a
prefix, --without leaves out names with a word.
"""

import json
import pathlib
import subprocess
import sys


def tests_of(build_folder: str) -> list[str]:
    listing = subprocess.run(
        ["ctest", "--test-dir", build_folder, "--show-only=json-v1"],
        check=True, capture_output=True, text=True).stdout
    # Some versions of CMake add the value of a parameter to the name.
    return sorted(test["name"].split("  # ")[0] for test in json.loads(listing)["tests"])


def main() -> int:
    build_folder, manifest = sys.argv[1], pathlib.Path(sys.argv[2])
    found = tests_of(build_folder)
    if "--update" in sys.argv[3:]:
        manifest.write_text("".join(f"{name}\n" for name in found))
        return 0
    options = dict(zip(sys.argv[3::2], sys.argv[4::2]))
    prefix, without = options.get("--only", ""), options.get("--without")
    expected = {name for name in manifest.read_text().splitlines()
                if name.startswith(prefix) and not (without and without in name)}
    missing = sorted(expected - set(found))
    for name in missing:
        print(f"missing test: {name}", file=sys.stderr)
    if missing:
        print(f"{len(missing)} tests of {manifest} are missing from {build_folder}", file=sys.stderr)
        return 1
    print(f"{len(found)} tests found, none of {manifest} missing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
