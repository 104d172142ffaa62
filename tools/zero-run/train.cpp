//===- train.cpp - train a model ------------------------------------------===//

#include "train.h"

#include "alike.h"
#include "best.h"
#include "checkpoints.h"
#include "data.h"
#include "ending.h"
#include "evaluation.h"
#include "outputs.h"
#include "process_memory.h"
#include "profiler.h"
#include "progress.h"
#include "rate_test.h"
#include "report.h"
#include "starting.h"
#include "stop_time.h"
#include "tiers.h"
#include "tools/process/process.h"
#include "warnings.h"
#include "work_line.h"
#include "zero_rt/averages.h"
#include "zero_rt/mixing.h"

#include <algorithm>
#include <cstdio>

using namespace zero::rt;

namespace zero::run {

namespace {
/// A run from its data to its files.
class Training {
public:
  Training(const Options &options, const Job &job, const Executable &executable)
      : options(options), job(job), executable(executable), early(options, job), evaluator(job),
        checkpoints(options, job), best(options, job, checkpoints), work(options.quiet),
        meter(WorkLine::report, &work) {}

  Status run();
  /// Leaves the log, and the page with the error, of a run that has failed.
  void leave(const Status &status);
  int code() const;

private:
  Status open();
  Status evaluate(Progress &progress);
  /// Whether the weights are those of the last evaluation.
  bool isEvaluated() const {
    return !results.evaluations.empty() && results.evaluations.back().step == results.done();
  }
  Status saveBeforeFailure(const Status &reason);
  Status begin();
  Status resume();
  Status noteStopTime(Progress &progress);
  Status runStep(uint64_t step, Progress &progress);
  Status runSteps(Progress &progress);
  Status save(bool beside);
  Status writeTrained();
  Status writeAverages();
  Status write();

  const Options &options;
  const Job &job;
  const Executable &executable;
  Data data;
  EarlyEnd early;
  Evaluator evaluator;
  std::optional<RateTest> rates;
  Checkpoints checkpoints;
  BestCheckpoint best;
  Profiler profiler;
  WorkLine work;
  Meter meter; ///< of what is done here; the session has its own
  Session session;
  Outputs outputs;
  Results results;
  bool weightsWritten = false;
  uint64_t steps = 1; ///< in all, those before a checkpoint included
};
} // namespace

/// What can be wrong with files and options, before memory is reserved.
Status Training::open() {
  ZERO_RT_TRY(checkEffects(options, executable));
  if (job.isFirst())
    ZERO_RT_TRY(outputs.open(options, executable));
  const bool evaluatesOnly = options.steps == 0u && options.data.empty();
  steps = 0;
  if (!evaluatesOnly || options.evalData.empty()) {
    ZERO_RT_TRY(openData(executable, {"--data", /*trains=*/true, options.choosePacking()},
                         options.data, options.quiet, job.isFirst(), data));
    if (options.shuffleSeed)
      ZERO_RT_TRY(take(zero_rt_data_shuffle_within(data.get(), *options.shuffleSeed,
                                                   options.shuffleWindow.value_or(0))));
    ZERO_RT_TRY(countSteps(options, data, {}, steps));
  }
  ZERO_RT_TRY(evaluator.open(options, executable));
  return checkpoints.open();
}

/// Goes on from a checkpoint.
Status Training::resume() {
  zero_rt_state_result from{};
  ZERO_RT_TRY(checkpoints.resume(session, from));
  if (!from.generation) // nothing is saved yet
    ZERO_RT_TRY(loadWeights(options, session));
  if (data)
    ZERO_RT_TRY(countSteps(options, data, from, steps));
  results.first = from.step;
  if (!options.ratePicture.empty())
    steps += from.step;
  steps = std::max(steps, from.step);
  if (steps == from.step && !options.outputs.empty())
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--save-outputs needs at least one step, and the checkpoint has all %llu",
                static_cast<unsigned long long>(steps));
  return job.isFirst() ? outputs.continueLog(options.log, from.step) : Status();
}

/// Makes the session, and gives it what it begins with.
Status Training::begin() {
  checkCores(options, executable);
  results.process = processMemory(executable, job);
  ZERO_RT_TRY(chooseAsync(options, executable, job, results.process));
  ZERO_RT_TRY(checkMemoryLimit(executable, job, results.process));
  if (!options.quiet) {
    std::printf("memory of this process: %s\n", results.process.text().c_str());
    std::fflush(stdout); // before anything on stderr
  }
  ZERO_RT_TRY(profiler.open(options, executable));
  ZERO_RT_TRY(openSession(options, executable, job, work, session));
  ZERO_RT_TRY(take(zero_rt_session_set_data(session.get(), data.get())));
  if (options.learningRate)
    ZERO_RT_TRY(take(zero_rt_session_set_learning_rate(session.get(), *options.learningRate)));
  ZERO_RT_TRY(options.resume.empty() ? loadWeights(options, session) : resume());
  ZERO_RT_TRY(best.open(session));
  if (job.isFirst()) {
    ZERO_RT_TRY(outputs.openEvents(results.first));
    outputs.beginPage(results.process, results.first, steps);
  }
  return profiler.checkSteps(steps - results.first);
}

/// A failure of the evaluation does not lose what the steps have trained.
Status Training::evaluate(Progress &progress) {
  Evaluation result;
  bool complete;
  if (Status status = evaluator.run(session, results.done(), result, complete); !status.ok())
    return saveBeforeFailure(status);
  if (!complete)
    return {};
  ZERO_RT_TRY(outputs.logEvaluation(result));
  progress.evaluation(result);
  if (results.evaluations.empty() || result.total.not_finite > 0) // the rest is the same each time
    evaluator.warn(result.total);
  results.evaluations.push_back(result);
  early.addEvaluation(result);
  if (best.isBetter(result))
    ZERO_RT_TRY(outputs.publishLog()); // a run that is resumed from there finds its lines
  return best.add(session, result);
}

/// The weights of this process are still readable, because an evaluation changes none.
Status Training::saveBeforeFailure(const Status &reason) {
  // After an evaluation of averages that fails, parameters do not have their own values.
  const bool isReadable = weightsWritten || (!options.session.world && !options.evaluatesAverages);
  if (!job.isFirst() || !isReadable || options.saves.empty() || results.steps.empty())
    return reason;
  Status saved =
      weightsWritten ? Status() : outputs.writeWeights(executable, session, meter, false);
  if (saved.ok())
    saved = outputs.commitWeights();
  std::fflush(stdout);
  if (saved.ok())
    std::fprintf(stderr, "zero-run: the weights after %llu steps are saved\n",
                 static_cast<unsigned long long>(results.done()));
  else
    warn("cannot save the weights after the evaluation: " + saved.getMessage());
  return reason;
}

/// Says how soon the run can end, which --max-time depends on.
Status Training::noteStopTime(Progress &progress) {
  const std::optional<StopTime> time = stopTime(options, job, executable);
  if (!time)
    return {};
  early.setSaving(time->seconds);
  progress.note(stopTimeText(*time, results.steps.back().seconds));
  return {};
}

Status Training::runStep(uint64_t step, Progress &progress) {
  const bool keep = step == 0 && !options.gradients.empty();
  ZERO_RT_TRY(profiler.beforeStep(session, results.steps.size(), steps - results.first));
  zero_rt_step_result result;
  if (rates)
    ZERO_RT_TRY(take(
        zero_rt_session_set_learning_rate(session.get(), rates->rateOf(step - results.first))));
  ZERO_RT_TRY(
      take(zero_rt_session_step(session.get(), keep ? ZERO_RT_KEEP_GRADIENTS : 0, &result)));
  if (keep)
    ZERO_RT_TRY(job.inFirst(session, [&] { return outputs.writeGradients(executable, session); }));
  ZERO_RT_TRY(outputs.logStep(result, progress.perSecond(result.seconds)));
  progress.step(result);
  checkpoints.printRemarks(session);
  results.steps.push_back(result);
  early.addStep(result.seconds);
  if (rates && rates->add(result))
    steps = results.done(); // it has diverged
  if (results.steps.size() == 1)
    ZERO_RT_TRY(noteStopTime(progress));
  return {};
}

Status Training::runSteps(Progress &progress) {
  if (!options.ratePicture.empty())
    rates.emplace(options.lowestRate, options.highestRate, steps - results.first);
  for (uint64_t step = results.first; step < steps; ++step) {
    bool stops;
    ZERO_RT_TRY(early.shallStop(session, stops));
    if (stops)
      break;
    ZERO_RT_TRY(runStep(step, progress));
    if (step + 1 == steps)
      break;
    if (evaluator.isDue(step + 1, steps)) // its line is in the log that a checkpoint goes with
      ZERO_RT_TRY(evaluate(progress));
    if (checkpoints.isDue(step + 1))
      ZERO_RT_TRY(save(/*beside=*/results.process.copies > 0));
  }
  zero_rt_stats stats{};
  ZERO_RT_TRY(
      job.inFirst(session, [&] { return take(zero_rt_session_stats(session.get(), 0, &stats)); }));
  results.stats = stats;
  results.nvmeRead = stats.nvme_read, results.nvmeWritten = stats.nvme_written;
  results.ending = results.done() < steps ? early.why() : Ending::Complete;
  if (results.ending == Ending::Signal && results.steps.empty())
    return fail(ZERO_RT_ABORTED, "interrupted before the first step");
  if (!options.saveState.empty() && results.ending != Ending::Patience)
    results.resume = "--resume=" + escape(options.saveState);
  if (results.ending == Ending::Patience)
    results.patience = early.patienceText();
  ZERO_RT_TRY(save(/*beside=*/false));
  return checkpoints.finish(session);
}

/// Saves the state, if asked for. The log goes first: a run that is resumed finds its lines.
Status Training::save(bool beside) {
  if (checkpoints.isSaved(results.done()))
    return {};
  ZERO_RT_TRY(outputs.publishLog());
  return checkpoints.save(session, results.done(), beside);
}

/// What the last step left, before an evaluation replaces outputs or ends the session.
Status Training::writeTrained() {
  ZERO_RT_TRY(outputs.writeOutputs(executable, session));
  ZERO_RT_TRY(outputs.writeWeights(executable, session, meter, /*ofAverages=*/false));
  weightsWritten = true;
  return {};
}

/// The files of --save-ema. All processes exchange parameters with averages.
Status Training::writeAverages() {
  if (options.averageSaves.empty())
    return {};
  ZERO_RT_TRY(take(zero_rt_session_use_averages(session.get(), 1)));
  ZERO_RT_TRY(job.inFirst(session, [&] {
    return outputs.writeWeights(executable, session, meter, /*ofAverages=*/true);
  }));
  return take(zero_rt_session_use_averages(session.get(), 0));
}

/// Writes the other files of all ranks, and gives all their names.
Status Training::write() {
  ZERO_RT_TRY(profiler.finish(session, results.profiles));
  ZERO_RT_TRY(profiler.writeTrace(outputs.traceFile()));
  if (rates)
    ZERO_RT_TRY(outputs.writePicture(rates->picture()));
  ZERO_RT_TRY(outputs.writeReport(reportJson(executable, session, results)));
  ZERO_RT_TRY(outputs.finishPage(results, Status()));
  return outputs.commit();
}

Status Training::run() {
  if (!options.needsCompiler())
    printPlan(executable, options.quiet); // otherwise zeroc has
  ZERO_RT_TRY(open());
  ZERO_RT_TRY(checkAlike(options, job));
  Progress progress(executable, data, steps, options);
  progress.printData(options.shuffleSeed);
  if (evaluator.isOpen())
    progress.printEvalData(evaluator.getData(), evaluator.samplesEachTime());
  ZERO_RT_TRY(begin());
  progress.begin(results.first, steps);
  ZERO_RT_TRY(runSteps(progress));
  ZERO_RT_TRY(job.inFirst(session, [&] { return writeTrained(); }));
  ZERO_RT_TRY(writeAverages());
  if (evaluator.isDue(results.done(), steps) && !isEvaluated())
    ZERO_RT_TRY(evaluate(progress));
  results.saves = checkpoints.getSaves();
  results.drive = driveUse(executable, session, results, options);
  ZERO_RT_TRY(job.sum("bytes read from disks", results.drive.read));
  ZERO_RT_TRY(job.sum("bytes written to disks", results.drive.written));
  ZERO_RT_TRY(job.mpiBytes(results.mpiBytes));
  ZERO_RT_TRY(job.inFirst(session, [&] { return write(); }));
  if (job.isFirst()) {
    progress.finish(results);
    progress.note(best.text());
    if (rates)
      progress.note(rates->text());
    profiler.print(results.profiles);
  }
  return {};
}

void Training::leave(const Status &status) {
  (void)outputs.publishLog(); // there is an error already
  (void)outputs.finishPage(results, status);
}

int Training::code() const {
  switch (results.ending) {
  case Ending::Signal:
    return 128 + job.interruption();
  case Ending::Time:
    return kMoreToDo;
  default:
    return 0;
  }
}

Status train(const Options &options, const Job &job, const Executable &executable, int &code) {
  Training training(options, job, executable);
  Status status = training.run();
  if (!status.ok())
    training.leave(status);
  code = training.code();
  return status;
}

} // namespace zero::run
