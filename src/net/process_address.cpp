// See process_address.hpp.
#include "net/process_address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <unistd.h>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/file_descriptor.hpp"
#include "net/lost_process.hpp"

namespace fairlead::net {

namespace {

constexpr std::size_t fields = 8;

std::optional<std::vector<std::string>> fields_in(std::string_view text) {
  std::vector<std::string> found(1);
  for (const char c : text)
    if (c == '\n')
      found.emplace_back();
    else
      found.back() += c;
  if (found.size() != fields) return std::nullopt;
  return found;
}

template <class Number>
bool read_number(std::string_view text, Number& number, int base = 10) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

bool read_token(std::string_view text, std::optional<Token>& token) {
  if (text.empty()) return true;
  token.emplace();
  if (text.size() != 2 * token->size()) return false;
  for (std::size_t i = 0; i < token->size(); ++i) {
    std::uint8_t byte = 0;
    if (!read_number(text.substr(2 * i, 2), byte, 16)) return false;
    (*token)[i] = std::byte{byte};
  }
  return true;
}

std::string first_line(const char* path) {
  std::string text = read_file(path, 256).value_or("");
  text.erase(std::min(text.find('\n'), text.size()));
  return text;
}

std::string name_of_link(const char* path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

}  // namespace

Token random_token() {
  Token token{};
  for (std::size_t done = 0; done < token.size();) {
    const ssize_t count = ::getrandom(token.data() + done, token.size() - done, 0);
    if (count < 0 && errno != EINTR)
      throw SystemError(fmt::format("cannot get random numbers: {}", std::generic_category().message(errno)));
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return token;
}

std::string text_of(const Token& token) {
  std::string text;
  for (const std::byte byte : token) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::string text_of(const ProcessAddress& of) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", of.host, of.machine, of.process, of.started, of.local,
                     of.port, fmt::join(of.addresses, " "), of.token ? text_of(*of.token) : "");
}

std::optional<ProcessAddress> parse_address(std::string_view text) {
  const auto found = fields_in(text);
  if (!found) return std::nullopt;
  ProcessAddress of{.host = (*found)[0], .machine = (*found)[1], .local = (*found)[4]};
  if (!read_number((*found)[2], of.process) || !read_number((*found)[3], of.started) ||
      !read_number((*found)[5], of.port) || !read_token((*found)[7], of.token))
    return std::nullopt;
  for (std::string_view rest = (*found)[6]; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    of.addresses.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return of;
}

ProcessAddress own_address() {
  ProcessAddress own;
  own.host = first_line("/proc/sys/kernel/hostname");
  own.machine = first_line("/proc/sys/kernel/random/boot_id") + name_of_link("/proc/self/ns/pid") +
                name_of_link("/proc/self/ns/net");
  own.process = ::getpid();
  own.started = process_start_time(own.process).value_or(0);
  return own;
}

std::vector<std::string> addresses_of_machine() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, ::freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* it = first; it != nullptr; it = it->ifa_next) {
    if (it->ifa_addr == nullptr || (it->ifa_flags & IFF_UP) == 0 || (it->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* address = nullptr;
    if (it->ifa_addr->sa_family == AF_INET) {
      address = &reinterpret_cast<const sockaddr_in*>(it->ifa_addr)->sin_addr;
    } else if (it->ifa_addr->sa_family == AF_INET6) {
      const auto* const six = &reinterpret_cast<const sockaddr_in6*>(it->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(six)) address = six;  // link-local: needs an interface name
    }
    if (address != nullptr &&
        ::inet_ntop(it->ifa_addr->sa_family, address, text.data(), text.size()) != nullptr)
      addresses.emplace_back(text.data());
  }
  return addresses;
}

}  // namespace fairlead::net
