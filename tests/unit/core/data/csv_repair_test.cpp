// Tables that need an option: columns and rows to leave out, decimal commas.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/support/csv_folder.hpp"

namespace lloyd {
namespace {

class CsvRepair : public CsvFolder {
 protected:
  using Values = std::vector<double>;
  using Texts = std::vector<std::string>;

  static Values values_of(const Dataset& data) {
    Values values;
    for (std::int64_t i = 0; i < data.samples(); ++i) {
      for (std::int64_t j = 0; j < data.features(); ++j) values.push_back(data.matrix().at(i, j));
    }
    return values;
  }
  static CsvOptions dropping(Texts columns) {
    CsvOptions options;
    options.drop_columns = std::move(columns);
    return options;
  }
  static CsvOptions repairing(bool drop_missing, bool decimal_comma) {
    CsvOptions options;
    options.drop_missing = drop_missing;
    options.decimal_comma = decimal_comma;
    return options;
  }
};

TEST_F(CsvRepair, LeavesOutColumns) {
  const Dataset named = read("id,x,name,y\n7,1,a,2\n8,3,b,4\n", dropping({"name", "0"}));
  EXPECT_EQ(values_of(named), (Values{1, 2, 3, 4}));
  EXPECT_EQ(named.feature_names, (Texts{"x", "y"}));
  EXPECT_EQ(values_of(read("7,1,2\n8,3,4\n", dropping({"0"}))), (Values{1, 2, 3, 4}));
  // A dropped last column holds no classes, and a dropped first one needs no name.
  EXPECT_TRUE(read("x,kind\n1,a\n2,b\n", dropping({"kind"})).classes.empty());
  EXPECT_EQ(values_of(read(",x\na,1\nb,2\n", dropping({"0"}))), (Values{1, 2}));
  EXPECT_EQ(read("id,x,kind\n1,2,a\n3,4,b\n", dropping({"id"})).classes, (Texts{"a", "b"}));
}

TEST_F(CsvRepair, RefusesColumnsThatCannotBeLeftOut) {
  EXPECT_EQ(refusal("x,y\n1,2\n", dropping({"z"})),
            "t.csv: there is no column 'z'; the columns are x, y");
  EXPECT_EQ(refusal("x,y\n1,2\n", dropping({"x", "0"})), "t.csv: column '0' is dropped twice");
  EXPECT_EQ(refusal("x,y\n1,2\n", dropping({"x", "y"})),
            "t.csv: every column is dropped or the label column, so there are no features");
  CsvOptions both = dropping({"y"});
  both.label_column = "1";
  EXPECT_EQ(refusal("x,y\n1,2\n", both),
            "t.csv: column '1' cannot both be dropped and hold the classes");
}

TEST_F(CsvRepair, LeavesOutRowsWithMissingValues) {
  const CsvOptions options = repairing(true, false);
  const Dataset data = read("x,y\n1,2\n,3\nnan,4\n5,NA\n6,-\n7,8\n", options);
  EXPECT_EQ(values_of(data), (Values{1, 2, 7, 8}));
  EXPECT_EQ(data.dropped_rows, 4);
  EXPECT_EQ(data.dropped_row_numbers, (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(data.missing_counts, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(read("1,2\n3,4\n", options).dropped_rows, 0);
  EXPECT_TRUE(read("1,2\n3,4\n", options).missing_counts.empty());
  // Classes stay with their rows. The first row may have missing values too.
  const Dataset classes = read("x,y,kind\n,1,a\n2,3,b\n4,NaN,c\n5,6,d\n", options);
  EXPECT_EQ(classes.classes, (Texts{"b", "d"}));
  EXPECT_EQ(values_of(classes), (Values{2, 3, 5, 6}));
  EXPECT_EQ(values_of(read("1,NA\n3,4\n", options)), (Values{3, 4}));
  // A first row without any value may be a header. Leaving rows out is no advice any more.
  EXPECT_EQ(
      refusal("NA\n1\n2\n", options),
      "t.csv, line 1, column 1: 'NA' is not a number; the header option tells whether the row "
      "names the columns");
}

// The first class that is there decides whether the last column holds classes.
TEST_F(CsvRepair, FindsClassesBelowAMissingOne) {
  const CsvOptions options = repairing(true, false);
  const Dataset data = read("x,y,kind\n1,2,\n3,4,NA\n5,6,cat\n,8,dog\n", options);
  EXPECT_EQ(data.classes, (Texts{"", "", "cat"}));
  EXPECT_EQ(values_of(data), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read("1,2,?\n3,4,cat\n", options).classes, (Texts{"", "cat"}));
  EXPECT_EQ(values_of(read("x,y\n1,\n2,3\n", options)), (Values{2, 3}));
}

TEST_F(CsvRepair, KeepsItsChecksOfOtherCellsWhenRowsAreLeftOut) {
  const CsvOptions options = repairing(true, false);
  EXPECT_EQ(refusal("1,2\n3,inf\n", options),
            "t.csv, line 2, column 2: 'inf' is not finite; all values must be; missing = {\"inf\"} "
            "leaves such rows out");
  EXPECT_EQ(refusal("1,2\n,word\n", options),
            "t.csv, line 2, column 2: 'word' is not a number; drop_columns = {\"1\"} leaves the "
            "column out, label_column = \"1\" takes it as classes");
  EXPECT_EQ(refusal("1,2\n,4,5\n", options),
            "t.csv, line 2, column 3: the row has 3 columns; the first row has 2");
  EXPECT_EQ(refusal("x,y\n1,\n,2\n", options),
            "t.csv: every row has a missing value, so none is left");
}

TEST_F(CsvRepair, ReadsDecimalCommas) {
  const CsvOptions options = repairing(false, true);
  const Dataset data = read("x;\"y, scaled\";kind\n1,5;-2,25;a,b\n\"3,5\";+4e-1;7,x\n", options);
  EXPECT_EQ(values_of(data), (Values{1.5, -2.25, 3.5, static_cast<double>(0.4F)}));
  EXPECT_EQ(data.feature_names, (Texts{"x", "y, scaled"}));
  EXPECT_EQ(data.classes, (Texts{"a,b", "7,x"}));
  EXPECT_EQ(values_of(read("1,5\t2\n,5\t3,\n",
                           [&] {
                             CsvOptions tabs = options;
                             tabs.delimiter = '\t';
                             return tabs;
                           }())),
            (Values{1.5, 2, 0.5, 3}));
  EXPECT_EQ(values_of(read("1.000,5;2\n-1.234.567,25;4\n", options)),
            (Values{1000.5, 2, -1234567.25F, 4}))
      << "unambiguous";
  CsvOptions comma = options;
  comma.delimiter = ',';
  EXPECT_EQ(values_of(read("\"3,5\",2\n4,\"-1.000,25\"\n", comma)), (Values{3.5, 2, 4, -1000.25}));
  EXPECT_EQ(refusal("\"3,5\",2\n4,1.5\n", comma),
            "t.csv, line 2, column 2: '1.5' has a point, but decimals have commas here; write "
            "thousands without separators: 12500,5");
}

TEST_F(CsvRepair, ReadsDecimalCommasInAllBlocks) {
  std::string text;
  while (text.size() < (std::size_t{5} << 20)) text += "1,25;2,5\n";
  const Dataset data = read(text, repairing(false, true));
  EXPECT_EQ(data.samples(), static_cast<std::int64_t>(text.size() / 9));
  EXPECT_EQ(data.statistics()[0].minimum, 1.25);
  EXPECT_EQ(data.statistics()[0].maximum, 1.25);
  EXPECT_EQ(data.statistics()[1].maximum, 2.5);
}

TEST_F(CsvRepair, RefusesAPointWhereDecimalsHaveCommas) {
  EXPECT_EQ(refusal("a;b\n1,5;2\n-12.500;3\n", repairing(false, true)),
            "t.csv, line 3, column 1: '-12.500' has a point, but decimals have commas here; "
            "thousands = \".\" reads it as -12500");
  EXPECT_EQ(refusal("a;b\n1,5;2\n1.5;3\n", repairing(false, true)),
            "t.csv, line 3, column 1: '1.5' has a point, but decimals have commas here; write "
            "thousands without separators: 12500,5");
}

TEST_F(CsvRepair, NamesTheDelimiterOfATableWithDecimalCommas) {
  const CsvOptions options = repairing(false, true);
  const auto advice = [&](const std::string& text) {
    const std::string message = refusal(text, options);
    return message.substr(message.find("; ") + 2);
  };
  EXPECT_EQ(advice("x\n1,5\t2,5\n"), "if tabs separate the cells, set the delimiter option");
  EXPECT_EQ(advice("x\n1,5 2,5\n"),
            "write thousands without separators, or set the delimiter option if blanks separate "
            "the cells");
  EXPECT_EQ(advice("x\n1.5,2.5\n"),
            "if ',' separates the cells, leave the decimal_comma option out");
  EXPECT_EQ(advice("x\n1,000,5\n"), "write thousands without separators: 1000,5");
  EXPECT_EQ(advice("\"1,5\",\"2,5\"\n"), "if ',' separates the cells, set delimiter = \",\"");
  CsvOptions tabs = options;
  tabs.delimiter = '\t';
  EXPECT_EQ(refusal("x\n1,5;2,5\n", tabs),
            "t.csv, line 2, column 1: '1,5;2,5' is not a number; if ';' separates the cells, set "
            "the delimiter option");
  // Each row would be read as one number.
  EXPECT_EQ(refusal("x,y\n1,5\n2,6\n", options),
            "t.csv, line 1, column 1: the only column is called 'x,y'; if ',' separates the cells, "
            "leave the decimal_comma option out, otherwise put the name in quotes");
  EXPECT_EQ(values_of(read("\"x,y\"\n1,5\n2,6\n", options)), (Values{1.5, 2.6F}));
}

TEST_F(CsvRepair, RefusesLinesThatAreQuotedAsAWhole) {
  const auto whole = [](const std::string& line, const std::string& separator) {
    return "t.csv, line 1, column 1: the whole line is one cell in quotes, '" + line + "'; if " +
           separator + " separates its cells, sed 's/^\"//; s/\"$//' removes the quotes";
  };
  EXPECT_EQ(refusal("\"a,b\"\n\"737,361\"\n\"859,467\"\n"), whole("a,b", "','"));
  EXPECT_EQ(refusal("\"a,b,c\"\n\"1,2,3\"\n"), whole("a,b,c", "','"));
  EXPECT_EQ(refusal("\"a,b\"\n\"2.5,x\"\n"), whole("a,b", "','"));
  EXPECT_EQ(refusal("\"a;b\"\n\"2,5;3,5\"\n"), whole("a;b", "';'"));
  EXPECT_EQ(refusal("\"1.5,2,3\"\n\"4,5,6\"\n"), whole("1.5,2,3", "','"));
  EXPECT_EQ(refusal("\"1,5\"\n\"2,5\"\n"),
            whole("1,5", "','") +
                "; otherwise the decimal_comma option with delimiter = \",\" reads it as 1.5");
  EXPECT_TRUE(
      refusal("\"a,b\"\r\n\"1,2\"\r\n").ends_with("sed 's/^\"//; s/\"\\r$//' removes the quotes"));
  // The name of a single column may have a comma.
  EXPECT_EQ(refusal("\"height, cm\"\n\"1,5\"\n"),
            "t.csv, line 2, column 1: '1,5' is not a number; the decimal_comma option with "
            "delimiter = \",\" reads it as 1.5");
}

// Each line would be read as one number.
TEST_F(CsvRepair, RefusesLinesThatAreQuotedAsAWholeWithOptions) {
  const auto joined = [](const std::string& option) {
    return "t.csv, line 1, column 1: the only column is called 'a,b'; if ',' separates the cells, "
           "sed 's/^\"//; s/\"$//' removes the quotes, and the " +
           option + " option must be left out; otherwise write the name without ','";
  };
  CsvOptions thousands;
  thousands.thousands = ',';
  EXPECT_EQ(refusal("\"a,b\"\n\"737,361\"\n", thousands), joined("thousands"));
  EXPECT_EQ(refusal("\"a,b\"\n\"7,8\"\n\"1,200\"\n", thousands).substr(0, 47),
            "t.csv, line 1, column 1: the whole line is one ");
  EXPECT_EQ(values_of(read("\"height, cm\"\n\"1,200\"\n900\n", thousands)), (Values{1200, 900}));
  CsvOptions comma = repairing(false, true);
  EXPECT_EQ(refusal("\"a,b\"\n\"5,1\"\n", comma), joined("decimal_comma"));
  comma.delimiter = ',';
  EXPECT_EQ(refusal("\"a,b\"\n\"5,1\"\n", comma), joined("decimal_comma"));
  EXPECT_EQ(values_of(read("\"height, m\"\n\"1,5\"\n", comma)), (Values{1.5}));
}

TEST_F(CsvRepair, NamesTheDelimiterOfATableWithoutHeader) {
  const std::string advice =
      "; if ';' separates the cells, set the delimiter option, or the decimal_comma option for "
      "cells such as 2,5";
  EXPECT_EQ(refusal("0,5;11,4\n1,5;63,4\n"),
            "t.csv, line 1, column 2: '5;11' is not a number" + advice);
  EXPECT_EQ(refusal("0,5;11\n1,5;63\n"),
            "t.csv, line 1, column 2: '5;11' is not a number" + advice +
                "; drop_columns = {\"1\"} leaves the column out, label_column = \"1\" takes it as "
                "classes");
  EXPECT_EQ(values_of(read("0,5;11,4\n1,5;63,4\n", repairing(false, true))),
            (Values{0.5, 11.4F, 1.5, 63.4F}));
}

TEST_F(CsvRepair, RefusesOtherFormatsOfText) {
  const std::string place = "t.csv, line 1, column 1: this is ";
  for (const char* html : {"<!DOCTYPE html>\n<p>1</p>\n", "<html><body>\n1\n", " <HTML>\n2\n"}) {
    EXPECT_EQ(refusal(html), place + "HTML, such as the page of an error or a login, and no table");
  }
  for (const char* json : {"{\"a\":1}\n{\"a\":2}\n", "[{\"a\":1},\n", "[\n1,\n2]\n", "{\n"}) {
    EXPECT_EQ(refusal(json), place + "JSON, which is not read; rows of numbers are needed");
  }
  for (const char* sparse : {"0 1:2.53 2:1125.00\n1 1:8\n", "-1 3:1 \n"}) {
    EXPECT_EQ(refusal(sparse), place +
                                   "sparse text in libsvm's format, which is not read; every row "
                                   "must have the values of all features");
  }
  EXPECT_EQ(read("{a},[b]\n1,2\n").feature_names, (Texts{"{a}", "[b]"}));
}

}  // namespace
}  // namespace lloyd
