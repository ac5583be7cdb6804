// The plan is a file that the child maps as well.
#include "shim/shim.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>

namespace fairlead::shim {

Shim::Shim() : path_(std::filesystem::temp_directory_path() / "fairlead-shim-plan-XXXXXX") {
  const int descriptor = mkstemp(path_.data());
  if (descriptor < 0 || ftruncate(descriptor, sizeof(ShimPlan)) != 0)
    throw std::runtime_error("no temporary file: " + path_);
  void* const mapped = mmap(nullptr, sizeof(ShimPlan), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (mapped == MAP_FAILED) throw std::runtime_error("the plan cannot be mapped");
  plan_ = new (mapped) ShimPlan{};
}
Shim::~Shim() {
  munmap(plan_, sizeof(ShimPlan));
  unlink(path_.c_str());
}
void Shim::reset() {
  const bool no_unnamed_files = plan_->no_unnamed_files;
  new (plan_) ShimPlan{.no_unnamed_files = no_unnamed_files};
}
std::uint64_t Shim::calls(FileOperation operation) const {
  return plan_->calls[static_cast<std::size_t>(operation)];
}
std::vector<std::string> Shim::environment() const {
  // Sanitizers must be loaded first and check this.
  return {"LD_PRELOAD=" PRELOADED_SHIM, std::string(shim_variable) + "=" + path_,
          "ASAN_OPTIONS=verify_asan_link_order=0"};
}

}  // namespace fairlead::shim
