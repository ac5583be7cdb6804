/* Tasks of a C program: bodies, data in place and in the runtime's memory, tiles, kernels, failures, threads and forks.
 * Results are compared with loops that compute the same, one task after the other. */
#define _POSIX_C_SOURCE 200809L
#include <fairlead_tasks.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"

/* ---- bodies */

static double* element(const fairlead_view* view, int64_t i, int64_t j) {
  return (double*)view->address + i * view->strides[0] + j * view->strides[1];
}

/* y := y + factor x, where the factor is an argument. */
static int add(const fairlead_call* call) {
  const fairlead_view *x = &call->views[0], *y = &call->views[1];
  double factor = 0;
  if (call->view_count != 2 || call->argument_bytes != sizeof factor || x->access != FAIRLEAD_IN) return 1;
  memcpy(&factor, call->arguments, sizeof factor);
  for (int64_t j = 0; j < y->extents[1]; ++j)
    for (int64_t i = 0; i < y->extents[0]; ++i) *element(y, i, j) += factor * *element(x, i, j);
  return 0;
}

/* total := the sum of the first elements of all other data. */
static int sum(const fairlead_call* call) {
  double total = 0;
  for (size_t i = 1; i < call->view_count; ++i) total += *element(&call->views[i], 0, 0);
  *element(&call->views[0], 0, 0) = total;
  return 0;
}

static int fill(const fairlead_call* call) {
  const double value = *(const double*)call->context;
  for (int64_t j = 0; j < call->views[0].extents[1]; ++j)
    for (int64_t i = 0; i < call->views[0].extents[0]; ++i) *element(&call->views[0], i, j) = value;
  return 0;
}

static int fail(const fairlead_call* call) {
  fairlead_body_error("the sum is not finite");
  return 40 + (int)call->view_count;
}

static int sleep_a_little(const fairlead_call* call) {
  (void)call;
  const struct timespec time = {0, 5 * 1000 * 1000};
  nanosleep(&time, NULL);
  return 0;
}

static fairlead_runtime* used_runtime = NULL;
static int use_the_runtime(const fairlead_call* call) {
  fairlead_statistics statistics;
  (void)call;
  return (int)fairlead_runtime_statistics(used_runtime, &statistics, sizeof statistics);
}

static int released = 0;
static pthread_mutex_t released_mutex = PTHREAD_MUTEX_INITIALIZER;
static void count_release(void* context, void* arguments) {
  (void)context;
  pthread_mutex_lock(&released_mutex);
  released += *(const int*)arguments;
  pthread_mutex_unlock(&released_mutex);
}

/* ---- helpers */

static fairlead_runtime* runtime_with(int own_thread, uint64_t memory_bytes) {
  fairlead_runtime_options options;
  fairlead_runtime* runtime = NULL;
  EXPECT_OK(fairlead_runtime_options_init(&options, sizeof options));
  options.memory_bytes = memory_bytes;
  options.workers = 2;
  options.own_thread = own_thread;
  EXPECT_OK(fairlead_runtime_create(&options, &runtime));
  return runtime;
}

static fairlead_codelet* codelet_of(const char* name, fairlead_body body, void* context,
                                    const fairlead_access* modes, size_t count, int repeat_last) {
  fairlead_codelet* codelet = NULL;
  EXPECT_OK(fairlead_codelet_create(name, body, NULL, context, modes, count, repeat_last, &codelet));
  return codelet;
}

static fairlead_status submit(fairlead_flow* flow, const fairlead_codelet* codelet,
                              fairlead_datum* const* data, size_t count, const void* arguments,
                              size_t argument_bytes) {
  const fairlead_task task = {.codelet = codelet,
                              .data = data,
                              .data_count = count,
                              .arguments = arguments,
                              .argument_bytes = argument_bytes,
                              .line = 7,
                              .file = "program.c"};
  return fairlead_flow_submit(flow, &task, 1, sizeof task, NULL);
}

/* ---- tests */

enum { side = 16, summed = 12 };

/* A long sum over tiles of a matrix that does not fit into memory, and over an array in place with gaps. */
static void test_sums(int own_thread) {
  const fairlead_access modes[] = {FAIRLEAD_IN, FAIRLEAD_INOUT}, sums[] = {FAIRLEAD_OUT, FAIRLEAD_IN},
                        out[] = {FAIRLEAD_OUT};
  double one = 1, gaps[20] = {0}, expected = 0, total = -1;
  fairlead_runtime* runtime = runtime_with(own_thread, 4 << 20);
  fairlead_codelet* const adds = codelet_of("add", add, NULL, modes, 2, 0);
  fairlead_codelet* const all = codelet_of("sum", sum, NULL, sums, 2, 1);
  fairlead_codelet* const ones = codelet_of("fill", fill, &one, out, 1, 0);
  fairlead_flow* flow = NULL;
  EXPECT_OK(fairlead_flow_create(runtime, &flow));
  const fairlead_tiling tiling = {sizeof tiling, sizeof(double), 2048, 512, 256, 128, 0}; /* 8 MiB */
  fairlead_tiles* a = NULL;
  EXPECT_OK(fairlead_tiles_create(runtime, "A", &tiling, FAIRLEAD_ZEROS, &a));
  fairlead_datum *tile[8][4], *data[1 + summed];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j) EXPECT_OK(fairlead_tiles_at(a, i, j, &tile[i][j]));
  EXPECT_OK(submit(flow, ones, &tile[0][0], 1, NULL, 0));
  for (int t = 1; t < 32; ++t) {
    const double factor = t % 5;
    fairlead_datum* const pair[] = {tile[(t - 1) / 4][(t - 1) % 4], tile[t / 4][t % 4]};
    EXPECT_OK(submit(flow, adds, pair, 2, &factor, sizeof factor));
  }
  double value = 1; /* of tile t */
  for (int t = 0; t < summed; ++t) {
    expected += value;
    value *= (t + 1) % 5;
  }
  const fairlead_layout single = {sizeof(double), 0, {0}, {0}};
  fairlead_datum* result = NULL;
  EXPECT_OK(fairlead_datum_create(runtime, "total", &single, &total, FAIRLEAD_HAS_VALUE, &result));
  data[0] = result;
  for (int t = 0; t < summed; ++t) data[1 + t] = tile[t / 4][t % 4];
  EXPECT_OK(submit(flow, all, data, 1 + summed, NULL, 0));
  /* Every second element, in place: 10 x 1. */
  const fairlead_layout every_second = {sizeof(double), 1, {10}, {2}};
  fairlead_datum *strided = NULL, *copy = NULL;
  EXPECT_OK(fairlead_datum_create(runtime, "gaps", &every_second, gaps, FAIRLEAD_HAS_VALUE, &strided));
  EXPECT_OK(submit(flow, ones, &strided, 1, NULL, 0));
  EXPECT_OK(fairlead_flow_wait(flow, NULL));
  EXPECT(total == expected);
  for (int i = 0; i < 20; ++i) EXPECT(gaps[i] == (i % 2 == 0));
  /* A copy in the runtime's memory, written and read in another order. */
  const fairlead_layout matrix = {sizeof(double), 2, {3, 4}, {0}};
  double row_major[12], back[12];
  for (int i = 0; i < 12; ++i) row_major[i] = i;
  const int64_t by_rows[] = {4 * sizeof(double), sizeof(double), 0};
  EXPECT_OK(fairlead_datum_create(runtime, "copy", &matrix, NULL, FAIRLEAD_NO_VALUE, &copy));
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_datum_read(copy, back, NULL), "nothing has written");
  EXPECT_OK(fairlead_datum_write(copy, row_major, by_rows));
  EXPECT_OK(fairlead_datum_read(copy, back, NULL));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) EXPECT(back[i + 3 * j] == row_major[4 * i + j]);
  fairlead_view view;
  fairlead_hold* hold = NULL;
  EXPECT_OK(fairlead_datum_acquire(copy, FAIRLEAD_INOUT, &view, &hold));
  EXPECT(*element(&view, 2, 1) == 9 && view.extents[0] == 3 && view.extents[2] == 1);
  *element(&view, 2, 1) = -9;
  fairlead_hold_release(hold);
  EXPECT_OK(fairlead_datum_read(copy, back, NULL));
  EXPECT(back[2 + 3] == -9);

  fairlead_statistics statistics;
  EXPECT_OK(fairlead_runtime_statistics(runtime, &statistics, sizeof statistics));
  EXPECT(statistics.workers == 2 && statistics.tasks >= 34 &&
         statistics.peak_bytes <= statistics.capacity_bytes);
  EXPECT(statistics.bytes_written >= 2 << 20 && statistics.evictions > 0); /* 8 MiB in 4 MiB */
  const char* json = NULL;
  EXPECT_OK(fairlead_runtime_report(runtime, &json));
  EXPECT(json != NULL && strstr(json, "\"busy_seconds\"") != NULL && json[0] == '{');
  const char* address = NULL;
  EXPECT_OK(fairlead_runtime_live(runtime, 0, &address));
  EXPECT(address != NULL && strstr(address, "http://127.0.0.1:") == address &&
         strstr(address, "/?token=") != NULL);
  fairlead_datum_free(copy);
  fairlead_datum_free(strided);
  fairlead_flow_free(flow);
  fairlead_codelet_free(ones);
  fairlead_codelet_free(all);
  fairlead_codelet_free(adds);
  if (own_thread) { /* in another order */
    fairlead_runtime_free(runtime);
    runtime = NULL;
  }
  fairlead_datum_free(result);
  fairlead_tiles_free(a);
  fairlead_runtime_free(runtime);
}

/* The product of the factor with its transpose is the matrix. */
static void test_cholesky(void) {
  enum { n = 61, nt = 4 };
  static double a[n][n], l[n][n];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[j][i] = exp(-fabs((double)(i - j)) / 5) + (i == j);
  fairlead_runtime* runtime = runtime_with(0, 32 << 20);
  const fairlead_tiling tiling = {sizeof tiling, sizeof(double), n, n, side, side, 1};
  fairlead_tiles* tiles = NULL;
  fairlead_flow* flow = NULL;
  fairlead_datum* t[nt][nt] = {{NULL}};
  fairlead_codelet* kernel[4];
  EXPECT_OK(fairlead_tiles_create(runtime, "A", &tiling, FAIRLEAD_NO_VALUE, &tiles));
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_tiles_at(tiles, 0, 1, &t[0][1]), "no tile (0, 1)");
  const int64_t strides[] = {sizeof(double), n * sizeof(double), 0};
  for (int j = 0; j < nt; ++j)
    for (int i = j; i < nt; ++i) {
      EXPECT_OK(fairlead_tiles_at(tiles, i, j, &t[i][j]));
      EXPECT_OK(fairlead_datum_write(t[i][j], &a[j * side][i * side], strides));
    }
  for (int k = 0; k < 4; ++k)
    EXPECT_OK(fairlead_codelet_kernel(runtime, (fairlead_kernel)k, FAIRLEAD_FLOAT64, &kernel[k]));
  EXPECT_OK(fairlead_flow_create(runtime, &flow));
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, submit(flow, kernel[1], &t[0][0], 1, NULL, 0), "needs 2 tiles");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, submit(flow, kernel[0], &t[3][0], 1, NULL, 0), "13 x 16");
  for (int k = 0; k < nt; ++k) {
    EXPECT_OK(submit(flow, kernel[0], &t[k][k], 1, NULL, 0));
    for (int i = k + 1; i < nt; ++i) {
      fairlead_datum* const data[] = {t[k][k], t[i][k]};
      EXPECT_OK(submit(flow, kernel[1], data, 2, NULL, 0));
    }
    for (int j = k + 1; j < nt; ++j) {
      fairlead_datum* const data[] = {t[j][k], t[j][j]};
      EXPECT_OK(submit(flow, kernel[2], data, 2, NULL, 0));
      for (int i = j + 1; i < nt; ++i) {
        const uint64_t words[] = {(uint64_t)(uintptr_t)kernel[3],
                                  (uint64_t)(int64_t)-1,
                                  0,
                                  0,
                                  3,
                                  (uint64_t)(uintptr_t)t[i][k],
                                  (uint64_t)(uintptr_t)t[j][k],
                                  (uint64_t)(uintptr_t)t[i][j]};
        size_t submitted = 0;
        EXPECT_OK(fairlead_flow_submit_words(flow, words, 8, &submitted));
        EXPECT(submitted == 1);
        EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_flow_submit_words(flow, words, 7, &submitted),
                      "incomplete");
      }
    }
  }
  EXPECT_OK(fairlead_flow_wait(flow, NULL));
  for (int j = 0; j < nt; ++j)
    for (int i = j; i < nt; ++i) EXPECT_OK(fairlead_datum_read(t[i][j], &l[j * side][i * side], strides));
  double worst = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double product = 0;
      for (int k = 0; k <= j; ++k) product += l[k][i] * l[k][j];
      worst = fmax(worst, fabs(product - a[j][i]));
    }
  EXPECT(worst < 1e-14);
  double bad[side * side] = {0};
  EXPECT_OK(fairlead_datum_write(t[0][0], bad, NULL));
  EXPECT_OK(submit(flow, kernel[0], &t[0][0], 1, NULL, 0));
  int status = -5;
  EXPECT_STATUS(FAIRLEAD_ERROR_NUMERICAL, fairlead_flow_wait(flow, &status), "potrf");
  EXPECT(status == 0);
  for (int k = 0; k < 4; ++k) fairlead_codelet_free(kernel[k]);
  fairlead_flow_free(flow);
  fairlead_tiles_free(tiles);
  fairlead_runtime_free(runtime);
}

static void test_failures(int own_thread) {
  const fairlead_access modes[] = {FAIRLEAD_INOUT};
  fairlead_runtime *runtime = runtime_with(own_thread, 16 << 20), *other = runtime_with(1, 16 << 20);
  fairlead_codelet* const fails = codelet_of("fail", fail, NULL, modes, 1, 0);
  fairlead_codelet* const uses = codelet_of("uses", use_the_runtime, NULL, modes, 1, 0);
  fairlead_codelet* const sleeps = codelet_of("sleep", sleep_a_little, NULL, modes, 1, 0);
  fairlead_codelet* counted = NULL;
  EXPECT_OK(fairlead_codelet_create("counted", sleep_a_little, count_release, NULL, modes, 1, 0, &counted));
  fairlead_flow* flow = NULL;
  fairlead_datum *x = NULL, *y = NULL, *foreign = NULL;
  const fairlead_layout layout = {sizeof(double), 1, {4}, {0}};
  EXPECT_OK(fairlead_flow_create(runtime, &flow));
  EXPECT_OK(fairlead_datum_create(runtime, "x", &layout, NULL, FAIRLEAD_ZEROS, &x));
  EXPECT_OK(fairlead_datum_create(runtime, "y", &layout, NULL, FAIRLEAD_ZEROS, &y));
  EXPECT_OK(fairlead_datum_create(other, "z", &layout, NULL, FAIRLEAD_ZEROS, &foreign));
  int status = 0;
  EXPECT_OK(submit(flow, fails, &x, 1, NULL, 0));
  EXPECT_OK(submit(flow, sleeps, &x, 1, NULL, 0));
  EXPECT_STATUS(FAIRLEAD_ERROR_CALLBACK, fairlead_flow_wait(flow, &status), "the sum is not finite");
  EXPECT(status == 41 && strstr(fairlead_error_text(), "fail(x), submitted at program.c:7") != NULL);
  double value[4];
  EXPECT_STATUS(FAIRLEAD_ERROR_TASK, fairlead_datum_read(x, value, NULL), "x");
  EXPECT_OK(fairlead_datum_write(x, value, NULL));
  EXPECT_OK(fairlead_datum_read(x, value, NULL));

  used_runtime = runtime;
  EXPECT_OK(submit(flow, uses, &y, 1, NULL, 0));
  EXPECT_STATUS(FAIRLEAD_ERROR_CALLBACK, fairlead_flow_wait(flow, &status), "returned 1");
  EXPECT(status == FAIRLEAD_ERROR_USAGE);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, submit(flow, fails, &foreign, 1, NULL, 0), "another runtime");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, submit(flow, fails, &x, 0, NULL, 0), "0 data");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, submit(flow, NULL, &x, 1, NULL, 0), "null");
  fairlead_datum* const none = NULL;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, submit(flow, fails, &none, 1, NULL, 0), "null");
  const fairlead_task task = {.codelet = fails, .data = &x, .data_count = 1};
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_flow_submit(flow, &task, 1, 8, NULL), "sizeof");

  /* Each task releases its arguments, also those that were cancelled: more than fit into its descriptor. */
  EXPECT_OK(fairlead_datum_write(y, value, NULL));
  struct {
    int count;
    char rest[100];
  } arguments = {1, ""};
  for (int i = 0; i < 40; ++i)
    EXPECT_OK(submit(flow, counted, &y, 1, &arguments, i % 2 == 0 ? sizeof arguments : 4));
  EXPECT_OK(fairlead_flow_cancel(flow));
  EXPECT_STATUS(FAIRLEAD_ERROR_TASK, fairlead_flow_wait(flow, NULL), "cancelled");
  fairlead_flow_free(flow);

  const fairlead_tiling empty = {sizeof empty, 8, 0, 4, 2, 2, 0},
                        huge = {sizeof huge, 8, 1 << 13, 1 << 13, 1 << 13, 1 << 13, 0};
  fairlead_tiles* tiles = NULL;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_tiles_create(runtime, "A", &empty, FAIRLEAD_ZEROS, &tiles),
                "empty");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_tiles_create(runtime, "A", &huge, FAIRLEAD_HAS_VALUE, &tiles),
                "content");
  EXPECT_OK(fairlead_tiles_create(runtime, "A", &huge, FAIRLEAD_ZEROS, &tiles));
  fairlead_datum* tile = NULL;
  EXPECT_OK(fairlead_tiles_at(tiles, 0, 0, &tile));
  EXPECT_OK(fairlead_flow_create(runtime, &flow));
  /* Without the setting there are no checkpoints. */
  const char* const identity[] = {"program", NULL};
  uint64_t finished = 1;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_flow_use_checkpoints(flow, identity, 1, &finished), "null");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_flow_use_checkpoints(flow, identity, 0, NULL), "finished");
  EXPECT_OK(fairlead_flow_use_checkpoints(flow, NULL, 0, &finished));
  EXPECT(finished == 0);
  EXPECT_OK(fairlead_runtime_remove_checkpoint(runtime));
  EXPECT_STATUS(FAIRLEAD_ERROR_MEMORY, submit(flow, fails, &tile, 1, NULL, 0), "512");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_codelet_create("", NULL, NULL, NULL, modes, 1, 0, &counted),
                "body");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_codelet_create("", fail, NULL, NULL, modes, 0, 0, &counted),
                "datum");
  fairlead_runtime_free(runtime);
  EXPECT(released == 40);
  released = 0;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, submit(flow, fails, &x, 1, NULL, 0), "freed");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_datum_read(x, value, NULL), "freed");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_flow_cancel(flow), "freed");
  fairlead_flow_free(flow);
  fairlead_tiles_free(tiles);
  fairlead_datum_free(x);
  fairlead_datum_free(y);
  fairlead_runtime_free(other);
  fairlead_datum_free(foreign);
  fairlead_codelet_free(fails);
  fairlead_codelet_free(uses);
  fairlead_codelet_free(sleeps);
  fairlead_codelet_free(counted);
}

static int asked = 0;
static int cancel_at_third(void* may_cancel) { return *(const int*)may_cancel && ++asked == 3; }

static void* read_elsewhere(void* given) {
  double value[4] = {1, 1, 1, 1};
  const fairlead_status status = fairlead_datum_read(given, value, NULL);
  return status == FAIRLEAD_OK && value[0] == 0 ? given : NULL;
}

static void test_threads_and_cancellation(void) {
  const fairlead_access modes[] = {FAIRLEAD_INOUT};
  fairlead_codelet* const sleeps = codelet_of("sleep", sleep_a_little, NULL, modes, 1, 0);
  fairlead_runtime_options options;
  fairlead_runtime* runtime = NULL;
  fairlead_flow* flow = NULL;
  fairlead_datum* x = NULL;
  const fairlead_layout layout = {sizeof(double), 1, {4}, {0}};
  fairlead_runtime_options_init(&options, sizeof options);
  options.memory_bytes = 16 << 20;
  options.workers = 2;
  int may_cancel = 0;
  options.cancelled = cancel_at_third;
  options.cancelled_context = &may_cancel;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_runtime_create(&options, &runtime), "own_thread");
  options.own_thread = 1;
  EXPECT_OK(fairlead_runtime_create(&options, &runtime));
  EXPECT_OK(fairlead_datum_create(runtime, "x", &layout, NULL, FAIRLEAD_ZEROS, &x));
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, read_elsewhere, x);
  pthread_join(thread, &result);
  EXPECT(result == x);
  const pid_t child = fork();
  if (child == 0) {
    const fairlead_status status = fairlead_flow_create(runtime, &flow);
    fairlead_datum_free(x);
    fairlead_runtime_free(runtime);
    _exit(status == FAIRLEAD_ERROR_USAGE && strstr(fairlead_error_text(), "fork") != NULL ? 0 : 1);
  }
  int ended = -1;
  waitpid(child, &ended, 0);
  EXPECT(ended == 0);
  EXPECT_OK(fairlead_flow_create(runtime, &flow));
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < 2000; ++i) EXPECT_OK(submit(flow, sleeps, &x, 1, NULL, 0));
  may_cancel = 1;
  EXPECT_STATUS(FAIRLEAD_ERROR_CANCELLED, fairlead_flow_wait(flow, NULL), "cancelled");
  clock_gettime(CLOCK_MONOTONIC, &end);
  EXPECT(end.tv_sec - begin.tv_sec < 5); /* 10 s of tasks */
  fairlead_flow_free(flow);
  fairlead_datum_free(x);
  fairlead_runtime_free(runtime);

  /* Without a thread of its own, the runtime is for one thread. */
  runtime = runtime_with(0, 16 << 20);
  EXPECT_OK(fairlead_datum_create(runtime, "x", &layout, NULL, FAIRLEAD_ZEROS, &x));
  pthread_create(&thread, NULL, read_elsewhere, x);
  pthread_join(thread, &result);
  EXPECT(result == NULL);
  fairlead_datum_free(x);
  fairlead_runtime_free(runtime);
  fairlead_codelet_free(sleeps);
}

static void test_nothing(void) {
  fairlead_runtime_options options;
  fairlead_runtime* runtime = NULL;
  memset(&options, 0, sizeof options);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_runtime_create(&options, &runtime), "struct_bytes");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_runtime_create(NULL, NULL), "null");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_flow_wait(NULL, NULL), "null");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_datum_read(NULL, &options, NULL), "null");
  const fairlead_setting unknown = {"memmory", "1GiB"};
  EXPECT_OK(fairlead_runtime_options_init(&options, sizeof options));
  options.settings = &unknown;
  options.setting_count = 1;
  EXPECT_STATUS(FAIRLEAD_ERROR_CONFIG, fairlead_runtime_create(&options, &runtime), "memory");
  fairlead_runtime_free(NULL);
  fairlead_datum_free(NULL);
  fairlead_tiles_free(NULL);
  fairlead_hold_release(NULL);
  fairlead_codelet_free(NULL);
  fairlead_flow_free(NULL);
}

int main(void) {
  test_nothing();
  test_sums(0);
  test_sums(1);
  test_cholesky();
  test_failures(0);
  test_failures(1);
  test_threads_and_cancellation();
  if (failures != 0) fprintf(stderr, "%d checks failed\n", failures);
  return failures != 0;
}
