// Element types as NumPy names them: '<f8', 'float32'.
#pragma once
#include <string>
#include <string_view>

#include "data/matrix/array_layout.hpp"

namespace fairlead::data {

/// For messages.
inline constexpr const char* supported_numpy_types =
    "supported are 32- and 64-bit floating point ('<f4', '<f8', '>f4', '>f8') and complex numbers of these "
    "('<c8', "
    "'<c16', '>c8', '>c16')";

/// The letter and the size in bytes: "f8".
std::string_view numpy_letters(ElementType element) noexcept;

/// Sets the type and byte order of the elements of the matrix `name`. Throws InputError for other types than 32- and
/// 64-bit floating point and complex numbers of these, with a remedy.
void set_numpy_type(ArrayLayout& layout, std::string_view descr, const std::string& name);

}  // namespace fairlead::data
