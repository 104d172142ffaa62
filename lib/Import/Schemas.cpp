//===- Schemas.cpp - definitions of operators -----------------------------===//

#include "Schemas.h"

#include "onnx/defs/operator_sets.h"
#include "onnx/defs/operator_sets_ml.h"
#include "onnx/defs/operator_sets_preview.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <mutex>

namespace zero::importer {

namespace {
/// A version of an operator. The function makes its definition.
struct Known {
  llvm::StringLiteral type;
  pb::OpSchema (*define)();
};

constexpr Known kKnown[] = {
#define SCHEMA(type, name) {#type, &pb::GetOpSchema<pb::name>},
#include "zero/Import/OnnxSchemas.inc"
#undef SCHEMA
};

class Registry : public pb::ISchemaRegistry {
public:
  const pb::OpSchema *GetSchema(const std::string &type, int version,
                                const std::string &domain) const override {
    std::lock_guard lock(mutex);
    if (defined.try_emplace(type).second)
      for (const Known &known : kKnown)
        if (known.type == type)
          insert(known.define());
    const std::map<int, pb::OpSchema> &versions = defined[type][domain];
    auto next = versions.upper_bound(version);
    return next == versions.begin() ? nullptr : &std::prev(next)->second;
  }

  void add(pb::OpSchema schema) {
    (void)GetSchema(schema.Name(), 1, schema.domain());
    std::lock_guard lock(mutex);
    added.push_back(schema);
    insert(std::move(schema));
  }

  void share() {
    std::lock_guard lock(mutex);
    for (pb::OpSchema &schema : added)
      pb::OpSchemaRegistry::OpSchemaRegisterOnce once(std::move(schema));
    added.clear();
  }

private:
  void insert(pb::OpSchema schema) const {
    schema.Finalize();
    auto &versions = defined[schema.Name()][schema.domain()];
    versions.emplace(schema.SinceVersion(), std::move(schema));
  }

  mutable std::mutex mutex;
  /// Definitions by operator, domain and version: those of operators that were looked up, and those
  /// that were added.
  mutable std::map<std::string, std::map<std::string, std::map<int, pb::OpSchema>>> defined;
  std::vector<pb::OpSchema> added; ///< those that are not shared yet
};

Registry &registry() {
  static Registry registry;
  return registry;
}
} // namespace

const pb::ISchemaRegistry &schemaRegistry() { return registry(); }

const pb::OpSchema *findSchema(const std::string &type, int version, const std::string &domain) {
  return registry().GetSchema(type, version, domain);
}

void addSchema(pb::OpSchema schema) { registry().add(std::move(schema)); }

void shareSchemas() { registry().share(); }

} // namespace zero::importer
