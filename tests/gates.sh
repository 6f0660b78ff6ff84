#!/usr/bin/env bash
# Checks in addition to the tests of tests/run.sh. Installs packages and makes clean builds.
# Usage: bash tests/gates.sh [PART...]
# Parts: format    clang-format has nothing to change in any C++ or CUDA file
#        tidy      clang-tidy has no finding in the C++ files that changed since a commit that had none; without
#                  the static analyzer, which takes three quarters of the time
#        tidy-all  the same for all files, with the analyzer; too slow for the default
#        clang     the unit tests, built with clang++ and without sanitizers
#        tsan      the conformance suite of openmp, with ThreadSanitizer
#        aarch64   the conformance suite of the CPU backends (NEON), cross-built and run by qemu
#        asan      the tests of the program (tests/cli), with AddressSanitizer and UndefinedBehaviorSanitizer,
#                  but those of asan_omits.txt
# Default: format tidy aarch64. The part asan of tests/run.sh is built with clang++, too, and runs the
# code of the program in unit tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source apps/setup.sh
source tests/parts.sh

# The base for changed files if a clone has no tags: a commit since release 0.7.0 at which the gate tidy has passed.
# Set it with every release.
readonly tidied=420a7424

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(format tidy aarch64)
packages=()
for part in "${parts[@]}"; do
  case $part in
    format) packages+=(clang-format) ;;
    tidy | tidy-all)
      packages+=("${build_packages[@]}" python3 libgtest-dev libbenchmark-dev clang clang-tidy)
      ;;
    clang) packages+=("${build_packages[@]}" python3 libgtest-dev clang) ;;
    tsan | asan) packages+=("${build_packages[@]}" python3 libgtest-dev clang libclang-rt-dev) ;;
    aarch64) packages+=("${build_packages[@]}" python3 g++-aarch64-linux-gnu qemu-user) ;;
    *)
      echo "tests/gates.sh: unknown part '$part'; known: format tidy tidy-all clang tsan aarch64 asan" >&2
      exit 2
      ;;
  esac
done
install_packages "${packages[@]}"
choose_quick_build

check_format() {
  git ls-files -z '*.cpp' '*.hpp' '*.cu' '*.cuh' |
    xargs -0 clang-format --dry-run --Werror --ferror-limit=1
}

# The C++ files that differ from the base; all C++ files if this clone does not reach back that far.
changed_files() {
  local since
  since=$(git describe --tags --abbrev=0 2>/dev/null || echo $tidied)
  if git rev-parse --quiet --verify "$since^{commit}" >/dev/null; then
    git diff --name-only --diff-filter=d "$since" -- '*.cpp'
  else
    git ls-files '*.cpp'
  fi
}

# check_tidy CHECKS FILE...: runs the checks of .clang-tidy, modified by CHECKS as by clang-tidy's option
# --checks. It analyses the unity files that contain the named files, each with up to seven neighbours,
# because headers take most of the time and are then processed once. The unity files' #include "x.cpp" is not
# a finding.
check_tidy() {
  local checks=$1 file
  shift
  rm -rf build/tests/tidy
  cmake --preset tidy -B build/tests/tidy >/dev/null
  # Generated sources: the headers of tests/abi, and the name of the commit.
  cmake --build build/tests/tidy --target newer_abi_headers lloyd_commit >/dev/null
  # A file that this build does not compile (CUDA, templates) has no command line and is passed over.
  for file in "$@"; do
    grep -rlF "\"$PWD/$file\"" --include='unity_*.cxx' build/tests/tidy ||
      { grep -qF "\"file\": \"$PWD/$file\"" build/tests/tidy/compile_commands.json && echo "$file"; } ||
      echo "not compiled here: $file" >&2
  done | sort -u >build/tests/tidy/units
  echo "$# files in $(wc -l <build/tests/tidy/units) units"
  xargs -a build/tests/tidy/units -d '\n' -P "$(nproc)" -n 1 \
    clang-tidy -p build/tests/tidy --quiet --checks="$checks,-bugprone-suspicious-include" \
    --warnings-as-errors='*' 2>&1 |
    without '^[0-9]+ warnings? generated\.$'
}

# Unpacks Debian's arm64 packages below the build folder. apt uses its own state, so the packages of this
# machine are not affected.
make_sysroot() {
  local sysroot=$1 apt=$1.apt package
  rm -rf "$sysroot" "$apt"
  mkdir -p "$sysroot" "$apt/lists/partial" "$apt/archives/partial"
  : >"$apt/status"
  local options=(-o APT::Architecture=arm64 -o APT::Architectures::=arm64
    -o Dir::State::Lists="$apt/lists" -o Dir::State::status="$apt/status"
    -o Dir::Cache="$apt" -o Debug::NoLocking=1 -o APT::Sandbox::User=)
  apt-get "${options[@]}" update -qq
  apt-get "${options[@]}" install -qq --yes --download-only --no-install-recommends \
    libboost-dev libcli11-dev libfmt-dev libgtest-dev libhwy-dev libstdc++6 libyaml-cpp-dev \
    nlohmann-json3-dev zlib1g-dev
  for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$sysroot"; done
}

for part in "${parts[@]}"; do
  case $part in
    format) step format check_format ;;
    tidy)
      files=$(changed_files) # no name has a space
      [ -z "$files" ] || step tidy check_tidy '-clang-analyzer-*' $files
      ;;
    tidy-all)
      files=$(git ls-files '*.cpp')
      step tidy-all check_tidy '' $files
      ;;
    clang)
      step 'clang: build' build clang --target unit_tests
      step 'clang: test' run_tests clang 'unit.*'
      ;;
    tsan)
      step 'tsan: build' build tsan --target conformance_tests
      TSAN_OPTIONS=halt_on_error=1 step 'tsan: test' \
        run_tests tsan 'conformance.*' 'sequential.*' 'conformance.sequential.*' # has one thread
      ;;
    asan)
      read_asan_omits
      step 'asan: build' build asan
      step 'asan: test' run_tests asan 'cli.*' "${omitted[@]}"
      ;;
    aarch64)
      step 'aarch64: sysroot' make_sysroot "$PWD/build/tests/aarch64-sysroot"
      step 'aarch64: build' build aarch64 --target conformance_tests
      step 'aarch64: test' run_tests aarch64 'conformance.*'
      ;;
  esac
done
print_steps
echo "all gates passed: ${parts[*]}"
