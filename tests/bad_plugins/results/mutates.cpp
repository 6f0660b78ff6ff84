// After each fit, flips the lowest bit of the caller's first value.
#include "bad_plugins/support/bad_plugin.hpp"

namespace {

thread_local unsigned char* data = nullptr;

lloyd::Status open(lloyd::Backend& honest, const lloyd::DatasetView& dataset,
                   const lloyd::ParameterList& parameters, lloyd::Session** session) {
  data = static_cast<unsigned char*>(const_cast<void*>(dataset.data));
  return honest.open(dataset, parameters, session);
}

lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec, lloyd::Observer* observer,
                  lloyd::FitResult& result) {
  const lloyd::Status status = honest.fit(spec, observer, result);
  *data ^= 1;
  return status;
}

}  // namespace

LLOYD_EXPORT_MISBEHAVIOUR(.open = open, .fit = fit);
