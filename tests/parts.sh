# What tests/run.sh and tests/gates.sh share: builds from nothing, tests held to the manifest, and the
# time of each step. Sourced, from the root of the project, after apps/setup.sh.

# build NAME [OPTION...]: builds the preset NAME in build/tests/NAME; options are cmake --build's.
# Folders of their own, made anew: nothing that an earlier build left can pass a test.
build() {
  local name=$1
  shift
  rm -rf "build/tests/$name"
  mkdir -p build/tests
  # CUDA code for one architecture: none of it is run here.
  CUDAARCHS=90 cmake --preset "$name" -B "build/tests/$name" "${compiler_cache[@]}" \
    >"build/tests/configure.log" 2>&1 || {
    cat "build/tests/configure.log" >&2
    exit 1
  }
  grep -h 'Lloyd:' "build/tests/configure.log" || true
  cmake --build "build/tests/$name" "$@" | without '^\[[0-9]+/[0-9]+\]'
}

# run_tests NAME ONLY [OMITTED...]: runs the tests that were built in build/tests/NAME; fails unless each
# of the manifest ran whose name matches the glob ONLY and none of the globs OMITTED.
run_tests() {
  local build=$PWD/build/tests/$1 only=$2 status=0
  shift 2
  # Tests of the CUDA plugins are only there where these are built.
  [ -f "$build/bin/lloyd_cuda-naive.so" ] || set -- "$@" '*.cuda_*'
  rm -rf "$build/test_results"
  mkdir "$build/test_results"
  # More tests at a time than cores: many wait for processes that sleep.
  GTEST_FILTER="-$(IFS=: && echo "$*")" ctest --test-dir "$build" --no-tests=error -j 4 \
    --output-on-failure --output-junit "$build/test_results/ctest.xml" \
    -R "$(regex "$only")" -E "$(regex "$@")" | without_passed || status=1
  python3 tests/check_manifest.py "$build" tests/manifest.txt --only "$only" --without "$@" || status=1
  return $status
}

# The regular expression of the names that match one of some globs.
regex() {
  local globs
  globs=$(IFS='|' && echo "$*")
  globs=${globs//./\\.}
  echo "^(${globs//\*/.*})\$"
}

# Like grep -v, but content when no line is left: under pipefail the producer's status counts.
without() {
  grep -vE "$1" || true
}

# What ctest prints, without the tests that passed: also those of a GoogleTest process that did not.
without_passed() {
  awk '/^ *Start +[0-9]+:|^ *[0-9]+\/[0-9]+ Test .* Passed / { next }
       /^\[ RUN  / { running = $0; next }
       /^\[       OK / { running = ""; next }
       /^\[------/ || /^$/ { next }
       { if (running != "") print running; running = ""; print }
       END { if (running != "") print running }'
}

# step NAME COMMAND...: runs a command and notes the time that it took, and the processor time of all
# its processes, for print_steps.
steps=()
step() {
  local name=$1 begin=$SECONDS cpu
  shift
  cpu=$(cpu_seconds)
  echo "== $name"
  "$@"
  steps+=("$(printf '%-16s %5d s %6d s' "$name" $((SECONDS - begin)) $(($(cpu_seconds) - cpu)))")
}

print_steps() {
  printf '%-16s %7s %8s\n' step time 'cpu time'
  printf '%s\n' "${steps[@]}"
}

# Processor time of all processes of this script that have ended, in seconds.
cpu_seconds() {
  awk -v ticks="$(getconf CLK_TCK)" '{ print int(($16 + $17) / ticks) }' /proc/$$/stat
}
