//===- Registry.cpp - the table of optimizers -----------------------------===//

#include "Optimizers.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

// ZERO_OPTIMIZER_FILES(X): X(NAME) for each file of Definitions; written by CMake.
#include "zero/Optimizers/Files.inc"

#define DECLARE(name) void register##name();
ZERO_OPTIMIZER_FILES(DECLARE)
#undef DECLARE

static std::vector<OptimizerDefinition> &table() {
  static std::vector<OptimizerDefinition> definitions;
  return definitions;
}

/// Names the file of the definitions that were added last.
static void setFile(StringRef name) {
  for (OptimizerDefinition &definition : llvm::reverse(table())) {
    if (!definition.file.empty())
      return;
    definition.file = name;
  }
}

void registerOptimizer(OptimizerDefinition definition) { table().push_back(std::move(definition)); }

ArrayRef<OptimizerDefinition> allOptimizers() {
  static const bool filled = [] {
#define CALL(name)                                                                                 \
  register##name();                                                                                \
  setFile(#name);
    ZERO_OPTIMIZER_FILES(CALL)
#undef CALL
    return true;
  }();
  (void)filled;
  return table();
}

const OptimizerDefinition *findOptimizer(StringRef name) {
  auto found = llvm::find_if(allOptimizers(), [&](const OptimizerDefinition &definition) {
    return definition.name.equals_insensitive(name);
  });
  return found == allOptimizers().end() ? nullptr : found;
}

const std::string &optimizerNames() {
  static const std::string names = listWords(llvm::map_range(
      allOptimizers(), [](const OptimizerDefinition &definition) { return definition.name; }));
  return names;
}

std::string Hyperparameter::key() const {
  std::string key = foreignKey.empty() ? flag.str() : foreignKey.str();
  llvm::replace(key, '-', '_');
  return key;
}

const Hyperparameter *OptimizerDefinition::find(StringRef flag) const {
  auto found =
      llvm::find_if(hyperparameters, [&](const Hyperparameter &h) { return h.flag == flag; });
  return found == hyperparameters.end() ? nullptr : &*found;
}

std::string OptimizerDefinition::flags() const {
  return listWords(llvm::map_range(hyperparameters,
                                   [](const Hyperparameter &h) { return ("--" + h.flag).str(); }),
                   "and");
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

namespace {
/// The meaning of a flag for some optimizers.
struct Use {
  StringRef meaning;
  std::string defaults;
  SmallVector<std::string> names;
};
} // namespace

static std::string numbersText(ArrayRef<double> numbers) {
  return llvm::join(llvm::map_range(numbers, number), ",");
}

static SmallVector<Use> usesOf(StringRef flag) {
  SmallVector<Use> uses;
  for (const OptimizerDefinition &definition : allOptimizers()) {
    const Hyperparameter *own = definition.find(flag);
    if (!own)
      continue;
    std::string defaults = own->isWord() ? own->words.front().str() : numbersText(own->defaults);
    auto same = llvm::find_if(uses, [&](const Use &use) {
      return use.meaning == own->meaning && use.defaults == defaults;
    });
    if (same == uses.end())
      same = uses.insert(uses.end(), {own->meaning, defaults, {}});
    same->names.push_back(definition.name.str());
  }
  return uses;
}

/// "added to the denominator: adam and adamw (1e-08), adagrad (1e-10)"; of all, the meaning alone.
static std::string helpOf(StringRef flag) {
  std::string help;
  StringRef meaning;
  for (const Use &use : usesOf(flag)) {
    std::string defaults = use.defaults.empty() ? "" : " (" + use.defaults + ")";
    if (use.names.size() == allOptimizers().size())
      return use.meaning.str() + defaults;
    if (use.meaning == meaning)
      help += ", ";
    else
      help += ((help.empty() ? "" : "; ") + use.meaning + ": ").str();
    meaning = use.meaning;
    help += listWords(use.names, "and") + defaults;
  }
  return help;
}

ArrayRef<OptimizerFlag> optimizerFlags() {
  static const std::vector<OptimizerFlag> flags = [] {
    std::vector<OptimizerFlag> all;
    for (const OptimizerDefinition &definition : allOptimizers())
      for (const Hyperparameter &own : definition.hyperparameters) {
        if (llvm::any_of(all, [&](const OptimizerFlag &flag) { return flag.name == own.flag; }))
          continue;
        std::vector<std::string> values(own.defaults.size(), "number");
        if (own.isWord())
          values = {llvm::join(own.words, "|")};
        all.push_back(
            {own.flag, own.isSwitch(), own.isWord(), llvm::join(values, ","), helpOf(own.flag)});
      }
    return all;
  }();
  return flags;
}

const OptimizerFlag *findOptimizerFlag(StringRef name) {
  ArrayRef<OptimizerFlag> flags = optimizerFlags();
  auto found = llvm::find_if(flags, [&](const OptimizerFlag &flag) { return flag.name == name; });
  return found == flags.end() ? nullptr : found;
}

} // namespace zero
