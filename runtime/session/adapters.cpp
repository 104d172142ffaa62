//===- adapters.cpp - PEFT's description of adapters ----------------------===//

#include "runtime/session/adapters.h"

#include "runtime/format/tables.h"
#include "runtime/support/adapter_names.h"
#include "runtime/support/checked.h"
#include "runtime/support/json_writer.h"

#include <map>
#include <set>

namespace zero::rt {

/// The modules that have adapters, and how their matrices are stored.
struct Adapters {
  std::set<std::string> modules;
  bool isInputsFirst = false;
  bool isAlone = true; ///< nothing else is trained

  explicit Adapters(const proto::Program &program) {
    for (const proto::Tensor &tensor : program.tensors()) {
      isInputsFirst |= tensor.adapter().inputs_first();
      if (!isOfAdapter(tensor.name()))
        isAlone &= tensor.role() != proto::PARAMETER || tensor.frozen();
      else if (const std::string module = moduleOfAdapter(tensor.name()); !module.empty())
        modules.insert(module);
    }
  }
};

/// The patterns of --lora, which mean the same to PEFT; if one has wildcards or stands for all
/// layers, which PEFT takes alone, the names of all modules.
static std::set<std::string> targetsOf(const std::string &patterns, const Adapters &adapters) {
  std::set<std::string> targets;
  if (patterns.find_first_of("*?[/") != patterns.npos ||
      patterns.find("all-linear") != patterns.npos)
    return adapters.modules;
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
        json.member("fan_in_fan_out", adapters.isInputsFirst);
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
        json.member("use_dora", settings["dora"] == "true");
        json.member("use_rslora", settings["rslora"] == "true");
      },
      JsonWriter::Lines);
  return json.text() + "\n";
}

} // namespace zero::rt
