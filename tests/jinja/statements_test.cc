// Statements and their bindings; each expected text is Jinja 3.1's output.
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

TEST(JinjaLoops, TellWhetherAValueHasChanged) {
  expect_rendered(
      {{"{% for x in [1, 1, 2, 2, 1] %}{{ loop.changed(x) }} {% endfor %}", "True False True False True "},
       {"{% for x in [1, 1] %}{{ loop.changed(x, loop.index) }} {% endfor %}", "True True "},
       {"{% for x in [1, 2] %}{{ loop.changed() }} {% endfor %}", "True False "},
       {"{% for x in [1, 2] %}{% for y in [1, 1] %}{{ loop.changed(y) }}{% endfor %};{% endfor %}",
        "TrueFalse;TrueFalse;"},
       {"{% for x in 'abc' %}{{ loop.cycle('odd', 'even') }} {% endfor %}", "odd even odd "}});
}

TEST(JinjaLoops, CallThemselvesForWhatIsBelow) {
  expect_rendered(
      {{"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': []}]}, "
        "{'n': 'e', 'c': []}] %}{% for n in tree recursive %}{{ loop.depth }}{{ n.n }}{% if n.c %}({{ "
        "loop(n.c) }}){% endif %}{% endfor %}",
        "1a(2b(3c)2d)1e"},
       {"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': []}]}, "
        "{'n': 'e', 'c': []}] %}{% for n in tree recursive %}{{ loop.depth0 }}{{ loop.index }}{{ n.n }}{{ "
        "loop(n.c) }}{% endfor %}",
        "01a11b21c12d02e"},
       {"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': []}]}, "
        "{'n': 'e', 'c': []}] %}{% for n in tree recursive %}{{ n.n }}[{{ loop(n.c) }}]{% else %}-{% endfor "
        "%}",
        "a[b[c[-]]d[-]]e[-]"},
       {"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': []}]}, "
        "{'n': 'e', 'c': []}] %}{% for n in tree if n.n != 'd' recursive %}{{ n.n }}{{ loop(n.c) }}{% endfor "
        "%}",
        "abce"},
       {"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': []}]}, "
        "{'n': 'e', 'c': []}] %}{% for n in tree recursive %}{{ loop(n.c) | upper }}{{ n.n }}{% endfor %}",
        "CBDae"},
       {"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': []}]}, "
        "{'n': 'e', 'c': []}] %}{% for n in tree recursive %}{% if n.n == 'e' %}{% break %}{% endif %}{{ n.n "
        "}}{{ loop(n.c) }}{% endfor %}",
        "abcd"},
       {"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': []}]}, "
        "{'n': 'e', 'c': []}] %}{% for n in tree recursive %}{% set l = loop %}{% for c in n.c %}{{ c.n }}{{ "
        "l(c.c) }}{{ loop.depth }}{% endfor %}{% endfor %}",
        "b1d1"}});
}

TEST(JinjaLoops, SeeTheVariablesAroundThemAtEveryDepth) {
  expect_rendered({{"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': "
                    "[]}]}, {'n': 'e', 'c': []}] %}{% set top = 'T' %}{% for n in tree recursive %}{{ top "
                    "}}{{ n.n }}{{ loop(n.c) }}{% endfor %}",
                    "TaTbTcTdTe"},
                   {"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': "
                    "[]}]}, {'n': 'e', 'c': []}] %}{% with q = 5 %}{% for n in tree recursive %}{{ q }}{{ "
                    "n.n }}{{ loop(n.c) }}{% endfor %}{% endwith %}",
                    "5a5b5c5d5e"},
                   {"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': "
                    "[]}]}, {'n': 'e', 'c': []}] %}{% for n in tree recursive %}{{ before }}{% set before = "
                    "n.n %}{{ loop(n.c) }}{% endfor %}|",
                    "|"},
                   {"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': "
                    "[]}]}, {'n': 'e', 'c': []}] %}{% for y in [1, 2] %}{% for n in tree recursive %}{{ y "
                    "}}{{ n.n }}{{ loop(n.c) }}{% endfor %}{% endfor %}",
                    "1a1b1c1d1e2a2b2c2d2e"},
                   {"{% set tree = [{'n': 'a', 'c': [{'n': 'b', 'c': [{'n': 'c', 'c': []}]}, {'n': 'd', 'c': "
                    "[]}]}, {'n': 'e', 'c': []}] %}{% macro f(l, c) %}<{{ l(c) }}>{% endmacro %}{% for n in "
                    "tree recursive %}{{ n.n }}{{ f(loop, n.c) }}{% endfor %}",
                    "a<b<c<>>d<>>e<>"}});
}

TEST(JinjaLoops, AreObjects) {
  expect_rendered(
      {{"{% for x in [1] %}{{ loop }}{{ loop is mapping }}{{ loop is callable }}{{ loop.other is defined "
        "}}{{ loop['index'] }}{% endfor %}",
        "<LoopContext 1/1>FalseTrueFalse1"},
       {"{% for x in [1, 2] %}{{ loop == loop }}{{ 'yes' if loop }}{% endfor %}", "TrueyesTrueyes"}});
}

TEST(JinjaTargets, MayBeNested) {
  expect_rendered({{"{% for (a, b), c in [[[1, 2], 3]] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "123"},
                   {"{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "123"},
                   {"{% set a, (b, c) = 1, (2, 3) %}{{ a }}{{ b }}{{ c }}", "123"},
                   {"{% set a, b = 'xy' %}{{ a }}{{ b }}", "xy"},
                   {"{% set ns = namespace(x=0) %}{% set ns.x, y = 1, 2 %}{{ ns.x }}{{ y }}", "12"},
                   {"{% set ns = namespace() %}{% set ns.x | upper %}abc{% endset %}{{ ns.x }}", "ABC"},
                   {"{% for x in 1, 2, 3 %}{{ x }}{% endfor %}", "123"},
                   {"{{ 1, 2 }}{{ 1, }}", "(1, 2)(1,)"},
                   {"{% set a = 1, %}{{ a }}", "(1,)"}});
}

TEST(JinjaBlocks, AreRenderedInTheirPlace) {
  expect_rendered(
      {{"{% block a %}x{% endblock %}{% block b %}y{% endblock b %}", "xy"},
       {"{% block a %}{% block b %}in{% endblock %}out{% endblock %}", "inout"},
       {"{% set v = 1 %}{% block a %}{{ v }}{% set v = 2 %}{{ v }}{% endblock %}{{ v }}", "121"},
       {"{% for x in [1, 2] %}{% block a %}[{{ x }}]{% endblock %}{% endfor %}", "[][]"},
       {"{% for x in [1, 2] %}{% block a scoped %}[{{ x }}{{ loop.index }}]{% endblock %}{% endfor %}",
        "[11][22]"},
       {"{% with z = 3 %}{% block a %}{{ z }}{% endblock %}{% block b scoped %}{{ z }}{% endblock %}{% "
        "endwith %}",
        "3"},
       {"{% macro m() %}M{% endmacro %}{% block a %}{{ m() }}{% endblock %}", "M"},
       {"{{ self.a() }}{% block a %}x{% endblock %}{{ self.a() | upper }}", "xxX"},
       {"  {% block a %}\n x\n  {% endblock %}\ny", " x\ny"},
       {"{% autoescape false %}{{ '<' }}{% endautoescape %}", "<"}});
}

TEST(JinjaFunctions, TakeTurnsAndJoin) {
  expect_rendered(
      {{"{% set c = cycler('a', 'b', 'c') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ "
        "c.next() }}{{ c.current }}{% set _ = c.reset() %}{{ c.current }}",
        "abccaba"},
       {"{% set c = cycler(*[1, 2]) %}{% for i in range(5) %}{{ c.next() }}{% endfor %}", "12121"},
       {"{% set j = joiner(', ') %}{% for x in 'abc' %}{{ j() }}{{ x }}{% endfor %}", "a, b, c"},
       {"{% set j = joiner(sep='; ') %}{% for x in 'abc' if x != 'b' %}{{ j() }}{{ x }}{% endfor %}", "a; c"},
       {"{{ dict([('a', 1)], b=2) }}{{ dict({'a': 1}) }}{{ namespace([['a', 1]]).a }}",
        "{'a': 1, 'b': 2}{'a': 1}1"}});
}

TEST(JinjaMacros, TellOfThemselves) {
  expect_rendered(
      {{"{% macro f(a, b='x') %}{{ kwargs }}{{ caller() }}{% endmacro %}{{ f.name }}{{ f.arguments }}{{ "
        "f.catch_kwargs }}{{ f.catch_varargs }}{{ f.caller }}",
        "f('a', 'b')TrueFalseTrue"}});
}

TEST(JinjaLoops, ThatAreNotRecursiveCannotBeCalled) {
  EXPECT_THAT(render("{% for x in [1] %}{{ loop([]) }}{% endfor %}"), HasSubstr("the loop is not recursive"));
  EXPECT_THAT(render("{% for x in [1] %}{{ loop.changed(a=1) }}{% endfor %}"),
              HasSubstr("loop.changed takes values without names"));
  EXPECT_THAT(render("{% set ns = namespace() %}{% for x in [1] %}{% set ns.l = loop %}{% endfor %}"),
              HasSubstr("a namespace cannot hold functions"));
}

TEST(JinjaBlocks, ThatAreNotSupportedAreNamed) {
  EXPECT_THAT(render("{% block a %}{% endblock %}{% block a %}{% endblock %}"),
              HasSubstr("two blocks are called 'a'"));
  EXPECT_THAT(render("{% block a %}{% endblock b %}"), HasSubstr("'endblock' of another block than 'a'"));
  EXPECT_THAT(render("{% block a required %}{% endblock %}"), HasSubstr("required blocks are not supported"));
  EXPECT_THAT(render("{% block a %}{{ super() }}{% endblock %}"),
              HasSubstr("the function 'super' is not supported"));
  EXPECT_THAT(render("{% autoescape true %}{% endautoescape %}"),
              HasSubstr("autoescape is supported with false"));
  EXPECT_THAT(render("{% for x in [1] %}{% block a %}{% break %}{% endblock %}{% endfor %}"),
              HasSubstr("'break' outside a loop"));
  for (const char* tag :
       {"include 'x'", "extends 'x'", "import 'x' as y", "from 'x' import y", "do x", "trans"})
    EXPECT_THAT(render("{% " + std::string(tag) + " %}"), HasSubstr("is not supported")) << tag;
}

TEST(JinjaTargets, TakeAsManyValuesAsTheyAre) {
  EXPECT_THAT(render("{% set a, b = [1] %}"), HasSubstr("2 names for a list of 1"));
  EXPECT_THAT(render("{% set x.y = 1 %}"), HasSubstr("'x' is not a namespace"));
}

}  // namespace
}  // namespace spectr::jinja
