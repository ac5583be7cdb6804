// The report of a run as JSON. Keys are stable across versions, since scripts read them.
#include "report/run_report.hpp"

#include <fmt/format.h>

namespace fairlead::report {

namespace {

using memory::Cause;

Json directions(const std::array<TransferTotals, memory::cause_count>& traffic) {
  Json causes = Json::object();
  for (std::size_t cause = 0; cause < traffic.size(); ++cause)
    causes.add(std::string(name_of(static_cast<Cause>(cause))),
               Json::object({{"bytes", traffic[cause].bytes}, {"copies", traffic[cause].copies}}));
  return causes;
}

Json links(const RunReport& report) {
  Json all = Json::array();
  for (const LinkReport& link : report.links) {
    Json one = Json::object({{"name", link.name},
                             {"from_home", directions(link.from_home)},
                             {"to_home", directions(link.to_home)}});
    if (link.busy_seconds) one.add("busy_seconds", *link.busy_seconds);
    all.add(std::move(one));
  }
  return all;
}

Json nodes(const RunReport& report) {
  Json all = Json::array();
  for (const NodeReport& node : report.nodes) {
    Json one = Json::object({{"name", node.name}});
    if (node.capacity) one.add("capacity_bytes", *node.capacity);
    one.add("peak_bytes", node.peak);
    if (!node.lost.empty()) one.add("lost", node.lost);
    all.add(std::move(one));
  }
  return all;
}

Json worker_times(const RunReport& report) {
  Json all = Json::array();
  for (const WorkerReport& worker : report.worker_times) {
    Json one = Json::object({{"busy_seconds", worker.busy_seconds},
                             {"waiting_for_data_seconds", worker.waiting_for_data_seconds},
                             {"waiting_for_tasks_seconds", worker.waiting_for_tasks_seconds},
                             {"tasks", worker.tasks}});
    if (worker.on_core_seconds) one.add("cpu_seconds", *worker.on_core_seconds);
    if (worker.without_core_seconds) one.add("runnable_without_core_seconds", *worker.without_core_seconds);
    all.add(std::move(one));
  }
  return all;
}

Json phases(const RunReport& report) {
  Json all = Json::array();
  for (const PhaseReport& phase : report.phases)
    all.add(Json::object({{"name", phase.name}, {"seconds", phase.seconds}, {"counted", phase.counts}}));
  return all;
}

Json limited_by(const LimitingFactor& it) {
  Json all = Json::object({{"factor", std::string(it.name())},
                           {"description", it.display_name()},
                           {"reason", it.reason()},
                           {"file_access_part", it.files},
                           {"busy_part", it.busy},
                           {"waiting_for_data_part", it.waiting_for_data},
                           {"without_tasks_part", it.without_tasks}});
  if (it.runnable_on_core) {
    all.add("runnable_on_core_part", *it.runnable_on_core);
    all.add("runnable_without_core_part", it.runnable_without_core);
  }
  if (!it.link.empty()) {
    all.add("busiest_link", it.link);
    all.add("busiest_link_part", it.link_busy);
  }
  return all;
}

Json kernel_calls(const RunReport& report) {
  Json all = Json::object();
  for (const KernelReport& kernel : report.kernel_calls)
    all.add(kernel.name, Json::object({{"calls", kernel.calls}, {"gflop", kernel.gflop}}));
  return all;
}

/// The known rates.
Json tile_gflops(const TileRates& rates) {
  Json all = Json::object();
  const auto add = [&all](const char* key, double rate) {
    if (rate > 0) all.add(key, rate);
  };
  add("gemm", rates.gemm);
  add("syrk", rates.syrk);
  add("trsm", rates.trsm);
  add("potrf", rates.potrf);
  add("getrf", rates.getrf);
  return all;
}

}  // namespace

Json json(const RunReport& report) {
  Json all = Json::object();
  const auto add_known = [&all](const char* key, const auto& value) {
    if (value) all.add(key, *value);
  };
  const auto add_text = [&all](const char* key, const std::string& value) {
    if (!value.empty()) all.add(key, value);
  };
  add_text("operation", report.operation);
  add_text("method", report.method);
  add_text("method_reason", report.method_reason);
  add_text("version", report.version);
  add_text("date", report.date);
  add_text("machine", report.machine);

  all.add("n", report.n);
  if (report.m != 0) all.add("m", report.m);
  all.add("element", report.element);
  all.add("tile", report.tile);
  all.add("tiles", report.tiles);

  all.add("workers", report.workers);
  if (!report.ranks.empty()) {
    Json ranks = Json::array();
    for (const RankReport& rank : report.ranks) {
      Json one = Json::object();
      one.add("busy_seconds", rank.busy_seconds);
      one.add("tasks", rank.tasks);
      one.add("messages", rank.messages);
      one.add("payloads", rank.payloads);
      one.add("payload_bytes", rank.payload_bytes);
      one.add("payloads_read", rank.payloads_read);
      one.add("payload_bytes_read", rank.payload_bytes_read);
      one.add("payloads_into_devices", rank.payloads_into_devices);
      one.add("payload_bytes_into_devices", rank.payload_bytes_into_devices);
      one.add("peak_memory_bytes", rank.peak_memory_bytes);
      one.add("bytes_read", rank.bytes_read);
      one.add("bytes_written", rank.bytes_written);
      one.add("workers", rank.workers);
      one.add("counted_seconds", rank.counted_seconds);
      if (rank.waited_seconds) one.add("waited_seconds", *rank.waited_seconds);
      Json from = Json::array();
      for (const FromRankReport& other : rank.from) {
        Json it = Json::object();
        for (const auto& [cause, traffic] :
             {std::pair("graphs", other.graphs), std::pair("flows", other.flows),
              std::pair("messages", other.messages)}) {
          it.add(std::string(cause) + "_bytes", traffic.bytes);
          it.add(std::string(cause) + "_values", traffic.copies);
        }
        it.add("in_flight_seconds", other.in_flight_seconds);
        if (other.waited_seconds) it.add("waited_seconds", *other.waited_seconds);
        from.add(std::move(it));
      }
      one.add("from", std::move(from));
      ranks.add(std::move(one));
    }
    all.add("ranks", std::move(ranks));
    all.add("grid", report.grid);
    all.add("network", report.network);
    if (!report.no_direct_read_reason.empty()) all.add("no_direct_read_reason", report.no_direct_read_reason);
    add_text("receive_memory", report.receive_memory);
  }
  all.add("scheduler", report.scheduler);
  if (!report.active_policy.empty()) all.add("active_scheduler", report.active_policy);
  add_text("front", report.front);
  add_text("devices", devices_text(report));
  all.add("kernels", report.kernels);
  all.add("memory_limit_bytes", report.memory_limit_bytes);
  add_known("spill_directory", report.spill_directory);
  add_known("disk_cap_bytes_per_second", report.disk_cap_bytes_per_second);

  all.add("seconds", report.seconds);
  all.add("gflops", report.gflops);
  all.add("phases", phases(report));
  add_known("backward_error", report.backward_error);
  if (report.calls_in_tf32) all.add("calls_in_tf32", *report.calls_in_tf32);
  if (report.refinement_steps) all.add("refinement_steps", *report.refinement_steps);
  add_known("backward_error_limit", report.backward_error_limit);
  if (report.asymmetry) all.add("asymmetry", *report.asymmetry);
  if (report.rounded_in_file) all.add("rounded_in_file", *report.rounded_in_file);
  add_known("growth", report.growth);
  if (const auto& residual = report.residual) {
    all.add("relative_residual", residual->relative);
    all.add("residual_excess_bound", residual->excess);
  }
  if (const auto& rank = report.numerical_rank) {
    all.add("numerical_rank", rank->rank);
    all.add("rank_tolerance", rank->tolerance);
    if (rank->values) {
      all.add("largest_singular_value", rank->values->largest);
      all.add("smallest_singular_value", rank->values->smallest_kept);
      all.add("dropped_singular_value", rank->values->largest_dropped);
    }
  }
  if (report.condition) {
    all.add("condition_estimate", report.condition->number);
    all.add("forward_error_bound", report.condition->forward_error);
    all.add("trusted_digits", report.condition->digits);
    all.add("condition_seconds", report.condition->seconds);
    all.add("condition_sweeps", report.condition->sweeps);
  }
  all.add("tasks", report.tasks);
  all.add("evictions", report.evictions);
  if (report.input_bytes != 0) {
    all.add("input_bytes", report.input_bytes);
    all.add("input_bytes_read", report.input_bytes_read);
  }
  if (!report.kernel_calls.empty()) all.add("kernel_calls", kernel_calls(report));

  add_known("gemm_peak_gflops", report.gemm_peak_gflops);
  if (report.gemm_peak_gflops) all.add("gemm_peak_percent", 100 * report.gflops / *report.gemm_peak_gflops);
  add_known("ceiling_gflops", report.ceiling_gflops);
  if (report.ceiling_gflops) all.add("ceiling_percent", 100 * report.gflops / *report.ceiling_gflops);
  if (report.tile_rates) all.add("tile_gflops", tile_gflops(*report.tile_rates));
  if (report.ceiling) {
    all.add("compute_bound_seconds", report.ceiling->compute_seconds);
    all.add("critical_path_seconds", report.ceiling->critical_path_seconds);
  }

  all.add("bytes_read", report.bytes_read);
  all.add("bytes_written", report.bytes_written);
  add_known("kernel_bytes_read", report.kernel_bytes_read);
  add_known("kernel_bytes_written", report.kernel_bytes_written);
  if (const IoBounds* const bounds = report.io_bounds()) {
    all.add("lower_bound_bytes", bounds->lower_bound());
    all.add("compulsory_bytes", bounds->inputs);
    all.add("floor_read_bytes", bounds->floor_read());
    all.add("floor_bytes", bounds->floor());
  }
  if (report.generated.copies != 0) {
    all.add("generated_bytes", report.generated.bytes);
    all.add("generated_tiles", report.generated.copies);
  }
  all.add("links", links(report));

  all.add("peak_memory_bytes", report.peak_memory_bytes);
  add_known("peak_resident_bytes", report.peak_resident_bytes);
  add_known("outside_limit_bytes", report.unaccounted_bytes());
  if (report.resident_parts) {
    all.add("mapped_file_bytes", report.resident_parts->files);
    all.add("heap_bytes", report.resident_parts->heap);
  }
  all.add("nodes", nodes(report));
  all.add("counted_seconds", report.counted_seconds);
  all.add("worker_times", worker_times(report));
  if (report.limiting) all.add("limited_by", limited_by(*report.limiting));
  const auto add_digest = [&all](const char* key, const std::optional<std::uint64_t>& value) {
    if (value) all.add(key, fmt::format("{:016x}", *value));
  };
  add_digest("factor_digest", report.factor_digest);
  add_digest("command_digest", report.command_digest);
  return all;
}

}  // namespace fairlead::report
