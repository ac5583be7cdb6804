// Overhead per task of Fairlead: submission, dependencies, scheduling, pins and completion; one default
// configuration for all rows, counters and checks on, and a line with darts beside it. Registration is
// printed per datum.
#include <fairlead/fairlead.hpp>

#include <memory>

#include "overhead_main.hpp"

namespace {

using namespace overhead;
namespace fl = fairlead;

class Fairlead {
 public:
  Fairlead(int threads, std::string scheduler, bool json)
      : threads_(threads), scheduler_(std::move(scheduler)), json_(json) {}

  std::string name() const { return scheduler_.empty() ? "fairlead" : "fairlead-" + scheduler_; }
  int threads() const { return threads_; }
  int processors() const { return threads_; }

  void prepare(std::vector<Value>& values) {
    fl::Config config;
    config.set("workers", threads_);
    config.set("memory", "64MiB");
    if (!scheduler_.empty()) config.set("scheduler", scheduler_);
    runtime_ = std::make_unique<fl::Runtime>(config);
    const double ns = nanoseconds([&] {
      for (Value& value : values) data_.push_back(runtime_->value("value", value));
    });
    if (values.size() > 1000)
      print({name(), "registration", threads_, values.size(), ns / static_cast<double>(values.size())},
            json_);
  }
  void release() {
    data_.clear();
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
    fl::Flow flow(*runtime_);
    Submit submit{data_, flow, one, two, three};
    graph.submit_to(submit);
    flow.wait();
  }

 private:
  template <class One, class Two, class Three>
  struct Submit {
    const std::vector<fl::Handle<Value>>& data;
    fl::Flow& flow;
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
  bool json_;
  std::unique_ptr<fl::Runtime> runtime_;
  std::vector<fl::Handle<Value>> data_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = options_of(argc, argv);
  const auto spinning = SpinningBody::lasting(20'000);
  bool right = true;
  for (const std::string scheduler : {"", "darts"})
    for (const int threads : {1, 2}) {
      Fairlead system(threads, scheduler, options.json);
      right &= measure(system, spinning, options);
    }
  return right ? 0 : 1;
}
