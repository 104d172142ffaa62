//===- Config.h - config.json of a model ------------------------*- C++ -*-===//

#ifndef LIB_FRONTENDS_HUGGINGFACE_CONFIG_H
#define LIB_FRONTENDS_HUGGINGFACE_CONFIG_H

#include "Family.h"
#include "Keys.h"

#include <optional>
#include <string>
#include <vector>

namespace zero::hf {

/// The rotation of queries and keys: by position times `frequencies`, tables times `factor`.
struct Rope {
  std::vector<float> frequencies;
  double factor = 1;

  bool operator==(const Rope &) const = default;
};

/// What configurations vary from layer to layer.
struct Layer {
  int64_t window = 0; ///< keys that a query sees, itself included; 0: all
  int rope = -1;      ///< index in Config::ropes; -1: none
  double scale = 1;   ///< of scores
};

/// The sequences of a batch, as --shape says them.
struct BatchShape {
  int64_t batch = 0, sequence = 0;
};

struct Config {
  const Family *family = nullptr;
  int64_t vocabulary = 0, width = 0, inner = 0, heads = 0, groups = 0, headWidth = 0, positions = 0;
  int64_t experts = 0, expertsPerToken = 0;
  double epsilon = 0;
  std::string activation;
  bool isTied = false, isParallel = false;
  bool qkvBias = false, outputBias = false, mlpBias = false;
  double embeddingDropout = 0, residualDropout = 0, attentionDropout = 0;
  double embeddingScale = 1, residualScale = 1, logitScale = 1, scoreCap = 0, logitCap = 0;
  std::optional<int64_t> padding; ///< the token whose embedding has no gradient
  std::vector<Rope> ropes;
  std::vector<Layer> layers;
};

/// Reads `object`, the config.json. Reports all errors at `keys`'s location, and then returns
/// nothing.
std::optional<Config> readConfig(Keys &keys, BatchShape shape);

/// The rotation that `keys`, the dictionary of a rope, describes for heads of `width` elements and
/// so many positions; `limit` is max_position_embeddings.
Rope readRope(Keys &keys, const Family &family, int64_t width, int64_t sequence, int64_t limit);

} // namespace zero::hf

#endif // LIB_FRONTENDS_HUGGINGFACE_CONFIG_H
