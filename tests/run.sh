#!/usr/bin/env bash
# Installs packages, makes a clean build, and runs tests.
# Usage: bash tests/run.sh [PART...]
# Parts: release  all tests
#        asan     unit and conformance tests with AddressSanitizer and UndefinedBehaviorSanitizer, but those of
#                 asan_omits.txt; then the fuzz targets with their seeds and a fixed number of executions
# Default: release. CI runs both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source apps/setup.sh
source tests/parts.sh

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(release)
# clang: plugins are also built with another compiler than the program.
packages=("${build_packages[@]}" python3 libgtest-dev libbenchmark-dev clang)
for part in "${parts[@]}"; do
  case $part in
    release)
      packages+=(doxygen doxygen-awesome-css libopenmpi-dev openmpi-bin)
      # For tests of the report page and of instruction counts, which are skipped elsewhere if these are
      # missing.
      [ "${CI:-}" != true ] || packages+=(chromium valgrind)
      ;;
    asan) packages+=(libclang-rt-dev) ;;
    *)
      echo "tests/run.sh: unknown part '$part'; known: release asan" >&2
      exit 2
      ;;
  esac
done
install_packages "${packages[@]}"
choose_quick_build

if [ "${CI:-}" = true ] && ! command -v nvcc >/dev/null && [[ " ${parts[*]} " == *" release "* ]]; then
  echo "tests/run.sh: CI compiles the CUDA plugins, and nvcc is not on the PATH" >&2
  exit 1
fi

for part in "${parts[@]}"; do
  case $part in
    release)
      step 'release: build' build release
      step 'release: test' run_tests release '*'
      ;;
    asan)
      read_asan_omits
      step 'asan: build' build asan --target \
        unit_tests conformance_tests newer_host_tests random_fits fuzzers
      step 'asan: test' run_tests asan '*' 'cli.*' "${omitted[@]}"
      step 'asan: fuzz' bash tests/fuzz/run.sh --check build/tests/asan
      ;;
  esac
done
print_steps
echo "all tests passed: ${parts[*]}"
