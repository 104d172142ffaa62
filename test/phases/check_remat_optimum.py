"""How far the planner's recomputation is from the optimum, found by an integer program.

The program is that of Jain et al., "Checkmate" (MLSys 2020, section 4): stage t ends with
the first run of node t; R[t, i] says that node i runs in stage t, S[t, i] that its results
are there when the stage begins. Nodes may run again any number of times, which our plans
do not do, so its optimum is a bound for every planner.

usage: check_remat_optimum.py DATA WORK [GRAPH] [SECONDS]
"""

import json
import sys

import highspy

from zero_test import Checks, Graph, run_tool

ALLOWED_GAP = 1.5  # times the optimum's seconds, on the mean over budgets


def problem_of(graph, ranks=1):
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--no-cache",
                    "--recompute=none", "--dump-after=kernels", f"--ranks={ranks}")
    program = graph.work / "kernels.mlir"
    program.write_text(text[text.index("module"):text.rindex("\n}") + 3])
    return json.loads(run_tool("zero-opt", program, "--zero-test-print-remat",
                               "-o", graph.work / "out.mlir"))


class Checkmate:
    """The integer program of one problem and budget."""

    def __init__(self, problem, budget, seconds):
        self.nodes = problem["nodes"]
        self.count = len(self.nodes)
        producer = {v: i for i, node in enumerate(self.nodes) for v in node["writes"]}
        self.reads = [sorted({producer[v] for v in node["reads"]}) for node in self.nodes]
        self.users = [[] for _ in self.nodes]
        for index, reads in enumerate(self.reads):
            for read in reads:
                self.users[read].append(index)
        # Results that nobody reads take their bytes while their node runs.
        self.bytes = [sum(problem["bytes"][v] for v in node["writes"]) / 1024
                      for node in self.nodes]
        self.budget = budget / 1024
        self.solver = highspy.Highs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("time_limit", float(seconds))
        self.solver.setOptionValue("threads", 1)

    def binary(self):
        return self.solver.addBinary()

    def build(self):
        h, n = self.solver, self.count
        backward = [not node["forward"] for node in self.nodes]
        self.runs = [{} for _ in range(n)]   # by stage: node -> variable or 1
        self.stored = [{} for _ in range(n + 1)]
        for t in range(n):
            self.runs[t][t] = 1
            for i in range(t):
                if backward[t] and self.nodes[i]["again"]:
                    self.runs[t][i] = self.binary()
                if any(user >= t or self.nodes[user]["again"] for user in self.users[i]):
                    self.stored[t][i] = self.binary()
        for t in range(n):
            for i, run in self.runs[t].items():
                for read in self.reads[i]:
                    h.addConstr(self.at(self.runs, t, read) + self.at(self.stored, t, read)
                                >= run)
            for i, stored in self.stored[t].items():
                h.addConstr(self.at(self.runs, t - 1, i) + self.at(self.stored, t - 1, i)
                            >= stored)
        self.limit_memory()

    @staticmethod
    def at(table, t, i):
        return table[t].get(i, 0)

    def limit_memory(self):
        h = self.solver
        for t in range(self.count):
            used = sum(self.bytes[i] * s for i, s in self.stored[t].items())
            for k in sorted(self.runs[t]):
                used = used + self.bytes[k] * self.runs[t][k]
                h.addConstr(used <= self.budget) if not isinstance(used, float) else None
                for i in set(self.reads[k] + [k]):
                    used = used - self.bytes[i] * self.freed(t, i, k)

    def freed(self, t, i, k):
        """Whether stage `t` frees what node `i` makes right after node `k`."""
        later = [self.at(self.runs, t, j) for j in self.users[i] if j > k and j in self.runs[t]]
        if any(isinstance(run, int) for run in later):
            return 0
        hazards = sum(later) + self.at(self.stored, t + 1, i) + (1 - self.runs[t][k])
        if isinstance(hazards, int):
            return int(hazards == 0)
        free = self.binary()
        self.solver.addConstr(free + hazards >= 1)
        self.solver.addConstr((len(later) + 2) * free + hazards <= len(later) + 2)
        return free

    def solve(self):
        """(seconds of what runs again, whether that is proven)."""
        self.build()
        cost = sum(self.nodes[i]["seconds"] * 1e6 * run for t in range(self.count)
                   for i, run in self.runs[t].items() if i != t)
        self.solver.minimize(cost)
        proven = self.solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        info = self.solver.getInfo()
        return (info.objective_function_value if proven else info.mip_dual_bound) / 1e6, proven


def main():
    data, work, *rest = sys.argv[1:]
    name, seconds = (rest + ["mlp", "60"][len(rest):])[:2]
    checks = Checks()
    problem = problem_of(Graph(data, name, f"{work}/{name}"))
    again = sum(node["seconds"] for node in problem["nodes"] if node["again"])
    print(f"{name}: {len(problem['nodes'])} nodes, {again * 1e6:.1f} us of them may run again")
    ours_sum = best_sum = 0
    for plan in problem["plans"]:
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
