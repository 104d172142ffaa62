//===- Reflect.cpp - mutates any protobuf message -------------------------===//

#include "Reflect.h"
#include "Bytes.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>

namespace zero::fuzz {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Type = google::protobuf::FieldDescriptor::CppType;

namespace {
/// One value of a field: element `index` of a repeated field, or the value of a singular one.
struct Slot {
  Message &message;
  const FieldDescriptor *field;
  int index;

  const Reflection &reflection() const { return *message.GetReflection(); }
};
} // namespace

static std::string getString(const Slot &slot) {
  return slot.field->is_repeated()
             ? slot.reflection().GetRepeatedString(slot.message, slot.field, slot.index)
             : slot.reflection().GetString(slot.message, slot.field);
}

static void setString(const Slot &slot, std::string value) {
  if (slot.field->is_repeated())
    slot.reflection().SetRepeatedString(&slot.message, slot.field, slot.index, std::move(value));
  else
    slot.reflection().SetString(&slot.message, slot.field, std::move(value));
}

static void setInt(const Slot &slot, int64_t value) {
  const Reflection &r = slot.reflection();
  Message *m = &slot.message;
  const FieldDescriptor *f = slot.field;
  const bool many = f->is_repeated();
  switch (f->cpp_type()) {
  case Type::CPPTYPE_INT32:
    return many ? r.SetRepeatedInt32(m, f, slot.index, static_cast<int32_t>(value))
                : r.SetInt32(m, f, static_cast<int32_t>(value));
  case Type::CPPTYPE_UINT32:
    return many ? r.SetRepeatedUInt32(m, f, slot.index, static_cast<uint32_t>(value))
                : r.SetUInt32(m, f, static_cast<uint32_t>(value));
  case Type::CPPTYPE_INT64:
    return many ? r.SetRepeatedInt64(m, f, slot.index, value) : r.SetInt64(m, f, value);
  case Type::CPPTYPE_UINT64:
    return many ? r.SetRepeatedUInt64(m, f, slot.index, static_cast<uint64_t>(value))
                : r.SetUInt64(m, f, static_cast<uint64_t>(value));
  case Type::CPPTYPE_BOOL:
    return many ? r.SetRepeatedBool(m, f, slot.index, value & 1) : r.SetBool(m, f, value & 1);
  default:
    return many ? r.SetRepeatedEnumValue(m, f, slot.index, static_cast<int>(value))
                : r.SetEnumValue(m, f, static_cast<int>(value));
  }
}

static void setFloat(const Slot &slot, double value) {
  const Reflection &r = slot.reflection();
  if (slot.field->cpp_type() == Type::CPPTYPE_DOUBLE)
    return slot.field->is_repeated()
               ? r.SetRepeatedDouble(&slot.message, slot.field, slot.index, value)
               : r.SetDouble(&slot.message, slot.field, value);
  const auto narrow = static_cast<float>(value);
  return slot.field->is_repeated()
             ? r.SetRepeatedFloat(&slot.message, slot.field, slot.index, narrow)
             : r.SetFloat(&slot.message, slot.field, narrow);
}

/// A string that occurs in `root`, or one of `words`.
static std::string someString(Message &root, const std::vector<std::string> &words, Random &random);

static void setEnum(const Slot &slot, Random &random) {
  const EnumDescriptor *type = slot.field->enum_type();
  const int known = type->value(static_cast<int>(random.below(type->value_count())))->number();
  setInt(slot, random.oneIn(8) ? hostileInt(random) : known);
}

static void mutateSlot(const Slot &slot, Message &root, const std::vector<std::string> &words,
                       Random &random) {
  switch (slot.field->cpp_type()) {
  case Type::CPPTYPE_MESSAGE:
    return;
  case Type::CPPTYPE_FLOAT:
  case Type::CPPTYPE_DOUBLE:
    return setFloat(slot, hostileFloat(random));
  case Type::CPPTYPE_ENUM:
    return setEnum(slot, random);
  case Type::CPPTYPE_STRING: {
    std::string value = getString(slot);
    if (slot.field->type() == FieldDescriptor::TYPE_BYTES || random.oneIn(6))
      mutateBytes(value, random);
    else
      value = someString(root, words, random);
    return setString(slot, std::move(value));
  }
  default:
    return setInt(slot, hostileInt(random));
  }
}

/// Appends an element with the default value.
static void append(Message &message, const FieldDescriptor *field) {
  const Reflection &r = *message.GetReflection();
  switch (field->cpp_type()) {
  case Type::CPPTYPE_MESSAGE:
    r.AddMessage(&message, field);
    break;
  case Type::CPPTYPE_STRING:
    r.AddString(&message, field, "");
    break;
  case Type::CPPTYPE_FLOAT:
    r.AddFloat(&message, field, 0);
    break;
  case Type::CPPTYPE_DOUBLE:
    r.AddDouble(&message, field, 0);
    break;
  case Type::CPPTYPE_INT32:
    r.AddInt32(&message, field, 0);
    break;
  case Type::CPPTYPE_UINT32:
    r.AddUInt32(&message, field, 0);
    break;
  case Type::CPPTYPE_INT64:
    r.AddInt64(&message, field, 0);
    break;
  case Type::CPPTYPE_UINT64:
    r.AddUInt64(&message, field, 0);
    break;
  case Type::CPPTYPE_BOOL:
    r.AddBool(&message, field, false);
    break;
  case Type::CPPTYPE_ENUM:
    r.AddEnumValue(&message, field, 0);
    break;
  }
}

static void repeatElement(Message &message, const FieldDescriptor *field, int index) {
  const Reflection &r = *message.GetReflection();
  if (field->cpp_type() == Type::CPPTYPE_MESSAGE)
    r.AddMessage(&message, field)->CopyFrom(r.GetRepeatedMessage(message, field, index));
  else if (field->cpp_type() == Type::CPPTYPE_STRING)
    r.AddString(&message, field, r.GetRepeatedString(message, field, index));
  else
    append(message, field);
}

static void mutateRepeated(Message &message, const FieldDescriptor *field, Message &root,
                           const std::vector<std::string> &words, Random &random) {
  const Reflection &r = *message.GetReflection();
  const int size = r.FieldSize(message, field);
  const int at = static_cast<int>(random.below(size)), other = static_cast<int>(random.below(size));
  switch (size == 0 ? 0 : random.below(6)) {
  case 0:
    append(message, field);
    // A closed enumeration may not accept the default value.
    if (r.FieldSize(message, field) > size)
      mutateSlot({message, field, size}, root, words, random);
    return;
  case 1:
    // Removes an element after swapping it with the last one.
    r.SwapElements(&message, field, at, size - 1);
    return r.RemoveLast(&message, field);
  case 2:
    return repeatElement(message, field, at);
  case 3:
    return r.SwapElements(&message, field, at, other);
  default:
    return mutateSlot({message, field, at}, root, words, random);
  }
}

static void mutateField(Message &message, Message &root, const std::vector<std::string> &words,
                        Random &random) {
  const auto *descriptor = message.GetDescriptor();
  const Reflection &r = *message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  r.ListFields(message, &fields);
  if (fields.empty() || random.oneIn(5)) {
    if (descriptor->field_count() == 0)
      return;
    fields = {descriptor->field(static_cast<int>(random.below(descriptor->field_count())))};
  }
  const FieldDescriptor *field = random.pick(fields);
  if (field->is_repeated())
    return mutateRepeated(message, field, root, words, random);
  if (r.HasField(message, field) && random.oneIn(3))
    return r.ClearField(&message, field);
  if (field->cpp_type() == Type::CPPTYPE_MESSAGE)
    return mutateField(*r.MutableMessage(&message, field), root, words, random);
  mutateSlot({message, field, 0}, root, words, random);
}

//===----------------------------------------------------------------------===//
// Walking
//===----------------------------------------------------------------------===//

/// Calls `visit` for `message` and all messages in it, outermost first.
static void walk(Message &message, const std::function<void(Message &)> &visit) {
  visit(message);
  const Reflection &r = *message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  r.ListFields(message, &fields);
  for (const FieldDescriptor *field : fields) {
    if (field->cpp_type() != Type::CPPTYPE_MESSAGE)
      continue;
    if (!field->is_repeated())
      walk(*r.MutableMessage(&message, field), visit);
    for (int i = 0; field->is_repeated() && i < r.FieldSize(message, field); ++i)
      walk(*r.MutableRepeatedMessage(&message, field, i), visit);
  }
}

void forEachList(Message &message,
                 const std::function<void(Message &, const FieldDescriptor *)> &visit) {
  std::vector<const FieldDescriptor *> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor *field : fields)
    if (field->is_repeated())
      visit(message, field);
  for (const FieldDescriptor *field : fields) {
    if (field->cpp_type() != Type::CPPTYPE_MESSAGE)
      continue;
    const Reflection &r = *message.GetReflection();
    if (!field->is_repeated() && r.HasField(message, field))
      forEachList(*r.MutableMessage(&message, field), visit);
    for (int i = 0; field->is_repeated() && i < r.FieldSize(message, field); ++i)
      forEachList(*r.MutableRepeatedMessage(&message, field, i), visit);
  }
}

static std::vector<Message *> messagesOf(Message &root) {
  std::vector<Message *> all;
  walk(root, [&](Message &message) { all.push_back(&message); });
  return all;
}

static std::string someString(Message &root, const std::vector<std::string> &words,
                              Random &random) {
  std::vector<Message *> messages = messagesOf(root);
  for (int attempt = 0; attempt < 20 && (words.empty() || !random.oneIn(3)); ++attempt) {
    Message &message = *random.pick(messages);
    std::vector<const FieldDescriptor *> fields;
    message.GetReflection()->ListFields(message, &fields);
    if (fields.empty())
      continue;
    const FieldDescriptor *field = random.pick(fields);
    if (field->type() != FieldDescriptor::TYPE_STRING)
      continue;
    const int size = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
    return getString({message, field, static_cast<int>(random.below(size))});
  }
  return words.empty() ? "" : words[random.below(words.size())];
}

void mutateMessage(Message &message, const std::vector<std::string> &words, Random &random) {
  std::vector<Message *> messages = messagesOf(message);
  mutateField(*random.pick(messages), message, words, random);
}

} // namespace zero::fuzz
