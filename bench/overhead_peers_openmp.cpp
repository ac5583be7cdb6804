// Overhead per task of OpenMP tasks with `depend` (GCC's runtime).
#include <omp.h>

#include "overhead_main.hpp"

namespace {

using namespace overhead;

template <class Body>
struct Submit {
  Value* values;
  Body body;

  // The bodies' arguments are copied into the task, as in any runtime.
  void operator()(Kind, Use own) const {
    Value* c = values + own.datum;
    const Body run = body;
#pragma omp task depend(inout : c[0]) firstprivate(c, run)
    run(c);
  }
  void operator()(Kind, Use first, Use own) const {
    Value *a = values + first.datum, *c = values + own.datum;
    const Body run = body;
#pragma omp task depend(in : a[0]) depend(inout : c[0]) firstprivate(a, c, run)
    run(c, a);
  }
  void operator()(Kind, Use first, Use second, Use own) const {
    Value *a = values + first.datum, *b = values + second.datum, *c = values + own.datum;
    const Body run = body;
#pragma omp task depend(in : a[0], b[0]) depend(inout : c[0]) firstprivate(a, b, c, run)
    run(c, a, b);
  }
};

class OpenMp {
 public:
  explicit OpenMp(int threads) : threads_(threads) {}
  std::string name() const { return "gcc-openmp"; }
  int threads() const { return threads_; }
  int processors() const { return threads_; }

  void prepare(std::vector<Value>& values) { values_ = values.data(); }
  void release() {}

  template <class Body>
  void run(const Graph& graph, const Body& body) {
#pragma omp parallel num_threads(threads_)
#pragma omp single
    graph.submit_to(Submit<Body>{values_, body});
  }

 private:
  Value* values_ = nullptr;
  int threads_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = options_of(argc, argv);
  const auto spinning = SpinningBody::lasting(20'000);
  bool right = true;
  for (const int threads : {1, 2}) {
    OpenMp system(threads);
    right &= measure(system, spinning, options);
  }
  return right ? 0 : 1;
}
