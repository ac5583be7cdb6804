// Random programs on a CUDA device and a core, with random numbers of streams and workspaces, little memory
// and several entries that share the device; policies alternate. The values must equal those of a sequential
// run.
//
//   gpu_programs [--device 0] [--programs 300] [--seed 1]
//
// On failure the last line names the first wrong program, and the exit status is 1. The driver compiles the
// kernels.
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <map>

#include "base/random.hpp"
#include "cuda/random_program.hpp"
#include "gpu_common.hpp"
#include "schedule/policies.hpp"

namespace {

using namespace gpu;
namespace fl = fairlead;
using Numbers = fl::Vector<long>;

// One thread per element. `combine` reads the workspace that `keep` writes.
constexpr const char* kernels = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry advance(.param .u64 x, .param .s64 size, .param .s64 factor) {
  .reg .pred %outside; .reg .b32 %t<4>; .reg .b64 %i, %n, %f, %at, %v;
  mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t3, %t0, %t1, %t2;
  cvt.u64.u32 %i, %t3; ld.param.s64 %n, [size]; setp.ge.s64 %outside, %i, %n; @%outside ret;
  ld.param.u64 %at, [x]; ld.param.s64 %f, [factor]; cvta.to.global.u64 %at, %at;
  shl.b64 %v, %i, 3; add.s64 %at, %at, %v; ld.global.s64 %v, [%at];
  mad.lo.s64 %v, %v, %f, %i; st.global.s64 [%at], %v; ret;
}
.visible .entry keep(.param .u64 x, .param .u64 workspace, .param .s64 part) {
  .reg .pred %outside; .reg .b32 %t<4>; .reg .b64 %i, %n, %from, %to, %v;
  mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t3, %t0, %t1, %t2;
  cvt.u64.u32 %i, %t3; ld.param.s64 %n, [part]; setp.ge.s64 %outside, %i, %n; @%outside ret;
  ld.param.u64 %from, [x]; ld.param.u64 %to, [workspace]; cvta.to.global.u64 %from, %from; cvta.to.global.u64 %to, %to;
  shl.b64 %v, %i, 3; add.s64 %from, %from, %v; add.s64 %to, %to, %v;
  ld.global.s64 %v, [%from]; st.global.s64 [%to], %v; ret;
}
.visible .entry combine(.param .u64 x, .param .u64 workspace, .param .s64 part, .param .u64 y, .param .u64 z, .param .s64 size,
                        .param .s64 factor) {
  .reg .pred %outside, %kept; .reg .b32 %t<4>; .reg .b64 %i, %n, %p, %a, %w, %b, %c, %o, %u, %v, %r, %f;
  mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t3, %t0, %t1, %t2;
  cvt.u64.u32 %i, %t3; ld.param.s64 %n, [size]; setp.ge.s64 %outside, %i, %n; @%outside ret;
  ld.param.s64 %p, [part]; setp.lt.s64 %kept, %i, %p;
  ld.param.u64 %a, [x]; ld.param.u64 %w, [workspace]; selp.b64 %a, %w, %a, %kept;
  ld.param.u64 %b, [y]; ld.param.u64 %c, [z]; ld.param.s64 %f, [factor];
  cvta.to.global.u64 %a, %a; cvta.to.global.u64 %b, %b; cvta.to.global.u64 %c, %c;
  shl.b64 %o, %i, 3; add.s64 %a, %a, %o; add.s64 %b, %b, %o; add.s64 %c, %c, %o;
  ld.global.s64 %u, [%a]; ld.global.s64 %v, [%b]; ld.global.s64 %r, [%c];
  mul.lo.s64 %r, %r, %f; mad.lo.s64 %r, %u, 3, %r; sub.s64 %r, %r, %v; rem.s64 %r, %r, 1000003;
  st.global.s64 [%c], %r; ret;
}
)";

fl::CudaGrid grid_of(long size) { return fl::cuda_grid(static_cast<unsigned>((size + 127) / 128), 128); }

/// One to three entries of the device, from the minimum memory for the largest task upwards; sometimes an
/// emulated one in addition.
std::string drawn_devices(fl::Random& random, std::int64_t device) {
  std::string list;
  const std::uint64_t entries = 1 + random.below(3);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t streams = 1 + random.below(4);
    const std::uint64_t kilobytes = 24 + 4 * streams + (random.once_in(6) ? 1000 : 4 * random.below(8));
    list += fmt::format("{}cuda:{},memory={}KiB,streams={}{}", list.empty() ? "" : " + ", device, kilobytes,
                        streams, random.once_in(5) ? ",peers=off" : "");
    if (random.once_in(12)) list += " + emulated:memory=24KiB,copies=blocking";
  }
  return list;
}

Json measure(Arguments& arguments) {
  const std::int64_t number = arguments.number("--device", 0), programs = arguments.number("--programs", 300);
  const auto first = static_cast<std::uint64_t>(arguments.number("--seed", 1));
  arguments.require_all_used();
  const Device kept(number);  // otherwise each program would create the driver's context again
  const fl::CudaModule module(kernels, {"advance", "keep", "combine"});
  const auto step =
      fl::codelet("step")
          .cpu([](fl::InOut<Numbers> x, long factor) { fl::tests::advance(x.data(), x.size(), factor); })
          .cuda([module](fl::CudaStream stream, fl::InOut<Numbers> x, long factor) {
            stream.run(module["advance"], grid_of(x.size()), x.data(), static_cast<long>(x.size()), factor);
          })
          .emulated();
  const auto mix =
      fl::codelet("mix")
          .cpu([](fl::In<Numbers> x, fl::In<Numbers> y, fl::InOut<Numbers> z, long f) {
            fl::tests::combine(x.data(), y.data(), z.data(), z.size(), f);
          })
          .cuda([module](fl::CudaStream stream, fl::In<Numbers> x, fl::In<Numbers> y, fl::InOut<Numbers> z,
                         long f) {
            const long size = z.size(),
                       part = std::min(size, static_cast<long>(stream.workspace_bytes() / sizeof(long)));
            auto* const workspace = static_cast<long*>(stream.workspace());
            stream.run(module["keep"], grid_of(part), x.data(), workspace, part);
            stream.run(module["combine"], grid_of(size), x.data(), workspace, part, y.data(), z.data(), size,
                       f);
          })
          .emulated();
  const auto policies = fl::schedule::policy_names();
  std::map<std::string, std::int64_t> of_policy;
  for (std::int64_t i = 0; i < programs; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    fl::Random random(fl::Random::mix(seed));
    fl::Config config;
    const std::string devices = drawn_devices(random, number),
                      policy{policies[static_cast<std::size_t>(i) % policies.size()]};
    config.set("workers", fmt::format("{}", 1 + seed % 2));
    config.set("memory", "8MiB");
    config.set("scheduler", policy);
    config.set("bind-threads", false);
    config.set("devices", devices);
    const fl::tests::ProgramRun run =
        fl::tests::run_program(seed, config, fl::backend::default_backends(), step, mix);
    if (!run.said.empty() || !run.right)
      throw fl::NumericalError(fmt::format("program {} under {} on {}: {}", seed, policy, devices,
                                           run.said.empty() ? "wrong values" : run.said));
    ++of_policy[policy];
  }
  return Json::object({{"device", kept.found().name},
                       {"programs", programs},
                       {"first_seed", first},
                       {"policies", of_policy.size()}});
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
