//===- product.cpp - matrix products through cuBLASLt ---------------------===//

#include "runtime/device/cuda/product.h"

#include "runtime/device/cuda/columns.h"
#include "runtime/format/tables.h"

#include <algorithm>

namespace zero::rt::cuda {

/// The alignment of cuBLASLt's workspace; the alignment of an arena is 64.
static constexpr uint64_t kWorkspaceAlignment = 256;

#define ZERO_RT_BLAS(library, name, ...)                                                           \
  ZERO_RT_TRY((library).check((library).name(__VA_ARGS__), #name))

Status BlasContext::create(std::shared_ptr<const BlasLibrary> library,
                           std::shared_ptr<const BlasContext> &context) {
  auto made = std::make_shared<BlasContext>();
  made->functions = std::move(library);
  ZERO_RT_BLAS(*made->functions, cublasLtCreate, &made->handle);
  context = std::move(made);
  return {};
}

BlasContext::~BlasContext() {
  if (handle)
    functions->cublasLtDestroy(handle);
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static int blasType(DType dtype) {
  return dtype == ZERO_RT_F16 ? kBlasF16 : dtype == ZERO_RT_BF16 ? kBlasBF16 : kBlasF32;
}

struct Product::State {
  explicit State(std::shared_ptr<const BlasContext> context) : context(std::move(context)) {}
  ~State() {
    for (BlasLayout layout : {left, right, result})
      if (layout)
        library().cublasLtMatrixLayoutDestroy(layout);
  }
  const BlasLibrary &library() const { return context->library(); }

  Status makeLayout(const Columns &matrix, BlasLayout &layout) const;
  Status makeDescriptor(BlasProduct &descriptor) const;
  Status find(size_t most, std::vector<BlasAlgorithm> &found) const;
  Status ask(BlasProduct descriptor, BlasPreference preference, std::span<BlasHeuristic> found,
             int &count) const;

  std::shared_ptr<const BlasContext> context;
  Columnwise product;
  BlasLayout left = nullptr, right = nullptr, result = nullptr;
  BlasAlgorithm algorithm{};
  uint64_t workspace = 0; ///< bytes behind the alignment
  uint32_t alignment = 0; ///< of all operands
};

Status Product::State::makeLayout(const Columns &matrix, BlasLayout &layout) const {
  ZERO_RT_BLAS(library(), cublasLtMatrixLayoutCreate, &layout, blasType(matrix.dtype), matrix.rows,
               matrix.columns, matrix.leading);
  const int32_t batch = int32_t(product.batch);
  ZERO_RT_BLAS(library(), cublasLtMatrixLayoutSetAttribute, layout, kBlasLayoutBatchCount, &batch,
               sizeof(batch));
  ZERO_RT_BLAS(library(), cublasLtMatrixLayoutSetAttribute, layout, kBlasLayoutBatchStride,
               &matrix.batchStride, sizeof(matrix.batchStride));
  return {};
}

Status Product::State::makeDescriptor(BlasProduct &descriptor) const {
  ZERO_RT_BLAS(library(), cublasLtMatmulDescCreate, &descriptor, kBlasCompute32F, kBlasF32);
  auto set = [&](int attribute, int32_t value) {
    return library().check(
        library().cublasLtMatmulDescSetAttribute(descriptor, attribute, &value, sizeof(value)),
        "cublasLtMatmulDescSetAttribute");
  };
  ZERO_RT_TRY(set(kBlasProductTransposeA, product.left.transposed ? kBlasTransposed : kBlasNormal));
  ZERO_RT_TRY(
      set(kBlasProductTransposeB, product.right.transposed ? kBlasTransposed : kBlasNormal));
  if (!product.bias)
    return {};
  // The search for algorithms needs a pointer to the bias; each call sets the real one.
  const void *somewhere = reinterpret_cast<const void *>(kWorkspaceAlignment);
  ZERO_RT_BLAS(library(), cublasLtMatmulDescSetAttribute, descriptor, kBlasProductBias,
               static_cast<const void *>(&somewhere), sizeof(somewhere));
  ZERO_RT_TRY(set(kBlasProductEpilogue, kBlasEpilogueBias));
  return set(kBlasProductBiasType, blasType(product.result.dtype));
}

/// Asks for algorithms with `preference`, which this function fills in.
Status Product::State::ask(BlasProduct descriptor, BlasPreference preference,
                           std::span<BlasHeuristic> found, int &count) const {
  ZERO_RT_BLAS(library(), cublasLtMatmulPreferenceSetAttribute, preference,
               kBlasPreferenceWorkspace, &workspace, sizeof(workspace));
  // Other schemes store or add partial sums in the type of the result, which may have 16 bits.
  const uint32_t reduction = kBlasReductionComputeType;
  ZERO_RT_BLAS(library(), cublasLtMatmulPreferenceSetAttribute, preference,
               kBlasPreferenceReduction, &reduction, sizeof(reduction));
  for (int operand : {kBlasPreferenceAlignmentA, kBlasPreferenceAlignmentB,
                      kBlasPreferenceAlignmentC, kBlasPreferenceAlignmentD})
    ZERO_RT_BLAS(library(), cublasLtMatmulPreferenceSetAttribute, preference, operand, &alignment,
                 sizeof(alignment));
  const BlasStatus status = library().cublasLtMatmulAlgoGetHeuristic(
      context->get(), descriptor, left, right, result, result, preference, int(found.size()),
      found.data(), &count);
  return status == kBlasNotSupported ? Status()
                                     : library().check(status, "cublasLtMatmulAlgoGetHeuristic");
}

Status Product::State::find(size_t most, std::vector<BlasAlgorithm> &found) const {
  BlasProduct descriptor = nullptr;
  BlasPreference preference = nullptr;
  std::vector<BlasHeuristic> results(most);
  int count = 0;
  auto askLibrary = [&]() -> Status {
    ZERO_RT_TRY(makeDescriptor(descriptor));
    ZERO_RT_BLAS(library(), cublasLtMatmulPreferenceCreate, &preference);
    return ask(descriptor, preference, results, count);
  };
  Status asked = askLibrary();
  if (preference)
    library().cublasLtMatmulPreferenceDestroy(preference);
  if (descriptor)
    library().cublasLtMatmulDescDestroy(descriptor);
  ZERO_RT_TRY(asked);
  found.clear();
  for (const BlasHeuristic &each : std::span(results).first(size_t(std::max(count, 0))))
    if (each.state == kBlasSuccess && each.workspace <= workspace)
      found.push_back(each.algorithm);
  return {};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

class Product::Call : public ProductCall {
public:
  explicit Call(const State &state) : state(state) {}
  ~Call() override {
    if (descriptor)
      state.library().cublasLtMatmulDescDestroy(descriptor);
  }
  Status create() {
    return state.product.calls.empty() ? Status() : state.makeDescriptor(descriptor);
  }

  Status run(const BlasContext &context, void *const *args, Stream stream) override {
    const Columnwise &product = state.product;
    const BlasLibrary &library = state.library();
    const char *left = static_cast<const char *>(args[product.swapped ? 0 : 1]);
    const char *right = static_cast<const char *>(args[product.swapped ? 1 : 0]);
    const int resultIndex = 2 + product.bias + product.residual;
    char *result = static_cast<char *>(args[resultIndex]);
    const char *added =
        product.residual ? static_cast<const char *>(args[resultIndex - 1]) : result;
    const float beta = product.residual || product.accumulate ? 1 : 0;
    if (product.bias && !product.calls.empty()) // an attribute of the host's, nothing is made
      ZERO_RT_BLAS(library, cublasLtMatmulDescSetAttribute, descriptor, kBlasProductBias,
                   static_cast<const void *>(&args[2]), sizeof(void *));
    void *workspace = state.workspace > 0 ? alignedUp(args[resultIndex + 1]) : nullptr;
    const int64_t operand = int64_t(sizeOf(product.left.dtype)),
                  element = int64_t(sizeOf(product.result.dtype));
    for (const Offsets &at : product.calls)
      ZERO_RT_BLAS(library, cublasLtMatmul, context.get(), descriptor, &product.alpha,
                   left + at.left * operand, state.left, right + at.right * operand, state.right,
                   &beta, added + at.result * element, state.result, result + at.result * element,
                   state.result, &state.algorithm, workspace, state.workspace, stream);
    return {};
  }

private:
  static void *alignedUp(void *address) {
    const auto number = reinterpret_cast<uint64_t>(address);
    return reinterpret_cast<void *>((number + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                                    kWorkspaceAlignment);
  }
  const State &state;
  BlasProduct descriptor = nullptr; ///< of one rank: it holds the bias's address
};

Product::Product(std::unique_ptr<State> state) : state(std::move(state)) {}
Product::~Product() = default;

Status Product::create(std::shared_ptr<const BlasContext> context, const proto::Kernel &kernel,
                       uint32_t alignment, std::unique_ptr<Product> &product) {
  auto made = std::make_unique<State>(std::move(context));
  ZERO_RT_TRY(toColumnwise(kernel, made->product));
  if (!made->product.calls.empty()) {
    ZERO_RT_TRY(made->makeLayout(made->product.left, made->left));
    ZERO_RT_TRY(made->makeLayout(made->product.right, made->right));
    ZERO_RT_TRY(made->makeLayout(made->product.result, made->result));
    const uint64_t bytes = kernel.workspace();
    made->workspace = bytes - std::min(bytes, kWorkspaceAlignment - 64);
    made->alignment = alignment;
    std::vector<BlasAlgorithm> found;
    ZERO_RT_TRY(made->find(1, found));
    if (found.empty())
      return fail(ZERO_RT_UNSUPPORTED,
                  "cuBLASLt (%zu) has no algorithm for it within %llu bytes of workspace",
                  made->library().cublasLtGetVersion(), static_cast<unsigned long long>(bytes));
    made->algorithm = found.front();
  }
  product.reset(new Product(std::move(made)));
  return {};
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

bool Product::isEmpty() const { return state->product.calls.empty(); }

/// "bfloat16 64x512 T ld 64 by 32768": how it is stored, and what the matrices of a batch are
/// apart.
static std::string textOf(const Columns &matrix) {
  return format("%s %llux%llu%s ld %lld by %lld", nameOf(matrix.dtype),
                static_cast<unsigned long long>(matrix.rows),
                static_cast<unsigned long long>(matrix.columns), matrix.transposed ? " T" : "",
                static_cast<long long>(matrix.leading), static_cast<long long>(matrix.batchStride));
}

std::string Product::describe() const {
  const Columnwise &product = state->product;
  return format("%s = %s * %s, batch %lld%s%s%s, aligned to %u, workspace %llu",
                textOf(product.result).c_str(), textOf(product.left).c_str(),
                textOf(product.right).c_str(), static_cast<long long>(product.batch),
                product.bias ? ", bias" : "", product.residual ? ", adds a matrix" : "",
                product.accumulate ? ", accumulates" : "", state->alignment,
                static_cast<unsigned long long>(state->workspace));
}

Status Product::findAlgorithms(size_t most, std::vector<BlasAlgorithm> &found) const {
  ZERO_RT_TRY(state->find(most, found));
  auto isFirst = [&](const BlasAlgorithm &each) {
    return std::ranges::equal(each.data, state->algorithm.data);
  };
  std::erase_if(found, isFirst); // at the same place for any `most`
  found.insert(found.begin(), state->algorithm);
  return {};
}

Status Product::check(const BlasContext &context, const BlasAlgorithm &algorithm) const {
  const BlasLibrary &library = state->library();
  BlasProduct descriptor = nullptr;
  BlasHeuristic result{};
  Status status = state->makeDescriptor(descriptor);
  if (status.ok())
    status = library.check(library.cublasLtMatmulAlgoCheck(context.get(), descriptor, state->left,
                                                           state->right, state->result,
                                                           state->result, &algorithm, &result),
                           "cublasLtMatmulAlgoCheck");
  if (descriptor)
    library.cublasLtMatmulDescDestroy(descriptor);
  ZERO_RT_TRY(status);
  if (result.workspace > state->workspace)
    return fail(ZERO_RT_UNSUPPORTED, "the algorithm needs %zu bytes of workspace, planned are %llu",
                result.workspace, static_cast<unsigned long long>(state->workspace));
  return {};
}

const BlasAlgorithm &Product::algorithm() const { return state->algorithm; }
void Product::setAlgorithm(const BlasAlgorithm &algorithm) { state->algorithm = algorithm; }

Status Product::makeCall(std::unique_ptr<ProductCall> &call) const {
  auto made = std::make_unique<Call>(*state);
  ZERO_RT_TRY(made->create());
  call = std::move(made);
  return {};
}

uint32_t alignmentOf(const proto::Program &program, uint32_t index) {
  const proto::Kernel &kernel = program.kernels(int(index));
  uint64_t bits = 16;
  auto add = [&](uint64_t bytes) { bits |= bytes; };
  const proto::Matmul &product = kernel.matmul();
  for (int i = 0; i < product.batch_size(); ++i) // 16 bits: the narrowest elements
    for (int64_t stride : {product.a_strides(i), product.b_strides(i), product.c_strides(i)})
      add(uint64_t(stride) * (kernel.stored_size() > 0 ? 2 : 4));
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      if (command.has_launch() && command.launch().kernel() == index)
        for (const proto::Address &argument : command.launch().args()) {
          add(argument.offset());
          for (const int64_t stride : argument.rank_strides())
            add(uint64_t(stride));
        }
  return uint32_t(bits & -bits);
}

} // namespace zero::rt::cuda
