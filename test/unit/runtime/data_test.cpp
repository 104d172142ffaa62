//===- data_test.cpp - types, streams, order and batches ------------------===//

#include "io_files.h"
#include "runtime/io/data_set.h"
#include "runtime/io/stream.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

using namespace zero::rt;

namespace {

Array arrayOf(DType dtype, std::vector<uint64_t> shape, const std::string &bytes) {
  Array array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  auto begin = view(bytes);
  array.memory = std::make_shared<std::vector<uint8_t>>(begin.begin(), begin.end());
  array.bytes = *array.memory;
  return array;
}

/// Row i has `columns` elements: i * columns, i * columns + 1, ...
Array counting(uint64_t rows, uint64_t columns, bool flat = false) {
  std::vector<int64_t> values(rows * columns);
  std::iota(values.begin(), values.end(), 0);
  std::string bytes(reinterpret_cast<char *>(values.data()), values.size() * 8);
  return arrayOf(ZERO_RT_I64, flat ? std::vector{rows * columns} : std::vector{rows, columns},
                 bytes);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

template <typename From, typename To>
void expectWidened(DType from, DType to, std::initializer_list<From> values,
                   std::initializer_list<To> expected) {
  Conversion convert = conversion(from, to);
  ASSERT_NE(convert, nullptr) << nameOf(from) << " to " << nameOf(to);
  std::string source = "x" + raw(values); // not aligned
  std::string target(1 + expected.size() * sizeof(To), '\0');
  convert(view(source).data() + 1, reinterpret_cast<uint8_t *>(target.data()) + 1, values.size());
  EXPECT_EQ(target.substr(1), raw(expected)) << nameOf(from) << " to " << nameOf(to);
}

TEST(Convert, WidensExactly) {
  expectWidened<uint16_t, int64_t>(ZERO_RT_U16, ZERO_RT_I64, {0, 65535}, {0, 65535});
  expectWidened<uint32_t, int64_t>(ZERO_RT_U32, ZERO_RT_I64, {UINT32_MAX}, {UINT32_MAX});
  expectWidened<int32_t, int64_t>(ZERO_RT_I32, ZERO_RT_I64, {-1, INT32_MIN}, {-1, INT32_MIN});
  expectWidened<int8_t, int64_t>(ZERO_RT_I8, ZERO_RT_I64, {-128}, {-128});
  expectWidened<uint8_t, int32_t>(ZERO_RT_U8, ZERO_RT_I32, {255}, {255});
  expectWidened<uint8_t, int64_t>(ZERO_RT_BOOL, ZERO_RT_I64, {0, 1, 7}, {0, 1, 1});
  expectWidened<uint8_t, uint8_t>(ZERO_RT_U8, ZERO_RT_BOOL, {0, 1, 7}, {0, 1, 1});
  expectWidened<_Float16, float>(ZERO_RT_F16, ZERO_RT_F32, {_Float16(1.5f)}, {1.5f});
  expectWidened<uint16_t, float>(ZERO_RT_BF16, ZERO_RT_F32, {0xc040}, {-3.0f});
  expectWidened<float, double>(ZERO_RT_F32, ZERO_RT_F64, {0.1f}, {double(0.1f)});
  expectWidened<float, float>(ZERO_RT_F32, ZERO_RT_F32, {0.1f, 2}, {0.1f, 2});
}

TEST(Convert, RefusesWhatMayLose) {
  for (auto [from, to] : {std::pair(ZERO_RT_F64, ZERO_RT_F32),
                          {ZERO_RT_I64, ZERO_RT_I32},
                          {ZERO_RT_U32, ZERO_RT_I32},
                          {ZERO_RT_F32, ZERO_RT_I64},
                          {ZERO_RT_I64, ZERO_RT_F32},
                          {ZERO_RT_U8, ZERO_RT_F32},
                          {ZERO_RT_I64, ZERO_RT_BOOL},
                          {ZERO_RT_F32, ZERO_RT_F16}})
    EXPECT_EQ(conversion(from, to), nullptr) << nameOf(from) << " to " << nameOf(to);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

TEST_F(Files, TokensAreCutIntoSequences) {
  write(raw<uint16_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  auto rows = [&](uint64_t skip, uint64_t ahead) {
    ArrayFile file{path, "", ZERO_RT_U16, skip, ahead};
    Array array;
    EXPECT_TRUE(readArray(file, "x", array).ok());
    Status status = cutStream({2, 4}, file, array);
    EXPECT_TRUE(status.ok()) << status.getMessage();
    uint16_t first;
    std::memcpy(&first, array.bytes.data(), 2);
    EXPECT_EQ(first, skip);
    EXPECT_EQ(array.bytes.size(), array.shape[0] * 8);
    return array.shape[0];
  };
  // 13 tokens: three sequences of 4, and the token after the last sequence
  EXPECT_EQ(rows(0, 1), 3u);
  EXPECT_EQ(rows(1, 1), 3u);
  EXPECT_EQ(rows(0, 2), 2u); // two more tokens must follow each sequence
  EXPECT_EQ(rows(2, 2), 2u);
  EXPECT_EQ(rows(9, 0), 1u);
}

TEST_F(Files, StreamsAreRefusedByName) {
  auto error = [&](const std::string &contents, const ArrayFile &file) {
    write(contents);
    DataSet data({{"ids", ZERO_RT_I64, {2, 4}}}, {});
    return data.bindFile("ids", file).getMessage();
  };
  EXPECT_EQ(error("abc", {path, "", ZERO_RT_U16}),
            "input 'ids': '" + path + "': 3 bytes are no whole number of uint16 elements");
  EXPECT_EQ(error("12345678", {path, "", ZERO_RT_U16, 1, 1}),
            "input 'ids': one row takes 4 elements and 1 after it, got 4 in '" + path + "'");
  EXPECT_EQ(error("123456", {path, "", ZERO_RT_U16}),
            "input 'ids': one row takes 4 elements, got 3 in '" + path + "'");
  EXPECT_EQ(error("", {path, "", ZERO_RT_U16}),
            "input 'ids': one row takes 4 elements, got 0 in '" + path + "'");
  std::string matrix = npy("'<i4'", "(2, 4)", std::string(32, '\0'));
  EXPECT_EQ(error(matrix, {path, "", ZERO_RT_NO_DTYPE, 1, 1}),
            "input 'ids': '+1' needs an array of one dimension, got [2, 4] in '" + path + "'");
  EXPECT_EQ(error(matrix, {path, "", ZERO_RT_NO_DTYPE}), "");
  EXPECT_EQ(error(npy("'<i4'", "(8,)", std::string(32, '\0')), {path}), "");
  EXPECT_NE(error(npy("'<f4'", "(8,)", std::string(32, '\0')), {path})
                .find("expected int64 [*, 4], got float32 [8] in '" + path + "'"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

TEST(Order, WholeBatchesInOrder) {
  SampleOrder order(11, 4, std::nullopt);
  EXPECT_EQ(order.stepsPerEpoch(), 2u);
  for (uint64_t step = 0; step < 5; ++step)
    for (uint64_t i = 0; i < 4; ++i)
      EXPECT_EQ(order.sample(step, i), step % 2 * 4 + i); // samples 8, 9 and 10 do not fill a batch
}

TEST(Order, SmallDataRunsOn) {
  SampleOrder order(3, 4, std::nullopt);
  EXPECT_EQ(order.stepsPerEpoch(), 0u);
  for (uint64_t step = 0; step < 5; ++step)
    for (uint64_t i = 0; i < 4; ++i)
      EXPECT_EQ(order.sample(step, i), (step * 4 + i) % 3);
}

TEST(Order, EachEpochIsAPermutationOfItsOwn) {
  for (uint64_t samples : {1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097}) {
    std::set<std::vector<uint64_t>> orders;
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<uint64_t> seen;
      for (uint64_t i = 0; i < samples; ++i)
        seen.push_back(SampleOrder(samples, 1, 7).sample(epoch * samples + i, 0));
      orders.insert(seen);
      std::sort(seen.begin(), seen.end());
      for (uint64_t i = 0; i < samples; ++i)
        ASSERT_EQ(seen[i], i) << samples << " samples, epoch " << epoch;
    }
    if (samples >= 16)
      EXPECT_EQ(orders.size(), 3u) << samples;
  }
}

/// Over all seeds, each sample is about equally often at each place: chi-squared with 63 degrees of
/// freedom exceeds 120 only once in 50,000 trials.
TEST(Order, SeedsSpreadEvenly) {
  constexpr int kSamples = 8, kSeeds = 4000;
  std::array<std::array<int, kSamples>, kSamples> count{};
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    for (uint64_t i = 0; i < kSamples; ++i)
      ++count[i][SampleOrder(kSamples, kSamples, seed).sample(0, i)];
  double chi = 0, mean = double(kSeeds) / kSamples;
  for (const auto &row : count)
    for (int n : row)
      chi += (n - mean) * (n - mean) / mean;
  EXPECT_LT(chi, 120);
}

TEST(Order, ServesBillionsWithoutMemory) {
  constexpr uint64_t kSamples = 5'000'000'007;
  SampleOrder order(kSamples, 1024, 1);
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 20000; ++i) {
    uint64_t sample = order.sample(i / 1024, i % 1024);
    EXPECT_LT(sample, kSamples);
    EXPECT_TRUE(seen.insert(sample).second);
  }
  EXPECT_LT(*seen.begin(), kSamples / 1000);
  EXPECT_GT(*seen.rbegin(), kSamples - kSamples / 1000);
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

/// The first column of the rows that all ranks read in a step, in rank order.
std::vector<int64_t> globalBatch(const DataSet &data, size_t input, uint64_t rows, uint64_t columns,
                                 int ranks, uint64_t step) {
  std::vector<int64_t> all;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<int64_t> local(rows * columns);
    data.read(input, 0, step, 0, rank, local.data());
    for (uint64_t row = 0; row < rows; ++row)
      all.push_back(local[row * columns] / int64_t(columns));
  }
  return all;
}

TEST(Data, GlobalBatchesDoNotDependOnRanks) {
  for (bool shuffled : {false, true}) {
    std::vector<std::vector<int64_t>> expected;
    for (uint64_t ranks : {1, 2, 3, 6}) {
      DataSet data({{"x", ZERO_RT_I64, {6 / ranks, 2}}}, {ranks, 1});
      ASSERT_TRUE(data.bind("x", counting(20, 2)).ok());
      if (shuffled)
        data.shuffle(3);
      ASSERT_TRUE(data.prepare().ok());
      std::vector<std::vector<int64_t>> got;
      for (uint64_t step = 0; step < 7; ++step)
        got.push_back(globalBatch(data, 0, 6 / ranks, 2, int(ranks), step));
      if (expected.empty())
        expected = got;
      EXPECT_EQ(got, expected) << ranks << " ranks";
    }
    EXPECT_EQ(expected[0] == (std::vector<int64_t>{0, 1, 2, 3, 4, 5}), !shuffled);
    EXPECT_EQ(expected[0] == expected[3], !shuffled) << "the second epoch";
  }
}

TEST(Data, InputsAreShuffledTogether) {
  // Each row of ids has three rows of labels, as in a model with flattened logits.
  DataSet data({{"ids", ZERO_RT_I64, {2, 4}}, {"labels", ZERO_RT_I64, {6}}}, {2, 2});
  ASSERT_TRUE(data.bind("ids", counting(9, 4)).ok());
  ASSERT_TRUE(data.bind("labels", counting(9, 3, true)).ok());
  data.shuffle(11);
  ASSERT_TRUE(data.prepare().ok());
  EXPECT_EQ(data.order().samples(), 9u);
  EXPECT_EQ(data.order().perStep(), 8u);
  std::set<int64_t> seen;
  for (uint64_t micro = 0; micro < 2; ++micro)
    for (int rank = 0; rank < 2; ++rank) {
      int64_t ids[8], labels[6];
      data.read(0, 0, 0, micro, rank, ids);
      data.read(1, 0, 0, micro, rank, labels);
      for (int row = 0; row < 2; ++row) {
        EXPECT_EQ(labels[row * 3] / 3, ids[row * 4] / 4);
        EXPECT_EQ(labels[row * 3 + 2], labels[row * 3] + 2);
        seen.insert(ids[row * 4]);
      }
    }
  EXPECT_EQ(seen.size(), 8u);
}

/// An input of a program with several shapes, the largest first.
InputSpec shapesOf(std::vector<std::vector<uint64_t>> shapes) {
  InputSpec spec{"x", ZERO_RT_I64, shapes.front()};
  spec.others.assign(shapes.begin() + 1, shapes.end());
  return spec;
}

TEST(Data, ArraysRunTheShapeOfTheirRows) {
  DataSet data({shapesOf({{4, 3}, {4, 2}, {2, 2}})}, {2, 1});
  ASSERT_TRUE(data.bind("x", counting(13, 2)).ok());
  ASSERT_TRUE(data.prepare().ok());
  EXPECT_EQ(data.order().perStep(), 8u);
  EXPECT_EQ(data.order().stepsPerEpoch(), 2u);
  EXPECT_EQ(data.order().lastSamples(), 4u);
  EXPECT_EQ(data.shapeOf(0), 1u);
  EXPECT_EQ(data.shapeOf(1), 2u);
  EXPECT_EQ(data.shapeOf(2), 1u) << "the second epoch";
  int64_t last[4];
  data.read(0, 2, 1, 0, 1, last);
  EXPECT_EQ(std::vector<int64_t>(last, last + 4), (std::vector<int64_t>{20, 21, 22, 23}));
  const Status wrong = data.bind("x", counting(13, 4));
  EXPECT_EQ(wrong.getMessage(), "input 'x': expected int64 [*, 3] or [*, 2], got int64 [13, 4]");
}

TEST(Data, RowsThatFillASmallerShapeRunIt) {
  DataSet data({shapesOf({{4, 2}, {2, 2}, {1, 2}})}, {1, 1});
  ASSERT_TRUE(data.bind("x", counting(2, 2)).ok());
  ASSERT_TRUE(data.prepare().ok());
  EXPECT_EQ(data.order().perStep(), 2u);
  EXPECT_EQ(data.shapeOf(0), 1u);
}

TEST(Data, RowsOfDifferentShapesAreAnError) {
  InputSpec x = shapesOf({{4, 3}, {4, 2}}), y = x;
  y.name = "y";
  DataSet data({x, y}, {1, 1});
  ASSERT_TRUE(data.bind("x", counting(8, 3)).ok());
  ASSERT_TRUE(data.bind("y", counting(8, 2)).ok());
  EXPECT_NE(data.prepare().getMessage().find("fit different shapes"), std::string::npos);
}

TEST(Data, OneLocalBatchOrRowStandsStill) {
  DataSet data({{"x", ZERO_RT_I64, {2, 2}},
                {"positions", ZERO_RT_I64, {3}},
                {"mask", ZERO_RT_I64, {2, 1}},
                {"scale", ZERO_RT_F32, {}}},
               {2, 1});
  ASSERT_TRUE(data.bind("x", counting(8, 2)).ok());
  ASSERT_TRUE(data.bind("positions", counting(3, 1, true)).ok());
  ASSERT_TRUE(data.bind("mask", arrayOf(ZERO_RT_I64, {1, 1}, raw({int64_t(5)}))).ok());
  ASSERT_TRUE(data.bind("scale", arrayOf(ZERO_RT_F32, {}, raw({1.5f}))).ok());
  data.shuffle(1);
  ASSERT_TRUE(data.prepare().ok());
  for (int rank = 0; rank < 2; ++rank) {
    int64_t positions[3], mask[2];
    float scale;
    data.read(1, 0, 5, 0, rank, positions);
    data.read(2, 0, 5, 0, rank, mask);
    data.read(3, 0, 5, 0, rank, &scale);
    EXPECT_EQ(std::vector<int64_t>(positions, positions + 3), (std::vector<int64_t>{0, 1, 2}));
    EXPECT_EQ(mask[0] + mask[1], 10);
    EXPECT_EQ(scale, 1.5f);
  }
  EXPECT_STREQ(data.nextWarning(),
               "input 'positions' has 3 rows, 'x' more: every step and rank reads the same rows");
  EXPECT_STREQ(data.nextWarning(),
               "input 'mask' has 1 row, 'x' more: every step and rank reads the same rows");
  EXPECT_EQ(data.nextWarning(), nullptr);
}

TEST(Data, SmallDataWrapsRoundAndSaysSo) {
  DataSet data({{"x", ZERO_RT_I64, {2, 1}}}, {4, 1});
  ASSERT_TRUE(data.bind("x", counting(3, 1)).ok());
  ASSERT_TRUE(data.prepare().ok());
  EXPECT_EQ(globalBatch(data, 0, 2, 1, 4, 0), (std::vector<int64_t>{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(globalBatch(data, 0, 2, 1, 4, 1), (std::vector<int64_t>{2, 0, 1, 2, 0, 1, 2, 0}));
  EXPECT_STREQ(data.nextWarning(),
               "input 'x' has 3 samples, a global batch 8: samples are repeated within a batch");
  EXPECT_EQ(data.nextWarning(), nullptr);
}

TEST(Data, RefusesByName) {
  DataSet data({{"x", ZERO_RT_F32, {4, 2}}, {"labels", ZERO_RT_I64, {4}}}, {2, 1});
  const std::string inputs = "'x' (float32 [*, 2]), 'labels' (int64 [*])";
  EXPECT_EQ(data.prepare().getMessage(), "no data for input 'x'; the inputs are " + inputs);
  EXPECT_EQ(data.bind("y", counting(1, 1)).getMessage(),
            "the program has no input 'y'; its inputs are " + inputs);
  Array wide = arrayOf(ZERO_RT_F64, {8, 2}, std::string(128, '\0'));
  wide.from = "wide.npy";
  EXPECT_EQ(data.bind("x", wide).getMessage(),
            "input 'x': expected float32 [*, 2], got float64 [8, 2] in 'wide.npy'; convert it, as "
            "by NumPy's astype()");
  EXPECT_EQ(data.bind("labels", counting(8, 2)).getMessage(),
            "input 'labels': expected int64 [*], got int64 [8, 2]");
  EXPECT_EQ(data.bind("x", arrayOf(ZERO_RT_F32, {0, 2}, "")).getMessage(),
            "input 'x': the data is empty: [0, 2]");
  Array eight = arrayOf(ZERO_RT_F32, {8, 2}, std::string(64, '\0'));
  eight.from = "x.npy";
  ASSERT_TRUE(data.bind("x", eight).ok());
  ASSERT_TRUE(data.bind("labels", counting(12, 1, true)).ok());
  EXPECT_EQ(data.prepare().getMessage(), "inputs 'x' and 'labels' hold different numbers of "
                                         "samples: 8 in 'x.npy' and 12");
}

} // namespace
