// A separate folder in which the program `fairlead` runs, and the outcome of the run.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::misuse {

/// Invalid arguments of the program, and the text that its error must contain.
struct Mistake {
  const char* name;
  const char* words;
  const char* named;
};

/// The exit code of the program, and its output.
struct Answer {
  int exit_code = -1;  ///< -1: by a signal
  std::string output, errors;
  double seconds = 0;
};

/// `words`: the program's arguments, separated by blanks. FAIRLEAD_* are not inherited.
class Folder {
 public:
  /// Empty but for A.npy, a symmetric positive definite matrix of 40 rows, and b.npy.
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  const std::filesystem::path& path() const noexcept { return path_; }
  /// An array in the form of NumPy 1.0: `type` as in '<f8', `shape` as in "(40, 40)".
  void array(const std::string& name, const std::string& type, const std::string& shape,
             const std::string& elements);
  void file(const std::string& name, const std::string& content);
  std::string content(const std::string& name) const;
  /// Every entry with its content; for others than files, their kind.
  std::map<std::string, std::string> everything() const;
  Answer run(const std::string& words, const std::vector<std::string>& environment = {}) const;

  /// Starts it with these descriptors as standard input, output and errors.
  pid_t start(const std::string& words, int input, int output, int errors,
              const std::vector<std::string>& environment = {}) const;

  /// Makes a directory that is a file system of so many bytes in memory, for the lifetime of this process. False
  /// if the system does not allow it: it needs root.
  bool mount(const std::string& name, std::size_t bytes, bool read_only = false);

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> mounted_;
};

/// The bytes of a matrix of `n` rows: 2 n on the diagonal, 1 / (1 + |i - j|) elsewhere.
std::string spd_elements(int n);
std::string bytes_of(const std::vector<double>& elements);

/// Refused in under five seconds by one message that contains `named`, with nothing left in the folder.
void expect_refused(Folder& folder, const std::string& words, int exit_code, const std::string& named,
                    const std::vector<std::string>& environment = {});

}  // namespace fairlead::misuse
