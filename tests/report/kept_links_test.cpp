// Measured links as text and JSON.
#include "report/kept_links.hpp"

#include <gtest/gtest.h>

namespace fairlead::report {
namespace {

TEST(KeptLinks, AreRowsOfATable) {
  const model::KeptLinks links{
      {"user memory", "RAM", "", 12'000'000'000, 11'000'000'000, 15'000'000'000, 350, 0},
      {"disk", "RAM", "ext4 at /", 900'000'000, 500'000'000, 0, 81'000, 20'000}};
  EXPECT_EQ(
      links_text(links),
      "link                         forward     reverse  both at once   latency  measured\n"
      "user memory - RAM          12.0 GB/s   11.0 GB/s     15.0 GB/s    350 ns  1970-01-01\n"
      "disk - RAM                  900 MB/s    500 MB/s         0 B/s     81 us  2024-10-04, ext4 at /\n");
  EXPECT_EQ(links_text({}), "");
}

TEST(KeptLinks, HaveAllTheirFiguresInJson) {
  EXPECT_EQ(links_json({{"disk", "RAM", "ext4 at /", 900, 500, 700, 81'000, 20'000}}).text(),
            R"([
  {
    "first": "disk",
    "second": "RAM",
    "place": "ext4 at /",
    "to_second_bytes_per_second": 900,
    "to_first_bytes_per_second": 500,
    "both_bytes_per_second": 700,
    "latency_ns": 81000,
    "measured_on": "2024-10-04"
  }
]
)");
}

}  // namespace
}  // namespace fairlead::report
