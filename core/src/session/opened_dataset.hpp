// OpenedDataset: identifies the data set that a session was opened on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Detects that a data set was moved from, assigned to or destroyed. Sessions of backends refer to
/// its samples and statistics.
class OpenedDataset {
 public:
  explicit OpenedDataset(const Dataset& dataset)
      : name_(dataset.name()),
        communicator_(dataset.communicator()),
        view_(dataset.view()),
        source_(dataset.source()),
        fingerprint_(dataset.fingerprint()),
        presence_(dataset.presence_.observe()) {}

  /// True if `dataset`, the constructor's argument, still exists and refers to the same samples and
  /// statistics.
  bool is(const Dataset& dataset) const {
    if (presence_.expired()) return false;
    const DatasetView now = dataset.view();
    return now.data == view_.data && now.samples == view_.samples &&
           now.features == view_.features && now.stride == view_.stride &&
           now.dtype == view_.dtype && now.statistics == view_.statistics &&
           now.required_capabilities == view_.required_capabilities &&
           now.total_samples == view_.total_samples && dataset.source() == source_ &&
           dataset.communicator() == communicator_ && dataset.fingerprint() == fingerprint_;
  }
  const std::string& name() const { return name_; }
  /// Null for one process.
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }

 private:
  std::string name_;
  std::shared_ptr<Communicator> communicator_;
  DatasetView view_;
  std::shared_ptr<const RowSource> source_;
  std::uint64_t fingerprint_;
  std::weak_ptr<const char> presence_;
};

}  // namespace lloyd
