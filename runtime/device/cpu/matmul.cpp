//===- matmul.cpp - matrix products through oneDNN ------------------------===//

#include "runtime/device/cpu/matmul.h"

#include "runtime/device/cpu/onednn.h"
#include "runtime/device/cpu/openmp.h"
#include "runtime/support/floats.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace zero::rt {

using Primitive = dnnl::matmul::primitive_desc;

namespace {
/// Where an operand is copied: `offset` bytes into the workspace, in the order in which the copy
/// runs along its contiguous direction. `size`: bytes of an element of both.
struct Packing {
  Matrix from, to;
  uint64_t offset;
  size_t size;
};

/// B from the start of the workspace on, in the order that oneDNN likes best.
struct Reordering {
  dnnl::reorder::primitive_desc descriptor;
  dnnl::reorder primitive;
};
} // namespace

struct Matmul::State {
  MatmulPlan plan;
  StoredTypes types;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  Primitive descriptor;
  dnnl::matmul primitive;
  size_t inner = 0; ///< batch dimensions that oneDNN runs over; we loop over the others
  std::optional<Packing> packA, packB, packC;
  std::optional<Reordering> reorderB;
  uint64_t workspace = 0, scratchpad = 0; ///< bytes; the scratchpad is the workspace's end

  /// Selects the implementation and the operands that must be packed for it; false if there is
  /// none.
  bool choose();
  bool chooseReordered();
  std::optional<Primitive> find(size_t inner, bool any, bool freeB = false) const;
  std::optional<Packing> pack(Matrix &matrix, DType type);
  Packing copy(Matrix &matrix, const Matrix &to, DType type);
  void placeScratchpad();
  bool isTrivial() const { return plan.isEmpty() || plan.a.columns == 0; }
  size_t outer() const { return plan.batch.size() - inner; }
};

//===----------------------------------------------------------------------===//
// Choosing an implementation
//===----------------------------------------------------------------------===//

/// Describes `matrix` under the plan's last `inner` batch dimensions.
static dnnl::memory::desc describe(const MatmulPlan &plan, size_t inner, const Matrix &matrix,
                                   int64_t BatchDim::*stride, DType type) {
  dnnl::memory::dims dims, strides;
  for (size_t i = plan.batch.size() - inner; i < plan.batch.size(); ++i) {
    int64_t step = plan.batch[i].*stride;
    dims.push_back(step == 0 ? 1 : plan.batch[i].count);
    strides.push_back(step == 0 ? matrix.elements() : step);
  }
  dims.insert(dims.end(), {matrix.rows, matrix.columns});
  strides.insert(strides.end(), matrix.strides.begin(), matrix.strides.end());
  return {dims, libraryType(type), strides};
}

static dnnl::memory::desc describeBias(const MatmulPlan &plan, size_t inner, DType type) {
  dnnl::memory::dims dims(inner + 2, 1), strides(inner + 2, 1);
  dims[inner + (plan.swapped ? 0 : 1)] = plan.swapped ? plan.c.rows : plan.c.columns;
  for (size_t i = 0; i < inner + 1; ++i)
    if (i != inner || !plan.swapped)
      strides[i] = plan.swapped ? plan.c.rows : plan.c.columns;
  return {dims, libraryType(type), strides};
}

/// oneDNN's own bias is scaled by alpha and runs along columns; otherwise the
/// bias is a post-op.
static bool biasIsNative(const MatmulPlan &plan) { return plan.alpha == 1 && !plan.swapped; }
static bool biasIsPostOp(const MatmulPlan &plan) { return plan.bias && !biasIsNative(plan); }

/// `ownC`: oneDNN writes C itself and also adds the other terms.
static dnnl::primitive_attr makeAttributes(const MatmulPlan &plan, const StoredTypes &types,
                                           size_t inner, bool ownC) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (plan.alpha != 1)
    attributes.set_output_scales(0, {plan.alpha});
  dnnl::post_ops posts;
  if (biasIsPostOp(plan))
    posts.append_binary(dnnl::algorithm::binary_add, describeBias(plan, inner, types.bias));
  if (plan.residual && ownC)
    posts.append_binary(dnnl::algorithm::binary_add,
                        describe(plan, inner, plan.c, &BatchDim::c, types.result));
  if (plan.accumulate && ownC)
    posts.append_sum(1.0f);
  attributes.set_post_ops(posts);
  return attributes;
}

/// The primitive that oneDNN has for these layouts, with B in any order that oneDNN selects if
/// `freeB`. Returns nothing unless it is `brg` or `any` is true. A packed C is f32.
std::optional<Primitive> Matmul::State::find(size_t inner, bool any, bool freeB) const {
  auto a = describe(plan, inner, plan.a, &BatchDim::a, types.operands);
  auto b = describe(plan, inner, plan.b, &BatchDim::b, types.operands);
  if (freeB)
    b = {b.dims(), b.data_type(), dnnl::memory::format_tag::any};
  auto c = describe(plan, inner, plan.c, &BatchDim::c, packC ? ZERO_RT_F32 : types.result);
  dnnl::matmul::desc desc = plan.bias && biasIsNative(plan)
                                ? dnnl::matmul::desc(a, b, describeBias(plan, inner, types.bias), c)
                                : dnnl::matmul::desc(a, b, c);
  Primitive found(desc, makeAttributes(plan, types, inner, /*ownC=*/!packC), engine,
                  /*allow_empty=*/true);
  if (!found || (!any && std::strncmp(found.impl_info_str(), "brg", 3) != 0))
    return std::nullopt;
  return found;
}

/// Replaces `matrix` by a copy in the layout `to` at the end of the workspace.
Packing Matmul::State::copy(Matrix &matrix, const Matrix &to, DType type) {
  Packing packing{matrix, to, workspace, sizeOf(type)};
  const int64_t longest = std::max(to.rows * to.strides[0], to.columns * to.strides[1]);
  workspace += alignUp(uint64_t(longest) * sizeOf(type));
  matrix = to;
  return packing;
}

/// Replaces `matrix` by a dense copy, if it has gaps.
std::optional<Packing> Matmul::State::pack(Matrix &matrix, DType type) {
  if (matrix.isDense())
    return std::nullopt;
  Matrix dense = matrix;
  if (matrix.strides[1] <= matrix.strides[0])
    dense.strides = {matrix.columns, 1};
  else
    dense.strides = {1, matrix.rows};
  return copy(matrix, dense, type);
}

/// False if there is no `brg` for it, or none that needs B reordered.
bool Matmul::State::chooseReordered() {
  auto found = find(inner, /*any=*/false, /*freeB=*/true);
  const dnnl::memory::desc plain = describe(plan, inner, plan.b, &BatchDim::b, types.operands);
  if (!found || found->weights_desc() == plain)
    return false;
  descriptor = *found;
  primitive = dnnl::matmul(*found);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  reorderB.emplace();
  reorderB->descriptor = {engine, plain, engine, found->weights_desc(), attributes};
  reorderB->primitive = dnnl::reorder(reorderB->descriptor);
  workspace = alignUp(found->weights_desc().get_size());
  return true;
}

bool Matmul::State::choose() {
  if (plan.reorderB && chooseReordered())
    return true;
  std::optional<Primitive> found;
  auto attempt = [&](size_t dims, bool any) {
    inner = dims;
    found = find(dims, any);
    return found.has_value();
  };
  auto commit = [&] {
    descriptor = *found;
    primitive = dnnl::matmul(*found);
    return true;
  };
  for (size_t dims = plan.batch.size() + 1; dims-- > 0;)
    if (attempt(dims, /*any=*/false))
      return commit();
  const MatmulPlan original = plan;
  packA = pack(plan.a, types.operands);
  packB = pack(plan.b, types.operands);
  packC = pack(plan.c, ZERO_RT_F32);
  if (attempt(0, /*any=*/false))
    return commit();
  plan = original;
  packA = packB = packC = std::nullopt;
  workspace = 0;
  // What remains for bf16 is slower than conversion to f32, and allocates.
  if (types.operands != ZERO_RT_F32)
    return false;
  size_t dims = plan.batch.size();
  if (auto block = blockForCaches(plan)) {
    divideRows(plan, block->rows);
    packA = copy(plan.a, *block, types.operands);
    dims = 0;
  }
  return attempt(dims, /*any=*/true) && commit();
}

/// The scratchpad follows the packed operands. Both primitives use it, one after the other.
void Matmul::State::placeScratchpad() {
  scratchpad = descriptor.scratchpad_desc().get_size();
  if (reorderB)
    scratchpad = std::max(scratchpad, reorderB->descriptor.scratchpad_desc().get_size());
  scratchpad = alignUp(scratchpad);
  workspace += scratchpad;
}

Matmul::Matmul(std::unique_ptr<State> state) : state(std::move(state)) {}
Matmul::~Matmul() = default;

uint64_t Matmul::getWorkspace() const { return state->workspace; }

Status Matmul::create(const proto::Matmul &desc, const StoredTypes &types, int threads,
                      std::unique_ptr<Matmul> &matmul) {
  try {
    auto state = std::make_unique<State>();
    ZERO_RT_TRY(planMatmul(desc, state->plan));
    state->types = types;
    if (!state->isTrivial()) {
      TeamSize team(threads);
      if (!state->choose())
        return fail(ZERO_RT_UNSUPPORTED,
                    types.operands == ZERO_RT_F32
                        ? "oneDNN has no matrix product for these strides"
                        : "oneDNN has no fast product of bfloat16 for these strides on this CPU");
      state->placeScratchpad();
    }
    matmul.reset(new Matmul(std::move(state)));
    return {};
  } catch (const dnnl::error &error) {
    return fail(ZERO_RT_UNSUPPORTED, "oneDNN refuses a matrix product: %s", error.what());
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

class Matmul::Call : public LibraryCall {
public:
  explicit Call(const Matmul::State &matmul) : matmul(matmul), stream(matmul.engine) {}
  Status run(void *const *args) override;

private:
  friend class Matmul;
  Status execute(const dnnl::primitive &primitive, const std::vector<dnnl_exec_arg_t> &arguments);
  void runEmpty(char *bias, char *residual, char *c) const;
  /// Moves the dense result `from` to `c`, with `residual` and the previous C where they are added.
  void unpack(const char *from, char *residual, char *c) const;

  const Matmul::State &matmul;
  dnnl::stream stream;
  dnnl::memory a, b, c, bias, residual, scratch, plainB, reorderScratch;
  std::vector<dnnl_exec_arg_t> arguments, reorderArguments;
};

Status Matmul::makeCall(std::unique_ptr<LibraryCall> &call) const {
  try {
    const dnnl::engine &engine = state->engine;
    auto made = std::make_unique<Call>(*state);
    if (!state->isTrivial()) {
      auto bind = [&](dnnl::memory &memory, dnnl::memory::desc desc, int argument) {
        memory = dnnl::memory(desc, engine, nullptr);
        made->arguments.push_back({argument, memory.get()});
      };
      bind(made->a, state->descriptor.src_desc(), DNNL_ARG_SRC);
      bind(made->b, state->descriptor.weights_desc(), DNNL_ARG_WEIGHTS);
      bind(made->c, state->descriptor.dst_desc(), DNNL_ARG_DST);
      bind(made->scratch, state->descriptor.scratchpad_desc(), DNNL_ARG_SCRATCHPAD);
      const MatmulPlan &plan = state->plan;
      auto post = [](int index) { return DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_SRC_1; };
      if (plan.bias)
        bind(made->bias, describeBias(plan, state->inner, state->types.bias),
             biasIsPostOp(plan) ? post(0) : DNNL_ARG_BIAS);
      if (plan.residual && !state->packC)
        bind(made->residual, state->descriptor.dst_desc(), post(biasIsPostOp(plan) ? 1 : 0));
      if (state->reorderB) {
        const auto &reorder = state->reorderB->descriptor;
        made->plainB = dnnl::memory(reorder.src_desc(), engine, nullptr);
        made->reorderScratch = dnnl::memory(reorder.scratchpad_desc(), engine, nullptr);
        made->reorderArguments = {{DNNL_ARG_FROM, made->plainB.get()},
                                  {DNNL_ARG_TO, made->b.get()},
                                  {DNNL_ARG_SCRATCHPAD, made->reorderScratch.get()}};
      }
    }
    call = std::move(made);
    return {};
  } catch (const dnnl::error &error) {
    return fail(ZERO_RT_INTERNAL, "oneDNN: %s", error.what());
  }
}

/// Calls body(offset in the operand, offset in the copy, length, step in the operand) for each run
/// of the packed operand.
template <typename Body>
static void forEachRun(const Packing &packing, Body body) {
  bool rows = packing.to.strides[1] == 1;
  int64_t runs = rows ? packing.from.rows : packing.from.columns;
  int64_t length = rows ? packing.from.columns : packing.from.rows;
  for (int64_t run = 0; run < runs; ++run)
    body(run * packing.from.strides[rows ? 0 : 1], run * packing.to.strides[rows ? 0 : 1], length,
         packing.from.strides[rows ? 1 : 0]);
}

template <typename T>
static void copyIn(const Packing &packing, const T *from, T *to) {
  forEachRun(packing, [&](int64_t gaps, int64_t dense, int64_t length, int64_t step) {
    if (step == 1)
      std::copy_n(from + gaps, length, to + dense);
    else
      for (int64_t i = 0; i < length; ++i)
        to[dense + i] = from[gaps + i * step];
  });
}

/// Adds `residual`, if there is one, and the previous content, if `accumulate`.
template <typename T>
static void copyOut(const Packing &packing, const float *from, const T *residual, T *to,
                    bool accumulate) {
  forEachRun(packing, [&](int64_t gaps, int64_t dense, int64_t length, int64_t step) {
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = gaps + i * step;
      const float value = residual ? from[dense + i] + float(residual[at]) : from[dense + i];
      to[at] = T(accumulate ? value + float(to[at]) : value);
    }
  });
}

/// Calls body(a, b, c) with the element offsets of each matrix of the first `outer`
/// batch dimensions.
template <typename Body>
static Status forEachMatrix(const MatmulPlan &plan, size_t outer, size_t depth,
                            std::array<int64_t, 3> at, Body &body) {
  if (depth == outer)
    return body(at[0], at[1], at[2]);
  const BatchDim &dim = plan.batch[depth];
  for (int64_t i = 0; i < dim.count; ++i)
    ZERO_RT_TRY(forEachMatrix(plan, outer, depth + 1,
                              {at[0] + i * dim.a, at[1] + i * dim.b, at[2] + i * dim.c}, body));
  return {};
}

/// Without any product to sum, C is the sum of the other terms.
template <typename Bias, typename T>
static void runEmptySum(const MatmulPlan &plan, const Bias *bias, const T *residual, T *c) {
  auto body = [&](int64_t, int64_t, int64_t offset) -> Status {
    for (int64_t i = 0; i < plan.c.rows; ++i)
      for (int64_t j = 0; j < plan.c.columns; ++j) {
        float value = bias ? float(bias[plan.swapped ? i : j]) : 0.0f;
        const int64_t at = offset + i * plan.c.strides[0] + j * plan.c.strides[1];
        if (residual)
          value += float(residual[at]);
        c[at] = T(plan.accumulate ? float(c[at]) + value : value);
      }
    return {};
  };
  (void)forEachMatrix(plan, plan.batch.size(), 0, {0, 0, 0}, body);
}

/// Calls body(T *) with a null pointer to the C++ type of `type`, f32 or bf16.
template <typename Body>
static void dispatch(DType type, Body body) {
  if (type == ZERO_RT_BF16)
    body(static_cast<BFloat16 *>(nullptr));
  else
    body(static_cast<float *>(nullptr));
}

Status Matmul::Call::execute(const dnnl::primitive &primitive,
                             const std::vector<dnnl_exec_arg_t> &arguments) {
  dnnl_status_t done = dnnl_primitive_execute(primitive.get(), stream.get(),
                                              static_cast<int>(arguments.size()), arguments.data());
  if (done != dnnl_success)
    return fail(ZERO_RT_INTERNAL, "oneDNN failed in a matrix product: status %d", int(done));
  return {};
}

void Matmul::Call::runEmpty(char *bias, char *residual, char *c) const {
  dispatch(matmul.types.bias, [&]<typename Bias>(Bias *) {
    dispatch(matmul.types.result, [&]<typename T>(T *) {
      runEmptySum(matmul.plan, reinterpret_cast<Bias *>(bias), reinterpret_cast<T *>(residual),
                  reinterpret_cast<T *>(c));
    });
  });
}

/// The copy of the operand at `from`, if it is copied. `last` is the operand that was copied last:
/// one that is repeated is copied once.
static char *packed(const std::optional<Packing> &packing, char *from, char *workspace,
                    const char *&last) {
  if (!packing)
    return from;
  char *to = workspace + packing->offset;
  if (last != from) {
    if (packing->size == sizeof(float))
      copyIn(*packing, reinterpret_cast<float *>(from), reinterpret_cast<float *>(to));
    else
      copyIn(*packing, reinterpret_cast<uint16_t *>(from), reinterpret_cast<uint16_t *>(to));
  }
  last = from;
  return to;
}

void Matmul::Call::unpack(const char *from, char *residual, char *c) const {
  dispatch(matmul.types.result, [&]<typename T>(T *) {
    copyOut(*matmul.packC, reinterpret_cast<const float *>(from), reinterpret_cast<T *>(residual),
            reinterpret_cast<T *>(c), matmul.plan.accumulate);
  });
}

Status Matmul::Call::run(void *const *args) {
  const MatmulPlan &plan = matmul.plan;
  auto *a = static_cast<char *>(args[plan.swapped ? 1 : 0]);
  auto *b = static_cast<char *>(args[plan.swapped ? 0 : 1]);
  void *const *next = args + 2;
  auto *bias = plan.bias ? static_cast<char *>(*next++) : nullptr;
  auto *residual = plan.residual ? static_cast<char *>(*next++) : nullptr;
  auto *c = static_cast<char *>(*next++);
  if (matmul.isTrivial()) {
    if (!plan.isEmpty())
      runEmpty(bias, residual, c);
    return {};
  }
  auto *workspace = matmul.workspace ? static_cast<char *>(*next) : nullptr;
  char *scratchpad = workspace ? workspace + (matmul.workspace - matmul.scratchpad) : nullptr;
  scratch.set_data_handle(scratchpad);
  if (bias)
    this->bias.set_data_handle(bias);

  if (matmul.reorderB) {
    plainB.set_data_handle(b);
    b = workspace;
    this->b.set_data_handle(b);
    reorderScratch.set_data_handle(scratchpad);
    ZERO_RT_TRY(execute(matmul.reorderB->primitive, reorderArguments));
  }

  const auto operandSize = int64_t(sizeOf(matmul.types.operands));
  const auto resultSize = int64_t(sizeOf(matmul.types.result));
  const char *packedA = nullptr, *packedB = nullptr;
  auto body = [&](int64_t offsetA, int64_t offsetB, int64_t offsetC) -> Status {
    char *result = c + offsetC * resultSize;
    char *added = residual ? residual + offsetC * resultSize : nullptr;
    char *target = matmul.packC ? workspace + matmul.packC->offset : result;
    this->a.set_data_handle(packed(matmul.packA, a + offsetA * operandSize, workspace, packedA));
    this->b.set_data_handle(packed(matmul.packB, b + offsetB * operandSize, workspace, packedB));
    this->c.set_data_handle(target);
    if (added && !matmul.packC)
      this->residual.set_data_handle(added);
    ZERO_RT_TRY(execute(matmul.primitive, arguments));
    if (matmul.packC)
      unpack(target, added, result);
    return {};
  };
  return forEachMatrix(plan, matmul.outer(), 0, {0, 0, 0}, body);
}

} // namespace zero::rt
