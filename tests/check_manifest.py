"""Fails unless every test of a manifest ran and passed, or was skipped for a reason that it states.

Usage: check_manifest.py BUILD_FOLDER MANIFEST [--only GLOB] [--without GLOB...]
       check_manifest.py BUILD_FOLDER MANIFEST --update [--prune]

The manifest has one test name per line. A test that ran but is not listed is a failure, except for those of a
plugin, since a build may have further backends. --only selects names by a glob, with the prefix `unit.` for unit tests;
--without excludes names.
The outcomes are read from BUILD_FOLDER/test_results: ctest.xml, which `ctest --output-junit` writes, and one
file per GoogleTest process; a test in none of these files did not run.

--update adds the build's tests to the manifest, without running them. Tests of the manifest that the build lacks
are printed and stay, since a build without nvcc, HDF5 or doxygen lacks some; --prune takes them out, after a test
was renamed or deleted. Of a CUDA backend, the manifest has only the case that also runs without a device.

Prints the skipped tests with their reasons, then the numbers of passed, skipped and failed tests.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def is_gtest(ctest_name: str) -> bool:
    """True if ctest's test is a share of a GoogleTest program (lloyd_add_gtests)."""
    return re.fullmatch(r".+\.[0-9]+", ctest_name) is not None


def gtest_name(ctest_name: str, case: xml.etree.ElementTree.Element, suite: str) -> str:
    """The manifest's name of a test: unit tests have no prefix, others have the program's name as prefix."""
    program = ctest_name.rpartition(".")[0]
    return ("" if program == "unit" else f"{program}.") + f"{suite}.{case.get('name')}"


def gtests_of(path: pathlib.Path, ctest_name: str):
    """(name, element) of each test in a result file of GoogleTest."""
    for suite in xml.etree.ElementTree.parse(path).getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            yield gtest_name(ctest_name, case, suite.get("name")), case


def outcome_of(case: xml.etree.ElementTree.Element) -> tuple[str, str]:
    """The outcome (passed, skipped, failed or absent), and the reason of a skipped test."""
    if case.find("failure") is not None or case.get("status") == "fail":
        return "failed", ""
    skipped = case.find("skipped")
    if skipped is None:
        return ("passed" if case.get("status") == "run" else "absent"), ""
    # unittest prints the reason to standard output, from which ctest recognises the skipped test.
    printed = re.search(r"skipped ['\"](.*)['\"]$", case.findtext("system-out") or "", re.M)
    # GoogleTest's message begins with the source location.
    reason = printed[1] if printed else re.sub(r"^\S+:[0-9]+\n", "", skipped.get("message") or "")
    return ("skipped" if reason.strip() else "absent"), " ".join(reason.split())


def full_name(name: str) -> str:
    """A name of the manifest with its program: only unit test suites begin with a capital letter."""
    return f"unit.{name}" if name[:1].isupper() else name


def results_of(build_folder: pathlib.Path) -> dict[str, tuple[str, str]]:
    """The outcome of each test that ran, and the reasons of skipped tests."""
    results = {}
    for path in sorted((build_folder / "test_results").glob("*.xml")):
        if is_gtest(path.stem):
            cases = gtests_of(path, path.stem)
        else:
            cases = ((case.get("name"), case)
                     for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"))
        results.update((name, outcome_of(case)) for name, case in cases)
    return results


def tests_of(build_folder: pathlib.Path) -> set[str]:
    """The names of all tests of a build that also exist where there is no GPU."""
    listing = subprocess.run(
        ["ctest", "--test-dir", build_folder, "--show-only=json-v1"],
        check=True, capture_output=True, text=True).stdout
    found = set()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GTEST_")}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tests.xml"
        for test in json.loads(listing)["tests"]:
            name = test["name"]
            if not is_gtest(name):
                found.add(name)
            elif name.endswith(".1"):
                if "command" not in test:  # ctest leaves out the command of a program that does not exist
                    program = name.rpartition(".")[0] + "_tests"
                    sys.exit(f"check_manifest.py: {program} is not built in {build_folder}")
                subprocess.run([test["command"][0], "--gtest_list_tests", f"--gtest_output=xml:{path}"],
                               check=True, stdout=subprocess.DEVNULL, env=environment)
                found.update(listed for listed, _ in gtests_of(path, name))
    return {name for name in found if not needs_device(name)}


def needs_device(name: str) -> bool:
    """True for the conformance cases that exist only where a CUDA backend finds a device."""
    return (re.match(r"conformance\.(interleaved\.(.*/)?)?cuda_", name) is not None
            and not name.endswith(".device"))


def update(build_folder: pathlib.Path, manifest: pathlib.Path, prune: bool) -> None:
    previous = set(manifest.read_text().splitlines())
    found = tests_of(build_folder)
    manifest.write_text("".join(f"{name}\n" for name in sorted(found if prune else found | previous)))
    for name in sorted(found - previous):
        print(f"added: {name}")
    for name in sorted(previous - found):
        print(f"removed: {name}" if prune else f"kept, but not in this build: {name}")


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build_folder", type=pathlib.Path)
    parser.add_argument("manifest", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--prune", action="store_true")
    parser.add_argument("--only", default="*")
    parser.add_argument("--without", nargs="*", default=[])
    options = parser.parse_args()
    if options.prune and not options.update:
        parser.error("--prune is for --update")
    if options.update:
        update(options.build_folder, options.manifest, options.prune)
        return 0

    results = results_of(options.build_folder)
    listed = set(options.manifest.read_text().splitlines())
    expected = {
        name for name in listed
        if fnmatch.fnmatchcase(full_name(name), options.only)
        and not any(fnmatch.fnmatchcase(name, glob) for glob in options.without)}
    for name in sorted(expected - results.keys()):
        results[name] = "absent", ""
    for name in sorted(results.keys() - listed):
        if is_gtest(name) or name.startswith(("conformance.", "abi.")):
            continue
        print(f"not in {options.manifest}: {name}; check_manifest.py --update adds it", file=sys.stderr)
        results[name] = "failed", ""
    counts = collections.Counter()
    max_absent_lines = 20  # a crashed process leaves hundreds of absent tests
    for name, (outcome, reason) in sorted(results.items()):
        if is_gtest(name) and outcome != "failed":
            continue  # a share of a program, whose tests are counted one by one
        counts[outcome] += 1
        if outcome == "skipped":
            print(f"skipped: {name}: {reason}")
        elif outcome == "failed":
            print(f"failed: {name}", file=sys.stderr)
        elif outcome == "absent" and counts[outcome] <= max_absent_lines:
            print(f"did not run: {name}", file=sys.stderr)
    failed = counts["failed"] + counts["absent"]
    print(f"{counts['passed']} passed, {counts['skipped']} skipped, {failed} failed"
          + (f" ({counts['absent']} of them did not run)" if counts["absent"] else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
