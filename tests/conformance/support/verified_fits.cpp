#include "conformance/support/verified_fits.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

struct Verified {
  DType dtype;
  Accuracy accuracy;
  Reproducibility reproducibility;
  Samples samples;
  Setting setting;
  Trial trial;
};

class VerifiedFits {
 public:
  // Calls `equal` with each fit, the latest first, until it returns true.
  template <class Equal>
  bool any(Equal equal) {
    const std::lock_guard lock(mutex_);
    return std::any_of(fits_.rbegin(), fits_.rend(), equal);
  }

  void add(Verified fit) {
    const std::lock_guard lock(mutex_);
    bytes_ += bytes(fit);
    fits_.push_back(std::move(fit));
    while (bytes_ > kMaxBytes && fits_.size() > 1) {
      bytes_ -= bytes(fits_.front());
      fits_.pop_front();
    }
  }

 private:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  static std::size_t bytes(const Verified& fit) {
    std::size_t numbers = fit.samples.values.size() + fit.setting.centroids.size();
    for (const Observed& observed : fit.trial.trace) {
      numbers += observed.labels.size() + observed.centroids.size();
    }
    return sizeof(Verified) + numbers * sizeof(double);
  }

  std::mutex mutex_;
  std::deque<Verified> fits_;
  std::size_t bytes_ = 0;
};

VerifiedFits& verified_fits() {
  static VerifiedFits fits;
  return fits;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return conformance::same_bits(x, y); });
}

bool same_problem(const Verified& known, const Samples& samples, const Setting& setting) {
  return known.samples.n == samples.n && known.samples.d == samples.d &&
         known.setting.clusters == setting.clusters &&
         known.setting.max_iterations == setting.max_iterations &&
         known.setting.fixed == setting.fixed && known.setting.empty == setting.empty &&
         conformance::same_bits(known.setting.tolerance, setting.tolerance) &&
         same_bits(known.samples.values, samples.values) &&
         same_bits(known.setting.centroids, setting.centroids);
}

bool same_iteration(const Observed& a, const Observed& b) {
  return a.record.iteration == b.record.iteration && a.record.changed == b.record.changed &&
         a.record.relocations == b.record.relocations &&
         conformance::same_bits(a.record.shift, b.record.shift) &&
         conformance::same_bits(a.record.inertia, b.record.inertia) && a.labels == b.labels &&
         same_bits(a.centroids, b.centroids);
}

bool same_trial(const Trial& a, const Trial& b) {
  return a.status.code == b.status.code && a.result.valid == b.result.valid &&
         a.result.iterations == b.result.iterations &&
         a.result.relocations == b.result.relocations &&
         a.result.stop_reason == b.result.stop_reason && a.result.sum_form == b.result.sum_form &&
         conformance::same_bits(a.result.inertia, b.result.inertia) &&
         same_bits(a.centroids, b.centroids) && a.labels == b.labels && a.counts == b.counts &&
         std::equal(a.trace.begin(), a.trace.end(), b.trace.begin(), b.trace.end(), same_iteration);
}

}  // namespace

bool is_verified(const Context& context, const Samples& samples, const Setting& setting,
                 const Trial& trial) {
  return verified_fits().any([&](const Verified& known) {
    return known.dtype == context.dtype() && known.accuracy == context.accuracy() &&
           known.reproducibility == context.reproducibility() &&
           same_problem(known, samples, setting) && same_trial(known.trial, trial);
  });
}

void remember_verified(const Context& context, const Samples& samples, const Setting& setting,
                       const Trial& trial) {
  verified_fits().add(
      {context.dtype(), context.accuracy(), context.reproducibility(), samples, setting, trial});
}

}  // namespace lloyd::conformance
