// Overhead per task of StarPU 1.3 from Debian, default scheduler. Its application thread submits and then
// sleeps: two threads are the application's and one worker, three are two workers that share two processors
// with it. There is no row for one thread.
#include <starpu.h>

#include "overhead_main.hpp"

namespace {

using namespace overhead;

Value* address(void* buffer) { return reinterpret_cast<Value*>(STARPU_VARIABLE_GET_PTR(buffer)); }

/// The body as a C function for a number of reads; its state is the codelet's argument.
template <class Body>
void call(void* buffers[], void* argument, int reads) {
  const Body& body = *static_cast<const Body*>(argument);
  switch (reads) {
    case 0:
      return body(address(buffers[0]));
    case 1:
      return body(address(buffers[1]), address(buffers[0]));
    default:
      return body(address(buffers[2]), address(buffers[0]), address(buffers[1]));
  }
}

template <class Body, int reads>
starpu_codelet codelet() {
  starpu_codelet made;
  starpu_codelet_init(&made);
  made.cpu_funcs[0] = [](void* buffers[], void* argument) { call<Body>(buffers, argument, reads); };
  made.nbuffers = reads + 1;
  for (int i = 0; i < reads; ++i) made.modes[i] = STARPU_R;
  made.modes[reads] = STARPU_RW;
  return made;
}

template <class Body>
class Submit {
 public:
  Submit(std::vector<starpu_data_handle_t>& handles, const Body& body) : handles_(handles), body_(body) {}

  void operator()(Kind, Use own) { insert(codelets_[0], own); }
  void operator()(Kind, Use first, Use own) { insert(codelets_[1], first, own); }
  void operator()(Kind, Use first, Use second, Use own) { insert(codelets_[2], first, second, own); }

 private:
  template <class... Uses>
  void insert(starpu_codelet& codelet, Uses... uses) {
    starpu_task* task = starpu_task_create();
    task->cl = &codelet;
    task->cl_arg = const_cast<Body*>(&body_);
    int i = 0;
    ((task->handles[i++] = handles_[uses.datum]), ...);
    if (starpu_task_submit(task) != 0) std::abort();
  }

  std::vector<starpu_data_handle_t>& handles_;
  const Body& body_;
  std::array<starpu_codelet, 3> codelets_{codelet<Body, 0>(), codelet<Body, 1>(), codelet<Body, 2>()};
};

class StarPu {
 public:
  explicit StarPu(int workers) : workers_(workers) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = workers;
    conf.ncuda = conf.nopencl = 0;
    if (starpu_init(&conf) != 0) {
      std::fprintf(stderr, "StarPU failed to start\n");
      std::exit(1);
    }
  }
  ~StarPu() { starpu_shutdown(); }
  StarPu(const StarPu&) = delete;
  StarPu& operator=(const StarPu&) = delete;

  std::string name() const { return "starpu-1.3"; }
  int threads() const { return workers_ + 1; }
  int processors() const { return workers_; }

  void prepare(std::vector<Value>& values) {
    handles_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      starpu_variable_data_register(&handles_[i], STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(&values[i]),
                                    sizeof(Value));
    }
  }
  void release() {
    for (auto handle : handles_) starpu_data_unregister(handle);
    handles_.clear();
  }

  template <class Body>
  void run(const Graph& graph, const Body& body) {
    Submit<Body> submit(handles_, body);
    graph.submit_to(submit);
    starpu_task_wait_for_all();
  }

 private:
  std::vector<starpu_data_handle_t> handles_;
  int workers_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = options_of(argc, argv);
  const auto spinning = SpinningBody::lasting(20'000);
  bool right = true;
  for (const int workers : {1, 2}) {
    StarPu system(workers);
    right &= measure(system, spinning, options);
  }
  return right ? 0 : 1;
}
