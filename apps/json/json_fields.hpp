// The core's typed access to untrusted JSON, in the namespace of experiments.
#pragma once

#include <lloyd/internal/json_fields.hpp>

namespace lloyd::experiment {

using lloyd::JsonFields;

}  // namespace lloyd::experiment
