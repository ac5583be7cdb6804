// Control characters are escaped; other text is unchanged.
#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace fairlead {
namespace {

TEST(PrintableText, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\x1b[31mred\x07.npy"), "a\\x1b[31mred\\x07.npy");
  EXPECT_EQ(printable("back\rover\x7f"), "back\\x0dover\\x7f");
  EXPECT_EQ(printable(std::string("zero\0", 5)), "zero\\x00");
}

TEST(PrintableText, LinesTabsAndLettersOfAllScriptsAreUnchanged) {
  for (const char* text : {"two\nlines\tand a tab",
                           "gr\xc3\xb6\xc3\x9f"
                           "e",
                           "\xe6\x96\x87", "\xe2\x80\x9b", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(printable(text), text);
}

// U+009B is equivalent to ESC [, as one character or, for old terminals, one byte.
TEST(PrintableText, ControlCharactersBeyondAsciiAreEscaped) {
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // a single 0xc2 would not be a character
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");
  for (const char* text : {"\xc2", "a\xc2", "\xc2\xc2", "\xc2z", "\xc2\xc3\xb6", "\xc2\n"})
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("\xc2\x1b"), "\xc2\\x1b");
}

TEST(PrintableText, ACharacterMayBeSplitOverCalls) {
  Printable characters;
  std::array<char, Printable::longest> shown{};
  EXPECT_EQ(characters.put('\xc3', shown), 1u);
  EXPECT_EQ(characters.put('\x9f', shown), 1u);
  EXPECT_EQ(characters.put('\x9f', shown), 4u);
  EXPECT_EQ(characters.put('\xc2', shown), 0u);
  EXPECT_EQ(characters.put('\x9f', shown), 8u);
}

}  // namespace
}  // namespace fairlead
