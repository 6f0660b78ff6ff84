// FailureGroups: failed results that have the same cause, as far as their messages tell.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "conformance/conformance.hpp"

namespace lloyd::apps {

/// A message without what differs from case to case: a parameter value and the description of the
/// data set at its beginning ("tile=7: 'ties' n=5 d=3 k=2, iteration 1: row 0 ..." becomes "row #
/// ..."), last words, and numbers, except for those of signals and exit statuses.
std::string failure_cause(const std::string& message);

/// Failed results, grouped by failure_cause() in the order of their first results.
class FailureGroups {
 public:
  /// What a plugin printed last before a case failed.
  struct Words {
    std::string name;  ///< of the first result with them
    std::string text;
  };
  struct Group {
    std::string message;             ///< of the first result
    std::vector<std::string> names;  ///< of all results
    std::vector<Words> words;        ///< those that differ in more than numbers
  };

  /// Adds a failed result. Returns the group that it belongs to, of which it may be the first.
  const Group& add(const conformance::Result& failed);
  const std::vector<Group>& groups() const { return groups_; }

 private:
  std::vector<Group> groups_;
  std::map<std::string, std::size_t> index_;  // in groups_, by cause
};

/// What to print about a failed result after its name: its message, or the first result of its
/// group and the last words, if these are new. `group` is what FailureGroups::add() returned for
/// it.
std::string describe_failure(const conformance::Result& failed, const FailureGroups::Group& group);

/// The lines that summarise a group, indented by 2.
std::string describe_group(const FailureGroups::Group& group);

/// The names as lines of at most 100 columns, if the names allow it, indented by 4. Of more than 12
/// names, only the distinct cases ("lattice/ties") are listed, without data types and parameters.
std::string list_names(const std::vector<std::string>& names);

}  // namespace lloyd::apps
