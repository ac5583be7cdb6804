/* Tasks of one's own in C: data that may be larger than memory, functions that compute with them, and flows of tasks, whose
 * accesses to data determine their order. For C programs, and for other languages (docs/c-interface.md).
 *
 *   static int scale(const fairlead_call* call) {
 *     double* x = call->views[0].address;
 *     ...
 *     return 0;
 *   }
 *   const fairlead_access modes[] = {FAIRLEAD_INOUT};
 *   fairlead_runtime_create(NULL, &runtime);
 *   fairlead_codelet_create("scale", scale, NULL, NULL, modes, 1, 0, &codelet);
 *   fairlead_datum_create(runtime, "x", &layout, elements, FAIRLEAD_HAS_VALUE, &x);
 *   fairlead_flow_create(runtime, &flow);
 *   fairlead_flow_submit(flow, &task, 1, sizeof task, NULL);
 *   fairlead_flow_wait(flow, NULL);
 *
 * Statuses, error texts, settings and versioned structs are those of fairlead.h. Null is allowed in all functions that
 * free. Objects may be freed in any order; after the runtime, others can only be freed. */
#ifndef FAIRLEAD_TASKS_H
#define FAIRLEAD_TASKS_H

#include <fairlead.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fairlead_runtime fairlead_runtime;
typedef struct fairlead_datum fairlead_datum;
typedef struct fairlead_tiles fairlead_tiles;
typedef struct fairlead_codelet fairlead_codelet;
typedef struct fairlead_flow fairlead_flow;
typedef struct fairlead_hold fairlead_hold;

/* The content of a datum before the first task. */
typedef enum fairlead_content {
  FAIRLEAD_NO_VALUE = 0,  /* none: reading it is an error until a task has written it */
  FAIRLEAD_HAS_VALUE = 1, /* that of the program's memory */
  FAIRLEAD_ZEROS = 2      /* zeros, for data in the runtime's memory */
} fairlead_content;

/* ---- runtimes: workers, memory, and a file to spill to */

typedef struct fairlead_runtime_options {
  size_t struct_bytes;
  uint64_t memory_bytes;            /* limit of the memory for data; 0: what is free */
  uint64_t workers;                 /* threads that compute; 0: one for each core */
  const fairlead_setting* settings; /* they override the configuration file and the environment */
  size_t setting_count;
  /* Zero: the runtime belongs to the thread that creates it. Only that thread may use it and its objects, outside of tasks,
   * and it computes while it waits. Nonzero: the runtime has a thread of its own, and any thread may use it. A call costs
   * some microseconds more, whatever the number of tasks that it submits. */
  int32_t own_thread;
  /* For runtimes with a thread of their own: as in fairlead_options. A call that is cancelled also cancels its flow. */
  int (*cancelled)(void* context);
  void* cancelled_context;
} fairlead_runtime_options;

typedef struct fairlead_statistics {
  size_t struct_bytes;
  uint64_t workers;
  uint64_t devices;
  uint64_t capacity_bytes;            /* that tasks can use at the same time in main memory */
  uint64_t peak_bytes;                /* used so far at the same time */
  uint64_t tasks, tasks_cancelled;    /* finished; finished without having run */
  uint64_t bytes_read, bytes_written; /* from and to the spill file */
  uint64_t bytes_moved;               /* over all links, also those of devices */
  uint64_t evictions;
} fairlead_statistics;

/* Sets all options to their defaults. options_bytes: sizeof(fairlead_runtime_options). */
fairlead_status fairlead_runtime_options_init(fairlead_runtime_options* options, size_t options_bytes);
/* `options` may be null: the defaults. */
fairlead_status fairlead_runtime_create(const fairlead_runtime_options* options, fairlead_runtime** runtime);
/* statistics_bytes: sizeof(fairlead_statistics). */
fairlead_status fairlead_runtime_statistics(fairlead_runtime* runtime, fairlead_statistics* statistics,
                                            size_t statistics_bytes);
/* The counters of links, memory nodes and workers as JSON. The text is valid until the next call of this function. */
fairlead_status fairlead_runtime_report(fairlead_runtime* runtime, const char** json);
/* Opens a page about the run for a browser, until the runtime is freed. port: 0: a free one. The address contains a
   random token; it is valid as long as the runtime. A second call returns the same address. */
fairlead_status fairlead_runtime_live(fairlead_runtime* runtime, uint16_t port, const char** address);
/* With the setting "checkpoint": the results are safe elsewhere, so the checkpoint is removed. */
fairlead_status fairlead_runtime_remove_checkpoint(fairlead_runtime* runtime);
/* Waits for the tasks of all flows. In a forked child it does nothing. */
void fairlead_runtime_free(fairlead_runtime* runtime);

/* ---- data */

/* An array of up to three dimensions. Element (i, j, k) is at i * strides[0] + j * strides[1] + k * strides[2], in elements.
 * All strides 0: the first index is the fastest, and there are no gaps. */
typedef struct fairlead_layout {
  uint64_t element_bytes;
  int32_t dimensions;
  int64_t extents[3];
  int64_t strides[3];
} fairlead_layout;

/* A datum as a task or the program sees it. Strides are in elements; those of unused dimensions are 0, and their extents
 * 1. */
typedef struct fairlead_view {
  void* address;
  const fairlead_datum* datum;
  fairlead_access access;
  uint64_t element_bytes;
  int64_t extents[3];
  int64_t strides[3];
} fairlead_view;

/* `memory`: used in place, and valid until the datum is freed. Null: the runtime stores the datum, with the first index the
 * fastest and without gaps; `content` is then FAIRLEAD_NO_VALUE or FAIRLEAD_ZEROS. `name` is for messages. */
fairlead_status fairlead_datum_create(fairlead_runtime* runtime, const char* name,
                                      const fairlead_layout* layout, void* memory, fairlead_content content,
                                      fairlead_datum** datum);
/* Waits for the tasks that use it. Not for tiles. */
void fairlead_datum_free(fairlead_datum* datum);

typedef struct fairlead_tiling {
  size_t struct_bytes;
  uint64_t element_bytes;
  int64_t rows, columns;
  int32_t tile_rows, tile_columns;
  int32_t lower_only; /* nonzero: only the tiles on and below the diagonal exist */
} fairlead_tiling;

/* A matrix in tiles, each of which is a datum, column-major. Tiles of the last row and column may be smaller. The runtime
 * stores them; `content` is FAIRLEAD_NO_VALUE or FAIRLEAD_ZEROS. */
fairlead_status fairlead_tiles_create(fairlead_runtime* runtime, const char* name,
                                      const fairlead_tiling* tiling, fairlead_content content,
                                      fairlead_tiles** tiles);
/* Tile (row, column), counted in tiles. It belongs to the matrix. */
fairlead_status fairlead_tiles_at(fairlead_tiles* tiles, int64_t row, int64_t column, fairlead_datum** tile);
/* Waits for the tasks that use the tiles. */
void fairlead_tiles_free(fairlead_tiles* tiles);

/* Copies the value that the tasks submitted so far leave to the program's memory, or from there. Strides are in bytes and
 * may be negative; null: without gaps, the first index fastest. */
fairlead_status fairlead_datum_read(fairlead_datum* datum, void* to, const int64_t* byte_strides);
fairlead_status fairlead_datum_write(fairlead_datum* datum, const void* from, const int64_t* byte_strides);

/* The same without a copy: the program uses the datum in place until it releases the hold, and later tasks wait. Release it
 * before a wait for such a task. */
fairlead_status fairlead_datum_acquire(fairlead_datum* datum, fairlead_access access, fairlead_view* view,
                                       fairlead_hold** hold);
void fairlead_hold_release(fairlead_hold* hold);

/* ---- codelets: kinds of tasks */

/* What a body gets. Valid until it returns. */
typedef struct fairlead_call {
  void* context;              /* of the codelet */
  const fairlead_view* views; /* of the data of the task, in their order */
  size_t view_count;
  void* arguments; /* a copy of the task's, aligned to 8 bytes */
  size_t argument_bytes;
} fairlead_call;

/* The body of a codelet. Workers call it, several at the same time. Nonzero: the task has failed, tasks that need its
 * results do not run, and fairlead_flow_wait() reports it. Only functions of this interface that say so may be called in a
 * body. */
typedef int (*fairlead_body)(const fairlead_call* call);

/* Called once for each task that was submitted, when its arguments are no longer used: after its body, or if it does not
 * run. For arguments that refer to objects of the program. Any thread calls it. */
typedef void (*fairlead_release)(void* context, void* arguments);

/* In a body that is about to return nonzero: the reason, for the text of the error. */
void fairlead_body_error(const char* text);

/* `release` may be null. `modes`: one per datum of a task. repeat_last: nonzero if a task may have any number of data of the
 * last mode. The codelet serves all runtimes, and may be freed when no more tasks are submitted with it. Durations are
 * recorded by `name`. */
fairlead_status fairlead_codelet_create(const char* name, fairlead_body body, fairlead_release release,
                                        void* context, const fairlead_access* modes, size_t mode_count,
                                        int32_t repeat_last, fairlead_codelet** codelet);

/* Fairlead's own tasks on tiles, as in the factorizations of the library. A^H is A^T of real matrices. */
typedef enum fairlead_kernel {
  FAIRLEAD_KERNEL_POTRF = 0,      /* (A inout): A := L with A = L L^H, the lower triangle */
  FAIRLEAD_KERNEL_TRSM = 1,       /* (L in, A inout): A := A L^-H */
  FAIRLEAD_KERNEL_SYRK = 2,       /* (A in, C inout): C := C - A A^H, the lower triangle */
  FAIRLEAD_KERNEL_GEMM = 3,       /* (A in, B in, C inout): C := C - A B^H */
  FAIRLEAD_KERNEL_GETRF = 4,      /* (A inout): A := L and U with A = L U, without pivoting */
  FAIRLEAD_KERNEL_TRSM_UPPER = 5, /* (U in, A inout): A := A U^-1 */
  FAIRLEAD_KERNEL_TRSM_LOWER = 6, /* (L in, A inout): A := L^-1 A, with a unit diagonal */
  FAIRLEAD_KERNEL_GEMM_LU = 7,    /* (A in, B in, C inout): C := C - A B */
  FAIRLEAD_KERNEL_GEMM_ADD = 8    /* (A in, B in, C inout): C := C + A B, real matrices */
} fairlead_kernel;

/* Loads the BLAS library of the setting `blas` at the first call. Tasks have no arguments other than tiles of this type. */
fairlead_status fairlead_codelet_kernel(fairlead_runtime* runtime, fairlead_kernel kernel,
                                        fairlead_element element, fairlead_codelet** codelet);
void fairlead_codelet_free(fairlead_codelet* codelet);

/* ---- flows: tasks in program order */

typedef struct fairlead_task {
  const fairlead_codelet* codelet;
  fairlead_datum* const* data;
  size_t data_count;
  const void* arguments; /* copied; may be null */
  size_t argument_bytes;
  int32_t priority; /* tasks with a higher one come first */
  int32_t line;     /* of the submission, for messages */
  const char* file; /* null: none. Not copied: valid until the flow is freed */
} fairlead_task;

fairlead_status fairlead_flow_create(fairlead_runtime* runtime, fairlead_flow** flow);
/* Submits tasks, in this order. task_bytes: sizeof(fairlead_task). If too many tasks are unfinished, it waits for some.
 * `submitted` may be null; it receives the number of submitted tasks, also if one is refused. */
fairlead_status fairlead_flow_submit(fairlead_flow* flow, const fairlead_task* tasks, size_t count,
                                     size_t task_bytes, size_t* submitted);
/* The same for programs that build arrays of numbers faster than structs. A task is 5 words: codelet, priority, file, line,
 * and the number of data d, with 2^32 times the number of arguments a; then d words with data, and a words with arguments. */
fairlead_status fairlead_flow_submit_words(fairlead_flow* flow, const uint64_t* words, size_t word_count,
                                           size_t* submitted);
/* With the setting "checkpoint": checkpoints cover the tasks submitted from now on, up to the next fairlead_flow_wait(). Tasks
 * that are finished in the checkpoint that is resumed are skipped when they are submitted, and `finished` receives their
 * number; 0 without the setting. `identity`: `count` pairs of texts, a property and its value; a checkpoint with others is
 * refused with FAIRLEAD_ERROR_INPUT. All tasks of the flow must have finished; until the wait, the program must not read or
 * write data, and no other flow have tasks. Which tasks are submitted must not depend on values. */
fairlead_status fairlead_flow_use_checkpoints(fairlead_flow* flow, const char* const* identity, size_t count,
                                              uint64_t* finished);
/* Waits until all tasks of the flow have finished. Reports the first failure since the last wait. `body_status` may be null;
 * it receives what the body of the task that failed first has returned, otherwise 0. */
fairlead_status fairlead_flow_wait(fairlead_flow* flow, int* body_status);
/* Tasks that have not started do not run. Any thread. */
fairlead_status fairlead_flow_cancel(fairlead_flow* flow);
/* Waits for the tasks. Prints failures that no fairlead_flow_wait() has reported. */
void fairlead_flow_free(fairlead_flow* flow);

#ifdef __cplusplus
}
#endif

#endif
