#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/csv.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/shell_word.hpp>

#include "unit/support/csv_folder.hpp"

namespace lloyd {
namespace {

class Csv : public CsvFolder {};

std::vector<double> values(const Dataset& data) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < data.samples(); ++i) {
    for (std::int64_t j = 0; j < data.features(); ++j) result.push_back(data.matrix().at(i, j));
  }
  return result;
}

using Values = std::vector<double>;
using Texts = std::vector<std::string>;

CsvOptions dropping_missing() {
  CsvOptions options;
  options.drop_missing = true;
  return options;
}

TEST_F(Csv, ReadsATableWithoutHeader) {
  const Dataset data = read("1,2,3\n4,5,6\n");
  EXPECT_EQ(data.samples(), 2);
  EXPECT_EQ(data.features(), 3);
  EXPECT_EQ(values(data), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(data.dtype(), DType::float32);
  EXPECT_EQ(data.name(), "t.csv");
  EXPECT_TRUE(data.feature_names.empty());
  EXPECT_TRUE(data.classes.empty());
}

TEST_F(Csv, StopsBetweenBlocksOnRequest) {
  std::string text;
  while (text.size() < (std::size_t{5} << 20)) text += "1.25,2.5\n";
  int asked = 0;
  CsvOptions options;
  options.stop = [&] { return ++asked == 3; };
  EXPECT_THROW(read(text, options), Cancelled);
  EXPECT_EQ(asked, 3);
  asked = -100;
  EXPECT_EQ(read("1,2\n", options).features(), 2);
  EXPECT_GT(asked, -100);
}

TEST_F(Csv, ReadsBackAFirstNameThatIsEmpty) {
  const std::vector<double> rows = {1, 2, 3, 4};
  const Texts names = {"", "b"};
  const auto file = folder_.path() / "written.csv";
  write_csv(file, rows, 2, names);
  EXPECT_EQ(read_csv(file).feature_names, names);
}

TEST_F(Csv, ReadsHeaderAndClasses) {
  const Dataset data = read("width,height,kind\n1,2,cat\n3,4,dog\n");
  EXPECT_EQ(values(data), (Values{1, 2, 3, 4}));
  EXPECT_EQ(data.feature_names, (Texts{"width", "height"}));
  EXPECT_EQ(data.classes, (Texts{"cat", "dog"}));
}

TEST_F(Csv, KeepsTheFirstSampleOfAHeaderlessTableWithClasses) {
  const Dataset data = read("1,2,cat\n3,4,dog\n");
  EXPECT_EQ(values(data), (Values{1, 2, 3, 4}));
  EXPECT_EQ(data.classes, (Texts{"cat", "dog"}));
  EXPECT_EQ(read("1,cat").classes, (Texts{"cat"}));
}

TEST_F(Csv, RefusesAFirstLineThatMayBeHeaderOrSample) {
  const auto message = [](int column, const std::string& cell) {
    return "t.csv, line 1, column " + std::to_string(column) + ": '" + cell +
           "' is not a number, but other cells of the first row are; the header option tells "
           "whether that row names the columns";
  };
  EXPECT_EQ(refusal("0x10,2\n3,4\n"), message(1, "0x10"));
  EXPECT_EQ(refusal("1 2,3\n4,5\n"), message(1, "1 2"));
  EXPECT_EQ(refusal("1,2,cat,3\n4,5,6,7\n"), message(3, "cat"));
  EXPECT_EQ(refusal("1,NA\n2,3\n"), message(2, "NA")) << "no class: the next last cell is none";
  EXPECT_EQ(refusal("0,1,class\n3,4,0\n"), message(3, "class"));
  EXPECT_EQ(refusal("1,x,cat\n2,3,dog\n"), message(2, "x"));
  CsvOptions options;
  options.columns = {"0", "1"};
  EXPECT_EQ(refusal("1,x,cat\n2,3,dog\n", options), message(2, "x"));
  options = {};
  options.label_column = "0";
  EXPECT_EQ(refusal("cat,1,x\ndog,2,3\n", options), message(3, "x"));

  options = {};
  options.header = true;
  EXPECT_EQ(read("0,1,class\n3,4,0\n", options).feature_names, (Texts{"0", "1", "class"}));
  options.header = false;
  EXPECT_EQ(refusal("0x10,2\n", options),
            "t.csv, line 1, column 1: '0x10' is not a number; numbers are decimal");
}

TEST_F(Csv, TakesQuotedNumbersAboveUnquotedOnesAsNames) {
  const Dataset data = read("\"0\",x\n3,4\n");
  EXPECT_EQ(values(data), (Values{3, 4}));
  EXPECT_EQ(data.feature_names, (Texts{"0", "x"}));
  EXPECT_EQ(values(read("\"0\",\"1\"\n\"3\",\"4\"\n")), (Values{0, 1, 3, 4}));
  EXPECT_EQ(values(read("\"0\",1\n3,4\n")), (Values{0, 1, 3, 4}));
}

TEST_F(Csv, TakesTheOnlyQuotedColumnAsClassesIfItIsLast) {
  const Dataset data = read("x,y,c\n1,2,\"7\"\n3,4,\"8\"\n");
  EXPECT_EQ(values(data), (Values{1, 2, 3, 4}));
  EXPECT_EQ(data.classes, (Texts{"7", "8"}));
  EXPECT_EQ(read("1,2,\"7\"\n3,4,cat\n").classes, (Texts{"7", "cat"}));
  EXPECT_EQ(read("1,2,cat\n3,4,\"7\"\n").classes, (Texts{"cat", "7"}));
  EXPECT_EQ(read("x,y\n\"1\",\"2\"\n").features(), 2);
}

TEST_F(Csv, TakesALastColumnOfQuotedValuesAsAFeature) {
  EXPECT_EQ(values(read("x,y\n1,\"1.50\"\n2,\"2\"\n")), (Values{1, 1.5, 2, 2}));
  EXPECT_EQ(values(read("x,y\n1,\"?\"\n2,\"2.5\"\n", dropping_missing())), (Values{2, 2.5}));
  EXPECT_EQ(values(read("1,\"7\"\n2,8\n")), (Values{1, 7, 2, 8}));
  // Integers are classes if there are few, or if many rows have the same one.
  const auto table = [](int rows, int distinct) {
    std::string text = "x,y\n";
    for (int i = 0; i < rows; ++i) text += "1,\"" + std::to_string(i % distinct) + "\"\n";
    return text;
  };
  EXPECT_EQ(read(table(21, 21)).features(), 2);
  EXPECT_EQ(read(table(20, 20)).features(), 1);
  EXPECT_EQ(read(table(60, 30)).features(), 1);
  EXPECT_EQ(read("x,y\n1,\"01067\"\n2,\"01.5\"\n").features(), 1) << "leading zeros make texts";
  EXPECT_EQ(read("x,y\n1,\"1.5\"\n2,cat\n").classes, (Texts{"1.5", "cat"}));
  EXPECT_EQ(read("x,y\n1,cat\n2,\"1.5\"\n").classes, (Texts{"cat", "1.5"}));
  CsvOptions options;
  options.label_column = "y";
  EXPECT_EQ(read("x,y\n1,\"1.50\"\n2,\"2\"\n", options).classes, (Texts{"1.50", "2"}));
}

TEST_F(Csv, ReadsNumbersWithBlanksInQuotes) {
  EXPECT_EQ(values(read("x,y\n\" 1.5 \",2\n\"\t3\",4\n")), (Values{1.5, 2, 3, 4}));
  EXPECT_EQ(values(read("\" 1 \",\" 2 \"\n")), (Values{1, 2}));
  EXPECT_EQ(values(read("x,y\n\" - \",2\n\" \",2\n3,4\n", dropping_missing())), (Values{3, 4}));
  EXPECT_EQ(read("x,c\n1,\" 7 \"\n2,\"8\"\n").classes, (Texts{" 7 ", "8"}));
}

TEST_F(Csv, ReadsASingleColumn) {
  EXPECT_EQ(values(read("1\n2\n")), (Values{1, 2}));
  EXPECT_EQ(read("x\n1\n2\n").feature_names, Texts{"x"});
}

TEST_F(Csv, ObeysTheHeaderOption) {
  CsvOptions options;
  options.header = true;
  const Dataset data = read("1,2\n3,4\n", options);
  EXPECT_EQ(values(data), (Values{3, 4}));
  EXPECT_EQ(data.feature_names, (Texts{"1", "2"}));
  options.header = false;
  EXPECT_EQ(refusal("x,y\n3,4\n", options),
            "t.csv, line 1, column 1: 'x' is not a number" + kColumnsAdvice);
}

TEST_F(Csv, PassesOverBlanksEmptyLinesAndLineEnds) {
  EXPECT_EQ(values(read("\n  \n 1 ,\t2\t\r\n\r\n3, 4")), (Values{1, 2, 3, 4}));
  EXPECT_EQ(values(read("\xef\xbb\xbf"
                        "1,2\n")),
            (Values{1, 2}));
}

TEST_F(Csv, ReadsQuotedCells) {
  const Dataset data = read("\"a, \"\"b\"\"\",y,c\n\"1\", \"2\" ,\"New York, NY\"\n3,4,x\"\"y\n");
  EXPECT_EQ(values(data), (Values{1, 2, 3, 4}));
  EXPECT_EQ(data.feature_names, (Texts{"a, \"b\"", "y"}));
  EXPECT_EQ(data.classes, (Texts{"New York, NY", "x\"\"y"}));
}

TEST_F(Csv, ReadsEveryFormOfNumber) {
  EXPECT_EQ(values(read("+1,-2,.5,5.,1e2,1E-2,+.5e+1,-0\n")),
            (Values{1, -2, 0.5, 5, 100, static_cast<double>(0.01f), 5, 0}));
}

TEST_F(Csv, RoundsOnceToTheDtype) {
  // Just above the midpoint of two float32 numbers: a conversion through float64 would round down
  // to 1.
  const std::string text = "1.00000005960464477540,0.1\n";
  EXPECT_EQ(values(read(text)), (Values{static_cast<double>(1.0f + 0x1p-23f), 0.1f}));
  CsvOptions options;
  options.dtype = DType::float64;
  const Dataset wide = read("1e280,0.1\n", options);
  EXPECT_EQ(wide.dtype(), DType::float64);
  EXPECT_EQ(wide.matrix().at(0, 1), 0.1);
}

TEST_F(Csv, RoundsToZeroWhatIsTooSmallForFloat32) {
  EXPECT_EQ(values(read("1e-60,1e-40\n2,3\n")), (Values{0, static_cast<double>(1e-40f), 2, 3}));
}

// Otherwise the column would become all zeros.
TEST_F(Csv, RefusesAColumnThatBecomesZero) {
  const std::string why =
      " is too small for float32, like all other nonzero values of the column; set the dtype "
      "option to float64";
  EXPECT_EQ(values(read("1,2\n3,1e-50\n")), (Values{1, 2, 3, 0})) << "2 stays in the column";
  EXPECT_EQ(refusal("x,y\n1,0\n3,-1e-50\n4,1e-60\n"), "t.csv, line 3, column 2: '-1e-50'" + why);
  EXPECT_EQ(refusal("1e-50,7\n1e-50,8\n"), "t.csv, line 1, column 1: '1e-50'" + why);
  EXPECT_EQ(values(read("0e-50,1e-50\n0,1\n")), (Values{0, 0, 0, 1})) << "0 is 0 in any type";
  CsvOptions options;
  options.dtype = DType::float64;
  EXPECT_EQ(values(read("1e-50,7\n1e-50,8\n", options)), (Values{1e-50, 7, 1e-50, 8}));
  EXPECT_EQ(values(read("1,2\n3,1e-400\n", options)), (Values{1, 2, 3, 0}));
  const std::string zeros(6000, '0');
  for (const std::string& tiny : Texts{"-1e-5000", "0." + zeros + "1", "100e-99999999999999999999",
                                       "1" + zeros + "e-12000"}) {
    EXPECT_EQ(values(read("1,2\n3," + tiny + "\n", options)), (Values{1, 2, 3, 0})) << tiny;
  }
  for (const std::string& huge :
       Texts{"1e5000", "1" + zeros, "0.1e+99999999999999999999", "0." + zeros + "1e12000"}) {
    EXPECT_NE(refusal("1,2\n3," + huge + "\n", options).find("beyond the range of float64"),
              std::string::npos)
        << huge;
  }
  EXPECT_EQ(values(read("1,2\n3,1e-400\n")), (Values{1, 2, 3, 0}));
}

TEST_F(Csv, TakesOtherDelimiters) {
  CsvOptions options;
  options.delimiter = ';';
  EXPECT_EQ(values(read("1;2\n", options)), (Values{1, 2}));
  options.delimiter = '\t';
  EXPECT_EQ(values(read("1\t2\n", options)), (Values{1, 2}));
  EXPECT_EQ(values(read_csv(folder_.write("t.tsv", "1\t 2\n"))), (Values{1, 2}));
  options.delimiter = ' ';
  EXPECT_EQ(values(read("1 2\n", options)), (Values{1, 2}));
  options.delimiter = '.';
  EXPECT_EQ(refusal("1.2\n", options),
            "t.csv: '.' cannot be the delimiter; use a comma, semicolon, tab, blank or another "
            "character");
}

TEST_F(Csv, SelectsColumnsByNameAndNumberInTheOrderGiven) {
  CsvOptions options;
  options.columns = {"z", "0"};
  const Dataset data = read("x,y,z\n1,no number,3\n4,,6\n", options);
  EXPECT_EQ(values(data), (Values{3, 1, 6, 4}));
  EXPECT_EQ(data.feature_names, (Texts{"z", "x"}));
  EXPECT_TRUE(data.classes.empty());
  options.columns = {"1"};
  EXPECT_EQ(values(read("a,1\nb,2\n", options)), (Values{1, 2}));
  options.columns = {"0"};
  EXPECT_EQ(values(read("7,0\n8,9\n", options)), (Values{7, 8}));
  options.header = true;
  EXPECT_EQ(values(read("7,0\n8,9\n", options)), Values{9}) << "a name comes before a number";
}

TEST_F(Csv, TakesTheRequestedLabelColumn) {
  CsvOptions options;
  options.label_column = "kind";
  const Dataset named = read("kind,x\n7,1\n8,2\n", options);
  EXPECT_EQ(values(named), (Values{1, 2}));
  EXPECT_EQ(named.classes, (Texts{"7", "8"}));
  EXPECT_EQ(named.feature_names, Texts{"x"});
  options.label_column = "0";
  const Dataset numbered = read("cat,1\ndog,2\n", options);
  EXPECT_EQ(values(numbered), (Values{1, 2}));
  EXPECT_EQ(numbered.classes, (Texts{"cat", "dog"}));
}

TEST_F(Csv, RefusesACellThatIsNotANumber) {
  EXPECT_EQ(refusal("x,y,z\n1,2,3\n\n4,5,abc\n"),
            "t.csv, line 4, column 3: 'abc' is not a number; drop_columns = {\"z\"} leaves the "
            "column out, label_column = \"z\" takes it as classes");
  EXPECT_EQ(refusal("1,2\n1.5x,2\n"),
            "t.csv, line 2, column 1: '1.5x' is not a number; units belong in the header; "
            "drop_columns = {\"0\"} leaves the column out");
  EXPECT_EQ(refusal("1,2\n3,+-4\n"),
            "t.csv, line 2, column 2: '+-4' is not a number" + kColumnsAdvice);
  EXPECT_EQ(refusal("1,2\n3,0x10\n"),
            "t.csv, line 2, column 2: '0x10' is not a number; numbers are decimal");
  EXPECT_EQ(refusal("1,2\n3,4 5\n"),
            "t.csv, line 2, column 2: '4 5' is not a number; if blanks separate the cells, set the "
            "delimiter option");
  EXPECT_EQ(refusal("1,2\n3,\n"),
            "t.csv, line 2, column 2: the cell is empty; a number is needed; "
            "the drop_missing option leaves such rows out");
  EXPECT_EQ(refusal("1,2,\n"),
            "t.csv, line 1, column 3: all cells of the last column are empty: a delimiter at the "
            "end of every line begins another column, as in pandas and R; drop_columns = {\"2\"} "
            "leaves it out");
  EXPECT_EQ(refusal("1\n\"\"\n"),
            "t.csv, line 2, column 1: the cell is empty; a number is needed; "
            "the drop_missing option leaves such rows out");
  EXPECT_EQ(refusal("1\n\x01" + std::string(50, 'a')), "t.csv, line 2, column 1: '?" +
                                                           std::string(39, 'a') +
                                                           "...' is not a number" + kColumnsAdvice);
  EXPECT_EQ(refusal("1\n" + std::string(39, 'a') + "\u00e4b\n"),
            "t.csv, line 2, column 1: '" + std::string(39, 'a') + "...' is not a number" +
                kColumnsAdvice);
}

TEST_F(Csv, RefusesWhatIsNotFinite) {
  EXPECT_EQ(refusal("1,2\n3,nan\n"),
            "t.csv, line 2, column 2: 'nan' is not finite; all values must be; the drop_missing "
            "option leaves such rows out");
  EXPECT_EQ(refusal("-inf,2\n"),
            "t.csv, line 1, column 1: '-inf' is not finite; all values must be; missing = "
            "{\"-inf\"} with the drop_missing option leaves such rows out");
}

TEST_F(Csv, RefusesWhatIsBeyondTheDtype) {
  EXPECT_EQ(refusal("1,1e300\n"),
            "t.csv, line 1, column 2: '1e300' is beyond the range of float32");
  CsvOptions options;
  options.dtype = DType::float64;
  EXPECT_EQ(refusal("1,-1e400\n", options),
            "t.csv, line 1, column 2: '-1e400' is beyond the range of float64");
}

TEST_F(Csv, RefusesRowsOfAnotherLength) {
  EXPECT_EQ(refusal("x,y,z\n1,2,3\n4,5\n"),
            "t.csv, line 3, column 3: the row has 2 columns; the first row has 3");
  EXPECT_EQ(refusal("1,2\n1,2,3,4\n"),
            "t.csv, line 2, column 3: the row has 4 columns; the first row has 2");
  EXPECT_EQ(
      refusal("a,b\n1,2,\n"),
      "t.csv, line 2, column 3: the row has 3 columns; the first row has 2; it ends with a "
      "delimiter, which begins another column; sed 's/,\\r*$//' removes the delimiters at the ends "
      "of lines");
  EXPECT_EQ(refusal("1,2,a\n1,2\n"),
            "t.csv, line 2, column 3: the row has 2 columns; the first row has 3");
}

TEST_F(Csv, RecognizesRowNamesOfR) {
  const std::string advice =
      "t.csv, line 2, column 1: the row has 3 columns, but the header has 2, as in a table of R's "
      "write.table, whose first column holds row names and has no name; write it with row.names = "
      "FALSE, or put a name in front of the header";
  EXPECT_EQ(refusal("\"x\",\"y\"\n\"1\",2,3\n\"2\",4,5\n"), advice);
  EXPECT_EQ(refusal("x,y\n1,2,3\n2,4,5\n"), advice);
  EXPECT_EQ(refusal("x,y\nMazda RX4,2,3\nDatsun 710,4,5\n"), advice);
  CsvOptions blanks;
  blanks.delimiter = ' ';
  EXPECT_EQ(refusal("\"x\" \"y\"\n\"1\" 2 3\n", blanks), advice);
  EXPECT_EQ(refusal("x,y\n7,2,3\n"),
            "t.csv, line 2, column 3: the row has 3 columns; the first row has 2");
  CsvOptions named;
  named.columns = {"x", "y"};
  EXPECT_EQ(read("name,x,y\n1,2,3\n2,4,5\n", named).features(), 2);
}

TEST_F(Csv, RefusesBrokenQuotes) {
  EXPECT_EQ(refusal("1,2\n3,\"4\n"),
            "t.csv, line 2, column 2: the quoted cell has no closing quote");
  const std::string follows = "t.csv, line 1, column 1: text follows the closing quote";
  EXPECT_EQ(refusal("\"1\"2,3\n"), follows);
  const auto separate = [&](const char* what) {
    return follows + "; if " + what + " the cells, set the delimiter option";
  };
  EXPECT_EQ(refusal("\"x\" \"y\"\n1 2\n"), separate("blanks separate"));
  EXPECT_EQ(refusal("\"x\"\t\"y\"\n1\t2\n"), separate("tabs separate"));
  EXPECT_EQ(refusal("\"x\"|\"y\"\n1|2\n"), separate("'|' separates"));
  EXPECT_EQ(refusal("\"x\";\"y\"\n1;2\n"),
            separate("';' separates") + ", or the decimal_comma option for cells such as 2,5");
}

TEST_F(Csv, RefusesInvalidBytes) {
  const std::string carriage_return =
      ": there is a carriage return inside the cell; lines end with LF or CRLF: if they end with "
      "CR, tr '\\r' '\\n' converts them";
  EXPECT_EQ(refusal("x,y\r1,2\r3,4\r"), "t.csv, line 1, column 2" + carriage_return);
  EXPECT_EQ(refusal("1,2,cat\n3,4,d\rg\n"), "t.csv, line 2, column 3" + carriage_return);
  EXPECT_EQ(refusal("1,\"c\rt\"\n"), "t.csv, line 1, column 2" + carriage_return);
  EXPECT_EQ(refusal("1,2\n3\r,4\n"), "t.csv, line 2, column 1" + carriage_return);
  using namespace std::string_view_literals;
  EXPECT_EQ(refusal("1,2,cat\n3,4,d\0g\n"sv),
            "t.csv, line 2, column 3: the cell holds a NUL byte, so this is not UTF-8 text");
}

TEST_F(Csv, RefusesOtherByteOrderMarks) {
  using namespace std::string_view_literals;
  const std::string utf16 =
      "t.csv: the text is in UTF-16; it must be in UTF-8: iconv -f utf-16 -t utf-8 " +
      shell_word((folder_.path() / "t.csv").string()) + " > NEW.csv converts it";
  EXPECT_EQ(refusal("\xff\xfe"
                    "1\0\n\0"sv),
            utf16);
  EXPECT_EQ(refusal("\xfe\xff\0"
                    "1\0\n"sv),
            utf16);
  EXPECT_EQ(refusal("\xef\xbb\xbf\xef\xbb\xbf"
                    "1,2\n"),
            "t.csv: the text begins with two byte-order marks");
}

TEST_F(Csv, ExplainsThatThereAreNoComments) {
  EXPECT_EQ(refusal("# points\n1,2\n"),
            "t.csv, line 1, column 1: the line has other columns than the next; lines that begin "
            "with '#' are rows too: grep -v '^#' removes them");
  EXPECT_EQ(refusal("1,2\n# end\n"),
            "t.csv, line 2, column 1: '# end' is not a number; lines that begin with '#' are rows "
            "too: grep -v '^#' removes them");
  EXPECT_EQ(refusal("1,2\n#N/A,3\n"),
            "t.csv, line 2, column 1: '#N/A' is not a number; a missing value must be filled in, "
            "or its row left out (the drop_missing option)");
  EXPECT_EQ(read("# x,y\n1,2\n").feature_names, (Texts{"# x", "y"}));
}

TEST_F(Csv, RefusesEmptyTables) {
  EXPECT_EQ(refusal(""), "t.csv: the file holds no rows");
  EXPECT_EQ(refusal(" \n\n"), "t.csv: the file holds no rows");
  EXPECT_EQ(refusal("x,y\n\n"), "t.csv: no rows follow the header");
}

TEST_F(Csv, RefusesUnknownColumns) {
  CsvOptions options;
  options.columns = {"q"};
  EXPECT_EQ(refusal("x,y\n1,2\n", options), "t.csv: there is no column 'q'; the columns are x, y");
  options.columns = {"2"};
  EXPECT_EQ(refusal("x,y\n1,2\n", options),
            "t.csv: there is no column '2'; the columns are 0 to 1");
  options.columns = {"-1"};
  EXPECT_EQ(refusal("x,y\n1,2\n", options), "t.csv: there is no column '-1'; the columns are x, y");
  options.columns = {"q"};
  options.header = false;
  EXPECT_EQ(refusal("1,2\n", options), "t.csv: there is no column 'q'; the columns are 0 to 1");
  options.header.reset();
  for (const char* none : {"-1", "7", "99999999999999999999"}) {
    options.columns = {none};
    EXPECT_EQ(refusal("1,2\n3,4\n", options),
              std::string("t.csv: there is no column '") + none + "'; the columns are 0 to 1");
  }
  options = {};
  options.label_column = "kind";
  EXPECT_EQ(refusal("x,y\n1,2\n", options),
            "t.csv: there is no column 'kind'; the columns are x, y");
}

TEST_F(Csv, RefusesAmbiguousColumns) {
  CsvOptions options;
  options.columns = {"x", "0"};
  EXPECT_EQ(refusal("x,y\n1,2\n", options), "t.csv: column '0' is listed twice");
  options.columns = {"x"};
  EXPECT_EQ(refusal("x,x\n1,2\n", options),
            "t.csv: the column name 'x' occurs twice; give its number");
  options.label_column = "y";
  options.columns = {"y"};
  EXPECT_EQ(refusal("x,y\n1,2\n", options), "t.csv: column 'y' is listed twice");
  options = {};
  options.label_column = "0";
  EXPECT_EQ(refusal("1\n2\n", options),
            "t.csv: the label column is the only column, so there are no features");
}

TEST_F(Csv, RefusesFilesThatCannotBeRead) {
  const auto message = [&](const std::filesystem::path& file) {
    return message_of<InputError>([&] { read_csv(file); });
  };
  const std::filesystem::path missing = folder_.path() / "missing.csv";
  EXPECT_EQ(message(missing),
            missing.string() + ": cannot open the file: No such file or directory");
  EXPECT_EQ(message(folder_.path()), folder_.path().string() + ": is not a regular file");
}

TEST_F(Csv, WritesWhatReadsBackToTheSameBits) {
  const double smallest = std::numeric_limits<double>::denorm_min();
  const std::vector<double> written = {0.1, 1.0 / 3, -1e100, smallest, 123456789, -0.0};
  const auto file = folder_.path() / "out.csv";
  write_csv(file, written, 3);
  EXPECT_EQ(TemporaryFolder::read(file), "0.1,0.3333333333333333,-1e+100\n5e-324,123456789,-0\n");
  CsvOptions options;
  options.dtype = DType::float64;
  EXPECT_EQ(values(read_csv(file, options)), written);
}

TEST_F(Csv, WritesHeaderAndLabels) {
  const auto file = folder_.path() / "out.csv";
  const Texts header = {"x", "a, \"b\""};
  write_csv(file, Values{1, 2}, 2, header);
  EXPECT_EQ(TemporaryFolder::read(file), "x,\"a, \"\"b\"\"\"\n1,2\n");
  EXPECT_EQ(read_csv(file).feature_names, header);
  write_csv(file, std::vector<std::int32_t>{2, 0, -1});
  EXPECT_EQ(TemporaryFolder::read(file), "2\n0\n-1\n");
}

TEST_F(Csv, NamesThatBeginWithAByteOrderMarkReadBack) {
  for (const std::string name : {"\xef\xbb\xbfx", "\xff\xfex"}) {
    const Dataset data = read(" " + name + "\n1\n");
    ASSERT_EQ(data.feature_names, std::vector<std::string>{name});
    write_csv(folder_.path() / "copy.csv", data);
    EXPECT_EQ(read_csv(folder_.path() / "copy.csv").feature_names, data.feature_names);
  }
}

TEST_F(Csv, NamesThatBeginLikeHtmlOrJsonReadBack) {
  for (const std::string name : {"<!doctype1", "<html", "{", "[{"}) {
    const Dataset data = read("\"" + name + "\",b\n1,2\n");
    ASSERT_EQ(data.feature_names, (std::vector<std::string>{name, "b"}));
    write_csv(folder_.path() / "copy.csv", data);
    EXPECT_EQ(read_csv(folder_.path() / "copy.csv").feature_names, data.feature_names);
  }
}

TEST_F(Csv, NamesAndClassesThatAreNumbersReadBack) {
  const auto file = folder_.path() / "out.csv";
  for (const Texts& names : {Texts{"1", "2"}, Texts{"x", "2"}, Texts{"nan", ""}, Texts{}}) {
    write_csv(file, Values{1, 2, 3, 4}, 2, names);
    const Dataset table = read_csv(file);
    EXPECT_EQ(table.feature_names, names);
    EXPECT_EQ(values(table), (Values{1, 2, 3, 4}));
    for (const Texts& classes : {Texts{"7", "8"}, Texts{"7", "cat"}, Texts{"cat", "7"},
                                 Texts{"", "7"}, Texts{"a b", "7"}, Texts{}}) {
      Dataset written = read("1,2\n3,4\n");
      written.feature_names = names;
      written.classes = classes;
      write_csv(file, written);
      const Dataset data = read_csv(file);
      EXPECT_EQ(data.feature_names, names);
      EXPECT_EQ(data.classes, classes);
      EXPECT_EQ(values(data), (Values{1, 2, 3, 4}));
    }
  }
  write_csv(file, Values{1, 2}, 1, Texts{""});
  EXPECT_EQ(read_csv(file).feature_names, Texts{""});
  for (const Texts& names : {Texts{"", "petal length"}, Texts{"", "a b", "", "c,d"}}) {
    const auto columns = static_cast<std::int64_t>(names.size());
    write_csv(file, std::vector<double>(names.size(), 1.5), columns, names);
    EXPECT_EQ(read_csv(file).feature_names, names);
  }
}

TEST_F(Csv, RefusesToWriteIncompleteTables) {
  const auto file = folder_.path() / "out.csv";
  const std::string prefix = file.string() + ": ";
  EXPECT_EQ(message_of<InputError>([&] {
              write_csv(file, Values{1, 2, 3}, 2);
            }),
            prefix + "3 values are not whole rows of 2 columns");
  EXPECT_EQ(message_of<InputError>([&] {
              write_csv(file, Values{1, 2}, 0);
            }),
            prefix + "2 values are not whole rows of 0 columns");
  EXPECT_EQ(message_of<InputError>([&] {
              write_csv(file, Values{1, 2}, 2, Texts{"x"});
            }),
            prefix + "the header names 1 column; the values have 2");
  EXPECT_EQ(message_of<InputError>([&] { write_csv(file, Values{1}, 1, Texts{"x\ny"}); }),
            prefix + "a name or class holds a line break");
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace lloyd
