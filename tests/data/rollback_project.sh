# shellcheck shell=bash
# Makes the project that tests/rollback_destructive.rs tries its commands on: work of every kind that can be lost.
# Runs with the test's directory as HOME, and inside it.
set -e
mkdir -p no-template
git config --global init.templateDir "$PWD/no-template"
git config --global user.email u@example.com
git config --global user.name u
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global advice.detachedHead false
git config --global gc.auto 0
git init -q lib
(cd lib && echo 'int one;' > one.c && echo 'int two;' > two.c && git add . && git commit -qm lib)
git init -q proj
cd proj
mkdir -p src/deep/er docs data
printf 'node_modules/\ntarget/\nbuild/\n*.log\n.env\n*.cache\n' > .gitignore
echo '# read me' > README.md
echo 'fn main() {}' > src/main.rs
echo 'pub mod util;' > src/lib.rs
echo 'pub fn util() {}' > src/util.rs
for n in 1 2 3 4; do echo "page $n" > docs/page$n.md; done
printf '\000\001\ndata' > data/data.bin
printf '#!/bin/sh\necho run\n' > run.sh
chmod 755 run.sh
ln -s README.md link.md
git add .
git commit -qm begin
git submodule --quiet add ../lib sub
git commit -qm submodule
git branch merged
echo 'one more' >> README.md
git commit -qam 'one more'
git checkout -qb feat
echo feat > feat.txt
echo 'fn main() { feat() }' > src/main.rs
git add .
git commit -qm feat
git checkout -q main
git branch packed feat
git checkout -q packed
git commit -q --allow-empty -m 'only on packed'
git checkout -q main
git checkout -q --detach
git commit -q --allow-empty -m 'only under a tag'
git tag -a -m annotated v1
git commit -q --allow-empty -m 'only under a branch without a log'
git update-ref refs/heads/lonely HEAD
git checkout -q main
rm -f .git/logs/refs/heads/lonely
: > .git/logs/HEAD
git tag light feat
git pack-refs --all
git branch loose
git branch topic/one feat
echo 'first stash' >> src/lib.rs
git stash -q
echo 'second stash' >> docs/page1.md
git stash -q
# A work tree of its own.
git worktree add -q ../wt -b side
echo 'side work' >> ../wt/README.md
# Work that git does not hold.
echo '// changed' >> src/main.rs
echo '// staged' >> src/util.rs
git add src/util.rs
echo '// and changed again' >> src/util.rs
echo staged > src/staged.rs
git add src/staged.rs
echo 'page two, changed' >> docs/page2.md
git rm -q --cached docs/page4.md
echo notes > src/notes.txt
printf '\000\001bytes' > src/deep/er/new.bin
echo 'with a space' > 'docs/a page.md'
echo tool > tool.sh
chmod 755 tool.sh
echo secret > secret.txt
chmod 600 secret.txt
ln -s src ulink
ln -s nowhere dangling
mkdir empty
mkdir -p notes/old
echo n1 > notes/n1.txt
echo n2 > notes/n2.txt
echo n3 > notes/old/n3.txt
chmod 700 notes/old
# What git ignores.
echo KEY=1 > .env
echo log > app.log
echo src > src/src.log
echo cached > notes/x.cache
mkdir -p node_modules/x target/debug build
echo index > node_modules/x/index.js
echo out > target/debug/out
echo only > build/only.txt
# Over the bound of a file.
echo big > big.bin
echo big > data/huge.bin
truncate -s 34M big.bin
truncate -s 34M data/huge.bin
# Repositories inside.
git init -q nested
(cd nested && echo n > n.txt && git add . && git commit -qm nested && echo changed >> n.txt && echo new > u.txt && git branch other)
echo '// changed' >> sub/one.c
echo new > sub/new.c
git -C sub checkout -q -b work
git -C sub commit -qam 'only in the submodule'
echo '// changed again' >> sub/two.c
