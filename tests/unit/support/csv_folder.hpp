// CsvFolder: tables as text, read from a file in a temporary folder.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <lloyd/data/csv.hpp>
#include <lloyd/error.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {

/// The end of messages about text for which there is no better advice.
inline const std::string kColumnsAdvice =
    "; the columns option chooses the columns that are numbers, the drop_columns option leaves "
    "some "
    "out, the label_column option takes one as classes";

class CsvFolder : public testing::Test {
 protected:
  Dataset read(std::string_view text, const CsvOptions& options = {}) const {
    return read_csv(folder_.write("t.csv", text), options);
  }

  /// The refusal of the text, without the folder in the file's name.
  std::string refusal(std::string_view text, const CsvOptions& options = {}) const {
    const std::string message = message_of<InputError>([&] { read(text, options); });
    const std::string prefix = folder_.path().string() + "/";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }

  TemporaryFolder folder_;
};

}  // namespace lloyd
