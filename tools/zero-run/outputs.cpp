//===- outputs.cpp - the files of a run -----------------------------------===//

#include "outputs.h"

#include "interrupt.h"
#include "report.h"
#include "runtime/io/safetensors.h"

#include <sys/stat.h>

using namespace zero::rt;

namespace zero::run {

static bool isSameFile(const std::string &left, const std::string &right) {
  struct stat a, b;
  return ::stat(left.c_str(), &a) == 0 && ::stat(right.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

/// The model, its data and the files that its weights start from.
static std::vector<std::string> inputsOf(const Options &options, const Executable &executable) {
  std::vector<std::string> inputs = {options.model};
  for (const std::vector<DataFile> *files : {&options.data, &options.evalData})
    for (const DataFile &file : *files)
      inputs.push_back(file.path);
  for (size_t i = 0; const char *file = zero_rt_executable_file(executable.get(), i); ++i)
    inputs.push_back(file);
  return inputs;
}

static Status create(const std::vector<std::string> &inputs, const std::string &path,
                     OutputFile &file) {
  if (path.empty())
    return {};
  for (const std::string &input : inputs)
    if (isSameFile(path, input))
      return fail(ZERO_RT_IO, "cannot write '%s': it is an input of this run",
                  escape(path).c_str());
  ZERO_RT_TRY(OutputFile::create(path, file));
  removeWhenKilled(file.temporaryPath());
  return {};
}

Status Outputs::open(const Options &options, const Executable &executable) {
  const std::vector<std::string> inputs = inputsOf(options, executable);
  ZERO_RT_TRY(create(inputs, options.log, log));
  ZERO_RT_TRY(create(inputs, options.save, weights));
  ZERO_RT_TRY(create(inputs, options.gradients, gradients));
  ZERO_RT_TRY(create(inputs, options.outputs, outputs));
  return create(inputs, options.report, report);
}

Status Outputs::logStep(const zero_rt_step_result &result) {
  if (!log.isOpen())
    return {};
  return log.write(format("{\"step\":%llu,\"loss\":%s}\n",
                          static_cast<unsigned long long>(result.step),
                          jsonNumber(result.loss).c_str()));
}

Status Outputs::logEvaluation(const Evaluation &result) {
  if (!log.isOpen())
    return {};
  return log.write(format("{\"step\":%llu,\"eval_loss\":%s}\n",
                          static_cast<unsigned long long>(result.step),
                          jsonNumber(result.loss).c_str()));
}

/// Describes a value whose bytes `read` fetches by name.
template <typename Read>
static SafetensorsEntry entryOf(const zero_rt_value_info &info, const Session &session, Read read) {
  return {info.name,
          info.dtype,
          {info.shape, info.shape + info.dimensions},
          [name = info.name, session = session.get(), read](void *destination, uint64_t bytes) {
            return take(read(session, name, destination, bytes));
          }};
}

Status Outputs::writeGradients(const Executable &executable, const Session &session) {
  if (!gradients.isOpen())
    return {};
  std::vector<SafetensorsEntry> entries;
  for (size_t i = 0; i < infoOf(executable).gradients; ++i) {
    zero_rt_value_info info;
    ZERO_RT_TRY(take(zero_rt_executable_gradient(executable.get(), i, &info)));
    entries.push_back(entryOf(info, session, zero_rt_session_read_gradient));
  }
  return writeSafetensors(gradients, std::move(entries));
}

Status Outputs::writeWeights(const Executable &executable, const Session &session) {
  if (!weights.isOpen())
    return {};
  std::vector<SafetensorsEntry> entries;
  for (size_t i = 0; i < infoOf(executable).tensors; ++i) {
    zero_rt_value_info info;
    ZERO_RT_TRY(take(zero_rt_executable_tensor(executable.get(), i, &info)));
    if (info.saved)
      entries.push_back(entryOf(info, session, zero_rt_session_read_tensor));
  }
  return writeSafetensors(weights, std::move(entries));
}

/// An output's parts follow each other in rank order: along its first dimension, or,
/// if it has none, as one element for each rank.
static SafetensorsEntry entryOverRanks(const zero_rt_value_info &info, const Session &session,
                                       uint64_t ranks) {
  std::vector<uint64_t> shape(info.shape, info.shape + info.dimensions);
  if (!shape.empty())
    shape[0] *= ranks;
  else if (ranks > 1)
    shape.push_back(ranks);
  auto read = [name = info.name, session = session.get(), ranks](void *destination,
                                                                 uint64_t bytes) {
    for (uint64_t rank = 0; rank < ranks; ++rank)
      ZERO_RT_TRY(take(zero_rt_session_read_output(
          session, name, int(rank), static_cast<char *>(destination) + rank * (bytes / ranks),
          bytes / ranks)));
    return Status();
  };
  return {info.name, info.dtype, std::move(shape), read};
}

Status Outputs::writeOutputs(const Executable &executable, const Session &session) {
  if (!outputs.isOpen())
    return {};
  std::vector<SafetensorsEntry> entries;
  for (size_t i = 0; i < infoOf(executable).outputs; ++i) {
    zero_rt_value_info info;
    ZERO_RT_TRY(take(zero_rt_executable_output(executable.get(), i, &info)));
    entries.push_back(entryOverRanks(info, session, uint64_t(infoOf(executable).ranks)));
  }
  return writeSafetensors(outputs, std::move(entries));
}

Status Outputs::writeReport(const std::string &json) {
  return report.isOpen() ? report.write(json) : Status();
}

Status Outputs::commit() {
  for (OutputFile *file : {&log, &weights, &gradients, &outputs, &report})
    if (file->isOpen())
      ZERO_RT_TRY(file->commit());
  return {};
}

} // namespace zero::run
