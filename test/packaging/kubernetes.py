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


def templates(one: Dict[str, Any]) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """The pod templates of an object."""
    if one["kind"] == "MPIJob":
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
    check_mpijob(mpijob)
    check_job(job)
    for one in [mpijob, *job.values()]:
        for name, template in templates(one):
            check_pod(f"{one['kind']} {name}", template["spec"])
    judged = judge_by_schemas([mpijob, *job.values()])
    print("\n".join(found + ["schemas"] * judged))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
