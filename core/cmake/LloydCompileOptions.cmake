# Compile options of all targets in this tree, as the interface library lloyd_compile_options.
add_library(lloyd_compile_options INTERFACE)
target_compile_features(lloyd_compile_options INTERFACE cxx_std_20)
set(options
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -ffp-contract=off) # distances are defined without fused multiply-add
if(LLOYD_WERROR)
  list(APPEND options -Werror)
endif()
# Options without sanitizers, for test plugins that stand in for third-party ones. Optimised for compile time.
add_library(lloyd_plain_options INTERFACE)
target_compile_features(lloyd_plain_options INTERFACE cxx_std_20)
target_compile_options(lloyd_plain_options INTERFACE ${options})
if(LLOYD_SANITIZE)
  target_compile_options(lloyd_plain_options INTERFACE -O0)
else()
  target_compile_options(lloyd_plain_options INTERFACE -O1)
endif()
if(LLOYD_SANITIZE)
  list(APPEND options
    -fsanitize=${LLOYD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lloyd_compile_options INTERFACE -fsanitize=${LLOYD_SANITIZE})
endif()
# Omits UndefinedBehaviorSanitizer's checks of pointers, which double the code size. AddressSanitizer also finds null
# pointers and out-of-bounds accesses. The core keeps all checks.
add_library(lloyd_few_checks INTERFACE)
if(LLOYD_SANITIZE MATCHES "undefined")
  target_compile_options(lloyd_few_checks INTERFACE
    -fno-sanitize=null,object-size,alignment,pointer-overflow)
endif()
option(LLOYD_QUICKEST_BUILD "Do not optimise the program and the unit tests, only the core and the plugins" OFF)
# For code whose speed does not matter: optimised for compile time.
add_library(lloyd_quick_build INTERFACE)
target_link_libraries(lloyd_quick_build INTERFACE lloyd_few_checks)
if(LLOYD_SANITIZE OR LLOYD_QUICKEST_BUILD)
  target_compile_options(lloyd_quick_build INTERFACE -O0)
else()
  target_compile_options(lloyd_quick_build INTERFACE -O1)
endif()
# For vectorised kernels. With sanitizers they are compiled for two instruction sets, because each takes minutes: SSE4.2
# and the widest of this machine. AddressSanitizer's checks are calls: inlined into unrolled loops, they keep the
# optimiser busy for minutes.
add_library(lloyd_kernel_options INTERFACE)
target_link_libraries(lloyd_kernel_options INTERFACE lloyd_few_checks)
if(LLOYD_SANITIZE)
  set(unused_targets "HWY_AVX2")
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    # SSE4 in the terms of Highway. Code for all machines, SSE2, is then left out.
    target_compile_options(lloyd_kernel_options INTERFACE -msse4.2 -maes -mpclmul)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null OUTPUT_VARIABLE macros)
    if(NOT macros MATCHES "__AVX512VL__")
      set(unused_targets "HWY_AVX3")
    endif()
  endif()
  target_compile_definitions(lloyd_kernel_options INTERFACE LLOYD_UNUSED_VECTOR_TARGETS=${unused_targets})
endif()
if(LLOYD_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(lloyd_kernel_options INTERFACE
    "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0")
endif()
# nvcc supports few of these options.
target_compile_options(lloyd_compile_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
set(LLOYD_COMPILE_OPTIONS ${options}) # as a list of words

# lloyd_precompile(<target> <header>...): precompiles headers of libraries for clang, which saves a quarter of the
# compile time; gcc gains little. Off by default, because compiler caches do not accept precompiled headers without
# further settings.
option(LLOYD_PRECOMPILE_HEADERS "Precompile headers of libraries: faster with clang and without a compiler cache" OFF)
function(lloyd_precompile target)
  if(LLOYD_PRECOMPILE_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
