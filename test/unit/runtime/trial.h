//===- trial.h - a session of a hand-written program ------------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_TRIAL_H
#define TEST_UNIT_RUNTIME_TRIAL_H

#include "tiny_program.h"
#include "zero_rt/zero_rt.h"

#include <array>
#include <gtest/gtest.h>
#include <unistd.h>

/// The code of a status, and its text for the message of a failing test.
struct Result {
  Result(zero_rt_status status) : code(status.code), text(status.message ? status.message : "") {
    zero_rt_status_release(&status);
  }
  zero_rt_code code;
  std::string text;
};

#define EXPECT_OK(call)                                                                            \
  do {                                                                                             \
    Result result(call);                                                                           \
    EXPECT_EQ(result.code, ZERO_RT_OK) << result.text;                                             \
  } while (false)

#define EXPECT_FAILS(call, expected, part)                                                         \
  do {                                                                                             \
    Result result(call);                                                                           \
    EXPECT_EQ(result.code, expected) << result.text;                                               \
    EXPECT_NE(result.text.find(part), std::string::npos) << result.text;                           \
  } while (false)

/// A test program whose sessions do not run on the CPU sets this function. It converts a
/// hand-written program into one for its device.
inline void (*moveTrial)(HandMadeProgram &program, zero_rt_session_options &options) = nullptr;

/// Skips a test of features that only the CPU has.
#define ONLY_ON_CPU()                                                                              \
  if (moveTrial)                                                                                   \
  GTEST_SKIP()

/// A session of a hand-written program, with data of `batches` global batches. Row i of x is i, i +
/// 1, i + 2, i + 3.
class Trial {
public:
  explicit Trial(const HandMadeProgram &made) : ranks(int(made.program.ranks())) {
    zero_rt_session_options_default(&options);
    options.timeout_seconds = 30;
    HandMadeProgram moved = made;
    if (moveTrial)
      moveTrial(moved, options);
    std::string path = moved.write("run.zexe");
    Result loaded(zero_rt_executable_load(path.c_str(), &executable));
    EXPECT_EQ(loaded.code, ZERO_RT_OK) << loaded.text;
    ::unlink(path.c_str());
  }
  ~Trial() {
    zero_rt_session_free(session);
    zero_rt_data_free(data);
    zero_rt_executable_free(executable);
  }

  void start() {
    EXPECT_OK(zero_rt_session_create(executable, &options, &session));
    EXPECT_OK(zero_rt_data_create(executable, &data));
    EXPECT_OK(zero_rt_session_set_data(session, data));
  }
  void bind(uint64_t rows, float poison = 0, uint64_t poisonRow = UINT64_MAX, int64_t label = 3) {
    std::vector<float> x(rows * 4);
    std::vector<int64_t> labels(rows, label);
    for (uint64_t i = 0; i < x.size(); ++i) {
      const uint64_t row = i / 4;
      x[i] = row == poisonRow ? poison : float(row + i % 4);
    }
    std::array<uint64_t, 2> shape{rows, 4};
    EXPECT_OK(zero_rt_data_bind_memory(data, "x", ZERO_RT_F32, shape.data(), 2, x.data()));
    EXPECT_OK(zero_rt_data_bind_memory(data, "label", ZERO_RT_I64, &rows, 1, labels.data()));
  }
  zero_rt_status step(uint32_t flags = 0) { return zero_rt_session_step(session, flags, &result); }
  std::vector<float> weights() {
    std::vector<float> w(12);
    EXPECT_OK(zero_rt_session_read_tensor(session, "w", w.data(), 48));
    return w;
  }

  int ranks;
  zero_rt_session_options options;
  zero_rt_executable *executable = nullptr;
  zero_rt_session *session = nullptr;
  zero_rt_data *data = nullptr;
  zero_rt_step_result result{};
};

/// Loads a changed program and expects an error that contains `part`.
inline void expectRefused(const HandMadeProgram &made, zero_rt_code code, const std::string &part) {
  std::string path = made.write("refused.zexe");
  zero_rt_executable *executable = nullptr;
  EXPECT_FAILS(zero_rt_executable_load(path.c_str(), &executable), code, part);
  EXPECT_EQ(executable, nullptr);
  ::unlink(path.c_str());
}

#endif // TEST_UNIT_RUNTIME_TRIAL_H
