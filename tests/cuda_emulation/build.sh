#!/bin/bash
# Builds CUDA plugins for the CPU: build.sh FOLDER PLUGIN..., e.g. build.sh /tmp/emulation cuda-fast
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
folder=$1
shift
mkdir -p "$folder/objects"
for part in cuda "$@"; do
  python3 "$here/translate.py" "$root/plugins/$part" "$folder/plugins/$part"
done
version=$(sed -n 's/^project(Lloyd VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
flags=(-std=c++20 -O2 -g1 -fPIC -fno-strict-aliasing -ffp-contract=off -fvisibility=hidden
  -fvisibility-inlines-hidden -Wall -Wno-unknown-pragmas -D__CUDACC__ -D__CUDACC_VER_MAJOR__=12
  -D__CUDA_ARCH_FEAT_SM90_ALL -DLLOYD_HAS_WGMMA
  -include "$here/include/emulation.hpp" -I"$here/include" -I"$root/core/include" -I"$folder/plugins"
  ${EMULATION_FLAGS:-})
compiler=${CXX:-g++}
ccache=$(command -v ccache || true)

objects=()
commands=$folder/commands
: > "$commands"
compile() {  # compile SOURCE OBJECT FLAG...
  local source=$1 object=$2
  shift 2
  objects+=("$object")
  printf "%q " $ccache "$compiler" "${flags[@]}" "$@" -x c++ -c "$source" -o "$object" >> "$commands"
  echo >> "$commands"
}
for part in scheduler runtime tensor_cores; do
  compile "$here/$part.cpp" "$folder/objects/$part.o"
done
for source in $(find "$folder/plugins/cuda" -name '*.cu' -o -name '*.cpp' | sort); do
  name=${source#"$folder/plugins/"}
  compile "$source" "$folder/objects/${name//\//_}.o"
done
shared=("${objects[@]}")
for plugin in "$@"; do
  objects=("${shared[@]}")
  for source in $(find "$folder/plugins/$plugin" -name '*.cu' -o -name '*.cpp' | sort); do
    name=${source#"$folder/plugins/"}
    compile "$source" "$folder/objects/${name//\//_}.o" -DLLOYD_PLUGIN_NAME="\"$plugin\"" \
      -DLLOYD_PLUGIN_VERSION="\"$version\""
  done
  printf '%s\n' "${objects[@]}" > "$folder/$plugin.objects"
done
sort -u "$commands" | xargs -d '\n' -P "${JOBS:-2}" -I{} sh -c '{}'
for plugin in "$@"; do
  "$compiler" -shared ${EMULATION_FLAGS:-} $(cat "$folder/$plugin.objects") -o "$folder/lloyd_$plugin.so" \
    -Wl,--version-script="$root/core/cmake/lloyd_plugin.map" -Wl,-z,nodelete ${LINK_FLAGS:--Wl,-z,defs} -pthread
done
