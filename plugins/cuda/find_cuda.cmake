# Enables CUDA if the CUDA plugins can be built, otherwise prints the reason. Included from the root, because
# a language is enabled for a folder and its subfolders only.
set(LLOYD_HAS_CUDA FALSE)
option(LLOYD_BUILD_CUDA "Build the CUDA plugins where nvcc is found" ON)
if(NOT LLOYD_BUILD_CUDA)
  message(STATUS "Lloyd: the CUDA plugins are left out: LLOYD_BUILD_CUDA is off")
  return()
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "Lloyd: the CUDA plugins are left out: no CUDA compiler (nvcc) was found")
  return()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  # Machine code for current cards, and PTX for newer ones.
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90
    CACHE STRING "CUDA architectures to build for")
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
  message(STATUS "Lloyd: the CUDA plugins are left out: nvcc ${CMAKE_CUDA_COMPILER_VERSION} has no "
    "C++20, which takes 12.0")
  return()
endif()
set(LLOYD_HAS_CUDA TRUE)
