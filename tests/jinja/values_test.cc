// Values, filters and methods; each expected text is Jinja 3.1's output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "tests/jinja/render.h"

namespace spectr::jinja {
namespace {

using testing::HasSubstr;

using Case = std::pair<const char*, const char*>;

void expect_rendered(std::initializer_list<Case> cases) {
  for (const auto& [source, expected] : cases) EXPECT_EQ(render(source), expected) << source;
}

void expect_jinjas(std::initializer_list<Case> cases) {
  for (const auto& [source, expected] : cases)
    EXPECT_EQ(render("{{ " + std::string(source) + " }}"), expected) << source;
}

TEST(JinjaFilters, WrapWords) {
  expect_jinjas(
      {{"'The quick brown fox jumps over the lazy dog-eared well-known book -- and then_some "
        "averyveryveryverylongword.\\nSecond line\\n\\nThird' | wordwrap(20)",
        "The quick brown fox\njumps over the lazy\ndog-eared well-known\nbook -- and\nthen_some "
        "averyveryv\neryverylongword.\nSecond line\n\nThird"},
       {"'The quick brown fox jumps over the lazy dog-eared well-known book -- and then_some "
        "averyveryveryverylongword.\\nSecond line\\n\\nThird' | wordwrap(10)",
        "The quick\nbrown fox\njumps over\nthe lazy\ndog-eared\nwell-known\nbook --\nand\nthen_some "
        "\naveryveryv\neryverylon\ngword.\nSecond\nline\n\nThird"},
       {"'The quick brown fox jumps over the lazy dog-eared well-known book -- and then_some "
        "averyveryveryverylongword.\\nSecond line\\n\\nThird' | wordwrap(10, false)",
        "The quick\nbrown fox\njumps over\nthe lazy\ndog-eared\nwell-known\nbook "
        "--\nand\nthen_some\naveryveryveryverylongword.\nSecond\nline\n\nThird"},
       {"'The quick brown fox jumps over the lazy dog-eared well-known book -- and then_some "
        "averyveryveryverylongword.\\nSecond line\\n\\nThird' | wordwrap(10, true, '|')",
        "The quick|brown fox|jumps over|the lazy|dog-eared|well-known|book --|and|then_some "
        "|averyveryv|eryverylon|gword.|Second|line||Third"},
       {"'The quick brown fox jumps over the lazy dog-eared well-known book -- and then_some "
        "averyveryveryverylongword.\\nSecond line\\n\\nThird' | wordwrap(12, break_on_hyphens=false)",
        "The quick\nbrown fox\njumps over\nthe lazy\ndog-eared\nwell-known\nbook -- and\nthen_some "
        "av\neryveryveryv\nerylongword.\nSecond line\n\nThird"},
       {"'a-b-c-dd-ee-fff-ggg' | wordwrap(5)", "a-b-\nc-dd-\nee-\nfff-\nggg"},
       {"'foo--bar baz---qux -x -yy --long-option' | wordwrap(6)",
        "foo--\nbar\nbaz---\nqux -x\n-yy --\nlong-\noption"},
       {"'  leading   and    inner  ' | wordwrap(10)", "  leading\nand\ninner"},
       {"'abcdef' | wordwrap(1)", "a\nb\nc\nd\ne\nf"},
       {"'' | wordwrap(5)", ""},
       {"'ünïcödé wörds änd möre' | wordwrap(8)", "ünïcödé\nwörds\nänd möre"},
       {"('x ' * 60) | wordwrap",
        "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x\nx x x x x x x x x "
        "x x x x x x x x x x x"}});
}

TEST(JinjaFilters, EncodeAddresses) {
  expect_jinjas({{"'a b/c?d=é&f~-._' | urlencode", "a%20b/c%3Fd%3D%C3%A9%26f~-._"},
                 {"{'a b': 1, 'c': 'x/y é'} | urlencode", "a+b=1&c=x%2Fy+%C3%A9"},
                 {"[('a', 1), ('b', none)] | urlencode", "a=1&b=None"},
                 {"42 | urlencode ~ none | urlencode", "42None"},
                 {"missing | urlencode", ""}});
}

TEST(JinjaFilters, StripTags) {
  expect_jinjas({{"'<p>a <!-- c <b> --> b</p>  c\\n d' | striptags", "a b c d"},
                 {"'a &lt; b &amp; c &#39;x&#39; &#x41; &nbsp;| &copy; &eacute; &hellip; &amp' | striptags",
                  "a < b & c 'x' A  | © é … &"},
                 {"'a < b <b' | striptags", "a < b <b"},
                 {"'&copy2 AT&T &#xZZ; &#0; &#128; &#xD800; &lt &' | striptags", "©2 AT&T &#xZZ; � € � < &"},
                 {"'<!-- open <b>x</b>' | striptags", "<!-- open <b>x</b>"},
                 {"'&notin;&Omega;&thetasym; &no-such; &nosuch; &nsubE;' | striptags",
                  "∉Ωϑ &no-such; &nosuch; &nsubE;"},
                 {"42 | striptags", "42"}});
}

TEST(JinjaFilters, WriteAttributesAndSizes) {
  expect_jinjas(
      {{"{'class': 'a b', 'id': none, 'x': '<\"'} | xmlattr", " class=\"a b\" x=\"&lt;&#34;\""},
       {"{'a': 1} | xmlattr(false) ~ {} | xmlattr", "a=\"1\""},
       {"1 | filesizeformat ~ ' ' ~ 999 | filesizeformat ~ ' ' ~ 1000 | filesizeformat ~ ' ' ~ '3000000' | "
        "filesizeformat",
        "1 Byte 999 Bytes 1.0 kB 3.0 MB"},
       {"1234567 | filesizeformat(true) ~ ' ' ~ 1e15 | filesizeformat ~ ' ' ~ 1e30 | filesizeformat",
        "1.2 MiB 1.0 PB 1000000.0 YB"}});
}

TEST(JinjaFilters, SortByAttributesAndGroup) {
  expect_jinjas(
      {{"[{'a': 2, 'b': 1}, {'a': 1, 'b': 2}, {'a': 1, 'b': 1}] | sort(attribute='a,b') | map(attribute='b') "
        "| join",
        "121"},
       {"[{'a': 1, 'n': 'x'}, {'a': 2, 'n': 'y'}, {'a': 1, 'n': 'z'}] | groupby('a') | "
        "map(attribute='grouper') | list",
        "[1, 2]"},
       {"[{'a': 1, 'n': 'x'}, {'a': 1, 'n': 'z'}] | groupby('a') | map(attribute='list') | map('length') | "
        "list",
        "[2]"},
       {"([{'a': 1}] | groupby('a'))[0]", "(1, [{'a': 1}])"},
       {"[1, 2, 3, 4] | slice(2, 'x') | list", "[[1, 2, 'x'], [3, 4, 'x']]"},
       {"'abc' | replace('', '-') ~ '' | replace('', 'x') ~ 'éa'.replace('', '-', 2)", "-a-b-c-x-é-a"}});
}

TEST(JinjaFilters, ReadNumbersAsPythonDoes) {
  expect_jinjas(
      {{"'ff' | int(base=16) ~ ' ' ~ '0x1f' | int(0, 16) ~ ' ' ~ '0b11' | int(base=2) ~ ' ' ~ 'zz' | int(7, "
        "16)",
        "255 31 3 7"},
       {"'1_000' | int ~ ' ' ~ '1__0' | int ~ ' ' ~ ' -5 ' | int ~ ' ' ~ 'inf' | int", "1000 0 -5 0"},
       {"'inf' | float ~ ' ' ~ '-Infinity' | float ~ ' ' ~ 'nan' | float ~ ' ' ~ '1e400' | float",
        "inf -inf nan inf"},
       {"0x1f ~ ' ' ~ 0b101 ~ ' ' ~ 0o17 ~ ' ' ~ 1_000 ~ ' ' ~ 1_000.5 ~ ' ' ~ 1e3",
        "31 5 15 1000 1000.5 1000.0"},
       {"[[1, 2]].0.1", "2"}});
}

TEST(JinjaNumbers, AreExact) {
  expect_jinjas(
      {{"(9007199254740993 + 0) ~ ' ' ~ 3037000499 * 3037000499", "9007199254740993 9223372030926249001"},
       {"4611686018427387904 + 4611686018427387903", "9223372036854775807"},
       {"2 ** 62 ~ ' ' ~ (-2) ** 63 ~ ' ' ~ 2 ** -1", "4611686018427387904 -9223372036854775808 0.5"},
       {"-7 // 2 ~ ' ' ~ -7 % 3 ~ ' ' ~ 7 % -3 ~ ' ' ~ -7.5 % 2 ~ ' ' ~ 7.5 // 2", "-4 2 -2 0.5 3.0"},
       {"(true + 1) ~ ' ' ~ true * 2.5", "2 2.5"},
       {"1e308 * 10", "inf"}});
}

TEST(JinjaSequences, AreRepeated) {
  expect_jinjas({{"[1, 2] * 2", "[1, 2, 1, 2]"},
                 {"2 * [1, 2]", "[1, 2, 1, 2]"},
                 {"(1, 2) * 2", "(1, 2, 1, 2)"},
                 {"[1] * 0 ~ [1] * -1", "[][]"},
                 {"3 * 'ab' ~ 'x' * true", "abababx"}});
}

TEST(JinjaSequences, OfGeneratorsAreReadOnce) {
  expect_jinjas({{"'yes' if [1] | select('gt', 5) else 'no'", "yes"},
                 {"([1] | map('string'))[0] is undefined", "True"},
                 {"[1] | map('string') is sequence", "False"},
                 {"(1 in ([1, 2] | select)) ~ ([1, 2] | map('string') | first)", "True1"},
                 {"[2, 1] | reverse | list ~ [1, 2] | unique | list", "[1, 2][1, 2]"}});
}

TEST(JinjaSequences, OfGeneratorsAreEmptyAfterwards) {
  expect_rendered({{"{% set g = [1, 2] | map('string') %}{{ g | list }}{{ g | list }}", "['1', '2'][]"},
                   {"{% set g = [1, 2] | reverse %}{% for x in g %}{{ x }}{% endfor %}{% for x in g %}{{ x "
                    "}}{% endfor %}",
                    "21"},
                   {"{% set g = [1, 2, 3] | select %}{{ g | first }}{{ g | join }}", "123"},
                   {"{% set v = {'a': 1}.items() %}{{ v | list }}{{ v | list }}", "[('a', 1)][('a', 1)]"}});
}

TEST(JinjaSequences, OfMappingsAreViews) {
  expect_jinjas({{"{'a': 1}.items() ~ {'a': 1}.keys() ~ {'a': 1}.values()",
                  "dict_items([('a', 1)])dict_keys(['a'])dict_values([1])"},
                 {"{'a': 1}.keys() is sequence ~ {'a': 1}.keys() | length", "False1"},
                 {"'yes' if {}.items() else 'no'", "no"},
                 {"{'a': 1}.keys()[0] is undefined", "True"}});
}

TEST(JinjaMethods, ComeBeforeMembersOfTheirName) {
  expect_jinjas({{"'yes' if {'items': 0}.items else 'no'", "yes"},
                 {"{'items': 5}['items']", "5"},
                 {"{'items': 5}.items is callable", "True"},
                 {"{'items': 5}.items() | list", "[('items', 5)]"},
                 {"{'a': 1}['items'] is callable", "True"},
                 {"{'get': 1}.get('get')", "1"},
                 {"{'type': 'x'}.type", "x"},
                 {"{'a': 1} | attr('items') is callable", "True"},
                 {"namespace(items=5).items", "5"},
                 {"[1].index is defined and 'a'.upper is defined", "True"}});
}

TEST(JinjaMethods, OfTextsKnowAllLetters) {
  expect_jinjas({{"'straße é' | upper", "STRASSE É"},
                 {"'ÀÉ İ' | lower", "àé i̇"},
                 {"'éa bc' | capitalize", "Éa bc"},
                 {"'élan vital-été' | title", "Élan Vital-Été"},
                 {"'ab1cd é2x ǆ ß'.title()", "Ab1Cd É2X ǅ Ss"},
                 {"'aBc Éß'.swapcase()", "AbC éSS"},
                 {"'STRASSE ẞ'.casefold()", "strasse ss"},
                 {"'ΑΣ ΣΑΣ, Σ'.lower()", "ας σας, σ"},
                 {"'ﬁn ŉ'.upper()", "FIN ʼN"},
                 {"'É'.isupper() ~ 'é'.islower() ~ 'Ab Cd'.istitle() ~ 'é'.isascii() ~ 'a\\n'.isprintable()",
                  "TrueTrueTrueFalseFalse"},
                 {"'é'.isalpha() ~ '😀'.isalpha() ~ '１'.isdigit() ~ '²'.isdecimal() ~ '½'.isnumeric() ~ "
                  "'\\u2003'.isspace()",
                  "TrueFalseTrueFalseTrueTrue"},
                 {"'Ä' is upper and 'ä' is lower", "True"},
                 {"'a—b “c” d_é' | wordcount", "4"},
                 {"['\\u200b\\xad\\u3000é😀\\x7f']", "['\\u200b\\xad\\u3000é😀\\x7f']"}});
}

TEST(JinjaMethods, OfTextsTakeTheirArguments) {
  expect_jinjas({{"'a\\nb\\r\\nc'.splitlines(true)", "['a\\n', 'b\\r\\n', 'c']"},
                 {"'abc'.count('')", "4"},
                 {"'ab'.center(7, '*')", "***ab**"},
                 {"'a\\tb'.expandtabs() ~ '|' ~ 'ab\\tc'.expandtabs(4)", "a       b|ab  c"},
                 {"'{a} {b}'.format_map({'a': 1, 'b': 2})", "1 2"},
                 {"'%c%c' % (65, 'b') ~ '%.3d' % 7 ~ '%E' % 1.5 ~ '%G' % 1e-10", "Ab0071.500000E+001E-10"},
                 {"'{:.3} {:.2} {:E} {:5}'.format(1.0, 10.0, 1.5, true)", "1.0 1e+01 1.500000E+00     1"}});
}

TEST(JinjaTests, KnowTheNamesOfFiltersAndTests) {
  expect_jinjas({{"'upper' is filter ~ 'nothing' is filter ~ 'even' is test ~ 'nothing' is test",
                  "TrueFalseTrueFalse"}});
}

TEST(JinjaValues, ThatAreNotSupportedAreNamed) {
  const Case cases[] = {
      {"[1] | map('string') | length", "a generator has no length: use list before"},
      {"[1] | map('string') | last", "a generator has no last member: use list before"},
      {"[1] | map('string')", "a generator cannot be written as text"},
      {"[1] | map('string') | tojson", "a generator cannot be written as JSON"},
      {"{}.items() + []", "a view of a mapping and a list do not go with '+'"},
      {"{}.items", "a function cannot be written as text"},
      {"{'pop': 1}.pop", "the method 'pop' of mappings is not supported: a member is ['pop']"},
      {"{}.pop('a')", "a mapping has no method 'pop'"},
      {"lipsum()", "the function 'lipsum' is not supported"},
      {"[1] | random", "the filter 'random' is not supported"},
      {"'a' | urlize", "the filter 'urlize' is not supported"},
      {"'a' | pprint", "the filter 'pprint' is not supported"},
      {"'a' is escaped", "the test 'escaped' is not supported"},
      {"{'a b': 1} | xmlattr", "xmlattr: 'a b' is no name of an attribute"},
      {"['a'] | sum(start='')", "sum adds no strings: use join"},
      {"'a' | wordwrap(0)", "wordwrap takes 1 to"},
      {"9223372036854775807 + 1", "'+' gives too large an integer"},
      {"3 ** 99", "'**' gives too large an integer"},
      {"1 % 0", "a division by zero"},
      {"[1] * 'a'", "a list and a string do not go with '*'"},
      {"cycler()", "cycler takes the values that take turns"},
      {"'a'.ljust(3, '')", "ljust takes one character to fill with"}};
  for (const auto& [source, refusal] : cases)
    EXPECT_THAT(render("{{ " + std::string(source) + " }}"), HasSubstr(refusal)) << source;
}

}  // namespace
}  // namespace spectr::jinja
