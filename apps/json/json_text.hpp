// The core's parser of untrusted JSON, in the program's namespace.
#pragma once

#include <lloyd/internal/json_text.hpp>

namespace lloyd::apps {

using lloyd::kMaxJsonKeys;
using lloyd::open_text_file;
using lloyd::parse_json;
using lloyd::read_text_file;
using lloyd::utf8_text;
using lloyd::utf8_texts;

}  // namespace lloyd::apps
