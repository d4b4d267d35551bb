// A server with several models, which requests name.
#include "tests/server/several_models.h"

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <random>
#include <thread>

namespace spectr::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TestJson request_for(const std::string& model, int tokens = 4) {
  return {{"model", model},
          {"prompt", "Once upon"},
          {"max_tokens", tokens},
          {"seed", 1},
          {"speculative", {{"method", "plain"}}}};
}

TestServer::Reply complete(const TestServer& server, const std::string& model, int tokens = 4) {
  return server.post("/v1/completions", request_for(model, tokens));
}

std::vector<std::string> loaded(const TestServer& server) {
  std::vector<std::string> names;
  const TestJson models = server.get("/models").json();
  for (const TestJson& model : models["data"]) {
    if (model["status"]["value"] == "loaded") names.push_back(model["id"]);
  }
  return names;
}

TEST(SeveralModels, AreLoadedWhenARequestNamesThem) {
  const SeveralModels models;
  const TestServer server(models.options());
  EXPECT_EQ(loaded(server), std::vector<std::string>());
  EXPECT_EQ(server.get("/health").status, 200);
  const TestJson before = server.get("/v1/models/second").json();
  EXPECT_EQ(before["status"], TestJson({{"value", "unloaded"}}));
  EXPECT_FALSE(before.contains("meta"));
  const auto reply = complete(server, "two");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.json()["model"], "second") << "an alias";
  EXPECT_EQ(loaded(server), std::vector<std::string>{"second"});
  const TestJson after = server.get("/v1/models/zwei").json();
  EXPECT_EQ(after["meta"]["n_vocab"], 4096);
  EXPECT_EQ(after["architecture"]["input_modalities"], TestJson({"text"}));
  EXPECT_EQ(after["source"], "preset");
  EXPECT_EQ(server.get("/api/ps").json()["models"].size(), 1u);
  EXPECT_EQ(server.get("/api/tags").json()["models"].size(), 4u);
  EXPECT_EQ(complete(server, "second").status, 200);
  EXPECT_EQ(models.loads(), 1);
}

TEST(SeveralModels, AreLoadedOnceForManyRequests) {
  const SeveralModels models;
  const TestServer server(models.options());
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([&] {
        if (complete(server, "first").status == 200) ++answered;
      });
    }
  }
  EXPECT_EQ(answered, 8);
  EXPECT_EQ(models.loads(), 1);
}

TEST(SeveralModels, MakeRoomByTheLeastRecentlyUsed) {
  const SeveralModels models;
  const TestServer server(models.options({.max_loaded = 2}));
  for (const char* name : {"first", "second", "first"}) EXPECT_EQ(complete(server, name).status, 200);
  EXPECT_EQ(server.get("/slots?model=second").status, 200) << "looking is no use";
  EXPECT_EQ(complete(server, "third").status, 200);
  EXPECT_EQ(loaded(server), (std::vector<std::string>{"first", "third"}));
}

TEST(SeveralModels, TakeTurnsIfOnlyOneIsLoadedAtATime) {
  const SeveralModels models;
  const TestServer server(models.options({.max_loaded = 1}));
  const std::string text = complete(server, "first").json()["choices"][0]["text"];
  for (const char* name : {"second", "third", "first", "second"}) {
    EXPECT_EQ(complete(server, name).json()["choices"][0]["text"], text) << name;
    EXPECT_EQ(loaded(server), std::vector<std::string>{name});
  }
}

TEST(SeveralModels, TellEveryRequestWhyAFileCannotBeLoadedAndTryItAgain) {
  const SeveralModels models;
  const TestServer server(models.options());
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] {
        const auto reply = complete(server, "broken");
        if (reply.status == 500 && reply.body.find(models.broken()) != std::string::npos) ++refused;
      });
    }
  }
  EXPECT_EQ(refused, 4);
  const TestJson status = server.get("/v1/models/broken").json()["status"];
  EXPECT_EQ(status["value"], "unloaded");
  EXPECT_EQ(status["failed"], true);
  EXPECT_THAT(status["error"].get<std::string>(), HasSubstr(models.broken()));
  const auto file = TestServer::options().service.engine.models.target;
  std::filesystem::copy_file(file, models.broken(), std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(complete(server, "broken").status, 200);
  EXPECT_EQ(server.get("/v1/models/broken").json()["status"], TestJson({{"value", "loaded"}}));
}

TEST(SeveralModels, AreNamedToARequestThatNamesNoneOfThem) {
  const SeveralModels models;
  const TestServer server(models.options());
  const auto unknown = complete(server, "fourth");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_EQ(unknown.error(), "invalid_request_error");
  EXPECT_THAT(unknown.body,
              HasSubstr("model 'fourth' not found; the models are first, second, third, broken"));
  const auto nameless = server.post("/v1/completions", {{"prompt", "Once"}});
  EXPECT_EQ(nameless.status, 400);
  EXPECT_THAT(nameless.body, HasSubstr("model name is missing"));
  EXPECT_EQ(server.post("/v1/completions", {{"prompt", "Once"}, {"model", 1}}).status, 400);
  EXPECT_EQ(server.get("/v1/models/fourth").status, 404);
  EXPECT_EQ(server.get("/slots").status, 400);
  EXPECT_EQ(server.get("/metrics?model=fourth").status, 400);
  for (const char* path : {"/v1/messages", "/api/chat", "/tokenize", "/v1/embeddings", "/api/show"}) {
    const auto reply = server.post(path, TestJson{{"model", "fourth"}});
    EXPECT_EQ(reply.status, 400) << path;
    EXPECT_THAT(reply.body, HasSubstr("'fourth' not found")) << path;
  }
  EXPECT_EQ(server.post("/v1/messages", TestJson{{"model", "fourth"}}).json()["type"], "error");
  EXPECT_EQ(server.post("/models/load", TestJson{{"model", "fourth"}}).status, 404);
  EXPECT_EQ(server.post("/models/unload", TestJson{{"model", "fourth"}}).status, 400);
}

TEST(SeveralModels, AreLoadedAndUnloadedByRequest) {
  const SeveralModels models;
  const TestServer server(models.options());
  const TestJson body = {{"model", "first"}}, success = {{"success", true}};
  EXPECT_EQ(server.post("/models/unload", body).status, 400) << "it is not running";
  EXPECT_EQ(server.post("/models/load", body).json(), success);
  EXPECT_EQ(server.post("/models/load", body).status, 400) << "it is already running";
  EXPECT_TRUE(comes_true([&] { return status_of(server, "first") == "loaded"; }));
  EXPECT_EQ(server.post("/models/unload", body).json(), success);
  EXPECT_TRUE(comes_true([&] { return status_of(server, "first") == "unloaded"; }));
  EXPECT_EQ(server.post("/models/load", TestJson{{"model", "broken"}}).json(), success);
  EXPECT_TRUE(
      comes_true([&] { return server.get("/v1/models/broken").json()["status"].value("failed", false); }));
}

TEST(SeveralModels, AnswerForThemselves) {
  const SeveralModels models;
  const TestServer server(models.options());
  const TestJson props = server.get("/props").json();
  EXPECT_EQ(props["role"], "router");
  EXPECT_EQ(props["max_instances"], 4);
  EXPECT_EQ(props["models_autoload"], true);
  EXPECT_THAT(props["build_info"].get<std::string>(), StartsWith("spectr "));
  for (const char* query : {"", "&autoload=true", "&autoload=1"})
    EXPECT_EQ(server.get("/props?model=first" + std::string(query)).status, 400) << "a GET loads nothing";
  for (const char* name : {"first", "third"}) EXPECT_EQ(complete(server, name).status, 200);
  EXPECT_EQ(server.get("/props?model=third").json()["draft_models"], 0);
  EXPECT_EQ(server.get("/props?model=first").json()["draft_models"], 1);
  EXPECT_EQ(server.get("/slots?model=first").json().size(), 2u);
  EXPECT_THAT(server.get("/metrics?model=first").body, HasSubstr("spectr_tokens_predicted_total 4\n"));
  EXPECT_THAT(server.get("/metrics?model=third").body, HasSubstr("spectr_tokens_predicted_total 4\n"));
  EXPECT_EQ(server.post("/slots/0?action=erase&model=third", TestJson::object()).status, 200);
  EXPECT_EQ(server.post("/tokenize", {{"model", "first"}, {"content", "Once"}}).status, 200);
  EXPECT_EQ(server.post("/api/show", TestJson{{"name", "first"}}).status, 200);
}

TEST(SeveralModels, AreNotLoadedByRequestsIfTheServerIsStartedSo) {
  const SeveralModels models;
  const TestServer server(models.options({.loads_on_demand = false}));
  EXPECT_EQ(server.get("/props").json()["models_autoload"], false);
  const auto reply = complete(server, "first");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("not loaded"));
  EXPECT_EQ(server.post("/models/load", TestJson{{"model", "first"}}).status, 200);
  EXPECT_TRUE(comes_true([&] { return status_of(server, "first") == "loaded"; }));
  EXPECT_EQ(complete(server, "first").status, 200);
  EXPECT_EQ(server.post("/v1/completions?autoload=true", request_for("second")).status, 200);
}

TEST(SeveralModels, StreamTheAnswerOfAModelThatIsLoadedForIt) {
  const SeveralModels models;
  const TestServer server(models.options());
  TestJson body = {{"model", "first"}, {"max_tokens", 4}, {"stream", true}, {"ignore_eos", true}};
  body["messages"] = TestJson::array({TestJson{{"role", "user"}, {"content", "hello"}}});
  auto events = server.post("/chat/completions", body).events();
  ASSERT_GT(events.size(), 2u);
  EXPECT_EQ(events.back(), "[DONE]");
  events.pop_back();
  std::string content;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TestJson choice = TestJson::parse(events[i])["choices"][0];
    const bool is_last = i + 1 == events.size();
    EXPECT_EQ(choice["finish_reason"], is_last ? TestJson("length") : TestJson()) << choice;
    if (is_last) EXPECT_FALSE(choice["delta"].contains("content")) << choice;
    if (choice["delta"].contains("content") && choice["delta"]["content"].is_string())
      content += choice["delta"]["content"];
  }
  EXPECT_NE(content, "");
  body["model"] = "fourth";
  const auto unknown = server.post("/chat/completions", body);
  EXPECT_EQ(unknown.status, 400);
  EXPECT_TRUE(unknown.events().empty());
}

TEST(SeveralModels, TellOllamasClientsHowLongLoadingTook) {
  const SeveralModels models;
  ServerOptions options = models.options();
  std::promise<void> released;
  hold(options.models[0], released);
  const TestServer server(std::move(options));
  auto reply = std::async(std::launch::async, [&server] {
    return server.post("/api/generate", {{"model", "first"},
                                         {"prompt", "Once"},
                                         {"stream", false},
                                         {"options", {{"num_predict", 2}}}});
  });
  EXPECT_TRUE(comes_true([&] { return status_of(server, "first") == "loading"; }));
  const auto begun = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::chrono::nanoseconds held = std::chrono::steady_clock::now() - begun;
  released.set_value();
  const TestJson answer = reply.get().json();
  EXPECT_GE(answer["load_duration"].get<long>(), held.count());
  EXPECT_GE(answer["total_duration"].get<long>(), answer["load_duration"].get<long>());
}

TEST(SeveralModels, AreUsedLoadedAndUnloadedWithAKeyOnly) {
  const SeveralModels models;
  ServerOptions options = models.options();
  ASSERT_TRUE(options.keys.add_list("secret"));
  const TestServer server(std::move(options));
  const http::Headers key = {{"Authorization", "Bearer secret"}};
  const std::string body = request_for("first").dump();
  for (const char* path : {"/v1/completions", "/v1/chat/completions", "/models/load", "/models/unload"}) {
    const auto reply = server.post(path, body);
    EXPECT_EQ(reply.status, 401) << path;
    EXPECT_EQ(reply.error(), "authentication_error") << path;
  }
  EXPECT_EQ(status_of(server, "first"), "unloaded") << "the list needs no key";
  EXPECT_EQ(server.post("/models/load", body, key).status, 200);
  EXPECT_TRUE(comes_true([&] { return status_of(server, "first") == "loaded"; }));
  EXPECT_EQ(server.post("/v1/completions", body, key).status, 200);
}

TEST(SeveralModels, AreNeitherListedAnewNorDownloadedNorDeleted) {
  const SeveralModels models;
  const TestServer server(models.options());
  EXPECT_EQ(server.get("/models?reload=1").json(), server.get("/models").json());
  EXPECT_EQ(server.post("/models", TestJson{{"model", "first"}}).status, 405);
  EXPECT_EQ(server.ask("DELETE", "/models?model=first").status, 405);
  EXPECT_EQ(server.get("/models/sse").status, 404);
}

TEST(SeveralModels, FinishAStreamBeforeTheyAreUnloaded) {
  const SeveralModels models;
  const TestServer server(models.options({.max_loaded = 1}));
  TestJson body = request_for("first", 100);
  body.update({{"stream", true}, {"ignore_eos", true}});
  TestServer::Reply stream;
  {
    const std::jthread client([&] { stream = server.post("/v1/completions", body); });
    ASSERT_TRUE(comes_true([&] { return status_of(server, "first") == "loaded"; }));
    EXPECT_EQ(server.post("/models/unload", TestJson{{"model", "first"}}).status, 200);
    EXPECT_EQ(complete(server, "second").status, 200) << "as soon as there is room";
  }
  ASSERT_EQ(stream.status, 200);
  const auto events = stream.events();
  ASSERT_GT(events.size(), 2u);
  EXPECT_EQ(events.back(), "[DONE]");
  EXPECT_THAT(events[events.size() - 2], HasSubstr("\"finish_reason\":\"length\""));
  EXPECT_EQ(loaded(server), std::vector<std::string>{"second"});
}

TEST(SeveralModels, StayConsistentUnderConcurrentLoadsAndUnloads) {
  const SeveralModels models;
  const TestServer server(models.options({.max_loaded = 2}));
  const std::string text = complete(server, "first").json()["choices"][0]["text"];
  std::atomic<int> wrong = 0, answered = 0;
  {
    std::vector<std::jthread> clients;
    for (unsigned client = 0; client < 4; ++client) {
      clients.emplace_back([&, client] {
        std::mt19937 random(client);
        for (int i = 0; i < 10; ++i) {
          const char* const names[] = {"first", "second", "third", "broken"};
          const std::string name = names[random() % 4];
          const unsigned what = random() % 6;
          if (what < 2) {
            const auto reply =
                server.post(what == 0 ? "/models/load" : "/models/unload", TestJson{{"model", name}});
            if (reply.status != 200 && reply.status != 400) ++wrong;
          } else if (what == 2) {
            if (server.get("/models").status != 200) ++wrong;
          } else {
            const auto reply = complete(server, name);
            if (reply.status == 200) {
              ++answered;
              if (name == "broken" || reply.json()["choices"][0]["text"] != text) ++wrong;
            } else if (reply.status == 500 ? name != "broken" : reply.status != 503) {
              ++wrong;  // 503: it was unloaded before its turn
            }
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(answered, 0);
  EXPECT_LE(loaded(server).size(), 2u);
}

TEST(SeveralModels, AreAFeatureOfServersThatAreStartedSo) {
  const TestServer server;
  for (const char* path : {"/models/load", "/models/unload"})
    EXPECT_EQ(server.post(path, TestJson{{"model", "any"}}).status, 501) << path;
  EXPECT_EQ(complete(server, "any name").status, 200);
  EXPECT_EQ(server.get("/props?model=any").status, 200);
  EXPECT_FALSE(server.get("/v1/models").json()["data"][0].contains("status"));
}

}  // namespace
}  // namespace spectr::server
