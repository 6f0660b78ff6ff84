// The list of cases. Each file of cases adds its own through a function.
#pragma once

#include <vector>

#include "conformance/support/context.hpp"

namespace lloyd::conformance {

/// The data types and parameters that a case is run with.
enum class Scope {
  variants,  ///< each data type, with the defaults and each value of each choice
  defaults,  ///< each data type, with the defaults
  once,      ///< one data type, with the defaults
};

struct Case {
  const char* name;
  Scope scope;
  void (*body)(const Context&);
  /// If true, the backend fails when the case is skipped in every variant, since nothing was
  /// verified.
  bool essential = false;
};

void add_lattice_cases(std::vector<Case>& cases);
void add_invariant_cases(std::vector<Case>& cases);
void add_whole_fit_cases(std::vector<Case>& cases);
void add_edge_cases(std::vector<Case>& cases);
void add_layout_cases(std::vector<Case>& cases);
void add_range_cases(std::vector<Case>& cases);
void add_bisector_cases(std::vector<Case>& cases);
void add_empty_cluster_cases(std::vector<Case>& cases);
void add_stop_cases(std::vector<Case>& cases);
void add_observer_cases(std::vector<Case>& cases);
void add_cancel_cases(std::vector<Case>& cases);
void add_session_cases(std::vector<Case>& cases);
void add_notes_cases(std::vector<Case>& cases);
void add_device_cache_cases(std::vector<Case>& cases);
void add_environment_cases(std::vector<Case>& cases);
void add_partial_cases(std::vector<Case>& cases);
void add_partial_fit_cases(std::vector<Case>& cases);
void add_pass_cases(std::vector<Case>& cases);
void add_window_cases(std::vector<Case>& cases);
void add_device_data_cases(std::vector<Case>& cases);
void add_device_pass_cases(std::vector<Case>& cases);
void add_seeding_cases(std::vector<Case>& cases);
void add_reproducibility_cases(std::vector<Case>& cases);
void add_description_cases(std::vector<Case>& cases);
void add_limit_cases(std::vector<Case>& cases);
void add_refusal_cases(std::vector<Case>& cases);

}  // namespace lloyd::conformance
