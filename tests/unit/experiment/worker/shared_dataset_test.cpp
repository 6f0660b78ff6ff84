// A data set reaches another process unchanged, and without a copy if a file holds it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/npy.hpp>
#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>

#include "experiment/worker/shared_dataset.hpp"
#include "ipc/packet_socket.hpp"
#include "ipc/shared_memory.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

Matrix example_matrix() {
  std::vector<double> values(300);
  std::iota(values.begin(), values.end(), -17.25);
  return Matrix::from_values(std::move(values), 100, 3);
}

std::vector<apps::Descriptor> copies(const SharedDataset& shared) {
  std::vector<apps::Descriptor> descriptors;
  descriptors.emplace_back(::dup(shared.values.get()));
  descriptors.emplace_back(::dup(shared.statistics.get()));
  return descriptors;
}

void expect_same(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.name(), b.name());
  ASSERT_EQ(a.samples(), b.samples());
  ASSERT_EQ(a.features(), b.features());
  ASSERT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(a.matrix().stride, b.matrix().stride);
  EXPECT_EQ(a.fingerprint(), b.fingerprint());
  EXPECT_EQ(a.mean_variance(), b.mean_variance());
  for (std::int64_t i = 0; i < a.samples(); ++i) EXPECT_EQ(a.sample(i), b.sample(i));
  EXPECT_EQ(0, std::memcmp(a.statistics().data(), b.statistics().data(),
                           a.statistics().size() * sizeof(FeatureStatistics)));
}

TEST(SharedDataset, ComesBackAsItWas) {
  const Dataset original("example", example_matrix());
  const SharedDataset shared = share_dataset(std::make_shared<const Dataset>(original));
  expect_same(original, *shared.dataset);
  expect_same(original, *receive_dataset(shared.description, copies(shared)));
  // The receiver cannot write to it.
  EXPECT_LT(::write(shared.values.get(), "x", 1), 0);
  EXPECT_EQ(::mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, shared.values.get(), 0),
            MAP_FAILED);
  EXPECT_EQ(message_of<Error>([&] { receive_dataset(shared.description, {}); }),
            "a data set arrived with 0 descriptors, not 2");
}

TEST(SharedDataset, ClassesComeAlong) {
  Dataset original("example", example_matrix());
  for (std::int64_t i = 0; i < original.samples(); ++i) {
    original.classes.push_back(i % 3 == 0 ? "b" : "a");
  }
  const SharedDataset shared = share_dataset(std::make_shared<const Dataset>(original));
  ASSERT_EQ(shared.descriptors().size(), 3U);
  std::vector<apps::Descriptor> descriptors = copies(shared);
  EXPECT_EQ(message_of<Error>([&] { receive_dataset(shared.description, descriptors); }),
            "a data set arrived with 2 descriptors, not 3");
  descriptors.emplace_back(::dup(shared.classes.get()));
  expect_same(original, *receive_dataset(shared.description, descriptors));
  EXPECT_EQ(receive_classes(shared.description, descriptors), encode_classes(original.classes));
  const SharedDataset without =
      share_dataset(std::make_shared<const Dataset>("example", example_matrix()));
  EXPECT_EQ(without.descriptors().size(), 2U);
  EXPECT_TRUE(receive_classes(without.description, copies(without)).empty());
}

TEST(SharedDataset, AStrideIsKept) {
  Matrix matrix = example_matrix();
  matrix.columns = 2;
  const Dataset original("strided", matrix);
  const SharedDataset shared = share_dataset(std::make_shared<const Dataset>(original));
  expect_same(original, *receive_dataset(shared.description, copies(shared)));
}

TEST(SharedDataset, AMappedFileIsHandedOverItself) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x.npy";
  write_npy(file, example_matrix());
  const auto inode = [](int descriptor) {
    struct stat status {};
    ::fstat(descriptor, &status);
    return status.st_ino;
  };
  struct stat of_file {};
  ASSERT_EQ(::stat(file.c_str(), &of_file), 0);
  auto read = std::make_shared<const Dataset>(read_npy_dataset(file));
  const SharedDataset shared = share_dataset(read);
  EXPECT_EQ(inode(shared.values.get()), of_file.st_ino);
  expect_same(*read, *receive_dataset(shared.description, copies(shared)));

  // Replaced by another file of the same name.
  std::filesystem::remove(file);
  write_npy(file, Matrix::from_values(std::vector<double>(300, 2.0), 100, 3));
  const SharedDataset again = share_dataset(read);
  EXPECT_EQ(inode(again.values.get()), of_file.st_ino);
  expect_same(*read, *receive_dataset(again.description, copies(again)));
}

TEST(SharedDataset, AMappedFileThatIsOverwrittenIsNoticedWhereItIsReceived) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x.npy";
  write_npy(file, example_matrix());
  const SharedDataset shared =
      share_dataset(std::make_shared<const Dataset>(read_npy_dataset(file)));
  const auto received = receive_dataset(shared.description, copies(shared));
  received->check_unchanged();
  std::filesystem::last_write_time(
      file, std::filesystem::last_write_time(file) + std::chrono::seconds(1));
  const std::string message = file.string() + ": the file was changed while it was in use";
  EXPECT_EQ(message_of<InputError>([&] { received->check_unchanged(); }), message);
  EXPECT_EQ(message_of<InputError>([&] { shared.dataset->check_unchanged(); }), message);
}

TEST(SharedDataset, StatisticsMustBeThoseOfTheFeatures) {
  EXPECT_EQ(message_of<InputError>([] { Dataset("x", example_matrix(), {}, 1); }),
            "x: there are statistics of 0 features, the data has 3");
}

TEST(PacketSocket, KeepsPacketsAndDescriptorsApart) {
  auto [a, b] = apps::make_packet_sockets();
  apps::Packet packet;
  EXPECT_EQ(apps::receive_packet(b.get(), false, packet), apps::Received::nothing);
  const apps::Descriptor memory = apps::make_shared_memory("hello", 5);
  EXPECT_TRUE(apps::send_packet(a.get(), "one", {memory.get(), memory.get()}));
  EXPECT_TRUE(apps::send_packet(a.get(), std::string(apps::kMaxPacketBytes, 'x')));
  ASSERT_EQ(apps::receive_packet(b.get(), true, packet), apps::Received::packet);
  EXPECT_EQ(packet.text, "one");
  ASSERT_EQ(packet.descriptors.size(), 2u);
  const auto mapped = apps::map_shared(packet.descriptors[1].get(), 5);
  EXPECT_EQ(std::string(static_cast<const char*>(mapped.get()), 5), "hello");
  ASSERT_EQ(apps::receive_packet(b.get(), true, packet), apps::Received::packet);
  EXPECT_EQ(packet.text.size(), apps::kMaxPacketBytes);
  EXPECT_TRUE(packet.descriptors.empty());
  EXPECT_THROW(apps::send_packet(a.get(), std::string(apps::kMaxPacketBytes + 1, 'x')), Error);
  a.close();
  EXPECT_EQ(apps::receive_packet(b.get(), true, packet), apps::Received::end);
  EXPECT_FALSE(apps::send_packet(b.get(), "nobody"));
}

TEST(PacketSocket, PacketWithTooManyDescriptorsArrivesEmpty) {
  auto [a, b] = apps::make_packet_sockets();
  const apps::Descriptor memory = apps::make_shared_memory("hello", 5);
  const std::array<int, 5> five = {memory.get(), memory.get(), memory.get(), memory.get(),
                                   memory.get()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(five))> control{};
  char text[] = "five";
  iovec bytes{text, 4};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(five));
  std::memcpy(CMSG_DATA(part), five.data(), sizeof(five));
  ASSERT_EQ(::sendmsg(a.get(), &message, 0), 4);
  EXPECT_TRUE(apps::send_packet(a.get(), "next"));
  apps::Packet packet;
  ASSERT_EQ(apps::receive_packet(b.get(), true, packet), apps::Received::packet);
  EXPECT_EQ(packet.text, "");
  EXPECT_TRUE(packet.descriptors.empty());
  ASSERT_EQ(apps::receive_packet(b.get(), true, packet), apps::Received::packet);
  EXPECT_EQ(packet.text, "next");
}

TEST(PacketSocket, AnswerOfAPeerThatReadsNothingMoreIsReceived) {
  auto [ours, theirs] = apps::make_packet_sockets();
  ASSERT_TRUE(apps::send_packet(ours.get(), "request"));
  ASSERT_TRUE(apps::send_packet(theirs.get(), "answer"));
  theirs.close();
  apps::Packet packet;
  EXPECT_EQ(apps::receive_packet(ours.get(), true, packet), apps::Received::packet);
  EXPECT_EQ(packet.text, "answer");
  EXPECT_EQ(apps::receive_packet(ours.get(), true, packet), apps::Received::end);
}

}  // namespace
}  // namespace lloyd::experiment
