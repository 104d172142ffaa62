//===- npy.cpp - NumPy's array format -------------------------------------===//

#include "runtime/io/npy.h"

#include "runtime/support/checked.h"

#include <cstring>
#include <string_view>

namespace zero::rt {

static constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
static constexpr size_t kLongestHeader = 10000; // as in NumPy

/// The Python literal of a header, read left to right.
namespace {
class Literal {
public:
  explicit Literal(std::string_view text) : text(text) {}

  bool take(char c) {
    skipSpace();
    if (text.empty() || text.front() != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  bool takeWord(std::string_view word) {
    skipSpace();
    if (!text.starts_with(word))
      return false;
    text.remove_prefix(word.size());
    return true;
  }
  bool takeString(std::string &value) {
    skipSpace();
    if (text.empty() || (text.front() != '\'' && text.front() != '"'))
      return false;
    size_t end = text.find(text.front(), 1);
    if (end == std::string_view::npos)
      return false;
    value = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return true;
  }
  bool takeNumber(uint64_t &value) {
    skipSpace();
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const bool isWhole = parseInteger(text.substr(0, digits), value);
    text.remove_prefix(digits);
    return isWhole;
  }

private:
  void skipSpace() {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n'))
      text.remove_prefix(1);
  }
  std::string_view text;
};

/// The fields of the header's dictionary.
struct NpyHeader {
  std::string descr;
  bool fortran = false;
  std::vector<uint64_t> shape;
  bool hasDescr = false, hasOrder = false, hasShape = false;
};
} // namespace

static bool parseShape(Literal &literal, std::vector<uint64_t> &shape) {
  if (!literal.take('('))
    return false;
  while (!literal.take(')')) {
    uint64_t dim;
    if (!literal.takeNumber(dim) || shape.size() >= 32)
      return false;
    shape.push_back(dim);
    if (!literal.take(','))
      return literal.take(')');
  }
  return true;
}

/// The value of `descr`: a string, or a list for a structured type.
static Status parseDescr(Literal &literal, NpyHeader &header) {
  header.hasDescr = true;
  if (!literal.takeString(header.descr))
    return fail(ZERO_RT_BAD_DATA, "a structured element type; expected plain numbers");
  return {};
}

static Status parseHeader(std::string_view text, NpyHeader &header) {
  Status broken = fail(ZERO_RT_BAD_FILE, "its .npy header cannot be read");
  Literal literal(text);
  if (!literal.take('{'))
    return broken;
  while (!literal.take('}')) {
    std::string key;
    if (!literal.takeString(key) || !literal.take(':'))
      return broken;
    if (key == "descr")
      ZERO_RT_TRY(parseDescr(literal, header));
    else if (key == "fortran_order") {
      header.fortran = literal.takeWord("True");
      header.hasOrder = header.fortran || literal.takeWord("False");
    } else if (key == "shape") {
      header.hasShape = parseShape(literal, header.shape);
    }
    if (!literal.take(',')) {
      if (!literal.take('}'))
        return broken;
      break;
    }
  }
  return header.hasDescr && header.hasOrder && header.hasShape ? Status() : broken;
}

static Status dtypeOf(const std::string &descr, DType &dtype) {
  static const struct {
    const char *code;
    DType dtype;
  } table[] = {{"f4", ZERO_RT_F32}, {"f8", ZERO_RT_F64}, {"f2", ZERO_RT_F16}, {"i8", ZERO_RT_I64},
               {"i4", ZERO_RT_I32}, {"i2", ZERO_RT_I16}, {"i1", ZERO_RT_I8},  {"u8", ZERO_RT_U64},
               {"u4", ZERO_RT_U32}, {"u2", ZERO_RT_U16}, {"u1", ZERO_RT_U8},  {"b1", ZERO_RT_BOOL}};
  if (descr.find('O') != std::string::npos)
    return fail(ZERO_RT_BAD_DATA, "elements are Python objects ('%s'); expected plain numbers",
                escape(descr).c_str());
  if (descr.starts_with('>'))
    return fail(ZERO_RT_BAD_DATA, "elements are big-endian ('%s'); expected little-endian",
                escape(descr).c_str());
  std::string code = descr.substr(descr.find_first_of("<|=") == 0 ? 1 : 0);
  for (const auto &entry : table)
    if (code == entry.code) {
      dtype = entry.dtype;
      return {};
    }
  return fail(ZERO_RT_BAD_DATA,
              "element type '%s'; expected one of f4, f8, f2, i8, i4, i2, i1, u8, u4, u2, u1, b1",
              escape(descr).c_str());
}

/// The places of header text and elements, from the fixed part of the file.
static Status split(std::span<const uint8_t> file, std::string_view &text, size_t &elements) {
  if (file.size() < 10 || std::memcmp(file.data(), kNpyMagic.data(), kNpyMagic.size()) != 0)
    return fail(ZERO_RT_BAD_FILE, "not a .npy or .npz file");
  unsigned version = file[6];
  if (version < 1 || version > 3)
    return fail(ZERO_RT_BAD_FILE, "version %u of .npy; expected 1 to 3", version);
  size_t start = version == 1 ? 10 : 12;
  size_t length = file[8] | size_t(file[9]) << 8;
  if (version > 1 && file.size() >= 12)
    length |= size_t(file[10]) << 16 | size_t(file[11]) << 24;
  if (length > kLongestHeader)
    return fail(ZERO_RT_BAD_FILE, "its .npy header has %zu bytes; expected at most %zu", length,
                kLongestHeader);
  if (file.size() < start || length > file.size() - start)
    return fail(ZERO_RT_BAD_FILE, "truncated within the .npy header");
  text = {reinterpret_cast<const char *>(file.data()) + start, length};
  elements = start + length;
  return {};
}

Status parseNpy(std::span<const uint8_t> file, Array &array) {
  std::string_view text;
  size_t start = 0;
  NpyHeader header;
  ZERO_RT_TRY(split(file, text, start));
  ZERO_RT_TRY(parseHeader(text, header));
  ZERO_RT_TRY(dtypeOf(header.descr, array.dtype));
  if (header.fortran && header.shape.size() > 1)
    return fail(ZERO_RT_BAD_DATA,
                "elements are in Fortran order; save it with numpy.ascontiguousarray()");
  uint64_t count;
  if (!countElements(header.shape, count) || count > (uint64_t(1) << 58))
    return fail(ZERO_RT_BAD_FILE, "shape %s is too large", shapeText(header.shape).c_str());
  uint64_t expected = count * sizeOf(array.dtype);
  if (file.size() - start < expected)
    return fail(ZERO_RT_BAD_FILE, "truncated: expected %llu bytes of elements, got %zu",
                static_cast<unsigned long long>(expected), file.size() - start);
  array.shape = std::move(header.shape);
  array.bytes = file.subspan(start, expected);
  return {};
}

} // namespace zero::rt
