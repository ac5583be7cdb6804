// Files in the test's own directory, written byte by byte by the specification of the format, without the code under test.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "temporary_directory.hpp"

namespace fairlead::data::test {

class Directory : public tests::TemporaryDirectory {
 public:
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path()), {}));
  }
  std::filesystem::path file(const std::string& name, const std::string& content) const {
    std::ofstream(path() / name, std::ios::binary) << content;
    return path() / name;
  }
};

inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string header(int version, const std::string& dictionary) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte)
    text += static_cast<char>(dictionary.size() >> (8 * byte) & 0xff);
  return text + dictionary;
}

inline std::string dictionary(const std::string& descr, bool fortran, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

/// The element (i, j) of all these files: exact in both types, all different.
inline double element(std::uint64_t i, std::uint64_t j) {
  return static_cast<double>(i) * 1024 + static_cast<double>(j) + 0.5;
}

/// A value for each element; exact in the stored type.
using Elements = std::function<double(std::uint64_t row, std::uint64_t column)>;

/// The bytes of a rows x columns matrix of `descr`, "<f8" for example, with `padding` unused elements after each line.
inline std::string elements(const std::string& descr, bool fortran, std::uint64_t rows, std::uint64_t columns,
                            const Elements& value_of = element, std::uint64_t padding = 0) {
  std::string bytes;
  const auto add = [&](auto value) {
    char raw[sizeof(value)];
    std::memcpy(raw, &value, sizeof(value));
    if (descr[0] == '>') std::reverse(raw, raw + sizeof(value));  // on little-endian machines
    bytes.append(raw, sizeof(value));
  };
  const std::uint64_t lines = fortran ? columns : rows, length = fortran ? rows : columns;
  for (std::uint64_t line = 0; line < lines; ++line)
    for (std::uint64_t at = 0; at < length + padding; ++at) {
      const double value = at >= length ? -7 : fortran ? value_of(at, line) : value_of(line, at);
      if (descr.ends_with("f4"))
        add(static_cast<float>(value));
      else
        add(value);
    }
  return bytes;
}

inline std::string shape(std::uint64_t rows, std::uint64_t columns) {
  return "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
}

inline std::string matrix(const std::string& descr, bool fortran, std::uint64_t rows, std::uint64_t columns,
                          int version = 1) {
  return header(version, dictionary(descr, fortran, shape(rows, columns))) +
         elements(descr, fortran, rows, columns);
}

}  // namespace fairlead::data::test
