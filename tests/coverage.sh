#!/usr/bin/env bash
# Line coverage of core/ and apps/ by all tests, from a clean build in build/coverage. Prints one line for
# each of the two, and ends with status 1 if one is below its minimum. Writes a report per file to
# build/coverage/files.txt.
# Usage: bash tests/coverage.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source apps/setup.sh
install_packages "${build_packages[@]}" python3 libgtest-dev clang lcov
choose_quick_build

declare -A least=([core]=90 [apps]=80)
build=$PWD/build/coverage

rm -rf "$build"
cmake --preset coverage "${quick_build[@]}" >/dev/null
cmake --build "$build"
# Excluded: tests that compile their own plugins and programs against this build without gcov; tests of large
# files and of thousands of bootstraps, which take minutes unoptimised; tests of full disks, on which gcov
# cannot write either.
GTEST_FILTER='-*OfRecordedRuns.*' \
  ctest --test-dir "$build" --no-tests=error --output-on-failure -j 2 \
  -E '^cli\.(out_of_tree|new_plugin|new_backend|backend_page|mutations|memory_limit|full_disk)\.|^docs\.'

lcov --quiet --capture --directory "$build" --base-directory "$PWD" --no-external \
  --output-file "$build/all.info"
failed=0
for folder in core apps; do
  lcov --quiet --extract "$build/all.info" "$PWD/$folder/*" --output-file "$build/$folder.info"
  # The totals of the list: "Total:| 95.1% 1234| ..."
  lcov --list "$build/$folder.info" >"$build/$folder.txt"
  read -r percent lines < <(sed -n 's/^ *Total:|\([0-9.]*\)% *\([0-9]*\)|.*/\1 \2/p' "$build/$folder.txt")
  printf '%-5s %6s %% of %s lines (at least %s %%)\n' "$folder" "$percent" "$lines" "${least[$folder]}"
  awk -v percent="$percent" -v least="${least[$folder]}" 'BEGIN { exit !(percent >= least) }' || failed=1
done
cat "$build"/{core,apps}.txt >"$build/files.txt"
exit $failed
