//===- starting.cpp - what a run begins with ------------------------------===//

#include "starting.h"

#include "data.h"
#include "figures.h"
#include "report.h"
#include "runtime/io/documents.h"
#include "runtime/io/drive_folders.h"
#include "runtime/support/checked.h"
#include "runtime/support/thread.h"
#include "tiers.h"
#include "warnings.h"
#include "zero_rt/averages.h"
#include "zero_rt/finding.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

using namespace zero::rt;

namespace zero::run {

/// The steps of a test of learning rates without --steps.
static constexpr uint64_t kRateTestSteps = 100;

Status countSteps(const Options &options, const Data &data, const zero_rt_state_result &from,
                  uint64_t &steps) {
  steps = options.steps.value_or(options.ratePicture.empty() ? 1 : kRateTestSteps);
  if (!options.epochs)
    return {};
  const zero_rt_data_info info = infoOf(data);
  if (info.steps_per_epoch == 0 && !options.data.empty() && options.data.front().weight > 0)
    return fail(ZERO_RT_INVALID_ARGUMENT, "--epochs: a mixture has no epochs; use --steps");
  if (info.steps_per_epoch == 0)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--epochs counts whole global batches of %llu samples, and the data has %llu; use "
                "--steps",
                static_cast<unsigned long long>(info.samples_per_step),
                static_cast<unsigned long long>(info.samples));
  uint64_t batches;
  if (!checkedMultiply(*options.epochs, info.steps_per_epoch, batches) ||
      !checkedAdd(from.step, batches - std::min(batches, from.batch), steps))
    return fail(ZERO_RT_INVALID_ARGUMENT, "--epochs: too many steps");
  return {};
}

Status loadWeights(const Options &options, const Session &session) {
  if (options.weights.empty())
    return {};
  zero_rt_load_result result;
  ZERO_RT_TRY(take(zero_rt_session_load(session.get(), options.weights.c_str(),
                                        options.partialWeights, &result)));
  if (!options.quiet)
    std::printf("weights: %llu tensors of '%s'; %llu start with the model's values, %llu of the "
                "file are not used\n",
                static_cast<unsigned long long>(result.taken), escape(options.weights).c_str(),
                static_cast<unsigned long long>(result.missing),
                static_cast<unsigned long long>(result.unknown));
  std::fflush(stdout); // before anything on stderr
  while (const char *remark = zero_rt_session_next_remark(session.get()))
    warn(remark);
  return {};
}

Status checkEffects(const Options &options, const Executable &executable) {
  if (options.endurance > 0 && rankBytes(executable).disk == 0)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--nvme-endurance has no effect: the program stores nothing on disk");
  if (!zero_rt_executable_has_averages(executable.get()))
    for (const auto &[isGiven, name] : {std::pair(options.evaluatesAverages, "--eval-ema"),
                                        std::pair(!options.averageSaves.empty(), "--save-ema")})
      if (isGiven)
        return fail(ZERO_RT_INVALID_ARGUMENT,
                    "%s: the program keeps no averages of parameters: compile it with --ema", name);
  if (!options.ratePicture.empty() && (!options.saves.empty() || !options.averageSaves.empty() ||
                                       !options.saveState.empty() || options.learningRate))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--lr-find tries learning rates and keeps nothing of its steps: expected none of "
                "--lr, --save, --save-ema and --save-state");
  if (options.keepsBest && options.evalData.empty())
    return fail(ZERO_RT_INVALID_ARGUMENT, "--keep-best has no effect without --eval-data");
  if (!options.gradients.empty() && infoOf(executable).gradients == 0)
    return fail(ZERO_RT_INVALID_ARGUMENT, "--dump-gradients has nothing to write: %s",
                trains(infoOf(executable)) ? "each gradient is consumed during backward"
                                           : "the program does not train");
  const auto isFolder = [](const DataFile &file) { return isDocumentFolder(file.path); };
  if (options.packing && std::ranges::none_of(options.data, isFolder) &&
      std::ranges::none_of(options.evalData, isFolder))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--pack has no effect: no data is a folder of tokens, as `python -m zero tokenize` "
                "writes it");
  return {};
}

void checkCores(const Options &options, const Executable &executable) {
  const zero_rt_program_info info = infoOf(executable);
  const int threads = options.session.threads_per_rank, cores = usableCores();
  if (info.ranks * threads > cores && !options.session.world && !options.quiet &&
      info.device == std::string_view("cpu"))
    warn(format(
        "%d rank%s of %d thread%s on %d core%s: threads share cores, and ranks are not bound "
        "to cores",
        info.ranks, info.ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s", cores,
        cores == 1 ? "" : "s"));
}

/// Says how the drives are reached, if the run needs them.
static void announceNvme(const Options &options, const Session &session) {
  zero_rt_nvme_info info;
  if (!zero_rt_session_nvme(session.get(), &info) || options.quiet)
    return;
  DriveFolders drives;
  if (!DriveFolders::parse(options.nvmeDir, drives).ok())
    return; // as the session did
  std::printf("nvme: one file per rank in %s%s, accessed with %s%s\n",
              drives.paths().size() > 1 ? "each of " : "", drives.text().c_str(), info.queue,
              info.direct ? ""
                          : " through the page cache: this file system does not support O_DIRECT");
  std::fflush(stdout); // before anything on stderr
}

Status openSession(const Options &options, const Executable &executable, const Job &job,
                   WorkLine &work, Session &session) {
  zero_rt_session_options wanted = options.session;
  wanted.device = options.device.empty() ? nullptr : options.device.c_str();
  const bool isCuda = infoOf(executable).device == std::string_view("cuda");
  const std::string gpus = options.gpus.empty() && isCuda ? job.gpu() : options.gpus;
  wanted.gpus = gpus.empty() ? nullptr : gpus.c_str();
  wanted.gpu_algorithms = options.gpuAlgorithms == "off" ? nullptr : options.gpuAlgorithms.c_str();
  wanted.nvme_dir = options.nvmeDir.empty() ? nullptr : options.nvmeDir.c_str();
  wanted.nvme_io = options.nvmeIo.empty() ? nullptr : options.nvmeIo.c_str();
  if (!options.ratePicture.empty())
    wanted.allow_nan = 1; // the highest rates may diverge
  wanted.progress = WorkLine::report;
  wanted.progress_context = &work;
  ZERO_RT_TRY(zero::run::open(executable, wanted, session));
  announceNvme(options, session);
  return options.findsNan ? take(zero_rt_session_find_nan(session.get())) : Status();
}

} // namespace zero::run
