// Seeding: golden index lists, and k-means++ against a plain computation of its definition.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/data/copy_rows.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/random.hpp>
#include <lloyd/seeding.hpp>

#include "unit/support/seeding_data.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

Seeding seeding_of(SeedingMethod method, std::uint64_t seed = 0) {
  Seeding seeding;
  seeding.method = method;
  seeding.seed = seed;
  return seeding;
}

Indices plus_plus(const Dataset& dataset, std::int64_t clusters, std::uint64_t seed = 0,
                  std::int64_t restart = 0) {
  return seed_indices(dataset, clusters, seeding_of(SeedingMethod::kmeans_plus_plus, seed),
                      restart);
}

Indices random(const Dataset& dataset, std::int64_t clusters, std::uint64_t seed = 0,
               std::int64_t restart = 0) {
  return seed_indices(dataset, clusters, seeding_of(SeedingMethod::random, seed), restart);
}

std::string seeding_message(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// Golden lists may change only with the version of the seeding.
TEST(Seeding, GoldenListsOfRandom) {
  const Dataset data = lattice();
  EXPECT_EQ(random(data, 1, 0), (Indices{17}));
  EXPECT_EQ(random(data, 8, 0), (Indices{17, 6, 7, 1, 2, 0, 19, 12}));
  EXPECT_EQ(random(data, 20, 0),
            (Indices{17, 6, 7, 1, 2, 0, 19, 12, 8, 13, 16, 11, 9, 5, 4, 18, 3, 10, 15, 14}));
  EXPECT_EQ(random(data, 1, 1), (Indices{15}));
  EXPECT_EQ(random(data, 8, 1), (Indices{15, 8, 12, 7, 9, 2, 19, 17}));
  EXPECT_EQ(random(data, 20, 1),
            (Indices{15, 8, 12, 7, 9, 2, 19, 17, 3, 4, 13, 11, 0, 5, 1, 14, 16, 6, 10, 18}));
  EXPECT_EQ(random(data, 1, 2), (Indices{1}));
  EXPECT_EQ(random(data, 8, 2), (Indices{1, 4, 0, 11, 17, 18, 10, 9}));
  EXPECT_EQ(random(data, 20, 2),
            (Indices{1, 4, 0, 11, 17, 18, 10, 9, 14, 8, 16, 5, 6, 3, 2, 7, 15, 19, 13, 12}));
  EXPECT_EQ(random(data, 8, 0, 1), (Indices{5, 12, 1, 17, 4, 15, 3, 7}));
  EXPECT_EQ(random(data, 8, 0, 2), (Indices{6, 18, 2, 8, 13, 17, 5, 16}));
}

TEST(Seeding, GoldenListsOfPlusPlus) {
  const Dataset data = lattice();
  EXPECT_EQ(plus_plus(data, 1, 0), (Indices{17}));
  EXPECT_EQ(plus_plus(data, 8, 0), (Indices{17, 2, 19, 12, 18, 15, 0, 4}));
  EXPECT_EQ(plus_plus(data, 20, 0),
            (Indices{17, 2, 19, 12, 18, 15, 0, 4, 10, 1, 11, 14, 16, 9, 8, 3, 5, 6, 7, 13}));
  EXPECT_EQ(plus_plus(data, 1, 1), (Indices{15}));
  EXPECT_EQ(plus_plus(data, 8, 1), (Indices{15, 4, 8, 6, 3, 13, 12, 18}));
  EXPECT_EQ(plus_plus(data, 20, 1),
            (Indices{15, 4, 8, 6, 3, 13, 12, 18, 1, 14, 11, 16, 10, 0, 17, 19, 5, 2, 7, 9}));
  EXPECT_EQ(plus_plus(data, 1, 2), (Indices{1}));
  EXPECT_EQ(plus_plus(data, 8, 2), (Indices{1, 5, 10, 16, 8, 7, 3, 6}));
  EXPECT_EQ(plus_plus(data, 20, 2),
            (Indices{1, 5, 10, 16, 8, 7, 3, 6, 11, 18, 4, 12, 9, 14, 19, 0, 17, 2, 15, 13}));
  EXPECT_EQ(plus_plus(data, 8, 0, 1), (Indices{5, 11, 0, 16, 1, 3, 7, 6}));
  EXPECT_EQ(plus_plus(data, 8, 0, 2), (Indices{6, 13, 18, 16, 19, 15, 0, 1}));
}

TEST(Seeding, FirstTakesTheFirstRows) {
  const Dataset data = lattice();
  EXPECT_EQ(seed_indices(data, 1, seeding_of(SeedingMethod::first)), (Indices{0}));
  EXPECT_EQ(seed_indices(data, 4, seeding_of(SeedingMethod::first), 9), (Indices{0, 1, 2, 3}));
}

TEST(Seeding, CentroidsAreTheChosenRows) {
  const Dataset data = lattice<double>();
  const Seeding seeding = seeding_of(SeedingMethod::kmeans_plus_plus, 5);
  const Indices indices = seed_indices(data, 8, seeding, 2);
  const std::vector<double> centroids = seed_centroids(data, 8, seeding, 2);
  ASSERT_EQ(centroids.size(), 8u * kColumns);
  for (std::size_t i = 0; i < centroids.size(); ++i) {
    EXPECT_EQ(centroids[i],
              data.matrix().at(indices[i / kColumns], static_cast<std::int64_t>(i % kColumns)));
  }
}

TEST(Seeding, ChoosesDistinctSamples) {
  const Dataset data = lattice(29);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const std::int64_t k : {1, 2, 7, 29}) {
      for (const Indices& indices : {plus_plus(data, k, seed), random(data, k, seed)}) {
        ASSERT_EQ(std::ssize(indices), k);
        EXPECT_EQ(std::set(indices.begin(), indices.end()).size(), indices.size());
        EXPECT_GE(*std::min_element(indices.begin(), indices.end()), 0);
        EXPECT_LT(*std::max_element(indices.begin(), indices.end()), 29);
      }
    }
  }
}

// Every ordered pair of 5 samples is about equally frequent: 20 pairs, 400 expected of each.
TEST(Seeding, RandomIsUniform) {
  const Dataset data = lattice(5);
  std::vector<int> times(25);
  for (std::int64_t restart = 0; restart < 8000; ++restart) {
    const Indices pair = random(data, 2, 3, restart);
    ++times[static_cast<std::size_t>(5 * pair[0] + pair[1])];
  }
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      const int count = times[5 * i + j];
      EXPECT_NEAR(count, i == j ? 0 : 400, i == j ? 0 : 100) << i << " " << j;
    }
  }
}

// k-means++ as defined: 128-bit prefix sums over all samples, one distance at a time.
Indices plain_plus_plus(const Dataset& data, std::int64_t k, std::uint64_t seed,
                        std::int64_t restart) {
  __extension__ typedef unsigned __int128 WideWeight;
  const RandomStream stream(seed, 0x7365656400000000u + static_cast<std::uint64_t>(restart));
  const std::int64_t n = data.samples(), d = data.features();
  std::vector<std::vector<double>> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    rows.emplace_back();
    for (std::int64_t j = 0; j < d; ++j) rows.back().push_back(data.matrix().at(i, j));
  }
  const auto distance = [&](std::int64_t a, std::int64_t b) {
    return squared_distance(rows[static_cast<std::size_t>(a)].data(),
                            rows[static_cast<std::size_t>(b)].data(), d);
  };
  std::uint64_t draws = 0;
  Indices chosen = {
      static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(n), draws++))};
  const auto candidates = 2 + static_cast<int>(std::log(static_cast<double>(k)));
  std::vector<double> nearest(rows.size(), std::numeric_limits<double>::infinity());
  while (std::ssize(chosen) < k) {
    for (std::int64_t i = 0; i < n; ++i) {
      double& least = nearest[static_cast<std::size_t>(i)];
      least = std::min(least, distance(i, chosen.back()));
    }
    const double largest = *std::max_element(nearest.begin(), nearest.end());
    if (largest == 0) {
      for (std::int64_t i = 0; std::ssize(chosen) < k; ++i) {
        if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);
      }
      break;
    }
    int bits_of_n = 0;
    while ((n >> bits_of_n) > 0) ++bits_of_n;
    const int exponent = 62 - std::ilogb(largest) - bits_of_n;
    const auto weight = [&](double value) {
      return static_cast<WideWeight>(std::floor(std::ldexp(value, exponent)));
    };
    std::vector<WideWeight> prefix;
    WideWeight total = 0;
    for (const double value : nearest) prefix.push_back(total += weight(value));
    EXPECT_LT(total, WideWeight{1} << 63);
    std::int64_t best = -1;
    WideWeight least_potential = 0;
    for (int c = 0; c < candidates; ++c) {
      const WideWeight position = stream.below(static_cast<std::uint64_t>(total), draws++);
      const std::int64_t candidate =
          std::upper_bound(prefix.begin(), prefix.end(), position) - prefix.begin();
      WideWeight potential = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        potential += weight(std::min(nearest[static_cast<std::size_t>(i)], distance(i, candidate)));
      }
      if (best < 0 || potential < least_potential) {
        best = candidate;
        least_potential = potential;
      }
    }
    chosen.push_back(best);
  }
  return chosen;
}

TEST(PlusPlus, FollowsItsDefinition) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const std::int64_t k : {1, 2, 3, 7, 8, 20, 29}) {
      EXPECT_EQ(plus_plus(lattice(29), k, seed, 1), plain_plus_plus(lattice(29), k, seed, 1));
    }
  }
  // Several blocks of rows, and numbers of candidates (4, 6, 7, 9) that cover every width of a
  // pass.
  EXPECT_EQ(plus_plus(scattered<float>(9000, 2), 8),
            plain_plus_plus(scattered<float>(9000, 2), 8, 0, 0));
  EXPECT_EQ(plus_plus(scattered<double>(4097, 5), 20),
            plain_plus_plus(scattered<double>(4097, 5), 20, 0, 0));
  EXPECT_EQ(plus_plus(scattered<float>(300, 4), 60),
            plain_plus_plus(scattered<float>(300, 4), 60, 0, 0));
  EXPECT_EQ(plus_plus(scattered<double>(300, 4), 160),
            plain_plus_plus(scattered<double>(300, 4), 160, 0, 0));
  EXPECT_EQ(plus_plus(scattered<float>(1200, 1), 1100),
            plain_plus_plus(scattered<float>(1200, 1), 1100, 0, 0));
}

TEST(PlusPlus, DependsOnTheValuesOnly) {
  const Indices expected = plus_plus(lattice<float>(), 8, 4);
  EXPECT_EQ(plus_plus(lattice<double>(), 8, 4), expected);

  const std::vector<float> values = lattice_values<float>(kRows, 1);
  const auto padded = std::make_shared<std::vector<float>>(kRows * 5, -1e9f);
  for (std::size_t i = 0; i < values.size(); ++i)
    (*padded)[i / kColumns * 5 + i % kColumns] = values[i];
  Matrix strided = Matrix::from_values(values, kRows, kColumns);
  strided.storage = padded;
  strided.data = padded->data();
  strided.stride = 5;
  EXPECT_EQ(plus_plus(Dataset("strided", strided), 8, 4), expected);
}

// Powers of two cancel in the weights, even if squared distances are denormal.
TEST(PlusPlus, DoesNotDependOnScale) {
  const Indices expected = plus_plus(lattice(), 8, 4);
  for (const double scale : {0x1p-537, 0x1p-500, 0x1p-20, 0x1p300, 0x1p475}) {
    EXPECT_EQ(plus_plus(lattice<double>(kRows, scale), 8, 4), expected) << scale;
  }
}

TEST(PlusPlus, FindsSeparatedGroups) {
  std::vector<float> values;
  for (int i = 0; i < 800; ++i) {
    values.push_back(static_cast<float>(1000 * (i % 8)) + static_cast<float>(i % 13) / 16);
  }
  const Dataset data("groups", Matrix::from_values(std::move(values), 800, 1));
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<std::int64_t> groups;
    for (const std::int64_t index : plus_plus(data, 8, seed)) groups.insert(index % 8);
    EXPECT_EQ(groups.size(), 8u) << "seed " << seed;
  }
}

TEST(PlusPlus, TakesTheLowestIndicesWhenNoDistinctSampleIsLeft) {
  const Dataset constant("constant", Matrix::from_values(std::vector<float>(12, 0.1f), 6, 2));
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Indices indices = plus_plus(constant, 4, seed);
    Indices expected = {indices[0]};
    for (std::int64_t i = 0; expected.size() < 4; ++i) {
      if (i != indices[0]) expected.push_back(i);
    }
    EXPECT_EQ(indices, expected);
    const Indices all = plus_plus(constant, 6, seed);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 6u);
  }
  const Dataset two("two", Matrix::from_values(std::vector<double>{5, 5, 5, -1, 5}, 5, 1));
  EXPECT_EQ(plain_plus_plus(two, 4, 0, 0), plus_plus(two, 4));
}

TEST(PlusPlus, SurvivesOneSampleFarAway) {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 0.0);
  values[500] = 1e140;
  const Dataset data("outlier", Matrix::from_values(std::move(values), 1000, 1));
  const Indices indices = plus_plus(data, 8);
  EXPECT_EQ(std::set(indices.begin(), indices.end()).size(), 8u);
  EXPECT_NE(std::find(indices.begin(), indices.end(), 500), indices.end());
}

TEST(SeedingMethods, AreListedOnceEach) {
  const std::vector<SeedingMethod> methods = seeding_methods();
  EXPECT_EQ(std::set(methods.begin(), methods.end()).size(), methods.size());
  for (const SeedingMethod method : methods) {
    EXPECT_EQ(parse_seeding_method(to_string(method)), method);
  }
  for (const char* name : {"k-means++", "random", "first", "file"}) {
    EXPECT_NE(std::find(methods.begin(), methods.end(), parse_seeding_method(name)), methods.end())
        << name;
  }
}

TEST(SeedingMethodNames, AreReadBack) {
  for (const SeedingMethod method :
       {SeedingMethod::kmeans_plus_plus, SeedingMethod::kmeans_parallel, SeedingMethod::random,
        SeedingMethod::first, SeedingMethod::file}) {
    EXPECT_EQ(parse_seeding_method(to_string(method)), method);
  }
  EXPECT_EQ(to_string(SeedingMethod::kmeans_plus_plus), "k-means++");
  EXPECT_EQ(seeding_message([] { parse_seeding_method("kmeans++"); }),
            "unknown seeding method 'kmeans++' (did you mean 'k-means++'?)");
  EXPECT_EQ(seeding_message([] { parse_seeding_method("best"); }),
            "unknown seeding method 'best' (known: k-means++, k-means||, random, first, file)");
}

TEST(Seeding, RefusesNumbersOfClusters) {
  const Dataset data = lattice();
  for (const SeedingMethod method :
       {SeedingMethod::kmeans_plus_plus, SeedingMethod::kmeans_parallel, SeedingMethod::random,
        SeedingMethod::first, SeedingMethod::file}) {
    for (const std::int64_t k : {-1, 0, 21}) {
      EXPECT_EQ(seeding_message([&] { seed_centroids(data, k, seeding_of(method)); }),
                "lattice: " + std::to_string(k) +
                    " clusters were requested; the data set allows 1 to 20");
    }
  }
}

Seeding given(std::vector<double> centroids) {
  Seeding seeding = seeding_of(SeedingMethod::file);
  seeding.centroids = std::move(centroids);
  seeding.file = "centroids.csv";
  return seeding;
}

TEST(SeedingFromFile, HasNoIndices) {
  const Dataset dataset("two", Matrix::from_values(std::vector<float>{1, 2}, 2, 1));
  EXPECT_EQ(
      message_of<InputError>([&] { seed_indices(dataset, 2, seeding_of(SeedingMethod::file)); }),
      "centroids from a file are not samples and have no indices");
}

TEST(SeedingFromFile, ReturnsTheGivenCentroids) {
  const std::vector<double> centroids = {1, 2, 3, -4, 0.1, 1e-300};
  EXPECT_EQ(seed_centroids(lattice(), 2, given(centroids), 3), centroids);
  EXPECT_THROW(seed_indices(lattice(), 2, given(centroids)), Error);
}

TEST(SeedingFromFile, RefusesWhatDoesNotFit) {
  const Dataset data = lattice();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto message = [&](std::vector<double> centroids) {
    return seeding_message([&] { seed_centroids(data, 2, given(std::move(centroids))); });
  };
  EXPECT_EQ(message({1, 2, 3, 4, 5}),
            "centroids.csv: there are 5 values; 2 centroids of 3 features are needed");
  EXPECT_EQ(message({}),
            "Seeding::file is 'centroids.csv', but Seeding::centroids is empty; the library does "
            "not read the file, so read its 2 centroids of 3 features into Seeding::centroids");
  EXPECT_EQ(message({1, 2, 3, 4, nan, 6}),
            "centroids.csv: row 1, column 1 (counted from 0) is nan; all values must be finite");
  EXPECT_EQ(message({1, 2, infinity, 4, 5, 6}),
            "centroids.csv: row 0, column 2 (counted from 0) is inf; all values must be finite");
  EXPECT_EQ(message({1, 2, 3, 4, -1e200, 6}),
            "centroids.csv: row 1 (counted from 0) is so far from the samples of lattice that "
            "squared distances are too near the end of float64");
}

TEST(Seeding, FileThatChangesIsNamed) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "x.npy";
  for (const SeedingMethod method :
       {SeedingMethod::kmeans_plus_plus, SeedingMethod::kmeans_parallel}) {
    copy_rows(*blob_rows({.samples = 1000, .features = 2}), file);
    const Dataset dataset = read_dataset(file);
    std::atomic<bool> changed = false;
    const auto change = [&] {
      if (changed.exchange(true)) return false;
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(-4000, std::ios::end);
      for (int i = 0; i < 1000; ++i) stream.write("\0\0\xc0\x7f", 4);  // NaN
      stream.close();
      std::filesystem::last_write_time(
          file, std::filesystem::last_write_time(file) + std::chrono::seconds(1));
      return false;
    };
    EXPECT_EQ(seeding_message(
                  [&] { seed_centroids(dataset, 30, seeding_of(method), 0, {.stop = change}); }),
              file.string() + ": the file was changed while it was in use");
    EXPECT_TRUE(changed);
  }
}

}  // namespace
}  // namespace lloyd
