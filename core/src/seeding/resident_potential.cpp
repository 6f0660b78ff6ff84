#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "seeding/potential.hpp"
#include "seeding/stop_observer.hpp"

namespace lloyd {

ResidentPotential::ResidentPotential(const Dataset& dataset, ResidentSeeding& seeding,
                                     std::string backend, const StopFunction& stop)
    : dataset_(dataset), seeding_(seeding), backend_(std::move(backend)), stop_(stop) {
  throw_unless_ok(backend_, seeding_.begin_seeding());
}

ResidentPotential::~ResidentPotential() {
  seeding_.end_seeding();
}

double ResidentPotential::choose(std::int64_t row) {
  double largest = std::numeric_limits<double>::quiet_NaN();
  StopObserver observer(stop_);
  observer.check(backend_, seeding_.add(row, &observer, &largest));
  if (largest >= 0 && largest < std::numeric_limits<double>::infinity()) return largest;
  throw BackendError(
      StatusCode::internal,
      fmt::format("{}: the largest squared distance of its seeding is {}", backend_, largest));
}

std::uint64_t ResidentPotential::weigh(double largest) {
  total_ = 0;
  StopObserver observer(stop_);
  observer.check(backend_, seeding_.weigh(weight_scale(largest, count()), &observer, &total_));
  if (total_ > 0) return static_cast<std::uint64_t>(total_);
  throw BackendError(StatusCode::internal,
                     fmt::format("{}: the weights of its seeding add up to {}", backend_, total_));
}

std::vector<std::int64_t> ResidentPotential::find(std::span<const std::uint64_t> positions) const {
  const std::vector<std::int64_t> wanted(positions.begin(), positions.end());
  std::vector<std::int64_t> rows(wanted.size(), -1);
  throw_unless_ok(backend_, seeding_.find(wanted.data(), std::ssize(wanted), rows.data()));
  for (const std::int64_t row : rows) {
    if (row >= 0 && row < dataset_.samples()) continue;
    throw BackendError(StatusCode::internal, fmt::format("{}: its seeding found row {} of {}",
                                                         backend_, row, dataset_.samples()));
  }
  return rows;
}

void ResidentPotential::rate(std::span<const std::int64_t> rows, std::span<std::int64_t> gains) {
  StopObserver observer(stop_);
  std::fill(gains.begin(), gains.end(), -1);
  observer.check(backend_, seeding_.rate(rows.data(), std::ssize(rows), &observer, gains.data()));
  for (std::size_t i = 0; i < gains.size(); ++i) {
    if (gains[i] >= 0 && gains[i] <= total_) continue;
    throw BackendError(StatusCode::internal,
                       fmt::format("{}: its seeding rates row {} with {}; it must be from 0 to {}",
                                   backend_, rows[i], gains[i], total_));
  }
}

}  // namespace lloyd
