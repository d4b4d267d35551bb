#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/jinja/render.h"

namespace spectr::jinja {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

const Json conversation = Json::parse(R"({"messages": [
  {"role": "system", "content": "Be brief."}, {"role": "user", "content": " Hi "},
  {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Bye"}],
  "bos_token": "<s>", "n": 3, "add_generation_prompt": true})");

std::string render(std::string_view source) {
  return jinja::render(source, conversation);
}

TEST(ChatTemplate, ExpressionsHavePythonsMeaning) {
  const std::pair<const char*, const char*> cases[] = {
      {"1 + 2 * 3", "7"},
      {"7 // 2 ~ 7 % 4 ~ -7 // 2", "33-4"},
      {"7 / 2", "3.5"},
      {"'a' + 'b' ~ 1", "ab1"},
      {"not true or 1 == 1.0", "True"},
      {"'yes' if n > 2 else 'no'", "yes"},
      {"missing", ""},
      {"missing is defined, n is defined", "(False, True)"},
      {"messages[-1].content", "Bye"},
      {"messages[1:3][0]['content'] | trim", "Hi"},
      {"'abc'[::-1]", "cba"},
      {"messages | length", "4"},
      {"'b' in ['a', 'b'] and 'x' not in 'abc'", "True"},
      {"messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | join('|')", " Hi |Bye"},
      {"{'a': [1, true, none], 'b': 'é\"'} | tojson", R"({"a": [1, true, null], "b": "é\""})"},
      {"' x '.strip() + 'a-b'.replace('-', '+') + 'A'.lower()", "xa+ba"},
      {"'a,b'.split(',')[1]", "b"},
      {"[1, 2, 3] | reject('equalto', 2) | list", "[1, 3]"},
      {"n is number and not n is string and none is none", "True"},
      {"messages[0].get('name', 'nobody')", "nobody"},
      {"(1, 2)[1] ~ range(3) | last", "22"},
      {"range(0, 9223372036854775807, 9223372036854775806) | list", "[0, 9223372036854775806]"},
      {"range(9, 0, -4) | list", "[9, 5, 1]"},
      {"missing | default('x')", "x"},
      {"messages.1.role ~ messages.0['role']", "usersystem"},
  };
  for (const auto& [source, expected] : cases) {
    EXPECT_THAT(render("{{ " + std::string(source) + " }}"), testing::StartsWith(expected)) << source;
  }
}

TEST(ChatTemplate, StatementsDoWhatJinjaDoes) {
  EXPECT_EQ(
      render("{% for m in messages if m.role == 'user' %}{{ loop.index0 }}{{ m.content }}{{ loop.last }};"
             "{% endfor %}"),
      "0 Hi False;1ByeTrue;");
  EXPECT_EQ(render("{% for x in [] %}a{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(render("{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{% endfor %}"), "a1b2");
  EXPECT_EQ(render("{% set x = 1 %}{% for i in range(3) %}{% set x = i %}{% endfor %}{{ x }}"), "1");
  EXPECT_EQ(
      render("{% set ns = namespace(x=1) %}{% for i in range(3) %}{% set ns.x = i %}{% endfor %}{{ ns.x }}"),
      "2");
  EXPECT_EQ(render("{% macro twice(a, b='!') %}{{ a }}{{ a }}{{ b }}{% endmacro %}{{ twice('x') + twice('y', "
                   "b='?') }}"),
            "xx!yy?");
  EXPECT_EQ(
      render("{% macro f(a, b=1) %}[{{ a }}{{ b }}]{% endmacro %}{{ f(missing, missing) + f(0, b=missing) "
             "+ f(0) }}"),
      "[][0][01]")
      << "an undefined value is one";
  EXPECT_EQ(render("{% set x %}a{{ n }}{% endset %}[{{ x }}]"), "[a3]");
  EXPECT_EQ(render("{% set x %}{% set y = 1 %}{{ y }}{% endset %}{{ x }}{{ y is defined }}"), "1False");
  EXPECT_EQ(render("{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 4 %}{% break "
                   "%}{% endif %}"
                   "{{ i }}{% endfor %}"),
            "023");
  EXPECT_EQ(render("{% if n == 1 %}a{% elif n == 3 %}b{% else %}c{% endif %}"), "b");
}

TEST(ChatTemplate, WhiteSpaceGoesAsTemplatesExpect) {
  EXPECT_EQ(render("a\n  {% if true %}\nb\n  {% endif %}\nc\n"), "a\nb\nc");
  EXPECT_EQ(render("a\n  {{- 'b' -}}  \n c"), "abc");
  EXPECT_EQ(render("a {# not seen #}\nb"), "a b");
  EXPECT_EQ(render("x{%- if true -%}  y  {%- endif %}\n\nz"), "xy\nz");
  EXPECT_EQ(render("a{# c +#}\nb{#-#}\nc{# c -#} \n d"), "a\nbcd");
  EXPECT_EQ(render("{% if true +%}\na{% endif +%}\nb"), "\na\nb");
  EXPECT_EQ(render("{% raw %}{{ x {% endraw +%}\nb"), "{{ x \nb");
}

TEST(ChatTemplate, RendersAConversation) {
  EXPECT_EQ(render(R"({{ bos_token }}{% for m in messages %}{% if m['role'] == 'system' %}[{{ m.content }}]
{% else %}<{{ m.role }}>{{ m.content | trim }}</>
{% endif %}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %})"),
            "<s>[Be brief.]\n<user>Hi</>\n<assistant>Hello</>\n<user>Bye</>\n<assistant>");
}

TEST(ChatTemplate, WhatATemplateRaisesIsTheError) {
  EXPECT_EQ(render("{{ raise_exception('no ' + messages[0].role + ' here') }}"),
            "FAIL chat template: no system here");
  EXPECT_THAT(render("a\n{{ 1 +"), HasSubstr("line 2"));
  EXPECT_THAT(render("{% include 'x' %}"), HasSubstr("'include' is not supported"));
  EXPECT_THAT(render("{{ 'a' | shuffle }}"), HasSubstr("filter 'shuffle' is not supported"));
  EXPECT_THAT(render("{{ ''.__class__.__mro__ }}"), testing::Not(HasSubstr("object")));
  EXPECT_THAT(render("{{ missing.role }}"), HasSubstr("undefined"));
}

}  // namespace
}  // namespace spectr::jinja
