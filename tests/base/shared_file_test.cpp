// A shared file is written at its own path, and never through another user's link.
#include "base/shared_file.hpp"
#include "temporary_directory.hpp"

#include <fairlead/error.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace fairlead {
namespace {

namespace fs = std::filesystem;

class SharedFiles : public testing::Test {
 protected:
  SharedFile file(const fs::path& name) const {
    return {folder_ / name, {.name = "test", .version = 1, .explanation = "a test's"}};
  }
  static std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  const tests::TemporaryDirectory directory_;
  const fs::path& folder_ = directory_.path();
};

TEST_F(SharedFiles, ALinkInPlaceOfTheTemporaryFileIsNotFollowed) {
  std::ofstream(folder_ / "victim") << "precious";
  const SharedFile kept = file("kept.txt");
  fs::create_symlink(folder_ / "victim", folder_ / ("kept.txt." + std::to_string(getpid()) + ".new"));
  kept.replace({"a line"});
  EXPECT_EQ(content(folder_ / "victim"), "precious");
  EXPECT_EQ(kept.read().lines, std::vector<std::string>{"a line"});
  EXPECT_FALSE(fs::is_symlink(kept.path()));
}

TEST_F(SharedFiles, ALinkInPlaceOfTheLockIsRefused) {
  const SharedFile kept = file("kept.txt");
  fs::create_symlink(folder_ / "victim", folder_ / "kept.lock");
  EXPECT_THROW(SharedFile::Lock{kept}, SystemError);
  EXPECT_FALSE(fs::exists(folder_ / "victim"));
}

TEST_F(SharedFiles, ADirectoryIsCreatedForItsOwnerOnlyWhateverTheUmask) {
  const mode_t before = umask(0);
  const SharedFile kept = file("one/two/kept.txt");
  kept.make_directory();
  umask(before);
  EXPECT_EQ(why_unsafe(folder_ / "one/two"), "");
  EXPECT_EQ(fs::status(folder_ / "one").permissions(), fs::perms::owner_all);
  kept.replace({"a line"});
  fs::permissions(folder_ / "one/two", fs::perms::group_write, fs::perm_options::add);
  EXPECT_NE(why_unsafe(folder_ / "one/two").find("can be written by other users (mode 0720;"),
            std::string::npos);
  EXPECT_EQ(why_unsafe(folder_ / "none"), "");
}

TEST_F(SharedFiles, AFileLeftByAKilledProcessIsReplaced) {
  const SharedFile kept = file("kept.txt");
  std::ofstream(folder_ / ("kept.txt." + std::to_string(getpid()) + ".new")) << "half";
  kept.replace({"whole"});
  EXPECT_EQ(kept.read().lines, std::vector<std::string>{"whole"});
}

// Removes the files of a killed process, but not those of a running one, nor files with similar names.
TEST_F(SharedFiles, TheNextLockRemovesFilesLeftByAKilledProcess) {
  const SharedFile kept = file("kept.txt");
  for (const char* name : {"kept.txt.1.new", "kept.txt.4194305.new", "kept.txt.2.new", "kept.txt.new",
                           "kept.txt.x1.new", "other.txt.1.new"})
    std::ofstream(folder_ / name) << "half";
  const FileDescriptor writing = open_file(folder_ / "kept.txt.2.new", O_WRONLY);
  ASSERT_EQ(flock(writing.get(), LOCK_EX), 0);
  const SharedFile::Lock lock(kept);
  EXPECT_FALSE(fs::exists(folder_ / "kept.txt.1.new"));
  EXPECT_FALSE(fs::exists(folder_ / "kept.txt.4194305.new"));
  for (const char* name : {"kept.txt.2.new", "kept.txt.new", "kept.txt.x1.new", "other.txt.1.new"})
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
}

TEST_F(SharedFiles, DirectoriesAreCreatedForTheirOwnerOnly) {
  const mode_t before = umask(0);
  { const SharedFile::Lock lock(file("new/deep/kept.txt")); }
  umask(before);
  for (const char* made : {"new", "new/deep"})
    EXPECT_EQ(fs::status(folder_ / made).permissions(), fs::perms::owner_all) << made;
}

TEST_F(SharedFiles, AFileInPlaceOfTheDirectoryIsReported) {
  std::ofstream(folder_ / "file") << "x";
  try {
    const SharedFile::Lock lock(file("file/kept.txt"));
    ADD_FAILURE() << "accepted";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find("Not a directory"), std::string::npos) << error.what();
  }
}

// Another user could place files there that this program would trust.
TEST_F(SharedFiles, ADirectoryThatOtherUsersCanWriteIsNotUsed) {
  const SharedFile kept = file("kept.txt");
  kept.replace({"a line"});
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder_, fs::perms::owner_all | others);
    const SharedFile::Content content = kept.read();
    EXPECT_TRUE(content.lines.empty());
    EXPECT_NE(content.problem.find("can be written by other users"), std::string::npos) << content.problem;
    EXPECT_THROW(kept.replace({"another"}), SystemError);
    EXPECT_THROW(SharedFile::Lock{kept}, SystemError);
    EXPECT_FALSE(fs::exists(folder_ / "kept.lock"));
  }
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(kept.read().lines, std::vector<std::string>{"a line"});
}

TEST_F(SharedFiles, AFileThatOtherUsersCanWriteIsNotRead) {
  const SharedFile kept = file("kept.txt");
  kept.replace({"a line"});
  fs::permissions(kept.path(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_TRUE(kept.read().lines.empty());
  kept.replace({"another"});  // takes its place
  EXPECT_EQ(kept.read().lines, std::vector<std::string>{"another"});
}

TEST_F(SharedFiles, AFileOfAnotherUserIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "changing the owner of a file requires root";
  constexpr uid_t another = 12345;
  const SharedFile kept = file("kept.txt");
  kept.replace({"a line"});
  ASSERT_EQ(::chown(kept.path().c_str(), another, another), 0);
  EXPECT_NE(kept.read().problem.find("is owned by user 12345"), std::string::npos) << kept.read().problem;
  ASSERT_EQ(::chown(folder_.c_str(), another, another), 0);
  EXPECT_NE(kept.read().problem.find("in a directory that is owned by"), std::string::npos);
  EXPECT_THROW(kept.replace({"another"}), SystemError);
  ASSERT_EQ(::chown(folder_.c_str(), 0, 0), 0);
}

// A umask of 002, as on systems with a group for each user.
TEST_F(SharedFiles, AFileCanBeUsedWhateverTheUmask) {
  const mode_t before = ::umask(0);
  const SharedFile kept = file("own/kept.txt");
  {
    const SharedFile::Lock lock(kept);
    kept.replace({"a line"});
  }
  ::umask(before);
  EXPECT_EQ(kept.read().lines, std::vector<std::string>{"a line"});
}

}  // namespace
}  // namespace fairlead
