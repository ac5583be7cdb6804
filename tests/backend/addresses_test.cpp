// Addresses of locations: on a machine with user memory, a disk, RAM and one device.
#include "backend/addresses.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace fairlead::tests {
namespace {

using backend::Addresses;
using backend::TransferEnd;

struct Mapped {
  Mapped() : device(add_device(machine, {.name = "device", .capacity = 4096})), addresses(machine) {
    addresses.map(machine.host(), ram.data());
    addresses.map(device, far_away);
  }

  std::array<std::byte, 256> ram{};
  double of_the_program = 0;
  void* const far_away = reinterpret_cast<void*>(std::uintptr_t{1} << 60);  // no process has memory there
  Topology machine = out_of_core_topology(1, 4096, 1e9, {});
  const NodeId device;
  Addresses addresses;
};

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

TEST(Addresses, AreOffsetsFromTheStartOfTheNodesMemory) {
  Mapped it;
  EXPECT_EQ(it.addresses.of({.node = it.machine.host(), .offset = 64}), it.ram.data() + 64);
  EXPECT_EQ(number(it.addresses.of({.node = it.device, .offset = 64})), (std::uintptr_t{1} << 60) + 64);
}

TEST(Addresses, InUserMemoryAreThoseOfTheProgram) {
  Mapped it;
  EXPECT_EQ(it.addresses.of({.node = it.machine.user_memory(), .users = &it.of_the_program}),
            &it.of_the_program);
  EXPECT_EQ(it.addresses.of({.users = &it.of_the_program}), &it.of_the_program);
}

TEST(Addresses, AreNullWithoutMemory) {
  Mapped it;
  EXPECT_EQ(it.addresses.of({.node = it.machine.store(), .offset = 64}), nullptr);
  EXPECT_EQ(it.addresses.of({.node = it.machine.user_memory()}), nullptr);
  const Addresses simulated(it.machine);
  EXPECT_EQ(simulated.of({.node = it.machine.host(), .offset = 64}), nullptr);
  EXPECT_EQ(simulated.of({.node = it.device, .offset = 64}), nullptr);
}

TEST(Addresses, ArePassedToAStartedTask) {
  Mapped it;
  Task task;
  task.accesses_begin = task.inline_access.data();
  task.access_count = 2;
  task.node = it.device;
  task.inline_access[0].offset = 128;
  task.inline_access[1].address = &it.of_the_program;
  task.inline_access[1].in_place = true;
  it.addresses.resolve(task);
  EXPECT_EQ(number(task.inline_access[0].address), (std::uintptr_t{1} << 60) + 128);
  EXPECT_EQ(task.inline_access[1].address, &it.of_the_program);
}

// Transfer engines ask whether cores can access a location; a device's memory only its own engine can.
TEST(Addresses, AreAccessibleToCoresInRamAndUserMemoryOnly) {
  Mapped it;
  const auto host_of = [&](const memory::Location& at) { return it.addresses.place_of(at).host; };
  EXPECT_EQ(host_of({.node = it.machine.host(), .offset = 8}), it.ram.data() + 8);
  EXPECT_EQ(host_of({.node = it.machine.user_memory(), .users = &it.of_the_program}),
            static_cast<void*>(&it.of_the_program));
  EXPECT_EQ(host_of({.node = it.device, .offset = 8}), nullptr);
  EXPECT_EQ(host_of({.node = it.machine.store(), .offset = 8}), nullptr);
}

TEST(Addresses, OfABlockHaveItsOffset) {
  Mapped it;
  const TransferEnd ram = it.addresses.place_of({.node = it.machine.host(), .offset = 8}).after(16);
  EXPECT_EQ(ram.offset, 24u);
  EXPECT_EQ(ram.address, it.ram.data() + 24);
  EXPECT_EQ(ram.host, ram.address);
  const TransferEnd device = it.addresses.place_of({.node = it.device, .offset = 8}).after(16);
  EXPECT_EQ(number(device.address), (std::uintptr_t{1} << 60) + 24);
  EXPECT_EQ(device.host, nullptr);
  const TransferEnd disk = it.addresses.place_of({.node = it.machine.store(), .offset = 8}).after(16);
  EXPECT_EQ(disk.offset, 24u);
  EXPECT_EQ(disk.address, nullptr);
}

}  // namespace fairlead::tests
