//===- SortNodes.cpp - sort nodes topologically ---------------------------===//

#include "Graph.h"
#include "Subgraphs.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <queue>

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

bool hasSubgraph(const pb::NodeProto &node) {
  return llvm::any_of(node.attribute(), [](const pb::AttributeProto &attribute) {
    return attribute.has_g() || attribute.graphs_size() != 0;
  });
}

/// Names go on into messages, reports and the files that a run writes.
static void checkName(StringRef name) {
  if (!llvm::json::isUTF8(name))
    fail("expected names of UTF-8, got " + quote(name));
}

namespace {
class Sorter {
public:
  explicit Sorter(Model &model) : graph(*model.proto.mutable_graph()), isBranch(false) {
    checkNames(model);
    for (const auto &[name, constant] : model.constants)
      if (!given.insert(name).second)
        fail("two constants are named " + quote(name));
    // Up to IR version 3 an initializer is an input, too.
    for (const pb::ValueInfoProto &input : graph.input())
      if (!inputs.insert(input.name()).second)
        fail("two inputs are named " + quote(input.name()));
    defineAll();
  }

  /// Sorts the nodes of a branch, which may read any outer value.
  explicit Sorter(pb::GraphProto &branch) : graph(branch), isBranch(true) { defineAll(); }

  std::vector<pb::NodeProto *> run(llvm::ArrayRef<std::string> wanted) {
    markNeeded(wanted);
    countOperands();
    std::vector<pb::NodeProto *> order = schedule();
    if (order.size() != static_cast<size_t>(needed))
      failCycle();
    return order;
  }

private:
  void checkNames(const Model &model) const {
    for (const auto &[name, constant] : model.constants)
      checkName(name);
    for (const pb::ValueInfoProto &input : graph.input())
      checkName(input.name());
    for (const pb::NodeProto &node : graph.node()) {
      checkName(node.name());
      llvm::for_each(node.output(), checkName);
    }
  }

  bool isHeld(StringRef name) const {
    return name.empty() || given.contains(name) || inputs.contains(name);
  }

  bool isGiven(StringRef name) const {
    return isHeld(name) || (isBranch && !producer.contains(name));
  }

  void defineAll() {
    for (int i = 0; i < graph.node_size(); ++i)
      for (const std::string &output : graph.node(i).output())
        define(output, i);
  }

  void define(const std::string &name, int node) {
    if (name.empty())
      return;
    if (isHeld(name))
      fail(describe(graph.node(node)) + ": its result " + quote(name) +
           " is also an input or a constant");
    auto [it, isNew] = producer.try_emplace(name, node);
    if (!isNew)
      fail("two nodes define " + quote(name) + ": " + describe(graph.node(it->second)) + " and " +
           describe(graph.node(node)));
  }

  /// Sets `isNeeded` for all nodes that `wanted` depend on.
  void markNeeded(llvm::ArrayRef<std::string> wanted) {
    isNeeded.assign(graph.node_size(), false);
    std::vector<int> open;
    auto need = [&](StringRef name, const Twine &user) {
      if (isGiven(name))
        return;
      auto it = producer.find(name);
      if (it == producer.end())
        fail(user + ": nothing defines its input " + quote(name));
      if (isNeeded[it->second])
        return;
      isNeeded[it->second] = true;
      open.push_back(it->second);
    };
    for (const std::string &name : wanted)
      need(name, "the graph's output");
    for (; !open.empty(); ++needed) {
      const pb::NodeProto &node = graph.node(open.back());
      open.pop_back();
      for (StringRef input : operandsOf(node))
        need(input, describe(node));
    }
  }

  void countOperands() {
    missing.assign(graph.node_size(), 0);
    for (int i = 0; i < graph.node_size(); ++i) {
      if (!isNeeded[i])
        continue;
      for (StringRef input : operandsOf(graph.node(i))) {
        if (isGiven(input))
          continue;
        ++missing[i];
        users[producer.lookup(input)].push_back(i);
      }
    }
  }

  /// Takes ready nodes in the file's order, so that a sorted file stays as it is.
  std::vector<pb::NodeProto *> schedule() {
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < graph.node_size(); ++i)
      if (isNeeded[i] && missing[i] == 0)
        ready.push(i);
    std::vector<pb::NodeProto *> order;
    while (!ready.empty()) {
      int next = ready.top();
      ready.pop();
      order.push_back(graph.mutable_node(next));
      for (int user : users[next])
        if (--missing[user] == 0)
          ready.push(user);
    }
    return order;
  }

  /// Names one cycle: from any blocked node, blocked operands lead into it.
  [[noreturn]] void failCycle() {
    int at = 0;
    while (!isNeeded[at] || missing[at] == 0)
      ++at;
    std::vector<int> path;
    llvm::SmallVector<bool> seen(graph.node_size(), false);
    for (; !seen[at]; at = blockedOperand(at)) {
      seen[at] = true;
      path.push_back(at);
    }
    std::vector<std::string> notes;
    for (auto it = llvm::find(path, at); it != path.end() && notes.size() < 8; ++it)
      notes.push_back("through " + describe(graph.node(*it)));
    fail("the graph has a cycle", std::move(notes));
  }

  int blockedOperand(int node) {
    for (StringRef input : operandsOf(graph.node(node)))
      if (!isGiven(input) && missing[producer.lookup(input)] != 0)
        return producer.lookup(input);
    return node;
  }

  pb::GraphProto &graph;
  const bool isBranch;
  llvm::StringSet<> given, inputs;
  llvm::StringMap<int> producer;
  std::vector<bool> isNeeded;
  std::vector<int> missing;
  std::map<int, std::vector<int>> users;
  int needed = 0;
};
} // namespace

std::vector<pb::NodeProto *> sortNodes(Model &model, llvm::ArrayRef<std::string> wanted) {
  return Sorter(model).run(wanted);
}

std::vector<pb::NodeProto *> sortBranch(pb::GraphProto &branch,
                                        llvm::ArrayRef<std::string> wanted) {
  return Sorter(branch).run(wanted);
}

} // namespace zero::importer
