// Invalid files and their exact messages: NAME.txt contains the messages of NAME.jdf. FAIRLEAD_WRITE_MESSAGES
// rewrites the texts for review.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "front/jdf/read.hpp"

namespace fairlead::jdf::tests {

TEST(WrongJdfFiles, GiveTheExpectedMessages) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test_folder() / "wrong"))
    if (entry.path().extension() == ".jdf") files.push_back(entry.path());
  std::ranges::sort(files);
  EXPECT_GE(files.size(), 40U);
  for (std::filesystem::path path : files) {
    const ReadText it = read_text(text_of(path), path.filename().string());
    EXPECT_NE(it.messages, "") << path;
    path.replace_extension(".txt");
    if (std::getenv("FAIRLEAD_WRITE_MESSAGES") != nullptr)
      std::ofstream(path, std::ios::binary) << it.messages;
    EXPECT_EQ(it.messages, text_of(path)) << path;
  }
}

}  // namespace fairlead::jdf::tests
