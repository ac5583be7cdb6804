// Overhead per task of oneTBB's flow graph. It takes edges, not data: a table of the last writer of each
// datum and its later readers infers them, and is timed. The graph is built completely, then started, because
// an edge from a node that has already run never fires. Its destruction is timed, too, since the other
// runtimes free their tasks during the run.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <deque>

#include "overhead_main.hpp"

namespace {

using namespace overhead;
using oneapi::tbb::flow::continue_msg;
using Node = oneapi::tbb::flow::continue_node<continue_msg>;

/// The tasks that must run before the next user of the datum.
struct LastUses {
  Node* writer = nullptr;
  std::vector<Node*> readers;

  void forget() {
    writer = nullptr;
    readers.clear();
  }
};

template <class Body>
class Submit {
 public:
  Submit(Value* values, Body body, std::vector<LastUses>& table, std::size_t tasks)
      : values_(values), body_(body), table_(table) {
    roots_.reserve(tasks);
  }

  void operator()(Kind, Use own) {
    Value* c = values_ + own.datum;
    nodes_.emplace_back(graph_, [c, run = body_](continue_msg) { run(c); });
    connect(own);
  }
  void operator()(Kind, Use first, Use own) {
    Value *a = values_ + first.datum, *c = values_ + own.datum;
    nodes_.emplace_back(graph_, [a, c, run = body_](continue_msg) { run(c, a); });
    connect(first, own);
  }
  void operator()(Kind, Use first, Use second, Use own) {
    Value *a = values_ + first.datum, *b = values_ + second.datum, *c = values_ + own.datum;
    nodes_.emplace_back(graph_, [a, b, c, run = body_](continue_msg) { run(c, a, b); });
    connect(first, second, own);
  }

  void start_and_wait() {
    for (Node* root : roots_) root->try_put(continue_msg());
    graph_.wait_for_all();
  }

 private:
  template <class... Uses>
  void connect(Uses... uses) {
    Node& node = nodes_.back();
    if ((depend(node, uses) + ...) == 0) roots_.push_back(&node);
  }

  /// Adds the edges that one use needs; returns how many.
  int depend(Node& node, Use use) {
    LastUses& last = table_[use.datum];
    int edges = 0;
    const auto after = [&](Node* earlier) {
      make_edge(*earlier, node);
      ++edges;
    };
    if (use.mode == Mode::read) {
      if (last.writer) after(last.writer);
      last.readers.push_back(&node);
    } else {
      if (last.readers.empty()) {
        if (last.writer) after(last.writer);
      } else {
        for (Node* reader : last.readers) after(reader);
        last.readers.clear();
      }
      last.writer = &node;
    }
    return edges;
  }

  Value* values_;
  Body body_;
  std::vector<LastUses>& table_;
  oneapi::tbb::flow::graph graph_;
  std::deque<Node> nodes_;
  std::vector<Node*> roots_;
};

class FlowGraph {
 public:
  explicit FlowGraph(int threads)
      : threads_(threads),
        limit_(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena_(threads) {}
  std::string name() const { return "onetbb-flow"; }
  int threads() const { return threads_; }
  int processors() const { return threads_; }

  void prepare(std::vector<Value>& values) {
    values_ = values.data();
    table_.resize(values.size());
  }
  void release() { table_.clear(); }

  template <class Body>
  void run(const Graph& graph, const Body& body) {
    arena_.execute([&] {
      std::ranges::for_each(table_, &LastUses::forget);
      Submit<Body> submit(values_, body, table_, graph.tasks());
      graph.submit_to(submit);
      submit.start_and_wait();
    });
  }

 private:
  Value* values_ = nullptr;
  std::vector<LastUses> table_;
  int threads_;
  oneapi::tbb::global_control limit_;
  oneapi::tbb::task_arena arena_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = options_of(argc, argv);
  const auto spinning = SpinningBody::lasting(20'000);
  bool right = true;
  for (const int threads : {1, 2}) {
    FlowGraph system(threads);
    right &= measure(system, spinning, options);
  }
  return right ? 0 : 1;
}
