//===- algorithm_table.cpp - chosen algorithms of products ----------------===//

#include "runtime/device/cuda/algorithm_table.h"

#include "runtime/support/file.h"
#include "runtime/support/json_reader.h"
#include "runtime/support/json_writer.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <unistd.h>

namespace zero::rt::cuda {

static constexpr char kFormat[] = "zero-gpu-algorithms-1";
/// A product takes about 500 bytes.
static constexpr uint64_t kMostBytes = uint64_t(16) << 20;

AlgorithmTable::AlgorithmTable(const Gpu &gpu, const BlasLibrary &library)
    : target{gpu.name(), uint64_t(gpu.architecture()), library.cublasLtGetVersion(),
             uint64_t(gpu.driver().version())} {}

std::string AlgorithmTable::Target::text() const {
  return format("GPU '%s' (sm_%llu) and cuBLASLt %llu", escape(gpu).c_str(),
                static_cast<unsigned long long>(architecture),
                static_cast<unsigned long long>(library));
}

const ChosenAlgorithm *AlgorithmTable::find(const std::string &product) const {
  auto found = all.find(product);
  return found == all.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Bytes of an algorithm
//===----------------------------------------------------------------------===//

static constexpr char kDigits[] = "0123456789abcdef";

static std::string hexOf(const BlasAlgorithm &algorithm) {
  uint8_t bytes[sizeof(algorithm)];
  std::memcpy(bytes, &algorithm, sizeof(bytes));
  std::string text;
  for (uint8_t byte : bytes)
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

static bool parseHex(const std::string &text, BlasAlgorithm &algorithm) {
  uint8_t bytes[sizeof(algorithm)] = {};
  if (text.size() != 2 * sizeof(bytes) || text.find_first_not_of(kDigits) != text.npos)
    return false;
  for (size_t i = 0; i < text.size(); ++i)
    bytes[i / 2] = uint8_t(bytes[i / 2] << 4 | std::string_view(kDigits).find(text[i]));
  std::memcpy(&algorithm, bytes, sizeof(bytes));
  return true;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// What a text has.
struct AlgorithmTable::File {
  explicit File(std::string_view text) : reader(text) {}

  /// False if the text is something else.
  bool take() {
    auto takeMember = [&](const std::string &key) {
      return key == "format"         ? reader.takeString(format)
             : key == "gpu"          ? reader.takeString(target.gpu)
             : key == "architecture" ? reader.takeInteger(target.architecture)
             : key == "cublaslt"     ? reader.takeInteger(target.library)
             : key == "driver"       ? reader.takeInteger(target.driver)
             : key == "products"     ? reader.takeList([&] { return takeProduct(); })
                                     : false;
    };
    return reader.takeObject(takeMember) && reader.isAtEnd() && format == kFormat;
  }
  bool takeProduct() {
    std::string product, algorithm;
    ChosenAlgorithm chosen;
    auto takeMember = [&](const std::string &key) {
      return key == "product"             ? reader.takeString(product)
             : key == "algorithm"         ? reader.takeString(algorithm)
             : key == "nanoseconds"       ? reader.takeInteger(chosen.nanoseconds)
             : key == "first_nanoseconds" ? reader.takeInteger(chosen.firstNanoseconds)
                                          : false;
    };
    return reader.takeObject(takeMember) && parseHex(algorithm, chosen.algorithm) &&
           products.emplace(product, chosen).second;
  }

  JsonReader reader;
  std::string format;
  Target target;
  std::map<std::string, ChosenAlgorithm> products;
};

Status AlgorithmTable::parse(std::string_view text, const std::string &source) {
  File file(text);
  if (!file.take())
    return fail(ZERO_RT_BAD_FILE,
                "%s: expected algorithms of products (%s), got something else at byte %zu",
                source.c_str(), kFormat, file.reader.position());
  const std::string theirs = file.target.text(), own = target.text();
  if (theirs != own)
    return fail(ZERO_RT_UNSUPPORTED, "%s: expected algorithms for %s, got those for %s",
                source.c_str(), own.c_str(), theirs.c_str());
  all.merge(file.products);
  return {};
}

Status AlgorithmTable::read(const std::string &path) {
  if (::access(path.c_str(), F_OK) != 0)
    return {};
  InputFile file;
  ZERO_RT_TRY(InputFile::open(path, file));
  const std::string source = format("'%s'", escape(path).c_str());
  if (file.size() > kMostBytes)
    return fail(ZERO_RT_BAD_FILE, "%s: expected at most %llu bytes, got %llu", source.c_str(),
                static_cast<unsigned long long>(kMostBytes),
                static_cast<unsigned long long>(file.size()));
  std::string text(file.size(), '\0');
  ZERO_RT_TRY(file.read(0, text.data(), text.size()));
  return parse(text, source);
}

std::string AlgorithmTable::fileName() const {
  std::string gpu = target.gpu;
  std::ranges::replace_if(gpu, [](unsigned char each) { return !std::isalnum(each); }, '-');
  return format("gpu-algorithms-%s-sm_%llu-cublaslt-%llu.json", gpu.c_str(),
                static_cast<unsigned long long>(target.architecture),
                static_cast<unsigned long long>(target.library));
}

std::string AlgorithmTable::text() const {
  JsonWriter json;
  auto writeProducts = [&] {
    for (const auto &[product, chosen] : all)
      json.object([&] {
        json.member("product", product);
        json.member("algorithm", hexOf(chosen.algorithm));
        json.member("nanoseconds", chosen.nanoseconds);
        json.member("first_nanoseconds", chosen.firstNanoseconds);
      });
  };
  json.object(
      [&] {
        json.member("format", kFormat);
        json.member("gpu", target.gpu);
        json.member("architecture", target.architecture);
        json.member("cublaslt", target.library);
        json.member("driver", target.driver);
        json.key("products").array(writeProducts, JsonWriter::Lines);
      },
      JsonWriter::Lines);
  return json.text() + "\n";
}

} // namespace zero::rt::cuda
