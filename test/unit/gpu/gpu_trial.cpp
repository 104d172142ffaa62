//===- gpu_trial.cpp - sessions on the recording driver -------------------===//
//
// If linked to the executor's tests, this file makes them run on a simulated GPU. The kernels of
// the code section become entries of a module text, which the recording driver maps to the same
// functions. Each test has a separate seed, unless ZERO_RECORDING_SEED sets one.
//
//===----------------------------------------------------------------------===//

#include "../runtime/trial.h"
#include "recording.h"
#include "runtime/comm/reduce.h"
#include "runtime/device/cpu/library.h"
#include "runtime/device/cpu/module.h"

#include <cstdlib>

using namespace zero::rt;

namespace {

constexpr uint32_t kThreads = 32;

/// The number of arguments in launches of kernel `index`.
int argumentsOf(const proto::Program &program, int index) {
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      if (command.has_launch() && int(command.launch().kernel()) == index)
        return command.launch().args_size();
  return 0;
}

/// The functions of the test kernels, loaded once.
const Module &testModule() {
  static const std::shared_ptr<Module> module = [] {
    std::shared_ptr<Module> made;
    static const std::string code = testKernels();
    proto::Program none;
    EXPECT_TRUE(
        Module::load(none, {reinterpret_cast<const uint8_t *>(code.data()), code.size()}, made)
            .ok());
    return made;
  }();
  return *module;
}

/// Returns the behaviour of a kernel as a host function.
recording::Kernel functionOf(const proto::Kernel &kernel) {
  if (kernel.has_symbol())
    return [native = testModule().find(kernel.symbol())](const std::vector<void *> &pointers,
                                                         const std::vector<int64_t> &scalars,
                                                         uint64_t threads) {
      EXPECT_GE(threads, uint64_t(scalars[0]));
      native(pointers.data(), 0, scalars[0]);
    };
  std::unique_ptr<LibraryKernel> made;
  EXPECT_TRUE(makeLibraryKernel(kernel, 1, made).ok());
  std::shared_ptr<const LibraryKernel> library = std::move(made);
  return [library](const std::vector<void *> &pointers, const std::vector<int64_t> &, uint64_t) {
    std::unique_ptr<LibraryCall> call;
    EXPECT_TRUE(library->makeCall(call).ok() && call->run(pointers.data()).ok());
  };
}

/// Whether cuBLASLt does not support such a product. It is then a kernel like any other.
bool isMixed(const proto::Kernel &kernel) {
  if (!kernel.has_matmul() || kernel.stored_size() == 0)
    return false;
  const int result = *kernel.stored().rbegin();
  return kernel.stored(0) != kernel.stored(1) ||
         (result != proto::F32 && result != kernel.stored(0));
}

/// Changes a kernel into one of GPU code and returns its declaration.
std::string moveKernel(proto::Program &program, int index) {
  proto::Kernel &kernel = *program.mutable_kernels(index);
  const std::string symbol = kernel.has_symbol() ? kernel.symbol() : "mixed_" + kernel.name();
  const int arguments = argumentsOf(program, index);
  recording::addKernel(symbol, arguments, 1, functionOf(kernel));
  kernel.clear_stored();
  proto::GpuEntry &entry = *kernel.mutable_gpu()->add_entries();
  entry.set_symbol(symbol);
  entry.set_threads(kThreads);
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      if (command.has_launch() && int(command.launch().kernel()) == index)
        entry.set_blocks(command.launch().length() > 0 ? 0 : 1);
  entry.set_per_block(kThreads);
  std::string text = ".visible .entry " + symbol + "(";
  for (int i = 0; i <= arguments; ++i)
    text += std::string(i ? ", " : "") + ".param .u64 p" + std::to_string(i);
  return text + ") { ret; }\n";
}

/// Whether cores of the host run kernel `index`: it stays as it is.
bool staysOnHost(const proto::Program &program, int index) {
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      if (command.has_launch() && int(command.launch().kernel()) == index &&
          command.lane() == proto::HOST_COMPUTE)
        return true;
  return false;
}

void moveToGpu(HandMadeProgram &made, zero_rt_session_options &options) {
  proto::Program &program = made.program;
  made.code = ".version 7.0\n.target sm_80\n.address_size 64\n";
  program.set_target(proto::CUDA);
  for (int i = 0; i < program.kernels_size(); ++i)
    if (staysOnHost(program, i))
      made.hostCode = testKernels();
    else if (program.kernels(i).has_symbol() || isMixed(program.kernels(i)))
      made.code += moveKernel(program, i);
  for (proto::Segment &segment : *program.mutable_segments())
    for (proto::Command &command : *segment.mutable_commands())
      if (command.has_check())
        command.mutable_check()->set_deferred(segment.kind() != proto::Segment::EPILOGUE);
  made.code.push_back('\0');
  proto::GpuImage &image = *program.add_gpu_images();
  image.set_architecture(80);
  image.set_bytes(made.code.size());
  options.device = "cuda";
}

/// Runs before and after each test.
class Recorded : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo &info) override {
    uint64_t seed = std::hash<std::string>()(std::string(info.test_suite_name()) + info.name());
    if (const char *given = std::getenv("ZERO_RECORDING_SEED"))
      seed = std::strtoull(given, nullptr, 10);
    recording::reset({.seed = seed});
  }
  void OnTestEnd(const testing::TestInfo &) override {
    for (const std::string &problem : recording::problems())
      ADD_FAILURE() << problem;
    EXPECT_EQ(recording::counts().alive, 0u) << "something of the driver's was not freed";
  }
};

struct Environment {
  Environment() {
    ::setenv("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA, 1);
    ::setenv("ZERO_CUBLASLT", ZERO_RECORDING_CUDA, 1);
    ::setenv("ZERO_NCCL", ZERO_RECORDING_CUDA, 1);
    moveTrial = moveToGpu;
    testing::UnitTest::GetInstance()->listeners().Append(new Recorded);
  }
} environment;

} // namespace
