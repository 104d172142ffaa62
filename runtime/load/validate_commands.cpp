//===- validate_commands.cpp - validate commands --------------------------===//

#include "runtime/load/validate_commands.h"

#include "runtime/comm/reduce.h"
#include "runtime/device/cpu/reach.h"
#include "runtime/format/collectives.h"
#include "runtime/load/reduction.h"
#include "runtime/load/validate_launches.h"
#include "runtime/support/checked.h"

#include <cmath>

namespace zero::rt {

namespace {

/// Checks the kernels and commands of one program. The errors in each function describe the checks.
class CommandValidator {
public:
  CommandValidator(const proto::Program &program, const Bounds &bounds)
      : program(program), bounds(bounds) {}

  Status run() {
    for (const proto::Kernel &kernel : program.kernels())
      ZERO_RT_TRY(checkKernel(kernel));
    return checkSegments();
  }

private:
  Status checkSegments() {
    int kind = proto::Segment::PROLOGUE;
    int microBatches = 0;
    for (const proto::Segment &segment : program.segments()) {
      if (segment.kind() < kind || !proto::Segment::Kind_IsValid(segment.kind()))
        return fail(ZERO_RT_BAD_FILE, "segments out of order");
      kind = segment.kind();
      microBatches += kind == proto::Segment::MICRO_BATCH;
      ZERO_RT_TRY(checkRepeat(segment));
      // It must be looked at before anything is updated.
      const bool mayDefer = hasEpilogue() && kind != proto::Segment::EPILOGUE;
      for (const proto::Command &command : segment.commands()) {
        ZERO_RT_TRY(checkDelayed(command, segment));
        ZERO_RT_TRY(checkCommand(command, mayDefer));
      }
      ZERO_RT_TRY(checkRenames(segment));
    }
    if (microBatches > 1)
      return fail(ZERO_RT_BAD_FILE, "expected one micro-batch segment, got %d", microBatches);
    return {};
  }

  /// A prologue and the micro-batches run once for each micro-batch, or list all of them.
  Status checkRepeat(const proto::Segment &segment) {
    const uint64_t iterations = std::max<uint64_t>(1, segment.repeat());
    const uint64_t expected =
        segment.kind() == proto::Segment::EPILOGUE ? 1 : microBatchesOf(program);
    if (iterations != expected && iterations != 1)
      return fail(ZERO_RT_BAD_FILE, "segment '%s': expected %llu iterations, got %llu",
                  proto::Segment::Kind_Name(segment.kind()).c_str(),
                  static_cast<unsigned long long>(expected),
                  static_cast<unsigned long long>(iterations));
    for (uint32_t input : segment.inputs())
      if (input >= uint32_t(program.inputs_size()))
        return fail(ZERO_RT_BAD_FILE, "a segment writes input %u of %d", input,
                    program.inputs_size());
    return {};
  }

  Status checkRenames(const proto::Segment &segment) {
    uint32_t before = 0;
    for (const proto::Rename &rename : segment.renames()) {
      if (rename.command() < before || rename.command() > uint32_t(segment.commands_size()) ||
          rename.predicate() > uint32_t(program.predicates_size()))
        return fail(ZERO_RT_BAD_FILE,
                    "a rename before command %u with predicate %u: out of order, or no such "
                    "command or predicate",
                    rename.command(), rename.predicate());
      before = rename.command();
      ZERO_RT_TRY(bounds.check("rename", rename.place(), rename.place().bytes()));
    }
    return {};
  }

  bool hasEpilogue() const {
    return program.segments_size() > 0 &&
           program.segments().rbegin()->kind() == proto::Segment::EPILOGUE;
  }

  /// What finishes the step before runs once in the micro-batches, and in no evaluation.
  Status checkDelayed(const proto::Command &command, const proto::Segment &segment) const {
    const bool isOnce = segment.kind() == proto::Segment::MICRO_BATCH &&
                        (command.when() == proto::Command::FIRST || segment.repeat() <= 1);
    if (!command.delayed() || (isOnce && !command.forward()))
      return {};
    return badTable("command", command.label(),
                    "it is delayed, but not one of the first micro-batch, or a part of forward");
  }

  Status checkCommand(const proto::Command &command, bool mayDefer) {
    const std::string &label = command.label();
    if (!proto::Command::When_IsValid(command.when()))
      return badTable("command", label, "it runs in iterations that this runtime does not know");
    if (!std::isfinite(command.seconds()) || command.seconds() < 0)
      return badTable("command", label, "expected a finite time of at least 0");
    if (command.predicate() > uint32_t(program.predicates_size()))
      return badTable("command", label, "no such predicate");
    switch (command.body_case()) {
    case proto::Command::kLaunch:
      return checkLaunch(command);
    case proto::Command::kCollective:
      return checkCollective(command);
    case proto::Command::kCheck:
      if (command.check().deferred() && (!mayDefer || program.target() != proto::CUDA))
        return badTable("command", label,
                        "a check is deferred on a CPU, or with no epilogue behind it");
      return bounds.check(label, command.check().value(), 2 * sizeof(int64_t));
    case proto::Command::kCopy:
      ZERO_RT_TRY(bounds.checkCopied(label, command.copy().src(), command.copy().bytes()));
      return bounds.checkCopied(label, command.copy().dst(), command.copy().bytes());
    case proto::Command::BODY_NOT_SET:
      return badTable("command", label, "its body is of a kind that this runtime does not know");
    }
    return {};
  }

  Status checkKernel(const proto::Kernel &kernel) {
    if (kernel.extent() > bounds.most())
      return badTable("kernel", kernel.name(), "it has more iterations than the arena has bytes");
    for (int dtype : kernel.stored())
      if (sizeOf(toDType(static_cast<proto::DType>(dtype))) == 0)
        return badTable("kernel", kernel.name(), "an argument of an unknown type");
    const bool onGpu = program.target() == proto::CUDA;
    Status planned = planReach(kernel, reaches.emplace_back(), onGpu);
    return planned.ok() ? Status()
                        : badTable("kernel", kernel.name(), planned.getMessage().c_str());
  }

  /// Each argument is in the arena as far as the kernel accesses it; the range of native code is
  /// trusted.
  Status checkLaunch(const proto::Command &command) {
    const proto::Launch &launch = command.launch();
    if (launch.kernel() >= uint32_t(program.kernels_size()))
      return badTable("command", command.label(), "no such kernel");
    const proto::Kernel &kernel = program.kernels(int(launch.kernel()));
    if (kernel.body_case() == proto::Kernel::BODY_NOT_SET)
      return badTable("kernel", kernel.name(), "it has no body");
    std::vector<uint64_t> reach = reaches[launch.kernel()];
    if (kernel.has_symbol() || kernel.has_gpu())
      reach.resize(size_t(std::max(launch.args_size() - (kernel.workspace() > 0), 0)));
    if (kernel.workspace() > 0)
      reach.push_back(kernel.workspace());
    if (size_t(launch.args_size()) != reach.size() ||
        kernel.stored_size() + (kernel.workspace() > 0) > launch.args_size())
      return badTable("command", command.label(), "wrong number of arguments for its kernel");
    for (size_t i = 0; i < reach.size(); ++i) {
      const proto::Address &argument = launch.args(int(i));
      if (argument.bytes() < reach[i])
        return fail(ZERO_RT_BAD_FILE,
                    "command '%s': its kernel reaches over %llu bytes of argument %zu, which has "
                    "%llu",
                    escape(command.label()).c_str(), static_cast<unsigned long long>(reach[i]), i,
                    static_cast<unsigned long long>(argument.bytes()));
      ZERO_RT_TRY(bounds.check(command.label(), argument, argument.bytes()));
    }
    if (launch.has_gradient())
      ZERO_RT_TRY(checkGradient(command.label(), launch));
    if (kernel.has_symbol() || kernel.has_gpu())
      return checkIterations(command.label(), kernel, launch);
    return {};
  }

  /// The gradient of a launch is in an argument, and is of a bucket.
  Status checkGradient(const std::string &label, const proto::Launch &launch) {
    const proto::Launch::Gradient &gradient = launch.gradient();
    const proto::Buffer &buffer = gradient.buffer();
    uint64_t bytes, start, all;
    ZERO_RT_TRY(checkAxes(bounds.getMesh(), "command", label, buffer.shard_axes(), AxisOrder::Any));
    if (gradient.bucket() >= uint32_t(program.buffers_size()) ||
        buffer.shards() != uint32_t(bounds.getMesh().shares(buffer.shard_axes())))
      return badTable("command", label, "the gradient that it reads is of no bucket");
    if (gradient.argument() >= uint32_t(launch.args_size()) ||
        !sizeInBytes(buffer.dtype(), buffer.elements(), bytes) ||
        !sizeInBytes(buffer.dtype(), gradient.start(), start) ||
        !checkedMultiply(buffer.elements(), buffer.shards(), all) || start > bytes)
      return badTable("command", label, "the gradient that it reads is not one of its arguments");
    return {};
  }

  Status checkCollective(const proto::Command &command) {
    const proto::Collective &collective = command.collective();
    uint64_t slice, whole;
    ZERO_RT_TRY(
        checkAxes(bounds.getMesh(), "command", command.label(), collective.axes(), AxisOrder::Any));
    const uint64_t members = groupSize(bounds.getMesh(), collective);
    const CollectiveForm *known = formOf(collective.kind());
    if (!known)
      return badTable("command", command.label(), "a collective that this runtime does not know");
    if (command.predicate() != 0)
      return badTable("command", command.label(), "a collective with a predicate");
    if (!sizeInBytes(collective.dtype(), collective.elements(), slice) ||
        !checkedMultiply(slice, members, whole))
      return badTable("command", command.label(), "bad element type or size");
    const CollectiveForm &form = *known;
    if (form.sums &&
        (!canSum(reductionOf(collective)) || !proto::DType_IsValid(collective.arithmetic())))
      return badTable("command", command.label(), "a sum over ranks of a type that has none");
    if (form.inPlace && !areSameBytes(collective))
      return badTable("command", command.label(), "an all-reduce that is not in place");
    if (collective.root() >= members)
      return badTable("command", command.label(), "a root that is no member of its group");
    auto bytesOf = [&](CollectiveForm::Size size) {
      return size == CollectiveForm::Whole ? whole : slice;
    };
    ZERO_RT_TRY(bounds.check(command.label(), collective.src(), bytesOf(form.source)));
    return bounds.check(command.label(), collective.dst(), bytesOf(form.destination));
  }

  const proto::Program &program;
  const Bounds &bounds;
  std::vector<std::vector<uint64_t>> reaches; ///< of each kernel's arguments; see planReach()
};

} // namespace

Status validateCommands(const proto::Program &program, const Bounds &bounds) {
  return CommandValidator(program, bounds).run();
}

} // namespace zero::rt
