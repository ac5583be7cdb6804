// A runtime of the C interface, with the thread that owns it, and the flows that must end before it.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <fairlead_tasks.h>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_set>

#include "base/process_mark.hpp"
#include "c/call_thread.hpp"
#include "front/flow/flow_source.hpp"

namespace fairlead::c {

/// Marks, for its lifetime, that this thread runs a body, which must not wait for the runtime's thread.
class BodyMark {
 public:
  BodyMark() noexcept;
  ~BodyMark();
  BodyMark(const BodyMark&) = delete;
  BodyMark& operator=(const BodyMark&) = delete;
};

/// Shared by the objects of a runtime. After close() they can only be destroyed.
class RuntimeHost {
 public:
  using Work = std::function<void(std::stop_token)>;

  /// In a forked child, where the thread does not exist, the object is never destroyed.
  static std::shared_ptr<RuntimeHost> make(const fairlead_runtime_options* options);
  explicit RuntimeHost(const fairlead_runtime_options* options);

  /// Runs work(stop) on the thread that owns the runtime. Throws UsageError after close(), in a body, in a forked child, and
  /// what `work` throws.
  void run(const Work& work);
  /// The same for destructors, also after close(): nothing stops the work, and it must not throw. Returns false, without a
  /// call, in a forked child or in a body.
  bool run_last(const Work& work) noexcept;
  /// Waits for all tasks and ends the runtime. Returns false where run_last() does.
  bool close() noexcept;

  // For the work:
  Runtime& runtime();
  /// Loads the kernels at the first call.
  const linalg::Kernels& kernels();
  /// The flow in whose order the program reads and writes data.
  front::FlowSource& host_accesses();
  /// After a cancellation: the next access needs a new flow.
  void renew_host_accesses() noexcept { host_accesses_.reset(); }
  // Flows and matrices belong to the host, since they must end before the runtime.
  std::weak_ptr<front::FlowSource> open_flow();
  std::weak_ptr<fairlead::detail::TileCollection> own(
      std::shared_ptr<fairlead::detail::TileCollection> tiles);
  /// Waits for the tasks of the flow, or for those that use the tiles. Null is allowed.
  void end_flow(std::shared_ptr<front::FlowSource> flow) noexcept;
  void end_tiles(std::shared_ptr<fairlead::detail::TileCollection> tiles) noexcept;
  bool closed() const noexcept { return !runtime_; }
  std::string& report_text() noexcept { return report_text_; }
  std::string& live_address() noexcept { return live_address_; }

 private:
  void end() noexcept;

  ProcessMark process_;
  Config config_;
  CancelQuestion is_cancelled_;
  std::optional<CallThread> thread_;
  std::optional<Runtime> runtime_;
  std::optional<linalg::Kernels> kernels_;
  std::unordered_set<std::shared_ptr<fairlead::detail::TileCollection>> tiles_;
  std::unordered_set<std::shared_ptr<front::FlowSource>> flows_;
  std::shared_ptr<front::FlowSource> host_accesses_;
  std::string report_text_, live_address_;
};

}  // namespace fairlead::c

struct fairlead_runtime {
  std::shared_ptr<fairlead::c::RuntimeHost> host;
};
