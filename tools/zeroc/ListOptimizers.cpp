//===- ListOptimizers.cpp - definitions of optimizers as JSON -------------===//

#include "ListOptimizers.h"

#include "zero/Optimizers/Optimizer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace zero {

static StringRef rangeName(Range range) {
  switch (range) {
  case Range::Switch:
    return "switch";
  case Range::Any:
    return "finite";
  case Range::NotNegative:
    return ">= 0";
  case Range::Positive:
    return "> 0";
  case Range::NotPositive:
    return "<= 0";
  case Range::BelowOne:
    return "[0, 1)";
  case Range::Count:
    return "whole, >= 1";
  case Range::Word:
    return "word";
  }
  llvm_unreachable("a range without a name");
}

static void listHyperparameter(json::OStream &json, const Hyperparameter &own) {
  json.object([&] {
    json.attribute("flag", own.flag);
    json.attribute("key", own.key());
    json.attribute("range", rangeName(own.range));
    json.attributeArray("default", [&] {
      for (double value : own.defaults)
        json.value(value);
    });
    json.attributeArray("words", [&] {
      for (StringRef word : own.words)
        json.value(word);
    });
    json.attribute("meaning", own.meaning);
  });
}

/// The states that its examples keep: parts like the parameter's, or `ofTensors` of a vector and a
/// matrix.
static SmallVector<std::string> statesOf(const OptimizerDefinition &definition, bool ofTensors) {
  SmallVector<std::string> states;
  auto add = [&](const auto &more) {
    for (const auto &state : more)
      if (!is_contained(states, state.suffix))
        states.push_back(state.suffix);
  };
  for (StringRef example : definition.examples) {
    OptimizerOptions options{definition.name.str()};
    SmallVector<StringRef> flags;
    SplitString(example, flags);
    for (StringRef flag : flags)
      if (!flag.starts_with("--lr="))
        options.parse(flag.drop_front(2));
    std::unique_ptr<Optimizer> optimizer = definition.create(Settings(options));
    if (!ofTensors) {
      add(optimizer->states());
      continue;
    }
    add(optimizer->tensorStates({1, 1}));
    add(optimizer->tensorStates({1}));
  }
  return states;
}

void listOptimizers(raw_ostream &os) {
  json::OStream json(os, 2);
  json.array([&] {
    for (const OptimizerDefinition &definition : allOptimizers())
      json.object([&] {
        json.attribute("name", definition.name);
        json.attribute("summary", definition.summary);
        json.attribute("source", definition.source);
        json.attribute("torch", definition.torch);
        json.attribute("deepspeed", definition.deepSpeed.type);
        json.attribute("file", ("lib/Optimizers/Definitions/" + definition.file + ".cpp").str());
        for (bool ofTensors : {false, true})
          json.attributeArray(ofTensors ? "tensor_states" : "states", [&] {
            for (const std::string &state : statesOf(definition, ofTensors))
              json.value(state);
          });
        std::unique_ptr<Optimizer> plain =
            definition.create(Settings(OptimizerOptions{definition.name.str()}));
        json.attribute("of_tensors", plain->isOfTensors());
        json.attribute("layerwise", plain->isLayerwise());
        json.attribute("of_matrices", plain->isOfMatrices());
        json.attributeArray("hyperparameters", [&] {
          for (const Hyperparameter &own : definition.hyperparameters)
            listHyperparameter(json, own);
        });
        json.attributeArray("neutral", [&] {
          for (const NeutralKey &neutral : definition.deepSpeed.neutral)
            json.object([&] {
              json.attribute("key", neutral.key);
              json.attribute("value", neutral.value);
            });
        });
        json.attributeArray("examples", [&] {
          for (StringRef example : definition.examples)
            json.value(example);
        });
      });
  });
  os << "\n";
}

} // namespace zero
