// StreamedPasses: PassKernels on a data set that is not in memory, made of a backend's
// WindowedPasses.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <lloyd/dataset.hpp>
#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/abi/windowed_passes.hpp>
#include <lloyd/registry.hpp>

#include "dataset/row_blocks.hpp"
#include "session/session_pointer.hpp"

namespace lloyd {

/// From begin() to end(), one session of the backend keeps the labels and bounds of all rows. Every
/// pass reads the rows once.
class StreamedPasses final : public PassKernels {
 public:
  /// Calls a body and remembers the exceptions that the source of rows throws in it.
  using KeepFailure = std::function<void(const std::function<void()>& body)>;

  /// Reads windows of `window_rows` rows. All references must outlive the passes. `notes` receives
  /// the notes of the session.
  StreamedPasses(std::shared_ptr<const LoadedBackend> backend, const Dataset& dataset,
                 const ParameterSet& parameters, std::int64_t window_rows, KeepFailure keep_failure,
                 std::string& notes);

  Status begin(const PassOptions& options) noexcept override;
  Status pass(const PassRequest& request, Observer* observer, PassResult& result) noexcept override;
  Status farthest(std::int64_t wanted, Observer* observer, FarSample* samples,
                  std::int64_t* count) noexcept override;
  Status labels(std::int32_t* labels) noexcept override;
  void end() noexcept override;

  /// The next pass() calls `before` with the rows and values of each window before it is labelled.
  void visit_next_pass(BlockBody before) { before_ = std::move(before); }

 private:
  /// Calls `pass` with the windows of all rows.
  template <class Pass>
  Status run(const Pass& pass) noexcept;
  void require_begun() const;

  std::shared_ptr<const LoadedBackend> backend_;
  const Dataset& dataset_;
  const ParameterSet& parameters_;
  RowBlocks blocks_;
  KeepFailure keep_failure_;
  std::string& notes_;
  SessionPointer session_;              ///< null outside of begin() and end()
  WindowedPasses* windowed_ = nullptr;  ///< of the session
  BlockBody before_;
  bool reads_on_load_ = false;           ///< see SourceWindows
  std::unique_ptr<RowMapping> mapping_;  ///< made when the rows are first read on load
};

}  // namespace lloyd
