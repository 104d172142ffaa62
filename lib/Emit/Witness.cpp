//===- Witness.cpp - where state and gradients go, as JSON ----------------===//

#include "Witness.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace zero {

namespace proto = rt::proto;
using Json = json::OStream;

static std::string utf8(const std::string &text) { return json::fixUTF8(text); }

/// The name of an enumerator in the tables, in lower case: "all_gather".
static std::string word(const std::string &name) { return StringRef(name).lower(); }

template <typename Numbers>
static void writeNumbers(Json &json, StringRef name, const Numbers &numbers) {
  json.attributeArray(name, [&] {
    for (auto number : numbers)
      json.value(static_cast<int64_t>(number));
  });
}

static void writeBuffer(Json &json, const proto::Buffer &buffer) {
  json.attribute("name", utf8(buffer.name()));
  json.attribute("role", word(proto::Role_Name(buffer.role())));
  json.attribute("tier", word(proto::Tier_Name(buffer.tier())));
  json.attribute("type", word(proto::DType_Name(buffer.dtype())));
  json.attribute("offset", buffer.offset());
  writeNumbers(json, "rank_strides", buffer.rank_strides());
  json.attribute("elements", buffer.elements());
  json.attribute("shards", buffer.shards());
  json.attribute("value", buffer.value());
}

/// Where the gradient of a parameter, or of its tiles, is when it is complete.
static void writeGradient(Json &json, const proto::Gradient &gradient) {
  auto place = [&](const proto::Buffer &buffer, uint64_t start) {
    json.object([&] {
      writeBuffer(json, buffer);
      json.attribute("start", start);
    });
  };
  json.object([&] {
    json.attribute("parameter", utf8(gradient.parameter()));
    json.attributeArray("places", [&] {
      if (gradient.tiles().empty())
        place(gradient.buffer(), gradient.start());
      for (const proto::Gradient::Tile &tile : gradient.tiles())
        place(tile.buffer(), tile.start());
    });
  });
}

static void writeTensor(Json &json, const proto::Tensor &tensor) {
  auto place = [&](uint32_t buffer, uint64_t start) {
    json.object([&] {
      json.attribute("buffer", buffer);
      json.attribute("start", start);
    });
  };
  json.object([&] {
    json.attribute("name", utf8(tensor.name()));
    json.attribute("role", word(proto::Role_Name(tensor.role())));
    json.attribute("type", word(proto::DType_Name(tensor.dtype())));
    json.attribute("of", utf8(tensor.of()));
    json.attribute("frozen", tensor.frozen());
    writeNumbers(json, "shape", tensor.shape());
    json.attributeArray("places", [&] {
      if (tensor.tiles().empty())
        place(tensor.buffer(), tensor.start());
      for (const proto::Tile &tile : tensor.tiles())
        place(tile.buffer(), tile.start());
    });
  });
}

/// The addresses of a command, and what it is called.
static std::pair<std::vector<const proto::Address *>, std::string>
describe(const proto::Command &command) {
  switch (command.body_case()) {
  case proto::Command::kLaunch: {
    std::vector<const proto::Address *> args;
    for (const proto::Address &address : command.launch().args())
      args.push_back(&address);
    return {args, "launch"};
  }
  case proto::Command::kCollective: {
    const proto::Collective &collective = command.collective();
    return {{&collective.src(), &collective.dst()},
            word(proto::Collective::Kind_Name(collective.kind()))};
  }
  case proto::Command::kCheck:
    return {{&command.check().value()}, "check"};
  default:
    return {{&command.copy().src(), &command.copy().dst()}, "copy"};
  }
}

static void writeCommand(Json &json, const proto::Command &command, const proto::Program &program) {
  auto [addresses, kind] = describe(command);
  json.object([&] {
    json.attribute("kind", kind);
    if (command.has_launch())
      json.attribute("kernel", utf8(program.kernels(command.launch().kernel()).name()));
    json.attribute("label", utf8(command.label()));
    json.attribute("lane", word(proto::Lane_Name(command.lane())));
    json.attribute("when", word(proto::Command::When_Name(command.when())));
    json.attribute("recomputed", command.recomputed());
    writeNumbers(json, "waits", command.waits());
    std::vector<uint32_t> reads, writes;
    for (const proto::Address *address : addresses) {
      if (address->reads())
        reads.push_back(address->reads());
      if (address->writes())
        writes.push_back(address->writes());
    }
    writeNumbers(json, "reads", reads);
    writeNumbers(json, "writes", writes);
  });
}

static void writeSegments(Json &json, const proto::Program &program) {
  json.attributeArray("segments", [&] {
    for (const proto::Segment &segment : program.segments())
      json.object([&] {
        json.attribute("kind", word(proto::Segment::Kind_Name(segment.kind())));
        json.attribute("repeat", segment.repeat());
        json.attributeArray("commands", [&] {
          for (const proto::Command &command : segment.commands())
            writeCommand(json, command, program);
        });
      });
  });
}

std::string witnessOf(const proto::Program &program) {
  std::string text;
  raw_string_ostream os(text);
  Json json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("format", "zero-schedule");
    json.attribute("version", 1);
    json.attribute("ranks", program.ranks());
    json.attribute("micro_batches", program.micro_batches());
    json.attributeArray("buffers", [&] {
      for (const proto::Buffer &buffer : program.buffers())
        json.object([&] { writeBuffer(json, buffer); });
    });
    json.attributeArray("tensors", [&] {
      for (const proto::Tensor &tensor : program.tensors())
        writeTensor(json, tensor);
    });
    json.attributeArray("gradients", [&] {
      for (const proto::Gradient &gradient : program.gradients())
        writeGradient(json, gradient);
    });
    writeSegments(json, program);
  });
  return text;
}

} // namespace zero
