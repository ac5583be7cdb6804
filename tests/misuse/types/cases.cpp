// Code that must not compile, one case at a time, with a readable message: CMakeLists.txt has the expected
// messages. Case 0 has the correct code.
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>
#include <fairlead/opencl.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace fairlead;

void mistakes(Runtime& runtime) {
#if CASE == 0
  codelet("plain").cpu(
      [](In<double>, InOut<Tile<float>>, Scratch<int>, int, std::string, const std::string&) {});
  codelet("constant").cpu([](const In<double>&, const Scratch<int>&) noexcept {});
  codelet("later").cpu([](Completion, Team, Out<double>) {});
  codelet("function").cpu(+[](InOut<double>) noexcept {});
  codelet("lists").cpu([](Many<In<Tile<double>>>, const Many<InOut<double>>&, Many<Commute<double>>) {});
  codelet("launches").opencl([](OpenclQueue, InOut<Tile<double>>, Scratch<int>, int) {});
  codelet("in a stream").cuda([](CudaStream stream, InOut<double>) { stream.workspace(); });
  codelet("in CUDA's").cpu([](In<double>) {}).cuda("by hand", [](CUstream_st*, In<double>) {});
  codelet("both").cpu([](In<double>) {}).opencl("fast", [](OpenclQueue queue, In<double> x) {
    queue.buffer(x);
  });
  struct Pair {
    int a, b[3];
  } pair{};
  runtime.value("pair", pair);
#elif CASE == 1
  codelet("generic").cpu([](auto x) { *x = 1; });
#elif CASE == 2
  codelet("generic").emulated("by name", [](In<double>, auto&... rest) { (void)sizeof...(rest); });
#elif CASE == 3
  codelet("second").cpu([](InOut<double>) {}).emulated([](auto x) { *x = 1; });
#elif CASE == 4
  codelet("reference").cpu([](double& x) { x = 1; });
#elif CASE == 5
  codelet("reference").cpu([](In<double>, InOut<double>& x) { *x = 1; });
#elif CASE == 6
  codelet("moved").cpu([](std::string&& text) { text.clear(); });
#elif CASE == 7
  codelet("late").cpu([](In<double>, Completion) {});
#elif CASE == 8
  codelet("not copied").cpu([](std::unique_ptr<int>) {});
#elif CASE == 9
  int calls = 0;
  codelet("changes").cpu([calls](In<double>) mutable { ++calls; });
#elif CASE == 10
  std::vector<double> numbers(3);
  runtime.value("numbers", numbers);
#elif CASE == 11
  std::string text;
  runtime.vector("texts", &text, 1);
#elif CASE == 12
  runtime.tiled<std::string>("texts", 4, 4, 2);
#elif CASE == 13
  const double pi = 3.14;
  runtime.value("pi", pi);
#elif CASE == 14
  codelet("no queue").opencl([](InOut<double>) {});
#elif CASE == 15
  codelet("on cores").cpu([](OpenclQueue, InOut<double>) {});
#elif CASE == 16
  codelet("queue later").opencl([](OpenclQueue, InOut<double>, OpenclQueue) {});
#elif CASE == 17
  codelet("reduces").opencl([](OpenclQueue, Reduce<double>) {});
#elif CASE == 18
  codelet("no stream").cuda([](InOut<double>) {});
#elif CASE == 19
  codelet("on cores").cpu([](CUstream_st*, InOut<double>) {});
#elif CASE == 20
  codelet("stream later").cuda([](CudaStream, InOut<double>, CudaStream) {});
#elif CASE == 21
  codelet("wrong queue").cuda([](OpenclQueue, InOut<double>) {});
#elif CASE == 22
  codelet("reduces").cuda([](CudaStream, Reduce<double>) {});
#elif CASE == 23
  codelet("list of values").cpu([](Many<double>) {});
#elif CASE == 24
  codelet("reduces").cpu([](Many<Reduce<double>>) {});
#endif
  (void)runtime;
}
