// Potential: the distances and weights of greedy k-means++.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/abi/resident_seeding.hpp>

#include "parallel/range_workers.hpp"
#include "seeding/sample_weights.hpp"
#include "seeding/seeding_samples.hpp"

namespace lloyd {

/// The squared distances of all samples to their nearest chosen sample, and integer weights made of
/// them, whose sum is the potential. Collective if the samples are spread over ranks; positions and
/// rows are those of all ranks. Methods throw Cancelled and the errors of the storage.
class Potential {
 public:
  virtual ~Potential() = default;

  /// SampleWeights::count() and sample_at().
  virtual std::uint64_t count() const = 0;
  virtual std::int64_t sample_at(std::uint64_t position) const = 0;
  /// Chooses a sample. Returns the largest remaining squared distance.
  virtual double choose(std::int64_t row) = 0;
  /// Weighs the samples; `largest` > 0 is the result of the last choose(). Returns the potential.
  virtual std::uint64_t weigh(double largest) = 0;
  /// SampleWeights::find().
  virtual std::vector<std::int64_t> find(std::span<const std::uint64_t> positions) const = 0;
  /// Sets gains[i] to the reduction of the potential if rows[i] were chosen.
  virtual void rate(std::span<const std::int64_t> rows, std::span<std::int64_t> gains) = 0;
};

/// With distances and weights in host memory: 8 bytes per sample.
class HostPotential final : public Potential {
 public:
  /// Both must outlive this object.
  HostPotential(SeedingSamples& samples, const RangeWorkers& workers)
      : samples_(samples),
        weights_(samples, workers),
        squared_distances_(static_cast<std::size_t>(samples.samples()),
                           std::numeric_limits<double>::infinity()) {}

  std::uint64_t count() const override { return weights_.count(); }
  std::int64_t sample_at(std::uint64_t position) const override {
    return weights_.sample_at(position);
  }
  double choose(std::int64_t row) override {
    return samples_.fold_nearest(samples_.rows({&row, 1}), 0, squared_distances_.data(), nullptr);
  }
  std::uint64_t weigh(double largest) override {
    weights_.weigh(squared_distances_.data(), largest);
    return weights_.total();
  }
  std::vector<std::int64_t> find(std::span<const std::uint64_t> positions) const override {
    return weights_.find(positions);
  }
  void rate(std::span<const std::int64_t> rows, std::span<std::int64_t> gains) override {
    samples_.rate(samples_.rows(rows), squared_distances_.data(), weights_.scale(), gains);
  }

 private:
  SeedingSamples& samples_;
  SampleWeights weights_;
  std::vector<double> squared_distances_;
};

/// With distances and weights in a backend's session.
class ResidentPotential final : public Potential {
 public:
  /// `seeding` belongs to a session on `dataset`. All references must outlive this object. Throws
  /// BackendError, with the name `backend` in front, as all methods do if the backend fails or
  /// returns an impossible result.
  ResidentPotential(const Dataset& dataset, ResidentSeeding& seeding, std::string backend,
                    const StopFunction& stop);
  ~ResidentPotential() override;
  ResidentPotential(const ResidentPotential&) = delete;
  ResidentPotential& operator=(const ResidentPotential&) = delete;

  std::uint64_t count() const override { return static_cast<std::uint64_t>(dataset_.samples()); }
  std::int64_t sample_at(std::uint64_t position) const override {
    return static_cast<std::int64_t>(position);
  }
  double choose(std::int64_t row) override;
  std::uint64_t weigh(double largest) override;
  std::vector<std::int64_t> find(std::span<const std::uint64_t> positions) const override;
  void rate(std::span<const std::int64_t> rows, std::span<std::int64_t> gains) override;

 private:
  const Dataset& dataset_;
  ResidentSeeding& seeding_;
  std::string backend_;
  const StopFunction& stop_;
  std::int64_t total_ = 0;  // of the last weigh()
};

}  // namespace lloyd
