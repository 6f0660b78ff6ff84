// Measures what scaling.py predicts, on the ranks that mpirun started: all-reduces by size, and the
// iterations of a fit with and without communication.
//
// Usage: mpirun -n RANKS rank_times SAMPLES FEATURES CLUSTERS ITERATIONS ROUNDS [THREADS]
//
// The data are blobs, split into rows per rank. In each round, every rank fits its own rows alone,
// all ranks at the same time, and then all fit the whole together. Rank 0 prints one JSON object;
// times are in milliseconds.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/backend_choice.hpp>
#include <lloyd/data/blobs.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/launched_ranks.hpp>
#include <lloyd/registry.hpp>

namespace lloyd {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One all-reduce of sums on one rank.
struct Reduction {
  std::int64_t count;  // values
  Clock::time_point begin, end;
};

// The same all-reduce on all ranks. Their clocks must agree, so all ranks run on one host.
struct JointReduction {
  double ms = 0;       // from the entry of the last rank to the return of the last
  double waiting = 0;  // of the mean rank for the entry of the last
};

std::vector<JointReduction> join_reductions(const Ranks& ranks, std::span<const Reduction> mine) {
  const std::vector<Reduction> all = ranks.gather(mine);
  std::vector<JointReduction> joint(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    Reduction last = all[i];
    for (std::size_t at = i; at < all.size(); at += mine.size()) {
      last.begin = std::max(last.begin, all[at].begin);
      last.end = std::max(last.end, all[at].end);
    }
    joint[i].ms = milliseconds_between(last.begin, last.end);
    for (std::size_t at = i; at < all.size(); at += mine.size()) {
      joint[i].waiting += milliseconds_between(all[at].begin, last.begin) / ranks.size();
    }
  }
  return joint;
}

// Forwards to a communicator, or is the only rank if there is none, and times all-reduces of sums.
class ReductionRecorder final : public Communicator {
 public:
  explicit ReductionRecorder(std::shared_ptr<Communicator> inner) : inner_(std::move(inner)) {}

  std::int32_t rank() const noexcept override { return inner_ ? inner_->rank() : 0; }
  std::int32_t size() const noexcept override { return inner_ ? inner_->size() : 1; }
  Status all_reduce(const ReduceRequest& request) noexcept override {
    const Clock::time_point begin = Clock::now();
    const Status status = inner_ ? inner_->all_reduce(request) : Status();
    if (request.op == ReduceOp::sum) {
      reductions_.push_back({request.count, begin, Clock::now()});
    }
    return status;
  }
  Status broadcast(void* bytes, std::int64_t count, std::int32_t root) noexcept override {
    return inner_ ? inner_->broadcast(bytes, count, root) : Status();
  }
  Status all_gather(const void* mine, std::int64_t bytes, void* all) noexcept override {
    if (inner_) return inner_->all_gather(mine, bytes, all);
    std::copy_n(static_cast<const char*>(mine), bytes, static_cast<char*>(all));
    return {};
  }
  Status barrier() noexcept override { return inner_ ? inner_->barrier() : Status(); }
  void set_timeout(double seconds) noexcept override {
    if (inner_) inner_->set_timeout(seconds);
  }
  void progress() noexcept override {
    if (inner_) inner_->progress();
  }
  void abort(const char* message) noexcept override {
    if (inner_) inner_->abort(message);
  }
  bool reports_failure() noexcept override { return !inner_ || inner_->reports_failure(); }
  void* query(const char* name) noexcept override { return inner_ ? inner_->query(name) : nullptr; }
  void release() noexcept override {}

  // The all-reduces since the last call.
  std::vector<Reduction> take_reductions() { return std::exchange(reductions_, {}); }

 private:
  std::shared_ptr<Communicator> inner_;
  std::vector<Reduction> reductions_;
};

// Times from the end of one iteration to the end of the next.
class IterationTimes final : public Observer {
 public:
  bool on_iteration(const IterationRecord&) noexcept override {
    const Clock::time_point now = Clock::now();
    if (last_ != Clock::time_point()) times_.push_back(milliseconds_between(last_, now));
    last_ = now;
    return true;
  }
  bool stop_requested() const noexcept override { return false; }
  const std::vector<double>& times() const { return times_; }

 private:
  Clock::time_point last_{};
  std::vector<double> times_;
};

struct Arguments {
  std::int64_t samples, features, clusters, iterations, rounds;
  std::string threads;  // empty: the backend's default
};

// Medians of all rounds.
struct FitTimes {
  std::vector<double> alone;          // the slowest rank's iteration
  std::vector<double> alone_mean;     // the mean of all ranks
  std::vector<double> together;       // an iteration of all ranks
  std::vector<double> communication;  // JointReduction::ms
  std::vector<double> waiting;        // JointReduction::waiting
};

class Measurement {
 public:
  Measurement(const Arguments& arguments, std::shared_ptr<Communicator> job)
      : arguments_(arguments),
        communicator_(std::make_shared<ReductionRecorder>(std::move(job))),
        ranks_(communicator_) {}

  void run() {
    const std::vector<std::pair<std::int64_t, double>> reductions = time_reductions();
    const FitTimes fits = time_fits();
    if (ranks_.rank() != 0) return;
    std::string rows;
    for (const auto& [count, ms] : reductions) {
      rows +=
          fmt::format("{}{{\"values\": {}, \"ms\": {:.6f}}}", rows.empty() ? "" : ", ", count, ms);
    }
    fmt::print(
        "{{\"ranks\": {}, \"samples\": {}, \"features\": {}, \"clusters\": {}, \"value_bits\": {}, "
        "\"message_values\": {}, \"all_reduce\": [{}], \"alone_ms\": {:.6f}, "
        "\"alone_mean_ms\": {:.6f}, \"together_ms\": {:.6f}, \"communication_ms\": {:.6f}, "
        "\"waiting_ms\": {:.6f}}}\n",
        ranks_.size(), arguments_.samples, arguments_.features, arguments_.clusters, value_bits_,
        message_values_, rows, median(fits.alone), median(fits.alone_mean), median(fits.together),
        median(fits.communication), median(fits.waiting));
  }

 private:
  // Median time of an all-reduce by size. As in a fit, each rank has worked on as much other memory
  // as its samples take since the last one.
  std::vector<std::pair<std::int64_t, double>> time_reductions() {
    std::vector<std::pair<std::int64_t, double>> result;
    if (ranks_.alone()) return result;
    const std::int64_t values_of_rank = arguments_.samples * arguments_.features / ranks_.size();
    std::vector<float> other(static_cast<std::size_t>(values_of_rank));
    for (const std::int64_t count : kReducedValues) {
      std::vector<std::int64_t> values(static_cast<std::size_t>(count));
      communicator_->take_reductions();
      for (int run = 0; run < (count > 100000 ? 21 : 51); ++run) {
        for (float& value : other) value += 1;
        ranks_.sum(values);
      }
      std::vector<double> times;
      for (const JointReduction& one : join_reductions(ranks_, communicator_->take_reductions())) {
        times.push_back(one.ms);
      }
      result.emplace_back(count, median(times));
    }
    return result;
  }

  FitTimes time_fits() {
    const Dataset whole = make_blobs({.samples = arguments_.samples,
                                      .features = arguments_.features,
                                      .centers = arguments_.clusters,
                                      .std = 3});
    const Matrix& matrix = whole.matrix();
    const std::int64_t first = arguments_.samples * ranks_.rank() / ranks_.size();
    const std::int64_t last = arguments_.samples * (ranks_.rank() + 1) / ranks_.size();
    const Matrix rows = Matrix::view(static_cast<const float*>(matrix.data) + first * matrix.stride,
                                     last - first, matrix.columns, matrix.stride);
    std::vector<double> centroids;
    for (std::int64_t c = 0; c < arguments_.clusters; ++c) {
      const std::vector<double> row = whole.sample(c * (arguments_.samples / arguments_.clusters));
      centroids.insert(centroids.end(), row.begin(), row.end());
    }
    const auto one_rank = std::make_shared<ReductionRecorder>(nullptr);
    const Dataset own = Dataset::part("rows of this rank", rows, one_rank);
    const Dataset part = Dataset::part("rows of all ranks", rows, communicator_);
    FitTimes times;
    for (std::int64_t round = 0; round < arguments_.rounds; ++round) {
      ranks_.together([] {});
      add_alone(iterations_of(own, centroids), times);
      communicator_->take_reductions();
      const std::vector<double> together = iterations_of(part, centroids);
      times.together.insert(times.together.end(), together.begin(), together.end());
      add_reductions(communicator_->take_reductions(), times);
    }
    for (const FeatureStatistics& feature : part.statistics()) {
      const double largest = std::max(std::abs(feature.minimum), std::abs(feature.maximum));
      if (largest > 0) {
        value_bits_ = std::max(value_bits_, std::ilogb(largest) + 1 - feature.quantum_exponent);
      }
    }
    return times;
  }

  std::vector<double> iterations_of(const Dataset& dataset, const std::vector<double>& centroids) {
    BackendChoice choice{.name = "openmp"};
    if (!arguments_.threads.empty()) choice.parameters = {{"threads", arguments_.threads}};
    const auto backend = load_backend(choice);
    BackendSession session(backend, dataset, parameters_of(*backend, choice));
    FitOptions options;
    options.clusters = arguments_.clusters;
    options.max_iterations = arguments_.iterations;
    options.fixed_iterations = true;
    options.observe = kObserveIterations;
    IterationTimes observer;
    session.fit_from(centroids, options, &observer);
    return observer.times();
  }

  void add_alone(const std::vector<double>& mine, FitTimes& times) {
    const std::vector<double> all = ranks_.gather(std::span<const double>(mine));
    for (std::size_t i = 0; i < mine.size(); ++i) {
      double slowest = 0;
      double sum = 0;
      for (std::size_t rank = 0; rank < all.size() / mine.size(); ++rank) {
        slowest = std::max(slowest, all[rank * mine.size() + i]);
        sum += all[rank * mine.size() + i];
      }
      times.alone.push_back(slowest);
      times.alone_mean.push_back(sum / static_cast<double>(ranks_.size()));
    }
  }

  // The all-reduces of the iterations are the only ones of a fit that occur once per iteration.
  void add_reductions(std::vector<Reduction> reductions, FitTimes& times) {
    std::map<std::int64_t, std::int64_t> occurrences;
    for (const Reduction& reduction : reductions) ++occurrences[reduction.count];
    for (const auto& [count, number] : occurrences) {
      if (number == arguments_.iterations) message_values_ = count;
    }
    std::erase_if(reductions, [&](const Reduction& one) { return one.count != message_values_; });
    for (const JointReduction& one : join_reductions(ranks_, reductions)) {
      times.communication.push_back(one.ms);
      times.waiting.push_back(one.waiting);
    }
  }

  static constexpr std::int64_t kReducedValues[] = {1,     64,     512,     1062,   4096,
                                                    32768, 131072, 1048576, 4194304};

  Arguments arguments_;
  std::shared_ptr<ReductionRecorder> communicator_;
  Ranks ranks_;
  std::int64_t message_values_ = 0;
  int value_bits_ = 0;
};

std::int64_t parse_number(const char* name, std::string_view text, std::int64_t min) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= min) return number;
  throw InputError(fmt::format("{} is '{}'; it must be a whole number >= {}", name, text, min));
}

Arguments parse(std::span<char* const> texts) {
  Arguments arguments{
      parse_number("SAMPLES", texts[0], 1),  parse_number("FEATURES", texts[1], 1),
      parse_number("CLUSTERS", texts[2], 1), parse_number("ITERATIONS", texts[3], 2),
      parse_number("ROUNDS", texts[4], 1),   texts.size() > 5 ? texts[5] : ""};
  if (arguments.clusters > arguments.samples) {
    throw InputError(
        fmt::format("{} clusters are more than {} samples", arguments.clusters, arguments.samples));
  }
  return arguments;
}

}  // namespace
}  // namespace lloyd

int main(int count, char** arguments) {
  const std::span texts(arguments + 1, static_cast<std::size_t>(count - 1));
  if (texts.size() != 5 && texts.size() != 6) {
    std::fprintf(stderr,
                 "usage: rank_times SAMPLES FEATURES CLUSTERS ITERATIONS ROUNDS [THREADS]\n");
    return 2;
  }
  try {
    const lloyd::Arguments parsed = lloyd::parse(texts);
    const auto job = lloyd::find_launched_job(lloyd::Registry::default_folders());
    lloyd::Measurement(parsed, job ? lloyd::join_ranks(*job) : nullptr).run();
  } catch (const lloyd::InputError& error) {
    std::fprintf(stderr, "rank_times: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank_times: %s\n", error.what());
    return 1;
  }
}
