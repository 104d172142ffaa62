//===- Ways.cpp - ways to train a model -----------------------------------===//

#include "zero/Prices/Ways.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace zero::prices {

namespace {

/// What is trained, and in which types.
struct Way {
  StringLiteral name;
  StringLiteral flags;
  bool hasAdapters = false; ///< little is trained: gradients and optimizer state are small
};

/// Where parameters, gradients, optimizer state and activations are between their uses.
struct Placement {
  StringLiteral name;
  StringLiteral flags;
  StringLiteral alone;   ///< ZeRO stage on one rank
  StringLiteral stages;  ///< ZeRO stages on several
  bool onHost = false;   ///< frees memory only beside another memory of the host
  bool ofUpdate = false; ///< moves gradients and optimizer state alone
};

} // namespace

static constexpr Way kWays[] = {
    {"full, fp32", "precision=fp32"},
    {"full, bf16", "precision=bf16"},
    {"full, 8-bit state", "precision=bf16 state-precision=8bit"},
    {"full, no masters", "precision=bf16 master-weights=none state-precision=8bit"},
    {"LoRA, bf16", "precision=bf16 lora=all-linear", /*hasAdapters=*/true},
    {"QLoRA, nf4", "precision=bf16 frozen-precision=nf4 lora=all-linear", /*hasAdapters=*/true},
};

/// The only way of a model with its own update, whose types are in its graph.
static constexpr Way kOwnWay = {"the model's step", ""};

static constexpr Placement kPlacements[] = {
    {"device", "checkpoint=none", "0", "1"},
    {"device, recompute", "checkpoint=layer", "0", "1 2 3"},
    {"optimizer on host", "checkpoint=layer offload-gradients=host offload-optimizer=host", "0",
     "3", /*onHost=*/true, /*ofUpdate=*/true},
    {"optimizer on disk", "checkpoint=layer offload-gradients=host offload-optimizer=nvme", "0",
     "3", /*onHost=*/false, /*ofUpdate=*/true},
    {"all on host",
     "checkpoint=layer offload-params=host offload-gradients=host offload-optimizer=host "
     "offload-activations=host",
     "3", "3", /*onHost=*/true},
    {"all on disk",
     "checkpoint=layer offload-params=nvme offload-gradients=nvme offload-optimizer=nvme "
     "offload-activations=nvme",
     "3", "3"},
};

static constexpr StringLiteral kStageFlag = "zero-stage", kTargetsFlag = "lora";
static constexpr StringLiteral kOptimizerFlag = "optimizer", kOptimizer = "adamw";

static SmallVector<StringRef> wordsOf(StringRef text) {
  SmallVector<StringRef> words;
  SplitString(text, words);
  return words;
}

static void addSettings(StringRef flags, std::vector<Setting> &settings) {
  for (StringRef flag : wordsOf(flags)) {
    auto [name, value] = flag.split('=');
    settings.emplace_back(name.str(), value.str());
  }
}

/// The names of the flags of both tables.
static const std::vector<std::string> &decidedFlags() {
  static const std::vector<std::string> flags = [] {
    std::vector<Setting> settings;
    for (const Way &way : kWays)
      addSettings(way.flags, settings);
    for (const Placement &placement : kPlacements)
      addSettings(placement.flags, settings);
    settings.emplace_back(kStageFlag.str(), "");
    std::vector<std::string> names;
    for (const Setting &setting : settings)
      if (!is_contained(names, setting.first))
        names.push_back(setting.first);
    return names;
  }();
  return flags;
}

/// Whether no given flag says otherwise than `settings`. Which modules are adapted is the user's
/// choice, and no difference between ways.
static bool agrees(const Question &question, const std::vector<Setting> &settings) {
  return all_of(decidedFlags(), [&](const std::string &name) {
    auto given = question.given.find(name);
    return given == question.given.end() || name == kTargetsFlag ||
           is_contained(settings, Setting(*given));
  });
}

static bool applies(const Way &way, const Placement &placement, const Question &question) {
  return (question.hasHost || !placement.onHost) && !(way.hasAdapters && placement.ofUpdate);
}

static void addRow(const Way &way, const Placement &placement, StringRef stage,
                   const Question &question, std::vector<Row> &rows) {
  std::vector<Setting> settings;
  if (!question.given.contains(kOptimizerFlag.str()) && !question.hasStep)
    settings.emplace_back(kOptimizerFlag.str(), kOptimizer.str());
  addSettings(way.flags, settings);
  settings.emplace_back(kStageFlag.str(), stage.str());
  addSettings(placement.flags, settings);
  if (!agrees(question, settings))
    return;
  erase_if(settings, [&](const Setting &setting) { // the user's word is there already
    return question.given.contains(setting.first);
  });
  std::string name = placement.name.str();
  if (question.ranks > 1)
    name = ("stage " + stage + ", " + name).str();
  rows.push_back({way.name.str(), name, std::move(settings), way.hasAdapters});
}

std::vector<Row> listRows(const Question &question) {
  std::vector<Row> rows;
  for (const Way &way : question.hasStep ? ArrayRef(kOwnWay) : ArrayRef(kWays))
    for (const Placement &placement : kPlacements)
      if (applies(way, placement, question))
        for (StringRef stage : wordsOf(question.ranks > 1 ? placement.stages : placement.alone))
          addRow(way, placement, stage, question, rows);
  return rows;
}

} // namespace zero::prices
