#!/usr/bin/env bash
# Builds Lloyd on a machine with a CUDA device, checks and measures every CUDA backend, and prints a table
# at the end. Status 1 if anything failed.
# Usage: bash tests/gpu/run.sh [PART...]
# Parts: build, conformance (the suite on every CUDA backend), sanitizer (compute-sanitizer's memcheck,
# racecheck and initcheck on small shapes), large (cases beyond 32-bit indices), bench, ranks (fits on several
# ranks of this machine, by OpenMP and, with two GPUs, by CUDA; and the cost model of docs/scaling.md beside
# measurements), and papers (every experiment of configs/papers, up to ten minutes each; papers/NAME selects one).
# Default: all but ranks and papers.
# Needs the packages of README and nvcc; installs nothing. Logs remain in build/gpu-logs. Checks run one after another:
# processes that share a device wait for each other (one of eight sanitizers at a time takes over 300 s, alone 25).
# LLOYD_BENCH_FILTER and LLOYD_BENCH_SHAPES select the rows of bench.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=build/gpu
logs=build/gpu-logs
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(build conformance sanitizer large bench)
mkdir -p "$logs"
table=()
failed=0

# note PART SUBJECT RESULT DETAIL
note() {
  table+=("$(printf '%-12s %-34s %-7s %s' "$@")")
  [ "$3" != failed ] || failed=1
}

print_table() {
  printf '\n%-12s %-34s %-7s %s\n' part subject result detail
  printf '%s\n' "${table[@]}"
  exit $failed
}
trap print_table EXIT

backends() {
  for plugin in "$build"/bin/lloyd_cuda-*.so; do
    plugin=${plugin##*/lloyd_}
    echo "${plugin%.so}"
  done
}

build_all() {
  local start=$SECONDS architecture
  architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
  cmake --preset release -B "$build" -DCMAKE_CUDA_ARCHITECTURES="$architecture-real" \
    >"$logs/configure.log" 2>&1 &&
    cmake --build "$build" --target lloyd conformance_tests gpu_tests fit_bench \
      >"$logs/build.log" 2>&1 || {
    tail -n 40 "$logs/configure.log" "$logs/build.log"
    note build all failed "see $logs"
    exit 1
  }
  note build "sm_$architecture" passed "$((SECONDS - start)) s; $(nvidia-smi \
    --query-gpu=name,driver_version --format=csv,noheader | head -n 1)"
}

conformance() {
  local backend start log result
  for backend in $(backends); do
    start=$SECONDS
    log=$logs/conformance-$backend.log
    result=failed
    "$build/bin/lloyd" verify --require-available "$build/bin/lloyd_$backend.so" >"$log" 2>&1 &&
      result=passed
    [ "$result" = passed ] || grep -E 'failed' "$log" | head -n 20
    note conformance "$backend" "$result" "$(tail -n 1 "$log"); $((SECONDS - start)) s"
  done
}

# The cases that reach every kernel with the fewest samples, because racecheck is slow.
sanitizer() {
  local sanitizer tool backend log cases start result passed
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  [ -x "$sanitizer" ] || {
    note sanitizer all skipped "compute-sanitizer is not installed"
    return
  }
  for backend in $(backends); do
    for tool in memcheck racecheck initcheck; do
      start=$SECONDS
      log=$logs/$tool-$backend.log
      result=failed
      cases="SUITE.edge/duplicates:SUITE.empty/relocate_drains_in_order"
      [ $tool = racecheck ] || cases+=":SUITE.lattice/one_iteration:SUITE.partial/*:SUITE.device_data/relocation"
      [ $tool != memcheck ] || cases+=":SUITE.device_pass/alternating:SUITE.observe/parts"
      timeout 100 "$sanitizer" --tool $tool --error-exitcode 9 "$build/bin/conformance_tests" \
        --gtest_filter="${cases//SUITE/${backend//-/_}}" >"$log" 2>&1 && result=passed
      passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\.$/\1/p' "$log")
      [ "${passed:-0}" -gt 0 ] || result=failed
      if grep -q 'Device not supported' "$log"; then result=skipped; fi
      [ "$result" != failed ] || grep -E '^=========|Failure' "$log" | head -n 20
      note "$tool" "$backend" "$result" "${passed:-0} cases passed; $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" |
        tail -n 1 | sed 's/^=* *//'); $((SECONDS - start)) s"
    done
  done
}

large() {
  local log=$logs/large.log result=failed
  "$build/bin/gpu_tests" >"$log" 2>&1 && result=passed
  [ "$result" = passed ] || grep -E 'Failure|FAILED|Which|Expected|Value of|error' "$log" | head -n 40
  while read -r name took; do
    note large "$name" "$(grep -q "\[  FAILED  \] $name" "$log" && echo failed || echo passed)" "$took"
  done < <(sed -n 's/^\[ *\(OK\|FAILED\) *\] \([A-Za-z0-9_.\/]*\) (\(.*\))$/\2 \3/p' "$log")
  [ "$result" = passed ] || note large all failed "see $log"
}

bench() {
  local log=$logs/bench.json
  # Every backend with its default parameters, on all cores. A few milliseconds per row suffice because whole
  # loops are timed.
  timeout 200 "$build/bin/fit_bench" --benchmark_repetitions=5 --benchmark_min_time=0.01 \
    --benchmark_filter="${LLOYD_BENCH_FILTER:-^fit/cuda-[^/]*(/threads:$(nproc))?/n:}" \
    --shapes="${LLOYD_BENCH_SHAPES:-1e3x2x32,1e6x2x32,1e6x16x32,1e6x32x512}" \
    --benchmark_out="$log" --benchmark_out_format=json >"$logs/bench.log" 2>&1 || {
    tail -n 20 "$logs/bench.log"
    note bench fit failed "see $logs/bench.log"
    return
  }
  while read -r line; do table+=("$line"); done < <(python3 tests/gpu/medians.py "$log")
}

# Eight threads per rank where there are enough cores.
ranks() {
  local log=$logs/ranks.log threads result=passed
  command -v mpirun >/dev/null || {
    note ranks all skipped "mpirun is not installed"
    return
  }
  if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
  cmake --build "$build" --target lloyd_openmp lloyd_communicator_mpi rank_times >>"$logs/build.log" 2>&1 || {
    tail -n 20 "$logs/build.log"
    note ranks build failed "see $logs/build.log"
    return
  }
  threads=$(($(nproc) >= 16 ? 8 : $(nproc) / 2))
  {
    python3 bench/rank_speedup.py "1x$threads" "2x$threads" "1x$((2 * threads))" "4x$((threads / 2))" \
      --build "$build" --shape 4e6x16x256 --shape 1e6x128x1000 --iterations 10 || result=failed
    if [ "$(nvidia-smi -L | wc -l)" -ge 2 ]; then
      python3 bench/rank_speedup.py 1 2 --build "$build" --backend cuda-fused --shape 4194304x32x512 \
        --iterations 100 || result=failed
    fi
  } >"$log" 2>&1
  while read -r line; do table+=("ranks        $line"); done <"$log"
  python3 bench/scaling.py measure --build "$build" --ranks 1,2,4 >>"$log" 2>&1 || result=failed
  while read -r line; do table+=("model        $line"); done < <(sed -n '/ iteration$/,$p' "$log")
  note ranks all "$result" "see $log"
}

papers() {
  local config name start result
  for config in "$@"; do
    name=$(basename "$config" .yaml)
    start=$SECONDS
    result=failed
    timeout --signal=INT 590 "$build/bin/lloyd" run "$config" --output "$logs/papers/$name" \
      >"$logs/$name.txt" 2>"$logs/$name.log" && result=passed
    cat "$logs/$name.txt"
    [ "$result" = passed ] || tail -n 5 "$logs/$name.log"
    note papers "$name" "$result" "$((SECONDS - start)) s"
  done
}

for part in "${parts[@]}"; do
  case $part in
    build) build_all ;;
    conformance | sanitizer | large | bench | ranks) $part ;;
    papers) papers configs/papers/*.yaml ;;
    papers/*) papers "configs/$part.yaml" ;;
    *)
      echo "tests/gpu/run.sh: unknown part '$part'; known: build conformance sanitizer large bench ranks papers papers/NAME" >&2
      failed=2
      exit
      ;;
  esac
done
