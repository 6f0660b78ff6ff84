// The three abstract classes of the boundary. Their virtual tables are frozen within a major ABI
// version: growth is by query() and by structs that begin with their size.
#pragma once

#include <cstdint>

#include <lloyd/plugin/dataset_view.hpp>
#include <lloyd/plugin/parameters.hpp>
#include <lloyd/plugin/requests.hpp>
#include <lloyd/plugin/status.hpp>
#include <lloyd/plugin/types.hpp>

namespace lloyd {

/// What a device is.
enum class DeviceKind : std::int32_t {
  cpu = 0,  ///< the processor of this process
  gpu = 1,  ///< a graphics card, with memory of its own
};

/// A device that a backend could use.
struct DeviceInfo {
  std::int32_t index = 0;             ///< what a backend's parameter `device` takes
  DeviceKind kind = DeviceKind::cpu;  ///< CPU or GPU
  std::int64_t memory_bytes = 0;      ///< 0: not known
  char name[112] = {};                ///< zero-terminated, UTF-8
};
static_assert(sizeof(DeviceInfo) == 128);

/// Filled by a plugin's probe().
struct DeviceList {
  std::uint64_t struct_size = sizeof(DeviceList);  ///< size in its maker's headers
  std::int64_t count = 0;                          ///< entries filled, 0 to 16
  DeviceInfo devices[16];                          ///< the first `count` hold devices
};
static_assert(sizeof(DeviceList) == 2064);

/// What a backend says of itself. Lives as long as the plugin.
struct BackendInfo {
  std::uint64_t struct_size = sizeof(BackendInfo);                  ///< size in its maker's headers
  const char* summary = nullptr;                                    ///< one line
  const char* algorithm = nullptr;                                  ///< e.g. "lloyd", "elkan"
  std::uint64_t capabilities = 0;                                   ///< kCapability... bits
  Accuracy accuracy = Accuracy::float32;                            ///< of labels on float32 data
  Accuracy accuracy_float64 = Accuracy::float32;                    ///< of labels on float64 data
  Reproducibility reproducibility = Reproducibility::none;          ///< on float32 data
  Reproducibility reproducibility_float64 = Reproducibility::none;  ///< on float64 data
  /// Which backend is taken when none is named: the available one of highest preference.
  std::int32_t preference = 0;
  std::int32_t reserved = 0;                     ///< 0
  const char* reproducibility_reason = nullptr;  ///< why it is not better, or null
  const ParameterInfo* parameters = nullptr;     ///< the schema: `parameter_count` entries
  std::int64_t parameter_count = 0;              ///< 0 to 1000
};
static_assert(sizeof(BackendInfo) == 80);

/// Memory that a fit with all outputs wanted will hold at its peak, beyond the caller's data set
/// and outputs.
struct MemoryEstimate {
  std::uint64_t struct_size = sizeof(MemoryEstimate);  ///< size in its maker's headers
  std::int64_t host_bytes = 0;                         ///< memory of the process
  std::int64_t device_bytes = 0;                       ///< memory of the device
};
static_assert(sizeof(MemoryEstimate) == 24);

/// Implemented by the host. `on_iteration` is called in order, on the thread that called fit();
/// `stop_requested` from any thread, at any time.
class Observer {
 public:
  /// Returns false to end the fit with StatusCode::cancelled.
  virtual bool on_iteration(const IterationRecord& record) noexcept = 0;
  /// Whether the work is to end with StatusCode::cancelled, soon.
  virtual bool stop_requested() const noexcept = 0;
  /// An interface added after this one was frozen, or null.
  virtual void* query(const char*) noexcept { return nullptr; }

 protected:
  ~Observer() = default;
};

/// A data set made resident for many fits. Serves one thread at a time.
class Session {
 public:
  /// Runs one fit. `observer` may be null. On `cancelled`, `result.centroids` are those of the last
  /// finished iteration and `result.valid` says what else holds.
  virtual Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept = 0;
  /// Labels the session's samples by given centroids; k may exceed n. Of the observer, which may be
  /// null, only `stop_requested` is used, here and in partial().
  virtual Status label(const LabelRequest& request, Observer* observer,
                       LabelResult& result) noexcept = 0;
  /// One assignment over a range of rows and the sums of an update; keeps no state.
  virtual Status partial(const PartialRequest& request, Observer* observer,
                         PartialResult& result) noexcept = 0;
  /// An interface added after this one was frozen, or null.
  virtual void* query(const char* interface_name) noexcept = 0;
  /// Ends the session and frees what it held.
  virtual void release() noexcept = 0;

 protected:
  ~Session() = default;
};

/// One k-means implementation. Thread-safe.
class Backend {
 public:
  /// Never null; valid as long as the plugin.
  virtual const BackendInfo* info() const noexcept = 0;
  /// Whether such a fit is within the backend's limits; if not, the reason with the limit in
  /// numbers. `spec.initial_centroids` may be null here.
  virtual Status supports(const ProblemShape& shape, const ParameterList& parameters,
                          const FitSpec& spec) const noexcept = 0;
  /// Memory that open() and such a fit will hold together.
  virtual Status estimate(const ProblemShape& shape, const ParameterList& parameters,
                          const FitSpec& spec, MemoryEstimate& memory) const noexcept = 0;
  /// Makes a data set resident. `*session` is the caller's, who ends it with `release()`.
  virtual Status open(const DatasetView& dataset, const ParameterList& parameters,
                      Session** session) noexcept = 0;
  /// An interface added after this one was frozen, or null.
  virtual void* query(const char* interface_name) noexcept = 0;
  /// Ends the backend; its sessions must have ended before.
  virtual void release() noexcept = 0;

 protected:
  ~Backend() = default;
};

}  // namespace lloyd
