//===- session.cpp - a program on its ranks -------------------------------===//

#include "runtime/session/session.h"

#include "runtime/session/values.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace zero::rt {

Session::Session(std::unique_ptr<Ranks> all)
    : ranks(std::move(all)), weights(*ranks), gradients(*ranks),
      checkpoints(*ranks, position, gradients) {
  position.learningRate = tables().learning_rate();
  position.data = makeDataSet(tables());
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
  ZERO_RT_TRY(checkState());
  ZERO_RT_TRY(position.data->prepare());
  ZERO_RT_TRY(checkpoints.findData());
  ZERO_RT_TRY(gradients.keep(flags & ZERO_RT_KEEP_GRADIENTS));
  StepRequest request;
  request.step = position.steps;
  request.batch = position.batch;
  request.learningRate = position.learningRate;
  request.allowNan = ranks->getOptions().allow_nan != 0;
  request.data = position.data;
  const std::shared_ptr<Gradients::Values> room = gradients.room();
  request.gradients = room.get();
  ZERO_RT_TRY(run(request, room, result));
  seconds += result.seconds;
  ++position.steps;
  ++position.batch;
  ++ran;
  return {};
}

Status Session::evaluate(std::shared_ptr<DataSet> data, uint64_t which,
                         zero_rt_step_result &result) {
  ZERO_RT_TRY(ranks->checkAlive());
  ZERO_RT_TRY(checkState());
  ZERO_RT_TRY(checkData(*data));
  ZERO_RT_TRY(data->prepare());
  StepRequest request;
  request.step = request.batch = which;
  request.evaluate = true;
  request.learningRate = position.learningRate;
  request.allowNan = ranks->getOptions().allow_nan != 0;
  request.data = std::move(data);
  return run(request, nullptr, result);
}

/// The result of `rank`. An evaluation changes only the loss.
static zero_rt_step_result resultOf(const Rank &rank, const StepRequest &request) {
  auto value = [&](const char *name) {
    return request.evaluate ? NAN : rank.results().scalar(name).value_or(NAN);
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

/// Runs a step or an evaluation on all ranks, which may use `held` as long as they run. A
/// failure ends the session.
Status Session::run(const StepRequest &request, std::shared_ptr<const void> held,
                    zero_rt_step_result &result) {
  auto begin = std::chrono::steady_clock::now();
  Status status = ranks->run([request, held = std::move(held)](Ranks::Body &body, int rank) {
    return body.rank(rank).step(request);
  });
  if (!status.ok())
    return ranks->end(
        fail(status.getCode(), "%s %llu: %s", request.evaluate ? "evaluation of batch" : "step",
             static_cast<unsigned long long>(request.step), status.getMessage().c_str()));
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  result = resultOf(*ranks->here().front(), request);
  result.seconds = took.count();
  return {};
}

Status Session::record(uint64_t steps) {
  ZERO_RT_TRY(ranks->checkAlive());
  const uint64_t each =
      commandsPerStep(tables()) * sizeof(zero_rt_event) + sizeof(zero_rt_recorded_step);
  if (steps > uint64_t(PTRDIFF_MAX) / each)
    return fail(ZERO_RT_INVALID_ARGUMENT, "%llu steps are too many to record",
                static_cast<unsigned long long>(steps));
  // Each on its own thread, so that memory is on the NUMA node of the thread that writes it.
  return ranks->runBetweenSteps(
      [steps, origin = Recorder::Clock::now()](Ranks::Body &body, int rank) {
        body.rank(rank).record(steps, origin);
        return Status();
      });
}

Status Session::recording(int rank, zero_rt_recording &recording) const {
  Rank *found = nullptr;
  ZERO_RT_TRY(ranks->find(rank, found));
  recording = found->recording();
  return {};
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Status Session::readOutput(const std::string &name, int rank, void *destination,
                           uint64_t bytes) const {
  Rank *found = nullptr;
  ZERO_RT_TRY(ranks->find(rank, found));
  for (int i = 0; i < tables().outputs_size(); ++i) {
    if (tables().outputs(i).name() != name)
      continue;
    const std::vector<uint8_t> &value = found->results().output(i);
    ZERO_RT_TRY(checkSize(name, value.size(), bytes));
    std::copy_n(value.data(), bytes, static_cast<uint8_t *>(destination));
    return {};
  }
  return notFound("output", name);
}

Status Session::stats(int rank, zero_rt_stats &stats) const {
  Rank *found = nullptr;
  ZERO_RT_TRY(ranks->find(rank, found));
  const Traffic traffic = found->traffic();
  const MemoryCheck *memory = found->memoryCheck();
  stats = {};
  stats.steps = ran;
  for (int number = 0; number < ZERO_RT_TIERS; ++number) {
    const auto tier = static_cast<proto::Tier>(number);
    stats.arena_bytes[tier] = arenaBytes(tables(), tier);
    stats.measured_peak[tier] = memory ? memory->peak(tier) : 0;
    stats.measured_live[tier] = memory ? memory->mostLive(tier) : 0;
  }
  stats.model_elements = traffic.modelElements;
  stats.control_elements = traffic.controlElements;
  stats.model_bytes = traffic.modelBytes;
  stats.control_bytes = traffic.controlBytes;
  stats.seconds = seconds;
  const auto toSeconds = [](std::chrono::nanoseconds time) { return double(time.count()) * 1e-9; };
  const LaneUse &last = found->getExecutor().lastUse(), &all = found->getExecutor().use();
  stats.nvme_read = last.lanes[proto::NVME_READ].bytes;
  stats.nvme_written = last.lanes[proto::NVME_WRITE].bytes;
  for (size_t lane = 0; lane < all.lanes.size(); ++lane)
    stats.lanes[lane] = {toSeconds(all.lanes[lane].time), all.lanes[lane].bytes};
  stats.stalled = toSeconds(all.stalled);
  return {};
}

/// False if the program keeps nothing on disk.
bool Session::describeNvme(zero_rt_nvme_info &info) const {
  const RankMemory &memory = ranks->here().front()->getMemory();
  if (!memory.hasFile())
    return false;
  info = {memory.queueName(), memory.getFile().isDirect(), 0, 0};
  for (const auto &rank : ranks->here()) {
    info.read += rank->getMemory().getFile().bytesRead();
    info.written += rank->getMemory().getFile().bytesWritten();
  }
  return true;
}

const char *Session::nvmeFile(int number) const {
  Rank *rank = nullptr;
  if (!ranks->find(number, rank).ok() || !rank->getMemory().hasFile())
    return nullptr;
  return rank->getMemory().getFile().path().c_str();
}

} // namespace zero::rt
