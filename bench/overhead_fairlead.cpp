// Overhead per task of Fairlead: submission, dependencies, scheduling, pins and completion; one default
// configuration for all rows, counters and checks on, and lines with darts and with a Recording beside it:
// that is analysed once, in the first repetition, and then only run. Registration is printed per datum. With
// --traced, each line is followed by one of the same with tracing on, and the others are left out.
#include <fairlead/fairlead.hpp>
#include <fairlead/report.hpp>

#include <memory>
#include <typeindex>

#include "overhead_main.hpp"

namespace {

using namespace overhead;
namespace fl = fairlead;

class Fairlead {
 public:
  Fairlead(int threads, std::string scheduler, bool traced, bool recorded, bool json)
      : threads_(threads),
        scheduler_(std::move(scheduler)),
        traced_(traced),
        recorded_(recorded),
        json_(json) {}

  std::string name() const {
    return (scheduler_.empty() ? "fairlead" : "fairlead-" + scheduler_) + (traced_     ? "-traced"
                                                                           : recorded_ ? "-recorded"
                                                                                       : "");
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
    if (!recorded_) {
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
  bool traced_, recorded_;
  bool json_;
  std::unique_ptr<fl::Runtime> runtime_;
  std::vector<fl::Handle<Value>> data_;
  std::unique_ptr<fl::Recording> recording_;
  std::type_index recorded_body_ = typeid(void);
};

}  // namespace

int main(int argc, char** argv) {
  const bool traced = argc > 1 && std::strcmp(argv[argc - 1], "--traced") == 0;
  const auto options = options_of(argc - traced, argv);
  const auto spinning = SpinningBody::lasting(20'000);
  bool right = true;
  const auto measure_one = [&](int threads, const char* scheduler, bool tracing, bool recorded = false) {
    Fairlead system(threads, scheduler, tracing, recorded, options.json);
    right &= measure(system, spinning, options);
  };
  for (const int threads : {1, 2}) {
    measure_one(threads, "", false);
    if (traced) measure_one(threads, "", true);
  }
  for (const int threads : {1, 2})
    if (!traced) measure_one(threads, "darts", false);
  for (const int threads : {1, 2})
    if (!traced) measure_one(threads, "", false, true);
  return right ? 0 : 1;
}
