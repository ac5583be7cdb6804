// See emit_globals.hpp.
#include "front/jdf/emit_globals.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "front/jdf/emit.hpp"

namespace fairlead::jdf {

namespace {

constexpr std::array<std::string_view, 14> integer_types{
    "int",     "unsigned", "unsigned int", "long",     "long long", "unsigned long", "short",
    "int32_t", "int64_t",  "uint32_t",     "uint64_t", "size_t",    "char",          "long int"};
constexpr std::array<std::string_view, 2> real_types{"float", "double"};
constexpr std::array<std::string_view, 12> descriptor_types{"parsec_data_collection_t",
                                                            "dplasma_data_collection_t",
                                                            "parsec_ddesc_t",
                                                            "dague_ddesc_t",
                                                            "parsec_tiled_matrix_t",
                                                            "parsec_tiled_matrix_dc_t",
                                                            "tiled_matrix_desc_t",
                                                            "parsec_matrix_block_cyclic_t",
                                                            "parsec_matrix_sym_block_cyclic_t",
                                                            "two_dim_block_cyclic_t",
                                                            "sym_two_dim_block_cyclic_t",
                                                            "parsec_memory_pool_t"};

/// Functions on the tiles of one or two matrices, and a reduction tree of functions.
constexpr std::array<std::string_view, 5> value_types{"tiled_matrix_unary_op_t", "tiled_matrix_binary_op_t",
                                                      "parsec_tiled_matrix_unary_op_t",
                                                      "parsec_tiled_matrix_binary_op_t", "dplasma_qrtree_t"};

bool is_one_of(std::string_view word, auto const& all) { return std::ranges::find(all, word) != all.end(); }

/// The components of a type: "const" or not, "parsec_tiled_matrix_t", the number of stars.
struct TypeWords {
  bool is_const = false;
  std::string base;
  std::size_t stars = 0;
  bool simple = true;
};

TypeWords words_of_type(std::string_view text) {
  TypeWords out;
  std::string word;
  const auto finish = [&] {
    if (word == "const" && out.stars == 0)
      out.is_const = true;
    else if (!word.empty() && out.stars == 0)
      out.base += (out.base.empty() ? "" : " ") + word;
    else if (!word.empty())
      out.simple = false;
    word.clear();
  };
  for (const char letter : text) {
    const bool of_word = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                         (letter >= '0' && letter <= '9') || letter == '_';
    if (of_word) {
      word += letter;
      continue;
    }
    finish();
    if (letter == '*')
      ++out.stars;
    else if (letter != ' ' && letter != '\t')
      out.simple = false;
  }
  finish();
  return out;
}

void find_types(EmitGlobal& it) {
  using Kind = EmitGlobal::Kind;
  const TypeWords type = words_of_type(it.c_type);
  const bool integer = is_one_of(type.base, integer_types), real = is_one_of(type.base, real_types);
  const bool descriptor = is_one_of(type.base, descriptor_types) && type.stars == 1;
  if (type.simple && type.stars == 0 && is_one_of(type.base, value_types)) {
    it.kind = Kind::value;
    it.cpp_type = type.base;
    return;
  }
  const bool known = integer || real || descriptor || type.base == "void";
  if (!type.simple || !known) {
    const bool pointer = it.c_type.find('*') != std::string::npos;
    it.kind = pointer ? Kind::address : Kind::number;
    it.cpp_type = pointer ? "void*" : "long long";
    return;
  }
  it.cpp_type = (type.is_const && type.stars != 0 ? "const " : "") + type.base + std::string(type.stars, '*');
  it.kind = Kind::pointer;
  if (descriptor && type.base != "parsec_memory_pool_t") it.kind = Kind::descriptor;
  if (type.stars == 0) it.kind = integer ? Kind::integer : Kind::real;
}

}  // namespace

std::vector<EmitGlobal> emit_globals(const JdfFile& file) {
  std::vector<EmitGlobal> out;
  for (const Global& global : file.globals) {
    EmitGlobal it;
    it.global = &global;
    it.name = global.name.text;
    it.cpp_name = cpp_name(it.name);
    it.c_type = global.type;
    if (it.c_type.empty()) it.c_type = global.is_collection ? "parsec_data_collection_t *" : "int";
    find_types(it);
    const bool by_default = find(global.properties, "default") != nullptr;
    it.given = !global.hidden && (global.value == no_expression || by_default);
    it.settable = global.hidden && it.kind != EmitGlobal::Kind::number;
    out.push_back(std::move(it));
  }
  return out;
}

std::string c_declared(const std::string& type, const std::string& name) {
  return type + (type.ends_with('*') ? "" : " ") + name;
}

}  // namespace fairlead::jdf
