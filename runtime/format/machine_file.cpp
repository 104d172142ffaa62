//===- machine_file.cpp - a machine description as JSON -------------------===//

#include "runtime/format/machine_file.h"

#include "runtime/support/json_reader.h"

#include <cmath>
#include <google/protobuf/util/json_util.h>
#include <set>

namespace zero::rt {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// A description is a few KiB.
static constexpr uint64_t kMaxBytes = uint64_t(1) << 20;

/// Fields that need not be there.
static const std::set<std::string_view> kOptional = {"memory_bytes",
                                                     "half_flops",
                                                     "copy_bandwidth",
                                                     "cache_bytes",
                                                     "cache_bandwidth",
                                                     "overlaps",
                                                     "convolution_flops",
                                                     "native_flops",
                                                     "disk",
                                                     "disk.mixed_bandwidth",
                                                     "disk.count",
                                                     "disk.bus_bandwidth",
                                                     "disk.bytes",
                                                     "disk.endurance",
                                                     "network",
                                                     "price",
                                                     "host",
                                                     "host.memory_bytes",
                                                     "host.native_flops",
                                                     "host_to_device",
                                                     "host_to_device.node_bandwidth",
                                                     "device_to_host",
                                                     "device_to_host.node_bandwidth"};
/// The only durations, and the only numbers that may be 0.
static const std::set<std::string_view> kMayBeZero = {"latency", "launch_seconds"};

static Status bad(const std::string &field, const std::string &expected, const std::string &got) {
  return fail(ZERO_RT_BAD_FILE, "field '%s': expected %s, got %s", field.c_str(), expected.c_str(),
              got.c_str());
}

static Status checkNumber(const std::string &name, std::string_view field, double value) {
  const bool mayBeZero = kMayBeZero.count(field) > 0;
  if (std::isfinite(value) && (value > 0 || (mayBeZero && value == 0)))
    return {};
  return bad(name, mayBeZero ? "a number of at least 0" : "a positive number", format("%g", value));
}

static Status checkFields(const Message &message, const std::string &prefix);

static Status checkValue(const Message &message, const FieldDescriptor &field,
                         const std::string &name) {
  const auto &reflection = *message.GetReflection();
  switch (field.cpp_type()) {
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return checkNumber(name, field.name(), reflection.GetDouble(message, &field));
  case FieldDescriptor::CPPTYPE_UINT32:
    return checkNumber(name, field.name(), reflection.GetUInt32(message, &field));
  case FieldDescriptor::CPPTYPE_MESSAGE:
    return checkFields(reflection.GetMessage(message, &field), name + ".");
  default:
    return {};
  }
}

/// Whether every field of `message` that must be there is, with a number that can be.
static Status checkFields(const Message &message, const std::string &prefix) {
  const auto &reflection = *message.GetReflection();
  const auto &descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor &field = *descriptor.field(i);
    const std::string name = prefix + field.name();
    if (field.is_repeated()) {
      for (int at = 0; at < reflection.FieldSize(message, &field); ++at)
        ZERO_RT_TRY(checkFields(reflection.GetRepeatedMessage(message, &field, at),
                                name + "[" + std::to_string(at) + "]."));
      continue;
    }
    if (!field.has_presence())
      continue;
    if (reflection.HasField(message, &field))
      ZERO_RT_TRY(checkValue(message, field, name));
    else if (kOptional.count(name) == 0)
      return fail(ZERO_RT_BAD_FILE, "field '%s' is missing", name.c_str());
  }
  return {};
}

Status parseMachine(const std::string &text, proto::Machine &machine) {
  if (!isShallowJson(text))
    return fail(ZERO_RT_BAD_FILE, "it is no machine description: more than %u levels of nesting",
                JsonReader::kDeepest);
  auto parsed = google::protobuf::util::JsonStringToMessage(text, &machine);
  if (!parsed.ok())
    return fail(ZERO_RT_BAD_FILE, "it is no machine description: %s",
                escape(std::string(parsed.message()).substr(0, 200)).c_str());
  ZERO_RT_TRY(checkFields(machine, ""));
  const int parts =
      machine.has_host() + machine.has_host_to_device() + machine.has_device_to_host();
  if (parts != 0 && parts != 3)
    return Status(ZERO_RT_BAD_FILE, "expected all of 'host', 'host_to_device' and "
                                    "'device_to_host', or none of them");
  return {};
}

Status readMachine(const std::string &path, proto::Machine &machine) {
  InputFile file;
  ZERO_RT_TRY(InputFile::open(path, file));
  if (file.size() > kMaxBytes)
    return fail(ZERO_RT_BAD_FILE, "'%s': expected at most 1 MiB, got %llu bytes",
                escape(path).c_str(), static_cast<unsigned long long>(file.size()));
  std::string text(file.size(), '\0');
  ZERO_RT_TRY(file.read(0, text.data(), text.size()));
  Status status = parseMachine(text, machine);
  return status.ok() ? status
                     : fail(status.getCode(), "'%s': %s", escape(path).c_str(),
                            status.getMessage().c_str());
}

Status writeMachine(OutputFile &file, const proto::Machine &machine) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(machine, &text, options).ok())
    return fail(ZERO_RT_INTERNAL, "a machine description is no JSON");
  ZERO_RT_TRY(file.write(text));
  return file.commit();
}

} // namespace zero::rt
