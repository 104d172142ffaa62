//===- session.cpp - zero._native: running a program ----------------------===//

#include "native.h"
#include "zero_rt/averages.h"
#include "zero_rt/evaluation.h"
#include "zero_rt/saving.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace zero::python {

namespace {
/// The arenas and ranks of a program. Closed once; every other call then fails.
class Session {
public:
  Session(std::shared_ptr<Executable> executable, const nb::dict &options);
  ~Session();

  void close();
  nb::dict step(std::shared_ptr<Data> data, bool keepGradients);
  void evaluate(const std::shared_ptr<Data> &data, uint64_t first, uint64_t count,
                zero_rt_evaluation &total);
  void finishSave();
  void useAverages(bool use);
  nb::dict loadState(const std::string &path, bool restartData);
  nb::tuple loadArrays(const nb::dict &arrays, bool partial);
  nb::dict stats(int rank);
  nb::list remarks();

  /// Runs `function` on the handle, without the GIL.
  template <typename Function>
  void run(Function function) {
    if (reporting == this)
      throw StatusError(ZERO_RT_INVALID_ARGUMENT,
                        "the progress of a session cannot call the session, which is busy");
    withoutGil(mutex, [&] {
      if (!handle)
        throw StatusError(ZERO_RT_INVALID_ARGUMENT, "the session is closed");
      check(function(handle));
    });
  }

private:
  void release();
  static void report(void *context, const char *what, uint64_t done, uint64_t total);

  /// The session whose progress this thread reports.
  static thread_local const Session *reporting;

  std::shared_ptr<Executable> executable;
  nb::object progress;
  std::mutex mutex;
  zero_rt_session *handle = nullptr;
  std::shared_ptr<Data> data; ///< that the session has set, and reads when it saves
};
} // namespace

thread_local const Session *Session::reporting = nullptr;

/// Called from any thread, none of which has the GIL. An exception cannot leave.
void Session::report(void *context, const char *what, uint64_t done, uint64_t total) {
  nb::gil_scoped_acquire acquire;
  reporting = static_cast<Session *>(context);
  try {
    reporting->progress(what, done, total);
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("the progress of a session");
  }
  reporting = nullptr;
}

/// Sets the field if the dictionary has a value for it.
template <typename T>
static void take(const nb::dict &options, const char *name, T &field) {
  if (options.contains(name))
    field = nb::cast<T>(options[name]);
}

Session::Session(std::shared_ptr<Executable> of, const nb::dict &options)
    : executable(std::move(of)) {
  zero_rt_session_options given;
  zero_rt_session_options_default(&given);
  std::string device, gpus, algorithms, nvmeDir, nvmeIo;
  take(options, "threads_per_rank", given.threads_per_rank);
  take(options, "timeout_seconds", given.timeout_seconds);
  take(options, "allow_nan", given.allow_nan);
  take(options, "check_memory", given.check_memory);
  take(options, "pin", given.pin);
  take(options, "verbose", given.verbose);
  take(options, "gpu_graphs", given.gpu_graphs);
  take(options, "stall_rank", given.stall_rank);
  take(options, "stall_collective", given.stall_collective);
  take(options, "device", device);
  take(options, "gpus", gpus);
  take(options, "gpu_algorithms", algorithms);
  take(options, "nvme_dir", nvmeDir);
  take(options, "nvme_io", nvmeIo);
  auto set = [](const std::string &text) { return text.empty() ? nullptr : textOf(text); };
  given.device = set(device);
  given.gpus = set(gpus);
  given.gpu_algorithms = set(algorithms);
  given.nvme_dir = set(nvmeDir);
  given.nvme_io = set(nvmeIo);
  if (options.contains("progress")) {
    progress = options["progress"];
    given.progress = report;
    given.progress_context = this;
  }
  withoutGil(mutex, [&] { check(zero_rt_session_create(executable->handle, &given, &handle)); });
}

/// A forked process has no threads that could end, so memory stays as it is there.
Session::~Session() {
  if (!isForked())
    release();
}

void Session::close() {
  if (reporting == this)
    throw StatusError(ZERO_RT_INVALID_ARGUMENT, "the progress of a session cannot close it");
  const Call call;
  release();
}

void Session::release() {
  {
    nb::gil_scoped_release unlocked;
    std::lock_guard lock(mutex);
    zero_rt_session_free(handle);
    handle = nullptr;
  }
  data.reset();
}

static nb::dict resultOf(const zero_rt_step_result &result) {
  nb::dict values;
  values["step"] = result.step;
  values["loss"] = result.loss;
  values["seconds"] = result.seconds;
  values["gradient_norm"] = result.gradient_norm;
  values["learning_rate"] = result.learning_rate;
  values["loss_scale"] = result.loss_scale;
  values["skipped"] = bool(result.skipped);
  return values;
}

nb::dict Session::step(std::shared_ptr<Data> with, bool keepGradients) {
  zero_rt_step_result result;
  run([&](zero_rt_session *session) {
    std::lock_guard lock(with->mutex);
    check(zero_rt_session_set_data(session, with->handle));
    data.swap(with); // the former one is released below, with the GIL
    return zero_rt_session_step(session, keepGradients ? ZERO_RT_KEEP_GRADIENTS : 0, &result);
  });
  return resultOf(result);
}

void Session::evaluate(const std::shared_ptr<Data> &held, uint64_t first, uint64_t count,
                       zero_rt_evaluation &total) {
  run([&](zero_rt_session *session) {
    std::lock_guard lock(held->mutex);
    return zero_rt_session_evaluate_samples(session, held->handle, first, count, &total);
  });
}

static std::vector<std::string> warningsOf(const zero_rt_evaluation &total) {
  std::vector<std::string> warnings;
  char text[ZERO_RT_WARNING_BYTES];
  while (zero_rt_evaluation_warning(&total, warnings.size(), text, sizeof(text)))
    warnings.emplace_back(text);
  return warnings;
}

static void bindEvaluation(nb::module_ &module) {
  nb::class_<zero_rt_evaluation>(module, "Evaluation", "Sums over evaluated samples.")
      .def("__init__", [](zero_rt_evaluation *at) { new (at) zero_rt_evaluation{}; })
      .def_ro("loss", &zero_rt_evaluation::loss)
      .def_ro("batches", &zero_rt_evaluation::batches)
      .def("warnings", warningsOf);
}

void Session::finishSave() { run(zero_rt_session_finish_save); }

void Session::useAverages(bool use) {
  run([&](zero_rt_session *session) { return zero_rt_session_use_averages(session, use); });
}

nb::dict Session::loadState(const std::string &path, bool restartData) {
  zero_rt_state_result result;
  std::string generation;
  run([&](zero_rt_session *session) {
    zero_rt_status status = zero_rt_session_load_state(
        session, textOf(path), restartData ? ZERO_RT_RESTART_DATA : 0, &result);
    if (status.code == ZERO_RT_OK)
      generation = result.generation;
    return status;
  });
  nb::dict values;
  values["step"] = result.step;
  values["batch"] = result.batch;
  values["generation"] = generation;
  return values;
}

static nb::tuple tupleOf(const zero_rt_load_result &result) {
  return nb::make_tuple(result.taken, result.missing, result.unknown);
}

/// `arrays`: by name a pair of an array and the number of its type, 0 for its own.
nb::tuple Session::loadArrays(const nb::dict &arrays, bool partial) {
  std::map<std::string, TypedArray> typed;
  for (auto [name, value] : arrays)
    typed.try_emplace(nb::cast<std::string>(name), nb::cast<Array>(value[0]),
                      nb::cast<int>(value[1]));
  std::vector<zero_rt_array> given;
  for (const auto &[name, array] : typed)
    given.push_back(
        {textOf(name), array.dtype, array.shape.data(), array.shape.size(), array.array.data()});
  zero_rt_load_result result;
  run([&](zero_rt_session *session) {
    return zero_rt_session_load_arrays(session, given.data(), given.size(), partial, &result);
  });
  return tupleOf(result);
}

static nb::tuple load(Session &session, const std::string &path, bool partial) {
  zero_rt_load_result result;
  session.run([&](zero_rt_session *handle) {
    return zero_rt_session_load(handle, textOf(path), partial, &result);
  });
  return tupleOf(result);
}

static nb::dict bytesByTier(const uint64_t (&bytes)[ZERO_RT_TIERS]) {
  static const char *const names[] = {"device", "host", "nvme"};
  nb::dict result;
  for (int tier = 0; tier < ZERO_RT_TIERS; ++tier)
    result[names[tier]] = bytes[tier];
  return result;
}

nb::dict Session::stats(int rank) {
  zero_rt_stats stats;
  run([&](zero_rt_session *session) { return zero_rt_session_stats(session, rank, &stats); });
  nb::dict values, lanes;
  values["steps"] = stats.steps;
  values["seconds"] = stats.seconds;
  values["arena_bytes"] = bytesByTier(stats.arena_bytes);
  values["measured_peak"] = bytesByTier(stats.measured_peak);
  values["measured_live"] = bytesByTier(stats.measured_live);
  values["model_elements"] = stats.model_elements;
  values["control_elements"] = stats.control_elements;
  nb::list volumes;
  for (uint64_t elements : stats.volume_elements)
    volumes.append(elements);
  values["volume_elements"] = volumes;
  values["model_bytes"] = stats.model_bytes;
  values["control_bytes"] = stats.control_bytes;
  values["link_bytes"] = stats.link_bytes;
  values["nvme_read"] = stats.nvme_read;
  values["nvme_written"] = stats.nvme_written;
  for (int lane = 0; lane < ZERO_RT_LANES; ++lane)
    lanes[zero_rt_lane_name(zero_rt_lane(lane))] =
        nb::make_tuple(stats.lanes[lane].seconds, stats.lanes[lane].bytes);
  values["lanes"] = lanes;
  values["stalled"] = stats.stalled;
  return values;
}

nb::list Session::remarks() {
  std::vector<std::string> texts;
  run([&](zero_rt_session *session) {
    while (const char *remark = zero_rt_session_next_remark(session))
      texts.push_back(remark);
    return zero_rt_status{ZERO_RT_OK, nullptr};
  });
  nb::list result;
  for (const std::string &text : texts)
    result.append(text);
  return result;
}

/// A method that calls `function` with the session and a path.
template <zero_rt_status (*function)(zero_rt_session *, const char *)>
static void onPath(Session &session, const std::string &path) {
  session.run([&](zero_rt_session *handle) { return function(handle, textOf(path)); });
}

/// A method that reads a value by its name into `buffer`.
template <zero_rt_status (*function)(zero_rt_session *, const char *, void *, size_t)>
static void read(Session &session, const std::string &name, Buffer buffer) {
  session.run([&](zero_rt_session *handle) {
    return function(handle, textOf(name), buffer.data(), buffer.nbytes());
  });
}

static void readOutput(Session &session, const std::string &name, int rank, Buffer buffer) {
  session.run([&](zero_rt_session *handle) {
    return zero_rt_session_read_output(handle, textOf(name), rank, buffer.data(), buffer.nbytes());
  });
}

static void setLearningRate(Session &session, float rate) {
  session.run(
      [&](zero_rt_session *handle) { return zero_rt_session_set_learning_rate(handle, rate); });
}

void bindSession(nb::module_ &module) {
  bindEvaluation(module);
  nb::class_<Session>(module, "Session",
                      "Arenas, ranks and state of a program: Session(executable, options), with "
                      "the fields of zero_rt_session_options by name.")
      .def(nb::init<std::shared_ptr<Executable>, const nb::dict &>(), nb::arg("executable"),
           nb::arg("options"))
      .def("close", &Session::close, "Ends the ranks and frees their memory.")
      .def("step", &Session::step, nb::arg("data"), nb::arg("keep_gradients") = false,
           "Runs a step on all ranks.")
      .def("evaluate", &Session::evaluate, nb::arg("data"), nb::arg("first"), nb::arg("count"),
           nb::arg("total"), "Adds samples, at most a global batch, to an Evaluation.")
      .def("set_learning_rate", setLearningRate, nb::arg("rate"))
      .def("read_output", readOutput, nb::arg("name"), nb::arg("rank"), nb::arg("buffer"))
      .def("read_tensor", read<zero_rt_session_read_tensor>, nb::arg("name"), nb::arg("buffer"))
      .def("read_gradient", read<zero_rt_session_read_gradient>, nb::arg("name"), nb::arg("buffer"))
      .def("load", load, nb::arg("path"), nb::arg("partial") = false,
           "Numbers of tensors that were taken, missing and unknown.")
      .def("load_arrays", &Session::loadArrays, nb::arg("arrays"), nb::arg("partial") = false)
      .def("save", onPath<zero_rt_session_save>, nb::arg("path"))
      .def("save_gradients", onPath<zero_rt_session_save_gradients>, nb::arg("path"))
      .def("save_state", onPath<zero_rt_session_save_state>, nb::arg("folder"))
      .def("start_save", onPath<zero_rt_session_start_save>, nb::arg("folder"))
      .def("finish_save", &Session::finishSave)
      .def("use_averages", &Session::useAverages, nb::arg("use"))
      .def("load_state", &Session::loadState, nb::arg("path"), nb::arg("restart_data") = false)
      .def("stats", &Session::stats, nb::arg("rank") = 0)
      .def("remarks", &Session::remarks, "Remarks that were not returned before.");
}

} // namespace zero::python
