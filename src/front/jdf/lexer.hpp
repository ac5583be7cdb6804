// A JDF text as words: names, numbers, strings, operators, pieces of C. Bodies and C between %{ and %} are one word
// each, as JDF does not look inside.
#pragma once
#include <cstdint>
#include <vector>

#include "front/jdf/diagnostics.hpp"
#include "front/jdf/source.hpp"

namespace fairlead::jdf {

enum class Token : std::uint8_t {
  end,  // of the text
  name,
  integer,
  real,
  text,      // "..." with its quotation marks
  code,      // the C between %{ and %}, without these
  external,  // the C of extern "C" %{ ... %}
  option,    // %option
  body,      // BODY at the beginning of a line
  body_code,
  body_end,   // END at the beginning of a line
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
  brace_open,  // { and } only occur in C that is looked into (inline_c.hpp)
  brace_close,
};

struct Word {
  Token token = Token::end;
  bool first = false;  ///< of its line: where the parser goes on after a mistake
  Range where;
};

/// How much of a text is read as JDF.
enum class Lexing : std::uint8_t {
  file,        // all of JDF
  expression,  // the inside of a string or of inline C: no bodies, no externals
};

/// The words of the bytes `range` of `source`, the last of them `end`. What is no word is told and left out.
std::vector<Word> words_of(const Source& source, Range range, Lexing lexing, Diagnostics& diagnostics);

/// "a name", "\"->\"", ...: for messages.
const char* name_of(Token token) noexcept;

}  // namespace fairlead::jdf
