//===- attention_cases.cpp - attentions of all devices --------------------===//

#include "attention_cases.h"

#include <cmath>

namespace zero::rt {

static constexpr auto kShown = proto::Attention::SHOWN, kBias = proto::Attention::BIAS;
static constexpr float kInfinity = INFINITY;

Cases casesOfLayouts(uint64_t length) {
  Cases cases;
  for (Layout layout : {Layout::HeadsFirst, Layout::RowsFirst, Layout::Gaps, Layout::Packed}) {
    cases.push_back({AttentionCase({2, 3, 3, length, length, 16, 16}, layout)});
    cases.push_back(
        {AttentionCase({2, 4, 2, length + 1, length + 1, 32, 32}, layout).causal(-kInfinity)});
  }
  cases.push_back({AttentionCase({2, 6, 2, 40, 40, 16, 24}).causal(-kInfinity)});
  cases.push_back({AttentionCase({2, 6, 1, 40, 40, 16, 24}, Layout::RowsFirst)});
  cases.push_back({AttentionCase({3, 8, 4, 33, 33, 8, 8}, Layout::Packed).causal(-1e9f)});
  return cases;
}

Cases casesOfWidths(const std::vector<uint64_t> &widths) {
  Cases cases;
  for (uint64_t width : widths)
    for (uint64_t valueWidth : {width, uint64_t(3), uint64_t(48)})
      cases.push_back({AttentionCase({1, 2, 2, 19, 19, width, valueWidth}).causal(-kInfinity)});
  cases.push_back({AttentionCase({1, 2, 1, 9, 9, 20, 13}, Layout::Packed).causal(-kInfinity)});
  return cases;
}

Cases casesOfLengths(const Lengths &lengths) {
  Cases cases;
  for (auto [queries, keys] : lengths) {
    const AttentionCase plain({1, 2, 1, queries, keys, 24, 24});
    cases.push_back({plain});
    // Aligns the last query with the last key, the first query with the first key, or hides
    // nothing.
    for (int64_t offset :
         {int64_t(keys) - int64_t(queries), int64_t(0), int64_t(5), int64_t(1) << 62}) {
      cases.push_back({AttentionCase(plain).causal(-1e9f, offset)});
      if (offset >= 0) // rows without any key are not numbers
        cases.push_back({AttentionCase(plain).causal(-kInfinity, offset)});
    }
  }
  return cases;
}

Cases casesOfNothing() {
  return {{AttentionCase({0, 2, 2, 4, 4, 8, 8})},
          {AttentionCase({2, 0, 0, 4, 4, 8, 8})},
          {AttentionCase({2, 2, 2, 0, 4, 8, 8}).causal(-kInfinity)},
          {AttentionCase({2, 2, 1, 5, 5, 0, 8}).causal(-kInfinity)},
          {AttentionCase({2, 2, 1, 5, 5, 8, 0}).causal(-kInfinity)},
          // Without keys, O is an empty sum.
          {AttentionCase({2, 2, 1, 5, 0, 8, 8})},
          {AttentionCase({2, 2, 1, 5, 0, 8, 8}).guard()}};
}

Cases casesOfMasks(const std::vector<std::array<bool, 4>> &over, const Lengths &lengths) {
  Cases cases;
  for (const std::array<bool, 4> &dims : over)
    for (auto kind : {kShown, kBias})
      for (auto [queries, keys] : lengths) {
        const AttentionCase plain({2, 2, 1, queries, keys, 16, 16});
        cases.push_back({AttentionCase(plain).fill(-1e9f).addMask(kind, dims)});
        cases.push_back(
            {AttentionCase(plain).causal(-1e9f, 3).addMask(kind, dims).addPadding(kShown)});
        cases.push_back({AttentionCase(plain)
                             .causal(-kInfinity)
                             .addMask(kind, dims)
                             .addPadding(kBias)
                             .guard()});
      }
  return cases;
}

Cases casesOfWindows(const Lengths &lengths) {
  Cases cases;
  for (auto [queries, keys] : lengths)
    for (float fill : {-kInfinity, -1e9f, -3.0f}) {
      const AttentionCase plain({1, 2, 1, queries, keys, 16, 16});
      const auto offset = int64_t(keys) - int64_t(queries);
      for (uint64_t window : {1, 9, 70})
        cases.push_back({AttentionCase(plain).causal(fill, offset).window(window)});
      cases.push_back({AttentionCase(plain).causal(fill).prefix(40)});
      cases.push_back({AttentionCase(plain).causal(fill, 5).window(33).prefix(20).guard()});
      AttentionCase open(plain);
      cases.push_back({open.fill(fill).window(33).guard()});
      cases.push_back({AttentionCase(plain).causal(fill).window(20).addPadding(kShown).guard()});
      cases.push_back(
          {AttentionCase(plain).causal(fill).window(20).addMask(kBias, {false, true, true, true})});
    }
  return cases;
}

Cases casesOfSegments(const Lengths &lengths) {
  Cases cases;
  for (auto [queries, keys] : lengths)
    for (float fill : {-kInfinity, -1e9f, -3.0f})
      for (bool perBatch : {false, true}) {
        AttentionCase plain({2, 2, 1, queries, keys, 16, 16});
        plain.fill(fill).guard().addSegments({3, 40, 1, 65, 17}, perBatch);
        cases.push_back({plain});
        cases.push_back({AttentionCase(plain).causal(fill)});
        cases.push_back({AttentionCase(plain).causal(fill).window(12).addPadding(kBias)});
        cases.push_back({AttentionCase(plain).causal(fill).prefix(45).addPadding(kShown)});
        cases.push_back({AttentionCase(plain).addMask(kShown, {true, false, true, true})});
        cases.push_back(
            {AttentionCase(plain).causal(fill).addMask(kBias, {true, true, true, true})});
      }
  return cases;
}

Cases casesOfBlindRows(uint64_t keys) {
  Cases cases;
  for (float fill : {-kInfinity, -3.4e38f, -1e9f, -1e4f, -20.0f}) {
    // Next to a fill of 1e4, scores have few significant bits left.
    const double within = fill == -1e4f ? 4e-3 : 3e-5;
    // Hides keys from the left: early queries see no key, later ones some keys.
    AttentionCase padded({1, 2, 1, keys, keys, 16, 16});
    hide(padded.causal(fill).addPadding(kShown), padded.padding, 0, 70);
    // The same by causality alone.
    AttentionCase late({1, 2, 1, keys, keys, 16, 16});
    late.causal(fill, -20);
    // Hides all keys of a batch.
    AttentionCase all({2, 1, 1, keys, keys, 16, 16});
    hide(all.fill(fill).addPadding(kShown), all.padding, 0, keys);
    for (const AttentionCase &each : {padded, late, all}) {
      cases.push_back({each, within});
      cases.push_back({AttentionCase(each).guard(), within});
    }
  }
  return cases;
}

Cases casesOfSmallFills(uint64_t length) {
  Cases cases;
  const AttentionCase plain({1, 2, 2, length, length, 16, 16});
  // The fill is too small to hide keys: alone, and with a mask that cancels it.
  cases.push_back({AttentionCase(plain).causal(-3.0f)});
  AttentionCase masked(plain);
  masked.causal(-1024.0f).addMask(kBias, {false, false, true, true});
  cases.push_back({hide(masked, masked.mask, 0, length * length, 1022.0f), 4e-3});
  // The padding hides with a number keys that causality shows, as left padding does.
  AttentionCase padded(plain);
  padded.causal(-1e9f).addPadding(kBias);
  cases.push_back({hide(padded, padded.padding, 0, length * 2 / 3, -1e9f)});
  // Large scores with a fill of a few thousand.
  AttentionCase large({1, 1, 1, length * 2 / 3, length * 2 / 3, 16, 16});
  large.desc.set_scale(100);
  cases.push_back({large.causal(-1500.0f), 5e-2});
  return cases;
}

Cases casesOfShortTypes(uint64_t length, const std::vector<Layout> &layouts) {
  Cases cases;
  for (DType type : {ZERO_RT_F16, ZERO_RT_BF16})
    for (Layout layout : layouts) {
      const double within = type == ZERO_RT_F16 ? 1e-3 : 4e-3;
      AttentionCase plain({2, 4, 2, length, length, 20, 20}, layout);
      plain.in(type);
      cases.push_back({plain, within});
      cases.push_back({AttentionCase(plain).causal(-kInfinity).addPadding(kShown).guard(), within});
      cases.push_back({AttentionCase(plain).addMask(kBias, {true, false, true, true}), within});
    }
  return cases;
}

} // namespace zero::rt
