// Packets with file descriptors between two processes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ipc/descriptor.hpp"

namespace lloyd::apps {

/// A packet keeps its ends whatever is in it, so that what somebody else writes in between is one
/// more packet and spoils no other.
struct Packet {
  std::string text;
  std::vector<Descriptor> descriptors;
};

/// Bytes of the longest packet.
inline constexpr std::size_t kMaxPacketBytes = std::size_t{1} << 17;

/// Two ends that are connected; both are closed on exec. Throws Error.
std::pair<Descriptor, Descriptor> make_packet_sockets();

/// Sends one packet with copies of the descriptors; false when nobody listens any more. Throws
/// Error for a packet that is too long, or when the system cannot send it.
bool send_packet(int socket, std::string_view text, const std::vector<int>& descriptors = {});

enum class Received { packet, nothing, end };
/// Receives one packet, waiting for it where `wait` says so. `end`: nobody sends any more. What a
/// packet has beyond kMaxPacketBytes is cut off.
Received receive_packet(int socket, bool wait, Packet& packet);

}  // namespace lloyd::apps
