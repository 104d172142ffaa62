//===- profile_file.cpp - times of kernels in a report --------------------===//

#include "runtime/format/profile_file.h"

#include "runtime/support/file.h"
#include "runtime/support/json_reader.h"

#include <cmath>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

namespace zero::rt {

using google::protobuf::Struct;
using google::protobuf::Value;

static constexpr uint64_t kMaxBytes = uint64_t(1) << 30;

static const Value *find(const Struct &fields, const char *name) {
  auto it = fields.fields().find(name);
  return it == fields.fields().end() ? nullptr : &it->second;
}

/// A positive number, or 0.
static double numberOf(const Struct &fields, const char *name) {
  const Value *value = find(fields, name);
  const double number = value ? value->number_value() : 0;
  return std::isfinite(number) && number > 0 ? number : 0;
}

static Status bad(const std::string &path, const char *expected) {
  return fail(ZERO_RT_BAD_FILE, "'%s': expected %s", escape(path).c_str(), expected);
}

Status readKernelTimes(const std::string &path, std::vector<KernelTimes> &kernels) {
  InputFile file;
  ZERO_RT_TRY(InputFile::open(path, file));
  if (file.size() > kMaxBytes)
    return bad(path, "a report of at most 1 GiB");
  std::string text(file.size(), '\0');
  ZERO_RT_TRY(file.read(0, text.data(), text.size()));
  Struct report;
  if (!isShallowJson(text) || !google::protobuf::util::JsonStringToMessage(text, &report).ok())
    return bad(path, "JSON");
  const Value *profile = find(report, "profile");
  const Value *rows = profile ? find(profile->struct_value(), "kernels") : nullptr;
  if (!rows || !rows->has_list_value())
    return bad(path, "a report of zero-run --profile --report-json, which has 'profile' with "
                     "'kernels'");
  for (const Value &row : rows->list_value().values()) {
    const Struct &fields = row.struct_value();
    const KernelTimes times{numberOf(fields, "launches"), numberOf(fields, "flops"),
                            numberOf(fields, "bytes"), numberOf(fields, "seconds")};
    if (times.launches > 0 && times.seconds > 0)
      kernels.push_back(times);
  }
  return {};
}

} // namespace zero::rt
