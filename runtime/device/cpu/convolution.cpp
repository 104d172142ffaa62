//===- convolution.cpp - convolutions through oneDNN ----------------------===//

#include "runtime/device/cpu/convolution.h"

#include "runtime/device/cpu/convolution_plan.h"
#include "runtime/device/cpu/onednn.h"
#include "runtime/device/cpu/openmp.h"
#include "runtime/support/checked.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace zero::rt {

using Desc = dnnl::memory::desc;

namespace {
/// An argument of the call: its kind in oneDNN, its layout in the arena, and the layout that the
/// primitive needs. If these differ, a copy is `offset` bytes into the workspace.
struct Operand {
  int role;
  Desc plain, wanted;
  uint64_t offset = 0;
  std::optional<dnnl::reorder::primitive_desc> reorder = std::nullopt;
};
} // namespace

struct Convolution::State {
  ConvolutionPlan plan;
  StoredTypes types;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::primitive primitive;
  Desc scratchpad;
  /// In the order of the call's arguments: two inputs, then the result.
  std::array<Operand, 3> operands;
  Desc bias;
  uint64_t scratchOffset = 0, workspace = 0;

  Status choose();
  void planReorders();
};

//===----------------------------------------------------------------------===//
// Choosing an implementation
//===----------------------------------------------------------------------===//

/// Row-major.
static Desc plainDesc(const std::vector<int64_t> &shape, DType type) {
  dnnl::memory::dims strides(shape.size());
  for (size_t dim = 0; dim < shape.size(); ++dim)
    strides[dim] = saturatingProduct<int64_t>(std::span(shape).subspan(dim + 1));
  return {shape, libraryType(type), strides};
}

static Desc anyDesc(const std::vector<int64_t> &shape, DType type) {
  return {shape, libraryType(type), dnnl::memory::format_tag::any};
}

static dnnl::primitive_attr userScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// Accepts only code for the given sizes, because gemm allocates on every call, and the reference
/// is slower than compiled code.
static Status checkImplementation(const dnnl::primitive_desc_base &chosen) {
  std::string_view name = chosen.impl_info_str();
  if (name.find("gemm") != name.npos || name.find("ref") != name.npos)
    return fail(ZERO_RT_UNSUPPORTED, "oneDNN has only '%s' for a convolution of these sizes",
                chosen.impl_info_str());
  return {};
}

Status Convolution::State::choose() {
  const ConvolutionPlan &p = plan;
  const auto direct = dnnl::algorithm::convolution_direct;
  const auto typeOf = [&](proto::Convolution::Direction direction) {
    return p.direction == direction ? types.result : types.operands;
  };
  const DType xType = typeOf(proto::Convolution::BACKWARD_DATA);
  const DType wType = typeOf(proto::Convolution::BACKWARD_WEIGHTS);
  const DType yType = typeOf(proto::Convolution::FORWARD);
  Desc x = anyDesc(p.input, xType), w = anyDesc(p.weights, wType), y = anyDesc(p.output, yType);
  Desc px = plainDesc(p.input, xType), pw = plainDesc(p.weights, wType),
       py = plainDesc(p.output, yType);
  bias = p.bias ? plainDesc({p.output[1]}, types.bias) : Desc();
  const bool isForward = p.direction == proto::Convolution::FORWARD;
  // The hint of a gradient has the types of operands.
  auto asOperand = [&](const std::vector<int64_t> &shape) {
    return anyDesc(shape, types.operands);
  };
  dnnl::convolution_forward::desc forward(
      dnnl::prop_kind::forward_training, direct, asOperand(p.input), asOperand(p.weights), bias,
      isForward ? y : asOperand(p.output), p.strides, p.dilates, p.padsBegin, p.padsEnd);
  dnnl::convolution_forward::primitive_desc hint(forward, userScratchpad(), engine);
  if (isForward) {
    ZERO_RT_TRY(checkImplementation(hint));
    primitive = dnnl::convolution_forward(hint);
    scratchpad = hint.scratchpad_desc();
    operands = {Operand{DNNL_ARG_SRC, px, hint.src_desc()},
                Operand{DNNL_ARG_WEIGHTS, pw, hint.weights_desc()},
                Operand{DNNL_ARG_DST, py, hint.dst_desc()}};
  } else if (p.direction == proto::Convolution::BACKWARD_DATA) {
    dnnl::convolution_backward_data::desc desc(direct, x, w, y, p.strides, p.dilates, p.padsBegin,
                                               p.padsEnd);
    dnnl::convolution_backward_data::primitive_desc chosen(desc, userScratchpad(), engine, hint);
    ZERO_RT_TRY(checkImplementation(chosen));
    primitive = dnnl::convolution_backward_data(chosen);
    scratchpad = chosen.scratchpad_desc();
    operands = {Operand{DNNL_ARG_DIFF_DST, py, chosen.diff_dst_desc()},
                Operand{DNNL_ARG_WEIGHTS, pw, chosen.weights_desc()},
                Operand{DNNL_ARG_DIFF_SRC, px, chosen.diff_src_desc()}};
  } else {
    dnnl::convolution_backward_weights::desc desc(direct, x, w, y, p.strides, p.dilates,
                                                  p.padsBegin, p.padsEnd);
    dnnl::convolution_backward_weights::primitive_desc chosen(desc, userScratchpad(), engine, hint);
    ZERO_RT_TRY(checkImplementation(chosen));
    primitive = dnnl::convolution_backward_weights(chosen);
    scratchpad = chosen.scratchpad_desc();
    operands = {Operand{DNNL_ARG_DIFF_DST, py, chosen.diff_dst_desc()},
                Operand{DNNL_ARG_SRC, px, chosen.src_desc()},
                Operand{DNNL_ARG_DIFF_WEIGHTS, pw, chosen.diff_weights_desc()}};
  }
  return {};
}

/// Assigns a place in the workspace to each operand that the primitive needs in another layout; the
/// scratchpad, which reorders and the primitive share, comes last.
void Convolution::State::planReorders() {
  uint64_t scratch = scratchpad.get_size();
  for (Operand &operand : operands) {
    if (operand.plain == operand.wanted)
      continue;
    bool result = &operand == &operands.back();
    const Desc &from = result ? operand.wanted : operand.plain;
    const Desc &to = result ? operand.plain : operand.wanted;
    operand.reorder.emplace(engine, from, engine, to, userScratchpad());
    scratch = std::max<uint64_t>(scratch, operand.reorder->scratchpad_desc().get_size());
    operand.offset = workspace;
    workspace += alignUp(operand.wanted.get_size());
  }
  scratchOffset = workspace;
  workspace += alignUp(scratch);
}

Convolution::Convolution(std::unique_ptr<State> state) : state(std::move(state)) {}
Convolution::~Convolution() = default;

uint64_t Convolution::getWorkspace() const { return state->workspace; }

Status Convolution::create(const proto::Convolution &desc, const StoredTypes &types, int threads,
                           std::unique_ptr<Convolution> &convolution) {
  try {
    auto state = std::make_unique<State>();
    state->types = types;
    ZERO_RT_TRY(planConvolution(desc, state->plan));
    TeamSize team(threads);
    ZERO_RT_TRY(state->choose());
    state->planReorders();
    convolution.reset(new Convolution(std::move(state)));
    return {};
  } catch (const dnnl::error &error) {
    return fail(ZERO_RT_UNSUPPORTED, "oneDNN refuses a convolution: %s", error.what());
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// One primitive with its arguments, of which each execution sets the addresses.
struct Execution {
  dnnl::primitive primitive;
  std::vector<dnnl_exec_arg_t> arguments;

  Status run(const dnnl::stream &stream) const {
    dnnl_status_t done = dnnl_primitive_execute(
        primitive.get(), stream.get(), static_cast<int>(arguments.size()), arguments.data());
    if (done != dnnl_success)
      return fail(ZERO_RT_INTERNAL, "oneDNN failed in a convolution: status %d", int(done));
    return {};
  }
};
} // namespace

class Convolution::Call : public LibraryCall {
public:
  explicit Call(const Convolution::State &state);
  Status run(void *const *args) override;

private:
  struct Bound {
    dnnl::memory plain, wanted, scratch; ///< scratch: of the reorder
    std::optional<Execution> reorder;
  };
  Bound bind(const Operand &operand);

  const Convolution::State &state;
  dnnl::stream stream;
  std::array<Bound, 3> operands;
  dnnl::memory bias, scratch;
  Execution main;
};

Convolution::Call::Bound Convolution::Call::bind(const Operand &operand) {
  Bound bound;
  bound.plain = dnnl::memory(operand.plain, state.engine, nullptr);
  if (!operand.reorder) {
    main.arguments.push_back({operand.role, bound.plain.get()});
    return bound;
  }
  bound.wanted = dnnl::memory(operand.wanted, state.engine, nullptr);
  bound.scratch = dnnl::memory(operand.reorder->scratchpad_desc(), state.engine, nullptr);
  bool result = &operand == &state.operands.back();
  bound.reorder = Execution{dnnl::reorder(*operand.reorder),
                            {{DNNL_ARG_FROM, (result ? bound.wanted : bound.plain).get()},
                             {DNNL_ARG_TO, (result ? bound.plain : bound.wanted).get()},
                             {DNNL_ARG_SCRATCHPAD, bound.scratch.get()}}};
  main.arguments.push_back({operand.role, bound.wanted.get()});
  return bound;
}

Convolution::Call::Call(const Convolution::State &state) : state(state), stream(state.engine) {
  main.primitive = state.primitive;
  for (size_t i = 0; i < operands.size(); ++i)
    operands[i] = bind(state.operands[i]);
  scratch = dnnl::memory(state.scratchpad, state.engine, nullptr);
  main.arguments.push_back({DNNL_ARG_SCRATCHPAD, scratch.get()});
  if (state.plan.bias) {
    bias = dnnl::memory(state.bias, state.engine, nullptr);
    main.arguments.push_back({DNNL_ARG_BIAS, bias.get()});
  }
}

Status Convolution::makeCall(std::unique_ptr<LibraryCall> &call) const {
  try {
    call = std::make_unique<Call>(*state);
    return {};
  } catch (const dnnl::error &error) {
    return fail(ZERO_RT_INTERNAL, "oneDNN: %s", error.what());
  }
}

Status Convolution::Call::run(void *const *args) {
  bool hasBias = state.plan.bias;
  void *const plain[3] = {args[0], args[1], args[hasBias ? 3 : 2]};
  auto *workspace = state.workspace ? static_cast<char *>(args[hasBias ? 4 : 3]) : nullptr;
  auto at = [&](uint64_t offset) { return workspace ? workspace + offset : nullptr; };
  if (hasBias)
    bias.set_data_handle(args[2]);
  scratch.set_data_handle(at(state.scratchOffset));
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i].plain.set_data_handle(plain[i]);
    if (!operands[i].reorder)
      continue;
    operands[i].wanted.set_data_handle(at(state.operands[i].offset));
    operands[i].scratch.set_data_handle(at(state.scratchOffset));
  }
  for (size_t i = 0; i + 1 < operands.size(); ++i)
    if (operands[i].reorder)
      ZERO_RT_TRY(operands[i].reorder->run(stream));
  ZERO_RT_TRY(main.run(stream));
  return operands.back().reorder ? operands.back().reorder->run(stream) : Status();
}

} // namespace zero::rt
