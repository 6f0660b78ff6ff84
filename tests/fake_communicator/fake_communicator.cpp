// A communicator plugin for tests, which play the launcher. LLOYD_FAKE_RANKS: number of processes.
// LLOYD_FAKE_JOINED: number of ranks that join; "fails": join() returns an error; "nothing": it
// returns no communicator.
#include <cstdlib>
#include <string_view>

#include <lloyd/plugin/abi/communicator_plugin.hpp>

namespace {

class FakeCommunicator final : public lloyd::Communicator {
 public:
  explicit FakeCommunicator(std::int32_t size) : size_(size) {}
  std::int32_t rank() const noexcept override { return 0; }
  std::int32_t size() const noexcept override { return size_; }
  lloyd::Status all_reduce(const lloyd::ReduceRequest&) noexcept override { return {}; }
  lloyd::Status broadcast(void*, std::int64_t, std::int32_t) noexcept override { return {}; }
  lloyd::Status all_gather(const void*, std::int64_t, void*) noexcept override { return {}; }
  lloyd::Status barrier() noexcept override { return {}; }
  void set_timeout(double) noexcept override {}
  void progress() noexcept override {}
  void abort(const char*) noexcept override {}
  bool reports_failure() noexcept override { return true; }
  void* query(const char*) noexcept override { return nullptr; }
  void release() noexcept override { delete this; }

 private:
  std::int32_t size_;
};

lloyd::Status join(lloyd::Communicator** communicator) noexcept {
  const char* const value = std::getenv("LLOYD_FAKE_JOINED");
  const std::string_view text = value == nullptr ? "nothing" : value;
  if (text == "nothing") return {};
  if (text == "fails") {
    return lloyd::Status::error(lloyd::StatusCode::unavailable, "the network is down");
  }
  *communicator = new FakeCommunicator(static_cast<std::int32_t>(std::strtol(value, nullptr, 10)));
  return {};
}

}  // namespace

extern "C" __attribute__((visibility("default"), used, section(LLOYD_COMMUNICATOR_SECTION)))
const lloyd::CommunicatorDescriptor lloyd_communicator = {
    lloyd::make_communicator_header(LLOYD_PLUGIN_NAME, LLOYD_PLUGIN_VERSION,
                                    "LLOYD_FAKE_UNSET LLOYD_FAKE_RANKS"),
    &join};
