// Messages when memory runs out.
#include <filesystem>
#include <new>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "output/delivery.hpp"
#include "output/output.hpp"

namespace lloyd::apps {
namespace {

/// An object whose formatting fails as if memory had run out.
struct TooLong {};

}  // namespace
}  // namespace lloyd::apps

template <>
struct fmt::formatter<lloyd::apps::TooLong> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  auto format(const lloyd::apps::TooLong&, format_context& context) const
      -> decltype(context.out()) {
    throw std::bad_alloc();
  }
};

namespace lloyd::apps {
namespace {

TEST(OutOfMemory, AMessageSaysSoInstead) {
  testing::internal::CaptureStderr();
  note("wrote {}\n", TooLong());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lloyd: out of memory: there is none for a message\n");
}

std::string failure_of(const Delivery& delivery) {
  try {
    delivery.finish();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(OutOfMemory, ADeliverySaysOfWhat) {
  Delivery printed;
  printed.print([] { throw std::bad_alloc(); });
  EXPECT_EQ(failure_of(printed), "out of memory while the result was printed");
  Delivery written;
  EXPECT_FALSE(
      written.write("labels.csv", [](const std::filesystem::path&) { throw std::bad_alloc(); }));
  EXPECT_EQ(failure_of(written),
            "labels.csv: out of memory while the file was written; it could not be kept elsewhere "
            "either");
}

}  // namespace
}  // namespace lloyd::apps
