// Other features of Python and Jinja that templates use; each expected text is Jinja 3.1's output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(JinjaExpressions, AnyValueIsATextToFiltersOfTexts) {
  expect_jinjas({{"none | upper", "NONE"},
                 {"missing | upper | length", "0"},
                 {"42 | trim ~ true | lower", "42true"},
                 {"[1, 'a'] | upper", "[1, 'A']"},
                 {"missing | trim", ""},
                 {"none | replace('None', 'x')", "x"},
                 {"1.5 | title ~ none | capitalize", "1.5None"},
                 {"7 | string | length", "1"},
                 {"12345 | replace(3, 'x')", "12x45"}});
}

TEST(JinjaExpressions, FiltersOfListsTakeWhatIsNotTrueForNone) {
  expect_jinjas({{"none | map('upper') | list", "[]"},
                 {"missing | select | list", "[]"},
                 {"false | reject('odd') | list", "[]"},
                 {"0 | selectattr('a') | list", "[]"},
                 {"none | rejectattr('a', 'equalto', 1) | list | length", "0"},
                 {"missing | map(attribute='x') | join", ""},
                 {"'' | map('upper') | list", "[]"}});
}

TEST(JinjaExpressions, MappingsHaveKeysOfAnyScalar) {
  expect_jinjas({{"{0: 'none', 512: 'short'}[512]", "short"},
                 {"{1: 'a'}[true] ~ {1.0: 'b'}[1]", "ab"},
                 {"{none: 1}[none]", "1"},
                 {"{1: 2, 'a': 3}", "{1: 2, 'a': 3}"},
                 {"{true: 1, 2.5: 'x'} | tojson", "{\"true\": 1, \"2.5\": \"x\"}"},
                 {"1 in {1: 2} and '1' not in {1: 2}", "True"},
                 {"{1: 'x'}.get(1) ~ {1: 'x'}.get('1', 'no')", "xno"},
                 {"{1: 'a', 1.0: 'b'} | length", "1"},
                 {"{2: 'b', 1: 'a'} | dictsort", "[(1, 'a'), (2, 'b')]"},
                 {"{1: 'x'}.items() | list", "[(1, 'x')]"}});
}

TEST(JinjaExpressions, JsonIsWrittenAsAskedFor) {
  expect_jinjas(
      {{"{'b': 'é', 'a': [1, 2]} | tojson(separators=(',', ':'))", "{\"b\":\"é\",\"a\":[1,2]}"},
       {"'é😀\\u2028' | tojson(ensure_ascii=true)", "\"\\u00e9\\ud83d\\ude00\\u2028\""},
       {"{'b': 1, 'a': {'d': 1, 'c': 2}} | tojson(sort_keys=true)",
        "{\"a\": {\"c\": 2, \"d\": 1}, \"b\": 1}"},
       {"{'b': 1, 'a': [1, {}]} | tojson(indent=2)", "{\n  \"b\": 1,\n  \"a\": [\n    1,\n    {}\n  ]\n}"},
       {"{'a': [1]} | tojson(indent=2, separators=(';', '='))", "{\n  \"a\"=[\n    1\n  ]\n}"},
       {"[] | tojson(indent=2) ~ {} | tojson(indent=4)", "[]{}"},
       {"'\\x01\\x7f\\b\\f/<>&' | tojson", "\"\\u0001\\b\\f/<>&\""},
       {"[1.0, 1e3, none, true] | tojson", "[1.0, 1000.0, null, true]"},
       {"{'a': 1} | tojson(false, 1)", "{\n \"a\": 1\n}"},
       {"{'a': [1]} | tojson(indent='\\t')", "{\n\t\"a\": [\n\t\t1\n\t]\n}"}});
}

TEST(JinjaExpressions, TextsAreFormattedAsInPython) {
  expect_jinjas({{"'%s is %d' % ('x', 3)", "x is 3"},
                 {"'%05.2f|%-5s|%5s|%+d' % (3.14159, 'ab', 'cd', 7)", "03.14|ab   |   cd|+7"},
                 {"'%x %o %e %g %%' % (255, 8, 12345.678, 0.0001)", "ff 10 1.234568e+04 0.0001 %"},
                 {"'%s' % [1, 'a']", "[1, 'a']"},
                 {"'%r' % 'a' ~ '%s' % none", "'a'None"},
                 {"'%(a)s-%(b)s' % {'a': 1, 'b': 'x'}", "1-x"},
                 {"'%s, %s' | format('a', 2)", "a, 2"},
                 {"'%(x)s!' | format(x='y')", "y!"},
                 {"'{} {}'.format('a', 1)", "a 1"},
                 {"'{1}{0}{1}'.format('a', 'b')", "bab"},
                 {"'{name}: {v:.2f}'.format(name='x', v=2)", "x: 2.00"},
                 {"'{:>5}|{:<5}|{:^5}|{:05d}'.format('a', 'b', 'c', 42)", "    a|b    |  c  |00042"},
                 {"'{:,}'.format(1234567)", "1,234,567"},
                 {"'{0.a}{0[b]}'.format({'a': 1, 'b': 2})", "12"},
                 {"'{{}} {!r}'.format('q')", "{} 'q'"},
                 {"'{:*^7}'.format('mid')", "**mid**"},
                 {"'{:x} {:#x} {:e} {:%}'.format(255, 255, 1500.0, 0.25)", "ff 0xff 1.500000e+03 25.000000%"},
                 {"'{:.3}'.format('abcdef')", "abc"},
                 {"'{0[0]}{0[1]}'.format(['x', 'y'])", "xy"},
                 {"'{:+} {: }'.format(3, 4)", "+3  4"}});
}

TEST(JinjaExpressions, TextsHaveTheMethodsOfPython) {
  expect_jinjas(
      {{"'abcabc'.find('c', 3) ~ 'abc'.rfind('z') ~ 'abcabc'.rfind('b') ~ 'abc'.index('c')", "5-142"},
       {"'abc'.startswith('b', 1) ~ 'abc'.endswith('b', 0, 2)", "TrueTrue"},
       {"'xabx'.removeprefix('x') ~ 'xabx'.removesuffix('bx') ~ 'a'.removeprefix('b')", "abxxaa"},
       {"'a=b=c'.partition('=')", "('a', '=', 'b=c')"},
       {"'a=b=c'.rpartition('=')", "('a=b', '=', 'c')"},
       {"'abc'.partition('x')", "('abc', '', '')"},
       {"'abc'.rpartition('x')", "('', '', 'abc')"},
       {"'ab'.center(7) ~ '|' ~ 'abc'.center(6) ~ '|'", "   ab  | abc  |"},
       {"'ab'.ljust(4, '.') ~ 'ab'.rjust(4) ~ '-5'.zfill(4)", "ab..  ab-005"},
       {"'a1'.isalnum() ~ 'a'.isalpha() ~ '1'.isdigit() ~ ' '.isspace() ~ ''.isalpha() ~ 'a '.isalpha()",
        "TrueTrueTrueTrueFalseFalse"},
       {"'Ab'.isupper() ~ 'AB1'.isupper() ~ 'ab'.islower() ~ '1'.islower()", "FalseTrueTrueFalse"},
       {"'aBc'.swapcase() ~ 'ABC'.casefold()", "AbCabc"},
       {"'aXbX'.count('X', 2)", "1"},
       {"[1, 2, 1].count(1) ~ [1, 2].index(2)", "21"},
       {"{'a': 1}.copy()", "{'a': 1}"}});
}

TEST(JinjaExpressions, FiltersOfTextsAndNumbers) {
  expect_jinjas(
      {{"'a\\nb\\n\\nc' | indent", "a\n    b\n\n    c"},
       {"'a\\nb' | indent(2, true)", "  a\n  b"},
       {"'a\\n\\nb\\n' | indent(1, blank=true)", "a\n \n b\n "},
       {"'a\\nb' | indent('> ')", "a\n> b"},
       {"'a b c d e f' | truncate(9, leeway=0)", "a b c..."},
       {"'abcdefghij' | truncate(5, true, '..', 0)", "abc.."},
       {"'short' | truncate(3)", "short"},
       {"'ab' | center(5) ~ '|'", "  ab |"},
       {"'a b, c_d' | wordcount", "3"},
       {"'<a href=\"x\">&\\'' | escape", "&lt;a href=&#34;x&#34;&gt;&amp;&#39;"},
       {"-3 | abs ~ 2.5 | abs", "32.5"},
       {"2.5 | round ~ 3.5 | round ~ 2.675 | round(2) ~ 42 | round(-1)", "2.04.02.6740"},
       {"2.1 | round(0, 'ceil') ~ 2.9 | round(method='floor')", "3.02.0"},
       {"'1.5' | float ~ 'x' | float(2.0) ~ 3 | float", "1.52.03.0"},
       {"[3, 1, 2] | min ~ [3, 1, 2] | max ~ ['b', 'A'] | min", "13A"},
       {"[1, 2, 3] | sum ~ [{'a': 1}, {'a': 2}] | sum(attribute='a') ~ [1] | sum(start=10)", "6311"},
       {"[{'a': 3}, {'a': 1}] | max(attribute='a')", "{'a': 3}"},
       {"{'a': 1} | attr('a') is undefined", "True"}});
}

TEST(JinjaExpressions, FiltersOrderAndGroup) {
  expect_jinjas({{"{'b': 1, 'A': 2} | dictsort", "[('A', 2), ('b', 1)]"},
                 {"{'b': 1, 'A': 2} | dictsort(true)", "[('A', 2), ('b', 1)]"},
                 {"{'b': 1, 'a': 2} | dictsort(by='value', reverse=true)", "[('a', 2), ('b', 1)]"},
                 {"[1, 2, 3, 4, 5] | batch(2) | list", "[[1, 2], [3, 4], [5]]"},
                 {"[1, 2, 3] | batch(2, 'x') | list", "[[1, 2], [3, 'x']]"},
                 {"[1, 2, 3, 4, 5, 6, 7] | slice(3) | list", "[[1, 2, 3], [4, 5], [6, 7]]"},
                 {"[1, 2, 3, 4] | slice(3, 'x') | list", "[[1, 2], [3, 'x'], [4, 'x']]"},
                 {"[[2, 1], [1, 9], [1, 2]] | sort", "[[1, 2], [1, 9], [2, 1]]"},
                 {"(1, 2) < (1, 3)", "True"}});
}

TEST(JinjaExpressions, TestsKnowMore) {
  expect_jinjas({{"1 is sameas 1 and 'AB' is upper and 'ab' is lower", "True"},
                 {"'aB' is upper or 'aB' is lower", "False"},
                 {"2 is greaterthan 1 and 1 is lessthan 2", "True"},
                 {"[1, 2, 3] | select('>', 1) | list", "[2, 3]"},
                 {"[1, 2] | select('<=', 1) | list", "[1]"}});
}

TEST(JinjaStatements, BlocksAreFiltered) {
  expect_rendered(
      {{"{% filter trim %}  a {{ 1 }}  {% endfilter %}", "a 1"},
       {"{% filter upper | replace('A', 'x') %}abc{% endfilter %}", "xBC"},
       {"{% filter indent(2, first=true) %}a\nb{% endfilter %}", "  a\n  b"},
       {"{% set x | upper %}ab{% endset %}{{ x }}", "AB"},
       {"{% set note %}{% filter trim %}   Use.   {% endfilter %}{% endset %}[{{ note }}]", "[Use.]"}});
}

TEST(JinjaStatements, MacrosAreCalledWithBlocks) {
  expect_rendered({{"{% macro box() %}<{{ caller() }}>{% endmacro %}{% call box() %}in{% endcall %}", "<in>"},
                   {"{% macro each(l) %}{% for x in l %}{{ caller(x) }};{% endfor %}{% endmacro %}{% call(y) "
                    "each([1, 2]) %}[{{ y }}]{% endcall %}",
                    "[1];[2];"},
                   {"{% macro f() %}{{ caller is defined }}{% endmacro %}{{ f() }}", "False"},
                   {"{% for i in [1, 2] %}{% macro f() %}{{ caller() }}{% endmacro %}{% call f() %}{{ i }}{% "
                    "endcall %}{% endfor %}",
                    "12"}});
}

TEST(JinjaStatements, MacrosTakeAnyArguments) {
  expect_rendered({{"{% macro f(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, 3, x=4) }}",
                    "1(2, 3){'x': 4}"},
                   {"{% macro f(a, b) %}{{ a }}-{{ b }}{% endmacro %}{{ f(*[1, 2]) }}{{ f(**{'b': 3, 'a': "
                    "4}) }}{{ f(5, *[6]) }}",
                    "1-24-35-6"},
                   {"{% macro f() %}{{ varargs | length }}{% endmacro %}{{ f() }}{{ f(1, 2) }}", "02"},
                   {"{{ dict(**{'a': 1}) }}{{ '{}{}'.format(*'xy') }}", "{'a': 1}xy"}});
}

TEST(JinjaStatements, MacrosInsideBlocksSeeTheirVariables) {
  expect_rendered(
      {{"{% for i in [1, 2] %}{% macro f(x) %}{{ i }}{{ x }}{% endmacro %}{{ f('a') }}{% endfor %}", "1a2a"},
       {"{% if true %}{% macro f() %}ok{% endmacro %}{% endif %}{{ f() }}", "ok"}});
}

TEST(JinjaStatements, ScopesHaveTheirVariables) {
  expect_rendered({{"{% with a=1, b=2 %}{{ a + b }}{% endwith %}{{ a is defined }}", "3False"},
                   {"{% set a = 5 %}{% with a=1, b=a %}{{ a }}{{ b }}{% endwith %}{{ a }}", "155"},
                   {"{% with %}{% set x = 1 %}{{ x }}{% endwith %}{{ x is defined }}", "1False"}});
}

TEST(JinjaStatements, NamespacesAreValues) {
  expect_rendered({{"{% set head = namespace(role='system', content='') %}{% set head.content = 'Be brief.' "
                    "%}{% set all = [head] + [{'role': 'user', 'content': 'Hi'}] %}{% for m in all %}{{ "
                    "m.role }}: {{ m.content }};{% endfor %}",
                    "system: Be brief.;user: Hi;"},
                   {"{% set ns = namespace(all=[]) %}{% set h = namespace(role='s') %}{% set ns.all = [h] + "
                    "ns.all %}{% for m in ns.all %}{{ m.role }}{% endfor %}",
                    "s"},
                   {"{% set a = namespace(x=1) %}{% set b = [a, a] %}{% set a.x = 2 %}{{ b[1].x }}", "2"}});
}
TEST(JinjaStatements, CallsOfBlocksNeedACall) {
  EXPECT_THAT(render("{% call x %}{% endcall %}"), HasSubstr("line 1: a call expected"));
  EXPECT_THAT(render("{% filter nothing %}a{% endfilter %}"),
              HasSubstr("the filter 'nothing' is not supported"));
  EXPECT_THAT(render("{{ f(*a, *b) }}"), HasSubstr("two of * or ** in a call"));
  EXPECT_THAT(render("{{ range(**[1]) }}"), HasSubstr("** takes a mapping"));
  EXPECT_THAT(render("{% set ns = namespace() %}{% macro f() %}{% endmacro %}{% set ns.f = f %}"),
              HasSubstr("a namespace cannot hold functions"));
}

TEST(JinjaExpressions, FormatsThatDoNotFitAreErrors) {
  const Case cases[] = {{"'%s %s' % 'a'", "a format has more places than values"},
                        {"'%s' % (1, 2)", "a format has fewer places than values"},
                        {"'a' % 1", "a format has fewer places than values"},
                        {"'%d' % 'a'", "a string does not go with the format '%d'"},
                        {"'%y' % 1", "the format '%y' is not supported"},
                        {"'%' % 1", "a format ends after '%'"},
                        {"'%9999999s' % 1", "a format is wider than 1000"},
                        {"'{}'.format()", "format has no argument 0"},
                        {"'{a}'.format(b=1)", "format has no argument 'a'"},
                        {"'{'.format(1)", "a single brace in a format"},
                        {"'{:q}'.format(1)", "the format 'q' is not supported"},
                        {"'{:d}'.format('a')", "a string does not go with the format"},
                        {"'a'.index('b')", "index of a text that is not in the other"},
                        {"1 | tojson(indent=65)", "tojson takes 0 to 64, got 65"},
                        {"1 | tojson(separators=1)", "tojson takes a pair of separators"},
                        {"[1] | batch(0)", "batch takes 1 to 1000, got 0"},
                        {"'a' | round", "round takes a number, got a string"},
                        {"[1] | dictsort", "dictsort takes a mapping, got a list"}};
  for (const auto& [source, refusal] : cases)
    EXPECT_THAT(render("{{ " + std::string(source) + " }}"), HasSubstr(refusal)) << source;
}

}  // namespace
}  // namespace spectr::jinja
