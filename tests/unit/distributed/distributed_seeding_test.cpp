// Seeding over ranks: the samples that one process chooses.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/seeding.hpp>

#include "unit/support/rank_parts.hpp"
#include "unit/support/run_ranks.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// Integers, few of them distinct if `extent` is small.
Matrix seeding_lattice(std::int64_t rows, std::int64_t columns, int extent, std::mt19937& random) {
  std::vector<float> values;
  std::uniform_int_distribution<int> integer(-extent, extent);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    values.push_back(static_cast<float>(integer(random)));
  }
  return Matrix::from_values(std::move(values), rows, columns);
}

TEST(DistributedSeeding, ChoosesTheSamplesOfOneProcess) {
  std::mt19937 random(5);
  for (int number = 0; number < 24; ++number) {
    const std::int64_t rows = number % 4 == 0 ? 9 + number : 5000;
    const std::int64_t clusters = 1 + number % 9;
    const Matrix matrix = seeding_lattice(rows, 1 + number % 3, number % 3 == 0 ? 1 : 900, random);
    const Dataset whole("points", matrix);
    for (const SeedingMethod method : seeding_methods()) {
      Seeding seeding{.method = method, .seed = static_cast<std::uint64_t>(number)};
      if (method == SeedingMethod::file) {
        seeding.centroids.assign(static_cast<std::size_t>(clusters * matrix.columns), 0.5);
      }
      const std::vector<double> expected =
          seed_centroids(whole, clusters, seeding, 1, {.threads = 1});
      for (const int ranks : {1, 2, 3, 7}) {
        const std::vector<std::int64_t> bounds = random_bounds(rows, ranks, random);
        run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
          const Dataset part = part_of(matrix, bounds, communicator);
          EXPECT_EQ(seed_centroids(part, clusters, seeding, 1, {.threads = 1}), expected)
              << "problem " << number << ", " << to_string(method) << ", " << ranks << " ranks";
        });
      }
    }
  }
}

TEST(DistributedSeeding, IsCancelledOnAllRanks) {
  std::mt19937 random(6);
  const Matrix matrix = seeding_lattice(3000, 2, 900, random);
  for (const SeedingMethod method :
       {SeedingMethod::kmeans_plus_plus, SeedingMethod::kmeans_parallel}) {
    for (const int calls : {0, 1, 2, 5, 8}) {
      run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
        const Dataset part = part_of(matrix, {0, 1500, 1500, 3000}, communicator);
        int left = communicator->rank() == 1 ? calls : 1000000;
        const auto stop = [&left] { return left-- <= 0; };
        EXPECT_THROW(seed_indices(part, 20, {.method = method}, 0, {.stop = stop, .threads = 1}),
                     Cancelled);
        EXPECT_EQ(seed_indices(part, 20, {.method = method}).size(), 20u);  // the ranks still agree
      });
    }
  }
}

TEST(DistributedSeeding, DifferentOptionsAreRefusedByAllRanks) {
  const Matrix matrix = Matrix::from_values(std::vector{1.0, 2.0, 3.0}, 3, 1);
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const Dataset part = part_of(matrix, {0, 1, 3}, communicator);
    const auto seed = static_cast<std::uint64_t>(communicator->rank());
    EXPECT_EQ(message_of<InputError>([&] { seed_indices(part, 2, {.seed = seed}); }),
              "the ranks were given different values of seed");
    EXPECT_EQ(message_of<InputError>([&] { seed_indices(part, 4, {}); }),
              "points: 4 clusters were requested; the data set allows 1 to 3");
  });
}

}  // namespace
}  // namespace lloyd
