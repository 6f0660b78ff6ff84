// Checks the result of a backend's partial pass before it is used.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/plugin/abi/requests.hpp>

namespace lloyd {

/// Checks one call of Session::partial() on a block. Create it before the call: it copies what the
/// call changes.
class PartialCheck {
 public:
  /// `given` is the PartialResult as it is passed to the call. It and `request` must outlive this
  /// object.
  PartialCheck(const PartialRequest& request, const PartialResult& given);

  /// Checks the result after the call. Throws StatusError if a label, a far sample or a number is
  /// out of range, if `changed` is not the number of changed labels, if the counts did not grow by
  /// the counts of the labels, or if a far sample has another label.
  void check(const PartialResult& returned) const;

 private:
  void check_labels(const PartialResult& returned) const;
  void check_farthest(const PartialResult& returned) const;

  const PartialRequest& request_;
  std::int32_t* labels_;  // as passed to the call, like the next member
  std::int64_t* counts_;
  std::vector<std::int32_t> former_labels_;
  std::vector<std::int64_t> former_counts_;
};

}  // namespace lloyd
