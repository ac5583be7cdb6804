// File operations of a child that go wrong as a test plans it: the test's side.
#pragma once
#include <string>
#include <vector>

#include "shim/plan.hpp"

namespace fairlead::shim {

/// The plan of a child, in memory that it shares. At first its calls are counted and nothing is done to them.
class Shim {
 public:
  Shim();
  Shim(const Shim&) = delete;
  Shim& operator=(const Shim&) = delete;
  ~Shim();
  /// Begins again, counting only. `no_unnamed_files` stays.
  void reset();
  ShimPlan& plan() const noexcept { return *plan_; }
  std::uint64_t calls(FileOperation operation) const;
  /// What makes a child load it.
  std::vector<std::string> environment() const;

 private:
  std::string path_;
  ShimPlan* plan_;
};

}  // namespace fairlead::shim
