// The public interface of parameterized graphs. The class table is built by the first call of run() or tasks().
#include <fairlead/ptg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "front/flow/flow_implementation.hpp"
#include "front/ptg/graph_source.hpp"
#include "front/ptg/own_data.hpp"
#include "front/ptg/submitted_graph.hpp"
#include "front/ptg/unrolled_graph.hpp"
#include "front/ranks/rank_context.hpp"
#include "front/ranks/shared_datum.hpp"
#include "front/runtime/runtime_access.hpp"
#include "front/unrolled/check.hpp"

namespace fairlead::ptg {

class Graph::Implementation {
 public:
  Implementation(Runtime& of, std::shared_ptr<void> kept)
      : runtime(of), core(front::core_of(of)), runtime_kept(std::move(kept)) {}

  GraphSource& source_made() {
    if (source == nullptr) {
      net::Communicator* const communicator = front::communicator_of(runtime);
      const auto* const ranks = front::rank_context(core.surroundings());
      ClassTable table = make_class_table({classes.begin(), classes.end()}, communicator != nullptr);
      table.stop = &early_end.abandoned_flag();
      source = std::make_unique<GraphSource>(
          core, early_end, std::move(table),
          [this](const CollectionDefinition& of, const void* like, bool exact) {
            return make_fresh(of, like, exact);
          },
          communicator, ranks == nullptr ? front::ReceivePlacementChoice{} : ranks->landing());
      shown.store(source.get());
      // either this sees the cancellation, or cancel() sees `shown`
      if (cancelled.load()) source->cancel();
    }
    return *source;
  }
  std::pair<const void*, engine::RegisteredDatum*> make_fresh(const CollectionDefinition& of,
                                                              const void* like, bool exact) {
    if (of.another == nullptr) throw UsageError(fmt::format("no more data like {} can be created", of.name));
    fairlead::detail::DatumReference datum;
    fresh.push_back({of.another(runtime, like, datum, exact), datum});
    return {fresh.back().handle.get(), datum.datum};
  }

  /// Returns false if the data cannot be removed, for instance because the run was stopped.
  bool remove_fresh() noexcept {
    try {
      for (; !fresh.empty(); fresh.pop_back()) runtime.remove_one(fresh.back().datum);
      return true;
    } catch (...) {
      return false;
    }
  }

  struct Fresh {
    std::shared_ptr<const void> handle;
    fairlead::detail::DatumReference datum;
  };
  Runtime& runtime;  // valid while the graph runs
  engine::RuntimeCore& core;
  std::shared_ptr<void> runtime_kept;  // keeps `core` alive
  std::vector<std::shared_ptr<ClassDefinition>> classes;
  std::vector<Fresh> fresh;
  EarlyTermination early_end;
  bool is_submitted = false;  // to a flow
  std::unique_ptr<GraphSource> source;
  // For other threads than the program's.
  std::atomic<GraphSource*> shown{nullptr};
  std::atomic<bool> cancelled{false};
};

Graph::Graph(Runtime& runtime)
    : implementation_(std::make_shared<Implementation>(runtime, runtime.implementation_)) {}

Graph::~Graph() {
  engine::RuntimeCore& core = implementation_->core;
  // Data with unfinished tasks are removed after these.
  if (implementation_->is_submitted && core.caller().may_wait())
    static_cast<void>(implementation_->remove_fresh());
  if (implementation_->source == nullptr) return;
  // Completions may not be processed yet, and never will be if the run was stopped. Then the graph is kept instead.
  if (core.caller().may_wait() && implementation_->source->finish() &&
      !core.engine().stop_reason().stopped()) {
    core.application().serve_blocking();
    implementation_->source.reset();
    if (implementation_->remove_fresh()) return;
  }
  core.keep(std::move(implementation_));
}

std::shared_ptr<CollectionDefinition> Graph::begin_collection(std::string name,
                                                              std::vector<std::int64_t> extents,
                                                              std::type_index type,
                                                              std::size_t handle_bytes) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 0 || (extent != 0 && count > most / extent))
      throw UsageError(fmt::format("the data {} of a parameterized graph: their number is invalid", name));
    count *= extent;
  }
  auto definition = std::make_shared<CollectionDefinition>(
      CollectionDefinition{.name = std::move(name), .extents = std::move(extents), .type = type});
  definition->handle_bytes = handle_bytes;
  definition->handles.resize(static_cast<std::size_t>(count) * handle_bytes);
  definition->data.resize(static_cast<std::size_t>(count));
  return definition;
}

Collection Graph::end_collection(std::shared_ptr<CollectionDefinition> definition) {
  engine::RuntimeCore& core = implementation_->core;
  for (fairlead::detail::DatumReference& reference : definition->data) {
    if (reference.datum != nullptr && reference.datum->runtime != &core)
      throw UsageError(
          fmt::format("the data {} of a parameterized graph belong to another runtime", definition->name));
    // A reference that is known here, to a datum of another rank, is removed.
    if (reference.datum == nullptr) continue;
    if (const front::SharedDatum* const shared = front::shared_of(*reference.datum);
        shared != nullptr && shared->home == nullptr)
      reference = {};
  }
  keep_own(*definition);
  return Collection(std::move(definition));
}

TaskClass Graph::begin_class(std::string name, std::vector<Range> indices, SourceLine where) {
  if (implementation_->source != nullptr)
    throw UsageError(fmt::format("the class {} is added too late: the parameterized graph has run", name));
  auto definition = std::make_shared<ClassDefinition>();
  definition->name = std::move(name);
  definition->indices = std::move(indices);
  definition->file = where.file_name();
  definition->line = where.line();
  implementation_->classes.push_back(definition);
  return TaskClass(std::move(definition));
}

void Graph::run() {
  implementation_->core.stop_on_out_of_memory([this] { implementation_->source_made().run(); });
}
void Graph::submit(Flow& flow) {
  Implementation& it = *implementation_;
  if (&flow.implementation_->core != &it.core)
    throw UsageError("a parameterized graph is submitted to a flow of another runtime");
  if (front::communicator_of(it.runtime) != nullptr)
    throw UsageError("a parameterized graph over several ranks is run, and not submitted to a flow");
  it.core.stop_on_out_of_memory([&] {
    it.is_submitted = true;
    SubmittedGraph(*flow.implementation_->source, make_class_table(definitions()),
                   [&it](const CollectionDefinition& of, const void* like, bool exact) {
                     return it.make_fresh(of, like, exact);
                   })
        .submit_all();
  });
}
void Graph::cancel() {
  implementation_->cancelled.store(true);
  if (GraphSource* const source = implementation_->shown.load()) source->cancel();
}
void Graph::abandon() {
  implementation_->early_end.abandon();
  cancel();
}
void Graph::abandon_on_failure() { implementation_->early_end.abandon_on_failure(); }
std::uint64_t Graph::done() const noexcept {
  const GraphSource* const source = implementation_->shown.load();
  return source == nullptr ? 0 : source->done();
}
std::uint64_t Graph::tasks() { return implementation_->source_made().tasks(); }

Checked Graph::check() {
  constexpr std::uint64_t most = 1'000'000;
  const unrolled::TaskGraph graph = unrolled_graph(make_class_table(definitions()), most);
  const unrolled::CheckResult checked = unrolled::check(graph);
  return {graph.tasks.size(), checked.edges, checked.findings.errors(), checked.findings.text()};
}

std::vector<std::shared_ptr<const ClassDefinition>> Graph::definitions() const {
  return {implementation_->classes.begin(), implementation_->classes.end()};
}

std::vector<Expression> FlowName::ordered(std::vector<Expression> called) const {
  const auto of = task_.lock();
  if (of == nullptr || of->called.size() != called.size())
    return called;  // the wrong number of indices is reported when the table is built
  std::vector<Expression> out(called.size());
  for (std::size_t i = 0; i < called.size(); ++i) out[of->called[i]] = called[i];
  return out;
}

TaskClass& TaskClass::called(const std::vector<Index>& parameters) {
  std::vector<const ExpressionNode*> own;
  for (const Range& range : definition_->indices)
    if (!range.derived) own.push_back(range.index.node().get());
  std::vector<std::size_t> order;
  for (const Index& index : parameters) {
    const auto at = static_cast<std::size_t>(std::ranges::find(own, index.node().get()) - own.begin());
    if (at == own.size() || std::ranges::find(order, at) != order.end())
      throw UsageError(
          fmt::format("the tasks of {} cannot be called by {}: it is not a parameter, or is repeated",
                      text_of(*definition_), index.text()));
    order.push_back(at);
  }
  if (order.size() != own.size())
    throw UsageError(fmt::format("the tasks of {} are called by {} indices; they have {} parameters",
                                 text_of(*definition_), order.size(), own.size()));
  definition_->called = std::move(order);
  return *this;
}

void TaskClass::begin_body(const std::shared_ptr<const CodeletInfo>& codelet) {
  if (definition_->codelet != nullptr)
    throw UsageError(fmt::format("runs() is called twice for the tasks of {}", text_of(*definition_)));
  definition_->codelet = codelet;
}

void TaskClass::add_flow(const FlowSpecification& specification, AccessMode mode, std::type_index type) {
  FlowDefinition flow = specification.definition();
  if (flow.control)
    throw UsageError(fmt::format("the control \"{}\" of {} is given in place of a datum", flow.name,
                                 text_of(*definition_)));
  flow.mode = mode;
  flow.type = type;
  definition_->flows.push_back(std::move(flow));
}

void TaskClass::copied_by(Copier copier) {
  FlowDefinition& flow = definition_->flows.back();
  const auto refuse = [&](const char* why) {
    throw UsageError(
        fmt::format("the flow \"{}\" of {} has or_copy(): {}", flow.name, text_of(*definition_), why));
  };
  if (!writes(flow.mode)) refuse("it changes nothing, so no task waits for its readers");
  if (copier.codelet == nullptr) refuse("data of its type cannot be copied, only tiles, vectors and blocks");
  flow.copier = std::move(copier);
}

void TaskClass::add_control(const FlowSpecification& control) {
  if (!control.definition().control)
    throw UsageError(fmt::format("the flow \"{}\" of {} has no data parameter in its body",
                                 control.definition().name, text_of(*definition_)));
  definition_->flows.push_back(control.definition());
}

}  // namespace fairlead::ptg
