//! git and the programs around it.

use super::{Kind, Operands, Operation, Program, Rest, Sub, WORDS, p, s, t};

const GLOBAL: &str = "-C:d -c:k --config-env --git-dir --work-tree:d --namespace --super-prefix --exec-path? --no-pager! -p! -P! --bare!";

#[rustfmt::skip]
const SUBS: &[Sub] = &[
    s("status", "-u? --untracked-files? --porcelain? --ignored? --column?", Operation::Look, Operands::Text),
    s("log show whatchanged", "-n --max-count --since --until --after --before --author --committer --grep -S -G -L \
        --format --pretty? --date --output:w --diff-filter -U --unified --skip --decorate? --stat? --oneline!", Operation::Look, Operands::Text),
    s("diff diff-tree diff-index diff-files range-diff", "-U --unified --output:w -S -G --diff-filter -O:r --stat? --word-diff? \
        --color? --relative? --no-index! --cached! --staged! --name-only! --name-status!", Operation::Look, Operands::Text),
    s("blame annotate", "-L --date --since --ignore-rev --ignore-revs-file:r -C? -M?", Operation::Look, Operands::Text),
    s("grep", "-e -f:r -A -B -C -m --max-depth --threads -O?", Operation::Look, Operands::Text),
    t("rev-parse describe shortlog ls-files ls-tree cat-file rev-list merge-base name-rev for-each-ref show-ref show-branch \
        check-ignore check-attr check-ref-format count-objects var version help verify-commit verify-tag cherry diff-pairs \
        get-tar-commit-id hash-object ls-remote-helper symbolic-ref fsck whatchanged-all request-pull mktree unpack-file \
        interpret-trailers stripspace patch-id fmt-merge-msg column merge-tree check-mailmap", Operation::Look),
    s("ls-remote", "--upload-pack:s --exec:s -o --server-option --sort -q! -h! -t! --refs! --heads! --tags!", Operation::Network, Operands::Text),
    s("push", "-o --push-option --repo --receive-pack:s --exec:s --recurse-submodules? --force-with-lease? --force! \
        --force-if-includes! --signed? --delete! --mirror! --all! --tags! --follow-tags! --prune! --set-upstream! --no-verify! \
        --dry-run! --atomic!", Operation::Network, Operands::Text),
    s("fetch", "--depth --deepen --shallow-since --upload-pack:s -j --jobs -o --recurse-submodules? --refmap", Operation::Network, Operands::Text),
    s("pull", "-s --strategy -X --strategy-option --depth --upload-pack:s -j --jobs --rebase? --force! --ff-only!", Operation::Network, Operands::Text),
    s("clone", "-b --branch -o --origin -c:k --config:k --depth --reference --separate-git-dir -u:s --upload-pack:s -j --jobs \
        --template:r --filter --shallow-since", Operation::Network, Operands::Text),
    t("send-email imap-send svn p4", Operation::Network),
    s("archive", "-o:w --output:w --format --prefix --remote --exec:s", Operation::Look, Operands::Text),
    s("bundle", "", Operation::Change, Operands::Text),
    s("format-patch", "-o:D --output-directory:D -n? --subject-prefix -v --to --cc --base", Operation::Change, Operands::Text),
    s("add stage", "--chmod --pathspec-from-file:r", Operation::Change, Operands::Text),
    s("commit", "-m --message -F:r --file:r --author --date -C --reuse-message -c --reedit-message --fixup --squash -t:r \
        --template:r --trailer --cleanup --pathspec-from-file:r -S? --gpg-sign? -u? --amend! --no-verify!", Operation::Change, Operands::Text),
    s("merge", "-m -F:r -s --strategy -X --strategy-option --into-name -S? --abort! --continue! --no-ff!", Operation::Change, Operands::Text),
    s("rebase", "--onto -x:s --exec:s -s --strategy -X --strategy-option -S? --abort! --continue! --skip! --interactive! \
        --autosquash! --autostash!", Operation::Change, Operands::Text),
    s("cherry-pick revert", "-m --mainline -s --strategy -X --strategy-option -S?", Operation::Change, Operands::Text),
    s("tag", "-m --message -F:r --file:r -u --local-user --sort --format --contains? --points-at --merged? -n? --delete! \
        --list! --force!", Operation::Change, Operands::Text),
    s("branch", "-u --set-upstream-to --sort --format --contains? --merged? --no-merged? --points-at --delete! --force! \
        --move! --copy! --list! --remotes! --all!", Operation::Change, Operands::Text),
    s("checkout", "-b -B --orphan --conflict --pathspec-from-file:r --force! --ours! --theirs! --patch! --detach! --track? -t?", Operation::Change, Operands::Text),
    s("switch", "-c --create -C --force-create --orphan --conflict --force! --discard-changes! --detach!", Operation::Change, Operands::Text),
    s("restore", "-s --source --conflict --pathspec-from-file:r --staged! --worktree! --patch!", Operation::Change, Operands::Text),
    s("reset", "--pathspec-from-file:r --hard! --soft! --mixed! --keep! --merge! --patch! --quiet!", Operation::Change, Operands::Text),
    s("clean", "-e --exclude --force! --dry-run! --interactive! --quiet!", Operation::Change, Operands::Text),
    s("rm", "--pathspec-from-file:r --cached! --force! --dry-run! --quiet!", Operation::Change, Operands::Text),
    t("mv", Operation::Change),
    s("stash stash.push stash.save stash.pop stash.apply stash.branch stash.store stash.create", "-m --message --pathspec-from-file:r",
        Operation::Change, Operands::Text),
    t("stash.list stash.show", Operation::Look),
    t("stash.drop stash.clear", Operation::Discard),
    t("reflog reflog.show reflog.exists reflog.list", Operation::Look),
    t("reflog.expire reflog.delete", Operation::Discard),
    t("remote remote.show remote.get-url", Operation::Look),
    s("remote.add", "-t -m --mirror?", Operation::Change, Operands::Text),
    t("remote.remove remote.rm remote.rename remote.set-url remote.set-head remote.set-branches remote.prune", Operation::Change),
    t("remote.update", Operation::Network),
    t("worktree worktree.list", Operation::Look),
    s("worktree.add", "-b -B --reason", Operation::Change, Operands::Create),
    t("worktree.move worktree.lock worktree.unlock worktree.prune worktree.repair", Operation::Change),
    s("worktree.remove", "--force!", Operation::Change, Operands::Text),
    t("submodule submodule.status submodule.summary", Operation::Look),
    t("submodule.add submodule.update submodule.set-url", Operation::Network),
    t("submodule.init submodule.deinit submodule.sync submodule.set-branch submodule.absorbgitdirs", Operation::Change),
    s("submodule--helper", "+", Operation::Look, Operands::Text).wrap(WORDS.skip(1).rest(Rest::Text).keep()),
    s("submodule.foreach", "+ --recursive!", Operation::Look, Operands::Text).wrap(WORDS.rest(Rest::Text).keep()),
    t("bisect bisect.start bisect.good bisect.bad bisect.reset bisect.skip bisect.log bisect.old bisect.new bisect.replay \
        bisect.terms bisect.view", Operation::Change),
    s("bisect.run", "+", Operation::Change, Operands::Text).wrap(WORDS.keep()),
    s("config", "-f:w --file:w --blob --type --default --get? --get-all? --add? --unset? --list! --global! --system! --local!", Operation::Nothing, Operands::Text),
    s("notes notes.add notes.append notes.edit notes.copy notes.remove", "-m -F:r -C -c --ref", Operation::Change, Operands::Text),
    t("notes.list notes.show", Operation::Look),
    s("am apply", "-p --directory --exclude --include -C --whitespace -3! --check! --stat! --abort! --continue!", Operation::Change, Operands::Text),
    s("init", "-b --initial-branch --template:r --separate-git-dir --shared?", Operation::Change, Operands::Create),
    t("gc repack pack-refs prune-packed maintenance commit-graph multi-pack-index update-server-info rerere sparse-checkout \
        update-index write-tree commit-tree lfs pack-objects index-pack unpack-objects mktag \
        credential fast-import fast-export replace backfill", Operation::Change),
    s("read-tree", "--prefix --index-output:w --exclude-per-directory --reset! -u! -m!", Operation::Change, Operands::Text),
    s("checkout-index", "--prefix --stage --force! --all! --stdin! --temp!", Operation::Change, Operands::Text),
    s("prune", "--expire", Operation::Discard, Operands::Text),
    t("update-ref", Operation::Change),
    s("filter-branch", "--tree-filter:s --index-filter:s --env-filter:s --msg-filter:s --commit-filter:s --tag-name-filter:s \
        --parent-filter:s --setup:s --subdirectory-filter --original -d", Operation::Discard, Operands::Text),
    s("filter-repo", "--source --target --path --path-rename --path-glob --path-regex --subdirectory-filter \
        --to-subdirectory-filter --refs --replace-text:r --paths-from-file:r --mailmap:r --analyze! --dry-run! --force! \
        --invert-paths!", Operation::Discard, Operands::Text),
    s("difftool mergetool", "-x:s --extcmd:s -t --tool", Operation::Process, Operands::Text),
    t("gui citool web--browse http-backend upload-pack receive-pack", Operation::Process),
    s("instaweb", "-d:s --httpd:s -b:s --browser:s -p --port -m --module-path -l! --local! --start! --stop! --restart!", Operation::Process, Operands::Text),
    s("daemon", "--access-hook:s --base-path --interpolated-path --port --listen --user --group --pid-file:w --timeout --max-connections", Operation::Process, Operands::Text),
    s("shell", "-c:s", Operation::Process, Operands::Text),
    s("for-each-repo", "+ --config --keep-going!", Operation::Process, Operands::Text),
    t("flow", Operation::Change),
];

#[rustfmt::skip]
const GH: &[Sub] = &[
    t("auth auth.login auth.logout auth.status auth.refresh auth.switch auth.setup-git auth.token", Operation::Network),
    t("pr pr.list pr.view pr.diff pr.checks pr.status issue issue.list issue.view issue.status repo.view repo.list run run.list \
        run.view run.watch run.download release release.list release.view workflow workflow.list workflow.view search label \
        label.list gist gist.list gist.view status browse cache org project ruleset", Operation::Network),
    s("api", "-X --method -H --header -f --raw-field -F --field --input:r -q --jq -t --template --hostname --cache -p", Operation::Network, Operands::Text),
    s("pr.create pr.edit pr.comment pr.review issue.create issue.edit issue.comment release.create release.edit", "-t --title -b --body -F:r \
        --body-file:r -B --base -H --head -R --repo -l --label -a --assignee -r --reviewer -m --milestone -n --notes --notes-file:r \
        --target -T --template", Operation::Network, Operands::Text),
    s("pr.merge", "-b --body -t --subject -F:r -R --repo -A", Operation::Network, Operands::Text),
    t("pr.checkout pr.close pr.reopen pr.ready pr.lock pr.unlock issue.close issue.reopen issue.delete issue.transfer issue.pin \
        repo repo.clone repo.create repo.fork repo.sync repo.edit repo.delete repo.rename repo.archive repo.set-default \
        release.delete release.upload release.download secret secret.set secret.list secret.delete variable variable.set \
        variable.list workflow.run workflow.enable workflow.disable run.rerun run.cancel run.delete gist.create gist.edit \
        gist.delete gist.clone label.create label.delete ssh-key gpg-key codespace attestation", Operation::Network),
    t("extension extension.install extension.upgrade", Operation::Install),
    t("config alias completion version help", Operation::Nothing),
];

#[rustfmt::skip]
const HG: &[Sub] = &[
    t("clone pull push incoming outgoing", Operation::Network),
    t("status st log diff annotate cat heads id identify manifest paths root summary tip version help grep files branches bookmarks tags", Operation::Look),
];

#[rustfmt::skip]
const SVN: &[Sub] = &[
    t("checkout co export update up commit ci switch import", Operation::Network),
    t("status st log diff blame cat info list ls help", Operation::Look),
];

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    p("bfg", "", Operation::Discard, Operands::Text),
    p("commitlint", "", Operation::Process, Operands::Text),
    p("gh", "-R --repo", Operation::Network, Operands::Text).subs("auth pr issue repo run release workflow label gist secret variable extension", GH),
    p("git", GLOBAL, Operation::Unknown, Operands::Text).kind(Kind::Git).subs("stash reflog remote worktree submodule bisect notes", SUBS),
    p("git-cliff", "-o:w --output:w", Operation::Look, Operands::Text),
    p("git-filter-repo", "", Operation::Discard, Operands::Text),
    p("git-lfs", "", Operation::Change, Operands::Text),
    p("gitk", "", Operation::Look, Operands::Text),
    p("gitleaks", "", Operation::Look, Operands::Text),
    p("glab", "-R --repo", Operation::Network, Operands::Text).subs("auth mr issue repo ci release", &[]),
    p("hg", "-R -m -r -u", Operation::Change, Operands::Text).subs("", HG),
    p("hub", "", Operation::Network, Operands::Text),
    p("husky", "", Operation::Change, Operands::Text),
    p("jj", "-R -m --message -r --revision", Operation::Change, Operands::Text),
    p("lazygit", "", Operation::Process, Operands::Text),
    p("lefthook", "", Operation::Process, Operands::Text),
    p("lint-staged", "", Operation::Process, Operands::Text),
    p("pre-commit", "", Operation::Process, Operands::Text),
    p("svn", "-m -r", Operation::Network, Operands::Text).subs("", SVN),
    p("tig", "", Operation::Look, Operands::Text),
    p("trufflehog", "", Operation::Look, Operands::Text),
];
