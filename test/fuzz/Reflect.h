//===- Reflect.h - mutates any protobuf message -----------------*- C++ -*-===//

#ifndef TEST_FUZZ_REFLECT_H
#define TEST_FUZZ_REFLECT_H

#include "Random.h"

#include <google/protobuf/message.h>

#include <string>
#include <vector>

namespace zero::fuzz {

/// Changes one field of a message in `message`: sets it to an extreme value of its type or to a
/// string that occurs elsewhere in the message (or in `words`), clears it, or drops, repeats, swaps
/// or appends elements. All depths are equally likely.
void mutateMessage(google::protobuf::Message &message, const std::vector<std::string> &words,
                   Random &random);

/// Calls `visit` for every repeated field of messages in `message`, outermost first. A minimizer
/// may drop elements of these fields.
void forEachList(google::protobuf::Message &message,
                 const std::function<void(google::protobuf::Message &,
                                          const google::protobuf::FieldDescriptor *)> &visit);

} // namespace zero::fuzz

#endif // TEST_FUZZ_REFLECT_H
