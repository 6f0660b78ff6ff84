#include "supervision/supervised_backend.hpp"

#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include <lloyd/internal/loading_stages.hpp>
#include <lloyd/plugin/abi/device_cache.hpp>
#include <lloyd/plugin/abi/device_passes.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/abi/resident_seeding.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/plugin/abi/session_notes.hpp>
#include <lloyd/plugin/abi/windowed_passes.hpp>

namespace lloyd::apps {
namespace {

// Base of the classes that mark the calls of an optional interface of a session.
template <class Interface>
class Marked : public Interface {
 public:
  explicit Marked(SupervisionBoard& board) : board_(board) {}
  /// Wraps the object; null for null.
  Interface* around(Interface* plugin) {
    plugin_ = plugin;
    return plugin == nullptr ? nullptr : this;
  }

 protected:
  SupervisionBoard& board_;
  Interface* plugin_ = nullptr;
};

class MarkedNotes final : public Marked<SessionNotes> {
 public:
  using Marked::Marked;
  const char* notes() const noexcept override {
    const MarkedCall call(board_, PluginCall::notes);
    return plugin_->notes();
  }
};

class MarkedCache final : public Marked<DeviceCache> {
 public:
  using Marked::Marked;
  Status evict() noexcept override {
    const MarkedCall call(board_, PluginCall::evict);
    return plugin_->evict();
  }
};

class MarkedKernels final : public Marked<SeedingKernels> {
 public:
  using Marked::Marked;
  Status nearest(const NearestRequest& request, Observer* observer) noexcept override {
    const MarkedCall call(board_, PluginCall::seeding_nearest);
    return plugin_->nearest(request, observer);
  }
  Status gains(const GainsRequest& request, Observer* observer) noexcept override {
    const MarkedCall call(board_, PluginCall::seeding_gains);
    return plugin_->gains(request, observer);
  }
};

class MarkedSeeding final : public Marked<ResidentSeeding> {
 public:
  using Marked::Marked;
  Status begin_seeding() noexcept override {
    const MarkedCall call(board_, PluginCall::resident_begin);
    return plugin_->begin_seeding();
  }
  Status add(std::int64_t row, Observer* observer, double* largest) noexcept override {
    const MarkedCall call(board_, PluginCall::resident_add);
    return plugin_->add(row, observer, largest);
  }
  Status weigh(const WeightScale& scale, Observer* observer,
               std::int64_t* total) noexcept override {
    const MarkedCall call(board_, PluginCall::resident_weigh);
    return plugin_->weigh(scale, observer, total);
  }
  Status find(const std::int64_t* positions, std::int64_t count,
              std::int64_t* rows) noexcept override {
    const MarkedCall call(board_, PluginCall::resident_find);
    return plugin_->find(positions, count, rows);
  }
  Status rate(const std::int64_t* rows, std::int64_t count, Observer* observer,
              std::int64_t* gains) noexcept override {
    const MarkedCall call(board_, PluginCall::resident_rate);
    return plugin_->rate(rows, count, observer, gains);
  }
  void end_seeding() noexcept override {
    const MarkedCall call(board_, PluginCall::resident_end);
    plugin_->end_seeding();
  }
};

class MarkedPasses final : public Marked<PassKernels> {
 public:
  using Marked::Marked;
  Status begin(const PassOptions& options) noexcept override {
    const MarkedCall call(board_, PluginCall::passes_begin);
    return plugin_->begin(options);
  }
  Status pass(const PassRequest& request, Observer* observer,
              PassResult& result) noexcept override {
    const MarkedCall call(board_, PluginCall::passes_pass);
    return plugin_->pass(request, observer, result);
  }
  Status farthest(std::int64_t wanted, Observer* observer, FarSample* samples,
                  std::int64_t* count) noexcept override {
    const MarkedCall call(board_, PluginCall::passes_farthest);
    return plugin_->farthest(wanted, observer, samples, count);
  }
  Status labels(std::int32_t* labels) noexcept override {
    const MarkedCall call(board_, PluginCall::passes_labels);
    return plugin_->labels(labels);
  }
  void end() noexcept override {
    const MarkedCall call(board_, PluginCall::passes_end);
    plugin_->end();
  }
};

class MarkedDevicePasses final : public Marked<DevicePasses> {
 public:
  using Marked::Marked;
  Status pass(const DevicePassRequest& request, Observer* observer,
              DevicePassResult& result) noexcept override {
    const MarkedCall call(board_, PluginCall::device_passes_pass);
    return plugin_->pass(request, observer, result);
  }
};

class MarkedWindows final : public Marked<WindowedPasses> {
 public:
  using Marked::Marked;
  Status begin(const PassOptions& options) noexcept override {
    const MarkedCall call(board_, PluginCall::windows_begin);
    return plugin_->begin(options);
  }
  Status pass(const PassRequest& request, RowWindows& windows, Observer* observer,
              PassResult& result) noexcept override {
    const MarkedCall call(board_, PluginCall::windows_pass);
    return plugin_->pass(request, windows, observer, result);
  }
  Status farthest(std::int64_t wanted, RowWindows& windows, Observer* observer, FarSample* samples,
                  std::int64_t* count) noexcept override {
    const MarkedCall call(board_, PluginCall::windows_farthest);
    return plugin_->farthest(wanted, windows, observer, samples, count);
  }
  Status labels(std::int32_t* labels) noexcept override {
    const MarkedCall call(board_, PluginCall::windows_labels);
    return plugin_->labels(labels);
  }
  void end() noexcept override {
    const MarkedCall call(board_, PluginCall::windows_end);
    plugin_->end();
  }
};

class MarkedSession final : public Session {
 public:
  MarkedSession(Session& plugin, SupervisionBoard& board)
      : plugin_(plugin),
        board_(board),
        notes_(board),
        cache_(board),
        kernels_(board),
        seeding_(board),
        passes_(board),
        device_passes_(board),
        windows_(board) {}

  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override {
    const MarkedCall call(board_, PluginCall::fit);
    return plugin_.fit(spec, observer, result);
  }
  Status label(const LabelRequest& request, Observer* observer,
               LabelResult& result) noexcept override {
    const MarkedCall call(board_, PluginCall::label);
    return plugin_.label(request, observer, result);
  }
  Status partial(const PartialRequest& request, Observer* observer,
                 PartialResult& result) noexcept override {
    const MarkedCall call(board_, PluginCall::partial);
    return plugin_.partial(request, observer, result);
  }
  void* query(const char* name) noexcept override {
    const MarkedCall call(board_, PluginCall::query);
    void* const offered = plugin_.query(name);
    if (std::strcmp(name, kSessionNotes) == 0) {
      return notes_.around(static_cast<SessionNotes*>(offered));
    }
    if (std::strcmp(name, kDeviceCache) == 0) {
      return cache_.around(static_cast<DeviceCache*>(offered));
    }
    if (std::strcmp(name, kSeedingKernels) == 0) {
      return kernels_.around(static_cast<SeedingKernels*>(offered));
    }
    if (std::strcmp(name, kResidentSeeding) == 0) {
      return seeding_.around(static_cast<ResidentSeeding*>(offered));
    }
    if (std::strcmp(name, kPassKernels) == 0) {
      return passes_.around(static_cast<PassKernels*>(offered));
    }
    if (std::strcmp(name, kDevicePasses) == 0) {
      return device_passes_.around(static_cast<DevicePasses*>(offered));
    }
    if (std::strcmp(name, kWindowedPasses) == 0) {
      return windows_.around(static_cast<WindowedPasses*>(offered));
    }
    return offered;
  }
  void release() noexcept override {
    const MarkedCall call(board_, PluginCall::release_session);
    plugin_.release();
    delete this;
  }

 private:
  Session& plugin_;
  SupervisionBoard& board_;
  MarkedNotes notes_;
  MarkedCache cache_;
  MarkedKernels kernels_;
  MarkedSeeding seeding_;
  MarkedPasses passes_;
  MarkedDevicePasses device_passes_;
  MarkedWindows windows_;
};

class MarkedBackend final : public Backend {
 public:
  MarkedBackend(std::unique_ptr<LoadedBackend> plugin, SupervisionBoard& board)
      : plugin_(std::move(plugin)), board_(board) {}

  const BackendInfo* info() const noexcept override { return &plugin_->info(); }
  Status supports(const ProblemShape& shape, const ParameterList& parameters,
                  const FitSpec& spec) const noexcept override {
    const MarkedCall call(board_, PluginCall::supports);
    return plugin_->backend().supports(shape, parameters, spec);
  }
  Status estimate(const ProblemShape& shape, const ParameterList& parameters, const FitSpec& spec,
                  MemoryEstimate& memory) const noexcept override {
    const MarkedCall call(board_, PluginCall::estimate);
    return plugin_->backend().estimate(shape, parameters, spec, memory);
  }
  Status open(const DatasetView& dataset, const ParameterList& parameters,
              Session** session) noexcept override {
    const MarkedCall call(board_, PluginCall::open);
    Session* opened = nullptr;
    const Status status = plugin_->backend().open(dataset, parameters, &opened);
    if (!status.ok() || opened == nullptr) return status;
    *session = new (std::nothrow) MarkedSession(*opened, board_);
    if (*session != nullptr) return status;
    opened->release();
    return Status::error(StatusCode::out_of_memory, "there is not enough memory for a session");
  }
  void* query(const char* name) noexcept override {
    const MarkedCall call(board_, PluginCall::query);
    return plugin_->backend().query(name);
  }
  void release() noexcept override {
    const MarkedCall call(board_, PluginCall::release_backend);
    plugin_.reset();
    delete this;
  }

 private:
  std::unique_ptr<LoadedBackend> plugin_;
  SupervisionBoard& board_;
};

PluginCall call_of(LoadingStage stage) {
  switch (stage) {
    case LoadingStage::constructors:
      return PluginCall::load;
    case LoadingStage::probe:
      return PluginCall::probe;
    case LoadingStage::create:
      return PluginCall::create;
    case LoadingStage::info:
      return PluginCall::info;
  }
  return PluginCall::load;
}

}  // namespace

std::unique_ptr<LoadedBackend> mark_calls(std::unique_ptr<LoadedBackend> plugin,
                                          SupervisionBoard& board) {
  const LoadedBackend& loaded = *plugin;
  return std::make_unique<LoadedBackend>(loaded.path(), read_plugin_header(loaded.path()),
                                         new MarkedBackend(std::move(plugin), board),
                                         loaded.devices(), loaded.unavailable());
}

std::unique_ptr<LoadedBackend> load_marked(const std::filesystem::path& file,
                                           SupervisionBoard& board) {
  const MarkedCall loading(board, PluginCall::load);
  std::optional<MarkedCall> running;
  auto plugin = load_plugin(file, [&](LoadingStage stage) {
    running.reset();
    running.emplace(board, call_of(stage));
  });
  running.reset();
  return mark_calls(std::move(plugin), board);
}

}  // namespace lloyd::apps
