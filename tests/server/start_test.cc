// The options of a server determine the defaults of requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

/// Returns the method for a request with these speculative settings.
std::string method_of(const TestServer& server, const TestJson& speculative) {
  const TestJson body = {{"prompt", "Once"}, {"n_predict", 1}, {"speculative", speculative}};
  return server.post("/completion", body).json()["generation_settings"]["speculative"]["method"];
}

TEST(Server, ChoosesTheMethodByWhatIsGiven) {
  const TestServer server;
  EXPECT_EQ(method_of(server, TestJson::object()), "auto");
  EXPECT_EQ(method_of(server, {{"drafts", 2}}), "spectr");
  EXPECT_EQ(method_of(server, {{"n_max", 2}}), "spectr");
  EXPECT_EQ(method_of(server, {{"plan", "optimal"}}), "spectr");
  EXPECT_EQ(method_of(server, {{"tree", {2, 1}}}), "tree");
}

TEST(Server, SamplesAsItWasStartedWhereARequestDoesNotSay) {
  ServerOptions options = TestServer::options(1);
  options.service.defaults.sampling.temperature = 0.0;
  options.service.defaults.sampling.top_k = 7;
  const TestServer server(options);
  const auto settings = [&server](TestJson body) {
    body.update({{"prompt", "Once"}, {"n_predict", 1}});
    return server.post("/completion", body).json()["generation_settings"];
  };
  EXPECT_EQ(settings({})["temperature"], 0.0);
  EXPECT_EQ(settings({})["top_k"], 7);
  EXPECT_EQ(settings({{"top_k", 0}})["top_k"], 0);
  EXPECT_EQ(settings({{"temperature", 1}})["temperature"], 1.0);
  EXPECT_EQ(server.get("/props").json()["default_generation_settings"]["params"]["top_k"], 7);
}

TEST(Server, DecodesAsItWasStartedWhereARequestDoesNotSay) {
  ServerOptions options = TestServer::options(1);
  options.service.defaults.limit = 3;
  options.service.defaults.speculative = {.method = "speculative", .length = 2};
  const TestServer server(options);
  const auto settings = [&server](TestJson body) {
    body.update({{"prompt", "Once"}, {"ignore_eos", true}});
    return server.post("/completion", body).json()["generation_settings"];
  };
  EXPECT_EQ(settings({})["n_predict"], 3);
  EXPECT_EQ(settings({{"max_tokens", 2}})["n_predict"], 2);
  EXPECT_GT(settings({{"n_predict", -1}})["n_predict"], 100);
  EXPECT_EQ(settings({})["speculative"], TestJson({{"method", "speculative"}, {"drafts", 1}, {"length", 2}}));
  const TestJson tree = settings({{"speculative", {{"tree", {3, 2}}, {"plan", "optimal"}}}})["speculative"];
  EXPECT_EQ(tree["plan"].dump() + tree["tree"].dump() + tree["length"].dump(), "\"optimal\"[3,2]2");
  TestJson own = settings({{"speculative", {{"drafts", 2}}}})["speculative"];
  EXPECT_GT(own["length"], 2) << "the best by the costs";
  own.erase("length");
  EXPECT_EQ(own, TestJson({{"method", "spectr"}, {"plan", "k-seq"}, {"drafts", 2}})) << "all of it its own";
  const TestJson conditional = {
      {"method", "conditional"}, {"drafts", 2}, {"length", 3}, {"trunk", 1}, {"look", true}};
  EXPECT_EQ(settings({{"speculative", conditional}})["speculative"], conditional);
  const TestJson told = server.get("/props").json()["default_generation_settings"]["params"];
  EXPECT_EQ(told["n_predict"], 3);
  EXPECT_EQ(told["speculative"], settings({})["speculative"]);
}

TEST(Server, WorksWithSeveralDraftModels) {
  ServerOptions options = TestServer::options();
  options.service.engine.models.drafts.push_back(options.service.engine.models.target);
  options.service.engine.costs = [](const EngineModels&) {
    Costs costs = *TestServer::made_up_costs();
    costs.drafts.push_back({costs.target});
    return std::make_shared<const Costs>(std::move(costs));
  };
  const TestServer server(options);
  EXPECT_EQ(method_of(server, TestJson::object()), "auto");
  EXPECT_EQ(method_of(server, {{"drafts", 2}}), "specinfer");
  const auto text = [&server](const TestJson& speculative) {
    const TestJson body = {{"prompt", "Once upon"},
                           {"max_tokens", 32},
                           {"seed", 3},
                           {"temperature", 0},
                           {"speculative", speculative}};
    return server.post("/v1/completions", body).json()["choices"][0]["text"];
  };
  const auto plain = text({{"method", "plain"}});
  EXPECT_NE(plain, "");
  for (const TestJson& method :
       {TestJson::object(), TestJson{{"drafts", 2}}, TestJson{{"method", "spectr"}}, TestJson::object()})
    EXPECT_EQ(text(method), plain) << method;
}

TEST(Server, RefusesAutoWhereCostsAreUnknown) {
  ServerOptions options = TestServer::options();
  options.service.engine.costs = nullptr;
  const TestServer server(options);
  EXPECT_EQ(method_of(server, TestJson::object()), "spectr");
  const auto reply =
      server.post("/v1/completions", {{"prompt", "Once"}, {"speculative", {{"method", "auto"}}}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("auto"));
}

}  // namespace
}  // namespace spectr::server
