#!/usr/bin/env bash
# Builds the fuzz targets and runs them on all cores, two minutes each; the corpora persist in
# build/fuzz/corpus. Prints a table; if there are findings, also the paths of their inputs, and status 1.
# Usage: bash tests/fuzz/run.sh [SECONDS_PER_TARGET] [TARGET...]
#        bash tests/fuzz/run.sh --check BUILD_FOLDER   # existing targets: seeds, then a fixed number of
#                                                      # executions (targets.txt), deterministic
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
sources=$PWD/tests/fuzz

check=false
seconds=120
build=build/fuzz
if [ "${1:-}" = --check ]; then
  check=true
  build=${2:?tests/fuzz/run.sh: --check needs the build folder}
  shift 2
elif [[ ${1:-} =~ ^[0-9]+$ ]]; then
  seconds=$1
  shift
fi
mapfile -t known < <(sed -n 's/^\([a-z0-9_]\+\) .*/\1/p' "$sources/targets.txt")
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=("${known[@]}")
for target in "${targets[@]}"; do
  [[ " ${known[*]} " == *" $target "* ]] || {
    echo "tests/fuzz/run.sh: unknown target '$target'; known: ${known[*]}" >&2
    exit 2
  }
done
if ! $check; then
  source apps/setup.sh
  choose_quick_build
  # Configure only once: naming the compiler again would make cmake discard its cache.
  [ -f build/fuzz/build.ninja ] || cmake --preset asan -B build/fuzz "${quick_build[@]}" >/dev/null
  cmake --build build/fuzz --target fuzzers
fi
build=$(cd "$build" && pwd)
for target in "${targets[@]}"; do
  if [ ! -x "$build/bin/fuzz_$target" ]; then
    echo "tests/fuzz/run.sh: $build/bin/fuzz_$target is not there" >&2
    exit 1
  fi
  if [ -z "$(ls "$sources/seeds/$target" 2>/dev/null)" ]; then
    echo "tests/fuzz/run.sh: $sources/seeds/$target has no seeds" >&2
    exit 1
  fi
done

# The targets write the files of their round trips to memory.
TMPDIR=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)" lloyd-fuzz-XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# Runs one target; its log holds the result.
run_target() {
  local target=$1 most_bytes runs
  read -r _ most_bytes runs < <(grep "^$target " "$sources/targets.txt")
  local corpus=$build/corpus/$target findings=$build/findings/$target
  $check && corpus=$TMPDIR/corpus-$target && rm -rf "$findings"
  mkdir -p "$corpus" "$findings"
  # Inputs of earlier findings are tried first.
  find "$findings" -type f -exec mv -t "$corpus" {} +
  local options=(-max_len="$most_bytes" -rss_limit_mb=2048 -malloc_limit_mb=1024 -timeout=20
    -print_final_stats=1 -artifact_prefix="$findings/")
  local dictionary=$sources/dictionaries/$target.dict
  [ ! -f "$dictionary" ] || options+=(-dict="$dictionary")
  if $check; then
    options+=(-runs="$runs" -seed=1)
  else
    options+=(-max_total_time="$seconds")
  fi
  local status=0
  "$build/bin/fuzz_$target" "${options[@]}" "$corpus" "$sources/seeds/$target" \
    >"$build/fuzz_$target.log" 2>&1 || status=$?
  echo "$status" >"$build/fuzz_$target.status"
}
export -f run_target
export build check seconds sources
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -euo pipefail -c 'run_target {}'

failed=0
printf '%-12s %12s %9s %9s\n' target executions coverage findings
for target in "${targets[@]}"; do
  log=$build/fuzz_$target.log
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  findings=$(find "$build/findings/$target" -type f | wc -l)
  printf '%-12s %12s %9s %9s\n' "$target" "${executions:--}" "${coverage:--}" "$findings"
  if [ "$(cat "$build/fuzz_$target.status")" -ne 0 ] || [ "$findings" -gt 0 ]; then
    failed=1
    {
      echo "$target: see $log; inputs:"
      find "$build/findings/$target" -type f
      grep -E 'property violated|ERROR: |runtime error|^SUMMARY' "$log" | head -n 5 || true
    } >&2
  fi
done
exit $failed
