/* Simulations in C: a task graph on a machine that a file describes, in virtual time, under a scheduling policy
 * (docs/c-interface.md). For C programs, and for other languages.
 *
 *   fairlead_workload* workload;
 *   fairlead_simulation* simulation;
 *   fairlead_simulation_result* result;
 *   const fairlead_setting settings[] = {{"n", "19200"}, {"machine", "v100-pcie"}, {"memory", "1GB"}};
 *   fairlead_simulation_options options = {.struct_bytes = sizeof options, .settings = settings, .setting_count = 3};
 *   fairlead_workload_by_name("cholesky", &workload);
 *   fairlead_simulation_create(workload, &options, &simulation);
 *   if (fairlead_simulation_run(simulation, NULL, &result) == FAIRLEAD_OK) puts(fairlead_simulation_result_json(result));
 *
 * Statuses and error texts are as in fairlead.h. Any number of threads may use an object at the same time. */
#ifndef FAIRLEAD_SIMULATION_H
#define FAIRLEAD_SIMULATION_H

#include <fairlead.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fairlead_workload fairlead_workload;
typedef struct fairlead_simulation fairlead_simulation;
typedef struct fairlead_simulation_result fairlead_simulation_result;

/* The names of the library's workloads, machines and policies, by number from 0; null after the last one. */
const char* fairlead_workload_name(size_t number);
const char* fairlead_machine_name(size_t number);
const char* fairlead_scheduler_name(size_t number);

/* Data and tasks, in program order. Pointers that may be null are marked so. The library copies all of them. */
typedef struct fairlead_task_list {
  size_t struct_bytes; /* sizeof(fairlead_task_list) */
  const char* title;   /* may be null */
  size_t data_count;
  const uint64_t*
      data_bytes; /* a datum that is written before it is read has no value at first; others have one */
  const char* const* data_names; /* may be null */
  size_t task_count;
  size_t kernel_count;
  const char* const* kernel_names;
  const uint32_t* task_kernels; /* for each task the number of its kernel */
  const uint64_t*
      first_accesses; /* task_count + 1 numbers: accesses of task i are those from first_accesses[i] on */
  const uint32_t* accessed_data;      /* for each access the number of a datum */
  const uint8_t* access_modes;        /* for each access a fairlead_access */
  const uint64_t* first_predecessors; /* task_count + 1 numbers, or null: only data order tasks */
  const uint32_t* predecessors;       /* numbers of earlier tasks, which must have finished */
  const int32_t* priorities;          /* may be null */
  const double* flops;                /* operations; may be null */
  /* Durations in seconds: for each task one on each of these processors. NaN: the task cannot run there. A processor is
   * named as in the machine file, or by its kind: "cpu", "cuda", "opencl". A task with NaN only, or if there are no
   * processors, takes the time of its operations, at the rate of its kernel in the machine file. */
  size_t processor_count;
  const char* const* processor_names;
  const double* seconds;
} fairlead_task_list;

/* The workload of that name, as `fairlead simulate list` lists them, with options: "qr:tree=binary". The settings `n`,
 * `tile`, `precision` and `front` of a simulation state its size and form. */
fairlead_status fairlead_workload_by_name(const char* name, fairlead_workload** workload);
/* The recorded flow of a program (docs/workloads.md). The setting `phase` of a simulation selects a part of it. */
fairlead_status fairlead_workload_open(const char* path, fairlead_workload** workload);
/* FAIRLEAD_ERROR_USAGE states which task or datum is invalid. */
fairlead_status fairlead_workload_from_tasks(const fairlead_task_list* tasks, fairlead_workload** workload);
/* Simulations that were made of it stay valid. Null is allowed, here and in all functions that free. */
void fairlead_workload_free(fairlead_workload* workload);

typedef struct fairlead_simulation_options {
  size_t struct_bytes; /* sizeof(fairlead_simulation_options) */
  /* The options of `fairlead simulate` by name, without the files of its results, `runs`, `scheduler` and `seed`. */
  const fairlead_setting* settings;
  size_t setting_count;
  const char* machine; /* the text of a machine file, instead of the setting `machine`; may be null */
} fairlead_simulation_options;

/* Prepares the workload on the machine. `options` may be null. */
fairlead_status fairlead_simulation_create(const fairlead_workload* workload,
                                           const fairlead_simulation_options* options,
                                           fairlead_simulation** simulation);
void fairlead_simulation_free(fairlead_simulation* simulation);

/* The state of a run, for the policy that it calls. Valid during that call only. Tasks, data, workers and memory nodes have
 * numbers: tasks and data in program order, workers as in fairlead_task_run. */
typedef struct fairlead_policy_view fairlead_policy_view;

/* A scheduling policy of the program (docs/writing-a-policy.md explains when each function is called). One thread at a
 * time calls it. A function returns 0, or nonzero to end the run with FAIRLEAD_ERROR_CALLBACK. `ready` and `pick` are
 * required, others may be null. */
typedef struct fairlead_policy {
  size_t struct_bytes;                                              /* sizeof(fairlead_policy) */
  const char* name;                                                 /* in results; may be null */
  void* context;                                                    /* the first argument of each function */
  int (*attached)(void* context, const fairlead_policy_view* view); /* first, once */
  /* All predecessors of the task have finished; released_by: the worker that finished the last one, or -1. */
  int (*ready)(void* context, const fairlead_policy_view* view, uint64_t task, int32_t released_by);
  int (*finished)(void* context, const fairlead_policy_view* view, uint64_t task, uint32_t worker,
                  double seconds);
  /* Writes the next task for the worker, a ready one that it can run, or -1: none now. must: nothing runs, nothing is in
   * flight; -1 then selects the oldest ready task. */
  int (*pick)(void* context, const fairlead_policy_view* view, uint32_t worker, int32_t must, int64_t* task);
  /* Writes the number of the datum to evict from the node, one of the candidates. Null: the least recently used one. */
  int (*victim)(void* context, const fairlead_policy_view* view, uint32_t node, const uint32_t* candidates,
                size_t count, uint32_t* datum);
  /* Writes up to `capacity` data that tasks of the worker will read next, and their number; they are prefetched. */
  int (*upcoming)(void* context, const fairlead_policy_view* view, uint32_t worker, uint32_t* data,
                  size_t capacity, size_t* count);
} fairlead_policy;

typedef struct fairlead_worker {
  int32_t is_device; /* 0: a core */
  uint32_t node;     /* the memory node where its tasks work */
} fairlead_worker;

typedef enum fairlead_residency {
  FAIRLEAD_ABSENT = 0,
  FAIRLEAD_IN_FLIGHT = 1, /* space is reserved, and a copy is on its way */
  FAIRLEAD_VALID = 2,
  FAIRLEAD_EVICTING = 3
} fairlead_residency;

double fairlead_policy_view_now(const fairlead_policy_view* view); /* seconds of the run */
/* Writes the first `capacity` workers, and returns the number of all. */
size_t fairlead_policy_view_workers(const fairlead_policy_view* view, fairlead_worker* workers,
                                    size_t capacity);
/* Of an unfinished task. A number that is none, or of a finished task, gives 0 or NaN. */
int32_t fairlead_policy_view_can_run(const fairlead_policy_view* view, uint64_t task, uint32_t worker);
double fairlead_policy_view_estimate(const fairlead_policy_view* view, uint64_t task,
                                     uint32_t worker); /* seconds */
int32_t fairlead_policy_view_priority(const fairlead_policy_view* view, uint64_t task);
const char* fairlead_policy_view_kernel(const fairlead_policy_view* view,
                                        uint64_t task); /* its name; null for no task */
/* The bytes that the task reads and that are absent from the node. */
uint64_t fairlead_policy_view_missing_bytes(const fairlead_policy_view* view, uint64_t task, uint32_t node);
/* Writes the first `capacity` data of the task, with the fairlead_access of each, and returns the number of all. */
size_t fairlead_policy_view_accesses(const fairlead_policy_view* view, uint64_t task, uint32_t* data,
                                     uint8_t* modes, size_t capacity);
uint64_t fairlead_policy_view_bytes(const fairlead_policy_view* view, uint32_t datum);
fairlead_residency fairlead_policy_view_residency(const fairlead_policy_view* view, uint32_t datum,
                                                  uint32_t node);
/* Seconds of a copy of the datum to the node on an idle link; 0 if it is there. */
double fairlead_policy_view_transfer_time(const fairlead_policy_view* view, uint32_t datum, uint32_t node);

typedef struct fairlead_run_options {
  size_t struct_bytes;   /* sizeof(fairlead_run_options) */
  const char* scheduler; /* a policy, with options, or the path of a plug-in; null: "auto", as in real runs */
  uint64_t seed;         /* 0: 1 */
  int32_t record_order;  /* nonzero: fairlead_simulation_result_order() returns the order of the tasks */
  /* Called every 50 ms, on the thread of the call. Nonzero: the call ends with FAIRLEAD_ERROR_CANCELLED. May be null. */
  int (*cancelled)(void* context);
  void* cancelled_context;
  const fairlead_policy* policy; /* used instead of `scheduler`, on one machine; may be null */
} fairlead_run_options;

/* Simulates the workload once. A run that does not finish, such as one whose tasks do not fit into memory, is a result as
 * well, which states the reason. `options` may be null. */
fairlead_status fairlead_simulation_run(const fairlead_simulation* simulation,
                                        const fairlead_run_options* options,
                                        fairlead_simulation_result** result);

/* One JSON object, with the fields of docs/simulation.md. Valid until the result is freed. */
const char* fairlead_simulation_result_json(const fairlead_simulation_result* result);

typedef struct fairlead_task_run {
  uint64_t task;     /* its number, in program order */
  uint32_t worker;   /* cores first, then the devices */
  double start, end; /* seconds */
} fairlead_task_run;

/* The tasks by start time; none if they were not recorded, or over several ranks. Valid until the result is freed. */
fairlead_status fairlead_simulation_result_order(const fairlead_simulation_result* result,
                                                 const fairlead_task_run** runs, size_t* count);
void fairlead_simulation_result_free(fairlead_simulation_result* result);

#ifdef __cplusplus
}
#endif

#endif
