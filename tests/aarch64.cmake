# Toolchain of the aarch64 gate (tests/gates.sh): Debian's cross compiler, and a sysroot of Debian's arm64
# packages, which the gate unpacks below the build folder. qemu-user runs the programs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT ${LLOYD_SYSROOT})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LLOYD_SYSROOT)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${LLOYD_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
