"""Prints the medians of a Google Benchmark JSON file, one line per benchmark.

Usage: medians.py FILE
"""

import json
import sys

for run in json.load(open(sys.argv[1], encoding="utf-8"))["benchmarks"]:
    if run.get("aggregate_name") != "median":
        continue
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[run["time_unit"]]
    name = run["run_name"].split("/repeats")[0].split("/iterations")[0]
    print(f"bench        {name:60} {run['real_time'] * scale:10.4f} ms an iteration")
