// See jdf_program.hpp.
#include "simulate/jdf_program.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <utility>

#include "front/jdf/unroll.hpp"
#include "front/jdf_graph/body_run.hpp"
#include "front/jdf_graph/origins.hpp"
#include "front/unrolled/check.hpp"
#include "simulate/flow_file.hpp"

namespace fairlead::simulate {

namespace {

using fairlead::detail::TileArgument;
using unrolled::TaskId;

/// A topological order of the tasks; among tasks that may come next, by priority.
std::vector<TaskId> sequence_of(const unrolled::TaskGraph& graph,
                                const std::vector<unrolled::Precedence>& steps) {
  std::vector<std::uint32_t> waits(graph.tasks.size()), first(graph.tasks.size() + 1), after(steps.size());
  for (const unrolled::Precedence& step : steps) ++first[step.before + 1], ++waits[step.after];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<std::uint32_t> at(first.begin(), first.end() - 1);
  for (const unrolled::Precedence& step : steps) after[at[step.before]++] = step.after;
  const auto less = [&](TaskId a, TaskId b) {
    const std::int32_t of_a = graph.tasks[a].priority, of_b = graph.tasks[b].priority;
    return of_a != of_b ? of_a < of_b : a > b;
  };
  std::priority_queue<TaskId, std::vector<TaskId>, decltype(less)> ready(less);
  for (TaskId i = 0; i < waits.size(); ++i)
    if (waits[i] == 0) ready.push(i);
  std::vector<TaskId> out;
  while (!ready.empty()) {
    const TaskId task = ready.top();
    ready.pop();
    out.push_back(task);
    for (std::uint32_t i = first[task]; i < first[task + 1]; ++i)
      if (--waits[after[i]] == 0) ready.push(after[i]);
  }
  return out;
}

class Maker {
 public:
  Maker(const jdf::RunnableJdf& jdf, const unrolled::TaskGraph& graph, std::int64_t tile, Precision precision)
      : jdf_(jdf),
        constants_(jdf::constants_of(jdf)),
        graph_(graph),
        tile_(tile),
        precision_(precision),
        origins_(graph),
        places_(graph.inputs.size()) {
    for (const std::string& name : graph.collections) out_.program.collection(name);
    fresh_ = out_.program.collection("NEW");
  }

  JdfProgram make(const std::vector<TaskId>& sequence) {
    find_outputs();
    for (const TaskId task : sequence) {
      add(task);
      for (std::uint32_t i = first_output_[task]; i < first_output_[task + 1]; ++i) leave(*outputs_[i]);
    }
    return std::move(out_);
  }

 private:
  using Shape = std::pair<std::int64_t, std::int64_t>;

  /// Sorts the outputs to memory by task.
  void find_outputs() {
    first_output_.assign(graph_.tasks.size() + 1, 0);
    for (const unrolled::EdgeEnd& end : graph_.outputs)
      if (end.kind == unrolled::EdgeEnd::Kind::memory)
        ++first_output_[end.task + 1], outputs_.push_back(&end);
    for (std::size_t i = 1; i < first_output_.size(); ++i) first_output_[i] += first_output_[i - 1];
    std::ranges::stable_sort(outputs_, {}, [](const unrolled::EdgeEnd* end) { return end->task; });
  }

  Shape shape_of(std::uint32_t collection, std::span<const std::int32_t> indices) const {
    const auto& matrix = jdf_.settings.matrix(collection);
    if (!matrix) return {tile_, tile_};
    const auto side = [](std::int64_t all, std::int64_t tile, std::int64_t at) {
      return std::clamp<std::int64_t>(all - at * tile, 1, tile);
    };
    return {side(matrix->rows, matrix->tile_rows, indices.empty() ? 0 : indices[0]),
            side(matrix->columns, matrix->tile_columns, indices.size() < 2 ? 0 : indices[1])};
  }

  DatumIndex add_datum(const Shape& shape, std::int16_t collection, std::int32_t row, std::int32_t column,
                       bool has_value) {
    shapes_.push_back(shape);
    out_.program.tiles = std::max({out_.program.tiles, row + 1, column + 1});
    return out_.program.datum(
        {.bytes = static_cast<Bytes>(shape.first * shape.second) * element_bytes(precision_),
         .collection = collection,
         .row = row,
         .column = column,
         .has_value = has_value});
  }
  DatumIndex datum_at(const unrolled::EdgeEnd& end) {
    const std::span<const std::int32_t> indices = graph_.indices(end);
    const std::uint32_t before = places_.size(), number = places_.add(end.of, indices);
    if (number == before)
      of_places_.push_back(add_datum(shape_of(end.of, indices), static_cast<std::int16_t>(end.of),
                                     indices.empty() ? 0 : indices[0], indices.size() < 2 ? 0 : indices[1],
                                     true));
    return of_places_[number];
  }
  /// The shape of the first element of the collection at which the task is placed.
  Shape fresh_shape(const jdf::TaskClass& of) const {
    if (of.placement.kind == jdf::Placement::Kind::at_datum && of.placement.datum.index != jdf::unbound_index)
      return shape_of(of.placement.datum.index, {});
    return {tile_, tile_};
  }
  std::optional<DatumIndex> datum_of(TaskId task, std::uint16_t flow) {
    const jdf::Origins::Origin& origin = origins_.of(task, flow);
    if (origin.place != nullptr) return datum_at(*origin.place);
    if (!origin.fresh) return std::nullopt;
    const auto [found, is_new] = of_ports_.try_emplace(origin.first, DatumIndex{});
    if (is_new)
      found->second = add_datum(fresh_shape(jdf_.file.classes[graph_.tasks[task].of]), fresh_,
                                static_cast<std::int32_t>(of_ports_.size() - 1), 0, false);
    return found->second;
  }

  void add(TaskId task) {
    const std::uint32_t number = graph_.tasks[task].of;
    const jdf::TaskClass& of = jdf_.file.classes[number];
    const jdf::InterpretedBody& body = jdf_.bodies[number];
    std::vector<TileArgument> tiles(of.flows.size());
    std::vector<ProgramUse> uses;
    for (std::uint16_t i = 0; i < of.flows.size(); ++i) {
      const jdf::FlowAccess access = of.flows[i].access;
      if (access == jdf::FlowAccess::control) continue;
      const std::optional<DatumIndex> datum = datum_of(task, i);
      if (!datum) continue;
      const Shape& shape = shapes_[static_cast<std::size_t>(*datum)];
      tiles[i].rows = static_cast<std::int32_t>(shape.first);
      tiles[i].columns = static_cast<std::int32_t>(shape.second);
      const bool first =
          origins_.of(task, i).fresh && origins_.of(task, i).first == origins_.ports().of(task, i);
      const AccessMode mode = access == jdf::FlowAccess::read             ? AccessMode::read
                              : first || access == jdf::FlowAccess::write ? AccessMode::write
                                                                          : AccessMode::read_write;
      add_use(uses, {*datum, mode});
    }
    if (!body.is_c && body.calls.empty() &&
        std::ranges::none_of(uses, [](const ProgramUse& use) { return use.mode == AccessMode::write; })) {
      ++out_.forwarding_tasks;
      return;
    }
    const std::span<const std::int32_t> parameters = graph_.parameters(task);
    const std::vector<std::int64_t> wide(parameters.begin(), parameters.end());
    const std::vector<jdf::TilePrecision> elements(of.flows.size(), precision_ == Precision::single
                                                                        ? jdf::TilePrecision::single
                                                                        : jdf::TilePrecision::double_);
    jdf::BodyRun run(jdf_, constants_, number, wide, tiles, elements);
    const jdf::BodyRun::OperationCount amount = amount_of(run, body, uses);
    out_.program.add({.kernel = out_.program.kernel(body.is_c ? kernel_of(body.name) : body.name),
                      .priority = graph_.tasks[task].priority,
                      .flops = static_cast<float>(amount.flops),
                      .side = static_cast<float>(amount.side)},
                     uses);
  }
  /// Work as the class states it, else from the calls of its body, else from the bytes of its data.
  jdf::BodyRun::OperationCount amount_of(jdf::BodyRun& run, const jdf::InterpretedBody& body,
                                         const std::vector<ProgramUse>& uses) {
    jdf::BodyRun::OperationCount amount;
    if (!body.is_c) amount = run.count_operations();
    const std::optional<double> flops = run.property_value(body.flops),
                                nanoseconds = run.property_value(body.nanoseconds);
    if (flops) amount.flops = *flops;
    if (!flops && nanoseconds) amount.flops = *nanoseconds * assumed_flops_per_nanosecond;
    double bytes = 0, least = 0;
    for (const ProgramUse& use : uses) {
      const auto& [rows, columns] = shapes_[static_cast<std::size_t>(use.datum)];
      bytes += static_cast<double>(out_.program.data[static_cast<std::size_t>(use.datum)].bytes);
      const auto side = static_cast<double>(std::min(rows, columns));
      least = least == 0 ? side : std::min(least, side);
    }
    if (body.is_c && !flops && !nanoseconds) {
      amount.flops = bytes * assumed_flops_per_byte;
      ++out_.assumed;
    }
    if (amount.side == 0) amount.side = least;
    return amount;
  }
  /// A class whose name ends in that of a kernel counts as this kernel: "potrf_zgemm".
  static std::string kernel_of(const std::string& name) {
    std::string lower;
    for (const char letter : name)
      lower += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    for (const char* kernel : {"gemm", "syrk", "trsm", "potrf", "getrf", "geqrt", "unmqr", "tsqrt", "tsmqr",
                               "ttqrt", "ttmqr", "gessm", "tstrf", "ssssm"})
      if (lower.ends_with(kernel)) return kernel;
    return lower.ends_with("herk") ? "syrk" : name;
  }
  static void add_use(std::vector<ProgramUse>& uses, const ProgramUse& use) {
    const auto same = std::ranges::find(uses, use.datum, &ProgramUse::datum);
    if (same == uses.end())
      uses.push_back(use);
    else if (same->mode != use.mode)
      same->mode = AccessMode::read_write;
  }

  /// Copies an output to its place, if it is a different datum.
  void leave(const unrolled::EdgeEnd& end) {
    const std::optional<DatumIndex> from = datum_of(end.task, end.flow);
    const DatumIndex into = datum_at(end);
    if (!from || *from == into) return;
    out_.program.task({.kernel = out_.program.kernel("copy"), .priority = graph_.tasks[end.task].priority},
                      {{*from, AccessMode::read}, {into, AccessMode::write}});
  }

  const jdf::RunnableJdf& jdf_;
  const jdf::Constants constants_;
  const unrolled::TaskGraph& graph_;
  const std::int64_t tile_;
  const Precision precision_;
  jdf::Origins origins_;
  unrolled::TupleIndex places_;
  std::vector<DatumIndex> of_places_;
  std::map<unrolled::Port, DatumIndex> of_ports_;
  std::vector<Shape> shapes_;  // by datum
  std::vector<const unrolled::EdgeEnd*> outputs_;
  std::vector<std::uint32_t> first_output_;
  std::int16_t fresh_ = 0;
  JdfProgram out_;
};

}  // namespace

JdfProgram program_of(const jdf::RunnableJdf& jdf, std::int64_t tile, Precision precision) {
  const jdf::UnrolledGraph unrolled = jdf::unroll(jdf.file, jdf.settings);
  const unrolled::CheckResult checked = unrolled::check(unrolled.graph);
  if (checked.findings.errors() != 0)
    throw InputError(fmt::format("{} is no graph that can run with these numbers:\n{}",
                                 jdf.file.source.name(), checked.findings.text()));
  JdfProgram out =
      Maker(jdf, unrolled.graph, tile, precision).make(sequence_of(unrolled.graph, checked.steps));
  out.program.title = fmt::format("{}, {}", jdf.file.source.name(), name_of(precision));
  out.notes = unrolled.notes;
  return out;
}

}  // namespace fairlead::simulate
