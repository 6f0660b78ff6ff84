// Random problems: data, start, stop rules and parameters of a backend, drawn from a seed.
#pragma once

#include <cstdint>
#include <string>

#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/backend.hpp>

#include "conformance/samples.hpp"
#include "conformance/trial.hpp"

namespace lloyd::random_fits {

struct Problem {
  std::string kind;  ///< of the data, for messages
  conformance::Samples samples;
  DType dtype = DType::float32;
  conformance::Setting setting;
  conformance::Layout layout;
};

/// The problem of a seed: the same on every machine. n is at most 5000, n x d x k x iterations at
/// most about 5e7, so that the reference takes well below a second. The data are float64 unless the
/// backend's results on float32 are canonical too.
Problem draw_problem(std::uint64_t seed, Reproducibility on_float32);

/// Values for every parameter of `defaults`, drawn from its schema: any choice and any boolean;
/// integers from 0, 1, 2, 3, 7 and 1000 as far as they are in range. A value may be refused when a
/// session is opened, such as an instruction set that the machine lacks.
ParameterSet draw_parameters(const ParameterSet& defaults, std::uint64_t seed);

}  // namespace lloyd::random_fits
