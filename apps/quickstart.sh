#!/usr/bin/env bash
# Installs packages, builds, compares backends on synthetic blobs, and clusters iris.
# Usage: bash apps/quickstart.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source apps/setup.sh

install_packages "${build_packages[@]}"
choose_quick_build
echo "building into build/release"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{
  cmake --preset release -DLLOYD_BUILD_TESTS=OFF -DLLOYD_BUILD_BENCH=OFF -DLLOYD_WERROR=OFF \
    "${quick_build[@]}" &&
    cmake --build build/release
} >"$log" 2>&1 || {
  tail -n 40 "$log" >&2
  exit 1
}
grep -h '^-- Lloyd:' "$log" || true

lloyd=build/release/bin/lloyd
echo
echo "\$ $lloyd run configs/quickstart.yaml"
"$lloyd" run configs/quickstart.yaml
if ! grep -q 'Lloyd: the HTML report is left out' "$log"; then
  echo
  echo "\$ $lloyd report results/quickstart -o results/quickstart/report.html"
  "$lloyd" report results/quickstart -o results/quickstart/report.html
fi
echo
echo "\$ $lloyd fit configs/data/iris.csv -k 3 --restarts 10"
"$lloyd" fit configs/data/iris.csv -k 3 --restarts 10
