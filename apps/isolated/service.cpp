#include "isolated/service.hpp"

#include <unistd.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/loading_stages.hpp>
#include <lloyd/registry.hpp>

#include "ipc/packet_socket.hpp"
#include "isolated/messages.hpp"
#include "process/fork_barrier.hpp"

namespace lloyd::isolated {
namespace {

std::string led_by(LoadOutcome outcome, std::string_view text) {
  return static_cast<char>(outcome) + std::string(text);
}

// Returns false if the peer is closed. Exits with kSocketLost if the plugin has closed the socket.
bool send_answer(int socket, std::string_view answer) {
  try {
    return apps::send_packet(socket, answer);
  } catch (const Error&) {
    ::_exit(kSocketLost);
  }
}

// Loads the plugin, sends the stages of that and returns the last answer. `backend` stays null on
// failure.
std::string load(int socket, const std::string& file, std::unique_ptr<LoadedBackend>& backend) {
  const apps::ForkBarrier barrier;
  try {
    backend = load_plugin(file, [&](LoadingStage stage) {
      barrier.check();
      send_answer(socket, led_by(LoadOutcome::stage, std::to_string(static_cast<int>(stage))));
    });
    const std::string description = encode_description(*backend, machine::loaded_openmp_runtimes());
    if (description.size() < apps::kMaxPacketBytes) {
      return led_by(LoadOutcome::described, description);
    }
    backend.reset();
    return led_by(LoadOutcome::refused,
                  fmt::format("{}: its description has {} bytes; at most {} are possible", file,
                              description.size(), apps::kMaxPacketBytes - 1));
  } catch (const InputError& refusal) {
    return led_by(LoadOutcome::refused, refusal.what());
  } catch (const std::bad_alloc&) {
    return failure_answer("its process is out of memory");
  } catch (const std::exception& error) {
    return failure_answer(error.what());
  }
}

Reply answer(const LoadedBackend& backend, std::string_view bytes) {
  ParameterSet defaults = backend.default_parameters();
  const ParameterList list = defaults.list();
  std::vector<ParameterValue> values(list.values, list.values + list.count);
  const Question question = decode_question(bytes, values);
  ParameterList parameters;
  parameters.values = values.data();
  parameters.count = list.count;
  Reply reply;
  const apps::ForkBarrier barrier;
  if (question.kind == QuestionKind::supports) {
    reply.status = backend.backend().supports(question.shape, parameters, question.spec);
  } else {
    reply.status =
        backend.backend().estimate(question.shape, parameters, question.spec, reply.memory);
  }
  return reply;
}

}  // namespace

void serve_plugin(int socket) {
  apps::Packet packet;
  if (apps::receive_packet(socket, true, packet) != apps::Received::packet) return;
  std::unique_ptr<LoadedBackend> backend;
  const std::string outcome = load(socket, packet.text, backend);
  if (!send_answer(socket, outcome) || backend == nullptr) return;
  while (apps::receive_packet(socket, true, packet) == apps::Received::packet) {
    if (!send_answer(socket, encode_reply(answer(*backend, packet.text)))) return;
  }
}

std::string failure_answer(std::string_view reason) {
  return led_by(LoadOutcome::failed, reason);
}

}  // namespace lloyd::isolated
