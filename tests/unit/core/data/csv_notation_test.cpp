// Numbers with decimal commas and thousands separators, and what the digits of a column show.
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/csv/cells/number_notation.hpp"
#include "unit/support/csv_folder.hpp"

namespace lloyd {
namespace {

class CsvNotation : public CsvFolder {
 protected:
  static CsvOptions with_thousands(char separator) {
    CsvOptions options;
    options.thousands = separator;
    return options;
  }
  // The values of the first column.
  std::vector<double> first_column(const std::string& text, const CsvOptions& options) const {
    const Dataset data = read(text, options);
    std::vector<double> values;
    for (std::int64_t i = 0; i < data.samples(); ++i) values.push_back(data.matrix().at(i, 0));
    return values;
  }
  TextFeature text_of(const std::string& text) const {
    const std::vector<TextFeature> features = read(text).text_features;
    return features.empty() ? TextFeature() : features.front();
  }
};

std::string rewritten(std::string text, const NumberNotation& notation) {
  rewrite_numbers(text.data(), text.data() + text.size(), notation);
  return text;
}

TEST(NumberNotation, KeepsCommasBetweenDelimitersInQuotes) {
  EXPECT_EQ(rewritten("\"a;1,5;b\";2,5\n \"\"\"x;1,5;\"\";\";1,5\n\"open;1,5\n1,5;\"\";\"",
                      {';', true, {}}),
            "\"a;1,5;b\";2.5\n \"\"\"x;1,5;\"\";\";1.5\n\"open;1,5\n1.5;\"\";\"");
}

TEST(NumberNotation, ReplacesDecimalCommasInNumbersOnly) {
  EXPECT_EQ(rewritten("1,5; -2,5 ;,;,5;5,;1,2,3;a1,5;\"1,5\";\"1,5;1,5\";1,5e;1,5e3\n1,5",
                      {';', true, {}}),
            "1.5; -2.5 ;,;.5;5.;1,2,3;a1,5;\"1.5\";\"1,5;1,5\";1,5e;1.5e3\n1.5");
}

TEST(NumberNotation, RemovesThousandsSeparators) {
  EXPECT_EQ(rewritten("1'234;-12'345.5;\"1'234\";'1;1'23;0'123;1'234'567", {';', false, '\''}),
            " 1234; -12345.5; \"1234\";'1;1'23;0'123;  1234567");
  EXPECT_EQ(rewritten("1.234,5;1.234;1.5;2,5", {';', false, '.'}), " 1234.5; 1234;1,5;2.5");
  EXPECT_EQ(rewritten("1.234,5;1.234;1.5;2,5", {';', true, {}}), " 1234.5;1,234;1,5;2.5");
  EXPECT_EQ(rewritten("\"1,234.5\",\"1,23\",1.5", {',', false, ','}), "  1234.5 ,\"1,23\",1.5");
  EXPECT_EQ(rewritten("1,\"2,5\",\"1.5\"\n", {',', true, {}}), "1, 2.5 ,\"1'5\"\n");
  EXPECT_EQ(rewritten("1\u2019234,1\u202f234", {',', false, '\''}), "   1234,1\u202f234");
  EXPECT_EQ(rewritten("\"1 234\" 5", {' ', false, ' '}), "\t\t1234\t 5");
  EXPECT_EQ(rewritten("1\xa0"
                      "234,1\xa0"
                      "2",
                      {',', false, ' '}),
            " 1234,1\xa0"
            "2");
  EXPECT_EQ(rewritten("1\x92"
                      "234",
                      {',', false, '\''}),
            " 1234");
}

TEST(NumberNotation, BlanksInQuotesAreNoPartOfANumber) {
  EXPECT_EQ(rewritten("\" 1,234.00 \",\" 1,2\"", {',', false, ','}), "   1234.00  ,\" 1,2\"");
  EXPECT_EQ(rewritten("\" 1'234 \";\"  \";\"\"", {';', false, '\''}), "\"  1234 \";\"  \";\"\"");
  EXPECT_EQ(rewritten("\" 2,5 \";\"\t1.234,5\"", {';', true, {}}), "\" 2.5 \";\"\t 1234.5\"");
  EXPECT_EQ(rewritten("\" 1 234 \" 5", {' ', false, ' '}), "\t\t\t1234\t\t 5");
}

TEST_F(CsvNotation, ReadsQuotedThousandsBesideSmallerNumbers) {
  using Values = std::vector<double>;
  EXPECT_EQ(first_column("p,y\n\"300\",1\n\"1,200\",2\n", with_thousands(',')),
            (Values{300, 1200}));
  for (const char* cells : {"\"300\",\"1,200\"", "\"1,200\",\"300\"", "\" 300 \",\" 1,200 \""}) {
    const std::string text(cells);
    const std::size_t comma = text.find(",\"", 1);
    const Dataset data =
        read("y,p\n1," + text.substr(0, comma) + "\n2," + text.substr(comma + 1) + "\n",
             with_thousands(','));
    ASSERT_EQ(data.features(), 2) << cells;
    EXPECT_EQ(data.matrix().at(0, 1) + data.matrix().at(1, 1), 1500) << cells;
  }
  std::string late = "y,p\n";
  for (int i = 0; i < 1200; ++i) late += "1,\"" + std::to_string(i % 9) + "\"\n";
  EXPECT_EQ(
      refusal(late + "1,\"1,200\"\n", with_thousands(',')),
      "t.csv, line 2, column 2: '0' is not a number because of its quotes, as '1200' in line 1202 "
      "is; the columns option reads both as numbers; drop_columns = {\"p\"} leaves the column "
      "out, label_column = \"p\" takes it as classes");
}

TEST_F(CsvNotation, ReadsThousands) {
  using Values = std::vector<double>;
  EXPECT_EQ(first_column("x,y\n\"1,234.5\",2\n12,3\n", with_thousands(',')), (Values{1234.5, 12}));
  EXPECT_EQ(first_column("x,y\n1'234,2\n-2'000'000,3\n", with_thousands('\'')),
            (Values{1234, -2e6}));
  EXPECT_EQ(first_column("x,y\n1.234,2\n999,3\n", with_thousands('.')), (Values{1234, 999}));
  // Quotes that a number needs do not make it a class.
  EXPECT_EQ(read("x,y\n2,\"1,234.5\"\n", with_thousands(',')).features(), 2);
  CsvOptions comma = with_thousands('.');
  comma.decimal_comma = true;
  EXPECT_EQ(first_column("x;y\n1.234,5;2\n1.234;3\n0,5;4\n", comma), (Values{1234.5, 1234, 0.5}));
  EXPECT_EQ(first_column("1 234\t5\n2\t6\n",
                         [&] {
                           CsvOptions tabs = with_thousands(' ');
                           tabs.delimiter = '\t';
                           return tabs;
                         }()),
            (Values{1234, 2}));
}

// A point is never read as a decimal point where it separates thousands.
TEST_F(CsvNotation, RefusesWhatMayBeThousands) {
  EXPECT_EQ(refusal("x,y\n1.234,1\n2.345.678,2\n"),
            "t.csv, line 3, column 1: '2.345.678' is not a number; thousands = \".\" reads it as "
            "2345678");
  CsvOptions semicolon;
  semicolon.delimiter = ';';
  EXPECT_EQ(refusal("x;y\n1.234;1\n1.234,5;2\n", semicolon),
            "t.csv, line 3, column 1: '1.234,5' is not a number; the decimal_comma option reads it "
            "as 1234.5");
  EXPECT_EQ(
      refusal("x,y\n1.234,1\n1.5,2\n", with_thousands('.')),
      "t.csv, line 3, column 1: '1.5' has a point, but no group of three digits behind it, as "
      "the thousands option requires");
  EXPECT_EQ(
      refusal("x;y\n1;2.5\n3;4\n",
              [&] {
                CsvOptions points = with_thousands('.');
                points.delimiter = ';';
                return points;
              }()),
      "t.csv, line 2, column 2: '2.5' has a point, but no group of three digits behind it, as "
      "the thousands option requires");
  EXPECT_EQ(refusal("x,y\n\"3,14\",1\n\"2,7\",2\n"),
            "t.csv, line 2, column 1: '3,14' is not a number; the decimal_comma option with "
            "delimiter = \",\" reads it as 3.14");
  EXPECT_EQ(
      refusal("x;y\n1.585.237;62.5\n"),
      "t.csv, line 2, column 1: '1.585.237;62.5' is not a number; if ';' separates the cells, "
      "set the delimiter option, or the decimal_comma option for cells such as 2,5");
}

TEST_F(CsvNotation, RefusesImpossibleSeparators) {
  CsvOptions both = with_thousands(',');
  both.decimal_comma = true;
  EXPECT_EQ(refusal("1;2\n", both),
            "t.csv: ',' cannot be both the decimal comma and the thousands separator");
  EXPECT_EQ(refusal("1,2\n", with_thousands('x')),
            "t.csv: 'x' cannot separate thousands; use a point, comma, apostrophe, blank or "
            "underscore");
}

TEST_F(CsvNotation, TellsLeadingZeros) {
  EXPECT_EQ(text_of("plz,x\n12345,1\n00123,2\n").leading_zeros, "00123");
  for (const char* text :
       {"x,y\n01,1\n12,2\n", "x,y\n0,1\n0.05,2\n", "x,y\n-012,1\n", "x,y\n000.5,1\n"}) {
    EXPECT_EQ(text_of(text).leading_zeros, "") << text;
  }
}

TEST_F(CsvNotation, TellsPointsThatMaySeparateThousands) {
  const auto column = [](int grouped, const std::string& others) {
    std::string text = "x,y\n";
    for (int i = 0; i < grouped; ++i) text += std::to_string(1 + i % 999) + ".250,1\n";
    return text + others;
  };
  EXPECT_EQ(text_of(column(20, "999,1\n")).grouped, "1.250");
  EXPECT_EQ(text_of(column(20, "999,1\n")).integer, "999");
  EXPECT_EQ(text_of(column(19, "999,1\n")).grouped, "") << "too few";
  EXPECT_EQ(text_of(column(40, "")).grouped, "") << "all values have three decimals";
  for (const char* other : {"999,1\n0.5,1\n", "999,1\n1.25,1\n", "1000,1\n", "999,1\n0.125,1\n"}) {
    EXPECT_EQ(text_of(column(40, other)).grouped, "") << other;
  }
  EXPECT_EQ(text_of(column(40, "999,0.5\n")).grouped, "") << "a point is a decimal mark here";
}

TEST_F(CsvNotation, TellsTextsThatNoCellHas) {
  CsvOptions options;
  options.missing = {"unknown", "-999", "-999.0", "n/k"};
  options.drop_missing = true;
  const Dataset data = read("x,y\nunknown,1\n-999,2\n3,4\n", options);
  EXPECT_EQ(data.unused_missing, (std::vector<std::string>{"n/k"}));
}

}  // namespace
}  // namespace lloyd
