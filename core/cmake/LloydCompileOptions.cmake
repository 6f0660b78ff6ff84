# Compile options of everything built in this tree, as the interface library lloyd_compile_options.
add_library(lloyd_compile_options INTERFACE)
target_compile_features(lloyd_compile_options INTERFACE cxx_std_20)
target_compile_options(lloyd_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -ffp-contract=off) # distances are defined without fused multiply-add
if(LLOYD_WERROR)
  target_compile_options(lloyd_compile_options INTERFACE -Werror)
endif()
if(LLOYD_SANITIZE)
  target_compile_options(lloyd_compile_options INTERFACE
    -fsanitize=${LLOYD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lloyd_compile_options INTERFACE -fsanitize=${LLOYD_SANITIZE})
endif()
