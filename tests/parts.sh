# Shared by tests/run.sh and tests/gates.sh: clean builds, tests checked against the manifest, and the time of
# each step. Sourced from the root of the project, after apps/setup.sh.

# build NAME [OPTION...]: builds the preset NAME in build/tests/NAME; options are passed to cmake --build. The
# folder is recreated, so that no remains of an earlier build can make a test pass.
build() {
  local name=$1
  shift
  rm -rf "build/tests/$name"
  mkdir -p build/tests
  # One architecture suffices for CUDA code, because none of it is run here.
  CUDAARCHS=90 cmake --preset "$name" -B "build/tests/$name" "${quick_build[@]}" \
    >"build/tests/configure.log" 2>&1 || {
    cat "build/tests/configure.log" >&2
    exit 1
  }
  grep -h 'Lloyd:' "build/tests/configure.log" || true
  cmake --build "build/tests/$name" "$@" | without '^\[[0-9]+/[0-9]+\]'
}

# run_tests NAME ONLY [OMITTED...]: runs the tests of build/tests/NAME whose names match the glob ONLY and
# none of the globs OMITTED; fails unless all such tests of the manifest ran.
run_tests() {
  local build=$PWD/build/tests/$1 only=$2 status=0
  shift 2
  # Tests of the CUDA plugins exist only if these were built.
  [ -f "$build/bin/lloyd_cuda-naive.so" ] || set -- "$@" '*.cuda_*'
  rm -rf "$build/test_results"
  mkdir "$build/test_results"
  # More parallel tests than cores, because many wait for sleeping processes.
  GTEST_FILTER="-$(IFS=: && echo "$*")" ctest --test-dir "$build" --no-tests=error -j $(($(nproc) + 4)) \
    --output-on-failure --output-junit "$build/test_results/ctest.xml" \
    -R "$(regex "$only")" -E "$(regex "$@")" | without_passed || status=1
  python3 tests/check_manifest.py "$build" tests/manifest.txt --only "$only" --without "$@" || status=1
  return $status
}

# Reads the globs of asan_omits.txt into the array `omitted`.
read_asan_omits() {
  mapfile -t omitted < <(sed -n 's/^\([^# ]\+\) .*/\1/p' tests/asan_omits.txt)
}

# The regular expression for names that match one of the globs.
regex() {
  local globs
  globs=$(IFS='|' && echo "$*")
  globs=${globs//./\\.}
  echo "^(${globs//\*/.*})\$"
}

# Like grep -v, but succeeds if no line remains, so that pipefail reports only the producer's status.
without() {
  grep -vE "$1" || true
}

# The output of ctest without passed tests, including those inside a failed GoogleTest process.
without_passed() {
  awk '/^ *Start +[0-9]+:|^ *[0-9]+\/[0-9]+ Test .* Passed / { next }
       /^\[ RUN  / { running = $0; next }
       /^\[       OK / { running = ""; next }
       /^\[------/ || /^$/ { next }
       { if (running != "") print running; running = ""; print }
       END { if (running != "") print running }'
}

# step NAME COMMAND...: runs a command and records its elapsed time, and the processor time of all its
# processes, for print_steps.
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

# Processor time of all ended processes of this script, in seconds.
cpu_seconds() {
  awk -v ticks="$(getconf CLK_TCK)" '{ print int(($16 + $17) / ticks) }' /proc/$$/stat
}
