/* Grammars, JSON schemas and tools through the C interface. */
#include <stdlib.h>

#include "tests/capi/expect.h"

static spectr_error error;

static const char tools[] =
    "[{\"type\": \"function\", \"function\": {\"name\": \"get_weather\", \"description\": \"Weather of a city\","
    "\"parameters\": {\"type\": \"object\", \"required\": [\"city\"], \"additionalProperties\": false,"
    "\"properties\": {\"city\": {\"enum\": [\"Rome\", \"Oslo\"]}}}}}]";

struct answer {
  char text[1000];
  char id[32], name[32], arguments[100]; /* of the first call */
  size_t calls;
};

/* Generates one completion. */
static struct answer answer_to(spectr_engine* engine, const spectr_request* request) {
  struct answer answer = {0};
  spectr_completion* completion = NULL;
  if (spectr_engine_submit(engine, request, &completion, &error) != SPECTR_OK) {
    fprintf(stderr, "%s\n", error.message);
    ++failures;
    return answer;
  }
  spectr_event event;
  spectr_status status;
  while ((status = spectr_completion_next(completion, 60000, &event, &error)) == SPECTR_OK) {
    if (strlen(answer.text) + event.text_size < sizeof answer.text) strcat(answer.text, event.text);
    if (event.tool_call_count > 0 && answer.calls == 0) {
      snprintf(answer.id, sizeof answer.id, "%s", event.tool_calls[0].id);
      snprintf(answer.name, sizeof answer.name, "%s", event.tool_calls[0].name);
      snprintf(answer.arguments, sizeof answer.arguments, "%s", event.tool_calls[0].arguments);
    }
    answer.calls += event.tool_call_count;
  }
  EXPECT(status == SPECTR_DONE);
  spectr_completion_free(completion);
  return answer;
}

static void of_texts(spectr_engine* engine) {
  spectr_request request = spectr_request_defaults();
  request.prompt = "The answer is";
  request.max_tokens = 120;
  request.grammar = "root ::= \"yes\" | \"no\"";
  for (request.seed = 0; request.seed < 4; ++request.seed) {
    const struct answer answer = answer_to(engine, &request);
    EXPECT(strcmp(answer.text, "yes") == 0 || strcmp(answer.text, "no") == 0);
  }
  request.grammar = NULL;
  request.json_schema = "{\"type\": \"string\", \"enum\": [\"red\", \"blue\"]}";
  const struct answer answer = answer_to(engine, &request);
  EXPECT(strcmp(answer.text, "\"red\"") == 0 || strcmp(answer.text, "\"blue\"") == 0);

  spectr_completion* completion = NULL;
  request.grammar = "root ::= \"yes\"";
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "json_schema and grammar exclude each other");
  request.json_schema = NULL;
  request.grammar = "root ::= (";
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT, "grammar");
  request.grammar = NULL;
  request.json_schema = "{";
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "json_schema");
  request.json_schema = NULL;
  request.tools = tools;
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "tools and tool_choice need messages");
  EXPECT(completion == NULL);
}

static void of_tools(spectr_engine* engine) {
  spectr_message messages[3] = {{.role = "user", .content = "Weather?"}};
  spectr_request request = spectr_request_defaults();
  request.messages = messages;
  request.message_count = 1;
  request.max_tokens = 120;
  request.temperature = 0.0;
  request.tools = tools;
  request.tool_choice = "required";
  const struct answer first = answer_to(engine, &request), again = answer_to(engine, &request);
  EXPECT(first.calls > 0 && first.text[0] == '\0');
  EXPECT(strcmp(first.name, "get_weather") == 0);
  EXPECT(strcmp(first.arguments, "{\"city\":\"Rome\"}") == 0 ||
         strcmp(first.arguments, "{\"city\":\"Oslo\"}") == 0);
  EXPECT(strlen(first.id) == 9 && strcmp(first.id, again.id) == 0);

  /* The conversation goes on with the result. */
  const spectr_tool_call call = {first.id, first.name, first.arguments};
  messages[1] = (spectr_message){.role = "assistant", .tool_calls = &call, .tool_call_count = 1};
  messages[2] = (spectr_message){.role = "tool", .content = "sunny", .tool_call_id = first.id};
  request.message_count = 3;
  const struct answer second = answer_to(engine, &request);
  EXPECT(second.calls > 0 && strcmp(second.id, first.id) != 0);
  request.tool_choice = "none";
  EXPECT(answer_to(engine, &request).calls == 0);

  /* With a schema, the answer is calls or JSON. */
  request.tool_choice = NULL;
  request.json_schema = "{\"type\": \"string\", \"enum\": [\"sunny\"]}";
  const struct answer either = answer_to(engine, &request);
  EXPECT(either.calls > 0 || strcmp(either.text, "\"sunny\"") == 0);

  spectr_completion* completion = NULL;
  request.tool_choice = "required";
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "'json_schema' and 'tool_choice' exclude each other");
  request.json_schema = NULL;
  request.tool_choice = "always";
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "tool_choice");
  request.tool_choice = "auto";
  request.tools = "{}";
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "'tools' must be a list");
  request.tools = tools;
  const spectr_tool_call malformed = {NULL, "get_weather", "[]"}, nameless = {NULL, NULL, "{}"};
  messages[1].tool_calls = &malformed;
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "arguments of a tool call must be a JSON object");
  messages[1].tool_calls = &nameless;
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "name of a tool call is NULL");
  messages[1].tool_calls = NULL;
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "tool_calls of a message is NULL");
  messages[1].tool_call_count = 0;
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "content of a message is NULL");
  EXPECT(completion == NULL);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  spectr_engine_options options = spectr_engine_defaults();
  options.model = argv[1];
  options.threads = 1;
  spectr_engine* engine = NULL;
  if (spectr_engine_load(&options, &engine, &error) != SPECTR_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  of_texts(engine);
  of_tools(engine);
  spectr_engine_free(engine);
  return failures != 0;
}
