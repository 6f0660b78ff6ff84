#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/error.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

BlobsSpec small_spec() {
  BlobsSpec spec;
  spec.samples = 1000;
  spec.features = 3;
  spec.centers = 5;
  spec.seed = 42;
  return spec;
}

std::uint32_t bits32(const Dataset& data, std::int64_t row, std::int64_t column) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(data.matrix().at(row, column)));
}

TEST(Blobs, GivesTheBitsCheckedIn) {
  const Dataset data = make_blobs(small_spec());
  EXPECT_EQ(data.samples(), 1000);
  EXPECT_EQ(data.features(), 3);
  EXPECT_EQ(data.dtype(), DType::float32);
  EXPECT_TRUE(data.classes.empty());
  EXPECT_EQ(bits32(data, 0, 0), 0x405f8740u);
  EXPECT_EQ(bits32(data, 0, 1), 0x409bbbfbu);
  EXPECT_EQ(bits32(data, 1, 2), 0xc0252c47u);
  EXPECT_EQ(bits32(data, 999, 2), 0xbe800e4cu);
  EXPECT_EQ(data.fingerprint(), 0x4dc98cb04985d65eu);
}

TEST(Blobs, GivesTheFloat64BitsCheckedIn) {
  BlobsSpec spec = small_spec();
  spec.dtype = DType::float64;
  const Dataset data = make_blobs(spec);
  EXPECT_EQ(data.dtype(), DType::float64);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(data.matrix().at(999, 2)), 0xbfd001c987d2235au);
  EXPECT_EQ(data.fingerprint(), 0xcb6a668d3c06ccf2u);
}

TEST(Blobs, StopOnRequest) {
  int asked = 0;
  EXPECT_EQ(make_blobs(small_spec(), [&] { return ++asked < 0; }).fingerprint(),
            make_blobs(small_spec()).fingerprint());
  EXPECT_GT(asked, 0);
  BlobsSpec spec = small_spec();
  spec.samples = 1'000'000;
  asked = 0;
  EXPECT_THROW(make_blobs(spec, [&] { return ++asked == 2; }), Cancelled);
  EXPECT_EQ(asked, 2);
}

TEST(Blobs, Float32IsFloat64Rounded) {
  BlobsSpec spec = small_spec();
  const Dataset single = make_blobs(spec);
  spec.dtype = DType::float64;
  const Dataset wide = make_blobs(spec);
  for (std::int64_t i = 0; i < spec.samples; ++i) {
    for (std::int64_t j = 0; j < spec.features; ++j) {
      ASSERT_EQ(single.matrix().at(i, j), static_cast<float>(wide.matrix().at(i, j)));
    }
  }
}

TEST(Blobs, ASampleDoesNotDependOnHowManyThereAre) {
  BlobsSpec spec = small_spec();
  const Dataset many = make_blobs(spec);
  spec.samples = 10;
  const Dataset few = make_blobs(spec);
  for (std::int64_t i = 0; i < spec.samples; ++i) {
    for (std::int64_t j = 0; j < spec.features; ++j) {
      ASSERT_EQ(few.matrix().at(i, j), many.matrix().at(i, j));
    }
  }
}

TEST(Blobs, DiffersBySeed) {
  BlobsSpec spec = small_spec();
  const std::uint64_t before = make_blobs(spec).fingerprint();
  spec.seed = 43;
  EXPECT_NE(make_blobs(spec).fingerprint(), before);
}

TEST(Blobs, HaveTheRequestedStandardDeviation) {
  BlobsSpec spec;
  spec.samples = 100000;
  spec.features = 1;
  spec.centers = 1;
  spec.std = 3;
  const Dataset data = make_blobs(spec);
  EXPECT_NEAR(data.statistics()[0].variance, 9, 9 * 5 * std::sqrt(2.0 / 100000));
}

TEST(Blobs, WithoutDeviationLieOnTheCentresInTheBox) {
  BlobsSpec spec;
  spec.samples = 3000;
  spec.features = 2;
  spec.centers = 3;
  spec.std = 0;
  spec.box = 2;
  const Dataset data = make_blobs(spec);
  std::vector<double> centres;
  std::vector<int> counts;
  for (std::int64_t i = 0; i < spec.samples; ++i) {
    const double x = data.matrix().at(i, 0);
    ASSERT_LE(std::fabs(x), 2);
    ASSERT_LE(std::fabs(data.matrix().at(i, 1)), 2);
    const auto found = std::find(centres.begin(), centres.end(), x);
    if (found == centres.end()) {
      centres.push_back(x);
      counts.push_back(1);
    } else {
      ++counts[found - centres.begin()];
    }
  }
  ASSERT_EQ(centres.size(), 3u);
  for (const int count : counts) EXPECT_NEAR(count, 1000, 5 * std::sqrt(3000 * 2 / 9.0));
}

TEST(Blobs, AreNamedByWhatDiffersFromTheDefault) {
  BlobsSpec spec = small_spec();
  EXPECT_EQ(make_blobs(spec).name(), "blobs(samples=1000, features=3, centers=5, seed=42)");
  spec.std = 0.5;
  spec.box = 20;
  EXPECT_EQ(make_blobs(spec).name(),
            "blobs(samples=1000, features=3, centers=5, std=0.5, box=20, seed=42)");
}

std::string refusal(const BlobsSpec& spec) {
  return message_of<InputError>([&] { make_blobs(spec); });
}

TEST(Blobs, RefuseCountsBelowOne) {
  BlobsSpec spec;
  spec.samples = 0;
  EXPECT_EQ(refusal(spec), "blobs: samples is 0; at least 1 is needed");
  spec = {};
  spec.features = -3;
  EXPECT_EQ(refusal(spec), "blobs: features is -3; at least 1 is needed");
  spec = {};
  spec.centers = 0;
  EXPECT_EQ(refusal(spec), "blobs: centers is 0; at least 1 is needed");
}

TEST(Blobs, RefuseInvalidLengths) {
  BlobsSpec spec;
  spec.std = -1;
  EXPECT_EQ(refusal(spec), "blobs: std is -1; a finite number that is not negative is needed");
  spec = {};
  spec.std = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(spec), "blobs: std is nan; a finite number that is not negative is needed");
  spec = {};
  spec.box = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(spec), "blobs: box is inf; a finite number that is not negative is needed");
}

TEST(Blobs, RefuseSizesThatOverflow) {
  BlobsSpec spec;
  spec.samples = std::int64_t{1} << 61;
  EXPECT_EQ(refusal(spec),
            "blobs: 2305843009213693952 samples of 2 features overflow 64-bit sizes");
  spec = {};
  spec.centers = std::int64_t{1} << 59;
  EXPECT_EQ(refusal(spec), "blobs: 576460752303423488 centers of 2 features overflow 64-bit sizes");
}

TEST(Blobs, RefuseValuesBeyondTheDtype) {
  BlobsSpec spec;
  spec.box = 1e39;
  EXPECT_EQ(refusal(spec), "blobs: box 1e+39 and std 1 give values beyond float32 (limit 3.4e+38)");
  spec.dtype = DType::float64;
  spec.box = 1e308;
  spec.std = 1e308;
  EXPECT_EQ(refusal(spec),
            "blobs: box 1e+308 and std 1e+308 give values beyond float64 (limit 1.8e+308)");
}

TEST(Blobs, RefuseDataThatAFitWouldRefuse) {
  BlobsSpec spec{.features = 1, .std = 0, .box = 4e144, .dtype = DType::float64};
  check_blobs(spec);
  make_blobs(spec);
  spec.features = 2;
  EXPECT_EQ(message_of<InputError>([&] { check_blobs(spec); }),
            "blobs: box 4e+144 and std 0 with 2 features give squared distances up to 1.28e+290, "
            "too large for a fit (limit 1e+290)");
  spec.box = 1e200;
  EXPECT_THROW(blob_rows(spec), InputError);
}

TEST(Blobs, TakeNoMemoryForTheirCentresBeforeTheyAreRead) {
  BlobsSpec spec{.samples = 1, .features = std::int64_t{1} << 52, .centers = 1};
  EXPECT_EQ(blob_rows(spec)->features(), spec.features);
}

TEST(Blobs, RefuseValuesThatBecomeZero) {
  BlobsSpec spec{.samples = 3, .std = 1e-60, .box = 1e-60};
  EXPECT_EQ(message_of<InputError>([&] { check_blobs(spec); }),
            "blobs: box 1e-60 and std 1e-60 give values too small for float32 (limit 1.18e-38)");
  spec.dtype = DType::float64;
  check_blobs(spec);
  spec.std = spec.box = 1e-160;
  EXPECT_THROW(check_blobs(spec), InputError);
  spec.std = spec.box = 0;
  check_blobs(spec);
}

}  // namespace
}  // namespace lloyd
