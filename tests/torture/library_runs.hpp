// Campaigns that run in this process.
#pragma once
#include <filesystem>
#include <memory>

#include "torture/campaign.hpp"
#include "torture/machine.hpp"

namespace fairlead::torture {

/// A campaign's folder, removed at its end.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Dense systems and products.
std::unique_ptr<Campaign> library_runs(Devices devices);
/// Programs of many small tasks on values, vectors and matrices in place, with integers.
std::unique_ptr<Campaign> program_in_place(Devices devices);

}  // namespace fairlead::torture
