// Packets with file descriptors between two processes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ipc/descriptor.hpp"

namespace lloyd::apps {

/// The socket preserves packet boundaries, so stray bytes that a plugin writes to it form a packet
/// of their own and corrupt no other.
struct Packet {
  std::string text;
  std::vector<Descriptor> descriptors;
};

/// Maximum packet size.
inline constexpr std::size_t kMaxPacketBytes = std::size_t{1} << 17;

/// Creates a pair of connected sockets, close-on-exec. Throws Error.
std::pair<Descriptor, Descriptor> make_packet_sockets();

/// Sends one packet with copies of the descriptors (at most 4). Returns false if the peer is
/// closed. Throws Error for a packet beyond the limits, or if sending fails.
bool send_packet(int socket, std::string_view text, const std::vector<int>& descriptors = {});

enum class Received { packet, nothing, end };
/// Receives one packet; waits for it if `wait` is true. `end`: the peer is closed. A packet is
/// truncated to kMaxPacketBytes; one with more than 4 descriptors arrives empty. Throws Error if
/// this process has no free descriptors for those in the packet.
Received receive_packet(int socket, bool wait, Packet& packet);

}  // namespace lloyd::apps
