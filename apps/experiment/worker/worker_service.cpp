#include "experiment/worker/worker_service.hpp"

#include <string.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/config/isolation.hpp"
#include "experiment/trial/kernel_seeding.hpp"
#include "experiment/trial/trace_work.hpp"
#include "experiment/worker/shared_dataset.hpp"
#include "experiment/worker/shared_trace.hpp"
#include "experiment/worker/worker_protocol.hpp"
#include "external/backend.hpp"
#include "ipc/packet_socket.hpp"
#include "ipc/shared_memory.hpp"
#include "machine/processors/affinity.hpp"
#include "machine/processors/threads.hpp"
#include "process/fork_barrier.hpp"
#include "supervision/interrupt.hpp"
#include "supervision/supervised_backend.hpp"
#include "supervision/supervision_board.hpp"

namespace lloyd::experiment {
namespace {

using apps::Packet;
using nlohmann::ordered_json;

// An answer and an optional descriptor.
struct Reply {
  std::string text;
  apps::Descriptor descriptor;
};

class Service {
 public:
  explicit Service(int socket) : socket_(socket) {}

  Reply answer(const ordered_json& message, const Packet& packet) {
    switch (message_kind(message)) {
      case MessageKind::start:
        return {answer_started(start(read_start_message(message), packet)), {}};
      case MessageKind::prepare:
        if (backend_ != nullptr) external::prepare(*backend_);
        machine::wait_for_idle_threads(machine::kMaxSpinTime);
        break;
      case MessageKind::dataset:
        dataset_.reset();
        classes_ = {};
        dataset_ = receive_dataset(read_dataset_message(message), packet.descriptors);
        classes_ = receive_classes(read_dataset_message(message), packet.descriptors);
        break;
      case MessageKind::forget:
        dataset_.reset();
        classes_ = {};
        return {};
      case MessageKind::trial:
        releases_ = true;
        return {answer_outcome(run(read_trial_message(message), packet)), {}};
      case MessageKind::trace:
        releases_ = true;
        return trace(read_trace_message(message), packet);
      case MessageKind::settle:
        // Spinning threads would disturb the next trial.
        machine::wait_for_idle_threads(machine::kMaxSpinTime);
        break;
      case MessageKind::seed:
        releases_ = true;
        return seed(read_seed_message(message));
      case MessageKind::finish:
        backend_.reset();
        break;
    }
    return {answer_done(), {}};
  }

  // Releases the session after the answer to a trial, a trace or a seeding was sent. Returns the
  // second answer, or an empty text after other messages.
  std::string release() {
    if (!std::exchange(releases_, false)) return {};
    const apps::ForkBarrier barrier;
    session_.reset();
    const std::string failure =
        backend_ == nullptr ? std::string() : external::take_close_failure(*backend_);
    return failure.empty() ? answer_done() : answer_failure(failure);
  }

 private:
  // Returns the time from the start of this process on, in milliseconds.
  double start(const StartMessage& message, const Packet& packet) {
    // Set before the plugin is loaded, since thread pools read the affinity when they start.
    if (!message.cpus.empty() && !machine::run_on(message.cpus)) {
      throw Error(fmt::format("cannot run on the processors {}: {}",
                              format_processors(message.cpus), ::strerror(errno)));
    }
    if (packet.descriptors.empty() || external::is_program(message.plugin)) {
      backend_ = external::load_plugin_or_program(message.plugin);
    } else {
      backend_ = apps::load_marked(message.plugin,
                                   apps::SharedBoard::map(packet.descriptors.front().get()));
    }
    external::set_close_limit(*backend_, message.close_limit);
    check_same(message.identity, identity_of(*backend_));
    parameters_ = backend_->default_parameters();
    for (const auto& [name, text] : message.parameters) parameters_->set(name, text);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() -
                                                     message.begun)
        .count();
  }

  std::vector<std::vector<double>> read_starts(const FitOptions& options, const Packet& packet) {
    if (backend_ == nullptr || dataset_ == nullptr || packet.descriptors.size() != 1) {
      throw Error("a trial arrived before its backend, its data set or its centroids");
    }
    const auto values = static_cast<std::size_t>(options.clusters * dataset_->features());
    const auto restarts = static_cast<std::size_t>(options.restarts);
    const auto mapped =
        apps::map_shared(packet.descriptors.front().get(),
                         static_cast<std::int64_t>(restarts * values * sizeof(double)));
    std::vector<std::vector<double>> starts;
    for (std::size_t restart = 0; restart < restarts; ++restart) {
      const double* const first = static_cast<const double*>(mapped.get()) + restart * values;
      starts.emplace_back(first, first + values);
    }
    return starts;
  }

  TrialOutcome run(const TrialMessage& message, const Packet& packet) {
    const std::vector<std::vector<double>> starts = read_starts(message.options, packet);
    const apps::ForkBarrier process;
    apps::InterruptObserver observer;
    const auto on_release = [&, this](bool released) {
      process.check();
      apps::send_packet(socket_, released ? answer_done() : answer_releasing());
    };
    TrialWork work{backend_,
                   *parameters_,
                   *dataset_,
                   message.options,
                   starts,
                   message.probe,
                   message.check_result,
                   message.checks,
                   message.checked_before,
                   message.processor,
                   message.one_session,
                   on_release};
    work.on_stage = [this](std::string_view stage, std::int64_t done, std::int64_t total) {
      report(stage, done, total);
    };
    work.classes = classes_;
    work.silhouette = message.silhouette;
    work.cold_l2 = message.cold_l2;
    work.counters = message.counters;
    work.gpu = gpus_.find(*backend_, *parameters_);
    return run_trial_work(work, observer, session_);
  }

  Reply trace(const TraceMessage& message, const Packet& packet) {
    const std::vector<std::vector<double>> starts = read_starts(message.options, packet);
    apps::InterruptObserver observer;
    try {
      const Trace trace = make_trace(
          {backend_, *parameters_, *dataset_, message.options,
           starts[static_cast<std::size_t>(message.restart)], message.replay, message.warm_up},
          observer, session_);
      return {answer_trace(), share_trace(trace)};
    } catch (const Cancelled&) {
      return {answer_cancelled(), {}};
    }
  }

  Reply seed(const SeedMessage& message) {
    if (backend_ == nullptr || dataset_ == nullptr) {
      throw Error("a seeding arrived before its backend or its data set");
    }
    apps::InterruptObserver observer;
    try {
      session_ = std::make_unique<BackendSession>(backend_, *dataset_, *parameters_);
      const auto seeded = seed_by_kernels(
          *session_, *dataset_, message.options, [&] { return observer.stop_requested(); },
          [this](std::int64_t done, std::int64_t total) { report("seeding", done, total); },
          message.first_restart);
      if (!seeded) return {answer_no_kernels(), {}};
      const auto bytes = static_cast<std::int64_t>(seeded->rows.size() * sizeof(std::int64_t));
      return {answer_seeds(seeded->ms), apps::make_shared_memory(seeded->rows.data(), bytes)};
    } catch (const Cancelled&) {
      return {answer_cancelled(), {}};
    }
  }

  // Reports the progress of stages that take longer than kMinInterval, at most that often.
  void report(std::string_view stage, std::int64_t done, std::int64_t total) {
    constexpr std::chrono::milliseconds kMinInterval{200};
    const auto now = std::chrono::steady_clock::now();
    if (stage != stage_) {
      stage_ = stage;
      reported_ = false;
      next_report_ = now + kMinInterval;
    }
    const bool ends = reported_ && done >= total;
    if (now < next_report_ && !ends) return;
    reported_ = !ends;
    next_report_ = now + kMinInterval;
    apps::send_packet(socket_, answer_progress(stage, done, total));
  }

  std::shared_ptr<const LoadedBackend> backend_;
  std::optional<ParameterSet> parameters_;
  std::unique_ptr<const Dataset> dataset_;
  std::vector<std::int32_t> classes_;  ///< class of each sample; empty: none
  int socket_;
  std::string stage_;      ///< stage of the last report()
  bool reported_ = false;  ///< a report of this stage was sent, but not that of its end
  std::chrono::steady_clock::time_point next_report_;
  GpuMonitor gpus_;
  bool releases_ = false;
  std::unique_ptr<BackendSession> session_;  ///< session of the trial or trace last answered
};

}  // namespace

void serve_trials(int socket) {
  Service service(socket);
  Packet packet;
  for (;;) {
    Reply answer;
    try {
      if (apps::receive_packet(socket, true, packet) != apps::Received::packet) return;
      const apps::ForkBarrier barrier;
      answer = service.answer(parse_message(packet.text), packet);
    } catch (const std::bad_alloc&) {
      answer.text = answer_failure("the process of the plugin is out of memory");
    } catch (const std::exception& error) {
      answer.text = answer_failure(error.what());
    }
    if (answer.text.empty()) continue;
    std::vector<int> descriptors;
    if (answer.descriptor) descriptors.push_back(answer.descriptor.get());
    if (!apps::send_packet(socket, answer.text, descriptors)) return;
    const std::string release = service.release();
    if (!release.empty() && !apps::send_packet(socket, release)) return;
  }
}

}  // namespace lloyd::experiment
