# Compile options of everything built in this tree, as the interface library lloyd_compile_options.
add_library(lloyd_compile_options INTERFACE)
target_compile_features(lloyd_compile_options INTERFACE cxx_std_20)
set(options
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -ffp-contract=off) # distances are defined without fused multiply-add
if(LLOYD_WERROR)
  list(APPEND options -Werror)
endif()
if(LLOYD_SANITIZE)
  list(APPEND options
    -fsanitize=${LLOYD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lloyd_compile_options INTERFACE -fsanitize=${LLOYD_SANITIZE})
endif()
# Not for nvcc, which knows few of them.
target_compile_options(lloyd_compile_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
