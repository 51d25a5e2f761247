//! Command lines of cloud and hosting services.

use super::{Deed, Operands, Program, Sub, p, t};

const AWS: &str = "--profile --region --output --query --endpoint-url --ca-bundle --cli-read-timeout --cli-connect-timeout --color";

#[rustfmt::skip]
const AWS_SUBS: &[Sub] = &[
    t("s3 s3.ls s3.cp s3.mv s3.rm s3.rb s3.mb s3.sync s3.presign s3.website", Deed::Network),
    t("configure configure.list configure.get configure.set configure.list-profiles configure.sso", Deed::Change),
];

const fn net(name: &'static str) -> Program {
    p(name, "", Deed::Network, Operands::Text)
}

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    net("amplify"),
    p("aws", AWS, Deed::Network, Operands::Text).subs("s3 s3api ec2 iam sts rds ecs eks ecr lambda logs cloudformation dynamodb route53 configure secretsmanager ssm kms sqs sns", AWS_SUBS),
    net("awslocal"),
    net("az"),
    net("azcopy"),
    net("b2sdk"),
    net("borg"),
    net("bq"),
    net("buildkite-agent"),
    net("bw"),
    net("chalice"),
    net("circleci"),
    net("convex"),
    net("copilot"),
    net("datadog-ci"),
    net("doctl"),
    net("duplicity"),
    net("dvc"),
    net("eb"),
    net("eksctl"),
    net("fly"),
    net("flyctl"),
    net("func"),
    net("gcloud"),
    net("gh-pages"),
    net("gitlab-runner"),
    net("glcoud"),
    net("gsutil"),
    net("hcloud"),
    net("heroku"),
    net("hf"),
    net("huggingface-cli"),
    net("ibmcloud"),
    net("jenkins-cli"),
    net("linode-cli"),
    net("lpass"),
    net("mc"),
    net("modal"),
    net("neonctl"),
    net("newrelic"),
    net("now"),
    net("oci"),
    p("pass", "", Deed::Process, Operands::Text),
    net("planetscale"),
    net("pscale"),
    net("railway"),
    net("render"),
    net("restic"),
    net("s3cmd"),
    net("s5cmd"),
    net("sentry-cli"),
    net("shopify"),
    net("stripe"),
    net("supabase"),
    net("surge"),
    net("travis"),
    net("turso"),
    net("twilio"),
    net("wandb"),
    net("zappa"),
];
