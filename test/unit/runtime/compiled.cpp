//===- compiled.cpp - executables that zeroc makes ------------------------===//

#include "compiled.h"

#include "trial.h"

#include "runtime/format/tables.h"

#include <cstdlib>
#include <cstring>
#include <set>
#include <sys/wait.h>

namespace zero::rt {

static constexpr unsigned kMostSeconds = 60; // per run

Compiled::Compiled(const std::string &graph, const std::string &flags)
    : path(testing::TempDir() + "zero-" + std::to_string(::getpid()) + "-" + graph + ".zexe") {
  const std::string command = std::string(ZEROC) + " " + ZERO_TEST_DATA + "/" + graph +
                              "/model.onnx -o " + path + " " + flags + " > /dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  EXPECT_EQ(readExecutable(path, executable), "");
}

Compiled::~Compiled() { ::unlink(path.c_str()); }

namespace {
/// Executes one run. The first failure ends it.
class Run {
public:
  explicit Run(const proto::Program &program) : program(program) {}
  ~Run() {
    zero_rt_session_free(session);
    zero_rt_data_free(data);
    zero_rt_executable_free(executable);
  }

  Outcome operator()(const std::string &path, bool checkMemory) {
    zero_rt_session_options options;
    zero_rt_session_options_default(&options);
    options.check_memory = checkMemory;
    options.allow_nan = 1;
    if (ok(zero_rt_executable_load(path.c_str(), &executable)) &&
        ok(zero_rt_session_create(executable, &options, &session)) &&
        ok(zero_rt_data_create(executable, &data)) && bind() &&
        ok(zero_rt_session_set_data(session, data)))
      train();
    return outcome;
  }

private:
  bool ok(zero_rt_status status) {
    Result result(status);
    outcome.failed = result.code != ZERO_RT_OK;
    outcome.error = result.text;
    return !outcome.failed;
  }

  void append(const void *bytes, size_t size) {
    outcome.bits.append(static_cast<const char *>(bytes), size);
  }

  /// Binds small numbers that every graph accepts: the samples of two steps.
  bool bind() {
    for (const proto::Input &input : program.inputs()) {
      if (input.kind() != proto::Input::DATA)
        continue;
      std::vector<uint64_t> shape(input.shape().begin(), input.shape().end());
      shape[0] *= 2 * program.ranks() * microBatchesOf(program);
      uint64_t count = 1;
      for (uint64_t dim : shape)
        count *= dim;
      std::vector<float> floats(count);
      std::vector<int64_t> integers(count);
      for (uint64_t i = 0; i < count; ++i)
        integers[i] = int64_t(i * 2654435761 >> 7) & 7, floats[i] = float(integers[i]) / 8 - 0.5f;
      const bool isFloat = input.dtype() == proto::F32;
      if (!ok(zero_rt_data_bind_memory(
              data, input.name().c_str(), isFloat ? ZERO_RT_F32 : ZERO_RT_I64, shape.data(),
              shape.size(),
              isFloat ? static_cast<void *>(floats.data()) : static_cast<void *>(integers.data()))))
        return false;
    }
    return true;
  }

  void train() {
    zero_rt_step_result result{};
    for (int step = 0; step < 3; ++step) {
      if (!ok(step == 1 ? zero_rt_session_evaluate(session, data, 1, &result)
                        : zero_rt_session_step(session, ZERO_RT_KEEP_GRADIENTS, &result)))
        return;
      append(&result.loss, sizeof(result.loss));
      append(&result.gradient_norm, sizeof(result.gradient_norm));
    }
    std::set<std::string> mastered; // these are read as f32
    for (const proto::Tensor &tensor : program.tensors())
      if (tensor.master())
        mastered.insert(tensor.of());
    for (const proto::Tensor &tensor : program.tensors())
      read(tensor, mastered.count(tensor.name()) ? ZERO_RT_F32 : toDType(tensor.dtype()),
           zero_rt_session_read_tensor);
    for (const proto::Gradient &gradient : program.gradients())
      for (const proto::Tensor &tensor : program.tensors())
        if (tensor.name() == gradient.parameter())
          read(tensor, ZERO_RT_F32, zero_rt_session_read_gradient);
    zero_rt_stats stats;
    if (!outcome.failed && ok(zero_rt_session_stats(session, 0, &stats)))
      outcome.peak = stats.measured_peak[ZERO_RT_DEVICE],
      outcome.mostLive = stats.measured_live[ZERO_RT_DEVICE];
  }

  template <typename Reader>
  void read(const proto::Tensor &tensor, DType dtype, Reader reader) {
    std::vector<char> bytes(elementsOf(tensor.shape()) * sizeOf(dtype));
    if (outcome.failed || !ok(reader(session, tensor.name().c_str(), bytes.data(), bytes.size())))
      return;
    append(bytes.data(), bytes.size());
  }

  const proto::Program &program;
  zero_rt_executable *executable = nullptr;
  zero_rt_session *session = nullptr;
  zero_rt_data *data = nullptr;
  Outcome outcome;
};
} // namespace

/// Writes `outcome` into a pipe, from which receive() reads it.
static void send(int to, const Outcome &outcome) {
  auto write = [&](const void *bytes, size_t size) {
    for (const char *at = static_cast<const char *>(bytes), *end = at + size; at < end;) {
      const ssize_t written = ::write(to, at, size_t(end - at));
      if (written <= 0)
        ::_exit(1);
      at += written;
    }
  };
  const uint64_t head[] = {outcome.failed, outcome.peak, outcome.mostLive, outcome.error.size()};
  write(head, sizeof(head));
  write(outcome.error.data(), outcome.error.size());
  write(outcome.bits.data(), outcome.bits.size());
}

static Outcome receive(int from, pid_t child) {
  std::string bytes;
  char part[65536];
  for (ssize_t count; (count = ::read(from, part, sizeof(part))) > 0;)
    bytes.append(part, size_t(count));
  int status;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  Outcome outcome;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    outcome.failed = true;
    outcome.error = "ended by signal " + std::to_string(WTERMSIG(status));
    return outcome;
  }
  uint64_t head[4];
  std::memcpy(head, bytes.data(), sizeof(head));
  outcome.failed = head[0] != 0, outcome.peak = head[1], outcome.mostLive = head[2];
  outcome.error = bytes.substr(sizeof(head), head[3]);
  outcome.bits = bytes.substr(sizeof(head) + head[3]);
  return outcome;
}

Outcome Compiled::run(const proto::Program &program, bool checkMemory) const {
  const std::string changed = path + ".changed";
  auto text = [](std::span<const uint8_t> bytes) {
    return std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  };
  EXPECT_EQ(writeExecutable(changed, program, text(executable.code), text(executable.data),
                            executable.isa, text(executable.hostCode)),
            "");
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  std::fflush(nullptr); // otherwise both processes print it
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kMostSeconds);
    send(ends[1], Run(program)(changed, checkMemory));
    ::_exit(0);
  }
  ::close(ends[1]);
  Outcome outcome = receive(ends[0], child);
  ::close(ends[0]);
  ::unlink(changed.c_str());
  return outcome;
}

} // namespace zero::rt
