#include "experiment/config/until.hpp"

namespace lloyd::experiment {

using nlohmann::ordered_json;

ordered_json until_json(const std::optional<Until>& until) {
  if (!until) return nullptr;
  return {{"relative_error", until->relative_error}, {"max_seconds", until->max_seconds}};
}

}  // namespace lloyd::experiment
