#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "spectr/text/jinja/value.h"
#include "tests/jinja/render.h"

namespace spectr::jinja {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

std::string times(int n, std::string_view text) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

struct Case {
  std::string source;
  const char* refusal;
};

TEST(ChatLimits, NothingGrowsWithoutBounds) {
  const Case cases[] = {
      {"{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "bytes of values"},
      {"{{ range(999999999) }}", "a range of more than"},
      {"{{ range(0, 9223372036854775807) }}", "a range of more than"},
      {"{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor "
       "%}",
       "bytes of values"},
      {"{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ "
       "ns.l }}",
       "bytes of values"},
      {"{{ '' * 999999999 }}", "bytes of values"},
      {"{{ ('b' * 99999) | unique | list | length }}{{ range(9999) | unique | list | length }}",
       "bytes of values"},
      {"{{ 'a'.strip('b' * 999) }}", "characters to strip"},
      // Searching at each position or in each member multiplies the cost.
      {"{{ (('b' * 1000) * 200).strip('a' * 199 ~ 'b') }}", "bytes of values"},
      {"{{ range(9999) | map(attribute='x' * 9999) | list }}", "bytes of values"},
      // Splitting a text costs more than the text.
      {"{{ (('a' * 1000) * 2000).split('a') | length }}", "bytes of values"},
      {"{{ (('a ' * 1000) * 2000).split() | length }}", "bytes of values"},
      {"{{ (('a' * 1000) * 2000).rsplit('a') | length }}", "bytes of values"},
      {"{{ (('\\n' * 1000) * 2000).splitlines() | length }}", "bytes of values"},
      {std::string(300'000, 'x'), "at most 262144 are read"},
  };
  for (const auto& [source, refusal] : cases)
    EXPECT_THAT(render(source), HasSubstr(refusal)) << source.substr(0, 80);
}

TEST(ChatLimits, SearchesOfMembersAreCharged) {
  const std::string lookups[] = {"{{ tools[k] }}", "{{ tools.get(k) }}", "{{ k in tools }}"};
  for (const std::string& lookup : lookups) {
    const std::string source = "{% for k in tools %}" + lookup + "{% endfor %}";
    Json tools = Json::object();
    for (int i = 0; i < 1000; ++i) tools[std::to_string(i)] = 1;
    EXPECT_THAT(render(source, {{"tools", tools}}), Not(HasSubstr("FAIL"))) << lookup;
    for (int i = 0; i < 10000; ++i) tools[std::to_string(i)] = 1;
    EXPECT_THAT(render(source, {{"tools", tools}}), HasSubstr("bytes of values")) << lookup;
  }
}

TEST(ChatLimits, NamesThatAreComparedAreCharged) {
  const std::string source = "{% for i in range(5000) %}{% if d[k] %}{% endif %}{% endfor %}";
  const std::string same(10'000, 'a');
  Json names = Json::object(), other = Json::object();
  for (const char last : {'a', 'b', 'c', 'd'}) names[same + last] = 1;
  for (std::size_t more = 1; more < 5; ++more) other[same + std::string(more, 'b')] = 1;
  EXPECT_THAT(render(source, {{"d", names}, {"k", same + "d"}}), HasSubstr("bytes of values"));
  EXPECT_THAT(render(source, {{"d", other}, {"k", same}}), Not(HasSubstr("FAIL")));
}

TEST(ChatLimits, AWalkEndsWhereTheBytesDo) {
  Value twice = std::int64_t{1};
  for (int i = 0; i < 60; ++i) twice = List{twice, twice};  // 2^60 integers if they were visited
  EXPECT_GT(twice.weight(1000), 1000u);
  EXPECT_LT(twice.weight(1000), 10'000u);
}

TEST(ChatLimits, CountingMakesNoParts) {
  EXPECT_EQ(render("{{ (('a' * 1000) * 3000).count('a') }}"), "3000000");
}

TEST(ChatLimits, GrowWithWhatIsSaid) {
  const std::string source =
      "{% for m in messages %}{% for part in m.content %}"
      "{% if part.type == 'image' %}!{% endif %}{% endfor %}{{ m.content }};{% endfor %}";
  Json few = Json::array(), many = Json::array();
  for (int i = 0; i < 20; ++i) few.push_back({{"content", std::string(12'000, 'a')}});
  for (int i = 0; i < 600; ++i) many.push_back({{"content", std::string(800, 'a')}});
  EXPECT_EQ(render(source, {{"messages", few}}).size(), 20U * 12'001);
  EXPECT_EQ(render(source, {{"messages", many}}).size(), 600U * 801);
  const std::string runaway = "{% for a in s %}{% for b in s %}{% endfor %}{% endfor %}";
  EXPECT_THAT(render(runaway, {{"s", std::string(100'000, 'a')}}), HasSubstr("more than"));
}

TEST(ChatLimits, RoundsOfALoopAreSteps) {
  const auto parsed = Template::parse("{% for i in range(101) %}{% endfor %}", {.steps = 100});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->render({}).error().message, HasSubstr("more than 100 steps"));
  const auto mapped = Template::parse("{{ range(101) | map(attribute='x') | list }}", {.steps = 100});
  ASSERT_TRUE(mapped);
  EXPECT_THAT(mapped->render({}).error().message, HasSubstr("more than 100 steps"));
}

TEST(ChatLimits, BoundRepetitionRecursionAndLongWords) {
  const Case cases[] = {
      {"{{ 'x' * 1000000000 }}", "bytes of values"},
      {"{{ '' * 9223372036854775807 }}", "bytes of values"},
      {"{{ ([1] * 1000000000) | length }}", "bytes of values"},
      {"{{ [] * 9223372036854775807 }}", "bytes of values"},
      {"{{ ('x' * 1000000).replace('', 'y' * 1000) }}", "bytes of values"},
      {"{{ ('x ' * 100000) | wordwrap(1, wrapstring='y' * 1000) }}", "bytes of values"},
      {"{{ ('x ' * 1000000) | wordwrap }}", "more than 1000000 steps"},
      {"{{ ('\\t' * 1000000).expandtabs(1000) }}", "bytes of values"},
      {"{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "macros call each other"},
      {"{% for x in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}", "macros call each other"},
      {"{% block a %}{{ self.a() }}{% endblock %}", "macros call each other"},
      {"{% set c = cycler(*range(100000)) %}{% for i in range(99999) %}{% for j in range(99999) %}{{ "
       "c.next() }}"
       "{% endfor %}{% endfor %}",
       "more than"},
      {"{% set " + times(100, "(") + "a" + times(100, ")") + " = 1 %}", "levels of nesting"},
      {"{% for " + times(100, "(") + "a" + times(100, ")") + " in [] %}{% endfor %}", "levels of nesting"},
  };
  for (const auto& [source, refusal] : cases)
    EXPECT_THAT(render(source), HasSubstr(refusal)) << source.substr(0, 80);
}

TEST(ChatLimits, NoValueContainsItself) {
  const Case cases[] = {
      {"{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}", "cannot hold namespaces"},
      {"{% set a = namespace() %}{% set b = namespace(a=a) %}{% set a.b = b %}", "cannot hold namespaces"},
      {"{% set ns = namespace() %}{% set ns.me = [ns] %}", "cannot hold namespaces"},
      {"{% set ns = namespace() %}{% set ns.me = {'a': [ns]} %}", "cannot hold namespaces"},
      {"{% set up = namespace() %}{% for i in range(100) %}{% set new = namespace(old=up.new) %}"
       "{% set up.new = new %}{% endfor %}",
       "nested too deeply"},
      {"{% set x = 1 %}" + times(100, "{% set x = dict(x=x) %}"), "nested too deeply"},
      {"{% set ns = namespace(x=1) %}{% for i in range(100) %}{% set ns.x = [ns.x] %}{% endfor %}",
       "nested too deeply"},
  };
  for (const auto& [source, refusal] : cases)
    EXPECT_THAT(render(source), HasSubstr(refusal)) << source.substr(0, 80);
}

// The expression has 29 levels of brackets with six chains in each: 160 KB.
TEST(ChatLimits, ExpressionsAreAsDeepAsTheStackAllows) {
  const std::string chains = times(250, "|int") + times(250, "**1") + times(250, "*1") + times(250, "+0") +
                             times(250, " and 1") + times(250, " or 1");
  const Case cases[] = {
      {"{{ " + times(29, "(") + "1" + times(29, chains + ")") + " }}", "operations"},
      {"{{ 1" + times(513, "|int") + " }}", "operations"},
      {"{{ 1" + times(513, " if 1") + " }}", "operations"},
      {"{{ x" + times(513, ".x") + " }}", "operations"},
      {"{{ x" + times(513, " is defined") + " }}", "operations"},
      {"{{ " + times(1000, "(") + "1" + times(1000, ")") + " }}", "levels of nesting"},
      {"{{ " + times(60'000, "not ") + " 1 }}", "levels of nesting"},
      {"{% set x = " + times(100'000, "-") + "1 %}", "levels of nesting"},
      {times(100'000 / 16, "{% if true %}"), "levels of nesting"},
  };
  for (const auto& [source, refusal] : cases)
    EXPECT_THAT(render(source), HasSubstr(refusal)) << source.substr(0, 80);
  EXPECT_EQ(render("{{ 1" + times(500, "|int") + " }}"), "1");
}

TEST(ChatLimits, MacrosThatRememberEachOtherAreAChainThatEnds) {
  const std::string macro = "{% macro f() %}{% endmacro %}";
  EXPECT_THAT(render("{% with %}" + times(40, macro) + "{% endwith %}"),
              HasSubstr("macros remember each other"));
  EXPECT_THAT(render("{% with %}" + times(40, macro + "{% set l = [f, l] %}") + "{% endwith %}"),
              HasSubstr("macros remember each other"));
  EXPECT_EQ(render(times(1000, macro) + "{% for i in range(99) %}" + macro + "{% endfor %}ok"), "ok");
}

TEST(ChatLimits, DepthIsCountedAcrossMacros) {
  EXPECT_THAT(
      render("{% macro f() %}{{ f()" + times(200, "|trim") + times(200, "~1") + " }}{% endmacro %}{{ f() }}"),
      HasSubstr("nodes within each other"));
  EXPECT_THAT(render("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), HasSubstr("macros call each other"));
}

// Like Qwen3's template, this one iterates backwards through the conversation and computes
// each message's distance from the end.
TEST(ChatLimits, LongConversationsCostWhatTheyAreLong) {
  const std::string source =
      R"({%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1, all=messages) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set ns.seen = loop.index0 %}
    {%- if tools | default([]) or messages is undefined or messages | first == none %}{% endif %}
    {%- if '</think>' in message.content %}{% endif %}
    {%- if loop.index0 > ns.last_query_index or not messages[loop.index0:] or (messages | last).role == '' %}!{% endif %}
    {{- message.content.strip('\n') + ';' }}
{%- endfor %})";
  Json messages = Json::array();
  for (int i = 0; i < 500; ++i)
    messages.push_back({{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", std::string(400, 'a')}});
  const std::string text = render(source, {{"messages", messages}});
  EXPECT_EQ(text.substr(0, 40), times(40, "a"));
  EXPECT_EQ(text.size(), 500U * 401 + 1);
}

}  // namespace
}  // namespace spectr::jinja
