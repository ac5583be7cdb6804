// Overhead per task of Fairlead: submission, dependencies, scheduling, pins and completion; one default
// configuration for all rows, with counters and checks on, and rows for darts, a Recording and a
// parameterized graph: a Recording is analysed once, in the first repetition, and then only run; a
// parameterized graph is built once. Registration and building are printed per datum. With --traced, a row
// with tracing follows each row of the default, and the other rows are left out.
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/report.hpp>

#include <memory>
#include <typeindex>

#include "overhead_main.hpp"

namespace {

using namespace overhead;
namespace fl = fairlead;

/// The front end that defines the tasks.
enum class Front { flow, recording, parameterized };

/// The parameterized versions of the graphs.
class Parameterized {
 public:
  template <class One, class Two, class Three>
  Parameterized(fl::Runtime& runtime, const std::vector<fl::Handle<Value>>& data, const Graph& shape,
                const One& one, const Two& two, const Three& three)
      : graph_(runtime) {
    const int n = shape.size;
    using enum Graph::Shape;
    if (shape.shape == independent) {
      const auto all = graph_.data(data, "data");
      graph_.task("one", k.in(0, n - 1)).runs(one, flow("own").from(all(k)));
    } else if (shape.shape == chain) {
      const auto all = graph_.data(data, "data");
      auto link = graph_.task("link", k.in(0, n - 1));
      link.runs(one, flow("own").from(all(0)).when(k == 0).from(link["own"](k - 1)));
    } else if (shape.shape == wavefront) {
      const auto all = graph_.data<Value>("data", {n, n}, [&](const std::int64_t* at) {
        return data[static_cast<std::size_t>(at[0] * n + at[1])];
      });
      auto corner = graph_.task("corner");
      auto top = graph_.task("top", m.in(1, n - 1));
      auto left = graph_.task("left", k.in(1, n - 1));
      auto inner = graph_.task("inner", k.in(1, n - 1), m.in(1, n - 1));
      corner.runs(one, flow("own").from(all(0, 0)));
      top.runs(two, flow("before").from(corner["own"]()).when(m == 1).from(top["own"](m - 1)),
               flow("own").from(all(0, m)));
      left.runs(two, flow("above").from(corner["own"]()).when(k == 1).from(left["own"](k - 1)),
                flow("own").from(all(k, 0)));
      inner.runs(three, flow("above").from(top["own"](m)).when(k == 1).from(inner["own"](k - 1, m)),
                 flow("before").from(left["own"](k)).when(m == 1).from(inner["own"](k, m - 1)),
                 flow("own").from(all(k, m)));
    } else {
      const auto A = graph_.data<Value>("A", {n, n}, [&](const std::int64_t* at) {
        if (at[1] > at[0]) return fl::Handle<Value>();
        return data[static_cast<std::size_t>(at[0] * (at[0] + 1) / 2 + at[1])];
      });
      auto potrf = graph_.task("potrf", k.in(0, n - 1));
      auto trsm = graph_.task("trsm", k.in(0, n - 2), m.in(k + 1, n - 1));
      auto syrk = graph_.task("syrk", k.in(0, n - 2), m.in(k + 1, n - 1));
      auto gemm = graph_.task("gemm", k.in(0, n - 3), m.in(k + 2, n - 1), j.in(k + 1, m - 1));
      potrf.runs(one, flow("T").from(A(k, k)).when(k == 0).from(syrk["T"](k - 1, k)));
      trsm.runs(two, flow("T").from(potrf["T"](k)),
                flow("C").from(A(m, k)).when(k == 0).from(gemm["C"](k - 1, m, k)));
      syrk.runs(two, flow("A").from(trsm["C"](k, m)),
                flow("T").from(A(m, m)).when(k == 0).from(syrk["T"](k - 1, m)));
      gemm.runs(three, flow("A").from(trsm["C"](k, m)), flow("B").from(trsm["C"](k, j)),
                flow("C").from(A(m, j)).when(k == 0).from(gemm["C"](k - 1, m, j)));
    }
  }
  /// The one-time work, not part of each run.
  void prepare() { graph_.tasks(); }
  void run() { graph_.run(); }

 private:
  static fl::ptg::FlowSpecification flow(const char* name) { return fl::ptg::flow(name); }
  const fl::ptg::Index k{"k"}, m{"m"}, j{"j"};
  fl::ptg::Graph graph_;
};

class Fairlead {
 public:
  Fairlead(int threads, std::string scheduler, bool traced, Front front, bool json)
      : threads_(threads), scheduler_(std::move(scheduler)), traced_(traced), front_(front), json_(json) {}

  std::string name() const {
    const char* const how = traced_                          ? "-traced"
                            : front_ == Front::recording     ? "-recorded"
                            : front_ == Front::parameterized ? "-ptg"
                                                             : "";
    return (scheduler_.empty() ? "fairlead" : "fairlead-" + scheduler_) + how;
  }
  int threads() const { return threads_; }
  int processors() const { return threads_; }

  void prepare(std::vector<Value>& values) {
    fl::Config config;
    config.set("workers", threads_);
    config.set("memory", "64MiB");
    if (!scheduler_.empty()) config.set("scheduler", scheduler_);
    if (traced_) config.set("trace", "/dev/null");
    runtime_ = std::make_unique<fl::Runtime>(config);
    const double ns = nanoseconds([&] {
      for (Value& value : values) data_.push_back(runtime_->value("value", value));
    });
    if (values.size() > 1000)
      print({name(), "registration", threads_, values.size(), ns / static_cast<double>(values.size())},
            json_);
  }
  void release() {
    recording_.reset();
    parameterized_.reset();
    data_.clear();
    fl::Config config;
    if (traced_) config.set("trace", "/dev/null");
    fl::write_recorded(*runtime_, config);
    runtime_.reset();
  }

  template <class Body>
  void run(const Graph& graph, const Body& body) {
    const auto one = fl::codelet("one").cpu([body](fl::InOut<Value> own) { body(&own.get()); });
    const auto two =
        fl::codelet("two").cpu([body](fl::In<Value> a, fl::InOut<Value> own) { body(&own.get(), &a.get()); });
    const auto three =
        fl::codelet("three").cpu([body](fl::In<Value> a, fl::In<Value> b, fl::InOut<Value> own) {
          body(&own.get(), &a.get(), &b.get());
        });
    if (front_ == Front::parameterized) {
      if (parameterized_ == nullptr || recorded_body_ != typeid(Body)) {
        const double ns = nanoseconds([&] {
          parameterized_ = std::make_unique<Parameterized>(*runtime_, data_, graph, one, two, three);
          parameterized_->prepare();
        });
        recorded_body_ = typeid(Body);
        if (data_.size() > 1000)
          print({name(), "making the graph", threads_, data_.size(), ns / static_cast<double>(data_.size())},
                json_);
      }
      return parameterized_->run();
    }
    if (front_ == Front::flow) {
      fl::Flow flow(*runtime_);
      Submit<fl::Flow, decltype(one), decltype(two), decltype(three)> submit{data_, flow, one, two, three};
      graph.submit_to(submit);
      return flow.wait();
    }
    if (recording_ == nullptr || recorded_body_ != typeid(Body)) {
      recording_ = std::make_unique<fl::Recording>(*runtime_);
      recorded_body_ = typeid(Body);
      Submit<fl::Recording, decltype(one), decltype(two), decltype(three)> submit{data_, *recording_, one,
                                                                                  two, three};
      graph.submit_to(submit);
    }
    recording_->run();
  }

 private:
  template <class Flow, class One, class Two, class Three>
  struct Submit {
    const std::vector<fl::Handle<Value>>& data;
    Flow& flow;
    const One& one;
    const Two& two;
    const Three& three;
    void operator()(Kind, Use own) { flow.submit(one(data[own.datum])); }
    void operator()(Kind, Use a, Use own) { flow.submit(two(data[a.datum], data[own.datum])); }
    void operator()(Kind, Use a, Use b, Use own) {
      flow.submit(three(data[a.datum], data[b.datum], data[own.datum]));
    }
  };

  int threads_;
  std::string scheduler_;
  bool traced_;
  Front front_;
  bool json_;
  std::unique_ptr<fl::Runtime> runtime_;
  std::vector<fl::Handle<Value>> data_;
  std::unique_ptr<fl::Recording> recording_;
  std::unique_ptr<Parameterized> parameterized_;
  std::type_index recorded_body_ = typeid(void);
};

}  // namespace

int main(int argc, char** argv) {
  const bool traced = argc > 1 && std::strcmp(argv[argc - 1], "--traced") == 0;
  const auto options = options_of(argc - traced, argv);
  const auto spinning = SpinningBody::lasting(20'000);
  bool right = true;
  const auto measure_one = [&](int threads, const char* scheduler, bool tracing, Front front = Front::flow) {
    Fairlead system(threads, scheduler, tracing, front, options.json);
    right &= measure(system, spinning, options);
  };
  for (const int threads : {1, 2}) {
    measure_one(threads, "", false);
    if (traced) measure_one(threads, "", true);
  }
  for (const int threads : {1, 2})
    if (!traced) measure_one(threads, "darts", false);
  for (const int threads : {1, 2})
    if (!traced) measure_one(threads, "", false, Front::recording);
  for (const int threads : {1, 2})
    if (!traced) measure_one(threads, "", false, Front::parameterized);
  return right ? 0 : 1;
}
