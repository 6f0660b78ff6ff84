// Failures that suggest a memory error of the plugin.
#include "verify/memory_errors.hpp"

#include <gtest/gtest.h>

namespace lloyd::apps {
namespace {

TEST(MemoryErrors, AreSuggestedByFaultsAndBrokenHeaps) {
  for (const char* message :
       {"the plugin ended the process: signal 11 (Segmentation fault) in fit()",
        "the plugin ended the process: signal 7 (Bus error) in fit()",
        "the plugin ended the process: signal 6 (Aborted) in fit(); last words: free(): invalid "
        "pointer",
        "the plugin ended the process: signal 6 (Aborted) in fit(); last words: *** stack smashing "
        "detected ***: terminated",
        "counts: a value after the last one was written"}) {
    EXPECT_TRUE(suggests_memory_error(message)) << message;
  }
}

TEST(MemoryErrors, AreNotSuggestedByOtherFailures) {
  for (const char* message :
       {"row 0 has label 1", "fit() failed: the matrix is singular",
        "the plugin ended the process: signal 6 (Aborted) in fit(); last words: an exception of "
        "type int was not caught",
        "the plugin ended the process: exit(3) in fit()",
        "the plugin ended the process: signal 11 (Segmentation fault); last words: "
        "AddressSanitizer: heap-buffer-overflow backend.cpp:31 in label"}) {
    EXPECT_FALSE(suggests_memory_error(message)) << message;
  }
}

}  // namespace
}  // namespace lloyd::apps
