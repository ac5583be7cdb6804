// See mutations.hpp.
#include "whole/texts/mutations.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace fairlead::tests {

namespace {

constexpr std::array<std::string_view, 36> extremes{"0",
                                                    "-1",
                                                    "1",
                                                    "2",
                                                    "127",
                                                    "255",
                                                    "32767",
                                                    "32768",
                                                    "65535",
                                                    "65536",
                                                    "2147483647",
                                                    "2147483648",
                                                    "-2147483648",
                                                    "4294967295",
                                                    "4294967296",
                                                    "9223372036854775807",
                                                    "-9223372036854775808",
                                                    "18446744073709551615",
                                                    "18446744073709551616",
                                                    "99999999999999999999999",
                                                    "1e308",
                                                    "1e-308",
                                                    "1e999",
                                                    "-0.0",
                                                    "0x10",
                                                    "nan",
                                                    "inf",
                                                    "-inf",
                                                    "0.1",
                                                    "1e9",
                                                    "1e18",
                                                    "50%",
                                                    "16EiB",
                                                    "1979-05-27T07:32:00Z",
                                                    "true",
                                                    "\"\""};
constexpr std::array<std::string_view, 22> marks{"[", "]",  "[[", "]]",     "{",       "}", "=", ",",
                                                 ".", "\"", "'",  "\"\"\"", "#",       ":", "+", "-",
                                                 " ", "\t", "\n", "\r\n",   "\\u0000", "\\"};

using Span = std::pair<std::size_t, std::size_t>;  // where it begins, and how long it is

Span any_span(const std::string& text, std::size_t most, Random& random) {
  if (text.empty()) return {0, 0};
  const std::size_t begin = random.below(text.size());
  return {begin, 1 + random.below(std::min(most, text.size() - begin))};
}
/// What is around a place and belongs together, as `is` has it.
template <class F>
Span around(const std::string& text, Random& random, F&& is) {
  if (text.empty()) return {0, 0};
  std::size_t begin = random.below(text.size()), end = begin;
  for (int tries = 0; tries < 20 && !is(text[begin]); ++tries) begin = end = random.below(text.size());
  while (begin > 0 && is(text[begin - 1])) --begin;
  while (end < text.size() && is(text[end])) ++end;
  return {begin, end - begin};
}
bool of_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; }
bool of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }
bool of_line(char c) { return c != '\n'; }

template <class T>
const auto& one_of(const T& all, Random& random) {
  return all[random.below(all.size())];
}

void change(std::string& text, const std::vector<std::string>& seeds, const std::vector<std::string>& words,
            Random& random) {
  const auto replace = [&](Span span, std::string_view by) { text.replace(span.first, span.second, by); };
  const std::size_t place = random.below(text.size() + 1);
  switch (random.below(14)) {
    case 0:
      if (!text.empty()) text[place % text.size()] = static_cast<char>(random.below(256));
      break;
    case 1:
      if (!text.empty()) text[place % text.size()] ^= static_cast<char>(1 << random.below(8));
      break;
    case 2:
      replace(any_span(text, 40, random), "");
      break;
    case 3: {
      const Span span = any_span(text, 200, random);
      text.insert(place, text.substr(span.first, span.second));
      break;
    }
    case 4:
    case 5:
    case 6:
      replace(around(text, random, of_number), one_of(extremes, random));
      break;
    case 7:
      replace(around(text, random, of_word), one_of(words, random));
      break;
    case 8:
      text.insert(place, one_of(words, random));
      break;
    case 9:
    case 10:
      text.insert(place, one_of(marks, random));
      break;
    case 11: {  // a line is lost, or comes once more elsewhere
      const Span line = around(text, random, of_line);
      const std::string copy = text.substr(line.first, line.second) + "\n";
      if (random.once_in(2))
        replace(line, "");
      else
        text.insert(around(text, random, of_line).first, copy);
      break;
    }
    case 12: {
      const std::string& other = one_of(seeds, random);
      const Span span = any_span(other, 400, random);
      text.insert(place, other.substr(span.first, span.second));
      break;
    }
    default:
      if (random.once_in(3))
        text.resize(place);
      else {  // much of the same
        const std::string_view mark = one_of(marks, random);
        std::string many;
        for (std::uint64_t i = random.below(random.once_in(10) ? 100'000 : 300); i > 0; --i) {
          many += mark;
          if (place % 2 == 0) many += 'a';
        }
        text.insert(place, many);
      }
  }
}

}  // namespace

std::string mutated(const std::vector<std::string>& seeds, const std::vector<std::string>& words,
                    Random& random) {
  std::string text = one_of(seeds, random);
  for (std::uint64_t changes = 1 + (random.once_in(3) ? random.below(6) : 0); changes > 0; --changes)
    change(text, seeds, words, random);
  return text;
}

std::vector<std::uint64_t> mutated(const std::vector<std::uint64_t>& words, Random& random) {
  std::vector<std::uint64_t> changed = words;
  for (std::uint64_t changes = 1 + (random.once_in(3) ? random.below(4) : 0); changes > 0 && !changed.empty();
       --changes) {
    const std::size_t place = random.below(changed.size());
    const auto at = changed.begin() + static_cast<std::ptrdiff_t>(place);
    switch (random.below(8)) {
      case 0:
        changed.resize(place);
        break;
      case 1:
        changed.erase(at);
        break;
      case 2:
        changed.insert(at, *at);
        break;
      case 3:
        *at = one_of(changed, random);
        break;
      case 4:
        *at = random.below(300);
        break;
      case 5:
        *at = random.next() >> random.below(64);
        break;
      default:
        *at ^= std::uint64_t{1} << random.below(64);
    }
  }
  return changed;
}

}  // namespace fairlead::tests
