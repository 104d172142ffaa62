//===- outputs.cpp - the files of a run -----------------------------------===//

#include "outputs.h"

#include "mesh.h"
#include "report.h"
#include "runtime/io/safetensors.h"
#include "runtime/support/checked.h"
#include "runtime/support/clock.h"
#include "zero_rt/adapters.h"
#include "zero_rt/ranges.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

using namespace zero::rt;

namespace zero::run {

/// The model, its data and the files that its weights start from.
static std::vector<std::string> inputsOf(const Options &options, const Executable &executable) {
  std::vector<std::string> inputs = {options.model};
  for (const std::vector<DataFile> *files : {&options.data, &options.evalData})
    for (const DataFile &file : *files)
      inputs.push_back(file.path);
  inputs.push_back(options.weights);
  for (size_t i = 0; const char *file = zero_rt_executable_file(executable.get(), i); ++i)
    inputs.push_back(file);
  return inputs;
}

static Status checkNoInput(const std::vector<std::string> &inputs, const std::string &path) {
  for (const std::string &input : inputs)
    if (isSameFile(path, input))
      return fail(ZERO_RT_IO, "cannot write '%s': it is an input of this run",
                  escape(path).c_str());
  return {};
}

static Status create(const std::vector<std::string> &inputs, const std::string &path,
                     OutputFile &file) {
  if (path.empty())
    return {};
  ZERO_RT_TRY(checkNoInput(inputs, path));
  ZERO_RT_TRY(OutputFile::create(path, file));
  return {};
}

/// Describes a value whose bytes `read` fetches by name.
template <typename Read>
static TensorEntry entryOf(const zero_rt_value_info &info, zero_rt_session *session, Read read) {
  return {info.name,
          info.dtype,
          {info.shape, info.shape + info.dimensions},
          [name = info.name, session, read](uint64_t offset, void *destination, uint64_t bytes) {
            return take(read(session, name, offset, destination, bytes));
          },
          info.initializer,
          info.transposed != 0};
}

/// Whether the optimizer changes a tensor.
static bool isTrained(const zero_rt_value_info &info) {
  return info.role == ZERO_RT_OPTIMIZER || (info.role == ZERO_RT_PARAMETER && !info.frozen);
}

/// The tensors that --save=`path` writes. Without a session, their values cannot be read yet.
static Status weightsOf(const Executable &executable, const std::string &path,
                        zero_rt_session *session, bool mayBeNan,
                        std::vector<TensorEntry> &entries) {
  for (size_t i = 0; i < infoOf(executable).tensors; ++i) {
    zero_rt_value_info info;
    ZERO_RT_TRY(take(zero_rt_executable_tensor(executable.get(), i, &info)));
    if (!info.saved || (!info.in_model && writesModel(path)))
      continue;
    entries.push_back(entryOf(info, session, zero_rt_session_read_tensor_range));
    entries.back().mustBeFinite = isTrained(info) && !mayBeNan;
    entries.back().stored = info.stored;
    zero_rt_adapter adapter;
    ZERO_RT_TRY(take(zero_rt_executable_adapter(executable.get(), i, &adapter)));
    if (adapter.first)
      entries.back().adapter = {adapter.first, adapter.second, adapter.scale,
                                adapter.inputs_first != 0,
                                adapter.magnitude ? adapter.magnitude : ""};
  }
  return {};
}

static Status createWeights(const std::vector<std::string> &inputs, const std::string &path,
                            const Options &options, const Executable &executable,
                            WeightsWriter &writer) {
  ZERO_RT_TRY(checkNoInput(inputs, path));
  if (path.ends_with(".onnx"))
    ZERO_RT_TRY(checkNoInput(inputs, path + ".data"));
  WeightsOrigin origin;
  if (const char *model = zero_rt_executable_model(executable.get()))
    origin.model = model;
  origin.trainingInfo = zero_rt_executable_training_info(executable.get());
  if (const char *checkpoint = zero_rt_executable_ort_checkpoint(executable.get()))
    origin.ortCheckpoint = checkpoint;
  if (const char *config = zero_rt_executable_adapter_config(executable.get()))
    origin.adapterConfig = config;
  origin.weights = options.weights;
  origin.learningRate = options.learningRate.value_or(infoOf(executable).learning_rate);
  for (size_t i = 0; const char *file = zero_rt_executable_file(executable.get(), i); ++i)
    origin.files.push_back(file);
  std::vector<TensorEntry> entries;
  ZERO_RT_TRY(weightsOf(executable, path, nullptr, options.session.allow_nan, entries));
  ZERO_RT_TRY(WeightsWriter::create(path, origin, options.form, entries, writer));
  return {};
}

Status Outputs::open(const Options &options, const Executable &executable) {
  const std::vector<std::string> inputs = inputsOf(options, executable);
  figures.emplace(executable);
  logFolder = options.logFolder;
  logsTimes = options.logsTimes;
  if (!logFolder.empty())
    ZERO_RT_TRY(makeFolders(logFolder));
  allowNan = options.session.allow_nan;
  if (!options.page.empty()) {
    ZERO_RT_TRY(checkNoInput(inputs, options.page));
    ZERO_RT_TRY(page.open(options.page, executable));
  }
  ZERO_RT_TRY(create(inputs, options.log, log));
  for (const std::string &path : options.saves)
    weights.push_back({path});
  for (const std::string &path : options.averageSaves)
    weights.push_back({path, /*areAverages=*/true});
  for (Weights &each : weights)
    ZERO_RT_TRY(createWeights(inputs, each.path, options, executable, each.writer));
  const auto mayDivide = [](const Weights &each) { return each.writer.mayDivide(); };
  if (options.form.shardBytes && std::ranges::none_of(weights, mayDivide))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--shard-bytes has no effect: expected --save=DIR/ of a model from a folder with "
                "config.json, the only weights that are written to several files");
  ZERO_RT_TRY(create(inputs, options.gradients, gradients));
  ZERO_RT_TRY(create(inputs, options.outputs, outputs));
  ZERO_RT_TRY(create(inputs, options.trace, trace));
  ZERO_RT_TRY(create(inputs, options.ratePicture, picture));
  return create(inputs, options.report, report);
}

/// Whether a line of a log is from before step `first`: a step, or an evaluation after a number of
/// steps.
static bool isBefore(const std::string &line, uint64_t first) {
  static constexpr std::string_view kBegin = "{\"step\":", kNext = ",\"";
  std::string_view rest = line;
  if (!rest.starts_with(kBegin))
    return false;
  rest.remove_prefix(kBegin.size());
  const size_t end = rest.find(kNext);
  uint64_t step;
  if (end == rest.npos || !parseInteger(rest.substr(0, end), step))
    return false;
  const bool isStep = rest.substr(end + kNext.size()).starts_with('l'); // "loss"
  return isStep ? step < first : step <= first;
}

Status Outputs::continueLog(const std::string &path, uint64_t first) {
  if (!log.isOpen())
    return {};
  errno = 0;
  std::ifstream before(path);
  const bool isThere = before.is_open() || errno != ENOENT;
  // The last line of a run that was killed may be cut off.
  for (std::string line; std::getline(before, line) && !before.eof();)
    if (isBefore(line, first))
      ZERO_RT_TRY(log.write(line + "\n"));
  if (isThere && !before.eof())
    return fail(ZERO_RT_IO, "cannot read the lines of '%s' that a resumed run keeps: %s",
                escape(path).c_str(), std::strerror(errno));
  return {};
}

template <typename Members>
Status Outputs::writeLog(Members members) {
  if (!log.isOpen())
    return {};
  JsonWriter json(JsonWriter::Compact);
  json.object([&] { members(json); });
  ZERO_RT_TRY(log.write(json.text() + "\n"));
  if (isLogged)
    return {};
  log.surviveFailure();
  isLogged = true;
  return publishLog(); // for those who watch the run
}

Status Outputs::openEvents(uint64_t first) {
  return logFolder.empty() ? Status() : events.open(logFolder, first);
}

Curves::Values Outputs::curvesOf(const zero_rt_step_result &result,
                                 const std::pair<std::string, double> &perSecond) const {
  Curves::Values values = figures->values(result);
  std::erase_if(values, [](const auto &each) { return each.first == "skipped"; });
  values.emplace(values.begin(), "loss", double(result.loss));
  values.emplace_back(perSecond.first + "_per_second", perSecond.second);
  return values;
}

Status Outputs::logStep(const zero_rt_step_result &result,
                        const std::pair<std::string, double> &perSecond) {
  if (!log.isOpen() && !events.isOpen() && !page.isOpen())
    return {}; // also where open() was not called
  // As floats, which the digits of the log tell apart: both files have the same numbers.
  const float seconds = float(result.seconds), rate = float(perSecond.second);
  std::vector<Scalar> scalars = {{"train/loss", result.loss},
                                 {"train/seconds_per_step", seconds},
                                 {"train/" + perSecond.first + "_per_second", rate}};
  for (const auto &[name, value] : figures->values(result))
    scalars.push_back({"train/" + name, value});
  ZERO_RT_TRY(events.add(result.step, scalars));
  if (page.isOpen())
    page.addStep(result, curvesOf(result, perSecond));
  return writeLog([&](JsonWriter &json) {
    figures->writeStep(json, result);
    if (!logsTimes)
      return;
    json.key("time").fixed(unixTime(), /*digits=*/3);
    json.member("seconds", double(seconds));
    json.member(perSecond.first + "_per_second", double(rate));
  });
}

Status Outputs::logEvaluation(const Evaluation &result) {
  page.addEvaluation(result);
  // At the last step that it depends on: a run that is resumed then hides later steps only.
  ZERO_RT_TRY(
      events.add(std::max<uint64_t>(result.step, 1) - 1, {{"eval/loss", result.total.loss}}));
  return writeLog([&](JsonWriter &json) {
    json.member("step", result.step);
    json.member("eval_loss", double(result.total.loss));
  });
}

void Outputs::beginPage(const ProcessMemory &planned, uint64_t first, uint64_t steps) {
  if (page.isOpen())
    page.begin(planned, first, steps);
}

Status Outputs::finishPage(const Results &results, const Status &status) {
  return page.isOpen() ? page.finish(results, status) : Status();
}

Status Outputs::publishLog() { return isLogged ? log.publish() : Status(); }

Status Outputs::writeGradients(const Executable &executable, const Session &session) {
  if (!gradients.isOpen())
    return {};
  std::vector<TensorEntry> entries;
  for (size_t i = 0; i < infoOf(executable).gradients; ++i) {
    zero_rt_value_info info;
    ZERO_RT_TRY(take(zero_rt_executable_gradient(executable.get(), i, &info)));
    entries.push_back(entryOf(info, session.get(), zero_rt_session_read_gradient_range));
  }
  return writeSafetensors(gradients, std::move(entries));
}

Status Outputs::writeWeights(const Executable &executable, const Session &session, Meter &meter,
                             bool ofAverages) {
  for (Weights &each : weights) {
    if (each.areAverages != ofAverages)
      continue;
    std::vector<TensorEntry> entries;
    ZERO_RT_TRY(weightsOf(executable, each.path, session.get(), allowNan, entries));
    uint64_t total = 0;
    for (TensorEntry &entry : entries) {
      total += entry.bytes();
      entry.read = [&meter, read = entry.read](uint64_t offset, void *destination, uint64_t bytes) {
        ZERO_RT_TRY(read(offset, destination, bytes));
        meter.add(bytes);
        return Status();
      };
    }
    meter.begin("saving weights", total);
    ZERO_RT_TRY(each.writer.write(entries));
    meter.end();
    each.areWritten = true;
  }
  return {};
}

/// An output's parts follow each other in the order of data ranks: along its first dimension, or,
/// if it has none, as one element for each.
static TensorEntry entryOverRanks(const zero_rt_value_info &info, const Executable &executable,
                                  const Session &session) {
  const auto ranks = uint64_t(meshOf(executable).data_ranks);
  std::vector<uint64_t> shape(info.shape, info.shape + info.dimensions);
  if (!shape.empty())
    shape[0] *= ranks;
  else if (ranks > 1)
    shape.push_back(ranks);
  TensorEntry entry{info.name, info.dtype, std::move(shape), {}};
  entry.read = [name = info.name, session = session.get(), executable = executable.get(),
                each = entry.bytes() / ranks](uint64_t offset, void *destination, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes;) {
      const uint64_t part = (offset + done) / each, begin = (offset + done) % each;
      const int rank = zero_rt_executable_data_rank(executable, int(part));
      const uint64_t count = std::min(each - begin, bytes - done);
      ZERO_RT_TRY(take(zero_rt_session_read_output_range(
          session, name, rank, begin, static_cast<char *>(destination) + done, count)));
      done += count;
    }
    return Status();
  };
  return entry;
}

Status Outputs::writeOutputs(const Executable &executable, const Session &session) {
  if (!outputs.isOpen())
    return {};
  std::vector<TensorEntry> entries;
  for (size_t i = 0; i < infoOf(executable).outputs; ++i) {
    zero_rt_value_info info;
    ZERO_RT_TRY(take(zero_rt_executable_output(executable.get(), i, &info)));
    entries.push_back(entryOverRanks(info, executable, session));
  }
  return writeSafetensors(outputs, std::move(entries));
}

Status Outputs::writeReport(const std::string &json) {
  return report.isOpen() ? report.write(json) : Status();
}

Status Outputs::commitWeights() {
  for (Weights &each : weights)
    if (each.areWritten)
      ZERO_RT_TRY(each.writer.sync());
  for (Weights &each : weights)
    if (each.areWritten)
      ZERO_RT_TRY(each.writer.commit());
  return {};
}

/// Operations that can fail for lack of space are done before any file gets its name.
Status Outputs::commit() {
  for (Weights &each : weights)
    ZERO_RT_TRY(each.writer.sync());
  OutputFile *const files[] = {&log, &gradients, &outputs, &report, &trace, &picture};
  for (OutputFile *file : files)
    if (file->isOpen())
      ZERO_RT_TRY(file->sync());
  for (Weights &each : weights)
    ZERO_RT_TRY(each.writer.commit());
  for (OutputFile *file : files)
    if (file->isOpen())
      ZERO_RT_TRY(file->commit());
  return {};
}

} // namespace zero::run
