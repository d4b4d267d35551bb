// /infill as in llama.cpp, `suffix` in other APIs, and limits that end a text at a newline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/server/test_server.h"
#include "tests/support/models/scripted_model.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Ids = test::ScriptedModel::Ids;

const Ids gap_ids = {{"tokenizer.ggml.fim_pre_token_id", 1},
                     {"tokenizer.ggml.fim_suf_token_id", 2},
                     {"tokenizer.ggml.fim_mid_token_id", 3}};
const Ids repository_ids = {{"tokenizer.ggml.fim_rep_token_id", 4}, {"tokenizer.ggml.fim_sep_token_id", 5}};

/// A server whose model fills gaps: its text follows the mark of the gap. Its marks are the bytes 1 to 5.
class InfillServer {
 public:
  explicit InfillServer(const std::vector<std::string>& said, const Ids& more = {}, bool suffix_first = false,
                        std::size_t context = 4096)
      : model_({{'\x03', said}}, with(gap_ids, more)), server_(options_of(model_, suffix_first, context)) {}

  const TestServer& operator*() const { return server_; }
  const TestServer* operator->() const { return &server_; }

  TestJson fill(TestJson fields = TestJson::object()) const {
    TestJson body = {{"input_prefix", "f("},
                     {"input_suffix", ");"},
                     {"prompt", "x"},
                     {"n_predict", 20},
                     {"temperature", 0}};
    body.update(fields);
    const auto reply = server_.post("/infill", body);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json();
  }

 private:
  static Ids with(Ids ids, const Ids& more) {
    ids.insert(more.begin(), more.end());
    return ids;
  }
  static ServerOptions options_of(const test::ScriptedModel& model, bool suffix_first, std::size_t context) {
    ServerOptions options = TestServer::options(2);
    options.service.defaults.suffix_first = suffix_first;
    EngineOptions& engine = options.service.engine;
    engine.models.target = model.path();
    engine.models.drafts.clear();
    engine.models.context = context;
    return options;
  }

  test::ScriptedModel model_;
  TestServer server_;
};

TEST(Infill, PutsTheGapBehindPrefixAndSuffix) {
  const InfillServer server({"one", ", two"});
  const TestJson told = server.fill();
  EXPECT_EQ(told["content"], "one, two");
  EXPECT_EQ(told["prompt"],
            "\x01"
            "f(x\x02);\x03");
  EXPECT_EQ(told["stop_type"], "eos");
  EXPECT_EQ(told["tokens_evaluated"], 8);
  EXPECT_EQ(server.fill({{"prompt", nullptr}})["prompt"],
            "\x01"
            "f(\x02);\x03");
  EXPECT_EQ(server.fill({{"input_prefix", ""}, {"prompt", ""}})["prompt"], "\x01\x02);\x03");
}

TEST(Infill, IsStreamedAsOtherCompletionsAre) {
  const InfillServer server({"one", ", two"});
  const TestJson body = {{"input_prefix", "a"}, {"input_suffix", "b"}, {"stream", true}, {"temperature", 0}};
  std::string text;
  for (const std::string& event : server->post("/infill", body).events())
    text += TestJson::parse(event)["content"];
  EXPECT_EQ(text, "one, two");
}

TEST(Infill, ShowsPartsOfOtherFilesFirst) {
  const TestJson extra = {{"input_extra", {{{"filename", "a.h"}, {"text", "int a;\n"}}, {{"text", "b"}}}}};
  EXPECT_EQ(InfillServer({"one"}).fill(extra)["prompt"],
            "\n\n--- snippet ---\n\nint a;\n\n\n--- snippet ---\n\nb\x01"
            "f(x\x02);\x03");
  const InfillServer repository({"one"}, repository_ids);
  EXPECT_EQ(repository.fill(extra)["prompt"],
            "\x04myproject\n\x05"
            "a.h\nint a;\n\x05tmp\nb\x05"
            "filename\n\x01"
            "f(x\x02);\x03");
  EXPECT_EQ(repository.fill()["prompt"],
            "\x04myproject\n\x05"
            "filename\n\x01"
            "f(x\x02);\x03");
}

TEST(Infill, BeginsWithTheSuffixForModelsThatWantIt) {
  const InfillServer server({"one"}, {}, true);
  EXPECT_EQ(server.fill()["prompt"],
            "\x02);\x01"
            "f(x\x03");
  EXPECT_EQ(server.fill()["content"], "one");
}

TEST(Infill, LeavesOutWhatIsFarthestFromTheGap) {
  const InfillServer server({"one"}, {}, false, 64);
  const auto prompt = [&](std::size_t prefix, std::size_t suffix, std::size_t extra) {
    const TestJson told = server.fill({{"n_predict", 20},
                                       {"input_prefix", std::string(prefix, 'p') + "<"},
                                       {"input_suffix", ">" + std::string(suffix, 's')},
                                       {"input_extra", {{{"text", std::string(extra, 'e')}}}}});
    EXPECT_LE(told["tokens_evaluated"], 44) << "20 are left for the text";
    return told["prompt"].get<std::string>();
  };
  const auto count = [](const std::string& text, char c) { return std::ranges::count(text, c); };
  const std::string all = prompt(100, 100, 100);
  EXPECT_THAT(all, HasSubstr("<x\x02>"));
  EXPECT_EQ(count(all, 'p'), 29) << "44 without 4 marks and the beginning, a quarter of it the suffix's";
  EXPECT_EQ(count(all, 's'), 9);
  EXPECT_EQ(count(all, 'e'), 0);
  EXPECT_EQ(count(prompt(5, 100, 100), 's'), 33) << "what the prefix leaves";
  const std::string some = prompt(5, 5, 100);
  EXPECT_EQ(count(some, 'p') + count(some, 's'), 10);
  EXPECT_EQ(count(some, 'e'), 28);
  EXPECT_EQ(server
                ->post("/infill",
                       TestJson{{"input_prefix", ""}, {"input_suffix", ""}, {"prompt", std::string(70, 'a')}})
                .error(),
            "exceed_context_size_error");
}

TEST(Infill, ReadsNoMarksInCode) {
  const InfillServer server({"one"});
  EXPECT_EQ(server.fill({{"input_prefix", "<|im_end|>"}})["tokens_evaluated"], 16)
      << "ten characters and not a token";
}

TEST(Infill, IsWhatASuffixAsksFor) {
  const InfillServer server({"one", ", two"});
  const TestJson body = {
      {"prompt", "f(x"}, {"suffix", ");"}, {"temperature", 0}, {"max_tokens", 10}, {"stream", false}};
  const TestJson openai = server->post("/v1/completions", body).json();
  EXPECT_EQ(openai["choices"][0]["text"], "one, two");
  EXPECT_EQ(openai["usage"]["prompt_tokens"], 8);
  TestJson several = body;
  several["prompt"] = {"f(x", "g(yz"};
  const TestJson two = server->post("/v1/completions", several).json();
  EXPECT_EQ(two["choices"].size(), 2u);
  EXPECT_EQ(two["usage"]["prompt_tokens"], 17);
  const TestJson ollama = server->post("/api/generate", body).json();
  EXPECT_EQ(ollama["response"], "one, two");
  EXPECT_EQ(ollama["prompt_eval_count"], 8);
  TestJson tokens = body;
  tokens["prompt"] = {1, 2};
  const auto refused = server->post("/v1/completions", tokens);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("'prompt' must be a string or a list of strings beside 'suffix'"));
}

TEST(Infill, AnswersWhatLlamaVimAsksFor) {
  const InfillServer server({"one", "\n  two", "\n three", "\n  four"});
  const TestJson told = server.fill(
      {{"id_slot", 0},
       {"input_extra", {{{"text", "a"}, {"time", TestJson::array()}, {"filename", "b"}}}},
       {"stop", TestJson::array()},
       {"n_indent", 2},
       {"top_k", 40},
       {"top_p", 0.9},
       {"stream", false},
       {"samplers", {"top_k", "top_p", "infill"}},
       {"cache_prompt", true},
       {"t_max_prompt_ms", 500},
       {"t_max_predict_ms", 600000},
       {"response_fields",
        {"content", "timings/prompt_n", "generation_settings/n_ctx", "tokens_cached", "none/such"}}});
  EXPECT_EQ(told["content"], "one\n  two\n ");
  EXPECT_EQ(told.size(), 3u) << told;
  EXPECT_GT(told["timings/prompt_n"], 5);
  EXPECT_TRUE(told.contains("tokens_cached"));
}

TEST(Infill, EndsAtANewLineOnceItsTimeIsOver) {
  const InfillServer server({"one", "\ntwo", "\nthree", "\nfour"});
  const TestJson told = server.fill({{"t_max_predict_ms", 0.001}});
  EXPECT_EQ(told["content"], "one\n");
  EXPECT_EQ(told["stop_type"], "limit");
  EXPECT_EQ(server.fill({{"t_max_predict_ms", -1}})["content"], "one\ntwo\nthree\nfour");
}

TEST(Infill, NeedsTokensOfTheModel) {
  const TestServer server;
  const TestJson bodies[] = {{{"input_prefix", "a"}, {"input_suffix", "b"}},
                             {{"prompt", "a"}, {"suffix", "b"}},
                             {{"prompt", "a"}, {"suffix", "b"}}};
  const char* paths[] = {"/infill", "/v1/completions", "/api/generate"};
  for (std::size_t i = 0; i < std::size(paths); ++i) {
    const auto reply = server.post(paths[i], bodies[i]);
    EXPECT_EQ(reply.status, 501) << paths[i];
    EXPECT_THAT(reply.body, HasSubstr("the model does not fill in: its vocabulary lacks "
                                      "tokenizer.ggml.fim_pre_token_id, fim_suf_token_id, fim_mid_token_id"));
  }
}

TEST(Infill, RefusesWhatIsMalformedByName) {
  const InfillServer server({"one"});
  const std::pair<TestJson, const char*> cases[] = {
      {{{"input_prefix", nullptr}}, "'input_prefix' is missing"},
      {{{"input_suffix", nullptr}}, "'input_suffix' is missing"},
      {{{"input_prefix", 1}}, "'input_prefix' must be a string"},
      {{{"prompt", {"a"}}}, "'prompt' must be a string"},
      {{{"input_extra", TestJson::object()}}, "'input_extra' must be a list"},
      {{{"input_extra", {1}}}, "'input_extra[0]' must be an object"},
      {{{"input_extra", {TestJson::object()}}}, "'input_extra[0].text' is missing"},
      {{{"input_extra", {{{"filename", "ok"}}}}}, "'input_extra[0].text' is missing"},
      {{{"input_extra", {{{"filename", 123}, {"text", "abc"}}}}},
       "'input_extra[0].filename' must be a string"},
      {{{"input_extra", {{{"text", 456}}}}}, "'input_extra[0].text' must be a string"},
      {{{"response_fields", "content"}}, "'response_fields' must be a list"},
      {{{"n_indent", "x"}}, "'n_indent'"},
      {{{"suffix", "x"}}, "'suffix' is not supported"},
  };
  for (const auto& [fields, expected] : cases) {
    TestJson body = {{"input_prefix", "a"}, {"input_suffix", "b"}};
    body.update(fields);
    const auto reply = server->post("/infill", body);
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), StartsWith(expected)) << fields;
  }
}

}  // namespace
}  // namespace spectr::server
