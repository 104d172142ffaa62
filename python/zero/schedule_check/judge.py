"""Judges where graphs gather and release parameters, and reduce gradients.

- A node reads a parameter only as the result of a wait for its gather, or a view of that.
- A node is the shard of one parameter.
- A wait has a gather before it, which is still held.
- A parameter that is gathered is released as often as its releases say, and nothing reads it, or a
  view of it, afterwards.
- Over all graphs, each parameter that is gathered has its gradient reduced once, if any has.
"""

from collections import Counter


class _Held:
    """A parameter from its gather to its last release."""

    def __init__(self, node):
        self.gather, self.releases, self.waited = node, 0, False


class _Judge:
    def __init__(self, graph):
        self.graph = graph
        self.errors = []
        self.held = {}      # by parameter
        self.shards = {}    # parameters by the node of their shard
        self.full = {}      # the parameter and the _Held that a node's bytes are of
        self.freed = {}     # the release of each _Held that has ended

    def error(self, node, text):
        self.errors.append(f"{self.graph.title}: line {node.line}, '{node.name}' {text}")

    def run(self):
        for node in self.graph.nodes:
            if node.kind in ("gather", "prefetch"):
                self.name_shards(node)
        for node in self.graph.nodes:
            getattr(self, node.kind, self.use)(node)
        for parameter, held in self.held.items():
            if not any(self.full.get(name, (None,))[0] == parameter
                       for node in self.graph.nodes if node.kind == "output"
                       for name in node.reads):
                self.error(held.gather, f"gathers parameter {parameter}, which is released "
                                        f"{held.releases} times, not as often as it is to be")
        return self.errors

    def name_shards(self, node):
        for name, parameter in zip(node.reads, node.parameters):
            known = self.shards.setdefault(name, parameter)
            if known != parameter:
                self.error(node, f"takes '{name}' for the shard of parameter {parameter}, but it "
                                 f"is that of parameter {known}")

    def input(self, node):
        pass

    def prefetch(self, node):
        pass

    def gather(self, node):
        parameter, = node.parameters
        if parameter in self.held:
            self.error(node, f"gathers parameter {parameter} again, before it is released")
        self.held[parameter] = _Held(node)
        self.full[node.name] = parameter, self.held[parameter]

    def wait(self, node):
        parameter, = node.parameters
        held = self.held.get(parameter)
        if held is None or self.full.get(node.reads[0]) != (parameter, held):
            return self.error(node, f"waits for parameter {parameter}, which is not being gathered")
        held.waited = True
        self.full[node.name] = parameter, held

    def release(self, node):
        parameter, = node.parameters
        self.view(node)
        held = self.held.get(parameter)
        if held is None:
            return self.error(node, f"releases parameter {parameter}, which is not gathered")
        held.releases += 1
        if held.releases == node.users:
            self.freed[held] = node
            del self.held[parameter]

    def reduce(self, node):
        self.use(node)

    def view(self, node):
        self.use(node, shares=node.kind == "view")
        owner = self.full.get(node.reads[0]) if node.reads else None
        if owner:
            self.full[node.name] = owner

    def output(self, node):
        """The shard of a parameter may be returned as it is."""
        self.use(node, shares=True)

    def use(self, node, shares=False):
        for name in node.reads:
            if name in self.shards and not shares:
                self.error(node, f"reads '{name}', a shard of parameter {self.shards[name]}, "
                                 f"without a gather")
            if name in self.full:
                self.read(node, *self.full[name])

    def read(self, node, parameter, held):
        if held in self.freed:
            self.error(node, f"reads parameter {parameter} after its release in line "
                             f"{self.freed[held].line}")
        elif not held.waited:
            self.error(node, f"reads parameter {parameter} without a wait for its gather")


def judge(graphs, without_gradient=()):
    """Sentences about what is wrong with graphs of a step.

    without_gradient: numbers of parameters that are not trained.
    """
    errors = [error for graph in graphs for error in _Judge(graph).run()]
    nodes = [(graph, node) for graph in graphs for node in graph.nodes]
    reduced = Counter(node.parameters[0] for _, node in nodes if node.kind == "reduce")
    gathered = {node.parameters[0] for _, node in nodes if node.kind == "gather"}
    for parameter in sorted(gathered | reduced.keys()) if reduced else ():
        expected = 0 if parameter in without_gradient else 1
        if reduced[parameter] != expected:
            errors.append(f"the gradient of parameter {parameter} is reduced {reduced[parameter]} "
                          f"times, expected {expected}")
    return errors
