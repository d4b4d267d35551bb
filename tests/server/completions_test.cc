#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "tests/server/test_server.h"
#include "tests/support/real_model.h"

namespace spectr::server {
namespace {

using namespace test;
using testing::HasSubstr;

class Completions : public WithServer<4> {
 protected:
  /// Returns the body of a short completion of "Once upon a time", with additional fields.
  static TestJson body(TestJson fields = {}) {
    TestJson json = {{"prompt", "Once upon a time"}, {"max_tokens", 12}, {"seed", 7}, {"temperature", 1}};
    json.update(fields);
    return json;
  }
  static TestJson complete(TestJson fields = TestJson::object()) {
    const auto reply = server().post("/v1/completions", body(std::move(fields)));
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json();
  }
  static std::string text(TestJson fields = TestJson::object()) {
    return complete(std::move(fields))["choices"][0]["text"];
  }
};

TEST_F(Completions, TellWhatOpenAiTells) {
  const TestJson json = complete();
  EXPECT_EQ(json["object"], "text_completion");
  EXPECT_EQ(json["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(json["usage"]["completion_tokens"], 12);
  EXPECT_EQ(json["usage"]["total_tokens"], 12 + json["usage"]["prompt_tokens"].get<int>());
  EXPECT_EQ(json["timings"]["predicted_n"], 12);
  EXPECT_GT(json["timings"]["draft_n"], 0);
  const TestJson metrics = json["metrics"]["speculative_decoding"];
  int steps = 0, accepted = 0, length = 0;
  for (const TestJson& blocks : metrics["acceptance_histogram"]) {
    steps += blocks.get<int>();
    accepted += blocks.get<int>() * length++;
  }
  EXPECT_EQ(metrics["num_spec_steps"], steps);
  EXPECT_EQ(metrics["num_accepted_draft_tokens"], accepted);
  EXPECT_EQ(json["timings"]["draft_n_accepted"], accepted);
}

TEST_F(Completions, TheSameSeedGivesTheSameText) {
  EXPECT_EQ(text(), text());
  EXPECT_NE(text(), text({{"seed", 8}}));
  EXPECT_NE(text({{"seed", nullptr}, {"max_tokens", 40}}), text({{"seed", nullptr}, {"max_tokens", 40}}));
}

TEST_F(Completions, StreamedOrNotTheTextIsTheSame) {
  for (const TestJson& fields :
       {TestJson{{"max_tokens", 60}}, TestJson{{"stop", {" and", "."}}, {"max_tokens", 60}},
        TestJson{{"temperature", 0}}, TestJson{{"speculative", {{"method", "plain"}}}}}) {
    TestJson streamed = body(fields);
    streamed["stream"] = true;
    streamed["stream_options"] = {{"include_usage", true}};
    const auto reply = server().post("/v1/completions", streamed);
    EXPECT_THAT(reply.header("Content-Type"), HasSubstr("text/event-stream"));
    const std::vector<std::string> events = reply.events();
    ASSERT_GE(events.size(), 4u);
    EXPECT_EQ(events.back(), "[DONE]");
    std::string all;
    std::string reason;
    for (std::size_t i = 0; i + 2 < events.size(); ++i) {
      const TestJson choice = TestJson::parse(events[i])["choices"][0];
      all += choice["text"];
      if (!choice["finish_reason"].is_null()) reason = choice["finish_reason"];
    }
    const TestJson usage = TestJson::parse(events[events.size() - 2]);
    EXPECT_TRUE(usage["choices"].empty());
    const TestJson whole = complete(fields);
    EXPECT_EQ(whole["choices"][0]["text"], all);
    EXPECT_EQ(whole["choices"][0]["finish_reason"], reason);
    EXPECT_EQ(usage["usage"]["completion_tokens"], whole["usage"]["completion_tokens"]);
    EXPECT_EQ(usage["timings"]["predicted_n"], whole["timings"]["predicted_n"]);
  }
}

TEST_F(Completions, AStopWordEndsTheTextBeforeIt) {
  const std::string whole = text({{"max_tokens", 60}});
  const std::string word = whole.substr(whole.size() / 2, 4);
  const TestJson json = complete({{"max_tokens", 60}, {"stop", word}});
  EXPECT_EQ(json["choices"][0]["text"], whole.substr(0, whole.find(word)));
  EXPECT_EQ(json["choices"][0]["finish_reason"], "stop");
}

TEST_F(Completions, GreedyTextIsThatOfPlainDecoding) {
  const TestJson plain = {{"temperature", 0}, {"max_tokens", 40}, {"speculative", {{"method", "plain"}}}};
  for (std::string_view method : {"spectr", "speculative", "block", "traversal", "ngram", "suffix"}) {
    EXPECT_EQ(text({{"temperature", 0}, {"max_tokens", 40}, {"speculative", {{"method", method}}}}),
              text(plain));
  }
}

TEST_F(Completions, LogProbabilitiesAreTheTargetsWhateverTheMethod) {
  std::vector<std::vector<double>> all;
  for (std::string_view method : {"plain", "spectr", "speculative"}) {
    const TestJson json =
        complete({{"temperature", 0}, {"logprobs", 2}, {"speculative", {{"method", method}}}});
    const TestJson told = json["choices"][0]["logprobs"];
    all.push_back(told["token_logprobs"].get<std::vector<double>>());
    ASSERT_EQ(all.back().size(), 12u);
    for (std::size_t i = 0; i < 12; ++i) {
      // Decoding is greedy, so the selected token is the likeliest.
      double best = -INFINITY;
      for (const auto& [piece, value] : told["top_logprobs"][i].items())
        best = std::max(best, value.get<double>());
      EXPECT_EQ(all.back()[i], best);
      EXPECT_LT(all.back()[i], 0.0);
    }
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST_F(Completions, LlamaCppsFieldsOfSpeculationStandBesideTheOthers) {
  const auto told = [&](const TestJson& fields) {
    return complete(fields)["metrics"]["speculative_decoding"];
  };
  EXPECT_EQ(told({{"speculative.n_max", 3}, {"speculative.n_min", 0}})["num_spec_tokens"],
            told({{"speculative", {{"length", 3}}}})["num_spec_tokens"]);
  EXPECT_EQ(told({{"speculative.n_max", 0}})["method"], "plain");
  EXPECT_EQ(told({{"speculative", {{"n_max", 0}}}})["method"], "plain");
}

// These tokens are single bytes that are not valid UTF-8: each becomes one replacement character.
TEST_F(Completions, TextOffsetsCountBytesThatAreNoText) {
  const auto id = server().post("/tokenize", TestJson{{"content", "\u0099"}}).json()["tokens"].back();
  const TestJson told = complete({{"logprobs", 1},
                                  {"max_tokens", 3},
                                  {"temperature", 0},
                                  {"logit_bias", {{id, 1000}}}})["choices"][0]["logprobs"];
  EXPECT_EQ(told["text_offset"], TestJson({0, 1, 2}));
}

TEST_F(Completions, TextOffsetsAreWhereTheTokensBegin) {
  const TestJson choice = complete({{"logprobs", 1}})["choices"][0];
  const TestJson told = choice["logprobs"];
  ASSERT_EQ(told["text_offset"].size(), told["tokens"].size());
  std::string before;
  for (std::size_t i = 0; i < told["tokens"].size(); ++i) {
    EXPECT_EQ(told["text_offset"][i], before.size()) << i;  // in ASCII, one byte is one character
    before += told["tokens"][i].get<std::string>();
  }
  EXPECT_EQ(choice["text"], before);
}

TEST_F(Completions, DetailsTellTheBlockOfEveryTokenAndWhenItWasDone) {
  const TestJson json = complete({{"token_details", true}, {"max_tokens", 40}});
  int block = -1, accepted = 0;
  double elapsed = 0.0;
  for (const TestJson& token : json["choices"][0]["token_details"]) {
    const bool begins = token["block"] != block;
    EXPECT_EQ(token["block"], block + (begins ? 1 : 0));
    const double now = token["elapsed_ms"];
    EXPECT_TRUE(begins ? now > elapsed : now == elapsed) << now << " after " << elapsed;
    block = token["block"];
    elapsed = now;
    accepted += token["source"] == "draft" ? 1 : 0;
  }
  EXPECT_EQ(block + 1, json["metrics"]["speculative_decoding"]["num_spec_steps"]);
  EXPECT_EQ(accepted, json["timings"]["draft_n_accepted"]);
  EXPECT_LE(elapsed, json["timings"]["predicted_ms"].get<double>());
}

TEST_F(Completions, AutoDraftsByTheCostsOfPasses) {
  const TestJson automatic = {{"speculative", {{"method", "auto"}}}, {"max_tokens", 40}};
  const TestJson json = complete(automatic);
  EXPECT_EQ(json["usage"]["completion_tokens"], 40);
  EXPECT_GT(json["timings"]["draft_n"], 0);
  EXPECT_EQ(json["choices"][0]["text"], text(automatic));
  EXPECT_EQ(json["metrics"]["speculative_decoding"]["costs_hash"],
            fmt::format("{:016x}", TestServer::made_up_costs()->hash()));
  // The costs are those of a sequence that shares every pass with this many others.
  const auto speculation = [](TestJson fields) {
    fields["speculative"]["method"] = "auto";
    return complete(fields)["metrics"]["speculative_decoding"];
  };
  const TestJson alone = speculation({{"seed", 3}}), shared = speculation({{"speculative", {{"load", 4}}}});
  EXPECT_EQ(alone["load"], 1);
  EXPECT_EQ(shared["load"], 4);
  EXPECT_EQ(shared["costs_hash"], fmt::format("{:016x}", TestServer::made_up_costs()->shared(4).hash()));
  EXPECT_NE(shared["costs_hash"], alone["costs_hash"]);
  const TestJson three = speculation({{"n", 3}, {"seed", nullptr}});
  EXPECT_GE(three["load"], 3);
  // The reported length is the method's L, not a default that the method ignores.
  const auto length = [](const TestJson& method) {
    return complete({{"speculative", method}})["metrics"]["speculative_decoding"]["num_spec_tokens"];
  };
  EXPECT_EQ(length({{"method", "plain"}}), 0);
  EXPECT_EQ(length({{"tree", {2, 2}}}), 2);
}

TEST_F(Completions, SeveralTextsComeFromOneRequest) {
  const TestJson json = complete({{"n", 3}, {"prompt", {"Once upon a time", "The dog"}}});
  ASSERT_EQ(json["choices"].size(), 6u);
  EXPECT_NE(json["choices"][0]["text"], json["choices"][1]["text"]);
  EXPECT_EQ(json["choices"][0]["text"], text());
  EXPECT_EQ(json["usage"]["completion_tokens"], 6 * 12);
}

TEST_F(Completions, EveryPromptOfAListIsCounted) {
  const TestJson one = complete({{"prompt", "The dog"}, {"max_tokens", 1}})["usage"];
  const TestJson twice = complete({{"prompt", {"The dog", "The dog"}}, {"max_tokens", 1}})["usage"];
  EXPECT_EQ(twice["prompt_tokens"], 2 * one["prompt_tokens"].get<int>());
  const TestJson both = complete({{"prompt", "The dog"}, {"n", 2}, {"max_tokens", 1}})["usage"];
  EXPECT_EQ(both["prompt_tokens"], one["prompt_tokens"]) << "a prompt is read once for all its texts";
}

TEST_F(Completions, TimingsAndMetricsAreThoseOfAllTexts) {
  const TestJson fields = {
      {"n", 2}, {"prompt", {"The sun", "A cat"}}, {"speculative", {{"method", "spectr"}}}};
  int predicted = 0, drafted = 0, steps = 0;
  for (const TestJson& one : server().post("/completion", body(fields)).json()) {
    predicted += one["timings"]["predicted_n"].get<int>();
    drafted += one["timings"]["draft_n"].get<int>();
    steps += one["metrics"]["speculative_decoding"]["num_spec_steps"].get<int>();
  }
  TestJson streamed = body(fields);
  streamed["stream"] = true;
  streamed["stream_options"] = {{"include_usage", true}};
  const std::vector<std::string> events = server().post("/v1/completions", streamed).events();
  ASSERT_GE(events.size(), 2u);
  for (const TestJson& all : {complete(fields), TestJson::parse(events[events.size() - 2])}) {
    EXPECT_EQ(all["timings"]["predicted_n"], predicted);
    EXPECT_EQ(all["timings"]["draft_n"], drafted);
    EXPECT_EQ(all["metrics"]["speculative_decoding"]["num_spec_steps"], steps);
    EXPECT_EQ(all["usage"]["completion_tokens"], predicted);
  }
}

TEST_F(Completions, TheLastTokenOfARememberedPromptIsComputedAgain) {
  const TestJson fields = {
      {"n", 4}, {"max_tokens", 1}, {"prompt", "Lily saw a big red bird in the old tree"}};
  const TestJson first = complete(fields), again = complete(fields);  // the server has four slots
  const int prompt = first["usage"]["prompt_tokens"];
  EXPECT_EQ(again["usage"]["prompt_tokens_details"]["cached_tokens"], prompt - 1);
  EXPECT_EQ(again["timings"]["cache_n"], 4 * (prompt - 1));
  EXPECT_EQ(again["timings"]["prompt_n"], 4);
  EXPECT_EQ(again["timings"]["prompt_per_second"], 0.0) << "nothing was read before the first block";
  EXPECT_EQ(again["timings"]["prompt_per_token_ms"], 0.0);
}

TEST_F(Completions, SeveralTextsReadTheirPromptOnce) {
  std::string prompt = "Ben";
  for (int i = 0; i < 60; ++i) prompt += " and Sam";
  const TestJson json = complete(
      {{"n", 4}, {"max_tokens", 3}, {"prompt", prompt}, {"speculative", {{"method", "speculative"}}}});
  const std::size_t tokens = json["usage"]["prompt_tokens"], read = json["timings"]["prompt_n"];
  EXPECT_GT(tokens, 100);
  EXPECT_GE(read, tokens);
  EXPECT_LE(read, tokens + 3 * 2) << "the ends of the others' copies";
  EXPECT_EQ(json["timings"]["cache_n"], 4 * tokens - read);
  EXPECT_LE(json["usage"]["prompt_tokens_details"]["cached_tokens"], 1) << "one had to read it";
}

TEST_F(Completions, OfAPromptWithoutATextTheLastTokenIsNotComputed) {
  const TestJson json =
      complete({{"max_tokens", 0}, {"cache_prompt", false}, {"prompt", "One day a frog sang"}});
  EXPECT_EQ(json["timings"]["prompt_n"], json["usage"]["prompt_tokens"].get<int>() - 1);
}

TEST_F(Completions, BiasAndLimitsAreHeeded) {
  const TestJson tokens = server().post("/tokenize", TestJson{{"content", "there"}}).json()["tokens"];
  const std::string there = tokens[0].dump();
  EXPECT_THAT(text({{"temperature", 0}, {"max_tokens", 1}}), HasSubstr(","));
  EXPECT_THAT(text({{"logit_bias", {{there, 1000}}}, {"max_tokens", 3}}), " there there there");
  EXPECT_EQ(text({{"max_tokens", 0}}), "");
  const TestJson full =
      complete({{"max_tokens", 100000}, {"ignore_eos", true}, {"speculative", {{"length", 8}}}});
  EXPECT_EQ(full["usage"]["total_tokens"], TestServer::context);
}

TEST_F(Completions, TokenDetailsTellWhereEachTokenCameFrom) {
  const TestJson json = complete({{"token_details", true}, {"return_tokens", true}});
  const TestJson details = json["choices"][0]["token_details"];
  std::string pieces;
  std::size_t drafts = 0;
  for (const TestJson& token : details) {
    pieces += token["text"];
    drafts += token["source"] == "draft" ? 1 : 0;
    EXPECT_GT(token["target_probability"], 0.0);
  }
  EXPECT_EQ(json["choices"][0]["text"], pieces);
  EXPECT_EQ(drafts, json["timings"]["draft_n_accepted"]);
  EXPECT_EQ(json["choices"][0]["tokens"].size(), 12u);
}

TEST_F(Completions, TheNativeApiGivesTheSameText) {
  const TestJson fields = {
      {"prompt", "Once upon a time"}, {"n_predict", 12}, {"seed", 7}, {"temperature", 1}, {"n_probs", 1}};
  const TestJson json = server().post("/completion", fields).json();
  EXPECT_EQ(json["content"], text());
  EXPECT_EQ(json["stop_type"], "limit");
  EXPECT_EQ(json["completion_probabilities"].size(), 12u);
  TestJson streamed = {{"prompt", "Once upon a time"}, {"n_predict", 12}, {"seed", 7}, {"temperature", 1}};
  streamed["stream"] = true;
  streamed["stop"] = {text().substr(0, 9) + "~"};  // delays text, but not tokens
  std::string all;
  std::size_t tokens = 0;
  for (const std::string& event : server().post("/completion", streamed).events()) {
    all += TestJson::parse(event)["content"];
    tokens += TestJson::parse(event)["tokens"].size();
  }
  EXPECT_EQ(json["content"], all);
  EXPECT_EQ(tokens, 12u);
}

TEST_F(Completions, TheModelTellsItsNameAndContext) {
  const TestJson model = server().get("/v1/models").json()["data"][0];
  EXPECT_EQ(server().get("/v1/models/" + model["id"].get<std::string>()).json(), model);
  EXPECT_EQ(server().get("/props").json()["default_generation_settings"]["n_ctx"], TestServer::context);
  EXPECT_EQ(server().get("/props").json()["n_ctx_train"], 512);
}

TEST_F(Completions, AChatGivesTheTextOfItsPrompt) {
  TestJson fields = {{"messages", {{{"role", "user"}, {"content", "Once upon a time"}}}},
                     {"max_tokens", 12},
                     {"seed", 7},
                     {"temperature", 1},
                     {"logprobs", true},
                     {"top_logprobs", 2}};
  const TestJson json = server().post("/v1/chat/completions", fields).json();
  const TestJson choice = json["choices"][0];
  EXPECT_EQ(json["object"], "chat.completion");
  EXPECT_EQ(choice["message"]["role"], "assistant");
  EXPECT_EQ(choice["message"]["content"], text());
  ASSERT_EQ(choice["logprobs"]["content"].size(), 12u);
  EXPECT_EQ(choice["logprobs"]["content"][0]["top_logprobs"].size(), 2u);

  fields["stream"] = true;
  const std::vector<std::string> events = server().post("/v1/chat/completions", fields).events();
  EXPECT_EQ(TestJson::parse(events.front())["choices"][0]["delta"]["role"], "assistant");
  std::string all;
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    all += TestJson::parse(events[i])["choices"][0]["delta"].value("content", "");
  }
  EXPECT_EQ(choice["message"]["content"], all);
}

TEST_F(Completions, TextsBecomeTheModelsTokensAndComeBack) {
  const std::string text = "Tom's dog – größer";
  const RealModel model = RealModel::load(bundled_target);
  const TestJson tokens = server().post("/tokenize", TestJson{{"content", text}}).json();
  EXPECT_EQ(tokens["tokens"], model.tokenizer->encode(text, {.add_bos = false}));
  EXPECT_EQ(server().post("/detokenize", tokens).json()["content"], text);
}

TEST_F(Completions, APieceThatIsNotTextIsAListOfItsBytes) {
  const TestJson asked = {{"content", "a \U0001F600"}, {"with_pieces", true}};
  std::vector<int> bytes;
  const TestJson answer = server().post("/tokenize", asked).json();
  for (const TestJson& token : answer["tokens"]) {
    if (token["piece"].is_array()) bytes.push_back(token["piece"].at(0));
  }
  EXPECT_EQ(bytes, (std::vector<int>{0xF0, 0x9F, 0x98, 0x80}));
}

}  // namespace
}  // namespace spectr::server
