// The name by which plugins include abi/seeding_kernels.hpp.
#pragma once

#include <lloyd/plugin/abi/seeding_kernels.hpp>
