//===- alike.cpp - what all processes of a run have alike -----------------===//

#include "alike.h"

#include "data.h"

#include "runtime/io/documents.h"
#include "runtime/processes/fields.h"
#include "runtime/processes/secret.h"
#include "runtime/support/file.h"

#include <algorithm>

using namespace zero::rt;

namespace zero::run {

namespace {
/// A value of an option, as text.
struct Setting {
  std::string option, value;
};
using Settings = std::vector<Setting>;
} // namespace

static std::string textOf(const std::optional<uint64_t> &count) {
  return count ? std::to_string(*count) : "no value";
}
static std::string textOf(bool isSet) { return isSet ? "this option" : "no such option"; }

/// The beginning of a file, its end and blocks between them: where headers are, and where files of
/// one length differ if they have other content.
static Status sampleFile(const InputFile &file, std::string &digest) {
  constexpr uint64_t kHead = 64 << 10, kBlock = 4 << 10, kBlocks = 64;
  std::string bytes;
  const auto add = [&](uint64_t offset, uint64_t count) -> Status {
    count = std::min(count, file.size() - offset);
    const size_t before = bytes.size();
    bytes.resize(before + count);
    return file.read(offset, bytes.data() + before, count);
  };
  ZERO_RT_TRY(add(0, kHead));
  for (uint64_t block = 1; block <= kBlocks && file.size() > kHead; ++block)
    ZERO_RT_TRY(add((file.size() - kBlock) / kBlocks * block, kBlock));
  digest = digestText(bytes);
  return {};
}

/// "1200 bytes with the digest 0123..."; of what is no file, that it is none: it is named later.
static std::string contentOf(const std::string &path, bool verifies) {
  InputFile file;
  std::string digest;
  if (!InputFile::open(path, file).ok() ||
      !(verifies ? digestFile(path, digest) : sampleFile(file, digest)).ok())
    return "no file that can be read";
  return format("%llu bytes with the digest %s", static_cast<unsigned long long>(file.size()),
                digest.c_str());
}

/// The same of all files of a folder of documents.
static std::string contentOfData(const std::string &path, bool verifies) {
  if (!isDocumentFolder(path))
    return contentOf(path, verifies);
  std::string text;
  for (const std::string &file : documentFiles(path))
    text += (text.empty() ? "" : ", ") + contentOf(file, verifies);
  return text;
}

static void addFiles(const char *option, const std::vector<DataFile> &files, bool verifies,
                     Settings &settings) {
  for (const DataFile &file : files) {
    const std::string where = format(
        "%s%s%s", file.member.empty() ? "" : ":", file.member.c_str(),
        file.skip ? format("+%llu", static_cast<unsigned long long>(file.skip)).c_str() : "");
    const std::string weight = file.weight > 0 ? format(", weight %.9g", file.weight) : "";
    settings.push_back({format("%s %s", option, file.input.c_str()),
                        contentOfData(file.path, verifies) + where + weight +
                            (file.raw == ZERO_RT_NO_DTYPE ? "" : format(", type %d", file.raw))});
  }
}

/// In the order in which differences are reported.
static Settings settingsOf(const Options &options) {
  const bool verifies = options.verifyData;
  Settings settings = {
      {"--steps", textOf(options.steps)},
      {"--epochs", textOf(options.epochs)},
      {"--lr", options.learningRate ? format("%.9g", double(*options.learningRate)) : "no value"},
      {"--shuffle", textOf(options.shuffleSeed)},
      {"--shuffle-window", textOf(options.shuffleWindow)},
      {"--pack", packingName(options.choosePacking())},
      {"--allow-nan", textOf(options.session.allow_nan != 0)},
      {"--eval-every", textOf(options.evalEvery)},
      {"--patience", textOf(options.patience)},
      {"--eval-steps", textOf(options.evalSteps)},
      {"--save-state", textOf(!options.saveState.empty())},
      {"--save-every", textOf(options.saveEvery)},
      {"--save-async", nameOf(options.saveAsync)},
      {"--local-state", textOf(options.session.local_state != 0)},
      {"--resume", textOf(!options.resume.empty())},
      {"--resume-if-any", textOf(options.resumeIfAny)},
      {"--restart-data", textOf(options.restartData)},
      {"--partial-weights", textOf(options.partialWeights)},
      {"--verify-data", textOf(verifies)},
  };
  addFiles("--data", options.data, verifies, settings);
  addFiles("--eval-data", options.evalData, verifies, settings);
  if (!options.weights.empty())
    settings.push_back({"--weights", contentOf(options.weights, verifies)});
  return settings;
}

static std::string encode(const Settings &settings) {
  std::string text;
  for (const Setting &each : settings) {
    append(text, each.option);
    append(text, each.value);
  }
  return text;
}

static Settings decode(const std::string &text) {
  Settings settings;
  Fields fields(text);
  while (fields.isOk() && !fields.isAtEnd()) {
    const std::string option(fields.text());
    settings.push_back({option, std::string(fields.text())});
  }
  return settings;
}

static std::string valueIn(const Settings &settings, const std::string &option) {
  const auto found = std::ranges::find(settings, option, &Setting::option);
  return found == settings.end() ? "no such option" : found->value;
}

/// The first option of which two processes have other values; empty: none.
static std::string differenceOf(const Settings &first, const Settings &other) {
  for (const Settings *each : {&first, &other})
    for (const Setting &setting : *each)
      if (valueIn(first, setting.option) != valueIn(other, setting.option))
        return setting.option;
  return {};
}

Status checkAlike(const Options &options, const Job &job) {
  if (!job.isOneOfMany())
    return {};
  std::vector<std::string> all;
  ZERO_RT_TRY(job.gatherTexts("options of the run", encode(settingsOf(options)), all));
  const Settings first = decode(all.front());
  for (size_t process = 1; process < all.size(); ++process) {
    const Settings other = decode(all[process]);
    const std::string option = differenceOf(first, other);
    if (!option.empty())
      return rt::fail(ZERO_RT_INVALID_ARGUMENT,
                      "%s: %s has %s, and %s has %s: start all processes alike",
                      escape(option).c_str(), job.nameOf(int(process)).c_str(),
                      escape(valueIn(other, option)).c_str(), job.nameOf(0).c_str(),
                      escape(valueIn(first, option)).c_str());
  }
  return {};
}

} // namespace zero::run
