/* The C interface of spectr: transport plans, verification of drafts on arrays, exact distributions, and an
 * engine that generates text. C11; see docs/c.md.
 *
 * Every function that can fail returns a status and, if `error` is not NULL, writes a message. Nothing aborts
 * or prints, and there is no global state. Handles are created by *_new, *_load and *_submit, and released by
 * *_free, which take NULL. Functions may be called from several threads, also with the same handle, except
 * for *_free, spectr_completion_next and spectr_completion_statistics. Arrays are row-major and belong to the
 * caller. Callbacks must not throw and must not free the handle that calls them. include/spectr has the same
 * interface for C++20. */
#ifndef SPECTR_CAPI_SPECTR_H_
#define SPECTR_CAPI_SPECTR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Marks the functions of the library, whose other symbols are hidden. */
#if defined(__GNUC__)
#define SPECTR_API __attribute__((visibility("default")))
#else
#define SPECTR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum spectr_status {
  SPECTR_OK = 0,
  SPECTR_BAD_INPUT = 1,     /* an argument or a file is wrong */
  SPECTR_UNSUPPORTED = 2,   /* this build, machine or model cannot do it */
  SPECTR_IO = 3,            /* a file cannot be used */
  SPECTR_CONTEXT_FULL = 4,  /* the sequence exceeds the context */
  SPECTR_OUT_OF_MEMORY = 5, /* of this machine or of a device */
  SPECTR_CANCELLED = 6,
  SPECTR_TIMEOUT = 7,
  SPECTR_DEVICE_LOST = 8,
  SPECTR_INTERNAL = 9, /* a computation has failed */
  SPECTR_DONE = 10     /* all completions have ended and all of their events have been taken */
} spectr_status;

typedef struct spectr_error {
  spectr_status status;
  char message[512]; /* one line of UTF-8; it names the argument and its value */
} spectr_error;

/* Returns the version, as in "0.1.0". */
SPECTR_API const char* spectr_version(void);

/* A random stream. Streams with equal members yield equal random numbers, so calls for successive blocks of a
 * sequence must differ in one of them. */
typedef struct spectr_stream {
  uint64_t seed;
  uint64_t stream;
  uint64_t block;
} spectr_stream;

/* ---- Distributions: probabilities from logits, and draws from them. ---------------------------------------
 */

typedef struct spectr_sampling {
  double temperature;  /* 0: a point mass on the largest logit */
  double top_p, min_p; /* top_p 1 and min_p 0 keep all tokens */
  size_t top_k;        /* 0 keeps all tokens */
} spectr_sampling;

/* Returns the defaults of the command line: temperature 0.8, top_k 40, top_p 0.95, min_p 0.05. */
SPECTR_API spectr_sampling spectr_sampling_defaults(void);
/* Computes the distribution of the next token: top-k, top-p, min-p, temperature, in this order. logits and
 * probabilities: [vocabulary]. Fails if a logit is NaN or infinity, or if all are minus infinity. */
SPECTR_API spectr_status spectr_probabilities(const float* logits, size_t vocabulary,
                                              const spectr_sampling* sampling, double* probabilities,
                                              spectr_error* error);
/* Draws a token, for drafts of an engine of your own and for tokens after a block. probabilities:
 * [vocabulary]. The draw is independent of those of plans and verifiers with the same stream; two draws of
 * this function need different streams. */
SPECTR_API spectr_status spectr_sample(const double* probabilities, size_t vocabulary,
                                       const spectr_stream* stream, int32_t* token, spectr_error* error);

/* ---- Plans: k drafts from p become one token distributed as q. --------------------------------------------
 */

/* A row of the table of plans. The strings are static. */
typedef struct spectr_plan_info {
  const char* name;
  const char* summary;
  bool lossless;     /* the output is distributed as q */
  bool independent;  /* drafts are independent draws from p, which the caller may draw */
  size_t max_drafts; /* largest k; 0: any */
} spectr_plan_info;

/* Describes plan `index` of the table. Returns false if there are no more. */
SPECTR_API bool spectr_plan_at(size_t index, spectr_plan_info* info);

typedef struct spectr_plan spectr_plan;

typedef struct spectr_plan_options {
  double epsilon; /* over-acceptance of the plans epsilon-opt and epsilon-uno */
  int32_t rounds; /* linear programs of plan str+, at least 1 */
} spectr_plan_options;

/* Builds a plan by name: "optimal", "k-seq", … (docs/plans.md). p and q: [vocabulary], probabilities that sum
 * to 1 within 1e-6. `options` may be NULL. */
SPECTR_API spectr_status spectr_plan_new(const char* name, const double* p, const double* q,
                                         size_t vocabulary, size_t k, const spectr_plan_options* options,
                                         spectr_plan** plan, spectr_error* error);
SPECTR_API void spectr_plan_free(spectr_plan* plan);

/* Returns the number of drafts of spectr_plan_draw and spectr_plan_select: k, or fewer if drafts are drawn
 * without replacement and p has fewer tokens. Returns 0 for NULL. */
SPECTR_API size_t spectr_plan_drafts(const spectr_plan* plan);
/* Computes the probability that a draft is accepted. */
SPECTR_API spectr_status spectr_plan_acceptance(const spectr_plan* plan, double* acceptance,
                                                spectr_error* error);
/* Computes the exact distribution of the output by enumeration. law: [vocabulary]; equals q for lossless
 * plans. Fails above 2e5 tuples of drafts. */
SPECTR_API spectr_status spectr_plan_law(const spectr_plan* plan, double* law, spectr_error* error);
/* Computes the distribution of the output if no draft is accepted. residual: [vocabulary]. If acceptance is 1
 * or the residual depends on the drafts, `exists` is false and `residual` is unchanged. */
SPECTR_API spectr_status spectr_plan_residual(const spectr_plan* plan, double* residual, bool* exists,
                                              spectr_error* error);
/* Computes the exact distribution of the output given the drafts. conditional: [vocabulary]. */
SPECTR_API spectr_status spectr_plan_conditional(const spectr_plan* plan, const int32_t* drafts, size_t count,
                                                 double* conditional, spectr_error* error);
/* Draws drafts. drafts: [spectr_plan_drafts(plan)]. */
SPECTR_API spectr_status spectr_plan_draw(const spectr_plan* plan, const spectr_stream* stream,
                                          int32_t* drafts, spectr_error* error);
/* Selects the output. `accepted` may be NULL. */
SPECTR_API spectr_status spectr_plan_select(const spectr_plan* plan, const int32_t* drafts, size_t count,
                                            const spectr_stream* stream, int32_t* token, bool* accepted,
                                            spectr_error* error);

/* ---- Verification of drafts on arrays, for engines with models of their own. ------------------------------
 */

/* Rows of numbers, [count, vocabulary], in either f32 or f64; the other is NULL. Probabilities must sum to 1
 * within 1e-4 (f32) or 1e-6 (f64); they are normalised. */
typedef struct spectr_rows {
  const float* f32;
  const double* f64;
  size_t count;
} spectr_rows;

/* A tree of drafted tokens. Parents precede their children, and siblings are in the order of drawing. If only
 * the number of copies of each token is known, use `multiplicities`. */
typedef struct spectr_tree {
  size_t count;
  const int32_t* tokens;         /* [count] */
  const int32_t* parents;        /* [count], -1 for children of the sequence; NULL: a chain */
  const int32_t* multiplicities; /* [count], number of copies drawn; NULL: 1 */
  const int32_t* rows;           /* [count], row of draft_probs that the token was drawn from; NULL: row i */
  spectr_rows draft_probs;
} spectr_tree;

/* A row of the table of methods. The strings are static. */
typedef struct spectr_method_info {
  const char* name;
  const char* summary;
  const char* plan;     /* the default plan; empty if the method has no choice of plans */
  bool lossless;        /* the output has exactly the target's distribution */
  bool verifies_arrays; /* spectr_verifier_new accepts it */
} spectr_method_info;

/* Describes method `index` of the table. Returns false if there are no more. */
SPECTR_API bool spectr_method_at(size_t index, spectr_method_info* info);

typedef struct spectr_verifier spectr_verifier;

typedef struct spectr_verifier_options {
  const char* plan; /* for methods spectr, tree and specinfer; NULL: the default */
  double epsilon;   /* for biased methods and plans */
  int32_t rounds;   /* for plan str+, at least 1 */
  bool look;        /* method conditional tries the most promising children first */
} spectr_verifier_options;

/* Creates a verifier. `method`: speculative, block, traversal, conditional, spectr, … (docs/methods), or a
 * plan, which is applied along the tree. `options` may be NULL. */
SPECTR_API spectr_status spectr_verifier_new(const char* method, const spectr_verifier_options* options,
                                             spectr_verifier** verifier, spectr_error* error);
SPECTR_API void spectr_verifier_free(spectr_verifier* verifier);
/* Returns true if the output has exactly the target's distribution. Returns false for NULL. */
SPECTR_API bool spectr_verifier_is_lossless(const spectr_verifier* verifier);

/* Verifies a chain of n tokens. draft_probs: [n, vocabulary], row i is the distribution that token i was
 * drawn from. target_probs: [n + 1, vocabulary], row 0 after the sequence and row i + 1 after token i.
 * tokens: [n + 1]; `emitted` is set to the number of tokens written: the accepted ones and one more. */
SPECTR_API spectr_status spectr_verify(const spectr_verifier* verifier, size_t vocabulary, size_t n,
                                       const int32_t* draft_tokens, spectr_rows draft_probs,
                                       spectr_rows target_probs, const spectr_stream* stream, int32_t* tokens,
                                       size_t* emitted, spectr_error* error);

/* Verifies a tree. target_probs: [count + 1, vocabulary], row 0 after the sequence, row i + 1 after entry i.
 * path: [count], receives the `*emitted` - 1 accepted entries; may be NULL. tokens: [count + 1]. */
SPECTR_API spectr_status spectr_verify_tree(const spectr_verifier* verifier, size_t vocabulary,
                                            const spectr_tree* tree, spectr_rows target_probs,
                                            const spectr_stream* stream, int32_t* tokens, int32_t* path,
                                            size_t* emitted, spectr_error* error);

/* ---- The exact distribution of a method on a pair of tables, as `spectr law` computes it. -----------------
 */

typedef struct spectr_law_options {
  const char* plan; /* NULL: the method's default */
  size_t drafts;    /* K, at least 1 */
  size_t length;    /* L, at least 1 */
} spectr_law_options;

typedef struct spectr_law_result {
  double tv_error; /* total variation to the target's own distribution */
  double expected_target_calls;
  double expected_rejections;
  double block_efficiency;
  double
      expected_tokens_per_block; /* of the first block of an endless sequence; NaN if it was not enumerated */
} spectr_law_result;

/* draft and target: [steps, vocabulary, vocabulary], rows by step and last token; later steps use the last
 * step's rows. The sequence starts after token `start`. distribution: [vocabulary ^ horizon], may be NULL;
 * the index of a sequence x1 … xh has these digits, x1 first. Fails above 1e6 sequences. */
SPECTR_API spectr_status spectr_law(const char* method, const spectr_law_options* options,
                                    const double* draft, const double* target, size_t vocabulary,
                                    size_t steps, int32_t start, size_t horizon, spectr_law_result* result,
                                    double* distribution, spectr_error* error);

/* ---- The engine: loads GGUF models and generates. ---------------------------------------------------------
 */

typedef struct spectr_engine spectr_engine;
typedef struct spectr_completion spectr_completion;

typedef struct spectr_engine_options {
  const char* model;         /* GGUF file of the target */
  const char* const* drafts; /* [draft_count], files of draft models */
  size_t draft_count;
  int32_t threads;          /* 0: one per usable processor */
  size_t context;           /* tokens of prompt and completion; 0: the model's limit */
  size_t slots;             /* completions that are decoded concurrently, at least 1 */
  const char* device;       /* NULL: the processor */
  const char* draft_device; /* NULL: the processor */
  bool measure_costs; /* measure costs of passes, once per machine, in several seconds; for method auto */
  /* Receives the progress of loading and measuring: the file or the measurement, and its share in [0, 1].
   * Called by threads of spectr_engine_load and spectr_engine_submit. May be NULL. */
  void (*progress)(void* user, const char* what, double share);
  /* Receives warnings about files and messages of measurements, one line each. May be NULL. */
  void (*log)(void* user, const char* line);
  void* user; /* passed to progress and log */
} spectr_engine_options;

/* A call of a tool by the model. */
typedef struct spectr_tool_call {
  const char* id;        /* nine letters and digits; identifies the call in the message with its result */
  const char* name;      /* name of the tool */
  const char* arguments; /* a JSON object */
} spectr_tool_call;

typedef struct spectr_message {
  const char* role;                   /* "system", "user", "assistant", or "tool" for the result of a call */
  const char* content;                /* may be NULL if there are tool_calls */
  const spectr_tool_call* tool_calls; /* [tool_call_count], calls of an assistant */
  size_t tool_call_count;
  const char* tool_call_id; /* id of the call that this is the result of; may be NULL */
} spectr_message;

/* A request for completions. Exactly one of prompt, tokens and messages is not NULL.
 */
typedef struct spectr_request {
  const char* prompt;
  const int32_t* tokens; /* [token_count] */
  size_t token_count;
  const spectr_message* messages; /* [message_count] */
  size_t message_count;
  size_t n;          /* completions, at least 1 */
  size_t max_tokens; /* 0: until EOS or the context is full */
  uint64_t seed;
  double temperature, top_p, min_p, repeat_penalty;
  size_t top_k;
  const char* method;      /* NULL: chosen as by the command line */
  const char* plan;        /* NULL: the method's default */
  size_t drafts;           /* K; 0: chosen automatically */
  size_t length;           /* L; 0: chosen automatically */
  const char* const* stop; /* [stop_count], stop strings */
  size_t stop_count;
  bool ignore_eos;
  /* Called by threads of the engine when a completion has a new event, also before spectr_engine_submit
   * returns. Its completion waits until it returns. It must not call spectr_completion_* functions that wait;
   * wake the thread that calls spectr_completion_next. May be NULL. */
  void (*listener)(void* user);
  void* user; /* passed to listener */
  /* Constraints on the text, after any reasoning. At most one of json_schema and grammar is not NULL. */
  const char* json_schema; /* JSON schema of the text; with tools, the answer is calls or such JSON */
  const char* grammar;     /* GBNF grammar that derives the text from its rule "root" */
  /* Tools for an answer to messages: a JSON list of {"type": "function", "function": {"name", "description",
   * "parameters", "strict"}}, where parameters is the JSON schema of the arguments. May be NULL. */
  const char* tools;
  /* "auto", "none", "required" (the answer consists of calls with valid arguments), or {"type": "function",
   * "function": {"name"}}, which requires calls of this tool. NULL: auto. */
  const char* tool_choice;
} spectr_request;

/* An event of a request's completions. Pointers are valid until the next call with the same handle. */
typedef struct spectr_event {
  size_t choice;         /* which of the n completions */
  const char* text;      /* UTF-8, null-terminated */
  size_t text_size;      /* bytes */
  const char* reasoning; /* reasoning before the answer to a conversation, if the model marks it */
  size_t reasoning_size;
  const int32_t* tokens; /* [token_count] */
  size_t token_count;
  bool ended; /* this is the last event of its completion */
  const char*
      stop_reason; /* "eos", "limit", "word", "context", "cancelled", "failed", …; NULL before the end */
  const spectr_tool_call* tool_calls; /* [tool_call_count], calls that are complete; not part of the text */
  size_t tool_call_count;
} spectr_event;

/* Returns the defaults: one slot, all processors. */
SPECTR_API spectr_engine_options spectr_engine_defaults(void);
/* Returns the defaults of the command line: temperature 0.8, top_k 40, top_p 0.95, min_p 0.05, seed 0. */
SPECTR_API spectr_request spectr_request_defaults(void);

SPECTR_API spectr_status spectr_engine_load(const spectr_engine_options* options, spectr_engine** engine,
                                            spectr_error* error);
/* Releases the handle. Existing completions remain valid. */
SPECTR_API void spectr_engine_free(spectr_engine* engine);

/* Checks a request and queues its completions. */
SPECTR_API spectr_status spectr_engine_submit(spectr_engine* engine, const spectr_request* request,
                                              spectr_completion** completion, spectr_error* error);
/* Returns the number of tokens of the target's vocabulary. Returns 0 for NULL. */
SPECTR_API size_t spectr_engine_vocabulary(const spectr_engine* engine);
/* Returns the maximum tokens of prompt and completion together. Returns 0 for NULL. */
SPECTR_API size_t spectr_engine_context(const spectr_engine* engine);
/* Tokenizes a text. Writes up to `capacity` tokens and sets `count` to their total number. */
SPECTR_API spectr_status spectr_engine_tokenize(const spectr_engine* engine, const char* text,
                                                int32_t* tokens, size_t capacity, size_t* count,
                                                spectr_error* error);
/* Converts tokens to text. Writes up to `capacity` bytes, without a terminating null, and sets `size` to the
 * number of all bytes. A character whose bytes belong to other tokens is incomplete. */
SPECTR_API spectr_status spectr_engine_detokenize(const spectr_engine* engine, const int32_t* tokens,
                                                  size_t count, char* text, size_t capacity, size_t* size,
                                                  spectr_error* error);
/* Computes the target's logits after each of the tokens first … count - 1. logits: [count - first,
 * vocabulary]. */
SPECTR_API spectr_status spectr_engine_logits(const spectr_engine* engine, const int32_t* tokens,
                                              size_t count, size_t first, float* logits, spectr_error* error);
/* Computes the sum of −ln q over all tokens but the first, where q is the target's own distribution. The
 * perplexity is exp(loss / (count - 1)). */
SPECTR_API spectr_status spectr_engine_loss(const spectr_engine* engine, const int32_t* tokens, size_t count,
                                            double* loss, spectr_error* error);

/* Waits up to `timeout_ms` milliseconds for the next event. Returns SPECTR_TIMEOUT if there was none and
 * SPECTR_DONE if all completions have ended. For a completion that failed, returns its error. */
SPECTR_API spectr_status spectr_completion_next(spectr_completion* completion, uint32_t timeout_ms,
                                                spectr_event* event, spectr_error* error);
/* Waits up to `timeout_ms` milliseconds until all completions have ended. Returns SPECTR_TIMEOUT if they have
 * not. Their events can still be taken. */
SPECTR_API spectr_status spectr_completion_wait(spectr_completion* completion, uint32_t timeout_ms,
                                                spectr_error* error);
/* Cancels the completions before their next pass. */
SPECTR_API void spectr_completion_cancel(spectr_completion* completion);
/* Returns the statistics of a completion as JSON (docs/json.md), or NULL before its last event was taken. The
 * string is valid until the handle is released. */
SPECTR_API const char* spectr_completion_statistics(const spectr_completion* completion, size_t choice);
/* Cancels running completions, waits for them, and releases the handle. */
SPECTR_API void spectr_completion_free(spectr_completion* completion);

#ifdef __cplusplus
}
#endif

#endif /* SPECTR_CAPI_SPECTR_H_ */
