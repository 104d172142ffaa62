//===- recording_graphs.cpp - captures and graphs of the driver -----------===//
//
// Calls for a stream that is captured become nodes, each behind the last nodes of its stream and of
// the events that this has waited for. What CUDA forbids meanwhile is a problem, and makes the
// capture invalid. The nodes of a launch run in an order that the seed selects among those that
// their dependences allow.
//
//===----------------------------------------------------------------------===//

#include "calls.h"

#include <algorithm>

using namespace recording;

std::shared_ptr<Capture> Engine::captureOf(Stream stream) const {
  auto found = captures.find(stream);
  return found == captures.end() ? nullptr : found->second;
}

Result Engine::invalidate(Capture &capture, Result error, const std::string &what) {
  problem(what);
  return capture.error = error;
}

bool Engine::isForbidden(const char *call) {
  for (const auto &[stream, capture] : captures)
    if (capture->thread == std::this_thread::get_id()) {
      invalidate(*capture, kCaptureUnsupported, std::string(call) + " while a stream is captured");
      return true;
    }
  return false;
}

bool Engine::hasGraphOf(const void *communicator) const {
  auto isIn = [communicator](const auto *graph) {
    return std::ranges::any_of(graph->nodes, [=](const Node &node) {
      return node.work.kernel && node.work.kernel->communicator == communicator;
    });
  };
  return std::ranges::any_of(graphs, isIn) || std::ranges::any_of(capturedGraphs, isIn);
}

/// A wait of a captured stream, or for an event of a capture.
Result Engine::waitInCapture(Stream stream, const EventHandle &event) {
  std::shared_ptr<Capture> own = captureOf(stream);
  const Captured *place = event.captured.get();
  if (!place)
    return invalidate(*own, kCaptureIsolation, "a captured stream waits for work outside");
  if (place->capture->isOver || (own && own != place->capture)) {
    problem("a wait for an event of a capture that is over, or another one");
    if (own)
      own->error = kCaptureMerge;
    return own ? kCaptureMerge : kCapturedEvent;
  }
  captures[stream] = place->capture; // the stream joins it
  place->capture->tails[stream].insert(place->tails.begin(), place->tails.end());
  return kSuccess;
}

EXPORT cuStreamBeginCapture_v2(Stream stream, int mode) {
  IN_CONTEXT;
  if (!engine.isStream(stream) || engine.captureOf(stream) || mode != kCaptureThreadLocal) {
    engine.problem("cuStreamBeginCapture of a stream that cannot be captured");
    return kCaptureUnsupported;
  }
  auto made = std::make_shared<Capture>();
  made->origin = stream;
  made->thread = std::this_thread::get_id();
  engine.captures[stream] = std::move(made);
  return kSuccess;
}

/// Whether the origin is behind all that other streams were given.
static bool isJoined(const Capture &capture) {
  std::set<size_t> behind;
  auto tail = capture.tails.find(capture.origin);
  std::vector<size_t> open;
  if (tail != capture.tails.end())
    open.assign(tail->second.begin(), tail->second.end());
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    if (behind.insert(node).second)
      open.insert(open.end(), capture.nodes[node].after.begin(), capture.nodes[node].after.end());
  }
  return behind.size() == capture.nodes.size();
}

EXPORT cuStreamEndCapture(Stream stream, GraphHandle *graph) {
  LOCKED;
  *graph = nullptr;
  std::shared_ptr<Capture> capture = engine.captureOf(stream);
  if (!capture || capture->origin != stream)
    return kCaptureUnmatched;
  if (capture->thread != std::this_thread::get_id()) {
    engine.problem("cuStreamEndCapture on another thread");
    return kCaptureWrongThread;
  }
  std::erase_if(engine.captures, [&](const auto &each) { return each.second == capture; });
  capture->isOver = true;
  if (capture->error != kSuccess)
    return kCaptureInvalidated;
  if (!isJoined(*capture))
    return kCaptureUnjoined;
  *graph = engine.own(engine.capturedGraphs, new GraphTag{capture->nodes});
  return kSuccess;
}

EXPORT cuGraphInstantiateWithFlags(GraphExec *executable, GraphHandle graph, unsigned long long) {
  IN_CONTEXT;
  if (engine.isForbidden(__func__))
    return kCaptureUnsupported;
  *executable = engine.own(engine.graphs, new GraphExecTag{graph->nodes});
  ++engine.counted.graphs;
  return kSuccess;
}

EXPORT cuGraphDestroy(GraphHandle graph) {
  LOCKED;
  if (!engine.disown(engine.capturedGraphs, graph, __func__))
    return kInvalidValue;
  delete graph;
  return kSuccess;
}

EXPORT cuGraphLaunch(GraphExec executable, Stream stream) {
  IN_CONTEXT;
  if (!engine.graphs.count(executable) || engine.captureOf(stream)) {
    engine.problem("cuGraphLaunch of a graph that is not there, or into a capture");
    return kInvalidValue;
  }
  auto run = std::make_shared<GraphRun>();
  for (const Node &node : executable->nodes) {
    engine.spoil(node.work);
    run->nodes.push_back({node.work.renew ? node.work.renew() : node.work, node.after});
  }
  run->done.resize(run->nodes.size());
  run->left = run->nodes.size();
  if (run->left == 0)
    return kSuccess;
  Work work;
  work.places = {reinterpret_cast<uint64_t>(executable)};
  work.graph = std::move(run);
  return engine.start(stream, std::move(work));
}

EXPORT cuGraphExecDestroy(GraphExec executable) {
  LOCKED;
  if (!engine.disown(engine.graphs, executable, __func__))
    return kInvalidValue;
  delete executable;
  return kSuccess;
}
