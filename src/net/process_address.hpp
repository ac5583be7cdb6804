// The location of a rank's process, which ranks exchange at the start as a text over MPI.
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

/// A secret of the job's ranks.
using Token = std::array<std::byte, 16>;
Token random_token();
/// Two hexadecimal digits per byte.
std::string text_of(const Token& token);

struct ProcessAddress {
  std::string host;     ///< for messages
  std::string machine;  ///< ranks with equal texts share processes and local sockets
  pid_t process = 0;
  std::uint64_t started = 0;  ///< start time, to detect a reused process number (process_start_time)
  std::string local{};        ///< name of a local socket, without the leading zero byte
  std::uint16_t port = 0;     ///< for other machines; 0: none
  std::vector<std::string> addresses{};  ///< numeric addresses of this machine
  std::optional<Token> token{};          ///< rank 0's, for all

  friend bool operator==(const ProcessAddress&, const ProcessAddress&) = default;
};

std::string text_of(const ProcessAddress& of);
/// Nothing if the text is malformed.
std::optional<ProcessAddress> parse_address(std::string_view text);

/// The location of this process, without sockets.
ProcessAddress own_address();
/// Addresses at which other machines may reach this one.
std::vector<std::string> addresses_of_machine();

}  // namespace fairlead::net
