/* The checks of the test programs in C: a failed one is printed with its line and the library's error, and counted. */
#ifndef EXPECT_H
#define EXPECT_H
#include <fairlead.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                             \
  do {                                                                                \
    if (!(condition)) {                                                               \
      fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, \
              fairlead_error_text());                                                 \
      ++failures;                                                                     \
    }                                                                                 \
  } while (0)
#define EXPECT_OK(call) EXPECT((call) == FAIRLEAD_OK)
#define EXPECT_STATUS(status, call, text)                                                       \
  do {                                                                                          \
    const fairlead_status got = (call);                                                         \
    if (got != (status)) fprintf(stderr, "status %d instead of %d\n", (int)got, (int)(status)); \
    EXPECT(got == (status) && strstr(fairlead_error_text(), text) != NULL);                     \
  } while (0)

#endif
