//! Programs that talk to other machines.

use super::{Kind, Operands, Operation, Program, Rest, WORDS, p, quiet, w};

const CURL: &str = "-A --user-agent -b --cookie -c:w --cookie-jar:w -C --continue-at -d --data --data-raw --data-ascii \
    --data-binary --data-urlencode --json -D:w --dump-header:w -e --referer -E:r --cert:r --key:r --cacert:r --capath -F --form \
    --form-string -G! --get! -H --header -K:r --config:r -m --max-time --connect-timeout -o:w --output:w --output-dir:D -O! \
    --remote-name! -P --ftp-port -Q --quote -r --range -T:r --upload-file:r -u --user -U --proxy-user -w --write-out -x --proxy \
    -X --request -y -Y -z --time-cond --url:u --retry --retry-delay --retry-max-time --resolve --connect-to --interface \
    --limit-rate --max-redirs --unix-socket --aws-sigv4 --ciphers --proto --proto-default --stderr:w --trace:w --trace-ascii:w \
    --netrc-file:r --oauth2-bearer --hostpubsha256 --tls-max --variable --etag-save:w --etag-compare:r -h? --help?";
const WGET: &str = "-O:w --output-document:w -o:w --output-file:w -a:w --append-output:w -P:D --directory-prefix:D -i:r \
    --input-file:r -e --execute -t --tries -T --timeout -w --wait -U --user-agent --header --post-data --post-file:r \
    --body-data --body-file:r --method --user --password --load-cookies:r --save-cookies:w --ca-certificate:r --certificate:r \
    --private-key:r -Q --quota -A --accept -R --reject -D --domains -l --level -B --base -I -X --limit-rate --referer \
    --use-askpass:s --max-redirect --rejected-log:w";
const SSH: &str = "+ -p -i:r -l -o:k -L -R -D -F:r -J -b -B -c -e -E:w -I -m -O -Q -S -w -W -N! -f! -T! -t! -v! -q! -A! -X! -Y! -C! -4! -6! -n! -G! -V^";
const SCP: &str = "-P -i:r -o:k -F:r -J -l -S:s -c -D:s -X -r! -p! -q! -v! -C! -3!";
const RSYNC: &str = "-e:s --rsh:s --rsync-path:s --exclude --include --exclude-from:r --include-from:r --files-from:r -f --filter \
    --backup-dir --suffix --temp-dir -T --partial-dir --compare-dest --copy-dest --link-dest --bwlimit --port --password-file:r \
    --log-file:w --timeout --max-size --min-size --chmod --chown -M --info --out-format -B --recursive! --archive! --delete! \
    --delete-before! --delete-after! --delete-excluded! --remove-source-files! --dry-run!";
const HTTP: &str = "-a --auth -A --auth-type -o:w --output:w -s --style -p --print --timeout --session --proxy --verify --cert:r --check-status!";

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    p("Invoke-RestMethod", "-Uri:u -uri:u -InFile:r -infile:r -OutFile:w -outfile:w -Method -method -Body -body -Headers -ContentType", Operation::Network, Operands::Urls).dash(),
    p("Invoke-WebRequest", "-Uri:u -uri:u -InFile:r -infile:r -OutFile:w -outfile:w -Method -method -Body -body -Headers -ContentType", Operation::Network, Operands::Urls).dash(),
    p("ab", "-n -c -t -p:r -T -H -g:w -e:w", Operation::Network, Operands::Urls),
    p("age", "-o:w --output:w -r --recipient -R:r -i:r --identity:r", Operation::Nothing, Operands::Read),
    p("age-keygen", "-o:w", Operation::Nothing, Operands::Read),
    p("aider", "", Operation::Process, Operands::Text),
    p("aria2c", "-d:D --dir:D -o:w --out:w -i:r -x -s -j -k --on-download-complete:s", Operation::Network, Operands::Urls),
    quiet("arp"),
    p("autossh", SSH, Operation::Network, Operands::Text).kind(Kind::Wrap(WORDS.skip(1).rest(Rest::Text).remote())),
    p("axel", "-o:w -n", Operation::Network, Operands::Urls),
    p("certbot", "", Operation::System, Operands::Text),
    p("claude", "-p --print --model --settings --permission-mode --mcp-config --allowedTools --add-dir", Operation::Process, Operands::Text),
    p("cloudflared", "", Operation::Network, Operands::Text),
    p("codex", "", Operation::Process, Operands::Text),
    p("cosign", "--key:r", Operation::Network, Operands::Text),
    p("croc", "", Operation::Network, Operands::Text),
    p("cryptcat", NC, Operation::Network, Operands::Text),
    p("curl", CURL, Operation::Network, Operands::Urls),
    p("curlie", CURL, Operation::Network, Operands::Urls),
    p("dbclient", "+ -p -i:r -l -L -R", Operation::Network, Operands::Text).kind(Kind::Wrap(WORDS.skip(1).rest(Rest::Text).remote())),
    p("dig", "-t -p -x -f:r", Operation::Network, Operands::Text),
    p("dog", "", Operation::Network, Operands::Text),
    p("drill", "", Operation::Network, Operands::Text),
    p("dsh", "+ -g -m -f:r -a! -M! -c! -w! -r", Operation::Network, Operands::Text).kind(Kind::Wrap(WORDS.rest(Rest::Text).remote())),
    p("elinks", "-dump-width", Operation::Network, Operands::Urls).dash(),
    p("fetch", "-o:w", Operation::Network, Operands::Urls),
    p("ffuf", "-u -w:r -o:w -H -mc -fc", Operation::Network, Operands::Text).dash(),
    p("firewall-cmd", "", Operation::System, Operands::Text),
    p("fping", "-c -t", Operation::Network, Operands::Text),
    p("ftp", "-p!", Operation::Network, Operands::Text),
    p("gemini", "", Operation::Process, Operands::Text),
    quiet("getent"),
    p("gobuster", "-u -w:r -o:w -x -t", Operation::Network, Operands::Text),
    p("gpg", "-o:w --output:w -r --recipient -u --local-user --homedir --passphrase --passphrase-file:r --keyserver --export? --batch!", Operation::Process, Operands::Read),
    p("gpg2", "-o:w --output:w -r --recipient -u --local-user --homedir --passphrase --keyserver", Operation::Process, Operands::Read),
    p("grpcurl", "-d -H -proto -import-path -cacert:r -cert:r -key:r", Operation::Network, Operands::Urls).dash(),
    p("hey", "-n -c -q -z -m -H -d -D:r -T -o", Operation::Network, Operands::Urls).dash(),
    p("host", "-t", Operation::Network, Operands::Text),
    quiet("hostid"),
    quiet("hostname"),
    p("http", HTTP, Operation::Network, Operands::Urls),
    p("httpie", HTTP, Operation::Network, Operands::Urls),
    p("https", HTTP, Operation::Network, Operands::Urls),
    quiet("ifconfig"),
    p("invoke-restmethod", "-Uri:u -uri:u -InFile:r -infile:r -OutFile:w -outfile:w -Method -method -Body -body -Headers -ContentType", Operation::Network, Operands::Urls).dash(),
    p("invoke-webrequest", "-Uri:u -uri:u -InFile:r -infile:r -OutFile:w -outfile:w -Method -method -Body -body -Headers -ContentType", Operation::Network, Operands::Urls).dash(),
    p("ip", "-n", Operation::Nothing, Operands::Text).kind(Kind::Dash),
    p("ip6tables", "", Operation::System, Operands::Text),
    p("iptables", "", Operation::System, Operands::Text),
    p("irm", "-Uri:u -uri:u -InFile:r -infile:r -OutFile:w -outfile:w -Method -method -Body -body -Headers -ContentType", Operation::Network, Operands::Urls).dash(),
    p("iwr", "-Uri:u -uri:u -InFile:r -infile:r -OutFile:w -outfile:w -Method -method -Body -body -Headers -ContentType", Operation::Network, Operands::Urls).dash(),
    p("k6", "", Operation::Network, Operands::Text),
    p("lftp", "-c -e -f:r -u -p", Operation::Network, Operands::Text),
    p("links", "-width", Operation::Network, Operands::Urls).dash(),
    p("localtunnel", "", Operation::Network, Operands::Text),
    p("lt", "", Operation::Network, Operands::Text),
    p("lynx", "-cfg:r -width", Operation::Network, Operands::Urls).dash(),
    p("magic-wormhole", "", Operation::Network, Operands::Text),
    p("mail", "-s -r -a:r -c -b -A", Operation::Network, Operands::Text),
    p("mailx", "-s -r -a:r -c -b -A", Operation::Network, Operands::Text),
    p("minisign", "-m:r -s:r -p:r -x:w", Operation::Nothing, Operands::Text),
    p("mkcert", "-cert-file:w -key-file:w", Operation::System, Operands::Text).dash(),
    p("mtr", "-c -i", Operation::Network, Operands::Text),
    p("mussh", "-h -H:r -c:s -l -m -o -p -t", Operation::Network, Operands::Text),
    p("mutt", "-s -a:r -c -b -i:r -F:r -e", Operation::Network, Operands::Text),
    p("nc", NC, Operation::Network, Operands::Text),
    p("ncat", NC, Operation::Network, Operands::Text),
    p("netcat", NC, Operation::Network, Operands::Text),
    quiet("netstat"),
    p("nft", "-f:r", Operation::System, Operands::Text),
    p("ngrok", "", Operation::Network, Operands::Text),
    p("nikto", "-h -o:w -maxtime", Operation::Network, Operands::Text).dash(),
    p("nmap", "-p -oN:w -oX:w -oG:w -iL:r", Operation::Network, Operands::Text).dash(),
    p("nmcli", "", Operation::System, Operands::Text),
    p("nslookup", "", Operation::Network, Operands::Text),
    p("nuclei", "-u -l:r -o:w -t:r -severity", Operation::Network, Operands::Text).dash(),
    p("ollama", "", Operation::Process, Operands::Text),
    p("opencode", "", Operation::Process, Operands::Text),
    p("openssl", "-in:r -out:w -key:r -keyout:w -inkey:r -CA:r -CAkey:r -CAfile:r -passin -passout -days -subj -config:r -connect -newkey -pass -k -K -iv", Operation::Process, Operands::Text).dash(),
    p("ping", "-c -i -W -w -s -I -t", Operation::Network, Operands::Text),
    p("ping6", "-c -i -W -w -s -I", Operation::Network, Operands::Text),
    p("plink", "+ -l -P -pw -i:r -batch! -ssh!", Operation::Network, Operands::Text).kind(Kind::Wrap(WORDS.skip(1).rest(Rest::Text).remote())),
    p("rexec", "+ -l -p", Operation::Network, Operands::Text).kind(Kind::Wrap(WORDS.skip(1).rest(Rest::Text).remote())),
    quiet("route"),
    p("rsh", "+ -l -n!", Operation::Network, Operands::Text).kind(Kind::Wrap(WORDS.skip(1).rest(Rest::Text).remote())),
    p("rsync", RSYNC, Operation::Network, Operands::Remote),
    p("sbd", NC, Operation::Network, Operands::Text),
    p("scp", SCP, Operation::Network, Operands::Remote),
    p("sendmail", "-f -F -O -o", Operation::Network, Operands::Text),
    p("sftp", "-P -i:r -o:k -F:r -b:r -J -S:s", Operation::Network, Operands::Text),
    p("siege", "-c -t -r -f:r", Operation::Network, Operands::Urls),
    p("slack", "", Operation::Network, Operands::Text),
    p("socat", "-T -b -t -L -W", Operation::Network, Operands::Text),
    quiet("ss"),
    p("ssh", SSH, Operation::Network, Operands::Text).kind(Kind::Wrap(WORDS.skip(1).rest(Rest::Text).remote())),
    p("ssh-add", "-t -s -e -l! -L! -D!", Operation::Process, Operands::Read),
    w("ssh-agent", "+ -a -t -k^ -s! -c! -D!", WORDS.keep()),
    p("ssh-copy-id", "-i -p -o", Operation::Network, Operands::Text),
    p("ssh-keygen", "-t -b -C -f:w -N -P -m -O -I -n -V -s:r -Y -R -F -l! -y!", Operation::Change, Operands::Text),
    p("ssh-keyscan", "-p -t -T -f:r", Operation::Network, Operands::Text),
    w("sshpass", "+ -p -f:r -e! -P", WORDS),
    p("swaks", "-t --to -f --from -s --server --attach", Operation::Network, Operands::Text),
    p("tailscale", "", Operation::Network, Operands::Text),
    p("tcpdump", "-i -w:w -r:r -c -s", Operation::Network, Operands::Text),
    p("telnet", "-l -n", Operation::Network, Operands::Text),
    p("tftp", "-c -m", Operation::Network, Operands::Text),
    p("tracepath", "-m -p", Operation::Network, Operands::Text),
    p("traceroute", "-m -p -q -w", Operation::Network, Operands::Text),
    p("transfer", "", Operation::Network, Operands::Text),
    p("tshark", "-i -w:w -r:r -c -f -Y", Operation::Network, Operands::Text),
    p("ufw", "", Operation::System, Operands::Text),
    p("vegeta", "", Operation::Network, Operands::Text),
    p("w3m", "-T -cols -o", Operation::Network, Operands::Urls).dash(),
    p("websocat", "-H --exec-args", Operation::Network, Operands::Urls),
    p("wfuzz", "-w:r -u -f:w -H -d", Operation::Network, Operands::Urls),
    p("wget", WGET, Operation::Network, Operands::Urls),
    p("wget2", WGET, Operation::Network, Operands::Urls),
    p("whois", "-h -p", Operation::Network, Operands::Text),
    p("wormhole", "", Operation::Network, Operands::Text),
    p("wrk", "-c -d -t -s:r -H --timeout", Operation::Network, Operands::Urls),
    p("wscat", "-c --connect -H -x", Operation::Network, Operands::Urls),
    p("xh", HTTP, Operation::Network, Operands::Urls),
    p("xhs", HTTP, Operation::Network, Operands::Urls),
    p("yt-dlp", "-o -f -P:D --exec:s --cookies:r", Operation::Network, Operands::Urls),
];

const NC: &str =
    "-e:s --exec:s -c:s --sh-exec:s -p -s -w -q -i -o:w -x -X -g -G -I -O -T -V -l! -v! -z! -u! -n! -k! -N!";
