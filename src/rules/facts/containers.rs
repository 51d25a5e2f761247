//! Containers, virtual machines, clusters, infrastructure as code.

use super::{Operands, Operation, Program, Rest, Sub, WORDS, p, s, t};

const RUN: &str = "+ -v --volume -e --env --env-file:r -p --publish -w --workdir -u --user --name --network --net --mount --entrypoint -l \
    --label -m --memory --cpus --platform --add-host --device --cap-add --cap-drop --security-opt --pid --ipc --uts --userns --restart \
    -h --hostname --log-driver --log-opt --tmpfs --ulimit --shm-size --gpus --pull --runtime --dns --link --expose --cidfile:w --volumes-from \
    -a --attach --stop-signal --stop-timeout --health-cmd --sysctl --group-add --cgroupns --cgroup-parent --isolation \
    --annotation --cpuset-cpus --cpu-shares --memory-swap --blkio-weight --device-cgroup-rule --mac-address --ip --domainname \
    --dns-search --label-file:r --network-alias --oom-score-adj --pids-limit --storage-opt --userns --volume-driver \
    --oom-kill-disable! --no-healthcheck! --sig-proxy? -q! --quiet! -i! -t! -d! --rm! --privileged! --init! --read-only!";
const EXEC: &str =
    "+ -e --env --env-file:r -w --workdir -u --user --detach-keys --index -i! -t! -d! -T! --privileged!";
const COMPOSE_RUN: &str = "+ -v --volume -e --env --env-from-file:r -p --publish -w --workdir -u --user --name --entrypoint -l --label \
    --cap-add --cap-drop --pull -i! -t! -d! -T! -P! --rm! --build! --no-deps! --service-ports! --use-aliases! --quiet-pull! \
    --remove-orphans!";

#[rustfmt::skip]
const DOCKER: &[Sub] = &[
    t("ps images logs inspect version info stats top port diff history events search container.ls container.list container.ps \
        container.inspect container.logs container.stats container.top container.port container.diff image image.ls image.list \
        image.inspect image.history volume volume.ls volume.list volume.inspect network network.ls network.list network.inspect system \
        system.df system.info system.events compose.ps compose.logs compose.config compose.images compose.top compose.ls compose.port \
        compose.version context context.ls context.show context.inspect container help buildx.ls buildx.inspect buildx.version buildx.du manifest.inspect \
        builder buildx manifest plugin node service stack swarm secret config checkpoint trust machine pod", Operation::Nothing),
    s("compose", COMPOSE, Operation::Nothing, Operands::Text),
    s("run container.run", RUN, Operation::Process, Operands::Text).wrap(WORDS.skip(1).remote()),
    s("create container.create", RUN, Operation::Process, Operands::Text).wrap(WORDS.skip(1).remote()),
    s("exec container.exec", EXEC, Operation::Process, Operands::Text).wrap(WORDS.skip(1).remote()),
    s("compose.run", COMPOSE_RUN, Operation::Process, Operands::Text).wrap(WORDS.skip(1).remote()),
    s("compose.exec", EXEC, Operation::Process, Operands::Text).wrap(WORDS.skip(1).remote()),
    s("build image.build buildx.build buildx.bake builder.build", "-t --tag -f:r --file:r --build-arg --target --platform -o --output --secret --ssh --cache-from --cache-to --progress \
        --network --label --iidfile:w", Operation::Process, Operands::Text),
    t("compose.up compose.start compose.restart compose.build compose.create compose.watch compose.cp compose.scale compose.pause compose.unpause \
        start restart pause unpause wait attach cp commit export save load import tag update rename compose.wait compose.attach \
        container.start container.restart container.cp container.commit container.wait image.tag image.save image.load \
        volume.create network.create network.connect network.disconnect context.use context.create buildx.use buildx.create \
        container.export container.rename container.update container.attach image.import", Operation::Process),
    t("stop kill compose.stop compose.kill compose.down compose.rm rm rmi container.stop container.kill container.rm container.prune \
        image.rm image.prune volume.rm volume.prune network.rm network.prune system.prune builder.prune buildx.prune buildx.rm context.rm", Operation::Process),
    s("unshare", "+ --rootless-netns!", Operation::Process, Operands::Text).wrap(WORDS),
    t("pull push login logout compose.pull compose.push image.pull image.push buildx.imagetools", Operation::Network),
];

#[rustfmt::skip]
const KUBECTL: &[Sub] = &[
    t("get describe logs log top explain api-resources api-versions version cluster-info auth auth.can-i auth.whoami diff config config.view \
        config.current-context config.get-contexts config.get-clusters events wait kustomize plugin completion options rollout.status rollout.history rollout", Operation::Network),
    s("exec", "-c --container -n --namespace -f:r -i! -t!", Operation::Network, Operands::Text).wrap(WORDS.rest(Rest::AfterDashes).remote()),
    s("run debug", "--image -n --namespace -c -l --env --overrides", Operation::Network, Operands::Text).wrap(WORDS.rest(Rest::AfterDashes).remote()),
    s("create.job create.cronjob", "--image --schedule --from --restart -n --namespace -o --output --dry-run?", Operation::Network, Operands::Text)
        .wrap(WORDS.rest(Rest::AfterDashes).remote()),
    s("apply create delete replace patch edit scale autoscale label annotate set expose taint drain cordon uncordon cp port-forward proxy attach \
        rollout.restart rollout.undo rollout.pause rollout.resume certificate config.use-context config.set config.set-context config.set-credentials config.set-cluster \
        config.unset config.delete-context config.rename-context", "-f:r --filename:r -k -c --container -n --namespace -l --selector -p --patch -o --output --replicas --type", Operation::Network, Operands::Text),
];

#[rustfmt::skip]
const TERRAFORM: &[Sub] = &[
    t("fmt", Operation::Change),
    t("validate show output graph providers version console get state state.list state.show workspace workspace.list workspace.show test metadata", Operation::Look),
    t("init plan refresh login logout import", Operation::Network),
    t("apply destroy taint untaint force-unlock state.rm state.mv state.push state.pull state.replace-provider workspace.new workspace.select workspace.delete", Operation::Network),
];

#[rustfmt::skip]
const HELM: &[Sub] = &[
    t("list ls status get history show inspect template lint search version env verify dependency dep", Operation::Network),
    t("install upgrade uninstall delete rollback repo pull push test package create plugin registry", Operation::Network),
];

#[rustfmt::skip]
const VAGRANT: &[Sub] = &[
    s("ssh", "-c:s --command:s", Operation::Process, Operands::Text),
    t("up halt destroy provision reload status box init suspend resume snapshot global-status validate", Operation::Process),
];

#[rustfmt::skip]
const LXC: &[Sub] = &[
    s("exec", "+ --env --user --group --cwd --mode -t! -T! -n!", Operation::Process, Operands::Text).wrap(WORDS.skip(1).remote()),
];

#[rustfmt::skip]
const MULTIPASS: &[Sub] = &[
    s("exec", "+ -d --working-directory", Operation::Process, Operands::Text).wrap(WORDS.skip(1).remote()),
];

#[rustfmt::skip]
const CONSUL: &[Sub] = &[
    s("exec", "+ -node -service -tag -datacenter", Operation::Network, Operands::Text).wrap(WORDS.rest(Rest::Text).remote()),
];

#[rustfmt::skip]
const NOMAD: &[Sub] = &[
    s("alloc.exec exec", "+ -task -i! -t!", Operation::Network, Operands::Text).wrap(WORDS.skip(1).remote()),
];

#[rustfmt::skip]
const UNSHARE: &[Sub] = &[s("unshare", "+ -m --mount", Operation::Process, Operands::Text).wrap(WORDS)];

#[rustfmt::skip]
const CRICTL: &[Sub] = &[
    s("exec", "+ -i! -t! -s!", Operation::Process, Operands::Text).wrap(WORDS.skip(1).remote()),
];

const K: &str =
    "-n --namespace --context --kubeconfig:r --cluster -s --server --token --user --as --request-timeout -v";
const D: &str = "-H --host -c --context --config -l --log-level --connection --url";
const NESTED: &str = "container image volume network system compose context buildx builder manifest";
const COMPOSE: &str = "-f:r --file:r -p --project-name --profile --env-file:r --project-directory";

#[rustfmt::skip]
const COMPOSE_SUBS: &[Sub] = &[
    s("run", COMPOSE_RUN, Operation::Process, Operands::Text).wrap(WORDS.skip(1).remote()),
    s("exec", EXEC, Operation::Process, Operands::Text).wrap(WORDS.skip(1).remote()),
    t("ps logs config images top ls port version", Operation::Nothing),
    t("up start restart build create stop kill down rm pause unpause scale watch cp", Operation::Process),
    t("pull push", Operation::Network),
];

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    p("VBoxManage", "", Operation::Process, Operands::Text),
    p("ansible", "-i:r -m -a -u -e --private-key:r", Operation::Network, Operands::Text),
    p("ansible-galaxy", "", Operation::Install, Operands::Text),
    p("ansible-inventory", "", Operation::Look, Operands::Text),
    p("ansible-lint", "", Operation::Look, Operands::Text),
    p("ansible-playbook", "-i:r -e --extra-vars -t --tags -l --limit -u --private-key:r", Operation::Network, Operands::Read),
    p("ansible-vault", "--vault-password-file --vault-id", Operation::Change, Operands::Text),
    p("argocd", "", Operation::Network, Operands::Text),
    p("buildah", "", Operation::Process, Operands::Text).subs("", UNSHARE),
    p("cdk", "", Operation::Network, Operands::Text),
    p("checkov", "", Operation::Look, Operands::Text),
    p("colima", "", Operation::Process, Operands::Text),
    p("consul", "", Operation::Network, Operands::Text).subs("", CONSUL),
    p("crane", "", Operation::Network, Operands::Text),
    p("crictl", "", Operation::Process, Operands::Text).subs("", CRICTL),
    p("ctr", "", Operation::Process, Operands::Text),
    p("distrobox", "", Operation::Process, Operands::Text),
    p("dive", "", Operation::Nothing, Operands::Text),
    p("docker", D, Operation::Process, Operands::Text).subs(NESTED, DOCKER),
    p("docker-compose", COMPOSE, Operation::Process, Operands::Text).subs("", COMPOSE_SUBS),
    p("docker-machine", "", Operation::Process, Operands::Text),
    p("finch", D, Operation::Process, Operands::Text).subs(NESTED, DOCKER),
    p("flux", "", Operation::Network, Operands::Text),
    p("grype", "", Operation::Network, Operands::Text),
    p("helm", K, Operation::Network, Operands::Text).subs("", HELM),
    p("helmfile", "", Operation::Network, Operands::Text),
    p("istioctl", "", Operation::Network, Operands::Text),
    p("k", K, Operation::Network, Operands::Text).subs("config create rollout auth", KUBECTL),
    p("k3d", "", Operation::Process, Operands::Text),
    p("k3s", "", Operation::System, Operands::Text),
    p("k9s", "", Operation::Network, Operands::Text),
    p("kind", "", Operation::Process, Operands::Text),
    p("kubeadm", "", Operation::System, Operands::Text),
    p("kubectl", K, Operation::Network, Operands::Text).subs("config create rollout auth", KUBECTL),
    p("kubectx", "", Operation::Change, Operands::Text),
    p("kubens", "", Operation::Change, Operands::Text),
    p("kustomize", "", Operation::Look, Operands::Text),
    p("lima", "", Operation::Process, Operands::Text),
    p("limactl", "", Operation::Process, Operands::Text),
    p("lxc", "", Operation::Process, Operands::Text).subs("", LXC),
    p("minikube", "", Operation::Process, Operands::Text),
    p("multipass", "", Operation::Process, Operands::Text).subs("", MULTIPASS),
    p("nerdctl", D, Operation::Process, Operands::Text).subs(NESTED, DOCKER),
    p("nomad", "", Operation::Network, Operands::Text).subs("alloc", NOMAD),
    p("oc", K, Operation::Network, Operands::Text).subs("config create rollout auth", KUBECTL),
    p("packer", "", Operation::Network, Operands::Text),
    p("podman", D, Operation::Process, Operands::Text).subs(NESTED, DOCKER),
    p("podman-compose", COMPOSE, Operation::Process, Operands::Text).subs("", COMPOSE_SUBS),
    p("pulumi", "-C:d --cwd:d -s --stack", Operation::Network, Operands::Text),
    p("qemu-img", "", Operation::Process, Operands::Text),
    p("sam", "", Operation::Network, Operands::Text),
    p("serverless", "", Operation::Network, Operands::Text),
    p("skaffold", "", Operation::Process, Operands::Text),
    p("skopeo", "", Operation::Network, Operands::Text),
    p("sls", "", Operation::Network, Operands::Text),
    p("sst", "", Operation::Network, Operands::Text),
    p("stern", "", Operation::Network, Operands::Text),
    p("syft", "", Operation::Nothing, Operands::Text),
    p("terraform", "-chdir:d", Operation::Network, Operands::Text).dash().subs("state workspace", TERRAFORM),
    p("terragrunt", "", Operation::Network, Operands::Text).dash().subs("state workspace", TERRAFORM),
    p("tflint", "", Operation::Look, Operands::Text),
    p("tfsec", "", Operation::Look, Operands::Text),
    p("tilt", "", Operation::Process, Operands::Text),
    p("tofu", "-chdir:d", Operation::Network, Operands::Text).dash().subs("state workspace", TERRAFORM),
    p("toolbox", "", Operation::Process, Operands::Text),
    p("trivy", "", Operation::Network, Operands::Text),
    p("vagrant", "", Operation::Process, Operands::Text).subs("", VAGRANT),
    p("vault", "", Operation::Network, Operands::Text),
    p("virsh", "", Operation::System, Operands::Text),
];
