// Public include path; forwards to abi/seeding_kernels.hpp.
#pragma once

#include <lloyd/plugin/abi/seeding_kernels.hpp>
