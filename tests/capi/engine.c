/* Completions through the C interface: equal seeds give equal tokens; cancellation; freeing in any order. */
#include <stdlib.h>

#include "tests/capi/expect.h"

enum { max_tokens = 24 };

/* Reads all events of a completion. Returns the number of tokens of its first choice. */
static size_t read_all(spectr_completion* completion, int32_t* tokens, char* text, size_t text_capacity) {
  spectr_error error;
  spectr_event event;
  spectr_status status;
  size_t count = 0, length = 0;
  while ((status = spectr_completion_next(completion, 60000, &event, &error)) == SPECTR_OK) {
    if (event.choice != 0) continue;
    for (size_t i = 0; i < event.token_count && count < max_tokens; ++i) tokens[count++] = event.tokens[i];
    EXPECT(event.text_size == strlen(event.text));
    if (length + event.text_size < text_capacity) {
      memcpy(text + length, event.text, event.text_size);
      length += event.text_size;
    }
    if (event.ended) EXPECT(strcmp(event.stop_reason, "limit") == 0);
  }
  EXPECT(status == SPECTR_DONE);
  text[length] = '\0';
  return count;
}

static void count_call(void* user) {
  ++*(_Atomic int*)user;
}

static void keep_share(void* user, const char* what, double share) {
  EXPECT(strstr(what, ".gguf") != NULL);
  *(_Atomic double*)user = share;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* const drafts[] = {argv[2]};
  spectr_engine_options options = spectr_engine_defaults();
  options.model = argv[1];
  options.drafts = drafts;
  options.draft_count = 1;
  options.threads = 1;
  options.slots = 2;
  _Atomic double share = 0.0;
  options.progress = keep_share;
  options.user = (void*)&share;
  spectr_error error;
  spectr_engine* engine = NULL;
  if (spectr_engine_load(&options, &engine, &error) != SPECTR_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }

  EXPECT(share == 1.0);

  spectr_request request = spectr_request_defaults();
  request.prompt = "Once upon a time";
  request.max_tokens = max_tokens;
  request.seed = 3;
  request.method = "spectr";
  request.drafts = 2;
  request.length = 3;
  request.ignore_eos = true;
  int32_t tokens[2][max_tokens];
  char text[2][1000];
  for (int run = 0; run < 2; ++run) {
    request.n = run + 1; /* a completion does not depend on its neighbours */
    spectr_completion* completion = NULL;
    EXPECT(spectr_engine_submit(engine, &request, &completion, &error) == SPECTR_OK);
    EXPECT(spectr_completion_statistics(completion, 0) == NULL);
    EXPECT(read_all(completion, tokens[run], text[run], sizeof text[run]) == max_tokens);
    const char* statistics = spectr_completion_statistics(completion, 0);
    EXPECT(statistics != NULL && strstr(statistics, "\"generated\":24") != NULL);
    EXPECT(strstr(statistics, "\"method\":\"spectr\"") != NULL);
    EXPECT(spectr_completion_statistics(completion, 2) == NULL);
    spectr_completion_free(completion);
  }
  EXPECT(memcmp(tokens[0], tokens[1], sizeof tokens[0]) == 0);
  EXPECT(strcmp(text[0], text[1]) == 0 && text[0][0] != '\0');

  int32_t prompt[16];
  size_t count = 0;
  EXPECT(spectr_engine_tokenize(engine, request.prompt, prompt, 16, &count, &error) == SPECTR_OK);
  EXPECT(count > 1 && count <= 16);
  char prompt_text[100];
  size_t prompt_size = 0;
  EXPECT(spectr_engine_detokenize(engine, prompt, count, prompt_text, sizeof prompt_text, &prompt_size,
                                  &error) == SPECTR_OK);
  EXPECT(prompt_size >= strlen(request.prompt));
  EXPECT(memcmp(prompt_text + prompt_size - strlen(request.prompt), request.prompt, strlen(request.prompt)) ==
         0);
  double loss = 0.0;
  EXPECT(spectr_engine_loss(engine, prompt, count, &loss, &error) == SPECTR_OK && loss > 0.0);
  float* logits = malloc(spectr_engine_vocabulary(engine) * sizeof *logits);
  EXPECT(spectr_engine_logits(engine, prompt, count, count - 1, logits, &error) == SPECTR_OK);
  free(logits);
  EXPECT(spectr_engine_context(engine) > count);

  _Atomic int calls = 0;
  request.n = 1;
  request.listener = count_call;
  request.user = (void*)&calls;
  request.prompt = NULL;
  request.tokens = prompt;
  request.token_count = count;
  spectr_completion* completion = NULL;
  EXPECT(spectr_engine_submit(engine, &request, &completion, &error) == SPECTR_OK);
  EXPECT(read_all(completion, tokens[1], text[1], sizeof text[1]) == max_tokens);
  EXPECT(memcmp(tokens[0], tokens[1], sizeof tokens[0]) == 0);
  EXPECT(spectr_completion_wait(completion, 60000, &error) == SPECTR_OK && calls > 0);
  spectr_completion_free(completion);
  request.listener = NULL;

  /* If the engine is freed first, the completion ends. */
  request.max_tokens = 0;
  EXPECT(spectr_engine_submit(engine, &request, &completion, &error) == SPECTR_OK);
  spectr_engine_free(engine);
  spectr_completion_cancel(completion);
  spectr_event event;
  spectr_status status;
  do {
    status = spectr_completion_next(completion, 60000, &event, &error);
  } while (status == SPECTR_OK && !event.ended);
  EXPECT(status == SPECTR_OK && event.stop_reason != NULL);
  EXPECT(spectr_completion_next(completion, 0, &event, &error) == SPECTR_DONE);
  spectr_completion_free(completion);
  return failures != 0;
}
