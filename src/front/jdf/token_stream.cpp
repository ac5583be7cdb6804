// See token_stream.hpp.
#include "front/jdf/token_stream.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace fairlead::jdf {

namespace {

std::string shown_word(const Token& word, std::string_view text) {
  if (word.token != TokenKind::name && word.token != TokenKind::integer && word.token != TokenKind::real)
    return word.token < TokenKind::plus ? name_of(word.token) : fmt::format("\"{}\"", text);
  return fmt::format("\"{}\"", text.substr(0, 40));
}

}  // namespace

void TokenStream::fail(SourceRange where, std::string message) {
  diagnostics_.error(where, std::move(message));
  throw ParseAborted{};
}

const Token& TokenStream::expect(TokenKind token, const char* where) {
  if (!is(token))
    fail(peek().where,
         fmt::format("expected {} {}, found {}", name_of(token), where, shown_word(peek(), text())));
  return advance();
}

Name TokenStream::need_name(const char* what) {
  if (!is(TokenKind::name))
    fail(peek().where, fmt::format("expected {}, found {}", what, shown_word(peek(), text())));
  const Token& word = advance();
  return {std::string(file_.source.text(word.where)), word.where};
}

const Property* find(const std::vector<Property>& properties, std::string_view name) {
  for (const Property& property : properties)
    if (property.name.text == name) return &property;
  return nullptr;
}

std::string word_of(const Property& property, const JdfFile& file) {
  if (property.value == no_expression) return {};
  const Expression& value = file.at(property.value);
  if (value.kind == Expression::Kind::text || value.kind == Expression::Kind::name) return value.text;
  return {};
}

std::uint32_t aligned_with(const JdfFile& file, std::uint32_t global) {
  const Property* const aligned = find(file.globals[global].properties, "aligned");
  if (!file.globals[global].hidden || aligned == nullptr) return global;
  const std::uint32_t with = file.global_numbers.find(word_of(*aligned, file));
  return with == unbound_index || file.globals[with].hidden ? global : with;
}

}  // namespace fairlead::jdf
