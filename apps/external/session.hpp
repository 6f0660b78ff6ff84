// ExternalSession: fits by an external program; arrays are exchanged as files.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/session_notes.hpp>

#include "external/program.hpp"
#include "process/scratch_folder.hpp"

namespace lloyd::external {

/// The program of a backend; serves one session at a time.
struct ServingProgram {
  std::filesystem::path file;
  std::chrono::milliseconds close_limit;       ///< time limit for the answer to `close`
  std::unique_ptr<Program> process = nullptr;  ///< null: not running
  std::string close_failure = {};              ///< error of closing the last session; empty: none
  bool close_hangs = false;                    ///< an earlier `close` exceeded the limit
  bool prepares = false;                       ///< it answers the request `prepare`
};

/// Starts the program and asks it to prepare, if it can and is not running. Returns when it is
/// ready. If it fails, it is stopped: the first session starts it again and reports the failure.
void prepare(ServingProgram& program);

/// Supports fits only: label() and partial() return `unsupported`.
class ExternalSession final : public Session, public SessionNotes {
 public:
  /// Starts the program if it is not running, and opens the data set in it. `parameters`: a JSON
  /// object. `program` must outlive the session; it is restarted after a fit that was cancelled or
  /// in which it ended. Throws StatusError or Error.
  ExternalSession(ServingProgram& program, const DatasetView& dataset,
                  const std::string& parameters);
  /// Sends `close` to the program. An error is stored in `close_failure`.
  ~ExternalSession();

  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override;
  Status label(const LabelRequest&, Observer*, LabelResult&) noexcept override;
  Status partial(const PartialRequest&, Observer*, PartialResult&) noexcept override;
  void* query(const char* interface_name) noexcept override;
  const char* notes() const noexcept override { return notes_.c_str(); }
  void release() noexcept override { delete this; }

 private:
  void open();
  void close();
  void run_fit(const FitSpec& spec, Observer* observer, FitResult& result);
  void read_answer(const FitSpec& spec, const std::string& answer, FitResult& result);
  void read_centroids(const FitSpec& spec, FitResult& result) const;
  void read_labels(const FitSpec& spec, FitResult& result) const;

  ServingProgram& program_;
  DatasetView dataset_;
  apps::ScratchFolder folder_;
  std::string open_request_;
  std::string notes_;
};

}  // namespace lloyd::external
