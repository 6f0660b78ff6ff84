"""Prints the fit times of a records.jsonl as the lines of a recording: run, setting and variant, each counted from 0,
then the milliseconds of the rounds in order.

Usage: trim.py RECORDS
"""

import json
import sys

fits = {}
with open(sys.argv[1], encoding="utf-8") as lines:
    for record in map(json.loads, lines):
        place = (record["run"], record["plan"]["setting"], record["plan"]["variant"])
        fits.setdefault(place, {})[record["repeat"]] = record["fit_ms"]
runs = list(dict.fromkeys(run for run, _, _ in fits))
for (run, setting, variant), times in sorted(fits.items(), key=lambda fit: (runs.index(fit[0][0]), fit[0])):
    values = ",".join(f"{times[repeat]:.4f}" for repeat in sorted(times))
    print(f"{runs.index(run)},{setting},{variant},{values}")
