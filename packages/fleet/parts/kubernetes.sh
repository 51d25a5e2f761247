# shellcheck shell=bash disable=SC2154
# The Kustomize base: it can be built, it is what Kubernetes' schemas call valid, and its Pods may do what the strictest level lets them.
kustomized() {
    if have kubectl; then kubectl kustomize "$1"; else kustomize build "$1"; fi
}
strict_pods() {
    python3 - "$@" <<'PYTHON'
import sys

import yaml

found = {}
for said in yaml.safe_load_all(open(sys.argv[1])):
    found[said["kind"]] = said
assert sorted(found) == ["ConfigMap", "Deployment", "NetworkPolicy", "ServiceAccount"], sorted(found)
deployment = found["Deployment"]["spec"]
labels = deployment["template"]["metadata"]["labels"]
pod = deployment["template"]["spec"]
assert deployment["selector"]["matchLabels"].items() <= labels.items()
assert pod["automountServiceAccountToken"] is False and not pod.get("hostNetwork") and not pod.get("hostPID") and not pod["shareProcessNamespace"]
assert pod["securityContext"]["runAsNonRoot"] is True and pod["securityContext"]["runAsUser"] > 0 and pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
assert not any("hostPath" in volume for volume in pod["volumes"])
containers = {container["name"]: container for container in pod["containers"] + pod["initContainers"]}
for name, container in containers.items():
    context = container["securityContext"]
    assert context["allowPrivilegeEscalation"] is False and context["readOnlyRootFilesystem"] is True, name
    assert context["capabilities"] == {"drop": ["ALL"]} and "runAsUser" not in context and not context.get("privileged"), name
    assert "memory" in container["resources"]["limits"], name
agent, fleet = containers["agent"], containers["lazaret-fleet"]
assert fleet["restartPolicy"] == "Always"
mounts = {name: {mount["name"]: mount for mount in container["volumeMounts"]} for name, container in containers.items()}
assert "state" not in mounts["agent"], "the agent could read the password"
assert mounts["agent"]["socket"]["readOnly"] is True and "readOnly" not in mounts["lazaret-fleet"]["socket"]
words = fleet["command"]
config, socket = words[words.index("--config") + 1], words[words.index("--socket") + 1]
assert mounts["lazaret-fleet"]["lazaret"]["mountPath"] == config and mounts["lazaret-fleet"]["lazaret"]["subPath"] == "fleet.toml"
assert socket.startswith(mounts["lazaret-fleet"]["socket"]["mountPath"] + "/") and mounts["agent"]["socket"]["mountPath"] == mounts["lazaret-fleet"]["socket"]["mountPath"]
volumes = {volume["name"]: volume for volume in pod["volumes"]}
assert volumes["lazaret"]["configMap"]["name"] == found["ConfigMap"]["metadata"]["name"], "a change of the ConfigMap starts no Pod anew"
policy = found["NetworkPolicy"]["spec"]
assert policy["podSelector"]["matchLabels"].items() <= labels.items() and policy["podSelector"]["matchLabels"], "it would hold for every Pod"
assert policy["policyTypes"] == ["Ingress", "Egress"] and not policy.get("ingress")
assert policy["egress"][0]["to"][0]["podSelector"]["matchLabels"] == {"k8s-app": "kube-dns"}, "no name would be found"
for name in ("config.toml", "fleet.toml"):
    import tomllib
    tomllib.loads(found["ConfigMap"]["data"][name])
fleet_toml = tomllib.loads(found["ConfigMap"]["data"]["fleet.toml"])
assert fleet_toml["state"]["password_file"].startswith(mounts["lazaret-fleet"]["state"]["mountPath"] + "/")
assert "password" not in fleet_toml["state"]
PYTHON
}
if ! have kubectl && ! have kustomize; then
    skip "kubernetes: there is neither kubectl nor kustomize"
else
    for place in base example; do
        check "kubernetes/$place can be built" kustomized "$top/packages/kubernetes/$place"
        kustomized "$top/packages/kubernetes/$place" >"$work/$place.yaml" 2>/dev/null || true
        if python3 -c 'import yaml' 2>/dev/null; then
            check "kubernetes/$place: its Pods are held as tightly as they can be" strict_pods "$work/$place.yaml"
        else
            skip "kubernetes: what its Pods may do (Python's yaml is missing)"
        fi
        if have kubernetes-validate; then
            # The first version with sidecars that is out of its trial, and the newest that the schemas have.
            check "kubernetes/$place is valid for 1.29" kubernetes-validate --strict -k 1.29.0 "$work/$place.yaml"
            check "kubernetes/$place is valid for the newest version known" kubernetes-validate --strict "$work/$place.yaml"
        else
            skip "kubernetes: the schemas (pip install kubernetes-validate)"
        fi
    done
    skip "kubernetes: a cluster; nothing was applied, and no NetworkPolicy was seen at work"
fi
