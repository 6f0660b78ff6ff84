// Works correctly, but never returns from open() or from a pass.
#include <unistd.h>

#include <string_view>

#include <lloyd/plugin/abi/pass_kernels.hpp>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

[[noreturn]] void hang() {
  for (;;) ::pause();
}

#ifdef LLOYD_OPEN_HANGS
lloyd::Status open(lloyd::Backend&, const lloyd::DatasetView&, const lloyd::ParameterList&,
                   lloyd::Session**) {
  hang();
}
#else
class HangingPasses final : public lloyd::PassKernels {
 public:
  lloyd::Status begin(const lloyd::PassOptions&) noexcept override { return {}; }
  lloyd::Status pass(const lloyd::PassRequest&, lloyd::Observer*,
                     lloyd::PassResult&) noexcept override {
    hang();
  }
  lloyd::Status farthest(std::int64_t, lloyd::Observer*, lloyd::FarSample*,
                         std::int64_t*) noexcept override {
    return {};
  }
  lloyd::Status labels(std::int32_t*) noexcept override { return {}; }
  void end() noexcept override {}
};

void* query(lloyd::Session& honest, const char* name) {
  static HangingPasses passes;
  if (std::string_view(name) != lloyd::kPassKernels) return honest.query(name);
  return static_cast<lloyd::PassKernels*>(&passes);
}
#endif

}  // namespace

#ifdef LLOYD_OPEN_HANGS
LLOYD_EXPORT_MISBEHAVIOUR(.open = open);
#else
LLOYD_EXPORT_MISBEHAVIOUR(.query = query);
#endif
