// Valid backend names, and suggestions for invalid ones.
#include <string>

#include <gtest/gtest.h>

#include <lloyd/backend_name.hpp>

namespace lloyd {
namespace {

TEST(BackendName, IsLowerCaseLettersDigitsAndHyphens) {
  for (const char* name : {"a", "openmp", "cuda-fast", "v2", "a-", "a--1"}) {
    EXPECT_TRUE(is_backend_name(name)) << name;
  }
  for (const char* name :
       {"", "A", "2nd", "-a", "my_kernel", "a b", "a.b", "a/b", "..", "\xc3\xa9", "a\n"}) {
    EXPECT_FALSE(is_backend_name(name)) << name;
  }
}

TEST(BackendName, FitsThePluginHeader) {
  const std::string longest(kMaxNameCharacters, 'a');
  EXPECT_TRUE(is_backend_name(longest));
  EXPECT_FALSE(is_backend_name(longest + "a"));
}

TEST(BackendName, SuggestsANameForAnyText) {
  EXPECT_EQ(to_backend_name("openmp"), "openmp");
  EXPECT_EQ(to_backend_name("My_Kernel 2"), "my-kernel-2");
  EXPECT_EQ(to_backend_name("__fast__"), "fast");
  EXPECT_EQ(to_backend_name("3d"), "backend-3d");
  EXPECT_EQ(to_backend_name("../up"), "up");
  EXPECT_EQ(to_backend_name(""), "my-backend");
  EXPECT_EQ(to_backend_name("\xc3\xa9"), "my-backend");
}

TEST(BackendName, SuggestionsAreNames) {
  for (const std::string& text :
       {std::string(100, 'X'), std::string(46, 'x') + "-y", "7" + std::string(60, '7'),
        std::string("\0a", 2), std::string("-9-")}) {
    EXPECT_TRUE(is_backend_name(to_backend_name(text))) << to_backend_name(text);
  }
}

}  // namespace
}  // namespace lloyd
