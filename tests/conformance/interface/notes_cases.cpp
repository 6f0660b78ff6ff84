// SessionNotes, if a session provides them: short printable texts.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <lloyd/plugin/abi/session_notes.hpp>

#include "conformance/support/cases.hpp"
#include "conformance/support/partial_trial.hpp"
#include "conformance/support/trial.hpp"

namespace lloyd::conformance {
namespace {

// Length of the UTF-8 character at the start of a text; 0 if there is none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead < 0xc2   ? 0
                            : lead < 0xe0 ? 2
                            : lead < 0xf0 ? 3
                            : lead < 0xf5 ? 4
                                          : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Rejects overlong forms, surrogates, and code points beyond U+10FFFF.
  const unsigned char second = byte(1);
  const bool wrong = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                     (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return wrong ? 0 : bytes;
}

void check_notes(const char* where, Session& session) {
  const auto* const offered = static_cast<const SessionNotes*>(session.query(kSessionNotes));
  expect(offered != nullptr, "{}: the session no longer offers notes", where);
  const char* const begin = offered->notes();
  expect(begin != nullptr, "{}: the notes are null, not a text", where);
  const std::string_view text(begin, ::strnlen(begin, kMaxNotesBytes));
  expect(text.size() < kMaxNotesBytes, "{}: the notes have no end within {} bytes", where,
         kMaxNotesBytes);
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    expect(byte >= 0x20 && byte != 0x7f, "{}: byte {} of the notes is {:#04x}, a control character",
           where, at, byte);
    const std::size_t bytes = character_bytes(text.substr(at));
    expect(bytes > 0, "{}: byte {} of the notes, {:#04x}, begins no UTF-8 character", where, at,
           byte);
    at += bytes;
  }
  const std::string_view again = offered->notes();
  expect(again == text, "{}: the notes are '{}', then '{}'", where, text, again);
}

void text(const Context& context) {
  const Samples samples = rounded(cloud(700, 5, 81), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, 40);
  if (session->query(kSessionNotes) == nullptr) {
    throw CaseSkipped{"the backend offers no notes"};
  }
  Setting setting;
  for (const std::int64_t clusters : {3, 40}) {
    setting.clusters = clusters;
    setting.centroids = first_rows(samples, clusters);
    setting.max_iterations = 3;
    const Trial trial = run_fit(*session, samples, setting);
    expect(trial.status.ok(), "fit() failed: {}", status_message(trial.status));
    check_notes("after fit()", *session);
  }
  Recorder recorder(samples.n, setting.clusters * samples.d);
  recorder.stop = true;
  run_fit(*session, samples, setting, recorder);
  check_notes("after a cancelled fit()", *session);
  const Labelling labelling = run_label(*session, samples, setting.centroids);
  expect(labelling.status.ok(), "label() failed: {}", status_message(labelling.status));
  check_notes("after label()", *session);
  std::vector<std::int32_t> labels(samples.n, -1);
  run_partials(*session, samples, setting.centroids, {0, samples.n}, 2, labels);
  check_notes("after partial()", *session);
}

// A new session returns a text, too.
void fresh(const Context& context) {
  const Samples samples = rounded(cloud(50, 2, 82), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, 2);
  if (session->query(kSessionNotes) == nullptr) {
    throw CaseSkipped{"the backend offers no notes"};
  }
  check_notes("before the first call", *session);
}

}  // namespace

void add_notes_cases(std::vector<Case>& cases) {
  cases.push_back({"notes/text", Scope::variants, text});
  cases.push_back({"notes/fresh", Scope::defaults, fresh});
}

}  // namespace lloyd::conformance
