# SPDX-License-Identifier: BSD-3-Clause
"""The manifests of packaging/kubernetes: what they say agrees in itself, and with the published schemas.

kubernetes.py TOP_SRCDIR         prints a line for each fault; `schemas` as a line where the package kubernetes-validate judged
kubernetes.py TOP_SRCDIR take NAME    prints the file NAME of the Job's ConfigMap
"""
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import yaml

SCHEMAS = "1.30"
found: List[str] = []


def check(true: bool, text: str) -> None:
    """Notes a fault."""
    if not true:
        found.append(text)


def documents(path: Path) -> List[Dict[str, Any]]:
    """The objects of a file."""
    return [one for one in yaml.safe_load_all(path.read_text()) if one]


def jobs_of(one: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The replicated jobs of a JobSet, or of the one that a runtime makes."""
    spec = one["spec"]["template"]["spec"] if one["kind"] == "TrainingRuntime" else one["spec"]
    return spec["replicatedJobs"]


def templates(one: Dict[str, Any]) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """The pod templates of an object."""
    if one["kind"] in ("JobSet", "TrainingRuntime"):
        for job in jobs_of(one):
            yield job["name"], job["template"]["spec"]["template"]
    elif one["kind"] == "MPIJob":
        for name, spec in one["spec"]["mpiReplicaSpecs"].items():
            yield name, spec["template"]
    elif "template" in one.get("spec", {}):
        yield one["kind"], one["spec"]["template"]


def check_pod(name: str, spec: Dict[str, Any]) -> None:
    """What a pod that has EFA needs, and what would hide it."""
    volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
    check(not any("hostPath" in volume for volume in volumes.values()), f"{name}: a hostPath keeps EFA's plugin from its devices")
    for container in spec["containers"]:
        amounts = container["resources"]
        check(amounts["requests"] == amounts["limits"], f"{name}: requests and limits differ: GPUs, EFA and huge pages need both")
        mounts = {mount["mountPath"]: mount["name"] for mount in container.get("volumeMounts", [])}
        check(all(mount in volumes for mount in mounts.values()), f"{name}: a mount of no volume")
        check(not container.get("securityContext", {}).get("privileged"), f"{name}: privileged")
        if "vpc.amazonaws.com/efa" not in amounts["limits"]:
            continue
        shm = volumes.get(mounts.get("/dev/shm", ""), {}).get("emptyDir", {})
        check(shm.get("medium") == "Memory" and "sizeLimit" in shm, f"{name}: /dev/shm is no memory of a stated size")
        pages = volumes.get(mounts.get("/dev/hugepages", ""), {}).get("emptyDir", {})
        check(pages.get("medium") == "HugePages-2Mi" and "hugepages-2Mi" in amounts["limits"], f"{name}: no huge pages")
        check("nodeSelector" in spec, f"{name}: any node would do")
        check(spec["securityContext"]["runAsUser"] > 0, f"{name}: runs as root")


def check_mpijob(one: Dict[str, Any]) -> None:
    """PEs, slots and replicas agree."""
    spec = one["spec"]
    replicas = spec["mpiReplicaSpecs"]
    command = replicas["Launcher"]["template"]["spec"]["containers"][0]["command"]
    pes = int(command[command.index("-n") + 1])
    check(one["apiVersion"] == "kubeflow.org/v2beta1", "MPIJob: another version")
    check(spec["runPolicy"]["cleanPodPolicy"] in ("None", "Running", "All"), "MPIJob: cleanPodPolicy")
    check(spec["mpiImplementation"] in ("OpenMPI", "Intel", "MPICH"), "MPIJob: mpiImplementation")
    check(pes == spec["slotsPerWorker"] * replicas["Worker"]["replicas"], "MPIJob: -n is not slotsPerWorker * replicas")
    check(set(replicas) == {"Launcher", "Worker"} and replicas["Launcher"]["replicas"] == 1, "MPIJob: replicas")


def check_job(objects: Dict[str, Dict[str, Any]]) -> None:
    """Numbers of pods and PEs agree, and pod 0 has the name at which the others look for it."""
    job, service = objects["Job"], objects["Service"]
    spec = job["spec"]
    pod = spec["template"]["spec"]
    env = {one["name"]: one["value"] for one in pod["containers"][0]["env"]}
    check(spec["completionMode"] == "Indexed" and spec["backoffLimit"] == 0, "Job: not indexed, or tried again in parts")
    check(spec["completions"] == spec["parallelism"] == int(env["PODS"]), "Job: completions, parallelism and PODS differ")
    name = service["metadata"]["name"]
    check(pod["subdomain"] == name, "Job: the subdomain is not the service")
    check(env["STORE"].startswith(f"tcp://{job['metadata']['name']}-0.{name}:"), "Job: STORE is not pod 0")
    check(service["spec"]["clusterIP"] == "None" and service["spec"]["publishNotReadyAddresses"], "Service: not headless")
    labels = spec["template"]["metadata"]["labels"]
    check(service["spec"]["selector"].items() <= labels.items(), "Service: selects other pods")
    gpus = pod["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]
    check(int(env["PES_PER_POD"]) == gpus, "Job: PES_PER_POD is not the number of GPUs")


def check_program(command: List[str]) -> None:
    """What pods run is installed where the image has it."""
    installed = "/usr/local/share/doc/warpshmem/"
    check(command[-1].startswith(installed), f"{command[-1]} is not in the image")
    check((Path(sys.argv[1]) / command[-1][len(installed):]).is_file(), f"{command[-1]} is no file of the tree")


def gpus_of(template: Dict[str, Any]) -> int:
    """GPUs of a pod."""
    return int(template["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"])


def check_jobset(one: Dict[str, Any]) -> None:
    """torchrun is told of as many pods and PEs as there are, and of the name of the first pod."""
    (job,) = jobs_of(one)
    spec, network = job["template"]["spec"], one["spec"]["network"]
    command = spec["template"]["spec"]["containers"][0]["command"]
    said = dict(word[2:].split("=", 1) for word in command if word.startswith("--"))
    check(network["enableDNSHostnames"] and network["publishNotReadyAddresses"], "JobSet: pods have no names at once")
    check(said["master-addr"] == f"{one['metadata']['name']}-{job['name']}-0-0.{network['subdomain']}", "JobSet: another first pod")
    check(int(said["nnodes"]) == spec["completions"] == spec["parallelism"], "JobSet: --nnodes, completions, parallelism differ")
    check(int(said["nproc-per-node"]) == gpus_of(spec["template"]), "JobSet: --nproc-per-node is not the number of GPUs")
    check(spec["backoffLimit"] == 0 and one["spec"]["failurePolicy"]["maxRestarts"] == 0, "JobSet: starts again in parts")
    check_program(command)


def check_trainjob(runtime: Dict[str, Any], train: Dict[str, Any]) -> None:
    """The job is of the runtime, which has what the Trainer looks for."""
    (job,) = jobs_of(runtime)
    trainer, ref = train["spec"]["trainer"], train["spec"]["runtimeRef"]
    step = job["template"]["metadata"]["labels"].get("trainer.kubeflow.org/trainjob-ancestor-step")
    check((ref["kind"], ref["name"]) == (runtime["kind"], runtime["metadata"]["name"]), "TrainJob: of another runtime")
    check(job["name"] == "node" and step == "trainer", "TrainingRuntime: the Trainer finds no job `node`")
    check(trainer["numNodes"] == runtime["spec"]["mlPolicy"]["numNodes"], "TrainJob: another number of nodes")
    check(trainer["numProcPerNode"] == gpus_of(job["template"]["spec"]["template"]), "TrainJob: numProcPerNode is not the number of GPUs")
    check_program(trainer["command"])


def judge_by_trainer(objects: List[Dict[str, Any]]) -> bool:
    """The Trainer's own models, and JobSet's. False where the package is not there."""
    try:
        from kubeflow_trainer_api import models
    except ImportError:
        return False
    for one in objects:
        name = {"JobSet": "JobsetV1alpha2JobSetSpec"}.get(one["kind"], f"TrainerV1alpha1{one['kind']}Spec")
        try:
            model = getattr(models, name).from_dict(one["spec"])
        except ValueError as error:
            found.append(f"{one['kind']}: {error}")
            continue
        lost = set(one["spec"]) - set(model.to_dict())
        check(not lost, f"{one['kind']}: no field {lost}")
    return True


def judge_by_schemas(objects: List[Dict[str, Any]]) -> bool:
    """Kubernetes' own schemas; MPIJob's pods as those of a Job. False where the package is not there."""
    try:
        import kubernetes_validate
    except ImportError:
        return False
    for one in objects:
        judged = [one]
        if one["kind"] == "MPIJob":
            judged = [{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name.lower()},
                       "spec": {"template": {**template, "spec": {"restartPolicy": "Never", **template["spec"]}}}}
                      for name, template in templates(one)]
        elif one["kind"] in ("JobSet", "TrainingRuntime"):
            judged = [{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job["name"]}, "spec": job["template"]["spec"]}
                      for job in jobs_of(one)]
        elif one["kind"] == "TrainJob":
            continue
        for each in judged:
            try:
                kubernetes_validate.validate(each, SCHEMAS, strict=True)
            except kubernetes_validate.ValidationError as error:
                found.append(f"{one['kind']} {each['metadata']['name']}: {error}")
    return True


def main() -> int:
    """See above."""
    folder = Path(sys.argv[1]) / "packaging/kubernetes"
    job = {one["kind"]: one for one in documents(folder / "job.yaml")}
    if sys.argv[2:3] == ["take"]:
        print(job["ConfigMap"]["data"][sys.argv[3]])
        return 0
    mpijob = documents(folder / "mpijob.yaml")[0]
    jobset = documents(folder / "jobset.yaml")[0]
    runtime, train = documents(folder / "trainjob.yaml")
    check_mpijob(mpijob)
    check_job(job)
    check_jobset(jobset)
    check_trainjob(runtime, train)
    objects = [mpijob, *job.values(), jobset, runtime, train]
    for one in objects:
        for name, template in templates(one):
            check_pod(f"{one['kind']} {name}", template["spec"])
    judged = ["schemas"] * judge_by_schemas(objects) + ["models"] * judge_by_trainer([jobset, runtime, train])
    print("\n".join(found + judged))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
