//! Archives and compression.

use super::{Operands, Operation, Program, p};

const TAR: &str = "-f --file -C --directory -b --blocking-factor -T:r --files-from:r -X:r --exclude-from:r --exclude --transform --xform -I:s \
    --use-compress-program:s --to-command:s --checkpoint-action:k --checkpoint? -g --listed-incremental -N --newer --owner --group --mode \
    --mtime --strip-components --one-top-level? -F:s --info-script:s --new-volume-script:s --rsh-command:s -V --label -K --starting-file -H --format \
    -c! --create! -x! --extract! --get! -t! --list! -r! --append! -u! --update! -A! --concatenate! --delete! -d! --diff! -z! -j! -J! -v! -p! -k! -a! \
    --remove-files! --overwrite! --absolute-names! -P!";
const GZIP: &str = "-S --suffix -c! --stdout! -d! --decompress! -k! --keep! -l! --list! -t! --test! -f! --force! -r! --recursive!";

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    p("7z", "-o:D", Operation::Change, Operands::Text),
    p("7za", "-o:D", Operation::Change, Operands::Text),
    p("7zz", "-o:D", Operation::Change, Operands::Text),
    p("brotli", "-o:w -q", Operation::Nothing, Operands::Read),
    p("bsdtar", TAR, Operation::Nothing, Operands::Tar),
    p("bunzip2", GZIP, Operation::Nothing, Operands::Modify),
    p("bzcat", "", Operation::Nothing, Operands::Read),
    p("bzip2", GZIP, Operation::Nothing, Operands::Modify),
    p("cabextract", "-d:D --directory:D -F --filter -s! -q! -l! -t!", Operation::Change, Operands::Read),
    p("compress", "", Operation::Nothing, Operands::Modify),
    p("cpio", "-F:r -D:d -H -i! -o! -p! -t! -d!", Operation::Change, Operands::Text),
    p("gtar", TAR, Operation::Nothing, Operands::Tar),
    p("gunzip", GZIP, Operation::Nothing, Operands::Modify),
    p("gzcat", "", Operation::Nothing, Operands::Read),
    p("gzip", GZIP, Operation::Nothing, Operands::Modify),
    p("jar", "-f:r --file:r -C:D --dir:D -x! -c! -t! -u! -v!", Operation::Change, Operands::Text),
    p("lsar", "", Operation::Nothing, Operands::Read),
    p("lz4", "", Operation::Nothing, Operands::ReadWrite),
    p("lzma", GZIP, Operation::Nothing, Operands::Modify),
    p("pigz", GZIP, Operation::Nothing, Operands::Modify),
    p("rar", "", Operation::Change, Operands::Text),
    p("tar", TAR, Operation::Nothing, Operands::Tar),
    p("unar", "-o:D", Operation::Change, Operands::Read),
    p("uncompress", "", Operation::Nothing, Operands::Modify),
    p("unrar", "", Operation::Change, Operands::Text),
    p("unxz", GZIP, Operation::Nothing, Operands::Modify),
    p("unzip", "-d:D -P -x -o! -l! -q! -n! -p! -t! -Z!", Operation::Change, Operands::Read),
    p("unzstd", "-o:w", Operation::Nothing, Operands::Read),
    p("xz", GZIP, Operation::Nothing, Operands::Modify),
    p("xzcat", "", Operation::Nothing, Operands::Read),
    p("zcat", "", Operation::Nothing, Operands::Read),
    p("zdiff", "", Operation::Nothing, Operands::Read),
    p("zip", "-x --exclude -i --include -b -t -tt -n -P -O:w -TT:s --unzip-command:s -m! -r! -q! -j! -u! -d! -9!", Operation::Nothing, Operands::WriteRead),
    p("zipinfo", "", Operation::Nothing, Operands::Read),
    p("zless", "", Operation::Nothing, Operands::Read),
    p("zstd", "-o:w -T -D:r --train! -c! --stdout! -d! -k! --keep! -l! --rm!", Operation::Nothing, Operands::Read),
    p("zstdcat", "", Operation::Nothing, Operands::Read),
];
