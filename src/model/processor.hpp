// The key of a processor in the duration model: tasks take equally long on all processors of one kind and name.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <fairlead/worker_kind.hpp>
#include "base/shared_file.hpp"

namespace fairlead::model {

class Processor {
 public:
  /// `name`: as in WorkerSpec::processor.
  explicit Processor(WorkerKind kind, std::string name = {})
      : kind_(kind),
        name_(std::move(name)),
        key_((text_hash(name_) << 8) + static_cast<std::uint64_t>(kind)) {}

  WorkerKind kind() const noexcept { return kind_; }
  const std::string& name() const noexcept { return name_; }
  /// A hash of kind and name.
  std::uint64_t key() const noexcept { return key_; }

 private:
  WorkerKind kind_;
  std::string name_;
  std::uint64_t key_;
};

}  // namespace fairlead::model
