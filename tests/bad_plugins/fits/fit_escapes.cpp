// Throws in fit without a guard, so the exception reaches the noexcept boundary.
#include <stdexcept>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session&, const lloyd::FitSpec&, lloyd::Observer*,
                         lloyd::FitResult&) {
  throw std::runtime_error("the matrix is singular");
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
