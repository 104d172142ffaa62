//===- Readers.cpp - mutated files for the runtime ------------------------===//

#include "Bytes.h"
#include "Fuzz.h"
#include "Reflect.h"

#include "runtime/io/weights_file.h"
#include "runtime/load/program.h"
#include "runtime/load/validate.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace zero::fuzz {

using rt::DType;

/// The rows and steps that are read from accepted data.
static constexpr uint64_t kMostRow = 1 << 16, kSteps = 3;

static constexpr DType kTypes[] = {ZERO_RT_F32, ZERO_RT_F64, ZERO_RT_F16, ZERO_RT_I64,  ZERO_RT_I32,
                                   ZERO_RT_I16, ZERO_RT_U16, ZERO_RT_U8,  ZERO_RT_BOOL, ZERO_RT_I8};

/// Binds `file` to two inputs, whose types and shapes `options` selects, and reads batches.
static rt::Status readBatches(const rt::ArrayFile &file, Random &options) {
  rt::Array array;
  ZERO_RT_TRY(rt::readArray(file, "x", array));
  std::vector<uint64_t> shape = array.shape;
  if (options.oneIn(3))
    shape.assign(1 + options.below(3), 1 + options.below(4));
  if (!shape.empty())
    shape[0] = options.below(6);
  const DType type = options.oneIn(3) ? options.pick(kTypes) : array.dtype;
  rt::DataSet set({{"x", type, shape}, {"labels", type, shape}}, {1 + options.below(3), 1});
  if (options.oneIn(2))
    set.shuffle(7);
  ZERO_RT_TRY(set.bindFile("x", file));
  ZERO_RT_TRY(set.bindFile("labels", file));
  ZERO_RT_TRY(set.prepare());
  uint64_t elements = 0;
  if (!rt::countElements(shape, elements) || elements > kMostRow)
    return {};
  std::vector<uint8_t> batch(elements * rt::sizeOf(type));
  for (uint64_t step = 0; step < kSteps; ++step)
    for (size_t input = 0; input < 2; ++input)
      set.read(input, set.shapeOf(step), step, 0, 0, batch.data());
  return {};
}

static rt::ArrayFile arrayFile(const std::string &path, const std::string &extension,
                               Random &options) {
  rt::ArrayFile file{path, "", ZERO_RT_NO_DTYPE, 0, 0};
  if (extension == "bin")
    file.raw = options.pick(kTypes);
  if (options.oneIn(4))
    file.member = "labels";
  if (options.oneIn(3)) {
    file.skip = options.below(4);
    file.ahead = options.below(4);
  }
  return file;
}

/// The files of a folder of tokens, in the order in which a case has them, each after its size.
static constexpr const char *kDocumentFiles[] = {"tokens.json", "starts.bin", "ids.bin",
                                                 "mask.bin"};

static std::vector<std::string> splitFiles(const std::string &bytes) {
  std::vector<std::string> files;
  size_t at = 0;
  for (size_t i = 0; i < std::size(kDocumentFiles); ++i) {
    uint64_t size = 0;
    std::memcpy(&size, bytes.data() + at, std::min(sizeof(size), bytes.size() - at));
    at = std::min(at + sizeof(size), bytes.size());
    files.push_back(bytes.substr(at, size));
    at += files.back().size();
  }
  return files;
}

static std::string joinFiles(const std::vector<std::string> &files) {
  std::string bytes;
  for (const std::string &file : files) {
    const uint64_t size = file.size();
    bytes.append(reinterpret_cast<const char *>(&size), sizeof(size)).append(file);
  }
  return bytes;
}

/// Reads rows of the documents in `folder`, packed and as long as `options` says.
static rt::Status readDocuments(const std::string &folder, Random &options) {
  const std::vector<uint64_t> shape{1 + options.below(4), options.below(20)};
  const DType type = options.oneIn(3) ? options.pick(kTypes) : ZERO_RT_I64;
  rt::DataSet set({{"input_ids", type, shape}, {"labels", type, shape}, {"positions", type, shape}},
                  {1 + options.below(3), 1});
  static constexpr rt::Packing kPackings[] = {rt::Packing::Off, rt::Packing::Documents,
                                              rt::Packing::Stream};
  set.pack(options.pick(kPackings));
  if (options.oneIn(2))
    set.shuffle(7);
  for (const char *input : {"input_ids", "labels", "positions"})
    ZERO_RT_TRY(set.bindFile(input, {folder, "", ZERO_RT_NO_DTYPE, 0, 0}));
  ZERO_RT_TRY(set.prepare());
  std::vector<uint8_t> batch(shape[0] * shape[1] * rt::sizeOf(type));
  for (uint64_t step = 0; step < kSteps; ++step)
    for (size_t input = 0; input < 3; ++input)
      set.read(input, set.shapeOf(step), step, 0, 0, batch.data());
  return {};
}

/// Opens a file of weights and touches every byte of every tensor.
static rt::Status readWeights(const std::string &path) {
  rt::WeightsFile file;
  ZERO_RT_TRY(rt::WeightsFile::open(path, file));
  uint64_t sum = 0;
  for (const auto &[name, get] : file.tensors()) {
    rt::Array array;
    ZERO_RT_TRY(get(array));
    for (uint8_t byte : array.bytes)
      sum += byte;
  }
  volatile uint64_t kept = sum;
  (void)kept;
  return {};
}

/// Everything except mapping the code.
static rt::Status readProgram(const std::string &path) {
  rt::Executable executable;
  if (std::string error = rt::readExecutable(path, executable); !error.empty())
    return rt::Status(ZERO_RT_BAD_FILE, error);
  ZERO_RT_TRY(rt::validate(executable));
  return rt::makeDataSet(executable.program)->inputsText().empty()
             ? rt::Status(ZERO_RT_BAD_FILE, "no inputs")
             : rt::Status();
}

/// Corrects `file`'s checksum, so that the contents after it are checked.
static void seal(std::string &file) {
  if (file.size() < sizeof(rt::Header))
    return;
  rt::Header header;
  std::memcpy(&header, file.data(), sizeof(header));
  header.fileBytes = file.size();
  header.checksum = 0;
  auto bytesOf = [](const void *start, size_t size) {
    return std::span(static_cast<const uint8_t *>(start), size);
  };
  const uint64_t start = rt::checksum(bytesOf(&header, sizeof(header)), 0);
  header.checksum =
      rt::checksum(bytesOf(file.data() + sizeof(header), file.size() - sizeof(header)), start);
  std::memcpy(file.data(), &header, sizeof(header));
}

namespace {
class ReadersTarget : public Target {
public:
  const char *summary() const override {
    return "Mutates .npy, .npz, raw and .zexe files, files of weights (.weights) and folders of "
           "tokens (.tokens), and reads them as the runtime does.";
  }

  void prepare(const std::string &folder) override { scratch = folder; }

  void addSeed(const Case &seed) override {
    if (seed.extension == "zexe")
      executables.push_back(seed);
    else
      data.push_back(seed);
  }

  Case mutate(Random &random) override {
    if (data.empty() || (!executables.empty() && random.oneIn(2)))
      return mutateExecutable(random.pick(executables), random);
    Case made = random.pick(data);
    made.options = random.below(1024);
    if (made.extension == "tokens")
      return mutateDocuments(made, random);
    // Most errors are in headers.
    std::string head = made.bytes.substr(0, 128), rest = made.bytes.substr(head.size());
    if (random.oneIn(2)) {
      made.extension == "npy" ? mutateText(head, random) : mutateBytes(head, random);
      made.bytes = head + rest;
    } else {
      mutateBytes(made.bytes, random);
    }
    return made;
  }

  Verdict run(const Case &input, const std::string &folder) override {
    const std::string path = folder + "/input." + input.extension;
    writeFile(path, input.bytes);
    Random options(input.options);
    if (input.extension == "tokens") {
      const std::vector<std::string> files = splitFiles(input.bytes);
      for (size_t i = 0; i < files.size(); ++i)
        writeFile(folder + "/" + kDocumentFiles[i], files[i]);
    }
    const rt::Status status = input.extension == "zexe"     ? readProgram(path)
                              : input.extension == "tokens" ? readDocuments(folder, options)
                              : input.extension == "weights"
                                  ? readWeights(path)
                                  : readBatches(arrayFile(path, input.extension, options), options);
    if (!status.ok() && status.getMessage().empty())
      failCase("refused without an error");
    std::fprintf(stderr, "error: %s\n", status.getMessage().c_str());
    return status.ok() ? Verdict::Accepted : Verdict::Refused;
  }

private:
  /// Mutates one or two of the files.
  static Case mutateDocuments(Case made, Random &random) {
    std::vector<std::string> files = splitFiles(made.bytes);
    for (size_t i = 0, count = 1 + random.below(2); i < count; ++i)
      if (const size_t chosen = random.below(files.size()); chosen == 0)
        mutateText(files[chosen], random);
      else
        mutateBytes(files[chosen], random);
    made.bytes = joinFiles(files);
    return made;
  }

  /// Mutates one case in three as bytes, and corrects the checksum in one of three of these.
  /// Mutates fields of the tables in the others.
  Case mutateExecutable(Case made, Random &random) {
    if (random.oneIn(3)) {
      std::string header = made.bytes.substr(0, 128);
      if (random.oneIn(2)) {
        mutateBytes(header, random);
        made.bytes.replace(0, std::min<size_t>(128, made.bytes.size()), header);
      } else {
        mutateBytes(made.bytes, random);
      }
      if (random.oneIn(3))
        return made;
      seal(made.bytes);
      return made;
    }
    const std::string path = scratch + "/seed.zexe";
    writeFile(path, made.bytes);
    rt::Executable executable;
    if (!rt::readExecutable(path, executable).empty())
      return made;
    rt::proto::Program program = executable.program;
    for (size_t i = 0, count = 1 + random.below(3); i < count; ++i)
      mutateMessage(program, {"", "loss", "x"}, random);
    auto text = [](std::span<const uint8_t> bytes) {
      return std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    };
    if (rt::writeExecutable(path, program, text(executable.code), text(executable.data),
                            executable.isa, text(executable.hostCode))
            .empty())
      made.bytes = readFile(path);
    return made;
  }

  std::string scratch;
  std::vector<Case> data, executables;
};
} // namespace

} // namespace zero::fuzz

int main(int argc, char **argv) {
  zero::fuzz::ReadersTarget target;
  return zero::fuzz::runFuzzer(target, argc, argv);
}
