//===- Keys.cpp - typed access to the keys of a JSON object ---------------===//

#include "Keys.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace zero::hf {

static constexpr unsigned kMaxDepth = 64;
/// Values are cut to this length in messages.
static constexpr size_t kShownLength = 80;

/// Whether lists and objects are nested at most kMaxDepth deep: the parser recurs.
static bool isShallow(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"')
      inString = !inString;
    else if (inString && c == '\\')
      ++at;
    else if (!inString && (c == '[' || c == '{') && ++depth > kMaxDepth)
      return false;
    else if (!inString && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return true;
}

Expected<json::Object> readObject(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError(buffer.getError(), buffer.getError().message());
  if (!isShallow((*buffer)->getBuffer()))
    return createStringError("expected lists and objects nested at most " + Twine(kMaxDepth) +
                             " deep");
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value)
    return value.takeError();
  if (!value->getAsObject())
    return createStringError("expected an object");
  return std::move(*value->getAsObject());
}

void Keys::addDefault(StringRef key, json::Value value) {
  object.try_emplace(key.str(), std::move(value));
}

void Keys::rename(StringRef from, StringRef to) {
  const json::Value *own = object.get(from), *other = object.get(to);
  if (other && (!own || *own != *other))
    refuse(to, "this as the value of '" + from + "', which is its name here");
  if (own)
    object[to.str()] = json::Value(*own);
  object.erase(from);
}

const json::Value *Keys::find(StringRef key) const {
  const json::Value *value = object.get(key);
  return value && value->kind() != json::Value::Null ? value : nullptr;
}

bool Keys::has(StringRef key) const { return find(key) != nullptr; }

mlir::InFlightDiagnostic Keys::fail(StringRef key) {
  ++errors;
  std::string shown = "no value";
  if (const json::Value *value = object.get(key))
    shown = formatv("{0}", *value).str();
  if (shown.size() > kShownLength)
    shown = shown.substr(0, kShownLength) + "...";
  return mlir::emitError(loc) << "key '" << prefix << key << "' = " << shown << ": ";
}

void Keys::refuse(StringRef key, const Twine &expected) { fail(key) << "expected " << expected; }

int64_t Keys::size(StringRef key, int64_t fallback) {
  int64_t value = integer(key, fallback);
  if (value > 0 && value < kMaxSize)
    return value;
  refuse(key, "a positive integer below 2^28");
  return 1;
}

template <typename T>
T Keys::read(StringRef key, T fallback, std::optional<T> (*get)(const json::Value &),
             const char *kind) {
  const json::Value *value = find(key);
  if (!value)
    return fallback;
  if (std::optional<T> found = get(*value))
    return std::move(*found);
  refuse(key, kind);
  return fallback;
}

template <typename T>
std::vector<T> Keys::readList(StringRef key, std::optional<T> (*get)(const json::Value &),
                              const char *kind) {
  std::vector<T> elements;
  const json::Value *value = find(key);
  const json::Array *list = value ? value->getAsArray() : nullptr;
  for (const json::Value &element : list ? *list : json::Array())
    if (std::optional<T> found = get(element))
      elements.push_back(std::move(*found));
  if (value && (!list || elements.size() != list->size()))
    refuse(key, kind);
  return elements;
}

static std::optional<int64_t> asInteger(const json::Value &value) { return value.getAsInteger(); }
static std::optional<double> asNumber(const json::Value &value) { return value.getAsNumber(); }
static std::optional<bool> asFlag(const json::Value &value) { return value.getAsBoolean(); }
static std::optional<std::string> asText(const json::Value &value) {
  auto text = value.getAsString();
  return text ? std::optional(text->str()) : std::nullopt;
}

int64_t Keys::integer(StringRef key, int64_t fallback) {
  return read(key, fallback, asInteger, "an integer");
}

double Keys::number(StringRef key, double fallback) {
  return read(key, fallback, asNumber, "a number");
}

bool Keys::flag(StringRef key, bool fallback) {
  return read(key, fallback, asFlag, "true or false");
}

std::string Keys::text(StringRef key, StringRef fallback) {
  return read(key, fallback.str(), asText, "a text");
}

std::vector<double> Keys::numbers(StringRef key) {
  return readList(key, asNumber, "a list of numbers");
}

std::vector<std::string> Keys::texts(StringRef key) {
  return readList(key, asText, "a list of texts");
}

const json::Object *Keys::dictionary(StringRef key) {
  const json::Value *value = find(key);
  if (value && !value->getAsObject())
    refuse(key, "a dictionary");
  return value ? value->getAsObject() : nullptr;
}

void Keys::refuseOthers(function_ref<bool(StringRef)> isKnown, StringRef owner) {
  std::vector<std::string> others;
  for (const auto &[key, value] : object)
    if (!isKnown(key) && value != json::Value(nullptr) && value != json::Value(false))
      others.push_back(key.str());
  sort(others);
  for (const std::string &key : others)
    fail(key) << "this key is not known in " << owner
              << "; remove it if it has no effect on training";
}

} // namespace zero::hf
