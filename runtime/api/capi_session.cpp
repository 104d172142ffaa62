//===- capi_session.cpp - zero_rt.h: running a program --------------------===//

#include "runtime/api/capi.h"
#include "runtime/session/evaluation.h"

using namespace zero::rt;

void zero_rt_session_options_default(zero_rt_session_options *options) {
  *options = {};
  options->timeout_seconds = 120;
  options->pin = -1;
  options->gpu_graphs = 1;
  options->stall_rank = -1;
  options->stall_collective = -1;
}

zero_rt_status zero_rt_session_create(const zero_rt_executable *executable,
                                      const zero_rt_session_options *options,
                                      zero_rt_session **session) {
  return guard([&]() -> Status {
    zero_rt_session_options defaults;
    zero_rt_session_options_default(&defaults);
    auto made = std::make_unique<zero_rt_session>();
    ZERO_RT_TRY(Session::create(executable->program, options ? *options : defaults, made->session));
    *session = made.release();
    return {};
  });
}

void zero_rt_session_free(zero_rt_session *session) { delete session; }

zero_rt_status zero_rt_session_set_data(zero_rt_session *session, zero_rt_data *data) {
  return guard([&] { return session->session->setData(data ? data->set : nullptr); });
}

zero_rt_status zero_rt_session_set_learning_rate(zero_rt_session *session, float rate) {
  return guard([&] { return session->session->setLearningRate(rate); });
}

zero_rt_status zero_rt_session_step(zero_rt_session *session, uint32_t flags,
                                    zero_rt_step_result *result) {
  return guard([&] { return session->session->step(flags, *result); });
}

zero_rt_status zero_rt_session_serve(zero_rt_session *session) {
  return guard([&] { return session->session->serve(); });
}

zero_rt_status zero_rt_session_end_service(zero_rt_session *session) {
  return guard([&] { return session->session->endService(); });
}

zero_rt_status zero_rt_session_any(zero_rt_session *session, int mine, int *any) {
  return guard([&]() -> Status {
    bool result = false;
    ZERO_RT_TRY(session->session->any(mine != 0, result));
    *any = result;
    return {};
  });
}

zero_rt_status zero_rt_session_evaluate(zero_rt_session *session, zero_rt_data *data,
                                        uint64_t batch, zero_rt_step_result *result) {
  return guard([&] { return session->session->evaluate(data->set, batch, *result); });
}

zero_rt_status zero_rt_session_evaluate_samples(zero_rt_session *session, zero_rt_data *data,
                                                uint64_t first, uint64_t count,
                                                zero_rt_evaluation *total) {
  return guard([&] { return session->session->evaluateSamples(data->set, first, count, *total); });
}

int zero_rt_evaluation_warning(const zero_rt_evaluation *total, size_t index, char *text,
                               size_t size) {
  const std::vector<std::string> warnings = warningsOf(*total);
  if (index >= warnings.size())
    return 0;
  std::snprintf(text, size, "%s", warnings[index].c_str());
  return 1;
}

zero_rt_status zero_rt_session_read_output(zero_rt_session *session, const char *name, int rank,
                                           void *destination, size_t bytes) {
  return guard([&] {
    return session->session->readOutput(name, rank, ValueRange::whole(bytes), destination);
  });
}

zero_rt_status zero_rt_session_read_output_range(zero_rt_session *session, const char *name,
                                                 int rank, uint64_t offset, void *destination,
                                                 size_t bytes) {
  return guard(
      [&] { return session->session->readOutput(name, rank, {offset, bytes}, destination); });
}

zero_rt_status zero_rt_session_read_tensor(zero_rt_session *session, const char *name,
                                           void *destination, size_t bytes) {
  return guard([&] {
    ZERO_RT_TRY(session->session->finishStepForReader());
    return session->session->getWeights().read(name, ValueRange::whole(bytes), destination);
  });
}

zero_rt_status zero_rt_session_read_tensor_range(zero_rt_session *session, const char *name,
                                                 uint64_t offset, void *destination, size_t bytes) {
  return guard([&] {
    ZERO_RT_TRY(session->session->finishStepForReader());
    return session->session->getWeights().read(name, {offset, bytes}, destination);
  });
}

zero_rt_status zero_rt_session_read_gradient(zero_rt_session *session, const char *parameter,
                                             void *destination, size_t bytes) {
  return guard([&] {
    return session->session->getGradients().read(parameter, ValueRange::whole(bytes), destination);
  });
}

zero_rt_status zero_rt_session_read_gradient_range(zero_rt_session *session, const char *parameter,
                                                   uint64_t offset, void *destination,
                                                   size_t bytes) {
  return guard([&] {
    return session->session->getGradients().read(parameter, {offset, bytes}, destination);
  });
}

zero_rt_status zero_rt_session_find_nan(zero_rt_session *session) {
  return guard([&] { return session->session->findNan(); });
}

int zero_rt_executable_has_averages(const zero_rt_executable *executable) {
  const auto &tensors = executable->program->tables().tensors();
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const proto::Tensor &tensor) { return tensor.average(); });
}

zero_rt_status zero_rt_session_use_averages(zero_rt_session *session, int use) {
  return guard([&] {
    ZERO_RT_TRY(session->session->finishStep());
    return session->session->getAverages().use(use != 0);
  });
}

/// Does `body` to `session`, whose parameters must have their own values.
template <typename Body>
static zero_rt_status guardOwnValues(zero_rt_session *session, const char *what, Body body) {
  return guard([&]() -> Status {
    ZERO_RT_TRY(session->session->getAverages().checkUnused(what));
    ZERO_RT_TRY(session->session->finishStep());
    return body(*session->session);
  });
}

zero_rt_status zero_rt_session_load(zero_rt_session *session, const char *path, int partial,
                                    zero_rt_load_result *result) {
  return guardOwnValues(session, "weights", [&](Session &own) {
    return own.getWeights().load(path, partial != 0, *result);
  });
}

zero_rt_status zero_rt_session_load_arrays(zero_rt_session *session, const zero_rt_array *arrays,
                                           size_t count, int partial, zero_rt_load_result *result) {
  return guardOwnValues(session, "weights", [&](Session &own) -> Status {
    WeightsFile::Arrays named;
    for (size_t i = 0; i < count; ++i)
      ZERO_RT_TRY(viewArray("array", arrays[i], named[arrays[i].name]));
    return own.getWeights().load(std::move(named), partial != 0, *result);
  });
}

zero_rt_status zero_rt_session_save(zero_rt_session *session, const char *path) {
  return guard([&] {
    ZERO_RT_TRY(session->session->finishStepForReader());
    return session->session->getWeights().save(path);
  });
}

zero_rt_status zero_rt_session_save_gradients(zero_rt_session *session, const char *path) {
  return guard([&] { return session->session->getGradients().save(path); });
}

zero_rt_status zero_rt_session_save_state(zero_rt_session *session, const char *folder) {
  return guardOwnValues(session, "checkpoint",
                        [&](Session &own) { return own.getCheckpoints().save(folder); });
}

zero_rt_status zero_rt_session_start_save(zero_rt_session *session, const char *folder) {
  return guardOwnValues(session, "checkpoint",
                        [&](Session &own) { return own.getCheckpoints().startSave(folder); });
}

zero_rt_status zero_rt_session_finish_save(zero_rt_session *session) {
  return guard([&] { return session->session->getCheckpoints().advance(/*waits=*/true); });
}

zero_rt_status zero_rt_session_load_state(zero_rt_session *session, const char *path,
                                          uint32_t flags, zero_rt_state_result *result) {
  return guardOwnValues(session, "checkpoint", [&](Session &own) {
    return own.getCheckpoints().load(path, flags, *result);
  });
}

const char *zero_rt_session_next_remark(zero_rt_session *session) {
  if (const char *remark = session->session->getWeights().nextRemark())
    return remark;
  return session->session->getCheckpoints().nextRemark();
}

int zero_rt_session_nvme(const zero_rt_session *session, zero_rt_nvme_info *info) {
  return session->session->describeNvme(*info);
}

const char *zero_rt_session_nvme_file(const zero_rt_session *session, int rank) {
  return session->session->nvmeFile(rank);
}

zero_rt_status zero_rt_session_stats(const zero_rt_session *session, int rank,
                                     zero_rt_stats *stats) {
  return guard([&] { return session->session->stats(rank, *stats); });
}
