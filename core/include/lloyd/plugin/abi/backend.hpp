// The core abstract classes of the plugin boundary: Backend, Session, Observer. Optional interfaces
// have their own headers. Virtual tables are frozen within a major ABI version. The boundary grows
// by new interfaces, which query() returns, and by fields appended to structs that begin with their
// size.
#pragma once

#include <cstdint>
#include <initializer_list>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/parameters.hpp>
#include <lloyd/plugin/abi/requests.hpp>
#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/abi/types.hpp>

namespace lloyd {

/// Kind of a device.
enum class DeviceKind : std::int32_t {
  cpu = 0,  ///< the host's processor
  gpu = 1,  ///< an accelerator with its own memory
};

/// A device that a backend can use.
struct DeviceInfo {
  std::int32_t index = 0;             ///< the value of a backend's parameter `device`
  DeviceKind kind = DeviceKind::cpu;  ///< CPU or GPU
  std::int64_t memory_bytes = 0;      ///< total memory in bytes; 0: unknown
  char name[112] = {};                ///< zero-terminated, UTF-8
};
static_assert(sizeof(DeviceInfo) == 128);

/// The devices found by a plugin's probe().
struct DeviceList {
  std::uint64_t struct_size = sizeof(DeviceList);  ///< sizeof on the allocating side
  std::int64_t count = 0;                          ///< entries filled, 0 to 16
  DeviceInfo devices[16];                          ///< the first `count` hold devices
};
static_assert(sizeof(DeviceList) == 2064);

/// Description of a backend. Lives as long as the plugin. The conformance suite tests its
/// guarantees.
struct BackendInfo {
  std::uint64_t struct_size = sizeof(BackendInfo);          ///< sizeof on the allocating side
  const char* summary = nullptr;                            ///< one line
  const char* algorithm = nullptr;                          ///< shown to users, e.g. "elkan"
  std::uint64_t capabilities = 0;                           ///< kCapability... bits
  Accuracy accuracy = Accuracy::float32;                    ///< of labels, for float32 data
  Accuracy accuracy_float64 = Accuracy::float32;            ///< of labels, for float64 data
  Reproducibility reproducibility = Reproducibility::none;  ///< for float32 data
  Reproducibility reproducibility_float64 = Reproducibility::none;  ///< for float64 data
  /// If no backend is named, the host selects the available one with the highest preference.
  std::int32_t preference = 0;
  std::int32_t reserved = 0;                     ///< 0
  const char* reproducibility_reason = nullptr;  ///< why it is not `canonical`; may be null
  const ParameterInfo* parameters = nullptr;     ///< the schema: `parameter_count` entries
  std::int64_t parameter_count = 0;              ///< 0 to 1000

  /// Sets `parameters` and `parameter_count`. The schema must live as long as the plugin.
  template <std::int64_t Count>
  constexpr void set_parameters(const ParameterInfo (&schema)[Count]) {
    parameters = schema;
    parameter_count = Count;
  }
  /// A temporary schema would be gone when it is read.
  template <std::int64_t Count>
  void set_parameters(const ParameterInfo (&&schema)[Count]) = delete;
  void set_parameters(std::initializer_list<ParameterInfo> schema) = delete;
};
static_assert(sizeof(BackendInfo) == 80);

/// Peak memory of a session and a fit that returns all outputs, excluding the caller's data set and
/// output arrays.
struct MemoryEstimate {
  std::uint64_t struct_size = sizeof(MemoryEstimate);  ///< sizeof on the allocating side
  std::int64_t host_bytes = 0;                         ///< host memory, bytes
  std::int64_t device_bytes = 0;                       ///< device memory, bytes
};
static_assert(sizeof(MemoryEstimate) == 24);

/// Receives progress and can cancel the work. Implemented by the host. `on_iteration` is called in
/// order, on the thread that called fit(); `stop_requested` may be called from any thread at any
/// time.
class Observer {
 public:
  /// Returns false to end the fit with StatusCode::cancelled.
  virtual bool on_iteration(const IterationRecord& record) noexcept = 0;
  /// True if the call should return StatusCode::cancelled soon.
  virtual bool stop_requested() const noexcept = 0;
  /// Extension point: the interface of that name, or null if there is none.
  virtual void* query(const char*) noexcept { return nullptr; }

 protected:
  ~Observer() = default;
};

/// A data set that a backend has opened, for any number of fits. Serves one thread at a time.
class Session {
 public:
  /// Runs one fit. `observer` may be null. On StatusCode::cancelled, `result.centroids` are those
  /// of the last finished iteration, and `result.valid` gives the other valid outputs.
  virtual Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept = 0;
  /// Assigns the session's samples to given centroids; k may exceed n. `observer` may be null;
  /// label() and partial() call only its `stop_requested`.
  virtual Status label(const LabelRequest& request, Observer* observer,
                       LabelResult& result) noexcept = 0;
  /// One assignment over a range of rows, with the cluster sums and counts of an update. Keeps no
  /// state between calls.
  virtual Status partial(const PartialRequest& request, Observer* observer,
                         PartialResult& result) noexcept = 0;
  /// Extension point: the interface of that name, or null if there is none.
  virtual void* query(const char* interface_name) noexcept = 0;
  /// Destroys the session and frees its memory.
  virtual void release() noexcept = 0;

 protected:
  ~Session() = default;
};

/// One implementation of k-means. Thread-safe.
class Backend {
 public:
  /// Never null; valid as long as the plugin.
  virtual const BackendInfo* info() const noexcept = 0;
  /// Returns ok if the backend can run a fit with this shape, these parameters and this spec;
  /// otherwise `unsupported`, with the limit, as a number, in its message. `spec.initial_centroids`
  /// may be null here.
  virtual Status supports(const ProblemShape& shape, const ParameterList& parameters,
                          const FitSpec& spec) const noexcept = 0;
  /// Peak memory of open() and a fit with this shape, these parameters and this spec together.
  virtual Status estimate(const ProblemShape& shape, const ParameterList& parameters,
                          const FitSpec& spec, MemoryEstimate& memory) const noexcept = 0;
  /// Opens a session on a data set. The caller owns `*session` and destroys it with `release()`.
  virtual Status open(const DatasetView& dataset, const ParameterList& parameters,
                      Session** session) noexcept = 0;
  /// Extension point: the interface of that name, or null if there is none.
  virtual void* query(const char* interface_name) noexcept = 0;
  /// Destroys the backend. All of its sessions must have been released before.
  virtual void release() noexcept = 0;

 protected:
  ~Backend() = default;
};

}  // namespace lloyd
