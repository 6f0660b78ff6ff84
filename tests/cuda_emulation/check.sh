#!/usr/bin/env bash
# Runs the kernels of cuda-fast on the CPU through conformance cases that take about a minute.
# Usage: check.sh LLOYD, the program of a build with tests
set -euo pipefail
lloyd=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(dirname "$0")/build.sh" "$folder" cuda-fast >"$folder/build.log" 2>&1 || {
  tail -n 40 "$folder/build.log"
  exit 1
}
cases=()
for pattern in 'lattice/*' 'edge/*' 'empty/*' 'range/near-ties*' 'range/outlier*' 'range/remote*' 'range/denormals*' \
  'range/many-magnitudes*' 'range/mixed-units*' 'whole-fit/unobserved/float32'; do
  cases+=(--case "$pattern")
done
"$lloyd" verify --require-available --timeout 900 "$folder/lloyd_cuda-fast.so" "${cases[@]}" >"$folder/verify.log" ||
  { grep -v '^passed' "$folder/verify.log" && exit 1; }
# "cuda-fast 0.7.0: 1 passed, 2 failed, 3 skipped", in the order of the other parts.
tail -n 1 "$folder/verify.log" |
  sed -E 's/.*: ([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 passed, \3 skipped, \2 failed: cuda-fast on the CPU/'
