//===- capi_session.cpp - zero_rt.h: running a program --------------------===//

#include "runtime/core/capi.h"

using namespace zero::rt;

void zero_rt_session_options_default(zero_rt_session_options *options) {
  *options = {};
  options->threads_per_rank = 1;
  options->timeout_seconds = 120;
  options->pin = -1;
  options->stall_rank = -1;
  options->stall_collective = -1;
}

zero_rt_status zero_rt_session_create(const zero_rt_executable *executable,
                                      const zero_rt_session_options *options,
                                      zero_rt_session **session) {
  return guard([&]() -> Status {
    auto made = std::make_unique<zero_rt_session>();
    ZERO_RT_TRY(Session::create(executable->program, *options, made->session));
    *session = made.release();
    return {};
  });
}

void zero_rt_session_free(zero_rt_session *session) { delete session; }

zero_rt_status zero_rt_session_bind_file(zero_rt_session *session, const char *input,
                                         const char *path, const char *member) {
  return guard([&]() -> Status {
    Array array;
    if (Status read = readArray(path, member ? member : "", input, array); !read.ok())
      return fail(read.getCode(), "input '%s': %s", escape(input).c_str(),
                  read.getMessage().c_str());
    return session->session->bind(input, std::move(array));
  });
}

zero_rt_status zero_rt_session_bind_memory(zero_rt_session *session, const char *input,
                                           zero_rt_dtype dtype, const uint64_t *shape,
                                           size_t dimensions, const void *data) {
  return guard([&]() -> Status {
    Array array;
    array.dtype = dtype;
    array.shape.assign(shape, shape + dimensions);
    uint64_t count, bytes;
    if (sizeOf(dtype) == 0 || !countElements(array.shape, count) ||
        __builtin_mul_overflow(count, sizeOf(dtype), &bytes))
      return fail(ZERO_RT_INVALID_ARGUMENT, "input '%s': bad element type or shape",
                  escape(input).c_str());
    auto *begin = static_cast<const uint8_t *>(data);
    auto memory = std::make_shared<std::vector<uint8_t>>(begin, begin + bytes);
    array.bytes = *memory;
    array.memory = std::move(memory);
    return session->session->bind(input, std::move(array));
  });
}

const char *zero_rt_session_next_warning(zero_rt_session *session) {
  return session->session->nextWarning();
}

zero_rt_status zero_rt_session_set_learning_rate(zero_rt_session *session, float rate) {
  return guard([&] { return session->session->setLearningRate(rate); });
}

zero_rt_status zero_rt_session_step(zero_rt_session *session, uint32_t flags,
                                    zero_rt_step_result *result) {
  return guard([&] { return session->session->step(flags, *result); });
}

zero_rt_status zero_rt_session_read_output(zero_rt_session *session, const char *name, int rank,
                                           void *destination, size_t bytes) {
  return guard([&] { return session->session->readOutput(name, rank, destination, bytes); });
}

zero_rt_status zero_rt_session_read_tensor(zero_rt_session *session, const char *name,
                                           void *destination, size_t bytes) {
  return guard([&] { return session->session->readTensor(name, destination, bytes); });
}

zero_rt_status zero_rt_session_read_gradient(zero_rt_session *session, const char *parameter,
                                             void *destination, size_t bytes) {
  return guard([&] { return session->session->readGradient(parameter, destination, bytes); });
}

zero_rt_status zero_rt_session_save(zero_rt_session *session, const char *path) {
  return guard([&] { return session->session->save(path); });
}

zero_rt_status zero_rt_session_save_gradients(zero_rt_session *session, const char *path) {
  return guard([&] { return session->session->saveGradients(path); });
}

zero_rt_status zero_rt_session_stats(const zero_rt_session *session, int rank,
                                     zero_rt_stats *stats) {
  return guard([&] { return session->session->stats(rank, *stats); });
}
