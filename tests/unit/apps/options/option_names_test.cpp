#include "options/option_names.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/internal/column_argument.hpp>
#include <lloyd/internal/shell_word.hpp>

namespace lloyd::apps {
namespace {

TEST(OptionNames, QuoteValuesForAShell) {
  EXPECT_EQ(shell_word("a,b-1.csv"), "a,b-1.csv");
  EXPECT_EQ(shell_word("net price"), "'net price'");
  EXPECT_EQ(shell_word("it's"), "\"it's\"");
  EXPECT_EQ(shell_word("it's $5"), "'it'\\''s $5'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(option_list({"-999", "a b"}), "='-999,a b'");
  EXPECT_EQ(yaml_list({"a", "net price", "it's", "no", "-999", "?", "2.5"}),
            "a, \"net price\", \"it's\", \"no\", -999, \"?\", 2.5");
}

TEST(OptionNames, ReplaceSettings) {
  const std::string advice =
      "drop_columns = {\"net price\", \"it's\"} leaves out, label_column = \"a b\" takes; "
      "thousands = \"'\" with the decimal_comma option and delimiter = \",\"";
  EXPECT_EQ(with_option_names(advice),
            "--drop-columns \"net price,it's\" leaves out, --label-column 'a b' takes; --thousands "
            "\"'\" with --decimal-comma and --delimiter ,");
  EXPECT_EQ(with_key_names(advice),
            "'dataset.drop_columns: [\"net price\", \"it's\"]' leaves out, "
            "'dataset.label_column: \"a b\"' takes; 'dataset.thousands: \"'\"' with "
            "'dataset.decimal_comma' and 'dataset.delimiter: \",\"'");
  EXPECT_EQ(with_option_names("if tabs separate the cells, set the delimiter option"),
            "if tabs separate the cells, set --delimiter tab");
  EXPECT_EQ(with_key_names("if ';' separates the cells, set the delimiter option"),
            "if ';' separates the cells, set 'dataset.delimiter: \";\"'");
}

TEST(OptionNames, NameColumnsUnlessTheNameIsAmbiguous) {
  const std::vector<std::string> names = {"net price", "x", "x", "a,b", "say \"a\"", "-x", "9", ""};
  const std::vector<std::string> arguments = {"net price", "1", "2", "3", "4", "5", "6", "7"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(column_argument(names, i, static_cast<std::int64_t>(i)), arguments[i]) << names[i];
  }
  // The number 1 would be taken as the name of the first column.
  EXPECT_EQ(column_argument({"1", "0"}, 1, 1), "0");
  EXPECT_EQ(column_argument({"", "x"}, 0, 0), "0");
  EXPECT_EQ(column_argument({"", "0"}, 0, 0), "") << "0 is the other column";
  EXPECT_EQ(column_argument({}, 0, 3), "3");
}

}  // namespace
}  // namespace lloyd::apps
