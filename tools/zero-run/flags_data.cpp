//===- flags_data.cpp - flags of training and evaluation data -------------===//

#include "data.h"
#include "flags.h"

#include "runtime/io/documents.h"
#include "runtime/support/checked.h"
#include "runtime/support/dtype.h"

using namespace zero::rt;

namespace zero::run {

/// The items of a list; "\," is a comma inside one.
static std::vector<std::string> splitItems(const std::string &text) {
  std::vector<std::string> items(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\,") == 0)
      items.back() += text[++i];
    else if (text[i] == ',')
      items.emplace_back();
    else
      items.back() += text[i];
  }
  return items;
}

/// Removes "+N" from the end if the rest looks like a file that can be split.
static Status takeSkip(std::string &text, DataFile &file) {
  size_t plus = text.rfind('+');
  if (plus == std::string::npos || plus + 1 == text.size() ||
      text.find_first_not_of("0123456789", plus + 1) != std::string::npos)
    return {};
  std::string rest = text.substr(0, plus);
  if (!rest.ends_with(".bin") && !rest.ends_with(".npy") && !rest.ends_with(".npz") &&
      rest.find(':') == std::string::npos)
    return {};
  ZERO_RT_TRY(parseCount(text.substr(plus + 1), file.skip));
  text = rest;
  return {};
}

/// Removes ":PART" after a folder of documents.
static bool takePart(std::string &text, DataFile &file) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || !isDocumentFolder(text.substr(0, colon)))
    return false;
  file.member = text.substr(colon + 1);
  text.resize(colon);
  return true;
}

/// Removes ":MEMBER" or ":TYPE"; a .bin file without a type has uint16, as in nanoGPT.
static Status takeSuffix(std::string &text, DataFile &file) {
  if (size_t colon = text.rfind(".npz:"); colon != std::string::npos) {
    file.member = text.substr(colon + 5);
    text.resize(colon + 4);
    return file.member.empty() ? expected("a member after 'npz:'", text + ":") : Status();
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    file.raw = text.ends_with(".bin") ? ZERO_RT_U16 : ZERO_RT_NO_DTYPE;
    return {};
  }
  file.raw = dtypeNamed(text.substr(colon + 1));
  if (file.raw == ZERO_RT_NO_DTYPE && text.substr(0, colon).ends_with(".bin"))
    return expected("an element type like uint16, int32 or float32 after '.bin:'",
                    text.substr(colon + 1));
  if (file.raw != ZERO_RT_NO_DTYPE)
    text.resize(colon);
  return {};
}

/// Removes an optional "NAME=" from the front; "\\=" is an equals sign of the name.
static bool takeName(std::string &text, std::string &name) {
  std::string taken;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '=') {
      name = std::move(taken);
      text.erase(0, i + 1);
      return true;
    }
    if (text.compare(i, 2, "\\=") == 0)
      ++i;
    taken += text[i];
  }
  return false;
}

/// Reads FOLDER=WEIGHT, a part of a mixture.
static bool takeWeight(const std::string &text, DataFile &file) {
  if (!isDocumentFolder(file.input) || !parseReal(text, file.weight))
    return false;
  file.path = file.group = std::move(file.input);
  file.input.clear();
  return true;
}

static Status parseFile(const std::string &item, DataFile &file) {
  std::string text = item;
  if (takeName(text, file.input) && file.input.empty())
    return expected("an input's name before '='", item);
  if (takeWeight(text, file))
    return file.weight > 0 ? Status() : expected("a weight above 0 after '='", item);
  ZERO_RT_TRY(takeSkip(text, file));
  if (!takePart(text, file) && !isDocumentFolder(text)) {
    ZERO_RT_TRY(takeSuffix(text, file));
    ZERO_RT_TRY(takeSkip(text, file)); // +1:uint16 is the same as :uint16+1
  }
  file.path = text;
  const bool isWhole = file.skip == 0 && file.member.empty();
  const bool isForAll = isWhole && (text.ends_with(".npz") || isDocumentFolder(text));
  if (text.empty() || (file.input.empty() && !isForAll))
    return expected("NAME=FILE, FILE.npz or a folder of tokens", item);
  return {};
}

/// Adds a file, or all shards of a folder.
static Status add(DataFile file, std::vector<DataFile> &files) {
  const std::vector<std::string> shards = documentShards(file.path);
  if (shards.empty()) {
    files.push_back(std::move(file));
    return {};
  }
  if (!file.input.empty() || !file.member.empty())
    return expected("FOLDER alone, because it has shards, which give all inputs", file.path);
  file.group = file.path;
  for (const std::string &shard : shards) {
    file.path = shard;
    files.push_back(file);
  }
  return {};
}

static Setter toFiles(std::vector<DataFile> &files) {
  return [&files](const std::string &text) {
    for (const std::string &item : splitItems(text)) {
      DataFile file;
      ZERO_RT_TRY(parseFile(item, file));
      ZERO_RT_TRY(add(std::move(file), files));
    }
    return Status();
  };
}

Flags dataFlags(Options &options) {
  return {
      Flag{"Data", "data", "NAME=FILE,...",
           "training data of each input; one row is one sample; may be repeated\n"
           "FILE.npy          an array\n"
           "FILE.npz[:MEMBER] the member NAME or input.NAME, or MEMBER\n"
           "FILE.bin[:TYPE]   elements without a header (uint16), split into rows\n"
           "FILE+K            split from element K on: labels=train.bin+1\n"
           "FOLDER[:PART]     documents of `python -m zero tokenize`, or a part of them;\n"
           "                  or a folder of such folders: one after the other\n"
           "FOLDER=WEIGHT,... a mixture: each folder has its share of the samples\n"
           "tokens=FILE.bin alone supplies both integer inputs of the model:\n"
           "token ids, and labels shifted by one. FOLDER alone supplies all inputs\n"
           "that have no other data, by their names. FILE.npz alone supplies all\n"
           "inputs that it has members for. A comma in a name is written \\,\n"
           "and an equals sign in the name of an input \\=",
           toFiles(options.data), /*with=*/"", /*repeats=*/true}
          .inShort("Data", ".npy, .npz or .bin file of each input, or a folder"),
      Flag{"Data", "pack", "off|documents|stream",
           "which documents of a folder share a row: none, several whole ones that fill\n"
           "it, or all of them one after the other. The model must know where they\n"
           "begin, as with --documents",
           [&options](const std::string &text) {
             options.packing = packingNamed(text);
             return Status();
           }}
          .oneOfWords()
          .orElse("off; documents with --documents"),
      Flag{"Data", "shuffle", "SEED", "shuffle the samples, with a different order in each epoch",
           toCount(options.shuffleSeed)}
          .inShort("Data", "shuffle the samples of each epoch"),
      {"Data", "shuffle-window", "N",
       "shuffle within windows of N samples, so that files larger than memory are\n"
       "read nearly in their order",
       toCount(options.shuffleWindow), "shuffle"},
      Flag{"Data", "eval-data", "NAME=FILE,...",
           "held-out data, in the form of --data: compute its loss, forward only,\n"
           "at the end; does not affect training",
           toFiles(options.evalData), /*with=*/"", /*repeats=*/true}
          .inShort("Data", "compute the loss of held-out data (--eval-every=K)"),
      {"Data", "eval-every", "K", "evaluate also after every K steps", toCount(options.evalEvery)},
      Flag{"Data", "eval-steps", "M", "evaluate only the first M global batches",
           toCount(options.evalSteps)}
          .orElse("all"),
      {"Data", "eval-ema", "",
       "evaluate with the averages of parameters that --ema keeps, in their place",
       toSwitch(options.evaluatesAverages), "eval-data"},
      {"Data", "verify-data", "",
       "several processes compare all bytes of their data and weights before the\n"
       "first step (their sizes and blocks of them)",
       toSwitch(options.verifyData)},
  };
}

} // namespace zero::run
