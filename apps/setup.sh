# Installs missing packages of the distribution (Debian 12 or newer, Ubuntu 24.04 or newer).
# Sourced by apps/quickstart.sh and tests/run.sh: install_packages PACKAGE...

build_packages=(g++ cmake ninja-build libboost-dev libfmt-dev libyaml-cpp-dev libcli11-dev
  nlohmann-json3-dev libhdf5-dev libhwy-dev zlib1g-dev node-d3)
# Optional: without node-d3 the build has no HTML report, without doxygen-awesome-css the documentation has no style.
optional_packages=(node-d3 doxygen-awesome-css)

# Removes from `missing` the optional packages for which COMMAND fails, and prints REASON:
# leave_out REASON COMMAND...
leave_out() {
  local reason=$1 kept=() package
  shift
  for package in "${missing[@]}"; do
    if [[ " ${optional_packages[*]} " == *" $package "* ]] && ! "$@" "$package" >/dev/null 2>&1; then
      echo "continuing without $package: $reason"
    else
      kept+=("$package")
    fi
  done
  missing=("${kept[@]}")
}

install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null; then
      as_root=(sudo)
    else
      leave_out "installing it needs root or sudo" false
      [ ${#missing[@]} -gt 0 ] || return 0
      echo "these packages are missing, and installing them needs root or sudo: ${missing[*]}" >&2
      return 2
    fi
  fi
  local log
  log=$(mktemp)
  "${as_root[@]}" apt-get update -qq >"$log" 2>&1 || {
    leave_out "'apt-get update' failed" false
    [ ${#missing[@]} -eq 0 ] || cat "$log" >&2
    rm -f "$log"
    [ ${#missing[@]} -eq 0 ] || return 2
    return 0
  }
  leave_out "apt has no such package" apt-cache show
  if [ ${#missing[@]} -gt 0 ]; then
    echo "installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1 || {
      cat "$log" >&2
      rm -f "$log"
      return 2
    }
  fi
  rm -f "$log"
}

# Sets cmake arguments in `quick_build` that run the compiler through ccache, if it is installed, and else
# precompile headers, with clang (see lloyd_precompile). CI starts with an empty cache, so precompiled headers
# save more there.
quick_build=(-DLLOYD_PRECOMPILE_HEADERS=ON)
choose_quick_build() {
  if [ "${CI:-}" != true ] && command -v ccache >/dev/null; then
    quick_build=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    export CMAKE_CUDA_COMPILER_LAUNCHER=ccache # as an argument, cmake would warn about an unused variable without nvcc
  fi
}
