// Injected failures of a child's file operations: the test's side.
#pragma once
#include <string>
#include <vector>

#include "shim/plan.hpp"

namespace fairlead::shim {

/// The plan of a child, in shared memory. Initially its calls are only counted.
class Shim {
 public:
  Shim();
  Shim(const Shim&) = delete;
  Shim& operator=(const Shim&) = delete;
  ~Shim();
  /// Resets to counting only. `no_unnamed_files` stays.
  void reset();
  ShimPlan& plan() const noexcept { return *plan_; }
  std::uint64_t calls(FileOperation operation) const;
  /// The environment that lets a child load it.
  std::vector<std::string> environment() const;

 private:
  std::string path_;
  ShimPlan* plan_;
};

}  // namespace fairlead::shim
