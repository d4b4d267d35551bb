/* Answers one message with a target and its draft model, using the C interface.
 *   chat TARGET.gguf DRAFT.gguf MESSAGE */
#include <spectr.h>
#include <stdio.h>

/* Streams the answer, then prints its statistics. */
static spectr_status answer(spectr_engine* engine, const spectr_request* request, spectr_error* error) {
  spectr_completion* completion;
  spectr_status status = spectr_engine_submit(engine, request, &completion, error);
  if (status != SPECTR_OK) return status;
  spectr_event event;
  while ((status = spectr_completion_next(completion, 60000, &event, error)) == SPECTR_OK) {
    fwrite(event.text, 1, event.text_size, stdout);
    fflush(stdout);
  }
  if (status == SPECTR_DONE) {
    printf("\n%s\n", spectr_completion_statistics(completion, 0));
    status = SPECTR_OK;
  }
  spectr_completion_free(completion);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "usage: chat TARGET.gguf DRAFT.gguf MESSAGE\n"), 2;
  const char* drafts[] = {argv[2]};
  spectr_engine_options options = spectr_engine_defaults();
  options.model = argv[1];
  options.drafts = drafts;
  options.draft_count = 1;
  spectr_error error;
  spectr_engine* engine;
  if (spectr_engine_load(&options, &engine, &error) != SPECTR_OK) {
    return fprintf(stderr, "%s\n", error.message), 1;
  }
  const spectr_message messages[] = {{.role = "user", .content = argv[3]}};
  spectr_request request = spectr_request_defaults();
  request.messages = messages;
  request.message_count = 1;
  request.max_tokens = 60;
  request.seed = 1;
  const spectr_status status = answer(engine, &request, &error);
  if (status != SPECTR_OK) fprintf(stderr, "%s\n", error.message);
  spectr_engine_free(engine);
  return status == SPECTR_OK ? 0 : 1;
}
