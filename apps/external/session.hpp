// ExternalSession: fits by an external program, over files.
#pragma once

#include <memory>
#include <string>

#include <lloyd/plugin/backend.hpp>
#include <lloyd/plugin/session_notes.hpp>

#include "external/program.hpp"
#include "scratch_folder.hpp"

namespace lloyd::external {

/// Fits only: labelling and partial passes are unsupported.
class ExternalSession final : public Session, public SessionNotes {
 public:
  /// Hands the data set to the program, started from `file` where it is null, with parameters as a
  /// JSON object. `program` must outlive the session; it is started again after a fit that was
  /// cancelled, or that it did not survive. Throws StatusError or Error.
  ExternalSession(std::unique_ptr<Program>& program, std::filesystem::path file,
                  const DatasetView& dataset, const std::string& parameters);
  ~ExternalSession();

  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override;
  Status label(const LabelRequest&, Observer*, LabelResult&) noexcept override;
  Status partial(const PartialRequest&, Observer*, PartialResult&) noexcept override;
  void* query(const char* interface_name) noexcept override;
  const char* notes() const noexcept override { return notes_.c_str(); }
  void release() noexcept override { delete this; }

 private:
  void open();
  void run_fit(const FitSpec& spec, Observer* observer, FitResult& result);
  void read_answer(const FitSpec& spec, const std::string& answer, FitResult& result);
  void read_centroids(const FitSpec& spec, FitResult& result) const;
  void read_labels(const FitSpec& spec, FitResult& result) const;

  std::unique_ptr<Program>& program_;
  std::filesystem::path file_;
  DatasetView dataset_;
  apps::ScratchFolder folder_;
  std::string open_request_;
  std::string notes_;
};

}  // namespace lloyd::external
