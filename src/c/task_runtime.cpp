// Runtimes of the C interface: see task_runtime.hpp.
#include "c/task_runtime.hpp"

#include <fairlead/error.hpp>
#include <fairlead/factorization.hpp>

#include <utility>

#include "base/json.hpp"
#include "c/options.hpp"
#include "c/status.hpp"
#include "c/versioned_struct.hpp"
#include "front/runtime/runtime_access.hpp"
#include "solver/load_kernels.hpp"

namespace fairlead::c {

namespace {

constexpr fairlead_runtime_options default_runtime_options = {
    .struct_bytes = sizeof(fairlead_runtime_options),
    .memory_bytes = 0,
    .workers = 0,
    .settings = nullptr,
    .setting_count = 0,
    .own_thread = 0,
    .cancelled = nullptr,
    .cancelled_context = nullptr};

// A body may call any function of the interface, through any object: only the thread knows that it runs one.
thread_local int bodies_of_thread = 0;

void refuse_in_body() {
  if (bodies_of_thread != 0)
    throw UsageError("the body of a task uses its runtime, which would wait for the body itself");
}

}  // namespace

BodyMark::BodyMark() noexcept { ++bodies_of_thread; }
BodyMark::~BodyMark() { --bodies_of_thread; }

std::shared_ptr<RuntimeHost> RuntimeHost::make(const fairlead_runtime_options* options) {
  return {std::make_unique<RuntimeHost>(options).release(), [](RuntimeHost* host) {
            if (host->process_.same_process()) delete host;
          }};
}

RuntimeHost::RuntimeHost(const fairlead_runtime_options* options) {
  const fairlead_runtime_options given =
      options == nullptr ? default_runtime_options
                         : read_versioned(*options, default_runtime_options, "options of the runtime");
  config_ = config_with(given.settings, given.setting_count);
  if (given.memory_bytes != 0) config_.set("memory", given.memory_bytes);
  if (given.workers != 0) config_.set("workers", given.workers);
  if (given.cancelled != nullptr)
    is_cancelled_ = [cancelled = given.cancelled, context = given.cancelled_context] {
      return cancelled(context) != 0;
    };
  if (given.own_thread == 0) {
    if (is_cancelled_)
      throw UsageError("`cancelled` is for a runtime with a thread of its own: set own_thread");
    runtime_.emplace(config_);
    return;
  }
  refuse_in_body();
  thread_.emplace();
  thread_->run([this](const std::stop_token&) { runtime_.emplace(config_); }, {});
}

void RuntimeHost::run(const Work& work) {
  refuse_in_body();
  const auto checked = [&](const std::stop_token& stop) {
    runtime();
    work(stop);
  };
  thread_ ? thread_->run(checked, is_cancelled_) : checked({});
}

bool RuntimeHost::run_last(const Work& work) noexcept {
  if (bodies_of_thread != 0 || !process_.same_process()) return false;
  try {
    thread_ ? thread_->run(work, {}) : work({});
  } catch (...) {
    return false;  // of the system: the thread cannot be reached
  }
  return true;
}

void RuntimeHost::end() noexcept {
  host_accesses_.reset();
  while (!flows_.empty()) end_flow(*flows_.begin());
  while (!tiles_.empty()) end_tiles(*tiles_.begin());
  runtime_.reset();
  kernels_.reset();
}

bool RuntimeHost::close() noexcept {
  return run_last([this](const std::stop_token&) { end(); });
}

Runtime& RuntimeHost::runtime() {
  if (!runtime_) throw UsageError("the runtime of this object was freed");
  return *runtime_;
}

const linalg::Kernels& RuntimeHost::kernels() {
  if (!kernels_) kernels_ = solver::load_kernels_unchanged(config_);
  return *kernels_;
}

front::FlowSource& RuntimeHost::host_accesses() {
  if (!host_accesses_) host_accesses_ = std::make_shared<front::FlowSource>(front::core_of(runtime()));
  return *host_accesses_;
}

std::weak_ptr<front::FlowSource> RuntimeHost::open_flow() {
  return *flows_.insert(std::make_shared<front::FlowSource>(front::core_of(runtime()))).first;
}

std::weak_ptr<fairlead::detail::TileCollection> RuntimeHost::own(
    std::shared_ptr<fairlead::detail::TileCollection> tiles) {
  return *tiles_.insert(std::move(tiles)).first;
}

void RuntimeHost::end_flow(std::shared_ptr<front::FlowSource> flow) noexcept {
  flows_.erase(flow);
  if (flow && !flow->finish()) front::core_of(*runtime_).keep(std::move(flow));
}

void RuntimeHost::end_tiles(std::shared_ptr<fairlead::detail::TileCollection> tiles) noexcept {
  tiles_.erase(tiles);
}

}  // namespace fairlead::c

using namespace fairlead;

namespace {

Bytes bytes_moved(const Statistics& counted) {
  Bytes bytes = 0;
  for (const Statistics::Link& link : counted.links) bytes += link.bytes_from_home() + link.bytes_to_home();
  return bytes;
}

fairlead_statistics statistics_of(Runtime& runtime) {
  const Statistics counted = runtime.statistics();
  const Runtime::Traffic traffic = runtime.disk_traffic();
  fairlead_statistics out{.struct_bytes = sizeof(fairlead_statistics),
                          .workers = runtime.workers(),
                          .devices = static_cast<std::uint64_t>(runtime.devices()),
                          .capacity_bytes = runtime.capacity_bytes(),
                          .peak_bytes = 0,
                          .tasks = counted.tasks,
                          .tasks_cancelled = counted.tasks_cancelled,
                          .bytes_read = traffic.read,
                          .bytes_written = traffic.written,
                          .bytes_moved = bytes_moved(counted),
                          .evictions = 0};
  for (const Statistics::Node& node : counted.nodes) {
    out.evictions += node.evictions;
    if (node.name == "RAM") out.peak_bytes = node.peak_bytes;
  }
  return out;
}

/// The causes of transfers in one direction that have occurred.
Json causes_of(const std::array<Statistics::Count, 4>& counts) {
  Json all = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i].copies != 0)
      all.add(Statistics::cause_names[i],
              Json::object({{"bytes", counts[i].bytes}, {"copies", counts[i].copies}}));
  return all;
}

std::string report_of(Runtime& runtime) {
  const Statistics counted = runtime.statistics();
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  Json links = Json::array(), nodes = Json::array(), workers = Json::array();
  for (const Statistics::Link& link : counted.links)
    links.add(Json::object({{"name", link.name},
                            {"from_home", causes_of(link.from_home)},
                            {"to_home", causes_of(link.to_home)},
                            {"busy_seconds", seconds(link.busy)}}));
  for (const Statistics::Node& node : counted.nodes)
    nodes.add(Json::object({{"name", node.name},
                            {"capacity_bytes", node.capacity},
                            {"peak_bytes", node.peak_bytes},
                            {"evictions", node.evictions}}));
  for (const Statistics::Worker& worker : counted.workers)
    workers.add(Json::object({{"node", worker.node},
                              {"tasks", worker.tasks},
                              {"busy_seconds", seconds(worker.busy)},
                              {"waiting_for_data_seconds", seconds(worker.waiting_for_data)},
                              {"waiting_for_tasks_seconds", seconds(worker.waiting_for_tasks)}}));
  return Json::object({{"scheduler", counted.scheduler},
                       {"tasks", counted.tasks},
                       {"tasks_cancelled", counted.tasks_cancelled},
                       {"links", std::move(links)},
                       {"nodes", std::move(nodes)},
                       {"workers", std::move(workers)}})
      .text();
}

}  // namespace

fairlead_status fairlead_runtime_options_init(fairlead_runtime_options* options, size_t options_bytes) {
  return c::status_of([&] {
    c::write_versioned(c::default_runtime_options, options, options_bytes, "options of the runtime");
  });
}

fairlead_status fairlead_runtime_create(const fairlead_runtime_options* options, fairlead_runtime** runtime) {
  return c::status_of([&] {
    c::required(runtime, "runtime");
    *runtime = new fairlead_runtime{c::RuntimeHost::make(options)};
  });
}

fairlead_status fairlead_runtime_statistics(fairlead_runtime* runtime, fairlead_statistics* statistics,
                                            size_t statistics_bytes) {
  return c::status_of([&] {
    c::RuntimeHost& host = *c::required(runtime, "runtime")->host;
    fairlead_statistics counted{};
    host.run([&](const std::stop_token&) { counted = statistics_of(host.runtime()); });
    c::write_versioned(counted, statistics, statistics_bytes, "statistics");
  });
}

fairlead_status fairlead_runtime_report(fairlead_runtime* runtime, const char** json) {
  return c::status_of([&] {
    c::RuntimeHost& host = *c::required(runtime, "runtime")->host;
    c::required(json, "json");
    host.run([&](const std::stop_token&) { host.report_text() = report_of(host.runtime()); });
    *json = host.report_text().c_str();
  });
}

fairlead_status fairlead_runtime_live(fairlead_runtime* runtime, uint16_t port, const char** address) {
  return c::status_of([&] {
    c::RuntimeHost& host = *c::required(runtime, "runtime")->host;
    c::required(address, "address");
    host.run([&](const std::stop_token&) { host.live_address() = host.runtime().live(port); });
    *address = host.live_address().c_str();
  });
}

fairlead_status fairlead_runtime_remove_checkpoint(fairlead_runtime* runtime) {
  return c::status_of([&] {
    c::RuntimeHost& host = *c::required(runtime, "runtime")->host;
    host.run([&](const std::stop_token&) { host.runtime().remove_checkpoint(); });
  });
}

void fairlead_runtime_free(fairlead_runtime* runtime) {
  if (runtime == nullptr) return;
  if (runtime->host->close()) delete runtime;  // otherwise it is left to the end of the process
}
