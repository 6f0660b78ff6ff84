#!/usr/bin/env python3
"""An external program that needs only Python's standard library; MODE makes it misbehave."""

import array
import ast
import json
import os
import pathlib
import sys
import time

MODE = "honest"

DESCRIPTION = {
    "protocol": 1, "name": "plain-python", "version": "1.2", "summary": "loops",
    "algorithm": "lloyd", "accuracy": "float32", "reproducibility": "run", "dtypes": ["float32"],
    "parameters": [
        {"name": "speed", "type": "choice", "choices": ["slow", "slower"], "meaning": "words"},
        {"name": "threads", "type": "integer", "default": 1, "minimum": 1, "maximum": 4},
        {"name": "loud", "type": "boolean", "default": False}]}
if MODE.startswith("prepares"):
    DESCRIPTION["prepare"] = True


def read_npy(path):
    """The rows of a C-order array."""
    data = pathlib.Path(path).read_bytes()
    header = ast.literal_eval(data[10:10 + int.from_bytes(data[8:10], "little")].decode())
    values = array.array({"<f4": "f", "<f8": "d"}[header["descr"]],
                         data[10 + int.from_bytes(data[8:10], "little"):])
    columns = header["shape"][1]
    return [values[i:i + columns] for i in range(0, len(values), columns)]


def write_npy(path, values, shape, form="<f8"):
    header = repr({"descr": form, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") +
                                   header + array.array("d", values).tobytes())


def nearest(samples, centroids):
    def distance(x, c):
        return sum((a - b) ** 2 for a, b in zip(x, c))
    return [min(range(len(centroids)), key=lambda c: distance(x, centroids[c])) for x in samples]


def fit(samples, request):
    centroids = [list(row) for row in read_npy(request["centroids"])]
    start = time.perf_counter()
    for _ in range(min(request["max_iterations"], 1000)):
        labels = nearest(samples, centroids)
        for c in range(len(centroids)):
            own = [x for x, label in zip(samples, labels) if label == c]
            if own:
                centroids[c] = [sum(column) / len(own) for column in zip(*own)]
    labels = nearest(samples, centroids)
    ms = (time.perf_counter() - start) * 1e3
    if MODE == "wrong-labels":
        labels = [(label + 1) % len(centroids) for label in labels]
    if MODE == "label-k":
        labels[3] = len(centroids)
    write_npy(request["labels"], labels[MODE == "too-few-labels":],
              (len(labels) - (MODE == "too-few-labels"),))
    write_npy(request["final_centroids"], [value for row in centroids for value in row],
              (len(centroids), len(centroids[0])))
    if MODE.startswith("huge-"):
        # A sparse file: a GiB by its shape. The byte order is not this machine's.
        rows = 2**27
        file = request[MODE.removeprefix("huge-")]
        write_npy(file, [], (rows, 1), "<f8" if sys.byteorder == "big" else ">f8")
        os.truncate(file, 128 + 8 * rows)
    answer = {"iterations": request["max_iterations"], "loop_ms": ms, "closing_ms": 0,
              "converged": False, "notes": "all in loops"}
    if MODE == "early":
        answer |= {"iterations": request["max_iterations"] - 1 or 1, "converged": True}
    if MODE == "gives-up":
        answer |= {"iterations": 1, "converged": False}
    if MODE == "claims-much":
        answer |= {"iterations": request["max_iterations"], "converged": True}
    if MODE == "counts":
        answer["distances"] = len(samples) * len(centroids) * (answer["iterations"] + 1)
    if MODE == "counts-badly":
        answer["distances"] = -1
    if MODE == "no-time":
        del answer["loop_ms"]
    return answer


def twice(line):
    """Writes both lines in one call, so that they arrive together."""
    sys.stdout.write(f"{line}\n{line}\n")
    sys.stdout.flush()


def serve():
    samples = None
    former = {}  # the last answer to each request
    fits = 0
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        late = ""
        if request["request"] == "prepare":
            if MODE == "prepares-hangs":
                time.sleep(1000)
            # Long enough for a trial of another backend, were there one.
            time.sleep(1)
            records = pathlib.Path(sys.argv[0]).parent / f"results-{MODE}" / "records.jsonl"
            trials = records.read_text().count("\n") if records.exists() else 0
            with open(f"{__file__}.prepared", "a") as log:
                print(trials, *former, file=log)
            if MODE == "prepares-not":
                answer = {"error": "no package"}
            if MODE == "prepares-exits":
                sys.exit(3)
            if MODE == "prepares-dies":
                print("{}", flush=True)
                sys.exit(3)
        if request["request"] == "open" and (answered := MODE.removeprefix("answers-after-open-")) in former:
            late = former[answered] + "\n"
        if request["request"] == "open":
            assert set(request["parameters"]) == {"speed", "threads", "loud"}, request
            samples = read_npy(request["samples"])
            if MODE == "open-hangs":
                time.sleep(1000)
            if MODE == "answers-open-twice":
                twice("{}")
                continue
            if MODE == "talks-to-terminals":
                sys.stderr.write("\033[31mserving\n")
                os.abort()
        elif request["request"] == "close":
            if MODE == "close-exits":
                sys.exit(4)
            if MODE == "closes-and-exits":
                print("{}", flush=True)
                sys.exit(4)
            if MODE == "close-hangs":
                time.sleep(1000)
            if MODE == "close-fails":
                answer = {"error": "the \033[1mlid\033[0m is stuck\n"}
            if MODE == "answers-close-twice":
                twice("{}")
                continue
        elif request["request"] == "fit":
            if MODE == "crashes":
                os.abort()
            if MODE == "exits":
                sys.exit(3)
            if MODE == "hangs":
                time.sleep(1000)
            if MODE == "closes-output":
                os.close(1)
                time.sleep(1000)
            if MODE == "endless":
                while True:
                    sys.stdout.write("x" * 65536)
            fits += 1
            if MODE == "fails" or (MODE == "fails-later" and fits > 4):
                answer = {"error": "the moon is full"}
            elif MODE == "says-nothing":
                answer = {"error": " "}
            elif MODE == "empty-line":
                print(flush=True)
                continue
            elif MODE == "garbage":
                print("{not json", flush=True)
                continue
            else:
                answer = fit(samples, request)
                if MODE == "answers-fit-twice":
                    twice(json.dumps(answer))
                    continue
                if MODE == "answers-fit-late":
                    print(json.dumps(answer), flush=True)
                    sys.stdin.readline()  # the request is `close`
        former[request["request"]] = json.dumps(answer)
        sys.stdout.write(f"{late}{json.dumps(answer)}\n")  # in one call, so that both arrive together
        sys.stdout.flush()


if sys.argv[1] == "serve":
    serve()
elif MODE == "no-description":
    print("hello")
elif MODE == "describe-fails":
    sys.exit(5)
elif MODE == "unavailable":
    print(json.dumps({"protocol": 1, "name": "plain-python", "unavailable": "it rains"}))
elif MODE == "describe-closes-output":
    print(json.dumps(DESCRIPTION), flush=True)
    os.close(1)
    time.sleep(1000)
elif MODE == "two-lines":
    print(json.dumps(DESCRIPTION | {"summary": "loops\nand more"}))
elif MODE == "leaves-child" and sys.argv[1] == "describe" and not os.fork():
    os.close(2)
    time.sleep(1000)
elif MODE == "leaves-daemon" and sys.argv[1] == "describe" and not os.fork():
    os.setsid()
    os.closerange(0, 3)
    time.sleep(1000)
elif MODE == "describe-talks":
    sys.stderr.write("\033[31mdescribing\n")
    sys.exit(6)
elif MODE.endswith("changes") and os.path.exists(__file__ + ".described"):
    print(json.dumps(DESCRIPTION | {"version": "1.3", "accuracy": "half"}))
else:
    if MODE.endswith("changes"):
        pathlib.Path(__file__ + ".described").touch()
    print(json.dumps(DESCRIPTION | {"protocol": 2 if MODE == "other-protocol" else 1}))
