//===- convolution_test.cpp - convolutions against plain loops ------------===//

#include "allocations.h"
#include "runtime/device/cpu/convolution.h"
#include "runtime/support/floats.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace zero::rt;
using Direction = proto::Convolution::Direction;

namespace {

/// With these features oneDNN has dedicated code for all sizes here.
constexpr char kAvx512[] = "avx512f avx512bw avx512dq avx512vl";

/// A convolution, its tensors, and its reference, computed with a plain loop.
struct Case {
  proto::Convolution desc;
  std::vector<uint64_t> x, w, y; ///< shapes

  Case(uint64_t batch, uint64_t groups, uint64_t in, uint64_t out, std::vector<uint64_t> input,
       std::vector<uint64_t> kernel) {
    desc.set_dtype(proto::F32);
    desc.set_batch(batch), desc.set_groups(groups);
    desc.set_in_channels(in), desc.set_out_channels(out);
    for (size_t dim = 0; dim < input.size(); ++dim) {
      desc.add_input(input[dim]), desc.add_kernel(kernel[dim]);
      desc.add_strides(1), desc.add_dilations(1), desc.add_pads_begin(0), desc.add_pads_end(0);
      desc.add_output(0);
    }
    finish();
  }

  Case &strides(uint64_t value) { return all(desc.mutable_strides(), value); }
  Case &dilations(uint64_t value) { return all(desc.mutable_dilations(), value); }
  Case &pads(uint64_t begin, uint64_t end) {
    return all(desc.mutable_pads_begin(), begin), all(desc.mutable_pads_end(), end);
  }
  Case &bias() { return desc.set_bias(true), *this; }

  Case &all(google::protobuf::RepeatedField<uint64_t> *list, uint64_t value) {
    std::fill(list->begin(), list->end(), value);
    return finish();
  }

  Case &finish() {
    x = {desc.batch(), desc.in_channels()};
    w = {desc.out_channels(), desc.in_channels() / desc.groups()};
    y = {desc.batch(), desc.out_channels()};
    for (int dim = 0; dim < desc.input_size(); ++dim) {
      uint64_t reach = (desc.kernel(dim) - 1) * desc.dilations(dim) + 1;
      uint64_t padded = desc.input(dim) + desc.pads_begin(dim) + desc.pads_end(dim);
      desc.set_output(dim, padded < reach ? 0 : (padded - reach) / desc.strides(dim) + 1);
      x.push_back(desc.input(dim)), w.push_back(desc.kernel(dim)), y.push_back(desc.output(dim));
    }
    return *this;
  }

  /// Calls body(index in x, index in w, index in y) for every product of the convolution.
  template <typename Body>
  void forEachProduct(Body body) const {
    // the channels of the window, then its elements
    std::vector<uint64_t> window(w.begin() + 1, w.end());
    std::vector<uint64_t> point(y.size()), element(window.size());
    uint64_t perGroup = desc.out_channels() / desc.groups();
    do {
      do {
        std::vector<uint64_t> seen{point[0], point[1] / perGroup * w[1] + element[0]};
        std::vector<uint64_t> weight{point[1], element[0]};
        bool inside = true;
        for (int dim = 0; dim < desc.input_size(); ++dim) {
          int64_t at =
              int64_t(point[2 + dim] * desc.strides(dim) + element[1 + dim] * desc.dilations(dim)) -
              int64_t(desc.pads_begin(dim));
          inside = inside && at >= 0 && at < int64_t(desc.input(dim));
          seen.push_back(uint64_t(at));
          weight.push_back(element[1 + dim]);
        }
        if (inside)
          body(offset(seen, x), offset(weight, w), offset(point, y));
      } while (next(element, window));
    } while (next(point, y));
  }

  static uint64_t size(const std::vector<uint64_t> &shape) {
    uint64_t count = 1;
    for (uint64_t extent : shape)
      count *= extent;
    return count;
  }

private:
  static uint64_t offset(const std::vector<uint64_t> &index, const std::vector<uint64_t> &shape) {
    uint64_t at = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      at = at * shape[dim] + index[dim];
    return at;
  }
  static bool next(std::vector<uint64_t> &index, const std::vector<uint64_t> &shape) {
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        return true;
      index[dim] = 0;
    }
    return false;
  }
};

std::vector<float> numbers(uint64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(random);
  return values;
}

std::vector<char> storedAs(DType type, const std::vector<float> &values) {
  std::vector<char> bytes(values.size() * sizeOf(type));
  convertFloats(ZERO_RT_F32, values.data(), type, bytes.data(), values.size());
  return bytes;
}

/// Returns `values` rounded to `type`.
std::vector<float> roundedTo(DType type, std::vector<float> values) {
  const std::vector<char> bytes = storedAs(type, values);
  convertFloats(type, bytes.data(), ZERO_RT_F32, values.data(), values.size());
  return values;
}

/// The operands that are read, the bias, and the expected result.
struct Values {
  std::vector<float> first, second, bias, expected;
};

Values valuesOf(const Case &data, DType type) {
  auto random = [&](uint64_t count, unsigned seed) {
    return roundedTo(type, numbers(count, seed));
  };
  std::vector<float> x = random(Case::size(data.x), 1), w = random(Case::size(data.w), 2),
                     y = random(Case::size(data.y), 3), bias = random(data.y[1], 4);
  Direction direction = data.desc.direction();
  std::vector<float> &result = direction == proto::Convolution::FORWARD         ? y
                               : direction == proto::Convolution::BACKWARD_DATA ? x
                                                                                : w;
  std::vector<double> sums(result.size());
  uint64_t perChannel = Case::size(data.y) / data.y[0] / data.y[1];
  for (size_t i = 0; i < sums.size() && data.desc.bias(); ++i)
    sums[i] = bias[i / perChannel % data.y[1]];
  data.forEachProduct([&](uint64_t ix, uint64_t iw, uint64_t iy) {
    if (&result == &y)
      sums[iy] += double(x[ix]) * w[iw];
    else if (&result == &x)
      sums[ix] += double(y[iy]) * w[iw];
    else
      sums[iw] += double(y[iy]) * x[ix];
  });
  std::vector<float> expected(sums.begin(), sums.end());
  if (direction == proto::Convolution::FORWARD)
    return {x, w, bias, expected};
  return {y, direction == proto::Convolution::BACKWARD_DATA ? w : x, bias, expected};
}

/// Runs twice. The second run must allocate nothing above 4 KiB and be bitwise identical. All
/// arguments are stored as `type`, and elements multiplied as `operands`.
void checkStored(const Case &data, DType type, DType operands = ZERO_RT_F32,
                 ProductLibrary library = ProductLibrary::OneDnn, int threads = 1) {
  Values values = valuesOf(data, type);
  proto::Kernel kernel;
  *kernel.mutable_convolution() = data.desc;
  kernel.mutable_convolution()->set_dtype(proto::DType(operands));
  for (int i = 0; i < (data.desc.bias() ? 4 : 3); ++i)
    kernel.add_stored(proto::DType(type));
  std::unique_ptr<LibraryKernel> convolution;
  std::unique_ptr<LibraryCall> call;
  Status made = makeLibraryKernel(kernel, threads, convolution, library);
  if (library == ProductLibrary::Eigen && data.w[0] / data.desc.groups() < 4 &&
      data.desc.groups() > 1) {
    EXPECT_EQ(made.getCode(), ZERO_RT_UNSUPPORTED); // compiled instead
    return;
  }
  if (made.getCode() == ZERO_RT_UNSUPPORTED && !missingFeature(kAvx512).empty())
    GTEST_SKIP() << made.getMessage() << ": the compiler's own kernel runs here";
  ASSERT_TRUE(made.ok()) << made.getMessage();
  ASSERT_TRUE(convolution->makeCall(call).ok());
  uint64_t bytes = convolution->getWorkspace();
  auto *workspace = static_cast<unsigned char *>(std::aligned_alloc(64, bytes + 64));
  std::vector<char> inputs[] = {storedAs(type, values.first), storedAs(type, values.second),
                                storedAs(type, values.bias)};
  const double unit = type == ZERO_RT_F32 ? 0 : type == ZERO_RT_F16 ? 0x1p-11 : 0x1p-8;
  std::vector<char> first;
  for (int run = 0; run < 2; ++run) {
    std::fill_n(workspace, bytes + 64, 0xff); // a NaN in every float
    std::vector<char> stored(values.expected.size() * sizeOf(type), '\xff');
    std::vector<void *> args{inputs[0].data(), inputs[1].data()};
    if (data.desc.bias())
      args.push_back(inputs[2].data());
    args.insert(args.end(), {stored.data(), workspace});
    AllocationWatch watch;
    Status done = call->run(args.data());
    if (run == 1 && (library == ProductLibrary::Eigen || missingFeature(kAvx512).empty()))
      EXPECT_EQ(watch.largeAllocations(), 0u);
    ASSERT_TRUE(done.ok()) << done.getMessage();
    std::vector<float> result(values.expected.size());
    convertFloats(type, stored.data(), ZERO_RT_F32, result.data(), result.size());
    double terms = double(Case::size(data.x)) * Case::size(data.w) / result.size();
    for (size_t i = 0; i < result.size(); ++i)
      ASSERT_NEAR(result[i], values.expected[i],
                  1e-5 * (1 + std::sqrt(terms)) + unit * std::abs(values.expected[i]))
          << "at " << i;
    if (run == 0)
      first = stored;
    EXPECT_EQ(first, stored);
  }
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(workspace[bytes + i], 0xff) << "wrote beyond its workspace";
  std::free(workspace);
}

void checkOnce(const Case &data) {
  for (DType type : {ZERO_RT_F32, ZERO_RT_BF16})
    checkStored(data, type);
  for (int threads : {1, 3})
    for (DType type : {ZERO_RT_F32, ZERO_RT_BF16})
      checkStored(data, type, ZERO_RT_F32, ProductLibrary::Eigen, threads);
}

/// Checks a convolution and its gradients, which have no bias.
void check(Case data) {
  checkOnce(data);
  data.desc.set_bias(false);
  data.desc.set_direction(proto::Convolution::BACKWARD_DATA);
  checkOnce(data);
  data.desc.set_direction(proto::Convolution::BACKWARD_WEIGHTS);
  checkOnce(data);
}

/// Checks sizes for which oneDNN supports only gemm, which allocates memory.
void checkRefused(Case data, Direction direction) {
  data.desc.set_direction(direction);
  std::unique_ptr<Convolution> made;
  Status refused = Convolution::create(data.desc, {}, 1, made);
  EXPECT_EQ(refused.getCode(), ZERO_RT_UNSUPPORTED);
  EXPECT_NE(refused.getMessage().find("gemm"), std::string::npos) << refused.getMessage();
}

TEST(Convolution, AsInAResNet) {
  check(Case(2, 1, 3, 16, {20, 20}, {7, 7}).strides(2).pads(3, 3));
  check(Case(2, 1, 16, 32, {12, 12}, {3, 3}).pads(1, 1).bias());
  check(Case(2, 1, 32, 32, {9, 9}, {3, 3}).strides(2).pads(1, 1));
  check(Case(3, 1, 32, 64, {8, 8}, {1, 1}));
  check(Case(3, 1, 32, 64, {8, 8}, {1, 1}).strides(2));
}

TEST(Convolution, OddSizes) {
  check(Case(1, 1, 1, 1, {5, 7}, {3, 2}));
  check(Case(2, 1, 5, 10, {11, 6}, {4, 3}).pads(2, 1).bias());
  check(Case(2, 1, 17, 3, {7, 7}, {3, 3}).strides(3).pads(0, 2));
  Case dilated(1, 1, 4, 4, {13, 13}, {3, 3});
  checkOnce(dilated.dilations(3).pads(2, 2));
  checkRefused(dilated, proto::Convolution::BACKWARD_WEIGHTS);
}

TEST(Convolution, Groups) {
  check(Case(2, 2, 32, 64, {7, 7}, {3, 3}).pads(1, 1).bias());
  check(Case(2, 16, 16, 16, {9, 9}, {3, 3}).strides(2).pads(1, 1)); // depthwise
  checkRefused(Case(2, 4, 8, 12, {7, 7}, {3, 3}), proto::Convolution::FORWARD);
}

TEST(Convolution, OtherDimensions) {
  check(Case(2, 1, 6, 8, {30}, {5}).strides(2).pads(2, 2).bias());
  check(Case(1, 2, 32, 32, {30}, {4}).dilations(2));
  check(Case(1, 1, 16, 16, {5, 6, 7}, {3, 2, 3}).pads(1, 1).bias());
}

TEST(Convolution, InFloat16) {
  Case data(1, 1, 16, 16, {6, 7}, {3, 3});
  checkStored(data.pads(1, 1).bias(), ZERO_RT_F16);
  data.desc.set_bias(false);
  data.desc.set_direction(proto::Convolution::BACKWARD_DATA);
  checkStored(data, ZERO_RT_F16);
  data.desc.set_direction(proto::Convolution::BACKWARD_WEIGHTS);
  checkStored(data, ZERO_RT_F16);
}

TEST(Convolution, BFloatsAreMultipliedAsStored) {
  if (!missingForHalves().empty())
    GTEST_SKIP() << "this CPU does not multiply bf16";
  auto checkAll = [](Case data) {
    SCOPED_TRACE(data.desc.ShortDebugString());
    checkStored(data, ZERO_RT_BF16, ZERO_RT_BF16);
    data.desc.set_bias(false);
    data.desc.set_direction(proto::Convolution::BACKWARD_DATA);
    checkStored(data, ZERO_RT_BF16, ZERO_RT_BF16);
    data.desc.set_direction(proto::Convolution::BACKWARD_WEIGHTS);
    checkStored(data, ZERO_RT_BF16, ZERO_RT_BF16);
  };
  checkAll(Case(2, 1, 16, 32, {12, 12}, {3, 3}).pads(1, 1).bias());
  checkAll(Case(2, 1, 3, 16, {20, 20}, {7, 7}).strides(2).pads(3, 3));
  checkAll(Case(3, 1, 32, 64, {8, 8}, {1, 1}).strides(2));
  checkAll(Case(2, 16, 16, 16, {9, 9}, {3, 3}).strides(2).pads(1, 1)); // depthwise
  checkAll(Case(2, 1, 32, 48, {11, 6}, {4, 3}).pads(2, 1).bias());
}

TEST(Convolution, PortableWorkspaceSuffices) {
  for (Case data :
       {Case(2, 1, 3, 16, {20, 20}, {7, 7}).strides(2).pads(3, 3),
        Case(2, 1, 16, 32, {12, 12}, {3, 3}).pads(1, 1), Case(8, 1, 256, 512, {14, 14}, {1, 1}),
        Case(4, 96, 96, 96, {56, 56}, {3, 3}), Case(2, 2, 32, 64, {7, 7}, {3, 3}).pads(1, 1),
        Case(1, 1, 1, 1, {5, 7}, {3, 2}), Case(1, 1, 16, 16, {5, 6, 7}, {3, 2, 3}).pads(1, 1)})
    for (auto direction : {proto::Convolution::FORWARD, proto::Convolution::BACKWARD_DATA,
                           proto::Convolution::BACKWARD_WEIGHTS})
      for (auto operands : {proto::F32, proto::BF16})
        for (int threads : {1, 2, 5}) {
          proto::Kernel kernel;
          *kernel.mutable_convolution() = data.desc;
          kernel.mutable_convolution()->set_direction(direction);
          kernel.mutable_convolution()->set_dtype(operands);
          for (int i = 0; i < 3; ++i)
            kernel.add_stored(operands);
          uint64_t needed = 0, bound = 0;
          if (!zero_rt_library_workspace(kernel, needed, threads).empty())
            continue; // not on this CPU
          ASSERT_EQ(zero_rt_portable_workspace(kernel, bound, threads), "");
          EXPECT_LE(needed, bound) << kernel.convolution().ShortDebugString() << ", " << threads;
        }
}

TEST(Convolution, RefusesByName) {
  std::unique_ptr<Convolution> made;
  auto code = [&](const proto::Convolution &desc) {
    return Convolution::create(desc, {}, 1, made).getCode();
  };
  Case good(1, 1, 2, 2, {4, 4}, {3, 3});
  EXPECT_EQ(code(good.desc), ZERO_RT_OK);
  proto::Convolution bad = good.desc;
  bad.set_dtype(proto::F64);
  EXPECT_NE(Convolution::create(bad, {}, 1, made).getMessage().find("float64"), std::string::npos);
  bad = good.desc;
  bad.set_groups(3);
  EXPECT_EQ(code(bad), ZERO_RT_BAD_FILE);
  bad = good.desc;
  bad.add_strides(1);
  EXPECT_EQ(code(bad), ZERO_RT_BAD_FILE);
  bad = good.desc;
  bad.set_output(0, 3);
  EXPECT_EQ(code(bad), ZERO_RT_BAD_FILE);
  bad = good.desc;
  bad.set_batch(0);
  EXPECT_EQ(code(bad), ZERO_RT_UNSUPPORTED);
  bad = good.desc;
  bad.set_batch(uint64_t(1) << 30), bad.set_in_channels(uint64_t(1) << 30);
  EXPECT_EQ(code(bad), ZERO_RT_BAD_FILE);
  bad = good.desc;
  bad.set_direction(proto::Convolution::BACKWARD_DATA), bad.set_bias(true);
  EXPECT_EQ(code(bad), ZERO_RT_BAD_FILE);
  bad = good.desc;
  bad.set_direction(Direction(7));
  EXPECT_EQ(code(bad), ZERO_RT_BAD_FILE);
}

} // namespace
