// Checks the footprint, workers and device of a task at submission.
#include "front/flow/submission_fit.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/bytes_text.hpp"
#include "base/pages.hpp"
#include "base/small_array.hpp"
#include "config/value.hpp"
#include "engine/datum_views.hpp"

namespace fairlead::front {

namespace {

constexpr std::size_t usual_uses = 32;

/// "cpu and cuda": the names of a bit set of WorkerKind.
std::string kinds_in(std::uint32_t bits) {
  std::vector<std::string_view> names;
  for (std::size_t kind = 0; kind < worker_kind_count; ++kind)
    if (((bits >> kind) & 1u) != 0) names.push_back(worker_kind_names[kind]);
  return config::join(names, " and ");
}

}  // namespace

std::string SubmissionFit::subject(const Submission& submission) {
  return submission.codelet->kinds == 0 ? "an acquire" : "the task " + submission.codelet->name;
}

std::string SubmissionFit::text_of(const Submission& submission) {
  std::string data;
  for (const auto& use : submission.uses) data += (data.empty() ? "" : ", ") + use.datum->text();
  return subject(submission) + "(" + data + ")";
}

std::uint32_t SubmissionFit::nodes_excluded(const Submission& submission, Bytes footprint) const {
  const bool any_worker_can_run = (submission.codelet->kinds & core_.machine().kinds_of_workers) != 0;
  const bool fits_anywhere = any_worker_can_run && footprint <= core_.machine().smallest_cache;
  const bool by_one_kind = core_.fixed_order() && core_.machine().devices != 0;
  return fits_anywhere && submission.node == no_id<NodeId> && !by_one_kind ? 0 : nodes_excluded(submission);
}

std::uint32_t SubmissionFit::nodes_excluded(const Submission& submission) const {
  const Topology& topology = core_.topology();
  SmallArray<const engine::RegisteredDatum*, usual_uses> uses(submission.uses.size());
  std::ranges::transform(submission.uses, uses.data(), &Submission::Use::datum);
  std::sort(uses.all().begin(), uses.all().end());
  const std::span data(uses.all().begin(), std::unique(uses.all().begin(), uses.all().end()));
  const auto footprint_on = [&](const NodeSpec& node) {
    Bytes bytes = whole_pages_for(submission.scratch_bytes);
    for (const engine::RegisteredDatum* const datum : data)
      if (std::ranges::find(node.directly_accessible_homes, datum->home) ==
          node.directly_accessible_homes.end())
        bytes += whole_pages_for(datum->bytes);
    return bytes;
  };
  std::uint32_t excluded = 0;
  bool fits = false;
  const NodeSpec* best = nullptr;  // the node with the smallest shortfall
  Bytes needed = 0, shortfall = 0;
  for (const WorkerSpec& worker : topology.workers) {
    const NodeSpec& node = topology.nodes[index(worker.node)];
    const Bytes bytes = footprint_on(node), capacity = whole_pages_in(node.capacity);
    const bool wanted = submission.node == no_id<NodeId> || submission.node == worker.node;
    if (bytes > capacity || !wanted) excluded |= 1u << index(worker.node);
    if (!wanted) continue;
    if (((submission.codelet->kinds >> static_cast<unsigned>(worker.kind)) & 1u) == 0) continue;
    fits |= bytes <= capacity;
    if (bytes <= capacity || (best != nullptr && bytes - capacity >= shortfall)) continue;
    best = &node;
    needed = bytes;
    shortfall = bytes - capacity;
  }
  if (fits) return core_.fixed_order() ? excluded | nodes_of_other_kinds(submission, excluded) : excluded;
  const Bytes scratch = whole_pages_for(submission.scratch_bytes);
  if (best == nullptr) {
    const bool anywhere = submission.node == no_id<NodeId>;
    std::uint32_t present = 0;
    for (const WorkerSpec& worker : topology.workers)
      if (anywhere || submission.node == worker.node) present |= 1u << static_cast<unsigned>(worker.kind);
    throw UsageError(fmt::format(
        "{} has no implementation for any worker of {}\n  submitted at {}:{}\n"
        "  It has bodies for {}, the workers there are {}: give it a body for these, or {}.",
        text_of(submission),
        anywhere ? "this machine" : "memory node \"" + topology.nodes[index(submission.node)].name + "\"",
        submission.file, submission.line, kinds_in(submission.codelet->kinds), kinds_in(present),
        anywhere ? "name a device in the setting devices" : "let it run elsewhere"));
  }
  throw FootprintError(
      fmt::format("{} needs {} at once{} in memory node \"{}\", which can hold {}\n  submitted at {}:{}\n"
                  "  Use smaller tiles{}, or {}.",
                  text_of(submission), mebibytes_needed(needed),
                  scratch == 0 ? "" : fmt::format(", {} of it scratch,", mebibytes(scratch)), best->name,
                  mebibytes_there(best->capacity), submission.file, submission.line,
                  scratch == 0 ? "" : " or less scratch",
                  core_.memory_advice(static_cast<NodeId>(best - topology.nodes.data()), needed)));
}

std::uint32_t SubmissionFit::nodes_of_other_kinds(const Submission& submission,
                                                  std::uint32_t excluded) const {
  // The preferred kinds: a device body is usually faster. Emulated devices compute like cores, so they are
  // not listed.
  constexpr std::array order{WorkerKind::cuda, WorkerKind::opencl};
  const std::vector<WorkerSpec>& workers = core_.topology().workers;
  for (const WorkerKind kind : order) {
    std::uint32_t of_kind = 0;
    if (((submission.codelet->kinds >> static_cast<unsigned>(kind)) & 1u) != 0)
      for (const WorkerSpec& worker : workers)
        if (worker.kind == kind) of_kind |= 1u << index(worker.node);
    if ((of_kind & ~excluded) == 0) continue;
    std::uint32_t others = 0;
    for (const WorkerSpec& worker : workers)
      if (worker.kind != kind) others |= 1u << index(worker.node);
    return others;
  }
  return 0;
}

std::uint16_t SubmissionFit::workers_wanted(const Submission& submission, std::uint32_t& excluded) const {
  const unsigned wanted = submission.workers.count();
  if (submission.workers.or_fewer()) return static_cast<std::uint16_t>(wanted);
  const Topology& topology = core_.topology();
  std::vector<unsigned> cores(topology.nodes.size());
  for (const WorkerSpec& worker : topology.workers)
    cores[index(worker.node)] += worker.kind == WorkerKind::cpu;
  const auto may_run_on = [&](const WorkerSpec& worker) {
    return ((submission.codelet->kinds >> static_cast<unsigned>(worker.kind)) & 1u) != 0 &&
           ((excluded >> index(worker.node)) & 1u) == 0;
  };
  unsigned most = 0;
  for (const WorkerSpec& worker : topology.workers)
    if (may_run_on(worker)) most = std::max(most, cores[index(worker.node)]);
  for (std::size_t i = 0; i < cores.size(); ++i)
    if (cores[i] != 0 && cores[i] < wanted) excluded |= 1u << i;
  if (std::ranges::none_of(topology.workers, may_run_on))
    throw UsageError(
        fmt::format("{} needs {} workers at once, and there {} {} where it can run\n  submitted at {}:{}\n  "
                    "Use at_most({}) or all_workers if fewer are enough, or set workers = {}.",
                    text_of(submission), wanted, most == 1 ? "is" : "are", most, submission.file,
                    submission.line, wanted, wanted));
  return static_cast<std::uint16_t>(wanted);
}

void SubmissionFit::check_device(const Submission& submission) const {
  if (submission.device >= 0 && submission.device < core_.machine().devices) return;
  throw UsageError(fmt::format("{} must run on device {}, but there {}\n  submitted at {}:{}",
                               text_of(submission), submission.device, core_.machine().devices_text(),
                               submission.file, submission.line));
}

void SubmissionFit::check_views(const Submission& submission) {
  for (const Submission::Use& use : submission.uses)
    for (const Submission::Use& other : submission.uses) {
      if (&other == &use) break;
      if (use.datum->view == nullptr || other.datum->view == nullptr ||
          use.datum->view == other.datum->view || use.datum->view->of != other.datum->view->of)
        continue;
      throw UsageError(fmt::format(
          "{} uses {} and {}, which overlap and are not parts of one partition\n  submitted at {}:{}\n  Use "
          "the whole, or parts of one partition, in one task.",
          text_of(submission), other.datum->text(), use.datum->text(), submission.file, submission.line));
    }
}

}  // namespace fairlead::front
