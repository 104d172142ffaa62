//===- PriceJson.cpp - the price table as JSON and as a page --------------===//

#include "PriceWords.h"

#include "zero/Page/Page.h"
#include "zero/Report/PlanReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace zero::prices {

static constexpr char kPage[] =
#include "lib/Prices/page.inc"
    ;

/// The names of memories in the JSON.
static constexpr StringLiteral kKeys[] = {"device_bytes", "host_bytes", "disk_bytes"};

/// Names come from the model and the command line: whatever bytes they have, the text is UTF-8.
static std::string utf8(StringRef text) { return llvm::json::fixUTF8(text); }

static void writeNumber(llvm::json::OStream &json, StringRef key, std::optional<double> number) {
  json.attribute(key, number ? llvm::json::Value(*number) : llvm::json::Value(nullptr));
}

static void writeMachine(llvm::json::OStream &json, const Capacity &capacity) {
  json.attribute("name", utf8(capacity.machine));
  json.attribute("text", utf8(capacityText(capacity)));
  json.attribute("ranks_on_node", capacity.ranksOnNode);
  json.attribute("shared", capacity.isShared);
  for (Memory memory : kMemories)
    if (const double bytes = capacity.bytes[size_t(memory)]; bytes > 0)
      json.attribute(kKeys[size_t(memory)], bytes);
}

static void writePrice(llvm::json::OStream &json, const PriceTable &table, const PricedRow &row) {
  const Price &price = row.price;
  for (Memory memory : kMemories)
    json.attribute(kKeys[size_t(memory)], price.bytes[size_t(memory)]);
  json.attribute("trained_parameters", price.trained);
  json.attribute("seconds", price.seconds);
  json.attribute("tokens_per_step", price.tokens);
  writeNumber(json, "hours", hoursOf(price, table.tokens));
  json.attribute("written_bytes_per_step", price.written);
  writeNumber(json, "written_bytes", writtenOf(price, table.tokens));
  json.attribute("written_bytes_per_day", price.drives.writtenPerDay());
  writeNumber(json, "drive_years", yearsOf(price));
  json.attributeObject("missing", [&] {
    for (Memory memory : kMemories)
      if (const double bytes = row.missing[size_t(memory)]; bytes > 0)
        json.attribute(kKeys[size_t(memory)], bytes);
  });
}

static void writeRow(llvm::json::OStream &json, const PriceTable &table, size_t index) {
  const PricedRow &row = table.rows[index];
  json.attribute("way", row.row.way);
  json.attribute("where", row.row.placement);
  json.attributeArray("flags", [&] {
    for (const std::string &flag : row.flags)
      json.value(utf8(flag));
  });
  json.attribute("command", utf8(llvm::join(commandOf(table, row), " ")));
  json.attribute("outcome", utf8(outcomeOf(table, index)));
  if (!row.hasPlan()) {
    json.attribute("fits", "no plan");
    return;
  }
  json.attribute("fits", verdictOf(table, row));
  json.attribute("fastest", table.fastest == index);
  writePrice(json, table, row);
}

std::string pricesAsJson(const PriceTable &table) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("format", "zero-prices");
    json.attribute("version", 1);
    json.attribute("model", utf8(table.model));
    json.attribute("parameters", parametersOf(table));
    json.attribute("ranks", table.ranks);
    json.attribute("step", ranksText(table));
    json.attribute("tokens", table.tokens);
    json.attribute("conclusion", conclusionOf(table));
    json.attributeObject("machine", [&] { writeMachine(json, table.capacity); });
    json.attributeArray("notes", [&] {
      for (const std::string &note : table.notes)
        json.value(utf8(note));
    });
    json.attributeArray("rows", [&] {
      for (size_t index = 0; index < table.rows.size(); ++index)
        json.object([&] { writeRow(json, table, index); });
    });
  });
  return embeddable(text);
}

LogicalResult writePrices(const PriceTable &table, ArrayRef<std::string> paths,
                          MLIRContext &context) {
  return writePages(kPage, pricesAsJson(table), paths, context);
}

} // namespace zero::prices
