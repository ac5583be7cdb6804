// A matrix on another machine, of which only the layout is known here. It cannot be read.
#pragma once
#include <fairlead/error.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "data/matrix/stored_matrix.hpp"

namespace fairlead::data {

class DescribedMatrix final : public StoredMatrix {
 public:
  DescribedMatrix(std::string name, ArrayLayout layout) : StoredMatrix(std::move(name), std::move(layout)) {}

  std::shared_ptr<const StoredMatrix> transposed() const override {
    return std::make_shared<const DescribedMatrix>(name(), transposed_layout());
  }
  std::shared_ptr<const StoredMatrix> keeping(Bytes /*bytes*/) const override {
    return std::make_shared<const DescribedMatrix>(*this);
  }

 protected:
  void read(const ElementBlock&, std::span<std::byte>, ElementSink&) const override {
    throw UsageError(name() + ": is on another machine and cannot be read here");
  }
};

}  // namespace fairlead::data
