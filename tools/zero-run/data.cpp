//===- data.cpp - bind the files of --data --------------------------------===//

#include "data.h"
#include "runtime/io/document_rows.h"
#include "warnings.h"
#include "zero_rt/evaluation.h"
#include "zero_rt/mixing.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <span>

using namespace zero::rt;

namespace zero::run {

std::vector<zero_rt_value_info> inputsOf(const Executable &executable) {
  std::vector<zero_rt_value_info> inputs;
  zero_rt_value_info info;
  for (size_t i = 0; i < infoOf(executable).inputs; ++i)
    if (zero_rt_executable_input(executable.get(), i, &info).code == ZERO_RT_OK)
      inputs.push_back(info);
  return inputs;
}

bool takesTokens(const zero_rt_value_info &input) {
  return (input.dtype == ZERO_RT_I64 || input.dtype == ZERO_RT_I32) && input.dimensions == 2;
}

zero_rt_data_info infoOf(const Data &data) {
  zero_rt_data_info info{};
  if (data)
    (void)take(zero_rt_data_describe(data.get(), &info));
  return info;
}

namespace {
/// Binds one list of files.
class Binder {
public:
  Binder(const Executable &executable, const char *flag, const std::vector<DataFile> &files,
         const Data &data)
      : inputs(inputsOf(executable)), flag(flag), files(files), data(data) {}

  Status run() {
    const DataFile *tokens = nullptr;
    for (const DataFile &file : files)
      if (!tokens && (isTokens(file) || isWholeFolder(file)))
        tokens = &file; // when it is known which inputs have data of their own
      else
        ZERO_RT_TRY(file.input.empty() ? bindArchive(file) : bind(file, file.input));
    return !tokens ? Status() : isWholeFolder(*tokens) ? bindFolder(*tokens) : bindTokens(*tokens);
  }
  /// What tokens=FILE was taken to mean; empty without it.
  const std::string &tokensNote() const { return note; }

private:
  bool isTokens(const DataFile &file) const;
  bool isWholeFolder(const DataFile &file) const {
    return (file.input.empty() || isTokens(file)) && isDocumentFolder(file.path);
  }
  Status bind(const DataFile &file, const std::string &input);
  Status bindArchive(DataFile file);
  Status bindFolder(const DataFile &file);
  Status bindTokens(DataFile file);
  std::vector<zero_rt_value_info> tokenInputs() const;

  std::vector<zero_rt_value_info> inputs;
  const char *flag;
  const std::vector<DataFile> &files;
  const Data &data;
  std::set<std::string> bound;
  std::string note;
};
} // namespace

/// Whether tokens=FILE means the model's token inputs rather than one called so: a raw
/// file, or one for a model without such an input.
bool Binder::isTokens(const DataFile &file) const {
  bool isInput = std::any_of(inputs.begin(), inputs.end(),
                             [](const auto &input) { return input.name == std::string("tokens"); });
  return file.input == "tokens" && file.skip == 0 && file.member.empty() &&
         (file.raw != ZERO_RT_NO_DTYPE || !isInput);
}

Status Binder::bind(const DataFile &file, const std::string &input) {
  zero_rt_data_file from{file.path.c_str(), file.member.empty() ? nullptr : file.member.c_str(),
                         file.raw, file.skip, file.ahead};
  ZERO_RT_TRY(take(zero_rt_data_bind_file(data.get(), input.c_str(), &from)));
  if (!bound.insert(input).second)
    return fail(ZERO_RT_INVALID_ARGUMENT, "%s gives input '%s' data twice", flag,
                escape(input).c_str());
  return {};
}

/// Binds an archive to all inputs that it has members for; at least one.
Status Binder::bindArchive(DataFile file) {
  size_t found = 0;
  Status missing;
  for (const zero_rt_value_info &input : inputs)
    for (const std::string &member :
         {std::string(input.name), std::string("input.") + input.name}) {
      file.member = member;
      Status status = bind(file, input.name);
      if (status.ok()) {
        ++found;
        break;
      }
      if (status.getCode() != ZERO_RT_NOT_FOUND)
        return status;
      missing = status;
    }
  return found ? Status()
               : fail(missing.getCode(), "no member is named like an input: %s",
                      missing.getMessage().c_str());
}

/// Binds a folder of documents to all inputs without other data; what each reads of it follows from
/// its name.
Status Binder::bindFolder(const DataFile &file) {
  for (const zero_rt_value_info &input : inputs)
    if (!bound.count(input.name)) {
      ZERO_RT_TRY(bind(file, input.name));
      std::string part;
      ZERO_RT_TRY(describeDocumentPart(file.path, input.name, part));
      note += format("%s'%s' = %s:%s", note.empty() ? "" : ", ", escape(input.name).c_str(),
                     escape(file.path).c_str(), part.c_str());
    }
  if (note.empty())
    return fail(ZERO_RT_INVALID_ARGUMENT, "%s %s: all inputs have other data", flag,
                escape(file.path).c_str());
  return {};
}

/// Which of two inputs the labels are: its name says so, or it stands behind the other.
static bool isLabels(const zero_rt_value_info &input) {
  std::string name = input.name;
  std::transform(name.begin(), name.end(), name.begin(), ::tolower);
  return name.find("label") != std::string::npos || name.find("target") != std::string::npos ||
         name == "y";
}

/// The inputs that tokens=FILE may mean, token ids before labels.
std::vector<zero_rt_value_info> Binder::tokenInputs() const {
  auto placeOf = [](const zero_rt_value_info &input) {
    return input.name == std::string("tokens") ? 0 : isLabels(input) ? 2 : 1;
  };
  std::vector<zero_rt_value_info> found;
  for (int place = 0; place < 3; ++place)
    for (const zero_rt_value_info &input : inputs)
      if (takesTokens(input) && !bound.count(input.name) && placeOf(input) == place)
        found.push_back(input);
  return found;
}

/// --data tokens=FILE: the token ids and, if there is another such input, their
/// successors, whatever the two are called.
Status Binder::bindTokens(DataFile file) {
  const std::vector<zero_rt_value_info> found = tokenInputs();
  const bool isPair =
      found.size() == 2 && std::equal(found[0].shape, found[0].shape + 2, found[1].shape);
  if (!isPair && found.size() != 1) {
    std::string names, path = escape(file.path);
    for (const zero_rt_value_info &input : found)
      names += format("%s'%s' %s", names.empty() ? "" : ", ", escape(input.name).c_str(),
                      shapeText({input.shape, input.dimensions}).c_str());
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "%s tokens=FILE is for two integer inputs of one shape [batch, sequence] without "
                "other data, got %s; name them: %s NAME=%s,NAME=%s+1",
                flag, names.empty() ? "none" : names.c_str(), flag, path.c_str(), path.c_str());
  }
  file.ahead = found.size() - 1;
  for (file.skip = 0; file.skip < found.size(); ++file.skip) {
    ZERO_RT_TRY(bind(file, found[file.skip].name));
    note += format("%s'%s' = %s%s", note.empty() ? "" : ", ", escape(found[file.skip].name).c_str(),
                   escape(file.path).c_str(), file.skip ? "+1" : "");
  }
  return {};
}

static std::string documentsText(const zero_rt_documents_info &info) {
  const auto number = [](uint64_t count) { return static_cast<unsigned long long>(count); };
  const double all = double(info.rows) * double(info.row_tokens);
  return format("%llu documents in %llu rows of %llu tokens, %.1f %% full", number(info.documents),
                number(info.rows), number(info.row_tokens), 100 * double(info.tokens) / all);
}

static constexpr const char *kPackings[] = {"off", "documents", "stream"};

std::string packingName(zero_rt_packing packing) { return kPackings[packing]; }

zero_rt_packing packingNamed(const std::string &word) {
  return static_cast<zero_rt_packing>(std::ranges::find(kPackings, word) - kPackings);
}

/// Makes data without samples.
static Status create(const Executable &executable, const DataUse &use, Data &data) {
  zero_rt_data *made = nullptr;
  ZERO_RT_TRY(take(zero_rt_data_create(executable.get(), &made)));
  data.reset(made);
  ZERO_RT_TRY(take(zero_rt_data_pack(data.get(), use.packing)));
  if (!use.trains)
    zero_rt_data_for_evaluations(data.get());
  return {};
}

/// Binds files that have all inputs of all samples.
static Status bindFiles(const Executable &executable, const DataUse &use,
                        const std::vector<DataFile> &files, bool quiet, const Data &data) {
  Binder binder(executable, use.flag, files, data);
  ZERO_RT_TRY(binder.run());
  if (!quiet && !binder.tokensNote().empty())
    std::printf("%s %s\n", use.flag, binder.tokensNote().c_str());
  zero_rt_documents_info documents;
  ZERO_RT_TRY(take(zero_rt_data_describe_documents(data.get(), &documents)));
  if (!quiet && documents.documents > 0)
    std::printf("%s %s\n", use.flag, documentsText(documents).c_str());
  return {};
}

/// Adds folders to `data`, one behind the other. An error names the folder.
static Status addShards(const Executable &executable, const DataUse &use,
                        std::span<const DataFile> shards, bool quiet, const Data &data) {
  for (const DataFile &shard : shards) {
    Data part;
    ZERO_RT_TRY(create(executable, use, part));
    zero_rt_data_info info;
    Status status = bindFiles(executable, use, {shard}, quiet, part);
    if (status.ok())
      status = take(zero_rt_data_describe(part.get(), &info));
    if (!status.ok())
      return fail(status.getCode(), "%s %s: %s", use.flag, escape(shard.path).c_str(),
                  status.getMessage().c_str());
    ZERO_RT_TRY(take(zero_rt_data_add_part(data.get(), part.get(), 0)));
  }
  return {};
}

/// The folders of a mixture, each with its shards.
static std::vector<std::span<const DataFile>> foldersOf(const std::vector<DataFile> &files) {
  std::vector<std::span<const DataFile>> folders;
  const std::span<const DataFile> all(files);
  for (size_t begin = 0, end; begin < all.size(); begin = end) {
    for (end = begin + 1; end < all.size() && all[end].group == all[begin].group;)
      ++end;
    folders.push_back(all.subspan(begin, end - begin));
  }
  return folders;
}

/// Adds each folder of a mixture to `data`, with all of its shards.
static Status addMixture(const Executable &executable, const DataUse &use,
                         const std::vector<DataFile> &files, bool quiet, const Data &data) {
  double sum = 0;
  for (const std::span<const DataFile> folder : foldersOf(files))
    sum += folder.front().weight;
  for (const std::span<const DataFile> folder : foldersOf(files)) {
    Data part;
    ZERO_RT_TRY(create(executable, use, part));
    ZERO_RT_TRY(addShards(executable, use, folder, quiet, part));
    zero_rt_data_info info;
    ZERO_RT_TRY(take(zero_rt_data_describe(part.get(), &info)));
    if (!quiet)
      std::printf("%s %s: %.2f %% of the samples, from %llu\n", use.flag,
                  escape(folder.front().group).c_str(), 100 * folder.front().weight / sum,
                  static_cast<unsigned long long>(info.samples));
    ZERO_RT_TRY(take(zero_rt_data_add_part(data.get(), part.get(), folder.front().weight)));
  }
  return {};
}

/// Binds files, or adds the folders that are parts.
static Status bindAll(const Executable &executable, const DataUse &use,
                      const std::vector<DataFile> &files, bool quiet, const Data &data) {
  const auto isPart = [](const DataFile &file) { return !file.group.empty(); };
  const auto hasWeight = [](const DataFile &file) { return file.weight > 0; };
  if (std::ranges::none_of(files, isPart))
    return bindFiles(executable, use, files, quiet, data);
  const bool isMixture = std::ranges::any_of(files, hasWeight);
  if (!std::ranges::all_of(files, isPart) || (isMixture && !std::ranges::all_of(files, hasWeight)))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "%s: expected folders that give all inputs, each with a weight or none with one, "
                "got other data beside them",
                use.flag);
  if (isMixture && !use.trains)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "%s takes no weights: an evaluation counts each sample once", use.flag);
  return isMixture ? addMixture(executable, use, files, quiet, data)
                   : addShards(executable, use, files, quiet, data);
}

Status openData(const Executable &executable, const DataUse &use,
                const std::vector<DataFile> &files, bool quiet, bool warns, Data &data) {
  ZERO_RT_TRY(create(executable, use, data));
  ZERO_RT_TRY(bindAll(executable, use, files, quiet, data));
  std::fflush(stdout); // before anything on stderr
  zero_rt_data_info info;
  ZERO_RT_TRY(take(zero_rt_data_describe(data.get(), &info)));
  while (const char *warning = zero_rt_data_next_warning(data.get()))
    if (warns)
      warn(warning);
  return {};
}

} // namespace zero::run
