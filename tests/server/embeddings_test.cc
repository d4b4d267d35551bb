// Embeddings and rankings over HTTP with small random encoders (tests/data/encoders/make.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

ServerOptions encoder_options(const std::string& name) {
  ServerOptions options = TestServer::options(1);
  EngineOptions& engine = options.service.engine;
  engine.models.target = source_folder() / "tests/data/encoders" / (name + ".gguf");
  engine.models.drafts.clear();
  engine.models.context = 0;
  return options;
}

class EmbeddingsOfAnEncoder : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<TestServer>(encoder_options("bert-f32")); }
  static void TearDownTestSuite() { server_.reset(); }
  static const TestServer& server() { return *server_; }

  static TestJson embedded(const TestJson& body, const std::string& path = "/v1/embeddings") {
    const auto reply = server().post(path, body);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json();
  }
  static std::vector<float> first_of(const TestJson& answer) {
    return answer["data"][0]["embedding"].get<std::vector<float>>();
  }

 private:
  static inline std::unique_ptr<TestServer> server_;
};

std::vector<float> floats_of(const std::string& base64) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t group = 0, bits = 0;
  for (const char digit : base64) {
    if (digit == '=') break;
    group = group << 6 | static_cast<std::uint32_t>(digits.find(digit));
    bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<std::uint8_t>(group >> (bits -= 8)));
  }
  std::vector<float> numbers;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t word = 0;
    for (std::size_t i = 4; i-- > 0;) word = word << 8 | bytes[at + i];
    numbers.push_back(std::bit_cast<float>(word));
  }
  return numbers;
}

TEST_F(EmbeddingsOfAnEncoder, HaveOpenAisForm) {
  const TestJson answer = embedded({{"input", "The cat sat on the mat."}, {"model", "any"}, {"user", "u"}});
  EXPECT_EQ(answer["object"], "list");
  EXPECT_EQ(answer["model"], "any");
  ASSERT_EQ(answer["data"].size(), 1U);
  EXPECT_EQ(answer["data"][0]["object"], "embedding");
  EXPECT_EQ(answer["data"][0]["index"], 0);
  EXPECT_EQ(answer["usage"], (TestJson{{"prompt_tokens", 9}, {"total_tokens", 9}}));
  double sum = 0.0;
  for (const float number : first_of(answer))
    sum += static_cast<double>(number) * static_cast<double>(number);
  EXPECT_NEAR(sum, 1.0, 1e-6);
  EXPECT_EQ(first_of(answer).size(), 32U);
}

TEST_F(EmbeddingsOfAnEncoder, AreThePooledStatesOfTheReference) {
  const auto json = TestJson::parse(std::ifstream(source_folder() / "tests/data/encoders/bert-f32.json"));
  for (const TestJson& one : json["cases"]) {
    std::vector<double> mean(32);
    for (const TestJson& state : one["states"])
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += state[j].get<double>();
    double norm = 0.0;
    for (const double number : mean) norm += number * number;
    const std::vector<float> found = first_of(embedded({{"input", one["text"]}}));
    for (std::size_t j = 0; j < mean.size(); ++j) EXPECT_NEAR(found[j], mean[j] / std::sqrt(norm), 1e-5);
    EXPECT_EQ(first_of(embedded({{"input", one["tokens"]}})), found) << "of tokens the same";
  }
}

TEST_F(EmbeddingsOfAnEncoder, OfSeveralInputsAreThoseOfEachAlone) {
  const TestJson inputs = {
      "hello world",
      TestJson::array({2, 139, 140, 3}),
      TestJson{{"prompt_string", "hello world"}},
      TestJson{{"content", {{{"type", "text"}, {"text", "hello "}}, {{"type", "text"}, {"text", "world"}}}}},
      "",
      TestJson::array({2, "hello world"})};
  const TestJson answer = embedded({{"input", inputs}});
  ASSERT_EQ(answer["data"].size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(answer["data"][i]["index"], i);
  const auto alone = first_of(embedded({{"input", "hello world"}}));
  for (const std::size_t i : {0U, 1U, 2U, 3U, 5U})
    EXPECT_EQ(answer["data"][i]["embedding"].get<std::vector<float>>(), alone) << i;
  EXPECT_NE(answer["data"][4]["embedding"].get<std::vector<float>>(), alone);
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 5 * 4 + 2);
}

TEST_F(EmbeddingsOfAnEncoder, AreTheSameFloatsInBase64) {
  const TestJson body = {{"input", "a test"}, {"encoding_format", "base64"}};
  const TestJson answer = embedded(body);
  EXPECT_EQ(answer["data"][0]["encoding_format"], "base64");
  EXPECT_EQ(floats_of(answer["data"][0]["embedding"]), first_of(embedded({{"input", "a test"}})));
}

TEST_F(EmbeddingsOfAnEncoder, HaveLlamaCppsFormOnItsPaths) {
  for (const char* path : {"/embedding", "/embeddings"}) {
    const TestJson answer = embedded({{"content", TestJson::array({"a cat", "a dog"})}}, path);
    ASSERT_EQ(answer.size(), 2U);
    EXPECT_EQ(answer[1]["index"], 1);
    ASSERT_EQ(answer[1]["embedding"].size(), 1U);
    EXPECT_EQ(answer[1]["embedding"][0].get<std::vector<float>>(), first_of(embedded({{"input", "a dog"}})));
  }
  EXPECT_TRUE(embedded({{"content", "a cat"}}).is_array()) << "'content' is llama.cpp's";
  const TestJson plain = embedded({{"input", "a cat"}, {"embd_normalize", -1}}, "/embedding");
  EXPECT_NE(plain[0]["embedding"][0].get<std::vector<float>>(), first_of(embedded({{"input", "a cat"}})));
}

TEST_F(EmbeddingsOfAnEncoder, RefuseWhatTheyCannotDo) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "'input' is missing"},
      {R"({"input": []})", "'input' must not be empty"},
      {R"({"input": {"content": "text"}})", "'input.content' must be a list of parts"},
      {R"({"input": {"content": [{"type": "image_url", "image_url": {}}]}})", "parts of type text"},
      {R"({"input": {"a": 1}})", "'input' must be text or tokens"},
      {R"({"input": [1, 4096]})", "'input' must hold token ids below"},
      {R"({"input": "a", "encoding_format": "int8"})", "'encoding_format' must be float or base64"},
      {R"({"input": "a", "embd_normalize": -2})", "'embd_normalize'"},
  };
  for (const auto& [body, reason] : cases) {
    const auto reply = server().post("/v1/embeddings", std::string(body));
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr(reason));
  }
  std::string longer;
  for (int i = 0; i < 70; ++i) longer += "cat ";
  const auto reply = server().post("/v1/embeddings", TestJson{{"input", longer}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.error(), "exceed_context_size_error");
  EXPECT_THAT(reply.body, HasSubstr("has 72 tokens and is too large for the context of 64"));
  EXPECT_EQ(server().post("/v1/embeddings", TestJson{{"input", "a"}, {"dimensions", 8}}).status, 501);
  EXPECT_EQ(server().post("/v1/embeddings", TestJson{{"input", "a"}, {"dimensions", 32}}).status, 200);
  const TestJson inputs(std::vector<std::string>(2049, "a"));
  EXPECT_EQ(server().post("/v1/embeddings", TestJson{{"input", inputs}}).status, 400);
}

TEST_F(EmbeddingsOfAnEncoder, AreAllThatItGives) {
  const TestJson completion = {{"prompt", "a"}}, message = {{"role", "user"}, {"content", "a"}};
  const TestJson chat = {{"messages", TestJson::array({message})}, {"max_tokens", 4}};
  for (const auto& [path, body] : {std::pair<const char*, const TestJson&>{"/v1/completions", completion},
                                   {"/completion", completion},
                                   {"/v1/chat/completions", chat},
                                   {"/v1/messages", chat}}) {
    const auto reply = server().post(path, body);
    EXPECT_EQ(reply.status, 501) << path << reply.body;
    EXPECT_THAT(reply.body, HasSubstr("general.architecture is bert: an encoder gives embeddings")) << path;
  }
  const auto ranks = server().post("/v1/rerank", TestJson{{"query", "a"}, {"documents", {"b"}}});
  EXPECT_EQ(ranks.status, 501);
  EXPECT_THAT(ranks.body, HasSubstr("bert-f32.gguf: reranking needs a classifier"));
  EXPECT_EQ(server().get("/models").json()["models"][0]["capabilities"], TestJson::array({"embedding"}));
  const TestJson tokens =
      server().post("/tokenize", TestJson{{"content", "a"}, {"add_special", true}}).json();
  EXPECT_EQ(tokens["tokens"], TestJson::array({2, 43, 3}));
}

TEST(EmbeddingsOfTokens, AreServedInLlamaCppsFormOnly) {
  ServerOptions options = encoder_options("bert-f32");
  options.service.embeddings.pooling = Pooling::none;
  const TestServer server(std::move(options));
  const auto reply = server.post("/embeddings", TestJson{{"input", "hello hello hello"}});
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.json()[0]["embedding"].size(), 5U);
  EXPECT_EQ(server.post("/v1/embeddings", TestJson{{"input", "hello"}}).status, 400);
}

TEST(EmbeddingsOfADecoder, AreServedWhereTheServerWasStartedForIt) {
  const TestServer without(TestServer::options(1));
  const auto refused = without.post("/v1/embeddings", TestJson{{"input", "Once"}});
  EXPECT_EQ(refused.status, 501);
  EXPECT_THAT(refused.body, HasSubstr("add --embeddings"));
  ServerOptions options = TestServer::options(1);
  options.service.engine.models.load.embeds = true;
  const TestServer with(std::move(options));
  const auto reply = with.post("/v1/embeddings", TestJson{{"input", "Once upon a time"}});
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.json()["data"][0]["embedding"].size(),
            with.get("/v1/models").json()["data"][0]["meta"]["n_embd"].get<std::size_t>());
  const TestJson text = {{"prompt", "Once upon a time"}, {"max_tokens", 8}, {"seed", 1}, {"temperature", 0}};
  EXPECT_EQ(with.post("/v1/completions", text).json()["choices"],
            without.post("/v1/completions", text).json()["choices"])
      << "texts are what they are without";
}

class Reranking : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<TestServer>(encoder_options("reranker-f32")); }
  static void TearDownTestSuite() { server_.reset(); }
  static const TestServer& server() { return *server_; }

  const TestJson reference_ =
      TestJson::parse(std::ifstream(source_folder() / "tests/data/encoders/reranker-f32.json"));
  TestJson body() const {
    TestJson documents = TestJson::array();
    for (const TestJson& pair : reference_["pairs"]) documents.push_back(pair["document"]);
    return {{"query", reference_["query"]}, {"documents", documents}};
  }

 private:
  static inline std::unique_ptr<TestServer> server_;
};

TEST_F(Reranking, SortsDocumentsByTheScoresOfTheReference) {
  for (const char* path : {"/rerank", "/v1/rerank", "/reranking", "/v1/reranking"}) {
    const auto reply = server().post(path, body());
    ASSERT_EQ(reply.status, 200) << reply.body;
    const TestJson answer = reply.json();
    ASSERT_EQ(answer["results"].size(), reference_["pairs"].size());
    double before = 1e9;
    std::size_t tokens = 0;
    for (const TestJson& result : answer["results"]) {
      const TestJson& pair = reference_["pairs"][result["index"].get<std::size_t>()];
      EXPECT_NEAR(result["relevance_score"].get<double>(), pair["score"].get<double>(), 1e-5);
      EXPECT_LE(result["relevance_score"].get<double>(), before);
      before = result["relevance_score"];
      tokens += pair["tokens"].size();
    }
    EXPECT_EQ(answer["usage"]["total_tokens"], tokens);
    EXPECT_EQ(answer["object"], "list");
  }
}

TEST_F(Reranking, GivesAsManyAsAreAskedFor) {
  TestJson asked = body();
  for (const auto& [top, expected] : {std::pair<int, std::size_t>{2, 2}, {99, 3}, {0, 0}}) {
    asked["top_n"] = top;
    EXPECT_EQ(server().post("/rerank", asked).json()["results"].size(), expected);
  }
  asked["top_n"] = 1;
  asked["return_documents"] = true;
  const TestJson best = server().post("/rerank", asked).json()["results"][0];
  EXPECT_EQ(best["document"]["text"], asked["documents"][best["index"].get<std::size_t>()]);
}

TEST_F(Reranking, HasTheFormOfTextEmbeddingsInference) {
  TestJson asked = body();
  asked["texts"] = asked["documents"];
  asked.erase("documents");
  asked["return_text"] = true;
  const TestJson answer = server().post("/rerank", asked).json();
  ASSERT_EQ(answer.size(), 3U);
  EXPECT_GE(answer[0]["score"].get<double>(), answer[1]["score"].get<double>());
  EXPECT_EQ(answer[0]["text"], asked["texts"][answer[0]["index"].get<std::size_t>()]);
}

TEST_F(Reranking, RefusesWhatIsNoListOfTexts) {
  for (const char* documents : {"[]", "null", "123", "[1, 2]"}) {
    const auto reply =
        server().post("/rerank", R"({"query": "a", "documents": )" + std::string(documents) + "}");
    EXPECT_EQ(reply.status, 400) << documents;
    EXPECT_THAT(reply.body, HasSubstr("'documents' must be a list of texts"));
  }
  EXPECT_THAT(server().post("/rerank", TestJson{{"documents", {"a"}}}).body, HasSubstr("'query' is missing"));
}

}  // namespace
}  // namespace spectr::server
