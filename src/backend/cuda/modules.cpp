// Loads modules on demand.
#include "backend/cuda/modules.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace fairlead {

CudaKernel CudaModule::operator[](std::string_view name) const {
  const auto& names = content_->names;
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    throw UsageError(fmt::format("CudaModule: \"{}\" is not one of its kernels", name));
  return {*this, static_cast<std::size_t>(found - names.begin())};
}

namespace backend::cu {

Function Modules::function(const CudaKernel& kernel, const CudaDriver& driver,
                           const std::function<void(Status, const char* what)>& check) {
  const CudaModule::Content& content = kernel.module.content();
  const std::lock_guard lock(mutex_);
  const auto known =
      std::ranges::find_if(loaded_, [&](const Loaded& one) { return &one.from.content() == &content; });
  if (known != loaded_.end()) return known->functions[kernel.number];
  Loaded one{kernel.module, nullptr, std::vector<Function>(content.names.size())};
  check(driver.cuModuleLoadData(&one.module, content.image.data()), "cuModuleLoadData");
  for (std::size_t i = 0; i < content.names.size(); ++i) {
    const Status status = driver.cuModuleGetFunction(&one.functions[i], one.module, content.names[i].c_str());
    if (status == success) continue;
    if (!is_fatal(status)) driver.cuModuleUnload(one.module);
    check(status, "cuModuleGetFunction");
  }
  return loaded_.emplace_back(std::move(one)).functions[kernel.number];
}

std::optional<Module> Modules::take_last() noexcept {
  const std::lock_guard lock(mutex_);
  if (loaded_.empty()) return std::nullopt;
  const Module module = loaded_.back().module;
  loaded_.pop_back();
  return module;
}

}  // namespace backend::cu
}  // namespace fairlead
