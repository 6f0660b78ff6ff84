// See emulation.hpp, which the translator includes into every kernel source.
#pragma once
#include "cuda_runtime_api.h"
