// Splits the text of a JDF file into tokens: names, numbers, strings, operators. A body, and the C code between %{ and
// %}, is one token: JDF does not interpret it.
#pragma once
#include <cstdint>
#include <vector>

#include "front/jdf/diagnostics.hpp"
#include "front/jdf/source_file.hpp"

namespace fairlead::jdf {

enum class TokenKind : std::uint8_t {
  end,  // the end of the text
  name,
  integer,
  real,
  text,      // "..." including the quotation marks
  code,      // the C code between %{ and %}, without the delimiters
  external,  // the C code of extern "C" %{ ... %}
  option,    // %option
  body,      // BODY at the start of a line
  body_code,
  body_end,   // END at the start of a line
  arrow_in,   // <-
  arrow_out,  // ->
  open,       // (
  close,
  open_bracket,
  close_bracket,
  comma,
  colon,
  semicolon,
  question,
  assign,
  range,  // ..
  dot,
  plus,
  minus,
  times,
  divide,
  modulo,
  shift_left,
  shift_right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  logical_not,
  brace_open,  // { and } occur only in inline C that is parsed (inline_c.cpp)
  brace_close,
};

/// A token and its position.
struct Token {
  TokenKind token = TokenKind::end;
  bool first = false;  ///< the first token of its line: the parser can resume here after an error
  SourceRange where;
};

/// Which tokens the lexer accepts.
enum class LexMode : std::uint8_t {
  file,        // all of JDF
  expression,  // the content of a string or of inline C: no bodies, no extern "C"
};

/// The tokens in the bytes `range` of `source`; the last one is `end`. Text that is no token is reported and skipped.
std::vector<Token> tokenize(const SourceFile& source, SourceRange range, LexMode lexing,
                            Diagnostics& diagnostics);

/// "a name", "\"->\"", ...: for error messages.
const char* name_of(TokenKind token) noexcept;

}  // namespace fairlead::jdf
