//===- FrozenNames.cpp - names that suggest frozen parameters -------------===//
//
// A path is cut at its dots, a segment at its underscores: "lora" is a word of
// 'layers.0.lora_A.weight', and none of 'flora.weight'.
//
//===----------------------------------------------------------------------===//

#include "FrozenNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace zero {

using Words = SmallVector<StringRef, 4>;

static Words wordsOf(StringRef segment) {
  Words words;
  segment.split(words, '_', -1, /*KeepEmpty=*/false);
  return words;
}

/// The word in `segment` that marks an adapter, or "". Includes tensors that PEFT adds under
/// special names.
static StringRef adapterWord(StringRef segment) {
  static const llvm::StringSet<> words = {"lora",     "randlora", "vblora",  "gralora",
                                          "delora",   "glora",    "unilora", "dylora",
                                          "tinylora", "adapter",  "adapters"};
  static const llvm::StringSet<> whole = {"vera_lambda_b",
                                          "vera_lambda_d",
                                          "hada_w1_a",
                                          "hada_w1_b",
                                          "hada_w2_a",
                                          "hada_w2_b",
                                          "hada_t1",
                                          "hada_t2",
                                          "lokr_w1",
                                          "lokr_w1_a",
                                          "lokr_w1_b",
                                          "lokr_w2",
                                          "lokr_w2_a",
                                          "lokr_w2_b",
                                          "lokr_t2",
                                          "boft_R",
                                          "boft_s",
                                          "oft_R",
                                          "oft_r",
                                          "ia3_l",
                                          "road_theta",
                                          "road_alpha",
                                          "shira_weight",
                                          "fourierft_spectrum",
                                          "c3a_kernel",
                                          "miss_block",
                                          "hra_u",
                                          "ln_tuning_layers",
                                          "trainable_tokens_delta",
                                          "prompt_encoder"};
  if (whole.contains(segment))
    return segment;
  for (StringRef word : wordsOf(segment))
    if (words.contains(word.lower()))
      return word;
  return "";
}

/// Whether `segment` names a copy of the model, or a part of one, that no optimizer moves.
static bool isTeacher(StringRef segment) {
  static const llvm::StringSet<> alone = {"teacher", "teachers", "ema", "frozen"};
  static const llvm::StringSet<> kinds = {"momentum", "target", "ref", "reference"};
  static const llvm::StringSet<> parts = {
      "encoder", "encoders", "network", "networks",  "net",       "nets",
      "model",   "backbone", "head",    "heads",     "critic",    "critics",
      "actor",   "q",        "policy",  "projector", "projection"};
  const Words words = wordsOf(segment);
  auto anyOf = [&](const llvm::StringSet<> &set) {
    return llvm::any_of(words, [&](StringRef word) { return set.contains(word.lower()); });
  };
  return anyOf(alone) || (anyOf(kinds) && anyOf(parts)) ||
         llvm::is_contained({"encoder_k", "key_encoder", "averaged_model", "swa_model"}, segment);
}

/// A glob of `segment` and those like it: "lora_*" of "lora_A" and the word "lora".
static std::string globOf(StringRef segment, StringRef word) {
  if (segment == word)
    return word.str();
  if (segment.starts_with(word))
    return (word + "_*").str();
  return (segment.ends_with(word) ? "*_" + word : "*_" + word + "_*").str();
}

/// The glob of all parameters whose path has segment `glob` where `path` has segment `index`.
static std::string pathGlob(ArrayRef<StringRef> path, size_t index, StringRef glob) {
  const bool isLeaf = index + 1 == path.size();
  return ((index == 0 ? "" : "*.") + glob + (isLeaf || glob.ends_with("*") ? "" : ".*")).str();
}

namespace {
/// Parameters of one kind, and globs that match them.
struct Found {
  SmallVector<StringRef> names;
  std::vector<std::string> globs; ///< each once

  void add(std::string glob) {
    if (!llvm::is_contained(globs, glob))
      globs.push_back(std::move(glob));
  }
  std::string value() const { return "'" + llvm::join(globs, ",") + "'"; }
};

class Finder {
public:
  void look(StringRef name);

  Found adapters, teachers, kept; ///< kept: copies that PEFT trains as full tensors
  bool wraps = false;             ///< some are layers that PEFT has put an adapter beside
};
} // namespace

void Finder::look(StringRef name) {
  SmallVector<StringRef> path;
  name.split(path, '.');
  auto add = [&](Found &found, size_t index, StringRef glob) {
    found.names.push_back(name);
    found.add(pathGlob(path, index, glob));
  };
  for (auto [index, segment] : llvm::enumerate(path)) {
    wraps |= segment == "base_layer";
    if (segment == "modules_to_save")
      return add(kept, index, segment);
    if (StringRef word = adapterWord(segment); !word.empty())
      return add(adapters, index, globOf(segment, word));
    if (!isTeacher(segment))
      continue;
    teachers.names.push_back(name);
    const StringRef end = index + 1 == path.size() ? "" : ".*";
    teachers.add((llvm::join(ArrayRef(path).take_front(index + 1), ".") + end).str());
    return;
  }
}

/// The globs of `found`, or where these are many, a teacher in each layer, shorter ones.
static void shorten(Found &teachers) {
  constexpr size_t kMost = 4;
  if (teachers.globs.size() <= kMost)
    return;
  Found shorter;
  for (StringRef glob : teachers.globs) {
    StringRef path = glob;
    const bool isLeaf = !path.consume_back(".*");
    auto [outer, segment] = path.rsplit('.');
    shorter.add(("*." + (segment.empty() ? outer : segment) + (isLeaf ? "" : ".*")).str());
  }
  teachers.globs = std::move(shorter.globs);
}

static constexpr StringLiteral kNoTrace = "; an export does not say what is frozen "
                                          "(requires_grad=False), so all parameters are trained. ";
static constexpr StringLiteral kElse = ", or list what is trained in --trainable=FILE "
                                       "(docs/guides/weights.md); --freeze-all-but='*' means "
                                       "that all are to be";

static void warnOfAdapters(ModuleOp module, const Finder &finder) {
  Found all = finder.adapters;
  llvm::append_range(all.names, finder.kept.names);
  for (const std::string &glob : finder.kept.globs)
    all.add(glob);
  emitWarning(module.getLoc()) << all.names.size() << " parameters look like adapters, such as '"
                               << all.names.front() << "'" << kNoTrace
                               << "To train only these, add --freeze-all-but=" << all.value()
                               << kElse;
}

void warnOfFrozenNames(ModuleOp module, ArrayRef<StringRef> trained) {
  Finder finder;
  for (StringRef name : trained)
    finder.look(name);
  const size_t adapted = finder.adapters.names.size() + finder.kept.names.size();
  if (!finder.adapters.names.empty() && adapted < trained.size())
    warnOfAdapters(module, finder);
  else if (finder.wraps)
    emitWarning(module.getLoc()) << "some parameters are of a 'base_layer' that an adapter wraps"
                                 << kNoTrace << "To train only the adapters, add "
                                 << "--freeze-all-but=PATTERN,..." << kElse;
  if (finder.teachers.names.empty() || finder.teachers.names.size() == trained.size())
    return;
  shorten(finder.teachers);
  emitWarning(module.getLoc())
      << finder.teachers.names.size()
      << " parameters look like those of a teacher or of a moving average, "
      << "such as '" << finder.teachers.names.front() << "'" << kNoTrace
      << "To leave these as they are, add --freeze=" << finder.teachers.value() << kElse;
}

} // namespace zero
