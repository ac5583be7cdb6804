// Where a rank's process is: what ranks tell each other at the beginning, as a text that goes by MPI.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::net {

/// What is known to a job's own ranks alone.
using Token = std::array<std::byte, 16>;
Token random_token();
/// By two digits for each byte.
std::string text_of(const Token& token);

struct Whereabouts {
  std::string host;     ///< for people
  std::string machine;  ///< who says the same sees the same processes and local sockets
  pid_t process = 0;
  std::uint64_t started = 0;             ///< when, so that no later process is taken for it (started_of)
  std::string local{};                   ///< the name of a local socket, without the zero byte before it
  std::uint16_t port = 0;                ///< for other machines; 0: none
  std::vector<std::string> addresses{};  ///< of this machine, as numbers
  std::optional<Token> token{};          ///< rank 0's, for all

  friend bool operator==(const Whereabouts&, const Whereabouts&) = default;
};

std::string text_of(const Whereabouts& of);
/// Nothing if it is none.
std::optional<Whereabouts> whereabouts_in(std::string_view text);

/// This process's, without sockets.
Whereabouts own_whereabouts();
/// Addresses by which other machines may find this one.
std::vector<std::string> addresses_of_machine();

}  // namespace fairlead::net
