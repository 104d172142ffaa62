//===- session.cpp - a program on its ranks -------------------------------===//

#include "runtime/session/session.h"

#include "runtime/session/evaluation.h"
#include "runtime/support/checked.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace zero::rt {

Session::Session(std::unique_ptr<Ranks> all)
    : ranks(std::move(all)), delays(delaysCommands(tables())), weights(*ranks), gradients(*ranks),
      averages(*ranks), checkpoints(*ranks, position, gradients) {
  position.learningRate = tables().learning_rate();
  position.data = makeDataSet(tables());
  if (std::string timed = ranks->getDevice().timed(); !timed.empty())
    checkpoints.remark(std::move(timed));
}

Status Session::create(const std::shared_ptr<const LoadedProgram> &program,
                       const zero_rt_session_options &options, std::unique_ptr<Session> &session) {
  std::unique_ptr<Ranks> ranks;
  ZERO_RT_TRY(Ranks::create(program, options, ranks));
  session.reset(new Session(std::move(ranks)));
  return {};
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Status Session::checkData(const DataSet &data) const {
  return data.hasInputsOf(*makeDataSet(tables()))
             ? Status()
             : fail(ZERO_RT_INVALID_ARGUMENT, "the data was made for another program");
}

Status Session::setData(std::shared_ptr<DataSet> data) {
  if (data)
    ZERO_RT_TRY(checkData(*data));
  position.data = data ? std::move(data) : makeDataSet(tables());
  return {};
}

Status Session::setLearningRate(float rate) {
  if (!std::isfinite(rate))
    return fail(ZERO_RT_INVALID_ARGUMENT, "the learning rate is not finite");
  for (const proto::Input &input : tables().inputs())
    if (input.kind() == proto::Input::LEARNING_RATE) {
      position.learningRate = rate;
      return {};
    }
  return fail(ZERO_RT_NOT_FOUND, "the program takes no learning rate");
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether every tensor has a value to begin with.
Status Session::checkState() const {
  return checkpoints.isLoaded() ? Status() : weights.checkGiven();
}

Status Session::step(uint32_t flags, zero_rt_step_result &result) {
  ZERO_RT_TRY(ranks->checkAlive());
  ZERO_RT_TRY(averages.checkUnused("step"));
  ZERO_RT_TRY(checkState());
  ZERO_RT_TRY(position.data->prepare());
  ZERO_RT_TRY(checkpoints.findData());
  ZERO_RT_TRY(checkpoints.advance(/*waits=*/false));
  StepRequest request;
  ZERO_RT_TRY(gradients.keep(flags & ZERO_RT_KEEP_GRADIENTS, request));
  request.step = position.steps;
  request.batch = position.batch;
  request.shape = position.data->shapeOf(position.batch);
  request.learningRate = position.learningRate;
  request.allowNan = ranks->getOptions().allow_nan != 0;
  request.data = position.data;
  request.mode = delays && !unfinished ? Mode::FirstStep : Mode::Step;
  ZERO_RT_TRY(run(request, result));
  unfinished = delays;
  seconds += result.seconds;
  ++position.steps;
  ++position.batch;
  ++ran;
  return {};
}

Status Session::finishStep() {
  if (!std::exchange(unfinished, false))
    return {};
  StepRequest request;
  request.mode = Mode::Finish;
  request.step = position.steps - 1;
  request.allowNan = ranks->getOptions().allow_nan != 0;
  return runOnRanks(request);
}

Status Session::finishStepForReader() {
  if (unfinished)
    ZERO_RT_TRY(announce(*ranks, {Request::FinishStep}));
  return finishStep();
}

Status Session::prepareEvaluation(DataSet &data) {
  ZERO_RT_TRY(ranks->checkAlive());
  ZERO_RT_TRY(finishStep());
  ZERO_RT_TRY(checkState());
  ZERO_RT_TRY(checkData(data));
  return data.prepare();
}

Status Session::runEvaluation(StepRequest request, zero_rt_step_result &result) {
  request.mode = Mode::Evaluation;
  request.step = request.batch;
  request.learningRate = position.learningRate;
  return run(request, result);
}

Status Session::evaluate(std::shared_ptr<DataSet> data, uint64_t which,
                         zero_rt_step_result &result) {
  ZERO_RT_TRY(prepareEvaluation(*data));
  StepRequest request;
  request.batch = which;
  request.shape = data->shapeOf(which);
  request.data = std::move(data);
  return runEvaluation(std::move(request), result);
}

Status Session::evaluateSamples(std::shared_ptr<DataSet> data, uint64_t first, uint64_t count,
                                zero_rt_evaluation &total) {
  ZERO_RT_TRY(prepareEvaluation(*data));
  const SampleOrder &order = data->order();
  if (count == 0 || count > order.perStep() || first >= order.samples() ||
      count > order.samples() - first)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "expected 1 to %llu samples among %llu, got %llu from %llu on",
                static_cast<unsigned long long>(order.perStep()),
                static_cast<unsigned long long>(order.samples()),
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(first));
  auto one = [&](const SampleChoice &choice, BatchLoss &result) {
    StepRequest request;
    request.batch = first / order.perStep();
    request.samples = choice;
    request.shape = data->shapeOf(choice);
    request.data = data;
    zero_rt_step_result step;
    ZERO_RT_TRY(runEvaluation(std::move(request), step));
    total.seconds += step.seconds;
    result = {step.loss, ranks->here().front()->results().scalar("loss_weight").value_or(1)};
    return Status();
  };
  return rt::evaluateSamples(one, first, count, order.perStep(), total);
}

/// The result of `rank`. An evaluation changes only the loss.
static zero_rt_step_result resultOf(const Rank &rank, const StepRequest &request) {
  auto value = [&](const char *name) {
    return request.mode == Mode::Evaluation ? NAN : rank.results().scalar(name).value_or(NAN);
  };
  zero_rt_step_result result{};
  result.step = request.step;
  result.loss = rank.results().scalar("loss").value_or(NAN);
  result.gradient_norm = value("gradient_norm");
  result.learning_rate = value("learning_rate");
  result.loss_scale = value("loss_scale");
  result.skipped = value("applied") == 0;
  return result;
}

/// Remarks why a step was skipped: its gradients or its loss are beyond a limit, or the gradient of
/// a parameter is not finite. With a loss scale, that is a step of a search for one.
void Session::noteSkip(const zero_rt_step_result &result) {
  if (!result.skipped)
    return;
  if (std::isfinite(result.gradient_norm)) {
    checkpoints.remark(format("step %llu is skipped: its loss is %g and the norm of its gradients "
                              "is %g",
                              static_cast<unsigned long long>(result.step), double(result.loss),
                              double(result.gradient_norm)));
    return;
  }
  if (!std::isnan(result.loss_scale))
    return;
  for (const auto &rank : ranks->here())
    if (const std::string &name = rank->getExecutor().skippedFor(); !name.empty()) {
      checkpoints.remark(format("step %llu is skipped: the gradient of '%s' is not finite",
                                static_cast<unsigned long long>(result.step),
                                escape(name).c_str()));
      return;
    }
}

/// A failure ends the session.
Status Session::runOnRanks(const StepRequest &request) {
  Status status =
      ranks->run([request](Ranks::Body &body, int rank) { return body.rank(rank).step(request); });
  if (status.ok())
    return status;
  const bool evaluates = request.mode == Mode::Evaluation;
  const std::string where = format("%s %llu", evaluates ? "evaluation of batch" : "step",
                                   static_cast<unsigned long long>(request.step));
  return ranks->end(fail(status.getCode(), "%s: %s", where.c_str(), status.getMessage().c_str()),
                    where + ", " + ranks->here().front()->lastCollective());
}

/// Runs a step or an evaluation on all ranks.
Status Session::run(const StepRequest &request, zero_rt_step_result &result) {
  auto begin = std::chrono::steady_clock::now();
  ZERO_RT_TRY(runOnRanks(request));
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  result = resultOf(*ranks->here().front(), request);
  noteSkip(result);
  result.seconds = took.count();
  return {};
}

/// The time from which the ranks of all processes count: that of process 0 on its node, and the
/// same moment on others, whose clocks differ.
static Status findOrigin(Ranks &ranks, Recorder::Clock::time_point &origin) {
  using Clock = Recorder::Clock;
  std::vector<std::string> all;
  ZERO_RT_TRY(ranks.agree("begin of a recording", {},
                          std::to_string(Clock::now().time_since_epoch().count()), all));
  origin = Clock::now();
  int64_t first = 0;
  const bool isOnFirstNode = !ranks.isOneOfMany() || ranks.getWorld().node() == 0;
  if (isOnFirstNode && parseInteger(std::string_view(all.front()), first))
    origin = Clock::time_point(Clock::duration(first));
  return {};
}

Status Session::findNan() {
  ZERO_RT_TRY(ranks->checkAlive());
  if (tables().target() == proto::CUDA)
    return fail(ZERO_RT_UNSUPPORTED,
                "NaN is found in programs for CPUs: compile with --device=cpu");
  for (const auto &rank : ranks->here())
    rank->findNan();
  return {};
}

Status Session::record(uint64_t steps) {
  ZERO_RT_TRY(ranks->checkAlive());
  uint64_t events = 0; // in a step, at most
  for (size_t shape = 0; shape < ranks->program().shapes(); ++shape)
    events += commandsPerStep(ranks->program().tablesOf(shape));
  const uint64_t each = events * sizeof(zero_rt_event) + sizeof(zero_rt_recorded_step);
  if (steps > uint64_t(PTRDIFF_MAX) / each)
    return fail(ZERO_RT_INVALID_ARGUMENT, "%llu steps are too many to record",
                static_cast<unsigned long long>(steps));
  recordings.clear();
  Recorder::Clock::time_point origin;
  ZERO_RT_TRY(findOrigin(*ranks, origin));
  // Each on its own thread, so that memory is on the NUMA node of the thread that writes it.
  return ranks->runBetweenSteps([steps, origin](Ranks::Body &body, int rank) {
    body.rank(rank).record(steps, origin);
    return Status();
  });
}

Status Session::any(bool mine, bool &result) {
  ZERO_RT_TRY(ranks->checkAlive());
  auto wanted = std::make_shared<std::vector<char>>(size_t(tables().ranks()), 0);
  Status status = ranks->runBetweenSteps([mine, wanted](Ranks::Body &body, int rank) {
    bool found = false;
    ZERO_RT_TRY(body.rank(rank).any(*body.device, mine, found));
    (*wanted)[size_t(rank)] = found;
    return Status();
  });
  if (!status.ok())
    return ranks->end(status);
  result = (*wanted)[size_t(ranks->here().front()->number())];
  return {};
}

} // namespace zero::rt
