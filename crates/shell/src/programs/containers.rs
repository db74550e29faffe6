//! Containers and clusters: daemons that do what they are told.

use super::table::*;

const CONTAINERS: &str = "tells a container service what to run";
const CLUSTERS: &str = "acts on a cluster";

pub(super) const PROGRAMS: &[Program] = &[
    leaves("docker podman nerdctl docker-compose podman-compose buildah skopeo ctr crictl lxc lxd incus runc crun kaniko img finch colima limactl lima multipass vagrant vboxmanage virsh qemu-img qemu-system-x86_64 minikube kind k3d", CONTAINERS),
    leaves("kubectl oc k9s kubectx kubens stern argocd flux istioctl velero skaffold tilt telepresence", CLUSTERS)
        .options(&[
            // What these say names programs that log in.
            doubts("--kubeconfig --kuberc").valued(),
            writes("--cache-dir --profile-output"),
        ]),
    changes("helm").everywhere(&[
        doubts("--kubeconfig --post-renderer-args").valued(),
        doubts_line("--post-renderer"),
    ]).verbs(&[
        reads("lint template version env help").options(&[
            writes("--output-dir"),
            takes(
                "-f --values --set --set-string --set-file --set-json -n --namespace -s --show-only -a --api-versions \
                 --kube-version --name-template --version --repo",
            ),
        ]),
        changes("create package"),
        leaves("install upgrade uninstall delete rollback push pull repo search list ls get status history test registry plugin dependency dep show", CLUSTERS),
    ]),
    changes("kustomize kubeconform kubeval conftest"),
];
