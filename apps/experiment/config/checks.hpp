// Checks: how many labels of each variant are compared with the definition.
#pragma once

#include <cstdint>

namespace lloyd::experiment {

/// The labels of the untimed fit are compared with the definition once for each setting and
/// variant: all of them, or those of a random sample. See LabelCheckOptions.
struct Checks {
  std::int64_t samples = 0;  ///< maximum number of labels, >= 1; 0: all
  double seconds = 10;       ///< time limit of one check, > 0
};

}  // namespace lloyd::experiment
