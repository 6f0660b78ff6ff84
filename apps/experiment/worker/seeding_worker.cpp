#include "experiment/worker/seeding_worker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/worker/worker_protocol.hpp"
#include "ipc/descriptor.hpp"
#include "ipc/shared_memory.hpp"
#include "supervision/supervision_board.hpp"
#include "workers/worker_command.hpp"
#include "workers/worker_process.hpp"

namespace lloyd::experiment {
namespace {

using apps::WorkerProcess;

// Sends a message and returns the answer.
Answer ask_seeding(WorkerProcess& worker, const apps::SupervisionBoard& board,
                   const SeedingProcess& process, std::chrono::seconds seconds,
                   const std::string& message, const std::vector<int>& descriptors) {
  WorkerProcess::Limits limits;
  limits.deadline = WorkerProcess::Clock::now() + seconds;
  limits.memory_bytes = process.isolation.memory_limit;
  limits.stop = process.stop;
  worker.send(message, descriptors);
  WorkerProcess::Event event = worker.wait(limits);
  while (event == WorkerProcess::Event::answer) {
    const Answer report = read_answer(worker.answer());
    if (report.stage.empty()) break;
    process.progress(report.done, report.total);
    event = worker.wait(limits);
  }
  const std::string place = place_of(board.call());
  std::string fault;
  switch (event) {
    case WorkerProcess::Event::answer: {
      Answer answer = read_answer(worker.answer());
      if (answer.cancelled) {
        if (process.stop && process.stop()) throw Cancelled();
        throw Error("a signal interrupted its process");
      }
      if (!answer.failure.empty()) throw Error(answer.failure);
      return answer;
    }
    case WorkerProcess::Event::stopped:
      worker.kill();
      throw Cancelled();
    case WorkerProcess::Event::ended:
      fault = fmt::format("the plugin ended its process{}: {}", place, worker.end().text());
      break;
    case WorkerProcess::Event::lost:
      fault = "the plugin closed the socket of its process";
      break;
    case WorkerProcess::Event::timed_out:
      fault = fmt::format("there was no answer within {} s{}", seconds.count(), place);
      break;
    case WorkerProcess::Event::over_memory:
      fault = "its process used more memory than 'memory_limit'";
      break;
  }
  worker.kill();
  throw Error(apps::with_last_words(fault, worker.last_words()));
}

}  // namespace

std::chrono::seconds seeding_limit(double work) {
  constexpr std::chrono::seconds kMinTime{60};
  constexpr double kMinRate = 1e8;  // multiplications per second
  constexpr double kMaxSeconds = 1e6;
  return kMinTime +
         std::chrono::seconds(static_cast<std::int64_t>(std::min(work / kMinRate, kMaxSeconds)));
}

std::optional<SeededRows> seed_in_worker(const LoadedBackend& backend, const SharedDataset& dataset,
                                         const FitOptions& options, const SeedingProcess& process,
                                         std::int64_t first_restart) {
  WorkerProcess worker(process.command, apps::kWorkerSocket);
  apps::SharedBoard board;
  const apps::Descriptor of_worker = board.take_descriptor();
  const StartMessage start{backend.path().string(), backend.default_parameters().texts(),
                           process.isolation.cpus, identity_of(backend)};
  const auto ask = [&](std::chrono::seconds limit, const std::string& message,
                       const std::vector<int>& descriptors) {
    return ask_seeding(worker, board.board(), process, limit, message, descriptors);
  };
  ask(process.load_limit, start_message(start), {of_worker.get()});
  ask(process.load_limit, dataset_message(dataset.description), dataset.descriptors());
  // The process releases its session after this answer, and is not waited for: it may hang, and no
  // result is left to come.
  const Answer answer = ask(process.seeding_limit, seed_message({options, first_restart}), {});
  if (answer.no_kernels) return std::nullopt;
  if (!answer.has_seeds || worker.descriptors().empty()) {
    throw Error("its process sent an unexpected answer");
  }
  const int descriptor = worker.descriptors().front().get();
  const std::int64_t bytes = apps::shared_memory_bytes(descriptor);
  const std::int64_t expected =
      options.clusters * options.restarts * static_cast<std::int64_t>(sizeof(std::int64_t));
  if (bytes != expected) {
    throw Error(fmt::format("its process sent {} bytes of rows, not {}", bytes, expected));
  }
  const auto mapped = apps::map_shared(descriptor, bytes);
  const auto* rows = static_cast<const std::int64_t*>(mapped.get());
  SeededRows seeded;
  seeded.rows.assign(rows, rows + options.clusters * options.restarts);
  seeded.ms = answer.seeding_ms;
  return seeded;
}

}  // namespace lloyd::experiment
