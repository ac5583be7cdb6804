// Uses the installed headers and library: fails unless the linked version is the one that was installed.
#include <cstring>
#include <fairlead/version.hpp>
#include <iostream>

int main() {
  std::cout << "Fairlead " << fairlead::version() << '\n';
  return std::strcmp(fairlead::version(), EXPECTED_VERSION) == 0 ? 0 : 1;
}
