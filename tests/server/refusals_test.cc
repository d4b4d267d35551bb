#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/server/api_error.h"
#include "tests/server/raw_connection.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;
using testing::Not;

class Refusals : public WithServer<1> {};

TEST_F(Refusals, WhatIsNotSupportedOrNotInRangeIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"prompt": "a", "tools": [{}]})", "'tools'"},
      {R"({"prompt": "a", "response_format": {"type": "xml"}})", "'response_format.type' must be text"},
      {R"({"prompt": "a", "grammar": "root ::= a"})", "'grammar'"},
      {R"({"prompt": "a", "regex": "a", "json_schema": {"type": "null"}})",
       "'json_schema' and 'regex' exclude each other"},
      {R"({"prompt": "a", "temperature": -1})", "'temperature'"},
      {R"({"prompt": "a", "temperature": "hot"})", "'temperature'"},
      {R"({"prompt": "a", "temperature": 1e999})", "JSON"},
      {R"({"prompt": "a", "max_tokens": -2})", "'max_tokens'"},
      {R"({"prompt": "a", "max_tokens": 1.5})", "'max_tokens'"},
      {R"({"prompt": "a", "n": 0})", "'n'"},
      {R"({"prompt": "a", "n": 99999999999})", "'n'"},
      {R"({"prompt": "a", "seed": 18446744073709551615})", "'seed'"},
      {R"({"prompt": "a", "logit_bias": {"4096": 1}})", "got 4096"},
      {R"({"prompt": "a", "logit_bias": {"dog": "1"}})", "got \"1\""},
      {R"({"prompt": "a", "logit_bias": {"1": true}})", "got true"},
      {R"({"prompt": "a", "speculative.n_max": 65})",
       "'speculative.n_max' must be an integer between 0 and 64"},
      {R"({"prompt": "a", "speculative.p_min": 0.5})", "'speculative.p_min' is not supported"},
      {R"({"prompt": "a", "speculative": {"n_max": 2}, "speculative.n_max": 2})",
       "'speculative.n_max' is given twice"},
      {"{\"prompt\": \"a\", oops}", "the body is not JSON (byte 17): syntax error"},
      {R"({"prompt": "a", "logit_bias": [[-1, 1]]})", "logit_bias"},
      {R"({"prompt": "a", "stream": 1})", "'stream'"},
      {R"({"prompt": "a", "stop": 3})", "'stop' must be a string or a list of strings, got 3"},
      {R"({"prompt": "a", "logprobs": 1000})", "'logprobs'"},
      {R"({"prompt": "a", "speculative": {"method": "magic"}})", "magic"},
      {R"({"prompt": "a", "speculative": {"plan": "magic"}})", "magic"},
      {R"({"prompt": "a", "speculative": {"drafts": 0}})", "'speculative.drafts'"},
      {R"({"prompt": "a", "speculative": {"drafts": 64, "length": 64}})", "large"},
      {R"({"prompt": "a", "speculative": {"method": "mtad", "tau": 1.5}})", "'speculative.tau'"},
      {R"({"prompt": "a", "speculative": {"p_min": 0.75}})", "'speculative.p_min'"},
      {R"({"prompt": [1, 4096]})", "token ids"},
      {R"({"prompt": [1, -1]})", "token ids below 4096, got -1"},
      {R"({"prompt": "a", "stream_options": 1})", "'stream_options' must be an object, got 1"},
      {R"({"prompt": "a", "speculative": {"tree": [65]}})", "between 1 and 64, got 65"},
      {R"({"prompt": ["a", "b"], "n": 65})", "prompts × n ('n': 65) must be at most 128, got 130"},
      {R"({"prompt": {"a": 1}})", "got {\"a\":1}"},
      {R"({})", "'prompt' is missing"},
      {R"({"prompt": "a")", "JSON"},
      {R"([1])", "object"},
      {"", "JSON"},
  };
  for (const auto& [body, expected] : cases) {
    const auto reply = server().post("/v1/completions", std::string(body));
    ASSERT_EQ(reply.status, 400) << body;
    EXPECT_EQ(reply.error(), "invalid_request_error");
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr(expected)) << body;
  }
}

TEST_F(Refusals, WhatAsksForNothingIsAccepted) {
  const char* cases[] = {
      R"("tools": [], "tool_choice": "none")",
      R"("tools": [], "tool_choice": "auto", "parallel_tool_calls": true)",
      R"("user": "me", "metadata": {"a": "b"}, "store": false, "service_tier": "auto")",
      R"("response_format": {"type": "text"}, "temperature": null, "suffix": null, "echo": false)",
      R"("mirostat": 0, "mirostat_tau": 5.0, "mirostat_eta": 0.1)",
      R"("dry_multiplier": 0.0, "dry_base": 1.75, "dry_allowed_length": 2, "dry_sequence_breakers": ["\n"])",
      R"("xtc_probability": 0.0, "xtc_threshold": 0.1, "dynatemp_range": 0, "dynatemp_exponent": 1.0)",
      R"("top_n_sigma": 0, "min_keep": 1, "typical_p": 1.0, "reasoning_format": "none")",
      R"("n": 2, "best_of": 2)",
      R"("skip_special_tokens": true, "stop_token_ids": [], "use_beam_search": false, "min_tokens": 0)",
      R"("length_penalty": 1.0, "include_stop_str_in_output": false, "prompt_logprobs": null)",
      R"("n_cmpl": 1, "response_fields": [], "n_probs": 0, "logprobs": false)",
      R"("json_schema": {}, "verbose": false, "thinking_budget_tokens": -1, "multimodal_data": [], "api_key": "")",
      R"("samplers": ["penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature"])",
      R"("chat_id": "7", "session_id": [1], "foo": {"bar": null}, "tempreature": 1)",
      R"("stream_options": {"foo": 1}, "speculative": {"foo": 1})",
  };
  for (const std::string fields : cases) {
    const auto reply =
        server().post("/v1/completions", R"({"prompt": "a", "max_tokens": 1, )" + fields + "}");
    EXPECT_EQ(reply.status, 200) << fields << '\n' << reply.body;
  }
}

TEST_F(Refusals, WhatAsksForSomethingElseIsNot) {
  const char* cases[] = {
      R"("tools": "none")",
      R"("lora": 1)",
      R"("store": true)",
      R"("service_tier": "priority")",
      R"("tool_choice": "required")",
      R"("verbose": true)",
      R"("best_of": 2)",
      R"("min_tokens": 3)",
      R"("n_probs": 3)",
      R"("logprobs": true)",
      R"("skip_special_tokens": false)",
      R"("web_search_options": {})",
  };
  for (const std::string fields : cases) {
    const auto reply =
        server().post("/v1/completions", R"({"prompt": "a", "max_tokens": 1, )" + fields + "}");
    const std::string name = fields.substr(1, fields.find('"', 1) - 1);
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(reply.body, HasSubstr("'" + name + "' is not supported"));
  }
}

TEST_F(Refusals, BiasesAreAsManyAsEveryTextMayTell) {
  TestJson body = {{"prompt", "a"}, {"max_tokens", 1}, {"logit_bias", TestJson::array()}};
  for (int i = 0; i < 4096; ++i) body["logit_bias"].push_back({7, 0});
  EXPECT_EQ(server().post("/completion", body).status, 200);
  body["logit_bias"].push_back({7, 0});
  EXPECT_THAT(server().post("/completion", body).body,
              HasSubstr("'logit_bias' may have 4096 entries, got 4097"));
}

TEST_F(Refusals, TwoNamesOfOneFieldMustAgree) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("max_tokens": 1, "n_predict": 2)", "'max_tokens' and 'n_predict' mean the same, got 1 and 2"},
      {R"("max_tokens": -1, "max_completion_tokens": 2)",
       "'max_tokens' and 'max_completion_tokens' mean the same, got -1 and 2"},
      {R"("repeat_penalty": 1, "repetition_penalty": 1.1)",
       "'repeat_penalty' and 'repetition_penalty' mean the same, got 1 and 1.1"},
      {R"("logprobs": 2, "n_probs": 3)", "'logprobs' and 'n_probs' mean the same, got 2 and 3"},
      {R"("speculative": {"method": "plain", "type": "auto"})",
       R"('speculative.method' and 'speculative.type' mean the same, got "plain" and "auto")"},
      {R"("speculative": {"plan": "optimal", "verifier": "k-seq"})", "'speculative.verifier'"},
      {R"("speculative": {"drafts": 2, "n_drafts": 3})", "'speculative.n_drafts'"},
      {R"("speculative": {"length": 2, "n_max": 3})", "'speculative.n_max'"},
      {R"("seed": 1, "seed": 2)", "names 'seed' twice"},
      {R"("speculative": {"drafts": 2, "drafts": 2})", "names 'drafts' twice"},
  };
  for (const auto& [fields, expected] : cases) {
    const auto reply = server().post("/completion", R"({"prompt": "a", )" + std::string(fields) + "}");
    ASSERT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr(expected)) << fields;
  }
  const std::string equal =
      R"({"prompt": "a", "max_tokens": 1, "n_predict": 1.0, "max_completion_tokens": null,
      "speculative": {"length": 2, "n_max": 2, "type": "spectr", "method": "spectr"}})";
  const auto reply = server().post("/completion", equal);
  EXPECT_EQ(reply.status, 200) << reply.body;
}

TEST_F(Refusals, WhatIsImpossibleTogetherIsSaidBeforeTheTextBegins) {
  TestJson body = {{"prompt", "a"}, {"max_tokens", 1}, {"top_k", 0}};
  body["speculative"] = {{"plan", "otm-lp"}, {"drafts", 2}};
  const auto large = server().post("/v1/completions", body);
  EXPECT_EQ(large.status, 400);
  EXPECT_THAT(large.body, HasSubstr("otm-lp"));
  body["top_k"] = 40;
  EXPECT_EQ(server().post("/v1/completions", body).status, 200);

  TestJson nothing = {{"prompt", "a"}, {"max_tokens", 1}};
  for (int i = 0; i < 4096; ++i) nothing["logit_bias"][std::to_string(i)] = false;
  const auto none = server().post("/v1/completions", nothing);
  EXPECT_EQ(none.status, 400);
  EXPECT_THAT(none.body, HasSubstr("forbids every token"));
  nothing["logit_bias"].erase("400");
  EXPECT_EQ(server().post("/v1/completions", nothing).status, 200);
}

TEST(ApiErrors, HaveTheStatusOfTheirCode) {
  const std::pair<ErrorCode, int> statuses[] = {
      {ErrorCode::bad_input, 400}, {ErrorCode::context_full, 400}, {ErrorCode::unsupported, 501},
      {ErrorCode::cancelled, 503}, {ErrorCode::timeout, 504},      {ErrorCode::device_lost, 500},
      {ErrorCode::internal, 500},  {ErrorCode::io, 500},           {ErrorCode::out_of_memory, 500},
  };
  for (const auto& [code, status] : statuses) {
    const ApiError told = ApiError::of({"why", code});
    EXPECT_EQ(told.status(), status);
    EXPECT_STREQ(told.what(), "why");
  }
}

TEST_F(Refusals, PromptsInListsOfLists) {
  for (const char* prompt :
       {"[[[3]]]", "[[1, 2], [[3]]]", "[[1, [2]]]", R"([["a", ["b"]]])", "[{}]", "[[]]"}) {
    const auto reply =
        server().post("/completion", std::string(R"({"n_predict": 1, "prompt": )") + prompt + "}");
    EXPECT_EQ(reply.status, 400) << prompt << reply.body;
    EXPECT_THAT(reply.body, HasSubstr("prompt")) << prompt;
  }
}

TEST_F(Refusals, AJsonErrorIsQuotedAsTheParserHasIt) {
  const auto reply = server().post("/completion", std::string("{\"prompt\": \"a\nb\"}"));
  EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr("escaped to \\u000A or \\n"));
}

TEST_F(Refusals, DeepOrLongBodies) {
  std::string deep = R"({"prompt": "a", "user": )";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  EXPECT_EQ(server().post("/v1/completions", deep).status, 400);
  const std::string closed = std::string(100, '[') + std::string(100, ']');
  const auto reply = server().post("/v1/completions", R"({"prompt": "a", "user": )" + closed + "}");
  EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr("nested"));
  std::string many = R"({"prompt": [)";
  for (int i = 0; i < 500'000; ++i) many += "1,";
  EXPECT_THAT(server().post("/v1/completions", many + "1]}").json()["error"]["message"].get<std::string>(),
              HasSubstr("holds more than 500000 values"));
  const auto large = server().post("/v1/completions", std::string(5 << 20, ' '));
  EXPECT_TRUE(large.status == 413 || large.status == -1) << large.status;
  EXPECT_EQ(server().get("/health").status, 200);
}

TEST_F(Refusals, PiecesOfMoreTokensThanAnybodyReads) {
  const TestJson body = {{"content", std::string(std::size_t{1} << 17, '\n')}};
  EXPECT_EQ(server().post("/tokenize", body).status, 200);
  TestJson pieces = body;
  pieces["with_pieces"] = true;
  const auto reply = server().post("/tokenize", pieces);
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("'with_pieces' is for 65536 tokens at most"));
}

TEST_F(Refusals, APromptThatIsTooLong) {
  std::string story;
  for (int i = 0; i < 600; ++i) story += " dog";
  const auto reply = server().post("/v1/completions", TestJson{{"prompt", story}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.error(), "exceed_context_size_error");
  EXPECT_EQ(reply.json()["error"]["n_ctx"], TestServer::context);
  EXPECT_GE(reply.json()["error"]["n_prompt_tokens"], 600);
}

TEST_F(Refusals, PathsThatAreNotThere) {
  for (const char* path : {"/nothing", "/v1/models/other", "/../etc/passwd", "/%2e%2e/etc/passwd", "/v1"}) {
    const auto reply = server().get(path);
    EXPECT_EQ(reply.status, 404) << path;
    EXPECT_EQ(reply.error(), "not_found_error");
  }
}

TEST_F(Refusals, APathWithAnotherMethodTellsWhichItIsFor) {
  const std::string body = R"({"prompt": "a", "max_tokens": 1})";
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"GET", "/v1/completions", "OPTIONS, POST"},      {"GET", "/tokenize", "OPTIONS, POST"},
      {"POST", "/slots", "GET, HEAD, OPTIONS"},         {"POST", "/", "GET, HEAD, OPTIONS"},
      {"POST", "/v1/models/any", "GET, HEAD, OPTIONS"}, {"PUT", "/v1/completions", "OPTIONS, POST"},
      {"DELETE", "/slots", "GET, HEAD, OPTIONS"},       {"POS", "/v1/completions", "OPTIONS, POST"},
  };
  for (const auto& [method, path, allowed] : cases) {
    const auto reply = server().ask(method, path, {}, std::string(method) == "GET" ? "" : body);
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_EQ(reply.header("Allow"), allowed);
    const TestJson error = reply.json()["error"];
    EXPECT_EQ(error["code"], 405);
    EXPECT_EQ(error["type"], "invalid_request_error");
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(std::string("not for ") + method));
  }
  EXPECT_EQ(server().post("/nothing", body).status, 404);
  EXPECT_EQ(server().ask("DELETE", "/nothing").status, 404);
  EXPECT_EQ(server().ask("HEAD", "/health").status, 200);
  EXPECT_EQ(server().ask("HEAD", "/health").body, "");
}

TEST_F(Refusals, CompressedBodiesAndForeignOrigins) {
  EXPECT_EQ(server().post("/v1/completions", std::string("{}"), {{"Content-Encoding", "gzip"}}).status, 415);
  EXPECT_EQ(server().get("/props", {{"Origin", "https://evil.example"}}).status, 403);
  EXPECT_EQ(server().get("/props", {{"Host", "evil.example:8080"}}).status, 403);
  const auto own = server().get("/props", {{"Host", "localhost:1"}, {"Origin", "http://localhost:1"}});
  EXPECT_EQ(own.status, 200);
  EXPECT_EQ(own.headers.count("Access-Control-Allow-Origin"), 0u);
}

TEST_F(Refusals, RangesAreNotHeeded) {
  const auto reply = server().get("/health", {{"Range", "bytes=1000-2000"}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.json()["status"], "ok");
}

TEST(ServerKeys, OpenWhatIsNotPublic) {
  ServerOptions options = TestServer::options(1);
  ASSERT_TRUE(options.keys.add_list("secret-1, sk-a%41b"));
  ASSERT_TRUE(options.keys.add_list("other"));
  const TestServer server(std::move(options));
  const std::string body = R"({"prompt": "a", "max_tokens": 1})";
  for (const char* path : {"/health", "/v1/models", "/"}) EXPECT_EQ(server.get(path).status, 200) << path;
  for (const char* path : {"/props", "/slots", "/metrics"}) EXPECT_EQ(server.get(path).status, 401) << path;
  EXPECT_EQ(server.post("/v1/completions", body).status, 401);
  EXPECT_EQ(server.post("/v1/completions", body).error(), "authentication_error");
  for (const char* wrong : {"Bearer secret-2", "Bearer secret-", "Bearer ", "secret-1", "Bearer secret-11"}) {
    EXPECT_EQ(server.post("/v1/completions", body, {{"Authorization", wrong}}).status, 401) << wrong;
  }
  for (const char* right : {"Bearer secret-1", "bearer secret-1", "BEARER  secret-1"})
    EXPECT_EQ(server.post("/v1/completions", body, {{"Authorization", right}}).status, 200) << right;
  EXPECT_EQ(server.post("/v1/completions", body, {{"X-Api-Key", "other"}}).status, 200);
  EXPECT_EQ(server.post("/v1/completions", body, {{"X-Api-Key", "sk-a%41b"}}).status, 200) << "as it is";
  RawConnection bare(server.server().port());
  bare.send("POST /tokenize HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(bare.receive_all(), testing::StartsWith("HTTP/1.1 401")) << "before the missing length is told";
}

TEST(ServerPorts, BelongToOneServer) {
  const TestServer first(TestServer::options(1));
  ServerOptions options = TestServer::options(1);
  options.http.port = first.server().port();
  const auto second = Server::listen(std::move(options));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("cannot be listened on"));
}

TEST(ServerPorts, AreOfAHostThatIsThere) {
  ServerOptions options = TestServer::options(1);
  options.http.host = "256.1.1.1";
  const auto server = Server::listen(std::move(options));
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().message, HasSubstr("'256.1.1.1' cannot be listened on: "));
  EXPECT_THAT(server.error().message, Not(HasSubstr("Invalid argument")));
}

TEST(ServerLoading, IsAnsweredWith503) {
  const auto server = Server::listen(TestServer::options(1)).value();
  const auto asked = [&](const char* method, const char* path, const char* body = "") {
    return ask("127.0.0.1", server->port(), method, path, {}, body);
  };
  const HttpReply health = asked("GET", "/health");
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(TestJson::parse(health.body)["error"]["type"], "unavailable_error");
  EXPECT_TRUE(health.headers.has("Retry-After"));
  EXPECT_EQ(asked("POST", "/v1/completions", "{}").status, 503);
  ASSERT_TRUE(server->load());
  EXPECT_EQ(asked("GET", "/health").status, 200);
}

}  // namespace
}  // namespace spectr::server
