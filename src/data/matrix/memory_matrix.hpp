// A matrix in the caller's memory, which is read in place.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "data/matrix/stored_matrix.hpp"

namespace fairlead::data {

class MemoryMatrix final : public StoredMatrix {
 public:
  /// `stride`: elements between the starts of lines, that is rows in C order and columns in Fortran order. The memory
  /// must stay valid; `owner`, if any, keeps it so. Reads return its contents at that time.
  MemoryMatrix(std::string name, ArrayLayout layout, const std::byte* elements, std::uint64_t stride,
               std::shared_ptr<const void> owner = nullptr)
      : StoredMatrix(std::move(name), std::move(layout)),
        elements_(elements),
        stride_(stride),
        owner_(std::move(owner)) {}

  std::shared_ptr<const StoredMatrix> transposed() const override {
    return std::make_shared<const MemoryMatrix>(name(), transposed_layout(), elements_, stride_, owner_);
  }
  std::shared_ptr<const StoredMatrix> keeping(Bytes /*bytes*/) const override {
    return std::make_shared<const MemoryMatrix>(*this);
  }

 protected:
  void read(const ElementBlock& block, std::span<std::byte> /*staging*/, ElementSink& sink) const override {
    const std::uint64_t first =
        order() == StorageOrder::c ? block.row * stride_ + block.column : block.column * stride_ + block.row;
    sink.put({0, block.row_count, 0, block.column_count},
             {elements_ + first * bytes_of(element()), stride_, order(), element(), layout().byte_swapped});
  }

 private:
  const std::byte* elements_;
  std::uint64_t stride_;
  std::shared_ptr<const void> owner_;
};

}  // namespace fairlead::data
