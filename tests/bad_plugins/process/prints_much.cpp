// Prints 100 MB to standard output, and fits correctly.
#include <cstdio>
#include <string>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  const std::string line = std::string(999, '{') + '\n';
  for (int i = 0; i < 100'000; ++i) std::fwrite(line.data(), 1, line.size(), stdout);
  return honest.fit(spec, observer, result);
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
