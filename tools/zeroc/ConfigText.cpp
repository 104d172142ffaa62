//===- ConfigText.cpp - what a configuration became -----------------------===//

#include "ConfigText.h"

#include "zero/Import/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace zero {

static std::string textOf(const ConfigSetting &setting) {
  return "--" + setting.flag + "=" + setting.value;
}

static std::string batchText(const Config &config) {
  return "a batch of " + std::to_string(config.getLocalBatch()) + " on each rank";
}

/// The value of a key that is "auto": that of its flag.
static std::string autoText(const Config &config, const Flags &flags, const std::string &name) {
  if (name.empty())
    return config.getLocalBatch() ? batchText(config) : "the batch of the model and the ranks";
  if (std::optional<StringRef> value = config.valueOf(name))
    return ("--" + name + "=" + *value).str();
  const Flag *flag = findFlag(flags, name);
  const std::string fallback = flag ? flag->fallback : "";
  return "no --" + name + (fallback.empty() ? "" : " (" + fallback + ")");
}

void summarizeConfig(const Config &config, const Flags &flags, raw_ostream &os) {
  const auto print = [&os](StringRef what, ArrayRef<std::string> items, StringRef separator) {
    if (!items.empty())
      os << "zeroc: config: " << what << " " << printable(join(items, separator)) << "\n";
  };
  std::vector<std::string> taken, autos;
  for (const ConfigSetting &setting : config.getSettings())
    taken.push_back(textOf(setting));
  if (config.getLocalBatch())
    taken.push_back(batchText(config));
  if (taken.empty())
    taken.push_back("nothing");
  for (const auto &[key, flag] : config.getAutos())
    autos.push_back(key + ": " + autoText(config, flags, flag));
  print("used as", taken, " ");
  print("auto is", autos, ", ");
  print("has no effect in Zero:", config.getIdle(), ", ");
}

/// Keys whose values are what holds without them, or that another key takes the effect of.
static std::vector<std::string> withoutSetting(const Config &config) {
  std::vector<std::string> keys;
  for (const auto &[key, shown] : config.getRead()) {
    const bool isSetting = any_of(config.getSettings(),
                                  [&](const ConfigSetting &setting) { return setting.key == key; });
    if (!isSetting && !config.getAutos().contains(key) &&
        key + "=" + shown != config.getLocalBatchKey())
      keys.push_back(key + "=" + shown);
  }
  return keys;
}

void explainConfig(const Config &config, const Flags &flags, raw_ostream &os) {
  const auto print = [&os](const std::string &key, const std::string &meaning) {
    os << printable(key + ": " + meaning) << "\n";
  };
  for (const ConfigSetting &setting : config.getSettings())
    if (!config.getAutos().contains(setting.key))
      print(setting.key.empty() ? "default of DeepSpeed" : setting.key + "=" + setting.shown,
            textOf(setting));
  if (config.getLocalBatch())
    print(config.getLocalBatchKey(), batchText(config));
  for (const auto &[key, flag] : config.getAutos())
    print(key + "='auto'", autoText(config, flags, flag));
  for (const std::string &key : withoutSetting(config))
    print(key, "no flag, with the other values");
  for (const std::string &key : config.getIdle())
    print(key, "no effect in Zero");
}

} // namespace zero
