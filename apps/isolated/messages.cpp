#include "isolated/messages.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <lloyd/error.hpp>

namespace lloyd::isolated {
namespace {

class Writer {
 public:
  template <class Plain>
  void put(const Plain& value) {
    static_assert(std::is_trivially_copyable_v<Plain>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  /// Null stays null.
  void put_text(const char* text) {
    put(static_cast<char>(text != nullptr));
    if (text != nullptr) put_text(std::string_view(text));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class Plain>
  Plain get() {
    static_assert(std::is_trivially_copyable_v<Plain>);
    const std::string_view part = take(sizeof(Plain));
    Plain value;
    std::memcpy(static_cast<void*>(&value), part.data(), sizeof(value));
    return value;
  }
  std::string get_text() { return std::string(take(get<std::uint64_t>())); }
  /// Number of entries of a list. Each entry takes at least one byte, which bounds the number.
  std::size_t get_count() {
    const auto count = get<std::uint64_t>();
    if (count > rest_.size()) fail();
    return count;
  }
  void end() const {
    if (!rest_.empty()) fail();
  }
  [[noreturn]] static void fail() { throw InputError("a message in an unknown format"); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) fail();
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }

  std::string_view rest_;
};

struct Value {
  std::int64_t integer;
  double number;
};

}  // namespace

std::string encode_description(const LoadedBackend& backend,
                               const std::vector<machine::OpenmpRuntime>& runtimes) {
  Writer writer;
  const BackendInfo& info = backend.info();
  writer.put(info);
  for (const char* text : {info.summary, info.algorithm, info.reproducibility_reason}) {
    writer.put_text(text);
  }
  const ParameterSet parameters = backend.default_parameters();
  writer.put(static_cast<std::uint64_t>(parameters.schema().size()));
  for (const ParameterInfo& parameter : parameters.schema()) {
    writer.put(parameter);
    writer.put_text(parameter.name);
    writer.put_text(parameter.meaning);
    if (parameter.type != ParameterType::choice) continue;
    for (std::int32_t i = 0; i < parameter.choice_count; ++i) writer.put_text(parameter.choices[i]);
  }
  writer.put(static_cast<std::uint64_t>(backend.devices().size()));
  for (const DeviceInfo& device : backend.devices()) writer.put(device);
  writer.put_text(std::string_view(backend.unavailable()));
  writer.put(static_cast<std::uint64_t>(runtimes.size()));
  for (const machine::OpenmpRuntime& runtime : runtimes) {
    writer.put_text(std::string_view(runtime.name));
    writer.put_text(std::string_view(runtime.path));
    writer.put(runtime.threads);
  }
  return writer.take();
}

Description::Description(std::string_view bytes) {
  Reader reader(bytes);
  const auto keep = [&]() -> const char* {
    if (reader.get<char>() == 0) return nullptr;
    return texts_.emplace_back(reader.get_text()).c_str();
  };
  info = reader.get<BackendInfo>();
  info.summary = keep();
  info.algorithm = keep();
  info.reproducibility_reason = keep();
  parameters_.resize(reader.get_count());
  for (ParameterInfo& parameter : parameters_) {
    parameter = reader.get<ParameterInfo>();
    parameter.name = keep();
    parameter.meaning = keep();
    parameter.choices = nullptr;
    if (parameter.type != ParameterType::choice) continue;
    std::vector<const char*>& words = choices_.emplace_back();
    for (std::int32_t i = 0; i < parameter.choice_count; ++i) words.push_back(keep());
    parameter.choices = words.data();
  }
  info.parameters = parameters_.data();
  info.parameter_count = static_cast<std::int64_t>(parameters_.size());
  devices.resize(reader.get_count());
  for (DeviceInfo& device : devices) {
    device = reader.get<DeviceInfo>();
    device.name[sizeof(device.name) - 1] = '\0';
  }
  unavailable = reader.get_text();
  openmp_runtimes.resize(reader.get_count());
  for (machine::OpenmpRuntime& runtime : openmp_runtimes) {
    runtime.name = reader.get_text();
    runtime.path = reader.get_text();
    runtime.threads = reader.get<int>();
  }
  reader.end();
}

std::string encode_question(const Question& question, const ParameterList& parameters) {
  Question sent = question;
  sent.spec.initial_centroids = nullptr;
  Writer writer;
  writer.put(sent);
  writer.put(parameters.count);
  for (std::int64_t i = 0; i < parameters.count; ++i) {
    writer.put(Value{parameters.values[i].integer, parameters.values[i].number});
  }
  return writer.take();
}

Question decode_question(std::string_view bytes, std::vector<ParameterValue>& parameters) {
  Reader reader(bytes);
  const auto question = reader.get<Question>();
  if (reader.get<std::int64_t>() != static_cast<std::int64_t>(parameters.size())) Reader::fail();
  for (ParameterValue& parameter : parameters) {
    const auto value = reader.get<Value>();
    parameter.integer = value.integer;
    parameter.number = value.number;
  }
  reader.end();
  return question;
}

std::string encode_reply(const Reply& reply) {
  Writer writer;
  writer.put(reply);
  return writer.take();
}

Reply decode_reply(std::string_view bytes) {
  Reader reader(bytes);
  auto reply = reader.get<Reply>();
  reader.end();
  reply.status.message[sizeof(reply.status.message) - 1] = '\0';
  return reply;
}

}  // namespace lloyd::isolated
