// Random problems: data, initial centroids, stop rules and parameters, drawn from a seed.
#pragma once

#include <cstdint>
#include <string>

#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/abi/backend.hpp>

#include "conformance/support/samples.hpp"
#include "conformance/support/trial.hpp"

namespace lloyd::random_fits {

struct Problem {
  std::string kind;  ///< kind of data, for messages
  conformance::Samples samples;
  DType dtype = DType::float32;
  conformance::Setting setting;
  conformance::Layout layout;
};

/// The problem of a seed, the same on every machine. n is at most 5000 and n x d x k x iterations
/// about 5e7 at most, so that the reference takes well below a second. The data is float64, unless
/// the backend is canonical on float32 as well.
Problem draw_problem(std::uint64_t seed, Reproducibility on_float32);

/// Values for all parameters of `defaults`, drawn from the schema: any choice and boolean; integers
/// from those of 0, 1, 2, 3, 7 and 1000 that are in range. open() may refuse a value, for example
/// an instruction set that the machine lacks.
ParameterSet draw_parameters(const ParameterSet& defaults, std::uint64_t seed);

}  // namespace lloyd::random_fits
