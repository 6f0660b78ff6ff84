// Runs one fit or label request across the plugin boundary, with fenced outputs and full
// observation.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <lloyd/plugin/abi/backend.hpp>

#include "conformance/support/context.hpp"
#include "conformance/support/samples.hpp"

namespace lloyd::conformance {

struct Setting {
  std::vector<double> centroids;  ///< initial, k x d
  std::int64_t clusters = 0;
  std::int64_t max_iterations = 20;
  bool fixed = false;
  double tolerance = 0;                       ///< absolute
  EmptyClusters empty = EmptyClusters::keep;  ///< every backend supports it
};

/// All kObserve... bits.
inline constexpr std::uint32_t kObserveAll =
    kObserveIterations | kObserveInertia | kObserveLabels | kObserveCentroids;

/// A copy of one iteration record. Arrays are empty if the record had none.
struct Observed {
  IterationRecord record;  ///< its pointers are null
  std::vector<std::int32_t> labels;
  std::vector<double> centroids;
};

/// Keeps all records, and cancels the fit as configured.
class Recorder : public Observer {
 public:
  Recorder(std::int64_t samples, std::int64_t cells) : samples_(samples), cells_(cells) {}

  bool on_iteration(const IterationRecord& record) noexcept override;
  bool stop_requested() const noexcept override { return stop; }

  std::vector<Observed> trace;
  std::int64_t refuse_at = 0;  ///< iteration after which on_iteration returns false; 0: none
  std::int64_t raise_at = 0;   ///< iteration after which stop_requested is true; 0: none
  std::atomic<bool> stop{false};

 private:
  std::int64_t samples_;
  std::int64_t cells_;
};

struct Trial {
  Status status;
  FitResult result;  ///< its pointers are null
  std::vector<double> centroids;
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  std::vector<Observed> trace;
};

struct Run {
  std::uint32_t observe = kObserveAll;
  bool profile = false;
  Observer* observer = nullptr;  ///< replaces the Recorder; may be null if `observe` is 0
};

FitSpec make_spec(const Setting& setting, const Run& run = {});
/// Runs a fit with unaligned, fenced outputs filled with garbage; a write out of bounds fails the
/// case.
Trial run_fit(Session& session, const Samples& samples, const Setting& setting,
              const Run& run = {});
/// As above, with the caller's recorder.
Trial run_fit(Session& session, const Samples& samples, const Setting& setting, Recorder& recorder,
              const Run& run = {});
/// False if the backend does not support the fit. If it only refuses to relocate empty clusters,
/// the setting is changed: they are kept.
bool adapt_to_backend(const Context& context, const Dataset& dataset, Setting& setting);
/// Opens a session and runs a fit that must succeed; skips the case if the backend does not support
/// it.
Trial fresh_fit(const Context& context, const Samples& samples, const Setting& setting,
                Layout layout = {});

/// True unless the backend refuses these parameters for this machine, for example a device that
/// does not exist. limits/parameters tests whether a refusal is in order.
bool accepts_parameters(const Context& context);

struct Labelling {
  Status status;
  LabelResult result;  ///< its pointers are null
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  std::vector<double> squared_distances;
};
Labelling run_label(Session& session, const Samples& samples, const std::vector<double>& centroids);

/// An output array filled with garbage, fenced, and aligned to one element only.
template <class T>
class Fenced {
 public:
  explicit Fenced(std::int64_t size) : size_(size), values_(size + 2 * kFence, garbage()) {}
  T* data() { return values_.data() + kFence; }
  /// Checks the fences and returns the contents.
  std::vector<T> take(const char* what) const {
    for (std::int64_t at = 0; at < kFence; ++at) {
      expect(values_[at] == garbage(), "{}: a value before the first one was written", what);
      expect(values_[kFence + size_ + at] == garbage(),
             "{}: a value after the last one was written", what);
    }
    return {values_.begin() + kFence, values_.begin() + kFence + size_};
  }

 private:
  static constexpr std::int64_t kFence = 5;  // odd, so that 16-byte alignment is lost
  static constexpr T garbage() { return static_cast<T>(-1515870811); }

  std::int64_t size_;
  std::vector<T> values_;
};

}  // namespace lloyd::conformance
