// The generator of one datum that is an array: calls the user's function for rectangles.
#pragma once
#include <fairlead/generated_by.hpp>

#include "data/generator.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::front {

class GeneratedArray final : public data::Generator {
 public:
  struct Place {
    std::int64_t row = 0, rows = 1, column = 0, columns = 1;  ///< of the datum, in the filled array
    Bytes element_bytes = 1;
  };
  /// `fill` and `datum` must outlive this object; errors name the datum.
  GeneratedArray(const detail::Fill& fill, const Place& place, const engine::RegisteredDatum& datum)
      : fill_(fill), place_(place), datum_(datum) {}

  /// Throws a TaskError that names the datum and nests the exception of the user's function.
  void make(std::byte* to, Bytes first, Bytes bytes) const override;

 private:
  const detail::Fill& fill_;
  const Place place_;
  const engine::RegisteredDatum& datum_;
};

}  // namespace fairlead::front
