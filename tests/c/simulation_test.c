/* Simulations by the C interface: named workloads, recorded flows, tasks as arrays, policies of the program, and the status
 * of each kind of mistake. Times are computed by hand. */
#include <fairlead_simulation.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* Two cores and a card. Copies take 1 ms for each megabyte. */
static const char machine[] =
    "name = \"desk\"\nsummary = \"made up\"\nsource = \"made up\"\n"
    "[processor.core]\nkind = \"cpu\"\nrate = [{ kernel = \"*\", gflops = 1 }]\n"
    "[processor.card]\nkind = \"cuda\"\nrate = [{ kernel = \"*\", gflops = 4 }]\n"
    "[host]\ncores = 2\ncore = \"core\"\nmemory = \"1GB\"\n"
    "[[device]]\nprocessor = \"card\"\nmemory = \"100MB\"\nbandwidth = \"1GB/s\"\nlatency_microseconds = 0\n";

/* The number of that name in the JSON text; NaN if there is none. */
static double field(const fairlead_simulation_result* result, const char* name) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\": ", name);
  const char* const found = strstr(fairlead_simulation_result_json(result), quoted);
  return found == NULL ? NAN : strtod(found + strlen(quoted), NULL);
}

static fairlead_simulation* simulation_of(const fairlead_workload* workload, const char* text,
                                          const fairlead_setting* settings, size_t count) {
  fairlead_simulation* simulation = NULL;
  const fairlead_simulation_options options = {
      .struct_bytes = sizeof options, .settings = settings, .setting_count = count, .machine = text};
  EXPECT_OK(fairlead_simulation_create(workload, &options, &simulation));
  return simulation;
}

static void list_names(void) {
  size_t count = 0;
  while (fairlead_scheduler_name(count) != NULL) ++count;
  EXPECT(count > 20 && strcmp(fairlead_scheduler_name(0), "eager") == 0);
  EXPECT(strcmp(fairlead_workload_name(0), "cholesky") == 0 && fairlead_workload_name(1000) == NULL);
  EXPECT(strcmp(fairlead_machine_name(0), "ac-cluster") == 0 && fairlead_machine_name(1000) == NULL);
}

static void run_named_workload(void) {
  const fairlead_setting settings[] = {
      {"n", "4800"}, {"tile", "960"}, {"machine", "v100-pcie"}, {"gpus", "1"}, {"memory", "200MB"}};
  fairlead_workload* workload = NULL;
  EXPECT_OK(fairlead_workload_by_name("cholesky", &workload));
  fairlead_simulation* const simulation = simulation_of(workload, NULL, settings, 5);
  fairlead_workload_free(workload); /* the simulation stays */
  fairlead_run_options options = {.struct_bytes = sizeof options, .scheduler = "eager", .seed = 3};
  fairlead_simulation_result* result = NULL;
  EXPECT_OK(fairlead_simulation_run(simulation, &options, &result));
  EXPECT(field(result, "tasks") == 35 && field(result, "seed") == 3 && field(result, "seconds") > 0);
  EXPECT(strstr(fairlead_simulation_result_json(result), "\"scheduler\": \"eager\"") != NULL);
  const double digest = field(result, "events");
  fairlead_simulation_result_free(result);
  EXPECT_OK(fairlead_simulation_run(simulation, &options, &result)); /* again: the same */
  EXPECT(field(result, "events") == digest);
  fairlead_simulation_result_free(result);
  EXPECT_OK(fairlead_simulation_run(simulation, NULL, &result));
  EXPECT(field(result, "seed") == 1);
  fairlead_simulation_result_free(result);
  options.scheduler = "egger";
  EXPECT_STATUS(FAIRLEAD_ERROR_CONFIG, fairlead_simulation_run(simulation, &options, &result), "eager");
  fairlead_simulation_free(simulation);
}

/* Task 0 before 1 and 2, which are before 3. Task 1 reads the megabyte that 0 writes. */
static const uint64_t bytes[] = {1000000}, first_accesses[] = {0, 1, 2, 2, 2},
                      first_predecessors[] = {0, 0, 0, 1, 3};
static const uint32_t kernels[] = {0, 1, 1, 0}, accessed[] = {0, 0}, predecessors[] = {0, 1, 2};
static const uint8_t modes[] = {FAIRLEAD_OUT, FAIRLEAD_IN};
static const char* const kernel_names[] = {"small", "large"};
static const char* const processors[] = {"cpu", "cuda"};
static double seconds[] = {1, 0.5, 3, 2, 3, 2, 1, 0.5};

static fairlead_task_list tasks(void) {
  return (fairlead_task_list){.struct_bytes = sizeof(fairlead_task_list),
                              .title = "four",
                              .data_count = 1,
                              .data_bytes = bytes,
                              .task_count = 4,
                              .kernel_count = 2,
                              .kernel_names = kernel_names,
                              .task_kernels = kernels,
                              .first_accesses = first_accesses,
                              .accessed_data = accessed,
                              .access_modes = modes,
                              .first_predecessors = first_predecessors,
                              .predecessors = predecessors,
                              .processor_count = 2,
                              .processor_names = processors,
                              .seconds = seconds};
}

static void run_tasks(void) {
  const fairlead_task_list list = tasks();
  fairlead_workload* workload = NULL;
  EXPECT_OK(fairlead_workload_from_tasks(&list, &workload));
  const fairlead_setting cores[] = {{"gpus", "0"}};
  fairlead_simulation* simulation = simulation_of(workload, machine, cores, 1);
  const fairlead_run_options options = {.struct_bytes = sizeof options, .record_order = 1};
  fairlead_simulation_result* result = NULL;
  EXPECT_OK(fairlead_simulation_run(simulation, &options, &result));
  EXPECT(field(result, "seconds") == 5 && field(result, "critical_path_seconds") == 5);
  const fairlead_task_run* runs = NULL;
  size_t count = 0;
  EXPECT_OK(fairlead_simulation_result_order(result, &runs, &count));
  EXPECT(count == 4 && runs[0].task == 0 && runs[0].start == 0 && runs[0].end == 1);
  EXPECT(count == 4 && runs[3].task == 3 && runs[3].start == 4 && runs[3].end == 5);
  EXPECT(count == 4 && runs[1].worker != runs[2].worker && runs[2].end == 4);
  fairlead_simulation_result_free(result);
  fairlead_simulation_free(simulation);
  simulation =
      simulation_of(workload, machine, NULL, 0); /* on the card alone: 0.5 + 2 + 2 + 0.5 + 1 ms home */
  EXPECT_OK(fairlead_simulation_run(simulation, NULL, &result));
  EXPECT(fabs(field(result, "seconds") - 5.001) < 1e-9 || fabs(field(result, "seconds") - 5) < 1e-9);
  fairlead_simulation_result_free(result);
  fairlead_simulation_free(simulation);
  fairlead_workload_free(workload);
}

/* The last ready task first, as a stack. */
struct stack {
  uint64_t tasks[16];
  int count, finished, workers, fail;
};

static int push(void* context, const fairlead_policy_view* view, uint64_t task, int32_t released_by) {
  struct stack* const it = context;
  EXPECT(released_by >= -1 && fairlead_policy_view_kernel(view, task) != NULL);
  it->tasks[it->count++] = task;
  return 0;
}
static int pop(void* context, const fairlead_policy_view* view, uint32_t worker, int32_t must,
               int64_t* task) {
  struct stack* const it = context;
  (void)must;
  if (it->fail == 1) return 1;
  *task = -1;
  if (it->count == 0) return 0;
  const uint64_t last = it->tasks[--it->count];
  EXPECT(fairlead_policy_view_can_run(view, last, worker) == 1);
  EXPECT(fairlead_policy_view_estimate(view, last, worker) >= 0.5);
  *task = it->fail == 2 ? 99 : (int64_t)last;
  return 0;
}
static int count_finished(void* context, const fairlead_policy_view* view, uint64_t task, uint32_t worker,
                          double took) {
  (void)view;
  EXPECT(took == seconds[2 * task + (worker == 2)]);
  ++((struct stack*)context)->finished;
  return 0;
}
static int look(void* context, const fairlead_policy_view* view) {
  fairlead_worker workers[4];
  ((struct stack*)context)->workers = (int)fairlead_policy_view_workers(view, workers, 4);
  EXPECT(!workers[0].is_device && workers[2].is_device && workers[2].node != workers[0].node);
  EXPECT(fairlead_policy_view_bytes(view, 0) == 1000000 && fairlead_policy_view_bytes(view, 1) == 0);
  EXPECT(fairlead_policy_view_residency(view, 0, 77) == FAIRLEAD_ABSENT &&
         isnan(fairlead_policy_view_estimate(view, 9, 0)));
  return fairlead_policy_view_now(view) != 0;
}

static void run_policy(void) {
  const fairlead_task_list list = tasks();
  const fairlead_setting all[] = {{"cores", "2"}};
  fairlead_workload* workload = NULL;
  EXPECT_OK(fairlead_workload_from_tasks(&list, &workload));
  fairlead_simulation* const simulation = simulation_of(workload, machine, all, 1);
  struct stack stack = {.count = 0};
  fairlead_policy policy = {.struct_bytes = sizeof policy,
                            .name = "stack",
                            .context = &stack,
                            .attached = look,
                            .ready = push,
                            .finished = count_finished,
                            .pick = pop};
  const fairlead_run_options options = {.struct_bytes = sizeof options, .policy = &policy};
  fairlead_simulation_result* result = NULL;
  EXPECT_OK(fairlead_simulation_run(simulation, &options, &result));
  EXPECT(stack.workers == 3 && stack.finished == 4 && field(result, "seconds") >= 3.5);
  EXPECT(strstr(fairlead_simulation_result_json(result), "\"scheduler\": \"stack\"") != NULL);
  fairlead_simulation_result_free(result);
  stack = (struct stack){.fail = 1};
  EXPECT_STATUS(FAIRLEAD_ERROR_CALLBACK, fairlead_simulation_run(simulation, &options, &result), "policy");
  stack = (struct stack){.fail = 2};
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_simulation_run(simulation, &options, &result),
                "99, which is not ready");
  policy.pick = NULL;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_simulation_run(simulation, &options, &result),
                "ready and pick");
  fairlead_simulation_free(simulation);
  fairlead_workload_free(workload);
}

static int at_once(void* context) {
  (void)context;
  return 1;
}

static void cancel(void) {
  const fairlead_setting settings[] = {{"n", "96000"}, {"tile", "960"}};
  fairlead_workload* workload = NULL;
  EXPECT_OK(fairlead_workload_by_name("cholesky", &workload));
  fairlead_simulation* const simulation = simulation_of(workload, NULL, settings, 2);
  const fairlead_run_options options = {
      .struct_bytes = sizeof options, .scheduler = "what-if", .cancelled = at_once};
  fairlead_simulation_result* result = NULL;
  EXPECT_STATUS(FAIRLEAD_ERROR_CANCELLED, fairlead_simulation_run(simulation, &options, &result),
                "cancelled");
  EXPECT(result == NULL);
  fairlead_simulation_free(simulation);
  fairlead_workload_free(workload);
}

static void refuse_mistakes(void) {
  fairlead_workload* workload = NULL;
  fairlead_simulation* simulation = NULL;
  fairlead_simulation_options options = {.struct_bytes = 0};
  EXPECT_OK(fairlead_workload_by_name("choleski", &workload));
  EXPECT_STATUS(FAIRLEAD_ERROR_CONFIG, fairlead_simulation_create(workload, NULL, &simulation),
                "did you mean cholesky");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_simulation_create(workload, &options, &simulation),
                "struct_bytes");
  fairlead_workload_free(workload);
  EXPECT_OK(fairlead_workload_by_name("cholesky", &workload));
  const struct {
    fairlead_setting setting;
    const char* text;
  } wrong[] = {{{"memmory", "1GB"}, "did you mean memory"},
               {{"n", "many"}, "n many"},
               {{"streams", "2"}, "streams has no effect here"},
               {{"seed", "2"}, "no setting \"seed\""},
               {{"json", "file"}, "no setting"},
               {{"phase", "1"}, "phase has no effect"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    const fairlead_setting settings[] = {{"gpus", "0"}, wrong[i].setting};
    options = (fairlead_simulation_options){
        .struct_bytes = sizeof options, .settings = settings, .setting_count = 2};
    EXPECT_STATUS(FAIRLEAD_ERROR_CONFIG, fairlead_simulation_create(workload, &options, &simulation),
                  wrong[i].text);
  }
  options = (fairlead_simulation_options){.struct_bytes = sizeof options, .machine = "name = 3"};
  EXPECT_STATUS(FAIRLEAD_ERROR_CONFIG, fairlead_simulation_create(workload, &options, &simulation),
                "the machine:1");
  options = (fairlead_simulation_options){.struct_bytes = sizeof options, .setting_count = 1};
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_simulation_create(workload, &options, &simulation), "null");
  fairlead_workload_free(workload);
  EXPECT_OK(fairlead_workload_open("missing.flow", &workload));
  EXPECT_STATUS(FAIRLEAD_ERROR_SYSTEM, fairlead_simulation_create(workload, NULL, &simulation),
                "missing.flow");
  fairlead_workload_free(workload);
  fairlead_task_list list = tasks();
  list.access_modes = (const uint8_t*)"\7\7";
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_workload_from_tasks(&list, &workload), "mode 7");
  list = tasks();
  list.seconds = NULL;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_workload_from_tasks(&list, &workload), "seconds is a null");
  list = tasks();
  list.task_count = 0;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_workload_from_tasks(&list, &workload), "no tasks");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_workload_from_tasks(NULL, &workload), "null");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_workload_by_name(NULL, &workload), "null");
  EXPECT(simulation == NULL);
  fairlead_workload_free(NULL);
  fairlead_simulation_free(NULL);
  fairlead_simulation_result_free(NULL);
}

int main(void) {
  list_names();
  run_named_workload();
  run_tasks();
  run_policy();
  cancel();
  refuse_mistakes();
  if (failures != 0) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
