"""Checks the files of examples/cluster: fields of Slurm and of Kubeflow's MPIJob, and flags.

usage: check_cluster.py DIRECTORY
"""

import re
import sys
from pathlib import Path

import yaml

from zero_test import Checks, run_tool

# Fields of MPIJob v2beta1 that its operator reads, by the path of their parent.
MPI_JOB = {
    "": {"apiVersion", "kind", "metadata", "spec"},
    "spec": {"slotsPerWorker", "mpiImplementation", "runPolicy", "mpiReplicaSpecs", "sshAuthMountPath",
             "launcherCreationPolicy", "runLauncherAsWorker"},
    "spec.runPolicy": {"cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds",
                       "backoffLimit", "schedulingPolicy", "suspend", "managedBy"},
    "spec.mpiReplicaSpecs": {"Launcher", "Worker"},
    "spec.mpiReplicaSpecs.Launcher": {"replicas", "restartPolicy", "template"},
    "spec.mpiReplicaSpecs.Worker": {"replicas", "restartPolicy", "template"},
}


def known_flags():
    texts = [run_tool(tool, "--help-all") for tool in ("zero-run", "zeroc")]
    return set(re.findall(r"--([a-z][a-z-]*)", "".join(texts)))


def at(document, path):
    for key in filter(None, path.split(".")):
        document = document[key]
    return document


def check_manifest(checks, path, flags):
    job = yaml.safe_load(path.read_text())
    checks.that((job["apiVersion"], job["kind"]) == ("kubeflow.org/v2beta1", "MPIJob"), "kind")
    for place, allowed in MPI_JOB.items():
        unknown = set(at(job, place)) - allowed
        checks.that(not unknown, f"{place or 'the manifest'} has no fields {unknown}")
    for name in ("Launcher", "Worker"):
        pod = at(job, f"spec.mpiReplicaSpecs.{name}.template.spec")
        volumes = {volume["name"] for volume in pod.get("volumes", [])}
        for container in pod["containers"]:
            checks.that({"name", "image"} <= set(container), f"{name}: a container without an image")
            mounts = {mount["name"] for mount in container.get("volumeMounts", [])}
            checks.that(mounts <= volumes, f"{name}: no volumes {mounts - volumes}")
    command = at(job, "spec.mpiReplicaSpecs.Launcher.template.spec.containers")[0]["command"]
    ours = command[command.index("zero-run"):]
    checks.that({word.split("=")[0][2:] for word in ours if word.startswith("--")} <= flags,
                f"flags of {ours}")
    check_ranks(checks, ours, at(job, "spec.slotsPerWorker"))


def check_ranks(checks, command, ranks):
    checks.that(f"--ranks-per-node={ranks}" in command, f"{ranks} ranks a node: {command}")


def check_script(checks, path, flags):
    text = path.read_text()
    (tasks,) = re.findall(r"^#SBATCH --ntasks-per-node=(\d+)$", text, re.MULTILINE)
    command = text[text.index("srun zero-run"):].replace("\\\n", " ").split()
    used = {word.split("=")[0][2:] for word in command if word.startswith("--")}
    checks.that(used and used <= flags, f"no flags {used - flags}")
    check_ranks(checks, command, tasks)


def main():
    directory = Path(sys.argv[1])
    checks = Checks()
    flags = known_flags()
    check_manifest(checks, directory / "mpijob.yaml", flags)
    check_script(checks, directory / "train.slurm", flags)
    checks.finish()


if __name__ == "__main__":
    main()
