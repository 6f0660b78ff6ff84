// A trace returns unchanged through shared memory, and anything else is refused.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/worker/shared_trace.hpp"
#include "ipc/shared_memory.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

Trace example_trace() {
  Trace trace;
  trace.elapsed_ms = {0, 1e-3, 1.0 / 3};
  trace.inertia = {1e300, 0.1, std::nan("")};
  trace.shift = {2.5, 0};
  Replay& replay = trace.replay.emplace();
  replay.components = true;
  replay.low = {-1.5, 0};
  replay.high = {1.5, 1e-9};
  replay.share = {0.75, 0.25};
  replay.points = {0, 9999, 17, 4};
  replay.iterations = {0, 2};
  replay.centroids = {{1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1}};
  replay.labels = {{0, 2}, {1, 1}};
  return trace;
}

Trace receive(const std::string& text) {
  const apps::Descriptor memory =
      apps::make_shared_memory(text.data(), static_cast<std::int64_t>(text.size()));
  return receive_trace(memory.get(), 3);
}

TEST(SharedTrace, ComesBackAsItWas) {
  const apps::Descriptor memory = share_trace(example_trace());
  EXPECT_EQ(to_json(receive_trace(memory.get(), 3)).dump(), to_json(example_trace()).dump());
  Trace without = example_trace();
  without.replay.reset();
  EXPECT_FALSE(receive_trace(share_trace(without).get(), 3).replay.has_value());
}

TEST(SharedTrace, OfManyIterationsIsLongerThanAPacket) {
  Trace trace;
  trace.elapsed_ms.assign(300'001, 1.0 / 3);
  trace.inertia.assign(300'001, 2.0 / 3);
  trace.shift.assign(300'000, 0.1);
  const Trace received = receive_trace(share_trace(trace).get(), 3);
  EXPECT_EQ(received.inertia, trace.inertia);
  EXPECT_EQ(received.shift, trace.shift);
}

TEST(SharedTrace, RefusesOtherData) {
  const std::string whole = to_json(example_trace()).dump();
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_THROW(receive(whole.substr(0, size)), InputError) << size;
  }
  EXPECT_EQ(message_of<InputError>([] { receive("[]"); }), "'trace' is a list, not an object");
  std::string keys = "{\"a\": 0";
  for (int i = 0; i < 1024; ++i) keys += ", \"" + std::to_string(i) + "\": 0";
  EXPECT_EQ(message_of<InputError>([&] { receive(keys + "}"); }),
            "it has an object of 1025 keys; at most 1024 are allowed");
  const std::string deep(100'000, '[');
  EXPECT_EQ(message_of<InputError>([&] { receive(deep); }), "it is nested more than 8 levels deep");
  const apps::Descriptor memory = share_trace(example_trace());
  EXPECT_EQ(message_of<InputError>([&] { receive_trace(memory.get(), 4); }),
            "'trace.replay.centroids' is a list, not a list of lists of 4 pairs");
}

// Memory that another process could still change or truncate is not read.
TEST(SharedTrace, OtherDescriptorsAreRefused) {
  const std::string text = to_json(example_trace()).dump();
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  apps::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(file.get(), text.data(), text.size()), std::ssize(text));
  apps::Descriptor unsealed(::memfd_create("trace", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::write(unsealed.get(), text.data(), text.size()), std::ssize(text));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const apps::Descriptor read_end(ends[0]);
  const apps::Descriptor write_end(ends[1]);
  for (const int other : {file.get(), unsealed.get(), read_end.get(), -1}) {
    EXPECT_EQ(message_of<Error>([&] { receive_trace(other, 3); }),
              "the received descriptor is not sealed shared memory");
  }
  EXPECT_THROW(receive(""), Error);
}

}  // namespace
}  // namespace lloyd::experiment
