// Text from a request is recognized as such wherever a template inserts it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "spectr/text/jinja/from_json.h"
#include "spectr/text/jinja/template.h"

namespace spectr::jinja {
namespace {

/// Returns the output of a template with text from the request between ‹ and ›.
std::string marked(std::string_view source) {
  static const auto request = nlohmann::ordered_json::parse(R"({
      "x": " a<b>-É1 ", "word": "hat", "list": ["p", "q"], "dict": {"key": "v\"", "n": 7}, "empty": ""})");
  const auto parsed = Template::parse(source);
  if (!parsed) return parsed.error().message;
  const auto text = parsed->render(*from_json(request, true)->dict());
  if (!text) return text.error().message;
  std::string out;
  for (const auto& [bytes, quoted] : text->pieces()) {
    out += quoted ? "‹" : "";
    out += bytes;
    out += quoted ? "›" : "";
  }
  return out;
}

void expect_marked(std::initializer_list<std::pair<const char*, const char*>> cases) {
  for (const auto& [source, expected] : cases)
    EXPECT_EQ(marked("{{ " + std::string(source) + " }}"), expected) << source;
}

TEST(JinjaQuotes, AreWhatTheRequestSaidAndNothingElse) {
  EXPECT_EQ(marked("<s>{{ word }}</s>"), "<s>‹hat›</s>");
  EXPECT_EQ(marked("{{ 'lit' }}{{ 1 }}{{ true }}{{ missing }}{{ empty }}"), "lit1True");
  EXPECT_EQ(marked("{{ word }}{{ word }}"), "‹hathat›");
}

TEST(JinjaQuotes, SurviveFiltersAndMethodsOfStrings) {
  expect_marked(
      {{"x | trim", "‹a<b>-É1›"},
       {"x.strip(' a')", "‹<b>-É1›"},
       {"x.lstrip() ~ x.rstrip()", "‹a<b>-É1  a<b>-É1›"},
       {"word | upper", "‹HAT›"},
       {"word.upper() ~ word.lower() ~ word | capitalize", "‹HAThatHat›"},
       {"word | title ~ word.title()", "‹HatHat›"},
       {"word | replace('a', 'o')", "‹h›o‹t›"},
       {"'hat' | replace('a', word)", "h‹hat›t"},
       {"'hat' | replace(word, 'x')", "x"},
       {"word.replace('h', '', 1)", "‹at›"},
       {"word | reverse", "‹tah›"},
       {"word | string | safe", "‹hat›"},
       {"word | default('x') ~ empty | default('x', true) ~ missing | default(word)", "‹hat›x‹hat›"},
       {"word.split('a')[1] ~ word.rsplit('a', 1)[0]", "‹th›"},
       {"x.split()[0] ~ ('a ' ~ word).splitlines()[0]", "‹a<b>-É1›a ‹hat›"}});
}

TEST(JinjaQuotes, SurviveFiltersOfHtmlAndWords) {
  expect_marked({{"('<b>' ~ word ~ '</b>') | striptags", "‹hat›"},
                 {"'&lt;' ~ ('&lt;' ~ word ~ ' ' ~ word) | striptags", "&lt;<‹hat› ‹hat›"},
                 {"(word ~ '&#60;') | striptags", "‹hat›<"},
                 {"x | striptags", "‹a-É1›"},
                 {"('a/' ~ word ~ ' ') | urlencode", "a/‹hat›%20"},
                 {"{'k': word} | xmlattr", " k=\"‹hat›\""},
                 {"(word ~ ' and ' ~ word) | wordwrap(7, wrapstring='|')", "‹hat› and|‹hat›"},
                 {"word.replace('', '-')", "-‹h›-‹a›-‹t›-"},
                 {"([word] * 2) | join", "‹hathat›"},
                 {"('É' ~ x) | upper", "É‹ A<B>-É1 ›"},
                 {"('ß' ~ word ~ 'ß').upper()", "SS‹HAT›SS"}});
}

TEST(JinjaQuotes, SurviveRecursionAndBlocks) {
  EXPECT_EQ(
      marked(
          "{% for c in [[word]] recursive %}{% if c is string %}{{ c }}{% else %}<{{ loop(c) }}>{% endif %}"
          "{% endfor %}"),
      "<‹hat›>");
  EXPECT_EQ(marked("{% block b %}<{{ word }}>{% endblock %}{{ self.b() }}"), "<‹hat›><‹hat›>");
}

TEST(JinjaQuotes, SurviveOperators) {
  expect_marked({{"'<' + word + '>'", "<‹hat›>"},
                 {"'<' ~ word ~ 1 ~ '>'", "<‹hat›1>"},
                 {"word * 2", "‹hathat›"},
                 {"('[' ~ word ~ ']')[1:3]", "‹ha›"},
                 {"('[' ~ word ~ ']')[::-1]", "]‹tah›["},
                 {"('[' ~ word ~ ']')[0] ~ word[0] ~ word[-1]", "[‹ht›"},
                 {"word if word == 'hat' else 'x'", "‹hat›"},
                 {"empty or word", "‹hat›"}});
}

TEST(JinjaQuotes, SurviveSequences) {
  expect_marked({{"list | join(', ')", "‹p›, ‹q›"},
                 {"['a', 'b'] | join(word)", "a‹hat›b"},
                 {"', '.join(list)", "‹p›, ‹q›"},
                 {"word | list | join", "‹hat›"},
                 {"word | first ~ word | last", "‹ht›"},
                 {"list | map('upper') | join", "‹PQ›"},
                 {"list | sort(reverse=true) | unique | join", "‹qp›"},
                 {"[{'a': word}] | map(attribute='a') | join", "‹hat›"},
                 {"dict.items() | first | join('=')", "‹key›=‹v\"›"},
                 {"dict.keys() | list | join ~ dict | first", "‹keynkey›"},
                 {"dict.get('key') ~ dict['key'] ~ dict.key", "‹v\"v\"v\"›"}});
  EXPECT_EQ(marked("{% for c in word %}[{{ c }}]{% endfor %}"), "[‹h›][‹a›][‹t›]");
  EXPECT_EQ(marked("{% for k, v in dict.items() %}{{ k }}:{{ v }};{% endfor %}"), "‹key›:‹v\"›;‹n›:7;");
}

TEST(JinjaQuotes, SurviveBeingWrittenAsPythonAndJson) {
  expect_marked({{"dict | tojson", R"({"‹key›": "‹v\"›", "‹n›": 7})"},
                 {"dict", R"({'‹key›': '‹v"›', '‹n›': 7})"},
                 {"[word, 'x'] | tojson(indent=1)", "[\n \"‹hat›\",\n \"x\"\n]"},
                 {"[word, 'x'] | string", "['‹hat›', 'x']"},
                 {"namespace(a=word)", "<Namespace {'a': '‹hat›'}>"}});
}

TEST(JinjaQuotes, SurviveBlocksMacrosAndNamespaces) {
  EXPECT_EQ(marked("{% set y %}<{{ word }}>{% endset %}{{ y }}"), "<‹hat›>");
  EXPECT_EQ(marked("{% macro f(a) %}<{{ a }}>{% endmacro %}{{ f(word) | upper }}"), "<‹HAT›>");
  EXPECT_EQ(
      marked("{% set ns = namespace(s='') %}{% for c in list %}{% set ns.s = ns.s ~ c ~ ';' %}{% endfor "
             "%}{{ ns.s }}"),
      "‹p›;‹q›;");
}

}  // namespace
}  // namespace spectr::jinja
