#ifndef SPECTR_TESTS_CAPI_EXPECT_H_
#define SPECTR_TESTS_CAPI_EXPECT_H_

#include <spectr.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static inline void expect(int holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/* Expects the call to fail with this status and a message that contains `words`. */
static inline void expect_refusal(spectr_status status, const spectr_error* error, spectr_status expected,
                                  const char* words, int line) {
  if (status == expected && error->status == expected && strstr(error->message, words) != NULL) return;
  fprintf(stderr, "line %d: status %d instead of %d, \"%s\" instead of \"%s\"\n", line, (int)status,
          (int)expected, error->message, words);
  ++failures;
}
#define EXPECT_REFUSAL(call, expected, words) expect_refusal(call, &error, expected, words, __LINE__)

#endif
