//===- manifest.cpp - manifest.json of a checkpoint -----------------------===//

#include "runtime/checkpoint/manifest.h"

#include "runtime/format/tables.h"
#include "runtime/support/checked.h"
#include "runtime/support/json_reader.h"
#include "runtime/support/problems.h"

#include <google/protobuf/util/json_util.h>
#include <set>
#include <zlib.h>

namespace zero::rt {

/// More than the ranges of a large model on many ranks take.
static constexpr uint64_t kMaxBytes = uint64_t(1) << 30;
/// The placeholder for the checksum while it is computed.
static const std::string kNoChecksum = "00000000";

uint32_t crc32Of(std::span<const uint8_t> bytes, uint32_t before) {
  return static_cast<uint32_t>(::crc32_z(before, bytes.data(), bytes.size()));
}

static std::string checksumOf(const std::string &text) {
  return format("%08x", crc32Of({reinterpret_cast<const uint8_t *>(text.data()), text.size()}));
}

std::string shardName(int rank) { return format("rank-%05d.safetensors", rank); }

std::vector<Selection::Cut> cutsOf(const proto::Manifest::Range &range) {
  std::vector<Selection::Cut> cuts;
  for (const proto::Manifest::Cut &cut : range.cuts()) {
    Selection::Cut &made = cuts.emplace_back();
    made.dimension = cut.dimension();
    for (int i = 0; i < cut.begins_size(); ++i)
      made.intervals.push_back({cut.begins(i), cut.extents(i)});
  }
  return cuts;
}

void setCuts(const std::vector<Selection::Cut> &cuts, proto::Manifest::Range &range) {
  for (const Selection::Cut &cut : cuts) {
    proto::Manifest::Cut *made = range.add_cuts();
    made->set_dimension(cut.dimension);
    for (const Selection::Interval &interval : cut.intervals) {
      made->add_begins(interval.begin);
      made->add_extents(interval.extent);
    }
  }
}

Status writeManifest(const std::string &path, proto::Manifest manifest) {
  manifest.set_version(kManifestVersion);
  manifest.set_checksum(kNoChecksum);
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(manifest, &text, options).ok())
    return fail(ZERO_RT_INTERNAL, "cannot write '%s': it is no JSON", escape(path).c_str());
  // The first field, so the first of such digits.
  text.replace(text.find(kNoChecksum), kNoChecksum.size(), checksumOf(text));
  OutputFile file;
  ZERO_RT_TRY(OutputFile::createInTemporary(path, file));
  ZERO_RT_TRY(file.write(text));
  return file.commit();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status bad(const std::string &what) { return Status(ZERO_RT_BAD_FILE, what); }

static Status parse(std::string text, proto::Manifest &manifest) {
  if (!isShallowJson(text))
    return bad(format("it is no manifest: more than %u levels of nesting", JsonReader::kDeepest));
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true; // of a later version, which says so itself
  auto parsed = google::protobuf::util::JsonStringToMessage(text, &manifest, options);
  if (!parsed.ok())
    return bad("it is no manifest: " + escape(std::string(parsed.message()).substr(0, 200)));
  size_t at = text.find(manifest.checksum());
  if (manifest.checksum().size() != kNoChecksum.size() || at == std::string::npos)
    return bad("it has no checksum");
  text.replace(at, kNoChecksum.size(), kNoChecksum);
  if (std::string actual = checksumOf(text); actual != manifest.checksum())
    return bad("wrong checksum: expected " + escape(manifest.checksum()) + ", got " + actual);
  if (manifest.version() == 0 || manifest.version() > kManifestVersion)
    return fail(ZERO_RT_UNSUPPORTED, "wrong version: expected %u, got %u", kManifestVersion,
                manifest.version());
  return {};
}

static Status checkFile(const proto::Manifest::File &file) {
  const std::string &name = file.name();
  if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos)
    return bad("file " + quoted(name) + " is not in the directory of the manifest");
  return {};
}

/// Whether the list of `range` is inside a tensor of `elements` elements as far as the range
/// extends.
static bool isStridedInside(const proto::Manifest::Range &range, uint64_t elements) {
  uint64_t last, end;
  if (range.run() == 0 || range.count() == 0)
    return range.first() == 0 && range.stride() == 0;
  return range.stride() >= range.run() &&
         checkedMultiply((range.begin() + range.count() - 1) / range.run(), range.stride(), last) &&
         checkedAdd(last, range.first(), last) && checkedAdd(last, range.run(), end) &&
         end <= elements;
}

/// Whether the intervals of `cut` are in order inside a dimension of `size` indices.
static bool isCutInside(const proto::Manifest::Cut &cut, uint64_t size) {
  uint64_t end = 0;
  bool isInside = cut.begins_size() == cut.extents_size();
  for (int i = 0; isInside && i < cut.begins_size(); ++i) {
    isInside = cut.begins(i) >= end && isWithin(cut.begins(i), cut.extents(i), size);
    end = cut.begins(i) + cut.extents(i);
  }
  return isInside;
}

/// Whether `range`, which has cuts, is in the list that these select of a tensor of `shape`.
static bool isSelected(const proto::Manifest::Range &range, std::span<const uint64_t> shape) {
  std::set<uint32_t> dimensions;
  for (const proto::Manifest::Cut &cut : range.cuts())
    if (cut.dimension() >= shape.size() || !dimensions.insert(cut.dimension()).second ||
        !isCutInside(cut, shape[cut.dimension()]))
      return false;
  return range.run() == 0 &&
         isWithin(range.begin(), range.count(), Selection(shape, cutsOf(range)).size());
}

static bool isInside(const proto::Manifest::Range &range, const proto::Manifest &manifest,
                     std::span<const uint64_t> shape, uint64_t size) {
  uint64_t bytes, elements;
  return countElements(shape, elements) && range.file() < uint32_t(manifest.files_size()) &&
         isWithin(range.begin(), range.count(), elements) && isStridedInside(range, elements) &&
         (range.cuts().empty() || isSelected(range, shape)) &&
         checkedMultiply(range.count(), size, bytes) &&
         isWithin(range.offset(), bytes, manifest.files(int(range.file())).bytes());
}

/// Whether `elements` bytes are codes that its table has, of whole blocks, or of a parameter with
/// as many elements.
static bool hasBlocks(const proto::Manifest::Tensor &tensor, uint64_t elements,
                      const proto::Manifest &manifest) {
  const proto::Manifest::Tensor::Blocks &blocks = tensor.blocks();
  uint64_t decoded = 0;
  return (blocks.bits() == 8 || blocks.bits() == 4) && sizeOf(toDType(tensor.dtype())) == 1 &&
         blocks.table() < uint32_t(manifest.tables_size()) &&
         manifest.tables(int(blocks.table())).numbers_size() == 1 << blocks.bits() &&
         blocks.size() > 0 && blocks.size() <= kLargestBlock && blocks.size() % 2 == 0 &&
         (blocks.shape().empty() ? elements * (8 / blocks.bits()) % blocks.size() == 0
                                 : countElements(shapeOf(blocks.shape()), decoded) &&
                                       decoded == elements * (8 / blocks.bits()));
}

static Status checkTensor(const proto::Manifest::Tensor &tensor, const proto::Manifest &manifest) {
  const DType dtype = toDType(tensor.dtype());
  const size_t size = sizeOf(dtype);
  uint64_t elements, bytes;
  if (!countElements(shapeOf(tensor.shape()), elements) || !countBytes(elements, dtype, bytes))
    return bad("tensor " + quoted(tensor.name()) + ": bad element type or shape");
  for (const proto::Manifest::Range &range : tensor.ranges())
    if (!isInside(range, manifest, shapeOf(tensor.shape()), size))
      return bad("tensor " + quoted(tensor.name()) + ": a range is outside of it or of its file");
  return tensor.has_blocks() && !hasBlocks(tensor, elements, manifest)
             ? bad("tensor " + quoted(tensor.name()) + ": bad codes or blocks")
             : Status();
}

static Status checkContents(const proto::Manifest &manifest) {
  for (const proto::Manifest::File &file : manifest.files())
    ZERO_RT_TRY(checkFile(file));
  std::set<std::string> names;
  for (const proto::Manifest::Tensor &tensor : manifest.tensors()) {
    ZERO_RT_TRY(checkTensor(tensor, manifest));
    if (!names.insert(tensor.name()).second)
      return bad("tensor " + quoted(tensor.name()) + " occurs twice");
  }
  return {};
}

Status readManifest(const std::string &path, proto::Manifest &manifest) {
  InputFile file;
  ZERO_RT_TRY(InputFile::open(path, file));
  Status status;
  if (file.size() > kMaxBytes) {
    status = bad("expected at most 1 GiB, got " + std::to_string(file.size()) + " bytes");
  } else {
    std::string text(file.size(), '\0');
    ZERO_RT_TRY(file.read(0, text.data(), text.size()));
    status = parse(std::move(text), manifest);
  }
  if (status.ok())
    status = checkContents(manifest);
  return status.ok() ? status
                     : fail(status.getCode(), "'%s': %s", escape(path).c_str(),
                            status.getMessage().c_str());
}

} // namespace zero::rt
