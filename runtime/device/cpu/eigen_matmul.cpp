//===- eigen_matmul.cpp - matrix products through Eigen -------------------===//

#include "runtime/device/cpu/eigen_matmul.h"

#include "runtime/device/cpu/eigen_gemm.h"
#include "runtime/support/checked.h"

namespace zero::rt {

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Whether gemm() reads the matrix where it is.
static bool hasUnitStride(const Matrix &matrix) {
  return matrix.strides[0] == 1 || matrix.strides[1] == 1;
}

static uint64_t bytesOfCopy(const Matrix &matrix) {
  return alignUp(uint64_t(matrix.elements()) * sizeof(float));
}

EigenMatmul::EigenMatmul(MatmulPlan given, int wanted) : plan(std::move(given)) {
  std::vector<int64_t> counts;
  for (const BatchDim &dim : plan.batch)
    counts.push_back(dim.count);
  matrices = saturatingProduct<int64_t>(counts);
  dividesColumns = plan.c.columns > plan.c.rows;
  const int64_t side = dividesColumns ? plan.c.columns : plan.c.rows;
  // Matrices of a batch are tasks; fewer than there are threads are divided.
  if (matrices < wanted)
    parts = std::clamp<int64_t>((side + kGemmUnit - 1) / kGemmUnit, 1, wanted);
  threads = int(std::clamp<int64_t>(matrices * parts, 1, wanted));
  int64_t largest = 0;
  for (int64_t part = 0; part < parts; ++part)
    largest = std::max(largest, partOf(side, part, parts, kGemmUnit).size());
  a = plan.a, b = plan.b, c = plan.c;
  (dividesColumns ? b.columns : a.rows) = largest;
  (dividesColumns ? c.columns : c.rows) = largest;
}

uint64_t EigenMatmul::scratchBytes() const {
  const bool copiesA = !hasUnitStride(plan.a), copiesB = !hasUnitStride(plan.b);
  return (copiesA ? bytesOfCopy(a) : 0) + (copiesB ? bytesOfCopy(b) : 0) +
         (plan.c.strides[1] == 1 ? 0 : bytesOfCopy(c)) + gemmScratch(c.rows, c.columns, a.columns);
}

uint64_t EigenMatmul::getWorkspace() const {
  return plan.isEmpty() || plan.a.columns == 0 ? 0 : uint64_t(threads) * scratchBytes();
}

Status EigenMatmul::create(const proto::Matmul &desc, const StoredTypes &types, int threads,
                           std::unique_ptr<EigenMatmul> &matmul) {
  if (types.operands != ZERO_RT_F32 || types.bias != ZERO_RT_F32 || types.result != ZERO_RT_F32)
    return fail(ZERO_RT_UNSUPPORTED, "Eigen has no fast product of bfloat16");
  MatmulPlan plan;
  ZERO_RT_TRY(planMatmul(desc, plan));
  matmul.reset(new EigenMatmul(std::move(plan), threads));
  return {};
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

class EigenMatmul::Call : public LibraryCall {
public:
  explicit Call(const EigenMatmul &matmul) : matmul(matmul), plan(matmul.plan) {}
  Status run(void *const *args) override;

private:
  /// Where the parts of one task are, and of which size they are.
  struct Task {
    const float *a, *b, *bias, *residual;
    float *c;
    int64_t rows, columns;
  };
  Task taskOf(int64_t index) const;
  void fill(const Task &task, float *to, std::array<int64_t, 2> steps) const;
  void multiply(const Task &task, char *scratch) const;

  const EigenMatmul &matmul;
  const MatmulPlan &plan;
  const float *a = nullptr, *b = nullptr, *bias = nullptr, *residual = nullptr;
  float *c = nullptr;
};

Status EigenMatmul::makeCall(std::unique_ptr<LibraryCall> &call) const {
  call = std::make_unique<Call>(*this);
  return {};
}

EigenMatmul::Call::Task EigenMatmul::Call::taskOf(int64_t index) const {
  int64_t rest = index / matmul.parts, offsetA = 0, offsetB = 0, offsetC = 0;
  for (size_t i = plan.batch.size(); i-- > 0;) {
    const BatchDim &dim = plan.batch[i];
    const int64_t at = rest % dim.count;
    rest /= dim.count;
    offsetA += at * dim.a, offsetB += at * dim.b, offsetC += at * dim.c;
  }
  const int64_t side = matmul.dividesColumns ? plan.c.columns : plan.c.rows;
  const TaskPart part = partOf(side, index % matmul.parts, matmul.parts, kGemmUnit);
  const int64_t row = matmul.dividesColumns ? 0 : part.begin;
  const int64_t column = matmul.dividesColumns ? part.begin : 0;
  offsetA += row * plan.a.strides[0];
  offsetB += column * plan.b.strides[1];
  offsetC += row * plan.c.strides[0] + column * plan.c.strides[1];
  return {a + offsetA,
          b + offsetB,
          bias ? bias + (plan.swapped ? row : column) : nullptr,
          residual ? residual + offsetC : nullptr,
          c + offsetC,
          matmul.dividesColumns ? plan.c.rows : part.size(),
          matmul.dividesColumns ? part.size() : plan.c.columns};
}

/// Writes the sum of the terms that are not products. Steps of `to`: from row to row, and column to
/// column.
void EigenMatmul::Call::fill(const Task &task, float *to, std::array<int64_t, 2> steps) const {
  for (int64_t i = 0; i < task.rows; ++i)
    for (int64_t j = 0; j < task.columns; ++j) {
      const int64_t at = i * plan.c.strides[0] + j * plan.c.strides[1];
      float value = task.bias ? task.bias[plan.swapped ? i : j] : 0.0f;
      if (task.residual)
        value += task.residual[at];
      to[i * steps[0] + j * steps[1]] = plan.accumulate ? value + task.c[at] : value;
    }
}

/// `from` as gemm() reads it: where it is, or a copy at `scratch`, which then moves behind it.
static GemmMatrix readable(const float *from, const Matrix &matrix, int64_t rows, int64_t columns,
                           const Matrix &largest, char *&scratch) {
  if (matrix.strides[1] == 1)
    return {from, matrix.strides[0], /*byColumns=*/false};
  if (matrix.strides[0] == 1)
    return {from, matrix.strides[1], /*byColumns=*/true};
  auto *copy = reinterpret_cast<float *>(scratch);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      copy[i * columns + j] = from[i * matrix.strides[0] + j * matrix.strides[1]];
  scratch += bytesOfCopy(largest);
  return {copy, columns, /*byColumns=*/false};
}

void EigenMatmul::Call::multiply(const Task &task, char *scratch) const {
  const int64_t depth = plan.a.columns;
  const bool isInPlace = plan.c.strides[1] == 1;
  const GemmMatrix left = readable(task.a, plan.a, task.rows, depth, matmul.a, scratch);
  const GemmMatrix right = readable(task.b, plan.b, depth, task.columns, matmul.b, scratch);
  float *result = isInPlace ? task.c : reinterpret_cast<float *>(scratch);
  const int64_t stride = isInPlace ? plan.c.strides[0] : task.columns;
  if (!isInPlace)
    scratch += bytesOfCopy(matmul.c);
  fill(task, result, {stride, 1});
  gemm(task.rows, task.columns, depth, plan.alpha, left, right, result, stride, scratch);
  for (int64_t i = 0; !isInPlace && i < task.rows; ++i)
    for (int64_t j = 0; j < task.columns; ++j)
      task.c[i * plan.c.strides[0] + j * plan.c.strides[1]] = result[i * stride + j];
}

Status EigenMatmul::Call::run(void *const *args) {
  a = static_cast<const float *>(args[plan.swapped ? 1 : 0]);
  b = static_cast<const float *>(args[plan.swapped ? 0 : 1]);
  void *const *next = args + 2;
  bias = plan.bias ? static_cast<const float *>(*next++) : nullptr;
  residual = plan.residual ? static_cast<const float *>(*next++) : nullptr;
  c = static_cast<float *>(*next++);
  if (plan.isEmpty())
    return {};
  const bool sums = plan.a.columns > 0;
  auto *workspace = sums ? static_cast<char *>(*next) : nullptr;
  auto body = [&](int64_t index, char *scratch) {
    const Task task = taskOf(index);
    if (sums)
      multiply(task, scratch);
    else
      fill(task, task.c, plan.c.strides);
  };
  runTasks(matmul.matrices * matmul.parts, matmul.threads, workspace, matmul.scratchBytes(), body);
  return {};
}

} // namespace zero::rt
