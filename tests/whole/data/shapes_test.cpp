// Every shape of data, in the user's memory and in the runtime's, as seen by bodies on cores and on devices.
#include "whole/data/worlds.hpp"

#include <cstring>
#include <vector>

namespace fairlead {

namespace {

// The body for every shape: element e, in the order of a packed copy, becomes 1000 + e if it was e.
const auto move_vector = [](InOut<Vector<double>> x) {
  for (std::int64_t i = 0; i < x.size(); ++i) x(i) += 1000;
};
const auto move_tile = [](InOut<Tile<double>> a) {
  for (int j = 0; j < a.columns(); ++j)
    for (int i = 0; i < a.rows(); ++i) a(i, j) += 1000;
};
const auto move_block = [](InOut<Block<double>> b) {
  for (int k = 0; k < b.extent(2); ++k)
    for (int j = 0; j < b.extent(1); ++j)
      for (int i = 0; i < b.extent(0); ++i) b(i, j, k) += 1000;
};

/// The user's memory: -1 where no element is, else the element's number.
std::vector<double> memory_for(const Strided& array) {
  const auto& e = array.extents;
  std::vector<double> all(static_cast<std::size_t>(array.offset({e[0], e[1], e[2]})) + 8, -1);
  double number = 0;
  for (std::int64_t k = 0; k < e[2]; ++k)
    for (std::int64_t j = 0; j < e[1]; ++j)
      for (std::int64_t i = 0; i < e[0]; ++i)
        all[static_cast<std::size_t>(array.offset({i, j, k}))] = number++;
  return all;
}

/// One task on cores, then one on the device, then one on cores: each moves every element and nothing else.
template <class T, class Body>
void expect_moves_elements_only(const Strided& array, const Handle<T>& handle, Runtime& runtime,
                                const std::vector<double>& memory, Body body) {
  const std::vector<double> before = memory;
  Flow flow(runtime);
  flow.submit(on_cores("move", body)(handle));
  flow.submit(on_devices("move", body)(handle));
  flow.submit(on_cores("move", body)(handle));
  flow.submit(on_devices("move", body)(handle));
  flow.wait();
  runtime.flush();
  std::vector<double> expected = before;
  for (double& element : expected)
    if (element >= 0) element += 4000;
  EXPECT_EQ(memory, expected) << array.extents[0] << " x " << array.extents[1] << " x " << array.extents[2];
}

}  // namespace

TEST(Shapes, AVectorWithoutGapsInPlace) {
  Runtime runtime(settings("16MiB", one_device));
  auto memory = memory_for({{777, 1, 1}, {1, 0, 0}});
  expect_moves_elements_only({{777, 1, 1}, {1, 0, 0}}, runtime.vector("x", memory.data(), 777), runtime,
                             memory, move_vector);
}

// A row of a column-major matrix.
TEST(Shapes, AVectorWithAStrideInPlace) {
  Runtime runtime(settings("16MiB", one_device));
  auto memory = memory_for({{100, 1, 1}, {17, 0, 0}});
  expect_moves_elements_only({{100, 1, 1}, {17, 0, 0}}, runtime.vector("x", memory.data(), 100, 17), runtime,
                             memory, move_vector);
}

TEST(Shapes, AMatrixThatIsOneDatumInPlace) {
  Runtime runtime(settings("16MiB", one_device));
  auto memory = memory_for({{30, 20, 1}, {1, 33, 0}});
  expect_moves_elements_only({{30, 20, 1}, {1, 33, 0}}, runtime.matrix("A", memory.data(), 30, 20, 33),
                             runtime, memory, move_tile);
}

TEST(Shapes, ABlockInPlace) {
  Runtime runtime(settings("16MiB", one_device));
  const Strided array{{7, 5, 4}, {1, 9, 50}};
  auto memory = memory_for(array);
  expect_moves_elements_only(array, runtime.block("u", memory.data(), {7, 5, 4}, {9, 50}), runtime, memory,
                             move_block);
}

// Its slowest index may have the smaller stride: planes and rows are exchanged.
TEST(Shapes, ABlockWhosePlanesLieBetweenItsRows) {
  Runtime runtime(settings("16MiB", one_device));
  const Strided array{{7, 5, 4}, {1, 40, 8}};
  auto memory = memory_for(array);
  expect_moves_elements_only(array, runtime.block("u", memory.data(), {7, 5, 4}, {40, 8}), runtime, memory,
                             move_block);
}

// A device gets the elements of a block and not the gaps: 7 x 5 x 4 numbers of 8 bytes, there and back.
TEST(Shapes, GapsAreNotTransferred) {
  Runtime runtime(settings("16MiB", one_device));
  auto memory = memory_for({{7, 5, 4}, {1, 9, 50}});
  const auto block = runtime.block("u", memory.data(), {7, 5, 4}, {9, 50});
  Flow flow(runtime);
  flow.submit(on_devices("move", move_block)(block));
  flow.wait();
  runtime.flush();
  for (const auto& link : runtime.statistics().links)
    if (link.name == "emulated 0") {
      EXPECT_EQ(link.bytes_from_home(), 7 * 5 * 4 * sizeof(double));
      EXPECT_EQ(link.bytes_to_home(), 7 * 5 * 4 * sizeof(double));
    }
}

// Twenty vectors, matrices and blocks of 64 KiB, where six fit, each filled, changed twice and looked at.
TEST(Shapes, RuntimeDataAreSpilledAndReadBack) {
  for (const char* devices : {"", one_device}) {
    Runtime runtime(settings("400KiB", devices));
    std::vector<Handle<Vector<double>>> vectors;
    std::vector<Handle<Tile<double>>> matrices;
    std::vector<Handle<Block<double>>> blocks;
    for (int n = 0; n < 20; ++n) {
      vectors.push_back(runtime.vector<double>("x" + std::to_string(n), 8192));
      matrices.push_back(runtime.matrix<double>("A" + std::to_string(n), 128, 64));
      blocks.push_back(runtime.block<double>("u" + std::to_string(n), {32, 16, 16}));
    }
    const auto set_vector = on_cores("set", [](Out<Vector<double>> x, int n) {
      for (std::int64_t i = 0; i < x.size(); ++i) x(i) = n + static_cast<double>(i);
    });
    const auto copy_to_matrix = on_cores("copy", [](In<Vector<double>> x, Out<Tile<double>> a) {
      for (int j = 0; j < a.columns(); ++j)
        for (int i = 0; i < a.rows(); ++i) a(i, j) = x(i + j * 128) * 2;
    });
    const auto copy_to_block = [](In<Tile<double>> a, Out<Block<double>> b) {
      for (int k = 0; k < 16; ++k)
        for (int j = 0; j < 16; ++j)
          for (int i = 0; i < 32; ++i) {
            const int at = i + 32 * (j + 16 * k);
            b(i, j, k) = a(at % 128, at / 128) + 1;
          }
    };
    std::vector<int> wrong(20, -1);
    const auto look = on_cores("look", [](In<Block<double>> b, int n, Out<int> result) {
      int count = 0;
      for (int k = 0; k < 16; ++k)
        for (int j = 0; j < 16; ++j)
          for (int i = 0; i < 32; ++i) count += b(i, j, k) != 2.0 * (n + i + 32 * (j + 16 * k)) + 1;
      *result = count;
    });
    Flow flow(runtime);
    for (std::size_t n = 0; n < 20; ++n) flow.submit(set_vector(vectors[n], static_cast<int>(n)));
    for (std::size_t n = 0; n < 20; ++n) flow.submit(copy_to_matrix(vectors[n], matrices[n]));
    for (std::size_t n = 0; n < 20; ++n)
      if (*devices == '\0') {
        flow.submit(on_cores("copy", copy_to_block)(matrices[n], blocks[n]));
      } else {
        flow.submit(on_devices("copy", copy_to_block)(matrices[n], blocks[n]));
      }
    for (std::size_t n = 0; n < 20; ++n)
      flow.submit(look(blocks[n], static_cast<int>(n), runtime.value("wrong", wrong[n])));
    flow.wait();
    EXPECT_EQ(wrong, std::vector<int>(20, 0));
    EXPECT_GT(runtime.disk_traffic().written, 20u * 65536);
  }
}

namespace {
/// Something with a pointer in it.
struct Polygon {
  std::vector<float> corners;
};
constexpr Bytes packed_polygon = 16 * sizeof(float);
void pack(const Polygon& polygon, std::byte* to) { std::memcpy(to, polygon.corners.data(), packed_polygon); }
void unpack(const std::byte* from, Polygon& polygon) {
  std::memcpy(polygon.corners.data(), from, packed_polygon);
}
}  // namespace

TEST(Shapes, AUsersObjectIsPackedForDevices) {
  Runtime runtime(settings("16MiB", one_device));
  Polygon polygon{std::vector<float>(16, 1)};
  const auto handle = runtime.packable("polygon", polygon, packed_polygon, pack, unpack);
  const auto on_core = on_cores("on core", [](InOut<Packable<Polygon>> p) {
    for (float& corner : p.object().corners) corner += 1;
  });
  const auto on_device = on_devices("on device", [](InOut<Packable<Polygon>> p) {
    auto* corners = reinterpret_cast<float*>(p.bytes().data());
    for (std::size_t i = 0; i < p.bytes().size() / sizeof(float); ++i) corners[i] *= 2;
  });
  Flow flow(runtime);
  for (int i = 0; i < 3; ++i) {
    flow.submit(on_core(handle));
    flow.submit(on_device(handle));
  }
  flow.wait();
  runtime.flush();
  EXPECT_EQ(polygon.corners, std::vector<float>(16, 22));  // 1, 2, 4, 5, 10, 11, 22
}

// In the runtime's memory it is packed everywhere, also on the disk: forty of 16 KiB, of which four fit.
TEST(Shapes, AnObjectThatTheRuntimeKeepsIsAlwaysPacked) {
  Runtime runtime(settings("64KiB"));
  std::vector<Handle<Packable<Polygon>>> all;
  for (int i = 0; i < 40; ++i) all.push_back(runtime.packable<Polygon>("polygon", 16384));
  const auto set = on_cores(
      "set", [](Out<Packable<Polygon>> p, int n) { std::memset(p.bytes().data(), n, p.bytes().size()); });
  int wrong = 0;
  const auto look = on_cores("look", [](In<Packable<Polygon>> p, int n, Commute<int> count) {
    for (const std::byte byte : p.bytes()) *count += byte != static_cast<std::byte>(n);
  });
  const auto count = runtime.value("wrong", wrong);
  Flow flow(runtime);
  for (int i = 0; i < 40; ++i) flow.submit(set(all[static_cast<std::size_t>(i)], i));
  for (int i = 0; i < 40; ++i) flow.submit(look(all[static_cast<std::size_t>(i)], i, count));
  flow.wait();
  EXPECT_EQ(wrong, 0);
}

// The application gets the same views as bodies.
TEST(Shapes, AHoldHasTheViewOfABody) {
  Runtime runtime(settings());
  std::vector<double> memory(60, 1);
  const auto x = runtime.vector("x", memory.data(), 20, 3);
  const auto u = runtime.block<double>("u", {2, 3, 4});
  Flow flow(runtime);
  {
    const auto hold = flow.acquire(update(x), write(u));
    hold.get<0>()(19) = 7;
    hold.get<1>()(1, 2, 3) = 8;
  }
  EXPECT_EQ(memory[57], 7);
  const auto hold = flow.acquire(read(u));
  EXPECT_EQ(hold.get<0>()(1, 2, 3), 8);
}

// A hundred temporaries, one after the other; each reuses the slot of the previous one.
TEST(Shapes, RemovingADatumWaitsForItsTasks) {
  Runtime runtime(settings("1MiB"));
  const auto fill = on_cores("fill", [](Out<Vector<double>> x) { x(0) = 1; });
  for (int i = 0; i < 100; ++i) {
    const auto x = runtime.vector<double>("temporary", 8192);
    Flow flow(runtime);
    flow.submit(fill(x));
    runtime.remove(x);
    EXPECT_EQ(flow.done(), 1u);
  }
}

}  // namespace fairlead
