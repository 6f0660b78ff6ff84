#!/usr/bin/env bash
# Runs the suite of a build under the conditions of other machines, and prints a table of the results.
# Usage: bash tests/conditions.sh [--only REGEX] BUILD [CONDITION...]
#
# BUILD is a build folder with tests. --only selects the tests whose names match. Conditions (default: all):
#   one-core      pinned to one processor
#   user          without root: if started by root, as a user who owns no files and has an empty home
#   locale        LC_ALL=de_DE.UTF-8, with messages in German
#   tmpdir        TMPDIR has 64 MiB
#   path          the tree and TMPDIR in a path with blanks, non-ASCII letters and, without nvcc, a comma:
#                 quickstart, build, suite
#   cpu           conformance of the CPU backends on other processors, emulated by qemu-x86_64 and valgrind
#   umask         umask 077
#   no-shm        without /dev/shm
#   background    SIGINT, SIGHUP, SIGQUIT and SIGPIPE are ignored, as under `nohup` and a script's `&`
#   container     process 1 does not reap orphans, as in a container without an init
#   variables     OpenMP binds threads; plugins, devices, the terminal and the time zone are set
#
# The status is 1 if a test failed or a condition could not be set up. Logs are in BUILD/conditions/.
set -euo pipefail

conditions=(one-core user locale tmpdir path cpu umask no-shm background container variables)
selection=()
backends='plugins.*:sequential.*:openmp.*' # of the condition cpu
if [ "${1:-}" = --only ]; then
  selection=(-R "${2:?--only needs a regular expression}")
  shift 2
fi
if [ ! -f "${1:-}/CTestTestfile.cmake" ]; then
  echo "usage: bash tests/conditions.sh [--only REGEX] BUILD [CONDITION...]; '${1:-}' is no build folder with tests" >&2
  exit 2
fi
build=$(cd "$1" && pwd)
shift
for condition in "$@"; do
  [[ " ${conditions[*]} " == *" $condition "* ]] || {
    echo "tests/conditions.sh: unknown condition '$condition'; known: ${conditions[*]}" >&2
    exit 2
  }
done
[ $# -eq 0 ] || conditions=("$@")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

logs=$build/conditions
mkdir -p "$logs"
scratch=$(mktemp -d)
chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT
rows=()
failed=false
# For mounts that are visible only to the tests.
namespace=(unshare --mount)
[ "$(id -u)" -eq 0 ] || namespace=(unshare --map-root-user --mount)

# Adds the row of a condition from a JUnit XML file of ctest or GoogleTest. ctest counts skipped tests of
# Python and GoogleTest as passed; they are recognised by their output.
add_row() {
  local name=$1 results=$2 row
  row=$(python3 - "$name" "$results" <<'PYTHON'
import sys
import xml.etree.ElementTree as ElementTree
name, results = sys.argv[1:]
try:
    cases = list(ElementTree.parse(results).iter("testcase"))
except (OSError, ElementTree.ParseError):
    cases = []
failed, skipped = [], 0
for case in cases:
    output = case.findtext("system-out") or ""
    if case.find("failure") is not None or case.get("status") == "fail":
        failed.append(f"{case.get('classname')}.{case.get('name')}"
                      if case.get("classname") != case.get("name") else case.get("name"))
    elif (case.find("skipped") is not None or case.get("status") == "notrun"
          or "OK (skipped=" in output or "[  SKIPPED ]" in output):
        skipped += 1
print(f"{name:16} {len(cases) - len(failed) - skipped:7} {len(failed) or (0 if cases else 'all'):>7} {skipped:8}")
for test in failed:
    print(f"    failed: {test}")
sys.exit(bool(failed or not cases))
PYTHON
  ) || failed=true
  rows+=("$row")
}

not_made() {
  rows+=("$(printf '%-16s %s' "$1" "not run: $2")")
  failed=true
}

# run_suite CONDITION FOLDER COMMAND...: runs the suite of the build in FOLDER; COMMAND is a prefix of the
# ctest command.
run_suite() {
  local condition=$1 folder=$2 out=$scratch/results-$1
  shift 2
  echo "== $condition"
  mkdir -p "$out"
  chmod 777 "$out"
  rm -f "$logs/$condition.xml"
  "$@" ctest --test-dir "$folder" --no-tests=error --output-on-failure -j 2 --test-output-size-passed 1000000 \
    --output-junit "$out/results.xml" "${selection[@]}" >"$logs/$condition.log" 2>&1 || true
  cp "$out/results.xml" "$logs/$condition.xml" 2>/dev/null || true
  add_row "$condition" "$logs/$condition.xml"
}

# in_namespace SCRIPT COMMAND...: runs COMMAND in a mount namespace after SCRIPT, whose $1 is a folder for its
# mounts.
in_namespace() {
  local script=$1
  shift
  mkdir -p "$scratch/mount"
  "${namespace[@]}" bash -euc "$script"'; shift; exec "$@"' bash "$scratch/mount" "$@"
}

condition_one_core() {
  local first
  first=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
  run_suite one-core "$build" taskset -c "$first"
}

condition_user() {
  if [ "$(id -u)" -ne 0 ]; then
    run_suite user "$build"
    return
  fi
  local as_user=(setpriv --reuid 54321 --regid 54321 --clear-groups --no-new-privs)
  "${as_user[@]}" test -r "$build/CTestTestfile.cmake" -a -x "$build/bin/lloyd" -a -r "$root/tests/run.sh" || {
    not_made user "others than root cannot read $build or $root"
    return
  }
  local python
  python=$(sed -n 's/^_Python3_EXECUTABLE:INTERNAL=//p' "$build/CMakeCache.txt")
  "${as_user[@]}" test -x "$python" || {
    not_made user "others than root cannot run $python: configure with -DPython3_EXECUTABLE=/usr/bin/python3"
    return
  }
  mkdir -p "$scratch/home"
  chown 54321:54321 "$scratch/home"
  # Writable copies of the places that the tests write to: ctest's log, GoogleTest's results, the pages of
  # the documentation, and the file lists of cmake --install.
  LLOYD_BUILD=$build run_suite user "$build" in_namespace '
    for name in Testing test_results docs; do
      mkdir -p "$LLOYD_BUILD/$name"
      cp -r "$LLOYD_BUILD/$name" "$1/$name"
      chown -R 54321:54321 "$1/$name"
      mount --bind "$1/$name" "$LLOYD_BUILD/$name"
    done
    for list in install_manifest.txt install_manifest_hdf5.txt; do
      touch "$1/$list" "$LLOYD_BUILD/$list"
      chown 54321:54321 "$1/$list"
      mount --bind "$1/$list" "$LLOYD_BUILD/$list"
    done' "${as_user[@]}" env -u CCACHE_DIR HOME="$scratch/home"
}

condition_locale() {
  mkdir -p "$scratch/locales"
  localedef -i de_DE -f UTF-8 "$scratch/locales/de_DE.UTF-8" 2>/dev/null || {
    not_made locale "localedef makes no de_DE.UTF-8; it needs the package locales"
    return
  }
  run_suite locale "$build" env LOCPATH="$scratch/locales" LC_ALL=de_DE.UTF-8 LANGUAGE=de
}

condition_tmpdir() {
  "${namespace[@]}" true 2>/dev/null || {
    not_made tmpdir "no mount namespace can be made here"
    return
  }
  run_suite tmpdir "$build" in_namespace 'mount -t tmpfs -o size=64m lloyd "$1"' env TMPDIR="$scratch/mount"
}

condition_path() {
  local name="Größe λ, zwei  Wörter" log=$logs/path-build.log
  # nvcc splits an include path at its commas.
  if [ -n "${CUDACXX:-}" ] || command -v nvcc >/dev/null; then name=${name/,/}; fi
  local folder=$scratch/$name
  mkdir -p "$folder/tree" "$folder/temporary"
  tar -c --exclude=./build --exclude=./results --exclude=./.git . | tar -x -C "$folder/tree"
  echo "== path: building (log: $log)"
  (
    set -e
    bash "$folder/tree/apps/quickstart.sh"
    source apps/setup.sh
    choose_quick_build
    cd "$folder/tree"
    # The flags of quickstart, so that its compiled files are reused.
    CUDAARCHS=90 cmake --preset release -DLLOYD_BUILD_BENCH=OFF -DLLOYD_WERROR=OFF "${quick_build[@]}"
    cmake --build build/release
  ) >"$log" 2>&1 || {
    not_made path "the build failed: $log"
    return
  }
  run_suite path "$folder/tree/build/release" env TMPDIR="$folder/temporary"
}

# Succeeds if qemu executes a gather with the index register ymm4 correctly; version 7.2 takes ymm4 for "no
# index register".
qemu_gathers() {
  cat >"$scratch/gather.cpp" <<'CODE'
int main() {
  alignas(32) int table[8] = {7, 6, 5, 4, 3, 2, 1, 0}, found[8];
  asm volatile(
      "vmovdqa (%0), %%ymm4\n vpcmpeqd %%ymm6, %%ymm6, %%ymm6\n"
      "vpgatherdd %%ymm6, (%0, %%ymm4, 4), %%ymm5\n vmovdqu %%ymm5, (%1)"
      :: "r"(table), "r"(found) : "memory", "xmm4", "xmm5", "xmm6");
  for (int i = 0; i < 8; ++i) {
    if (found[i] != i) return 1;
  }
}
CODE
  c++ -mavx2 "$scratch/gather.cpp" -o "$scratch/gather" && qemu-x86_64 -cpu max "$scratch/gather" 2>/dev/null
}

# run_conformance NAME COMMAND...: runs the suite of the CPU backends; COMMAND is a prefix of the test
# program.
run_conformance() {
  local name=$1 file=$logs/${1// /-}
  shift
  echo "== $name"
  rm -f "$file.xml"
  OMP_WAIT_POLICY=passive "$@" "$build/bin/conformance_tests" --gtest_brief=1 \
    --gtest_filter="$backends" --gtest_output="xml:$file.xml" >"$file.log" 2>&1 || true
  add_row "$name" "$file.xml"
}

condition_cpu() {
  command -v qemu-x86_64 >/dev/null && command -v valgrind >/dev/null || {
    not_made cpu "qemu-x86_64 or valgrind is not installed (packages qemu-user, valgrind)"
    return
  }
  local model without=
  qemu_gathers || {
    echo "this qemu computes AVX2's gathers wrongly: its processors have no AVX2, which valgrind has"
    without=,-avx2
  }
  for model in Haswell Denverton EPYC max; do
    run_conformance "cpu $model" qemu-x86_64 -cpu "$model$without"
  done
  # valgrind always computes denormal numbers: flush-to-zero cannot be enabled there.
  backends="$backends-*.environment/flush_to_zero" run_conformance "cpu valgrind" valgrind --tool=none
}

condition_umask() {
  run_suite umask "$build" bash -c 'umask 077; exec "$@"' bash
}

condition_no_shm() {
  "${namespace[@]}" true 2>/dev/null || {
    not_made no-shm "no mount namespace can be made here"
    return
  }
  # A replacement of /dev with the entries that programs expect, but without shm.
  run_suite no-shm "$build" in_namespace '
    mount -t tmpfs lloyd "$1"
    for device in null zero full random urandom tty; do
      : > "$1/$device"
      mount --bind "/dev/$device" "$1/$device"
    done
    mkdir "$1/pts"
    mount --bind /dev/pts "$1/pts"
    ln -s pts/ptmx "$1/ptmx"
    ln -s /proc/self/fd "$1/fd"
    for i in 0,stdin 1,stdout 2,stderr; do ln -s "/proc/self/fd/${i%,*}" "$1/${i#*,}"; done
    mount --rbind "$1" /dev'
}

condition_background() {
  run_suite background "$build" bash -c 'trap "" INT HUP QUIT PIPE; exec "$@" </dev/null' bash
}

condition_container() {
  "${namespace[@]}" --pid --fork --mount-proc true 2>/dev/null || {
    not_made container "no process namespace can be made here"
    return
  }
  run_suite container "$build" "${namespace[@]}" --pid --fork --mount-proc python3 -c '
import subprocess, sys
sys.exit(subprocess.Popen(sys.argv[1:]).wait())'
}

condition_variables() {
  mkdir -p "$scratch/plugins"
  run_suite variables "$build" env OMP_PROC_BIND=close OMP_PLACES=cores OMP_DYNAMIC=true GOMP_CPU_AFFINITY=0 \
    CUDA_VISIBLE_DEVICES=1 LLOYD_PLUGIN_PATH="$scratch/plugins" TERM=dumb COLUMNS=20 TZ=Asia/Kathmandu \
    CXXFLAGS=-O0 DESTDIR="$scratch/installed" NO_COLOR=1 MALLOC_PERTURB_=165
}

for condition in "${conditions[@]}"; do
  "condition_${condition//-/_}"
done
printf '\n%-16s %7s %7s %8s\n' condition passed failed skipped
printf '%s\n' "${rows[@]}"
if $failed; then exit 1; fi
