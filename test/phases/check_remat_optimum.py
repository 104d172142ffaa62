"""Compares the planner's recomputation with the optimum that an integer program finds.

The program follows Jain et al., "Checkmate" (MLSys 2020, section 4): stage t ends with the first
run of node t; R[t, i] means that node i runs in stage t, and S[t, v] that value v is stored when
the stage begins. Nodes may be recomputed any number of times, unlike in our plans, so the optimum
is a bound for every planner.

usage: check_remat_optimum.py DATA WORK GRAPH [EVERY [SECONDS]]

EVERY: uses one of this many budgets; SECONDS: limit for each.
"""

import json
import sys

import highspy

from zero_test import Checks, Graph, run_tool

ALLOWED_GAP = 1.15  # times the optimum's seconds, on the mean over budgets


def problem_of(graph, ranks=1):
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--no-cache",
                    "--recompute=none", "--dump-after=kernels", f"--ranks={ranks}")
    program = graph.work / "kernels.mlir"
    program.write_text(text[:text.rindex("\n}\n") + 3])
    return json.loads(run_tool("zero-opt", program, "--zero-test-print-remat",
                               "-o", graph.work / "out.mlir"))


class Checkmate:
    """The integer program of one problem and budget."""

    def __init__(self, problem, budget, seconds):
        self.nodes = problem["nodes"]
        self.count = len(self.nodes)
        self.bytes = [bytes / 1024 for bytes in problem["bytes"]]
        self.budget = budget / 1024
        self.producer = {v: i for i, node in enumerate(self.nodes) for v in node["writes"]}
        self.readers = [[] for _ in self.bytes]
        for index, node in enumerate(self.nodes):
            for value in set(node["reads"]):
                self.readers[value].append(index)
        self.solver = highspy.Highs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("time_limit", float(seconds))
        self.solver.setOptionValue("threads", 1)

    def build(self):
        """`runs` by stage: node -> 1 or a variable; `stored` by stage: value -> variable."""
        h, n = self.solver, self.count
        self.runs = [{t: 1} for t in range(n)]
        self.stored = [{} for _ in range(n + 1)]
        for t, node in enumerate(self.nodes):
            if not node["forward"]:
                for i in range(t):
                    if self.nodes[i]["again"]:
                        self.runs[t][i] = h.addBinary()
            for value, readers in enumerate(self.readers):
                if self.producer[value] < t and any(r >= t or self.nodes[r]["again"]
                                                    for r in readers):
                    self.stored[t][value] = h.addBinary()
        for t in range(n):
            for i, run in self.runs[t].items():
                for value in set(self.nodes[i]["reads"]):
                    h.addConstr(self.runs[t].get(self.producer[value], 0) +
                                self.stored[t].get(value, 0) >= run)
            for value, stored in self.stored[t].items():
                h.addConstr(self.runs[t - 1].get(self.producer[value], 0) +
                            self.stored[t - 1].get(value, 0) >= stored)
        self.limit_memory()

    def limit_memory(self):
        for t in range(self.count):
            used = sum(self.bytes[v] * stored for v, stored in self.stored[t].items())
            for k in sorted(self.runs[t]):
                made = sum(self.bytes[v] for v in self.nodes[k]["writes"])
                used = used + made * self.runs[t][k]
                if not isinstance(used, (int, float)):
                    self.solver.addConstr(used <= self.budget)
                for v in {*self.nodes[k]["reads"], *self.nodes[k]["writes"]}:
                    used = used - self.bytes[v] * self.freed(t, v, k)

    def freed(self, t, value, k):
        """Whether stage `t` frees `value` immediately after node `k`."""
        later = [self.runs[t][j] for j in self.readers[value] if j > k and j in self.runs[t]]
        if any(isinstance(run, int) for run in later):
            return 0
        hazards = sum(later) + self.stored[t + 1].get(value, 0) + (1 - self.runs[t][k])
        if isinstance(hazards, int):
            return int(hazards == 0)
        free = self.solver.addBinary()
        self.solver.addConstr(free + hazards >= 1)
        self.solver.addConstr((len(later) + 2) * free + hazards <= len(later) + 2)
        return free

    def solve(self):
        """(seconds of recomputation, whether this is proven optimal)."""
        self.build()
        cost = sum(self.nodes[i]["seconds"] * 1e6 * run for t in range(self.count)
                   for i, run in self.runs[t].items() if i != t)
        self.solver.minimize(cost)
        proven = self.solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        info = self.solver.getInfo()
        return (info.objective_function_value if proven else info.mip_dual_bound) / 1e6, proven


def main():
    data, work, name = sys.argv[1:4]
    every, seconds = [int(a) for a in (*sys.argv[4:], *("1", "60")[len(sys.argv) - 4:])]
    checks = Checks()
    problem = problem_of(Graph(data, name, f"{work}/{name}"))
    again = sum(node["seconds"] for node in problem["nodes"] if node["again"])
    print(f"{name}: {len(problem['nodes'])} nodes, {again * 1e6:.1f} us of them may run again")
    ours_sum = best_sum = 0
    for plan in problem["plans"][::every]:
        best, proven = Checkmate(problem, plan["peak"], seconds).solve()
        print(f"{plan['peak']:>10} bytes: ours {plan['seconds'] * 1e6:8.2f} us, "
              f"{'optimum' if proven else 'at least'} {best * 1e6:8.2f} us")
        checks.that(plan["seconds"] >= best - 1e-9, f"{plan}: faster than the optimum {best}")
        if proven:
            ours_sum += plan["seconds"]
            best_sum += best
    print(f"{name}: {ours_sum / max(best_sum, 1e-12):.3f} times the optimum")
    checks.that(best_sum > 0 and ours_sum <= ALLOWED_GAP * best_sum, f"{ours_sum} for {best_sum}")
    checks.finish()


if __name__ == "__main__":
    main()
