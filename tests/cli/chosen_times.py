"""Records whose times a test has chosen."""

import json


def set_times(records, times, target):
    """Writes to `target` the records, in which the trials of each variant, in each setting, took the
    milliseconds of `times[label]`, one after the other. Trials beyond these are left out, as if the
    run had been interrupted."""
    left, lines = {}, []
    for line in records.read_text().splitlines():
        record = json.loads(line)
        label = record["backend"]["label"]
        own = left.setdefault((label, record["setting"]), list(times[label]))
        if own:
            record["fit_ms"] = own.pop(0)
            lines.append(json.dumps(record))
    target.write_text("\n".join(lines) + "\n")
