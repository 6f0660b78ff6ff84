#!/usr/bin/env bash
# Sets up, builds from nothing, and runs all tests.
# Usage: bash tests/run.sh [PART...]
# Parts: release, asan (AddressSanitizer and UndefinedBehaviorSanitizer), tsan (ThreadSanitizer, the
# conformance suite), fuzz (the fuzz targets, over their seeds and then a fixed number of executions).
# Default: all four.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source apps/setup.sh

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(release asan tsan fuzz)
# clang: plugins of others, built by another compiler than the program.
packages=("${build_packages[@]}" python3 libgtest-dev libbenchmark-dev clang)
for part in "${parts[@]}"; do
  case $part in
    release | asan)
      packages+=(doxygen)
      # For the report's page and counts of instructions, whose tests are skipped without them elsewhere.
      [ "${CI:-}" != true ] || packages+=(chromium valgrind)
      ;;
    fuzz) packages+=(libclang-rt-dev) ;;
    tsan) packages+=(libclang-rt-dev libomp-dev llvm) ;;
    *)
      echo "tests/run.sh: unknown part '$part'; known: release asan tsan fuzz" >&2
      exit 2
      ;;
  esac
done
install_packages "${packages[@]}"
use_compiler_cache

# Folders of their own, made anew: nothing that an earlier build left can pass a test.
build() {
  local part=$1
  shift
  rm -rf "build/tests/$part"
  mkdir -p build/tests
  # CUDA code for one architecture: none of it is run here.
  CUDAARCHS=90 cmake --preset "$part" -B "build/tests/$part" "${compiler_cache[@]}" \
    >"build/tests/configure.log" || {
    cat "build/tests/configure.log" >&2
    exit 1
  }
  grep -h 'Lloyd:' "build/tests/configure.log" || true
  cmake --build "build/tests/$part" "$@" | without '^\[[0-9]+/[0-9]+\]'
}

# Tests of the CUDA plugins are only there where these are built: in the release part, with nvcc.
check_manifest() {
  local part=$1
  shift
  [ -f "build/tests/$part/bin/lloyd_cuda-naive.so" ] || set -- "$@" --without .cuda_
  python3 tests/check_manifest.py "build/tests/$part" tests/manifest.txt "$@"
}

run_tests() {
  local part=$1
  check_manifest "$part"
  local chosen=()
  # Minutes that tell little of memory: what statistics promise, by simulation, the report's page in a
  # browser, and fits of a million samples in blocks, which unit tests (StreamedFits) do with fewer.
  local -r left_out=(ExperimentVerdictOfRecordedRuns 'ExperimentStatistics\.IntervalsHold'
    'cli\.report_(browser|contrast)' 'cli\.memory_limit')
  [ "$part" != asan ] || chosen=(--exclude-regex "^($(IFS='|' && echo "${left_out[*]}"))")
  ctest --test-dir "build/tests/$part" --no-tests=error --output-on-failure -j 2 "${chosen[@]}" |
    without '^ *Start +[0-9]+:|^ *[0-9]+/[0-9]+ Test .* Passed '
}

# Like grep -v, but content when no line is left: under pipefail the producer's status counts.
without() {
  grep -vE "$1" || true
}

if [ "${CI:-}" = true ] && ! command -v nvcc >/dev/null && [[ " ${parts[*]} " == *" release "* ]]; then
  echo "tests/run.sh: CI compiles the CUDA plugins, and nvcc is not on the PATH" >&2
  exit 1
fi

for part in "${parts[@]}"; do
  echo "== $part: building"
  case $part in
    release | asan)
      build "$part"
      echo "== $part: testing"
      run_tests "$part"
      ;;
    tsan)
      build tsan --target conformance_tests
      echo "== tsan: testing"
      check_manifest tsan --only conformance.
      # Archer tells ThreadSanitizer what OpenMP's runtime synchronises.
      archer=$(llvm-config --libdir)/libarcher.so
      [ -f "$archer" ] || {
        echo "tests/run.sh: $archer is not there; it is part of libomp-dev" >&2
        exit 1
      }
      OMP_TOOL_LIBRARIES=$archer OMP_WAIT_POLICY=passive \
        TSAN_OPTIONS='ignore_noninstrumented_modules=1 halt_on_error=1' \
        build/tests/tsan/bin/conformance_tests --gtest_brief=1
      ;;
    fuzz)
      build fuzz --target fuzzers
      echo "== fuzz: testing"
      bash tests/fuzz/run.sh --check build/tests/fuzz
      ;;
  esac
done
echo "all tests passed: ${parts[*]}"
