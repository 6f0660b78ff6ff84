#include "output/delivery.hpp"

#include <signal.h>
#include <stdlib.h>

#include <cerrno>
#include <exception>
#include <new>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>

#include "output/result_stream.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;

// Writes the file to a new folder in `folder`. Returns its path; empty on failure.
fs::path keep_in(const fs::path& folder, const fs::path& name,
                 const std::function<void(const fs::path&)>& body) {
  std::string made = (folder / "lloyd-kept-XXXXXX").string();
  if (folder.empty() || ::mkdtemp(made.data()) == nullptr) return {};
  try {
    fs::path file = fs::path(made) / name;
    body(file);
    return file;
  } catch (const std::exception&) {
    std::error_code error;
    // remove() first: unlike remove_all() it needs no descriptor, and none may be left.
    if (!fs::remove(made, error)) fs::remove_all(made, error);
    return {};
  }
}

fs::path keep(const fs::path& name, const std::function<void(const fs::path&)>& body) {
  std::error_code error;
  const fs::path kept = keep_in(fs::current_path(error), name, body);
  return kept.empty() ? keep_in(fs::temp_directory_path(error), name, body) : kept;
}

}  // namespace

void Delivery::print(const std::function<void()>& body) {
  // Not by ignoring SIGPIPE: its disposition belongs to the process, and children inherit it.
  const ReaderLossAsError error_only;
  std::string failure;
  try {
    body();
    flush_results();
  } catch (const std::system_error& error) {
    reader_gone_ = error.code().value() == EPIPE;
    failure = error.what();
  } catch (const std::bad_alloc&) {
    failure = "out of memory while the result was printed";
  } catch (const std::exception& error) {
    failure = error.what();
  }
  // Output printed in two steps fails twice for the same reason; report it once.
  if (!failure.empty() && (failures_.empty() || failures_.back() != failure)) {
    failures_.push_back(failure);
  }
}

bool Delivery::write(const fs::path& file, const std::function<void(const fs::path&)>& body) {
  std::string failure;
  try {
    body(file);
    return true;
  } catch (const std::bad_alloc&) {
    failure = fmt::format("{}: out of memory while the file was written", file.string());
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const fs::path kept = keep(file.filename(), body);
  failures_.push_back(kept.empty() ? failure + "; it could not be kept elsewhere either"
                                   : fmt::format("{}; it was kept as {}", failure, kept.string()));
  return false;
}

void Delivery::finish() const {
  if (reader_gone_ && failures_.size() == 1) ::raise(SIGPIPE);
  if (!failures_.empty()) throw Error(fmt::format("{}", fmt::join(failures_, "; ")));
}

}  // namespace lloyd::apps
