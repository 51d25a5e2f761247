//! Archives and compression.

use super::{Deed, Operands, Program, p};

const TAR: &str = "-f --file -C --directory -b --blocking-factor -T:r --files-from:r -X:r --exclude-from:r --exclude --transform --xform -I:s \
    --use-compress-program:s --to-command:s --checkpoint-action:k --checkpoint? -g --listed-incremental -N --newer --owner --group --mode \
    --mtime --strip-components --one-top-level? -F:s --info-script:s --new-volume-script:s --rsh-command:s -V --label -K --starting-file -H --format \
    -c! --create! -x! --extract! --get! -t! --list! -r! --append! -u! --update! -A! --concatenate! --delete! -d! --diff! -z! -j! -J! -v! -p! -k! -a! \
    --remove-files! --overwrite! --absolute-names! -P!";
const GZIP: &str = "-S --suffix -c! --stdout! -d! --decompress! -k! --keep! -l! --list! -t! --test! -f! --force! -r! --recursive!";

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    p("7z", "-o:D", Deed::Change, Operands::Text),
    p("7za", "-o:D", Deed::Change, Operands::Text),
    p("7zz", "-o:D", Deed::Change, Operands::Text),
    p("brotli", "-o:w -q", Deed::Nothing, Operands::Read),
    p("bsdtar", TAR, Deed::Nothing, Operands::Tar),
    p("bunzip2", GZIP, Deed::Nothing, Operands::Modify),
    p("bzcat", "", Deed::Nothing, Operands::Read),
    p("bzip2", GZIP, Deed::Nothing, Operands::Modify),
    p("cabextract", "-d:D --directory:D -F --filter -s! -q! -l! -t!", Deed::Change, Operands::Read),
    p("compress", "", Deed::Nothing, Operands::Modify),
    p("cpio", "-F:r -D:d -H -i! -o! -p! -t! -d!", Deed::Change, Operands::Text),
    p("gtar", TAR, Deed::Nothing, Operands::Tar),
    p("gunzip", GZIP, Deed::Nothing, Operands::Modify),
    p("gzcat", "", Deed::Nothing, Operands::Read),
    p("gzip", GZIP, Deed::Nothing, Operands::Modify),
    p("jar", "-f:r --file:r -C:D --dir:D -x! -c! -t! -u! -v!", Deed::Change, Operands::Text),
    p("lsar", "", Deed::Nothing, Operands::Read),
    p("lz4", "", Deed::Nothing, Operands::ReadWrite),
    p("lzma", GZIP, Deed::Nothing, Operands::Modify),
    p("pigz", GZIP, Deed::Nothing, Operands::Modify),
    p("rar", "", Deed::Change, Operands::Text),
    p("tar", TAR, Deed::Nothing, Operands::Tar),
    p("unar", "-o:D", Deed::Change, Operands::Read),
    p("uncompress", "", Deed::Nothing, Operands::Modify),
    p("unrar", "", Deed::Change, Operands::Text),
    p("unxz", GZIP, Deed::Nothing, Operands::Modify),
    p("unzip", "-d:D -P -x -o! -l! -q! -n! -p! -t! -Z!", Deed::Change, Operands::Read),
    p("unzstd", "-o:w", Deed::Nothing, Operands::Read),
    p("xz", GZIP, Deed::Nothing, Operands::Modify),
    p("xzcat", "", Deed::Nothing, Operands::Read),
    p("zcat", "", Deed::Nothing, Operands::Read),
    p("zdiff", "", Deed::Nothing, Operands::Read),
    p("zip", "-x --exclude -i --include -b -t -tt -n -P -O:w -TT:s --unzip-command:s -m! -r! -q! -j! -u! -d! -9!", Deed::Nothing, Operands::WriteRead),
    p("zipinfo", "", Deed::Nothing, Operands::Read),
    p("zless", "", Deed::Nothing, Operands::Read),
    p("zstd", "-o:w -T -D:r --train! -c! --stdout! -d! -k! --keep! -l! --rm!", Deed::Nothing, Operands::Read),
    p("zstdcat", "", Deed::Nothing, Operands::Read),
];
