//===- session.cpp - a program on its ranks -------------------------------===//

#include "runtime/session/session.h"

#include "runtime/format/limits.h"
#include "runtime/io/safetensors.h"
#include "runtime/io/weights_writer.h"
#include "runtime/session/session_device.h"
#include "runtime/session/weights.h"
#include "runtime/support/floats.h"
#include "runtime/verify/value_check.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace zero::rt {

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Status checkOptions(const zero_rt_session_options &options) {
  if (options.threads_per_rank < 0 || options.threads_per_rank > int(kMostThreads))
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected at most %u threads per rank, got %d",
                kMostThreads, options.threads_per_rank);
  if (!(options.timeout_seconds > 0) || options.timeout_seconds > 1e9)
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected a timeout above 0 s, got %g",
                options.timeout_seconds);
  return {};
}

static TeamOptions teamOptions(int ranks, const zero_rt_session_options &options) {
  return {ranks, options.threads_per_rank, options.pin, options.timeout_seconds + 1, options.rank};
}

Session::Session(std::shared_ptr<Body> body, const zero_rt_session_options &options)
    : body(std::move(body)), options(options),
      team(teamOptions(this->body->program->ranks(), options)),
      learningRate(this->body->program->tables().learning_rate()) {}

/// How a session reaches the nvme tier.
static Status diskOptions(const zero_rt_session_options &options, DiskOptions &disk) {
  const std::string queue = options.nvme_io ? options.nvme_io : "auto";
  disk.folder = options.nvme_dir ? options.nvme_dir : "";
  if (queue == "io_uring")
    disk.queue = DiskQueue::Kind::Ring;
  else if (queue == "threads")
    disk.queue = DiskQueue::Kind::Threads;
  else if (queue != "auto")
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "expected 'auto', 'io_uring' or 'threads' for the nvme tier, got '%s'",
                escape(queue).c_str());
  return {};
}

Status Session::create(std::shared_ptr<const LoadedProgram> program,
                       const zero_rt_session_options &wanted, std::unique_ptr<Session> &session) {
  ZERO_RT_TRY(checkOptions(wanted));
  if (wanted.check_memory)
    ZERO_RT_TRY(checkValues(program->tables()));
  zero_rt_session_options options = wanted;
  if (options.threads_per_rank == 0)
    options.threads_per_rank = defaultThreads(program->tables());
  auto body = std::make_shared<Body>(options);
  body->program = program;
  std::vector<std::unique_ptr<Communicator>> ends;
  ZERO_RT_TRY(openDevice(*program, options, body->device, ends));
  body->data = makeDataSet(program->tables());
  ZERO_RT_TRY(InitialFiles::open(program->tables(), body->files));
  DiskOptions disk;
  ZERO_RT_TRY(diskOptions(options, disk));
  for (auto &end : ends) { // one behind the other: each finds what the others left of the disk
    body->ranks.push_back(std::make_unique<Rank>(program, std::move(end), disk));
    ZERO_RT_TRY(body->ranks.back()->openFile());
  }
  std::unique_ptr<Session> made(new Session(body, options));
  ZERO_RT_TRY(body->device->prepare(program->tables(), options.threads_per_rank));
  const RankOptions common{options.check_memory != 0, options.timeout_seconds, body, &body->meter};
  body->meter.begin("memory and initial values");
  ZERO_RT_TRY(made->team.run([body, common](int rank) {
    return body->rank(rank).prepare(*body->device, body->files, common);
  }));
  body->meter.end();
  if (made->isOneOfMany())
    ZERO_RT_TRY(made->checkSameProgram());
  session = std::move(made);
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
  body->data = data ? std::move(data) : makeDataSet(tables());
  return {};
}

Status Session::setLearningRate(float rate) {
  if (!std::isfinite(rate))
    return fail(ZERO_RT_INVALID_ARGUMENT, "the learning rate is not finite");
  for (const proto::Input &input : tables().inputs())
    if (input.kind() == proto::Input::LEARNING_RATE) {
      learningRate = rate;
      return {};
    }
  return fail(ZERO_RT_NOT_FOUND, "the program takes no learning rate");
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Status Session::step(uint32_t flags, zero_rt_step_result &result) {
  ZERO_RT_TRY(checkAlive());
  ZERO_RT_TRY(body->data->prepare());
  ZERO_RT_TRY(findData());
  if (flags & ZERO_RT_KEEP_GRADIENTS)
    ZERO_RT_TRY(checkHasAll("gradients"));
  keptGradients = flags & ZERO_RT_KEEP_GRADIENTS;
  body->gradients.resize(keptGradients ? tables().gradients_size() : 0);
  for (size_t i = 0; i < body->gradients.size(); ++i) {
    const proto::Gradient &gradient = tables().gradients(int(i));
    body->gradients[i].resize(elementsOf(body->program->parameterOf(gradient).shape()) *
                              sizeOf(gradientType(gradient)));
  }
  StepRequest request;
  request.step = steps;
  request.batch = batch;
  request.learningRate = learningRate;
  request.allowNan = options.allow_nan != 0;
  request.data = body->data;
  request.gradients = keptGradients ? &body->gradients : nullptr;
  ZERO_RT_TRY(run(request, result));
  seconds += result.seconds;
  ++steps;
  ++batch;
  ++ran;
  return {};
}

Status Session::evaluate(std::shared_ptr<DataSet> data, uint64_t which,
                         zero_rt_step_result &result) {
  ZERO_RT_TRY(checkAlive());
  ZERO_RT_TRY(checkData(*data));
  ZERO_RT_TRY(data->prepare());
  StepRequest request;
  request.step = request.batch = which;
  request.evaluate = true;
  request.learningRate = learningRate;
  request.allowNan = options.allow_nan != 0;
  request.data = std::move(data);
  return run(request, result);
}

/// What `rank` found. An evaluation leaves all but the loss as it was.
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

/// Runs a step or an evaluation on all ranks. A failure ends the session.
Status Session::run(const StepRequest &request, zero_rt_step_result &result) {
  auto begin = std::chrono::steady_clock::now();
  Status status =
      team.run([body = body, request](int rank) { return body->rank(rank).step(request); });
  if (!status.ok()) {
    failure =
        fail(status.getCode(), "%s %llu: %s", request.evaluate ? "evaluation of batch" : "step",
             static_cast<unsigned long long>(request.step), status.getMessage().c_str());
    return failure;
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  result = resultOf(*body->ranks.front(), request);
  result.seconds = took.count();
  return {};
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static Status checkSize(const std::string &name, uint64_t expected, uint64_t got) {
  if (expected == got)
    return {};
  return fail(ZERO_RT_INVALID_ARGUMENT, "'%s': expected room for %llu bytes, got %llu",
              escape(name).c_str(), static_cast<unsigned long long>(expected),
              static_cast<unsigned long long>(got));
}

static Status notFound(const char *what, const std::string &name) {
  return fail(ZERO_RT_NOT_FOUND, "no %s '%s'", what, escape(name).c_str());
}

Status Session::readOutput(const std::string &name, int rank, void *destination,
                           uint64_t bytes) const {
  ZERO_RT_TRY(checkRank(rank));
  for (int i = 0; i < tables().outputs_size(); ++i) {
    if (tables().outputs(i).name() != name)
      continue;
    const std::vector<uint8_t> &value = body->rank(rank).results().output(i);
    ZERO_RT_TRY(checkSize(name, value.size(), bytes));
    std::copy_n(value.data(), bytes, static_cast<uint8_t *>(destination));
    return {};
  }
  return notFound("output", name);
}

Status Session::readWhole(const proto::Tensor &tensor, void *destination) const {
  for (const Block &block : blocksOf(tables(), tensor))
    for (const auto &rank : body->ranks)
      ZERO_RT_TRY(copyOwnPart(block, rank->number(), rank->getMemory().byTier(), destination));
  return {};
}

static uint64_t bytesOf(const proto::Tensor &tensor) {
  return elementsOf(tensor.shape()) * sizeOf(toDType(tensor.dtype()));
}

Status Session::readTensor(const std::string &name, void *destination, uint64_t bytes) const {
  ZERO_RT_TRY(checkHasAll("tensors"));
  for (const proto::Tensor &tensor : tables().tensors()) {
    if (tensor.name() != name)
      continue;
    const proto::Tensor &value = body->program->valueOf(tensor);
    ZERO_RT_TRY(checkSize(name, bytesOf(value), bytes));
    return readWhole(value, destination);
  }
  return notFound("tensor", name);
}

Status Session::readGradient(const std::string &parameter, void *destination,
                             uint64_t bytes) const {
  if (!keptGradients)
    return fail(ZERO_RT_INVALID_ARGUMENT, "the last step did not keep its gradients");
  for (int i = 0; i < tables().gradients_size(); ++i) {
    if (tables().gradients(i).parameter() != parameter)
      continue;
    ZERO_RT_TRY(checkSize(parameter, body->gradients[i].size(), bytes));
    std::copy_n(body->gradients[i].data(), bytes, static_cast<uint8_t *>(destination));
    return {};
  }
  return notFound("gradient of", parameter);
}

static Status writeFile(const std::string &path, std::vector<TensorEntry> entries) {
  OutputFile file;
  ZERO_RT_TRY(OutputFile::create(path, file));
  ZERO_RT_TRY(writeSafetensors(file, std::move(entries)));
  return file.commit();
}

/// Writes `values`, of `dtype`, to all ranks' parts of `tensor`, and what they became in
/// it, rounded further, to the parameter that it is the master of.
Status Session::writeWhole(const proto::Tensor &tensor, DType dtype, const void *values) {
  const uint64_t count = elementsOf(tensor.shape());
  const DType own = toDType(tensor.dtype());
  std::vector<uint8_t> converted;
  if (dtype != own) {
    converted.resize(bytesOf(tensor));
    convertFloats(dtype, values, own, converted.data(), count);
    values = converted.data();
  }
  for (const Block &block : blocksOf(tables(), tensor))
    for (const auto &rank : body->ranks)
      ZERO_RT_TRY(setOwnPart(block, rank->number(), rank->getMemory().byTier(), values));
  for (const proto::Tensor &parameter : tables().tensors())
    if (tensor.master() && parameter.role() == proto::PARAMETER && parameter.name() == tensor.of())
      ZERO_RT_TRY(writeWhole(parameter, own, values));
  return {};
}

Status Session::load(const std::string &path, bool partial, zero_rt_load_result &result) {
  ZERO_RT_TRY(checkAlive());
  WeightsFile file;
  WeightsPlan plan;
  ZERO_RT_TRY(WeightsFile::open(path, file));
  if (Status status = planWeights(tables(), file, partial, options.verbose, plan); !status.ok())
    return fail(status.getCode(), "'%s' does not fit the model: %s", escape(path).c_str(),
                status.getMessage().c_str());
  body->meter.begin("weights");
  for (auto &[tensor, get] : plan.taken)
    body->meter.expect(bytesOf(body->program->valueOf(*tensor)));
  for (auto &[tensor, get] : plan.taken) {
    Array array;
    ZERO_RT_TRY(get(array));
    ZERO_RT_TRY(writeWhole(body->program->valueOf(*tensor), array.dtype, array.bytes.data()));
    body->meter.add(bytesOf(body->program->valueOf(*tensor)));
  }
  body->meter.end();
  result = {plan.taken.size(), plan.missing, plan.unknown};
  return {};
}

Status Session::checkAlive() const {
  return failure.ok()
             ? Status()
             : fail(ZERO_RT_ABORTED, "the session has ended: %s", failure.getMessage().c_str());
}

Status Session::save(const std::string &path) const {
  ZERO_RT_TRY(checkAlive());
  ZERO_RT_TRY(checkHasAll("weights"));
  std::vector<TensorEntry> entries;
  for (const proto::Tensor &tensor : tables().tensors()) {
    auto shape = shapeOf(tensor.shape());
    if (tensor.saved())
      entries.push_back({tensor.name(),
                         toDType(body->program->valueOf(tensor).dtype()),
                         {shape.begin(), shape.end()},
                         [this, &tensor](void *destination, uint64_t bytes) {
                           return readTensor(tensor.name(), destination, bytes);
                         },
                         initializerOf(tensor),
                         tensor.init().file().transposed()});
  }
  WeightsWriter writer;
  WeightsOrigin origin{tables().model(), {tables().files().begin(), tables().files().end()}};
  ZERO_RT_TRY(WeightsWriter::create(path, origin, entries, writer));
  ZERO_RT_TRY(writer.write(entries));
  return writer.commit();
}

Status Session::saveGradients(const std::string &path) const {
  std::vector<TensorEntry> entries;
  for (const proto::Gradient &gradient : tables().gradients()) {
    auto shape = shapeOf(body->program->parameterOf(gradient).shape());
    entries.push_back({gradient.parameter(),
                       gradientType(gradient),
                       {shape.begin(), shape.end()},
                       [this, &gradient](void *destination, uint64_t bytes) {
                         return readGradient(gradient.parameter(), destination, bytes);
                       }});
  }
  return writeFile(path, std::move(entries));
}

Status Session::stats(int rank, zero_rt_stats &stats) const {
  ZERO_RT_TRY(checkRank(rank));
  const Traffic traffic = body->rank(rank).traffic();
  const MemoryCheck *memory = body->rank(rank).memoryCheck();
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
  const LaneUse &last = body->rank(rank).getExecutor().lastUse(), &all = body->rank(rank).getExecutor().use();
  stats.nvme_read = last.lanes[proto::NVME_READ].bytes;
  stats.nvme_written = last.lanes[proto::NVME_WRITE].bytes;
  for (size_t lane = 0; lane < all.lanes.size(); ++lane)
    stats.lanes[lane] = {toSeconds(all.lanes[lane].time), all.lanes[lane].bytes};
  stats.stalled = toSeconds(all.stalled);
  return {};
}

/// False if the program keeps nothing on disk.
bool Session::describeNvme(zero_rt_nvme_info &info) const {
  const RankMemory &memory = body->ranks.front()->getMemory();
  if (!memory.hasFile())
    return false;
  info = {memory.queueName(), memory.getFile().isDirect(), 0, 0};
  for (const auto &rank : body->ranks) {
    info.read += rank->getMemory().getFile().bytesRead();
    info.written += rank->getMemory().getFile().bytesWritten();
  }
  return true;
}

const char *Session::nvmeFile(int rank) const {
  if (!checkRank(rank).ok())
    return nullptr;
  const RankMemory &memory = body->rank(rank).getMemory();
  return memory.hasFile() ? memory.getFile().path().c_str() : nullptr;
}

} // namespace zero::rt
