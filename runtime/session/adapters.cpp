//===- adapters.cpp - PEFT's description of adapters ----------------------===//

#include "runtime/session/adapters.h"

#include "runtime/format/tables.h"
#include "runtime/io/weights_writer.h"
#include "runtime/support/checked.h"
#include "runtime/support/json_writer.h"

#include <map>
#include <set>

namespace zero::rt {

/// The shapes of matrices by name, and the modules that have adapters.
struct Adapters {
  std::map<std::string, const proto::Tensor *> tensors;
  std::map<std::string, const proto::Tensor *> modules; ///< with A
  bool isAlone = true;                                  ///< nothing else is trained

  explicit Adapters(const proto::Program &program) {
    for (const proto::Tensor &tensor : program.tensors()) {
      tensors[tensor.name()] = &tensor;
      if (isOfAdapter(tensor.name())) {
        if (const std::string module = moduleOfAdapter(tensor.name()); !module.empty())
          modules[module] = &tensor;
      } else if (tensor.role() == proto::PARAMETER && !tensor.frozen()) {
        isAlone = false;
      }
    }
  }

  /// Whether matrices of modules are stored as [inputs, outputs], as far as their sizes tell.
  bool isInputsFirst() const {
    size_t first = 0, last = 0;
    for (const auto &[module, a] : modules)
      for (const char *suffix : {".weight", ".kernel", ".w", ""}) {
        auto it = tensors.find(module + suffix);
        if (it == tensors.end() || it->second->shape_size() != 2)
          continue;
        const auto &shape = it->second->shape();
        const uint64_t inputs = a->shape(1);
        first += shape[0] == inputs && shape[1] != inputs;
        last += shape[1] == inputs && shape[0] != inputs;
      }
    return first > 0 && last == 0;
  }
};

/// The patterns of --lora, which mean the same to PEFT; if one has wildcards, the names of all
/// modules.
static std::set<std::string> targetsOf(const std::string &patterns, const Adapters &adapters) {
  std::set<std::string> targets;
  if (patterns.find_first_of("*?[/") != patterns.npos) {
    for (const auto &[module, a] : adapters.modules)
      targets.insert(module);
    return targets;
  }
  for (size_t begin = 0; begin <= patterns.size();) {
    const size_t end = std::min(patterns.find(',', begin), patterns.size());
    targets.insert(patterns.substr(begin, end - begin));
    begin = end + 1;
  }
  return targets;
}

std::string adapterConfigOf(const proto::Program &program) {
  std::map<std::string, std::string> settings;
  for (const proto::Setting &setting : program.settings())
    settings[setting.name()] = setting.value();
  const Adapters adapters(program);
  double alpha = 0, dropout = 0;
  uint64_t rank = 0;
  if (!settings.count("lora") || !adapters.isAlone || !parseReal(settings["lora-alpha"], alpha) ||
      !parseReal(settings["lora-dropout"], dropout) || !parseInteger(settings["lora-rank"], rank))
    return "";
  JsonWriter json;
  json.object(
      [&] {
        json.member("base_model_name_or_path", "");
        json.member("bias", "none");
        json.member("fan_in_fan_out", adapters.isInputsFirst());
        json.member("inference_mode", true);
        json.member("lora_alpha", alpha);
        json.member("lora_dropout", dropout);
        json.member("peft_type", "LORA");
        json.member("r", rank);
        json.key("target_modules").array([&] {
          for (const std::string &target : targetsOf(settings["lora"], adapters))
            json.value(target);
        });
        json.key("task_type").null();
        json.member("use_rslora", settings["rslora"] == "true");
      },
      JsonWriter::Lines);
  return json.text() + "\n";
}

} // namespace zero::rt
