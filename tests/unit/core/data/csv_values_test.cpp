// Tables that are easily misread: cells that are neither numbers nor classes, and tables larger
// than memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/data/csv.hpp>
#include <lloyd/error.hpp>
#include <lloyd/rounding.hpp>

#include "data/csv/csv_rows.hpp"
#include "unit/support/csv_folder.hpp"
#include "unit/support/gzip_bytes.hpp"

namespace lloyd {
namespace {

using Texts = std::vector<std::string>;

class CsvValues : public CsvFolder {};

// float64 holds integers up to 2^53.
TEST_F(CsvValues, ReportsIntegersThatFloat64Rounds) {
  CsvOptions options;
  options.dtype = DType::float64;
  const auto rounding = [&](const std::string& text) { return read(text, options).rounding; };
  const std::vector<FeatureRounding> changed =
      rounding("id,x\n9007199254740992,0.5\n9007199254740993,1e100\n-3,4\n");
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed[0].error, 1);
  EXPECT_EQ(changed[0].dtype, DType::float64);
  EXPECT_LT(changed[0].minimum, changed[0].maximum) << "the integers differ";
  EXPECT_EQ(changed[1].error, 0);
  EXPECT_TRUE(rounding("9007199254740992,1e18\n-9007199254740994,0.1\n").empty());
}

// As float32, too, distinct integers may become equal before they are rounded.
TEST_F(CsvValues, ReportsIntegersThatNeitherTypeTellsApart) {
  const std::vector<FeatureRounding> changed =
      read("id,x\n1152921504606846976,1\n1152921504606846977,2\n").rounding;
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_FALSE(changed[0].exact_in_float64);
  EXPECT_LT(changed[0].minimum, changed[0].maximum);
  EXPECT_TRUE(changed[1].exact_in_float64);
  EXPECT_TRUE(read("id\n1000000001\n1000000002\n").rounding.at(0).exact_in_float64);
}

// Float32 holds only integers near 1.7e9, which must not be taken for integers of the file.
TEST_F(CsvValues, TellsFeaturesWithFractionsFromIntegers) {
  const std::vector<FeatureRounding> rounding = read("1700000000.5,1700000001\n2,3\n").rounding;
  ASSERT_EQ(rounding.size(), 2U);
  EXPECT_TRUE(rounding[0].has_fractions);
  EXPECT_FALSE(rounding[1].has_fractions);
}

// Only a table of one column can have a missing value that leaves nothing of its line.
TEST_F(CsvValues, BlankLinesOfOneColumnAreMissingValues) {
  EXPECT_EQ(refusal("x\n1\n\n3\n"),
            "t.csv, line 3, column 1: the line is blank; write a number or remove the line; the "
            "drop_missing option leaves such rows out");
  CsvOptions options;
  options.drop_missing = true;
  const Dataset dataset = read("x\n\n1\n\n \n5\n\n\n", options);
  EXPECT_EQ(dataset.samples(), 2);
  EXPECT_EQ(dataset.dropped_row_numbers, (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(dataset.missing_counts, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(read("\n\n1\n2\n\n").samples(), 2) << "above and below the table";
  EXPECT_EQ(read("1,2\n\n3,4\n").samples(), 2) << "two columns";
}

TEST_F(CsvValues, ExpectedNamesMakeAHeader) {
  CsvOptions options;
  options.expected_names = {"2020", "2019"};
  const Dataset dataset = read("2019,2020,2021\n1,2,3\n4,5,6\n", options);
  EXPECT_EQ(dataset.samples(), 2);
  EXPECT_EQ(dataset.feature_names, (Texts{"2019", "2020", "2021"}));
  EXPECT_EQ(read("2019,2021\n1,2\n", options).samples(), 2);
  options.header = false;
  EXPECT_EQ(read("2019,2020,2021\n1,2,3\n", options).samples(), 2);
}

// The first sample has a class and no values.
TEST_F(CsvValues, MissingValuesBesideAClassAreNoHeader) {
  CsvOptions options;
  options.drop_missing = true;
  EXPECT_EQ(refusal("?,?,a\n1,2,a\n3,4,b\n", options),
            "t.csv, line 1, column 1: '?' is not a number; the header option tells whether the row "
            "names the columns");
}

// The last column holds classes only if all of its cells are text, whatever its first cell is.
TEST_F(CsvValues, RefusesALastColumnThatIsPartlyNumbers) {
  const std::string way =
      "; drop_columns = {\"b\"} leaves the column out, label_column = \"b\" takes it as classes";
  const std::string fill =
      "; a missing value must be filled in, or its row left out (the drop_missing option)";
  const std::string missing = fill + way;
  for (const char* mark : {"NA", "N/A", "#N/A", "?", "-", "null", "None", "<NA>", "n.a.", "\\N"}) {
    const std::string text = std::string("'") + mark + "' is not a number";
    EXPECT_EQ(refusal(std::string("a,b\n1,") + mark + "\n3,4\n"),
              "t.csv, line 2, column 2: " + text + ", as '4' in line 3 is" + missing);
    EXPECT_EQ(refusal(std::string("a,b\n1,") + mark + "\n2,?\n"),
              "t.csv, line 2, column 2: " + text + missing)
        << "nothing but missing values";
    EXPECT_EQ(refusal(std::string("a,b\n1,2\n3,") + mark + "\n"),
              "t.csv, line 3, column 2: " + text + fill);
  }
  EXPECT_EQ(refusal("a,b\n1,\n3,4\n"),
            "t.csv, line 2, column 2: the cell is empty; a number is needed, as '4' in line 3 "
            "is; the drop_missing option leaves such rows out");
  EXPECT_EQ(refusal("a,b\n1,\"\"\n3,4\n"),
            "t.csv, line 2, column 2: the cell is empty; a number is needed, as '4' in line 3 "
            "is; the drop_missing option leaves such rows out");
  EXPECT_EQ(refusal("a,b\n1,nan\n3,4\n"),
            "t.csv, line 2, column 2: 'nan' is not finite; all values must be; the drop_missing "
            "option leaves such rows out");
  EXPECT_EQ(refusal("a,b\n1,cat\n3,dog\n5,7\n"),
            "t.csv, line 2, column 2: 'cat' is not a number, as '7' in line 4 is" + way);
  EXPECT_EQ(refusal("1,2,cat\n3,4,dog\n5,6,7\n"),
            "t.csv, line 1, column 3: 'cat' is not a number, as '7' in line 3 is; drop_columns "
            "= {\"2\"} leaves the column out, label_column = \"2\" takes it as classes");
}

TEST_F(CsvValues, RefusesALastColumnOfNumbersInOtherNotations) {
  const std::string way =
      "; drop_columns = {\"b\"} leaves the column out, label_column = \"b\" takes it as classes";
  CsvOptions semicolon;
  semicolon.delimiter = ';';
  const auto expect = [&](const std::string& cell, const std::string& advice) {
    const std::string message = "t.csv, line 2, column 2: '" + cell + "' is not a number" + advice;
    EXPECT_EQ(refusal("a;b\n1;" + cell + "\n3;" + cell + "\n", semicolon), message + way);
    EXPECT_EQ(refusal("a;b\n1;" + cell + "\n3;4\n", semicolon), message + way);
    EXPECT_EQ(refusal("a;b\n" + cell + ";1\n3;4\n", semicolon),
              "t.csv, line 2, column 1: '" + cell + "' is not a number" +
                  (advice.empty() ? kColumnsAdvice
                   : advice.starts_with("; convert")
                       ? advice + "; drop_columns = {\"a\"} leaves the column out"
                       : advice));
  };
  const std::string comma = "; the decimal_comma option reads it as ";
  const std::string thousands = "\" reads it as 1000";
  const std::string units = "; leave out units, percent signs and currency symbols";
  const std::string dates = "; convert dates, times and ranges to numbers";
  const std::string ascii = "; use ASCII digits and signs";
  expect("2,5", comma + "2.5");
  expect("-2,5", comma + "-2.5");
  expect("1.000,5", comma + "1000.5");
  expect("1,5e3", comma + "1.5e3");
  expect("1,2,3", "; write decimals with a point and thousands without separators: 1000.5");
  expect("1,000", "; thousands = \"," + thousands + ", the decimal_comma option as 1.000");
  expect("-1,234,567.25", "; thousands = \",\" reads it as -1234567.25");
  expect("1.234.567", "; thousands = \".\" reads it as 1234567");
  expect("1'234,5", "; thousands = \"'\" and the decimal_comma option read it as 1234.5");
  expect("1 000", "; thousands = \" " + thousands +
                      "; if blanks separate the cells, set the delimiter option");
  expect("1_000", "; thousands = \"_" + thousands);
  for (const char* cell : {"1'000", "1\u2019000"}) expect(cell, "; thousands = \"'" + thousands);
  for (const char* cell : {"$5", "5 $"}) expect(cell, units + ": sed 's/[$]//g'");
  expect("12%", units + ": sed 's/%//g'");
  expect("\u20ac3.50", units + ": sed 's/\u20ac//g'");
  for (const char* cell : {"2024-01-31", "31/12/2024", "12:30", "3-4"}) expect(cell, dates);
  for (const std::string cell : {"2024-01-31T12:00:00Z", "12:30 PM", "31-Jan-2024", "Jan 1 2024",
                                 "January 1st, 2024", "1 Jan 24", "Mar 2024", "Sept-24",
                                 "Mon Jan  1 12:00:00 2024", "Monday, 1 May 2024 12:30"}) {
    EXPECT_EQ(refusal("a;b\n1;" + cell + "\n", semicolon),
              "t.csv, line 2, column 2: '" + cell + "' is not a number" + dates + way);
  }
  for (const char* cell : {"0x1F", "0x1.8p3", "-0xff"}) expect(cell, "; numbers are decimal");
  for (const char* cell : {"\uff11\uff12", "\u0663"}) expect(cell, ascii);
  expect("\u22125", "; the minus must be the hyphen of ASCII: sed 's/\u2212/-/g'");
  CsvOptions notation = semicolon;
  const std::string minus =
      "' is not a number; the minus must be the hyphen of ASCII: sed 's/\u2212/-/g'" + way;
  const auto expect_minus = [&](const std::string& cell) {
    EXPECT_EQ(refusal("a;b\n1;" + cell + "\n", notation),
              "t.csv, line 2, column 2: '" + cell + minus);
  };
  expect_minus("\u22122.556");
  expect_minus("\u22121e3");
  notation.decimal_comma = true;
  for (const char* cell : {"\u22125,00", "\u22121.234,5"}) expect_minus(cell);
  notation.decimal_comma = false;
  notation.thousands = ' ';
  for (const char* cell : {"\u2212127 783", "\u2212127\u00a0783.5"}) expect_minus(cell);
  notation.delimiter = ',';
  notation.thousands = ',';
  EXPECT_EQ(refusal("a,b\n1,\"\u22121,234\"\n", notation),
            "t.csv, line 2, column 2: '\u22121,234" + minus);
  for (const char* cell : {"0.64*", "0.64**"}) {
    expect(cell, "; footnote marks belong elsewhere: sed 's/[*]//g' removes them");
  }
  expect("=\"2.53\"", R"--(; write the number itself: sed 's/="\([^"]*\)"/\1/g')--");
  expect("'2.53'", R"(; remove the apostrophes: sed "s/'//g")");
  expect("(5)", "; if it is negative, write -5");
  for (const char* cell : {"1.2.3", "1.5.", "\u221e"}) expect(cell, "");
  EXPECT_EQ(refusal("a,b\n1,\"Jan 1, 2024\"\n3,\"Feb 1, 2024\"\n"),
            "t.csv, line 2, column 2: 'Jan 1, 2024' is not a number" + dates + way);
  EXPECT_EQ(read("Jan 2024,Feb 2024\n1,2\n3,4\n").feature_names, (Texts{"Jan 2024", "Feb 2024"}));
  // Quotes that are required because of a comma do not make a cell a class.
  EXPECT_EQ(
      refusal("a,b\n1,\"1,000\"\n3,\"2,500\"\n"),
      "t.csv, line 2, column 2: '1,000' is not a number; thousands = \",\" reads it as 1000, the "
      "decimal_comma option with delimiter = \",\" as 1.000" +
          way);
}

TEST_F(CsvValues, RefusesALastColumnOfQuantitiesAlone) {
  EXPECT_EQ(
      refusal("a,b\n1,12kg\n3,14kg\n"),
      "t.csv, line 2, column 2: '12kg' is not a number; units belong in the header; "
      "drop_columns = {\"b\"} leaves the column out, label_column = \"b\" takes it as classes");
  EXPECT_EQ(read("a,b\n1,3M\n3,apple\n").classes, (Texts{"3M", "apple"}));
}

TEST_F(CsvValues, TakesALastColumnOfTextAsClasses) {
  EXPECT_EQ(read("a,b\n1,NA\n2,cat\n3,\n").classes, (Texts{"", "cat", ""}));
  EXPECT_EQ(read("a,b\n1,cat\n2,?\n").classes, (Texts{"cat", ""}));
  EXPECT_EQ(read("a,b\n1,\n2,cat\n").classes, (Texts{"", "cat"}));
  EXPECT_EQ(read("a,b\n1,A1\n2,B-52\n").classes, (Texts{"A1", "B-52"}));
  EXPECT_EQ(read("a,b\n1,\u732b\n2,\xe9t\xe9\n").classes, (Texts{"\u732b", "\xe9t\xe9"}));
  EXPECT_EQ(read("a,b\n1,True\n2,inferno\n").classes, (Texts{"True", "inferno"}));
  const Texts months = {"May", "Jan 1 x", "June 2024 report", "Sun-1"};
  EXPECT_EQ(read("a,b\n1,May\n2,Jan 1 x\n3,June 2024 report\n4,Sun-1\n").classes, months);
  EXPECT_EQ(read("a,b\n1,\"2024-01-31\"\n2,\"7\"\n").classes, (Texts{"2024-01-31", "7"}))
      << "quotes that are not needed make a text";
  CsvOptions options;
  options.label_column = "b";
  EXPECT_EQ(read("a,b\n1,NA\n2,4\n3,\"2,5\"\n", options).classes, (Texts{"", "4", "2,5"}));
}

// Unless its quotes say that it is a text.
TEST_F(CsvValues, AMissingValueIsNoClass) {
  for (const char* mark : {"", "NA", "?", "null", "None", "-", "nan", "NaN", "-nan"}) {
    const std::string cell = mark;
    const std::string last = "a,b\n1,cat\n2," + cell + "\n3,dog\n";
    EXPECT_EQ(read(last).classes, (Texts{"cat", "", "dog"})) << mark;
    EXPECT_EQ(read("a,b\n1," + cell + "\n2,cat\n").classes, (Texts{"", "cat"})) << mark;
    EXPECT_EQ(read("1,2,cat\n3,4," + cell + "\n").classes, (Texts{"cat", ""})) << mark;
    CsvOptions options;
    options.drop_missing = true;
    EXPECT_EQ(read(last, options).classes, (Texts{"cat", "", "dog"})) << mark;
    EXPECT_EQ(read("a,b\n1," + cell + "\n,cow\n2,cat\n", options).classes, (Texts{"", "cat"}));
    options = {};
    options.label_column = "b";
    EXPECT_EQ(read("b,a\n" + cell + ",1\n7,2\n", options).classes, (Texts{"", "7"})) << mark;
    EXPECT_EQ(read("a,b\n1,cat\n2,\"" + cell + "\"\n").classes, (Texts{"cat", cell})) << mark;
  }
  EXPECT_EQ(read("1,2,nan\n3,4,cat\n").classes, (Texts{"", "cat"}));
  EXPECT_EQ(read("a,b\n1,nan\n2,nan\n3,cat\n").classes, (Texts{"", "", "cat"}));
}

// The decision depends on all rows, not on their division into blocks.
TEST_F(CsvValues, DecidesOnTheLastColumnOverAllBlocks) {
  std::string text = "a,b\n";
  while (text.size() < (std::size_t{5} << 20)) text += "1,word\n";
  const auto lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_EQ(read(text).samples(), lines - 1);
  EXPECT_EQ(refusal(text + "1,5\n"),
            "t.csv, line 2, column 2: 'word' is not a number, as '5' in line " +
                std::to_string(lines + 1) +
                " is; drop_columns = {\"b\"} leaves the column out, label_column = \"b\" takes it "
                "as classes");
}

TEST_F(CsvValues, RefusesAFirstRowOfMissingValuesAsHeader) {
  EXPECT_EQ(refusal("NA,?\n1,2\n"),
            "t.csv, line 1, column 1: 'NA' is not a number; a missing value must be filled in, or "
            "its row left out (the drop_missing option); the header option tells whether the row "
            "names the "
            "columns");
  EXPECT_EQ(read("NA,x\n1,2\n").feature_names, (Texts{"NA", "x"}));
  CsvOptions options;
  options.delimiter = ';';
  EXPECT_EQ(refusal("1,5;2,5\n3;4\n", options).substr(0, 43),
            "t.csv, line 1, column 1: '1,5' is not a num");
  options.header = true;
  EXPECT_EQ(read("1,5;2,5\n3;4\n", options).feature_names, (Texts{"1,5", "2,5"}));
}

// Row numbers written by R and pandas must not be clustered.
TEST_F(CsvValues, RefusesAColumnOfRowNumbers) {
  const std::string message =
      "t.csv, line 1, column 1: the column has no name, so it may hold row numbers; list the "
      "features with the columns option, or leave it out with drop_columns = {\"0\"}";
  EXPECT_EQ(refusal(",x,y\n0,1.5,2\n1,3,4\n"), message);
  EXPECT_EQ(refusal("\"\",\"x\",\"y\"\n\"1\",1.5,2\n\"2\",3,4\n"), message);
  // Also if all names need their quotes: as by R, as by pandas, and with a name that needs none.
  EXPECT_EQ(refusal("\"\",\"a b\"\n\"1\",1.5\n\"2\",3\n"), message);
  EXPECT_EQ(refusal("\"\",\"a b\"\n0,1.5\n1,3\n"), message);
  EXPECT_EQ(refusal("\"\",\"a b\",\"y\"\n0.5,1.5,2\n1.5,3,4\n"), message);
  CsvOptions options;
  options.columns = {"1", "2"};
  EXPECT_EQ(read(",x,y\n0,1.5,2\n1,3,4\n", options).feature_names, (Texts{"x", "y"}));
}

// The header of pandas for columns that are numbers.
TEST_F(CsvValues, TakesNumbersAboveAnIndexAsHeader) {
  const auto refused = [](const std::string& column) {
    return "t.csv, line 1, column 1: the column has no name, so it may hold row numbers; list the "
           "features with the columns option, or leave it out with drop_columns = {\"" +
           column + "\"}";
  };
  CsvOptions nameless;
  nameless.drop_columns = {""};
  for (const std::string text :
       {",0,1\n0,1.5,2\n1,3,4\n", ",0,1\n17,15,2\n3,3,4\n", ",0,1\na,1.5,2\nb,3,4\n",
        "\"\",0,1\n0,1.5,2\n1,3,4\n", "\"\",\"0\",\"1\"\n\"0\",1.5,2\n\"1\",3,4\n",
        ",0,1\r\n2024-01-01,1.5,2\r\n2024-01-02,3,4\r\n"}) {
    EXPECT_EQ(refusal(text), refused("")) << text;
    CsvOptions options;
    options.drop_missing = true;
    EXPECT_EQ(refusal(text, options), refused("")) << text;
    options = {};
    options.drop_columns = {"0"};
    EXPECT_EQ(refusal(text, options), refused("")) << text;
    const Dataset dataset = read(text, nameless);
    EXPECT_EQ(dataset.feature_names, (Texts{"0", "1"})) << text;
    EXPECT_EQ(dataset.samples(), 2) << text;
    options = {};
    options.columns = {"1", "0"};
    EXPECT_EQ(read(text, options).feature_names, (Texts{"1", "0"})) << text;
    options = {};
    options.expected_names = {"0", "1"};
    EXPECT_EQ(refusal(text, options), refused("")) << text;
  }
  EXPECT_EQ(refusal(",0\n0,1.5\n1,3\n"), refused("")) << "a series";
  EXPECT_EQ(refusal(",0,1,kind\n0,1.5,2,a\n1,3,4,b\n"), refused(""));
  // Without a column that is called 0.
  CsvOptions first;
  first.drop_columns = {"0"};
  for (const std::string text : {",2019,2020\n0,1.5,2\n1,3,4\n", ",400.5,410.2\na,1.5,2\nb,3,4\n",
                                 ",400.5,410.2\n1,1.5,2\n2,3,4\n3,5,6\n"}) {
    EXPECT_EQ(refusal(text), refused("0")) << text;
    EXPECT_EQ(read(text, first).features(), 2) << text;
    EXPECT_EQ(read(text, first).feature_names.size(), 2U) << text;
  }
  EXPECT_EQ(refusal("x,y\n1,2\n", nameless),
            "t.csv: a column without a name is chosen, but every column has a name");
  nameless.header = false;
  EXPECT_EQ(refusal("1,2\n3,4\n", nameless),
            "t.csv: a column without a name is chosen, but the file has no column names");
}

// A first sample without its first value.
TEST_F(CsvValues, TakesNumbersBesideAMissingValueAsSample) {
  CsvOptions options;
  options.drop_missing = true;
  for (const std::string text :
       {",0,1\n0.5,1.5,2\n1.5,3,4\n", ",0,1\n5,1,2\n5,3,4\n", ",0,1\n5,1,2\n,3,4\n3,1,1\n",
        ",3.1,1.4\n17,1.5,2\n3,3,4\n", ",1,1\n1,1.5,2\n2,3,4\n", ",0,1,a\n7,1.5,2,a\n8,3,4,b\n"}) {
    EXPECT_EQ(refusal(text),
              "t.csv, line 1, column 1: the cell is empty; a number is needed; the drop_missing "
              "option leaves such rows out")
        << text;
    EXPECT_EQ(read(text, options).samples(), 2) << text;
  }
  options.header = false;
  EXPECT_EQ(read(",0,1\n0,1.5,2\n1,3,4\n", options).samples(), 2);
}

TEST_F(CsvValues, RefusesColumnNumbersAsFirstSample) {
  const std::string text = "0,1\n0.5,-2.0\n1e-3,3.5\n";
  EXPECT_EQ(refusal(text),
            "t.csv, line 1, column 1: the row is 0, 1, 2, ... above values with decimals, so it "
            "may name the columns; the header option tells whether it does");
  CsvOptions options;
  options.header = false;
  EXPECT_EQ(read(text, options).samples(), 3);
  options.header = true;
  EXPECT_EQ(read(text, options).samples(), 2);
  EXPECT_EQ(read("0,1\n2,3.5\n").samples(), 2);
}

TEST_F(CsvValues, RefusesTitlesAndUnits) {
  const std::string advice =
      " hold text; keep the one that names the columns, and remove the others, such as titles and "
      "units: sed ";
  const std::string three = "t.csv, line 1, column 1: lines 1 to 3" + advice;
  const std::string two = "t.csv, line 1, column 1: lines 1 to 2" + advice;
  EXPECT_EQ(refusal("Sales\n\na,b\n1,2\n"), three + "1,2d removes all but the last");
  EXPECT_EQ(refusal("Sales,,\nof the year,,\na,b,c\n1,2,3\n"),
            three + "1,2d removes all but the last");
  EXPECT_EQ(refusal("Sales,,\n,,\na,b,c\n1,2,3\n"), three + "1,2d removes all but the last");
  EXPECT_EQ(refusal("Sales,\na,b\n1,2\n"), two + "1d removes all but the last");
  EXPECT_EQ(refusal("Sales,2024\na,b\n1,2\n"), two + "1d removes all but the last");
  EXPECT_EQ(refusal("a,b\nm,kg\n1,2\n"), two + "2d removes all but the first");
  EXPECT_EQ(refusal("name,x,y\n,m/s,%\nann,1,2\n"), two + "2d removes all but the first");
  EXPECT_EQ(refusal("x,y,z\ncm,--,-\n1,2,3\n"), two + "2d removes all but the first");
  CsvOptions options;
  options.columns = {"a"};
  EXPECT_EQ(refusal("Sales\na,b\n1,2\n", options), two + "1d removes all but the last");
  EXPECT_EQ(read("a,b,kind\n1,2,cat\n3,4,dog\n").classes, (Texts{"cat", "dog"}));
}

TEST_F(CsvValues, RefusesALastColumnWithoutValues) {
  const std::string message =
      "column 3: all cells of the last column are empty: a delimiter at the end of every line "
      "begins another column, as in pandas and R; drop_columns = {\"2\"} leaves it out";
  EXPECT_EQ(refusal("a,b,\n1,2,\n3,4,\n"), "t.csv, line 2, " + message);
  EXPECT_EQ(refusal("1,2,\n3,4,\n"), "t.csv, line 1, " + message);
  CsvOptions options;
  options.drop_columns = {"2"};
  EXPECT_EQ(read("a,b,\n1,2,\n3,4,\n", options).features(), 2);
  options.drop_columns = {"a"};
  EXPECT_NE(refusal("a,b,\n1,2,\n3,4,\n", options).find("; drop_columns = {\"a\", \"2\"} leaves"),
            std::string::npos);
  options.drop_columns = {};
  options.label_column = "a";
  EXPECT_EQ(refusal("a,b,\n1,2,\n3,4,\n", options),
            "t.csv, line 2, column 3: the cell is empty; a number is needed; the column has no "
            "name, as when every line ends with a delimiter; drop_columns = {\"2\"} leaves it out");
  options.label_column = {};
  options.drop_missing = true;
  EXPECT_EQ(refusal("a,b,\n1,2,\n3,4,\n", options),
            "t.csv: every row has a missing value, so none is left; column 3 has no value at all, "
            "and drop_columns = {\"2\"} leaves it out");
}

TEST_F(CsvValues, NamesTheColumnsOfText) {
  CsvOptions options;
  const auto advice = [&](const std::string& text) {
    const std::string message = refusal(text, options);
    return message.substr(std::min(message.find("; "), message.size()));
  };
  EXPECT_EQ(
      advice("x,colour,y\n1,red,2\n"),
      "; drop_columns = {\"colour\"} leaves the column out, label_column = \"colour\" takes it "
      "as classes");
  EXPECT_EQ(advice("x,colour,y,colour\n1,red,2,blue\n"),
            "; drop_columns = {\"1\"} leaves the column out")
      << "a name that is not unique, and classes in the last column";
  EXPECT_EQ(advice("x,the colour,y\n1,red,2\n"),
            "; drop_columns = {\"the colour\"} leaves the column out, label_column = \"the "
            "colour\" takes "
            "it as classes");
  EXPECT_EQ(
      advice("name,x,colour,y\nAnn,1,red,2\n"),
      "; drop_columns = {\"name\", \"colour\"} leaves the columns of text out, the label_column "
      "option takes one as classes");
  options.label_column = "x";
  EXPECT_EQ(advice("x,colour,y,shape\n1,red,2,round\n"),
            "; drop_columns = {\"colour\", \"shape\"} leaves the columns of text out");
  options.label_column = {};
  options.drop_columns = {"id"};
  EXPECT_EQ(
      advice("id,x,colour,y\n7,1,red,2\n"),
      "; drop_columns = {\"id\", \"colour\"} leaves the column out, label_column = \"colour\" "
      "takes it as classes");
  options.drop_columns = {};
  options.columns = {"x", "colour", "shape"};
  EXPECT_EQ(advice("x,colour,shape\n1,red,round\n"),
            "; leave colour and shape out of the columns option");
  options.columns = {};
  options.header = true;
  EXPECT_EQ(advice("a,b\nx,y\n"), kColumnsAdvice) << "no number is left";
}

TEST_F(CsvValues, NamesColumnsOfDatesAndTextTogether) {
  const std::string advice =
      "; drop_columns = {\"name\", \"since\", \"city\"} leaves the columns of text out";
  EXPECT_EQ(refusal("name,x,since,city,y\nann,1,2023-02-09,Rome,2\nbob,2,,Oslo,3\n"),
            "t.csv, line 2, column 1: 'ann' is not a number" + advice +
                ", the label_column option takes one as classes");
  CsvOptions options;
  options.drop_columns = {"name"};
  EXPECT_EQ(refusal("name,x,since,city,y\nann,1,2023-02-09,,2\nbob,2,,Oslo,3\n", options),
            "t.csv, line 2, column 3: '2023-02-09' is not a number; convert dates, times and "
            "ranges to numbers" +
                advice + ", the label_column option takes one as classes")
      << "a column whose first cell is empty";
}

TEST_F(CsvValues, AdvisesOnRareTextsAmongNumbers) {
  const std::string table =
      "age,x\n1,1\n2,2\n3,3\n4,4\n5,5\nunknown,6\n7,7\n8,8\n9,9\nn.k.,1\n1,1\n";
  const std::string message =
      "t.csv, line 7, column 1: 'unknown' is not a number; missing = "
      "{\"unknown\", \"n.k.\"} ";
  const std::string drop = ", drop_columns = {\"age\"} leaves the column out";
  CsvOptions options;
  EXPECT_EQ(refusal(table, options),
            message + "with the drop_missing option leaves rows with such texts out" + drop);
  options.drop_missing = true;
  EXPECT_EQ(refusal(table, options),
            message + "counts such texts as missing and leaves their rows out" + drop);
  options.missing = {"unknown", "n.k."};
  const Dataset data = read(table, options);
  EXPECT_EQ(data.samples(), 9);
  EXPECT_EQ(data.dropped_row_numbers, (std::vector<std::int64_t>{5, 9}));
  options.drop_missing = false;
  EXPECT_EQ(refusal(table, options),
            "t.csv, line 7, column 1: 'unknown' counts as a missing value; the drop_missing option "
            "leaves such rows out");
  EXPECT_EQ(refusal("age,x\n1,1\n2,2\n3,3\n4,4\n5,5\n<0.5,6\n7,7\n8,8\n<0.1,1\n1,1\n"),
            "t.csv, line 7, column 1: '<0.5' is not a number; missing = {\"<0.5\", \"<0.1\"} with "
            "the drop_missing option leaves rows with such texts out" +
                drop);
}

TEST_F(CsvValues, CountsGivenTextsAsMissing) {
  CsvOptions options;
  options.drop_missing = true;
  options.missing = {"-999", "no data"};
  EXPECT_EQ(read("a,b\n1,2\n-999.0,3\n4,NA\n5,\"no data\"\n6,-99\n", options).samples(), 2);
  options.missing = {"999"};
  EXPECT_EQ(read("a,b\n1,2\n+999,3\n", options).samples(), 1);
  options.missing = {"-999", "no data"};
  EXPECT_EQ(read("a,b\nno data,no data\n1,2\n3,4\n", options).features(), 2)
      << "the last column holds no classes";
  options.label_column = "b";
  EXPECT_EQ(read("a,b\n1,-999\n2,4\n", options).classes, (Texts{"-999", "4"}))
      << "classes are no feature values";
}

TEST_F(CsvValues, AdvisesTheColumnsThatAreExpected) {
  CsvOptions options;
  options.expected_names = {"x", "y"};
  EXPECT_EQ(refusal("name,x,y\nann,1,2\n", options),
            "t.csv, line 2, column 1: 'ann' is not a number; columns = {\"x\", \"y\"} chooses the "
            "model's features");
  EXPECT_EQ(refusal("name,x,z\nann,1,2\n", options),
            "t.csv, line 2, column 1: 'ann' is not a number; drop_columns = {\"name\"} leaves the "
            "column out, label_column = \"name\" takes it as classes");
}

TEST_F(CsvValues, ReadsLineBreaksInColumnsThatAreLeftOut) {
  CsvOptions options;
  options.drop_columns = {"note"};
  const Dataset data = read(
      "x,note,y\n1,\"two\nlines, \"\"quoted\"\"\",2\n3,\"\r\n\r\n\",4\r\n5,plain,6\n", options);
  EXPECT_EQ(data.samples(), 3);
  EXPECT_EQ(refusal("x,note,y\n1,\"a\nb\",2\n3,c,four\n", options),
            "t.csv, line 4, column 3: 'four' is not a number; drop_columns = {\"note\", \"y\"} "
            "leaves the column out, label_column = \"y\" takes it as classes");
  const std::string refused =
      ": the quoted cell has a line break, which is allowed only in columns that are left out (the "
      "columns option or the drop_columns option)";
  EXPECT_EQ(refusal("x,note,y\n1,\"a\nb\",2\n"), "t.csv, line 2, column 2" + refused);
  EXPECT_EQ(refusal("\"the\nname\",y\n1,2\n"), "t.csv, line 1, column 1" + refused);
  EXPECT_EQ(refusal("x,y\n1,cat\n2,\"a\nb\"\n"), "t.csv, line 3, column 2" + refused) << "a class";
  EXPECT_EQ(refusal("x,note,y\n1,\"a\n2,b,3\n4,\"c\",5\n", options),
            "t.csv, line 4, column 2: text follows the closing quote of the cell that begins in "
            "line 2");
}

TEST_F(CsvValues, ReadsLineBreaksAcrossBlocks) {
  CsvOptions options;
  options.drop_columns = {"note"};
  std::string text = "x,note,y\n";
  for (int row = 0; row < 9; ++row) {
    std::string lines;
    for (int line = 0; line < 40'000; ++line) lines += "line 0123456789 \n";
    text += std::to_string(row) + ",\"" + lines + "\",1\n";
  }
  const Dataset data = read(text, options);  // three blocks
  ASSERT_EQ(data.samples(), 9);
  EXPECT_EQ(data.statistics()[0].maximum, 8);
  EXPECT_EQ(refusal(text + "1,\"open\n" + std::string(5'000'000, 'x') + "\n", options),
            "t.csv, line 360011, column 2: the quoted cell has no closing quote");
  std::string open = "x,note\n0,closed\n1,\"open\n";
  for (int line = 0; line < 1'500'000; ++line) open += "line 0123456789\n";  // 24 MB
  EXPECT_EQ(refusal(open, options),
            "t.csv, line 3, column 2: the quoted cell has no closing quote; a row with line breaks "
            "in quotes may have at most 16 MiB");
}

TEST_F(CsvValues, AdvisesOnBlanksBetweenCells) {
  EXPECT_EQ(refusal("x  y\n1  2\n3   4\n"),
            "t.csv, line 2, column 1: '1  2' is not a number; if blanks separate the cells, write "
            "one comma in place of each group of blanks: sed -E 's/^ +//; s/ +/,/g'");
  CsvOptions options;
  options.delimiter = ' ';
  EXPECT_EQ(refusal("1 2\n3  4\n", options),
            "t.csv, line 2, column 2: the cell is empty, since each blank separates two cells; "
            "leave one blank between cells and none at the ends of lines");
}

TEST_F(CsvValues, SuggestsADelimiter) {
  EXPECT_EQ(refusal("x;y\n1;2\n3;4\n"),
            "t.csv, line 2, column 1: '1;2' is not a number; if ';' separates the cells, set the "
            "delimiter option, or the decimal_comma option for cells such as 2,5");
  EXPECT_EQ(refusal("x|y\n1|2\n3|4\n"),
            "t.csv, line 2, column 1: '1|2' is not a number; if '|' separates the cells, set the "
            "delimiter option");
  EXPECT_EQ(refusal("x|y|kind\n5.1 | 2 | setosa\n3|4|setosa\n"),
            "t.csv, line 2, column 1: '5.1 | 2 | setosa' is not a number; if '|' separates the "
            "cells, set the delimiter option");
  EXPECT_EQ(refusal("x;y;kind\n5.1;2;setosa\n3;4;setosa\n"),
            "t.csv, line 2, column 1: '5.1;2;setosa' is not a number; if ';' separates the cells, "
            "set the delimiter option");
  CsvOptions options;
  options.delimiter = '|';
  const Dataset dataset = read("x|y|kind\n1|2|a\n3|4|b\n", options);
  EXPECT_EQ(dataset.feature_names, (Texts{"x", "y"}));
  EXPECT_EQ(dataset.classes, (Texts{"a", "b"}));
  EXPECT_EQ(refusal("x\ty\n1\t2\n"),
            "t.csv, line 2, column 1: '1?2' is not a number; if tabs separate the cells, set the "
            "delimiter option");
}

TEST_F(CsvValues, StaysWithinItsMemoryLimit) {
  CsvOptions options;
  options.memory_limit = 8 << 20;
  std::string rows;
  while (rows.size() < (std::size_t{9} << 20)) rows += "1,2,3,4,5,6,7,8\n";
  EXPECT_EQ(refusal(rows, options).substr(0, 12), "t.csv, line ");
  EXPECT_NE(refusal(rows, options).find("the table up to here takes more than the 8 MiB of memory"),
            std::string::npos);
  EXPECT_EQ(
      refusal(std::string(1000, 'x') + "\n1\n" + std::string(std::size_t{7} << 20, '1'), options),
      "t.csv, line 3: the line does not end within 2 MiB");
  std::string wide = "1";
  for (int i = 0; i < 20000; ++i) wide += ",1";
  EXPECT_EQ(
      refusal(wide + "\n", options),
      "t.csv, line 1: a row has more than 16384 columns, the maximum that the memory limit allows");
  options.memory_limit = 64 << 20;
  EXPECT_EQ(read(rows, options).features(), 8);
  std::string classes = "x,c\n";
  for (int i = 0; i < 1000000; ++i) classes += "1,cat\n";
  EXPECT_NE(refusal(classes, options).find("takes more than the 64 MiB"), std::string::npos)
      << "classes count too";
}

TEST_F(CsvValues, RefusesAFileThatGrowsOrIsCutMeanwhile) {
  std::string text;
  while (text.size() < (std::size_t{5} << 20)) text += "1,2\n";
  for (const char* name : {"t.csv", "t.csv.gz"}) {
    const bool packed = std::string_view(name).ends_with(".gz");
    for (const std::ptrdiff_t change : {-4, 4}) {
      const auto file = folder_.write(name, packed ? gzip_bytes(text, 0) : text);
      CsvRows rows(file, {});
      const auto size = static_cast<std::ptrdiff_t>(std::filesystem::file_size(file));
      std::filesystem::resize_file(file, static_cast<std::uintmax_t>(size + change));
      PageBuffer<float> read;
      Texts classes;
      const std::string message = message_of<InputError>(
          [&] { rows.read(std::numeric_limits<std::int64_t>::max(), read, classes); });
      EXPECT_EQ(
          message,
          file.string() +
              (change < 0
                   ? fmt::format(": the file was truncated from {} to {} bytes while it was in use",
                                 size, size + change)
                   : ": the file was changed while it was in use"));
    }
  }
}

}  // namespace
}  // namespace lloyd
