#include "ipc/packet_socket.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {
namespace {

constexpr std::size_t kMaxDescriptors = 4;

using ControlBuffer = std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))>;

void take_descriptors(msghdr& message, std::vector<Descriptor>& descriptors) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      descriptors.emplace_back(descriptor);
    }
  }
}

}  // namespace

std::pair<Descriptor, Descriptor> make_packet_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(fmt::format("cannot make a pair of sockets: {}", descriptor_error(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool send_packet(int socket, std::string_view text, const std::vector<int>& descriptors) {
  if (text.size() > kMaxPacketBytes || descriptors.size() > kMaxDescriptors) {
    throw Error(fmt::format("a packet of {} bytes and {} descriptors is too long", text.size(),
                            descriptors.size()));
  }
  iovec bytes{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  alignas(cmsghdr) ControlBuffer control{};
  if (!descriptors.empty()) {
    const std::size_t size = descriptors.size() * sizeof(int);
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(part), descriptors.data(), size);
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) return false;
    throw Error(fmt::format("cannot send to another process: {}", descriptor_error(errno)));
  }
  return true;
}

Received receive_packet(int socket, bool wait, Packet& packet) {
  packet.text.resize(kMaxPacketBytes);
  packet.descriptors.clear();
  iovec bytes{packet.text.data(), packet.text.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  alignas(cmsghdr) ControlBuffer control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const int flags = MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT);
  ssize_t count = 0;
  // If the peer closed its socket with a packet unread, recvmsg() reports ECONNRESET once; the
  // packets that the peer had sent follow.
  bool told_of_end = false;
  do {
    count = ::recvmsg(socket, &message, flags);
  } while (count < 0 &&
           (errno == EINTR || (errno == ECONNRESET && !std::exchange(told_of_end, true))));
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Received::nothing;
  if (count <= 0) return Received::end;
  packet.text.resize(static_cast<std::size_t>(count));
  take_descriptors(message, packet.descriptors);
  if ((message.msg_flags & MSG_CTRUNC) == 0) return Received::packet;
  if (packet.descriptors.size() < kMaxDescriptors) {
    throw Error(fmt::format("cannot receive descriptors from another process: {}",
                            descriptor_error(EMFILE)));
  }
  // The peer sent more descriptors than any message of the protocol has.
  packet.text.clear();
  packet.descriptors.clear();
  return Received::packet;
}

}  // namespace lloyd::apps
