#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/jinja/render.h"

namespace spectr::jinja {
namespace {

using testing::HasSubstr;

/// An expression and Jinja 3.1's output for it.
using Case = std::pair<const char*, const char*>;

void expect_jinjas(std::initializer_list<Case> cases) {
  for (const auto& [source, expected] : cases)
    EXPECT_EQ(render("{{ " + std::string(source) + " }}"), expected) << source;
}

TEST(JinjaExpressions, StringsGoByCharacters) {
  expect_jinjas({{"'é'[0]", "é"},
                 {"'größer'[:3]", "grö"},
                 {"'größer'[-2:]", "er"},
                 {"'größer'[::-1]", "reßörg"},
                 {"'größer'[1:5:2]", "rß"},
                 {"'abc'[5]", ""},
                 {"'né' | list", "['n', 'é']"},
                 {"'éab' | first ~ 'aé' | last ~ '' | first", "éé"},
                 {"'aé' | length", "2"},
                 {"'né' | reverse", "én"},
                 {"'ééxè'.strip('é')", "xè"},
                 {"'\u00a0x\u3000' | trim", "x"}});
  EXPECT_EQ(render("{% for c in 'né' %}{{ c }};{% endfor %}"), "n;é;");
}

TEST(JinjaExpressions, StringsHaveTheirMethods) {
  expect_jinjas({{"'a,b,c'.split(',', 1)[1]", "b,c"},
                 {"'a,b,c'.rsplit(',', 1)", "['a,b', 'c']"},
                 {"'éxéx'.rsplit('éx', 1)", "['éx', '']"},
                 {"'aaa'.split('aa') ~ 'aaa'.rsplit('aa')", "['', 'a']['a', '']"},
                 {"' a b  c '.split(none, 1)", "['a', 'b  c ']"},
                 {"' a b  c '.rsplit(none, 1)", "[' a b', 'c']"},
                 {"''.split() ~ ''.split(',')", "[]['']"},
                 {"'a\\nb\\r\\n\\nc\\n'.splitlines()", "['a', 'b', '', 'c']"},
                 {"'abc'.startswith(('a', 'b')) ~ 'abc'.endswith(('x', 'y'))", "TrueFalse"},
                 {"', '.join(['a', 'b']) ~ ','.join('cd')", "a, bc,d"},
                 {"'éa'.find('a') ~ 'a'.find('x') ~ 'a'.find('')", "1-10"},
                 {"'aaa'.count('aa')", "1"},
                 {"'bbb'.replace('b', 'x', 2) ~ 'bbb' | replace('b', 'x', 1)", "xxbxbb"},
                 {"'a_b it\\'s 1a'.title()", "A_B It'S 1A"},
                 {"'a_b it\\'s-(x'|title", "A_b It's-(X"},
                 {"'=' * 3", "==="}});
}

TEST(JinjaExpressions, OperatorsBindAndCompareAsInPython) {
  expect_jinjas({{"3 > 2 > 1", "True"},
                 {"1 < 3 < 2", "False"},
                 {"1 == 1 in [1]", "True"},
                 {"1 in [1] == true", "False"},
                 {"4/2", "2.0"},
                 {"2 ** -1", "0.5"},
                 {"2 ** 3 ** 2", "64"},
                 {"-2 ** 2", "4"},
                 {"0.1 + 0.2", "0.30000000000000004"},
                 {"-'5' | int", "FAIL chat template: an integer and a string do not go with '-'"},
                 {"1 + 2 ~ 3", "FAIL chat template: an integer and a string do not go with '+'"},
                 {"(1, 2) == [1, 2]", "False"},
                 {"{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", "True"},
                 {"9007199254740993 == 9007199254740992", "False"},
                 {"9007199254740993 + 1", "9007199254740994"}});
}

TEST(JinjaExpressions, TestsDecideAsInJinja) {
  expect_jinjas({{"'b' is in 'abc'", "True"},
                 {"3 is not in [1]", "True"},
                 {"'a' is in {'a': 1}", "True"},
                 {"true is number", "True"},
                 {"10 is divisibleby 5", "True"},
                 {"1 is lt 2 and 2 is ge 2 and 1 is ne 2", "True"},
                 {"[1, 2, 3] | select('gt', 1) | list", "[2, 3]"},
                 {"[{'r': 'u'}, {'r': 'a'}] | selectattr('r', '==', 'u') | list", "[{'r': 'u'}]"},
                 {"'a' is odd", "FAIL chat template: a string has no remainder by 2"}});
}

TEST(JinjaExpressions, FiltersGiveWhatTheyGiveInJinja) {
  expect_jinjas({{"'-5' | int", "-5"},
                 {"' 42 ' | int", "42"},
                 {"'3.7' | int", "3"},
                 {"'x' | int(9)", "9"},
                 {"none | int", "0"},
                 {"[{'a': {'b': 1}}] | map(attribute='a.b') | list", "[1]"},
                 {"[{'a': [5]}] | map(attribute='a.0') | list", "[5]"},
                 {"[{'a': 1}, {}] | map(attribute='a', default=7) | list", "[1, 7]"},
                 {"['a', missing] | map('default', 'x') | join", "ax"},
                 {"[{'r': {'x': 1}}, {'r': {}}] | selectattr('r.x') | list | length", "1"},
                 {"[{'a': 1}, {'a': 2}] | join(',', attribute='a')", "1,2"},
                 {"['b', 'A', 'c'] | sort", "['A', 'b', 'c']"},
                 {"['b', 'B', 'a'] | sort(case_sensitive=true)", "['B', 'a', 'b']"},
                 {"[{'a': 2}, {'a': 1}] | sort(attribute='a') | map(attribute='a') | list", "[1, 2]"},
                 {"[1, 3, 2] | sort(reverse=true)", "[3, 2, 1]"},
                 {"['b', 'A', 'a', 'b'] | unique | list", "['b', 'A']"},
                 {"[1, 2] | reverse | list", "[2, 1]"},
                 {"missing | join ~ missing | list ~ missing | first", "[]"},
                 {"{'a': 1} | first", "a"},
                 {"{'a': [1]} | tojson(indent=1)", "{\n \"a\": [\n  1\n ]\n}"}});
}

TEST(JinjaExpressions, ValuesArePrintedAsPythonDoes) {
  expect_jinjas({{"{'a': 'b'}", "{'a': 'b'}"},
                 {"[none, true, 1.0, missing]", "[None, True, 1.0, Undefined]"},
                 {"(1, 2) ~ (1,) ~ ()", "(1, 2)(1,)()"},
                 {"['it\\'s', '\"\\'', '\\n\\t\\\\\\x01é\\u00a0']", R"(["it's", '"\'', '\n\t\\\x01é\xa0'])"},
                 {"{'a': 1}.items() | list", "[('a', 1)]"},
                 {"namespace(a=1)", "<Namespace {'a': 1}>"},
                 {"[1.0, (2, 3)] | tojson", "[1.0, [2, 3]]"}});
}

TEST(JinjaExpressions, StringsHavePythonsEscapes) {
  expect_jinjas({{"'a\\u00e9'", "aé"},
                 {"'\\x41\\101\\U0001F600\\d'", "AA😀\\d"},
                 {"'a\\\nb' 'c'", "abc"},
                 {"'\\ud83d'", "PARSE chat template: line 1: '\\ud83d' is not a character"},
                 {"'\\x4'", "PARSE chat template: line 1: '\\x4' is not a character"},
                 {"'\\N{DIGIT ONE}'", "PARSE chat template: line 1: '\\N' is not supported"}});
}

TEST(JinjaExpressions, ArgumentsThatNothingTakesAreErrors) {
  expect_jinjas(
      {{"'x' | trim('a', 'b')", "FAIL chat template: 'trim' takes 1 arguments, got 2"},
       {"'x' | upper(1)", "FAIL chat template: 'upper' takes 0 arguments, got 1"},
       {"'x'.upper(1)", "FAIL chat template: 'upper' takes 0 arguments, got 1"},
       {"'x' is string(1)", "FAIL chat template: 'string' takes 0 arguments, got 1"},
       {"'x'.startswith('x', 0, 1, 2)", "FAIL chat template: 'startswith' takes 3 arguments, got 4"},
       {"'x'.startswith()", "FAIL chat template: 'startswith' needs the argument 'prefix'"},
       {"{'a': 1}.get('a', 1, 2)", "FAIL chat template: 'get' takes 2 arguments, got 3"},
       {"'x' | default('y', yes=1)", "FAIL chat template: 'default' takes no argument 'yes'"},
       {"'x' | default('y', default_value=1)",
        "FAIL chat template: 'default' is given 'default_value' twice"},
       {"1 | tojson(sort=true)", "FAIL chat template: 'tojson' takes no argument 'sort'"},
       {"1 is equalto", "FAIL chat template: 'equalto' needs the argument 'b'"},
       {"strftime_now()", "FAIL chat template: 'strftime_now' needs the argument 'format'"},
       {"namespace(1)", "FAIL chat template: namespace takes one mapping, and named values"},
       {"{[]: 2}", "FAIL chat template: a list cannot be a key"}});
  EXPECT_THAT(render("{% macro f(a) %}{{ a }}{% endmacro %}{{ f(b=1) }}"),
              HasSubstr("'f' takes no argument 'b'"));
  EXPECT_THAT(render("{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}"),
              HasSubstr("'f' takes 1 arguments"));
}

TEST(JinjaStatements, MacrosSeeWhatIsSetOutsideThem) {
  EXPECT_EQ(render("{% set x = 1 %}{% macro f() %}{{ x }}{{ g() }}{% endmacro %}{% macro g() %}a{% endmacro "
                   "%}{{ f() }}"),
            "1a");
  EXPECT_EQ(render("{% macro f(n) %}{{ n }}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(2) }}"),
            "210");
  EXPECT_EQ(render("{% set x = 1 %}{% macro f() %}{% set x = 2 %}{{ x }}{% endmacro %}{{ f() }}{{ x }}"),
            "21");
}

TEST(JinjaStatements, LoopsCountAndNest) {
  EXPECT_EQ(render("{% for i in [1, 2, 3] %}{{ loop.cycle('a', 'b') }}{{ loop.depth }}{% endfor %}"),
            "a1b1a1");
  EXPECT_THAT(render("{% for i in [1] %}{% set x %}{% break %}{% endset %}{% endfor %}"),
              HasSubstr("'break' outside a loop"));
}

TEST(JinjaStatements, RawTextIsLeftAsItIs) {
  EXPECT_EQ(render("a{% raw %}\n {{ x }} {% endraw %}\n b {%- raw -%} x {%- endraw -%} c"),
            "a\n {{ x }}  bxc");
  EXPECT_EQ(render("{% raw %}{{ a }}{% if %}{% endraw %}"), "{{ a }}{% if %}");
  EXPECT_THAT(render("a\n{% raw %}b"), HasSubstr("line 2: 'endraw' is missing"));
}

TEST(JinjaStatements, LinesMayEndInCarriageReturns) {
  EXPECT_EQ(render("a\r\n{% if true %}\r\nb\r\n{% endif %}\r\nc"), "a\nb\nc");
}

}  // namespace
}  // namespace spectr::jinja
