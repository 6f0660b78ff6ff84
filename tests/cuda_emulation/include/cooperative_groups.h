// The part of cooperative groups that the plugins use: the grid barrier.
#pragma once

#include "emulation.hpp"

namespace cooperative_groups {

class grid_group {
 public:
  void sync() const { emulation::grid_barrier(); }
};
inline grid_group this_grid() {
  return {};
}

}  // namespace cooperative_groups
