use super::{redact, redact_start};
use crate::domain::clip;

/// Filler for the random part of a token: written in pieces so that no scanner takes this file for a leak.
const A20: &str = "a1B2c3D4e5F6g7H8i9J0";
const UPPER: &str = "IOSFODNN7EXAMPLE";

/// `template` with `secret` in it, and what should become of it.
fn case(template: &str, secret: &str, kind: &str) -> (String, String) {
    (template.replace("{}", secret), template.replace("{}", &format!("[redacted:{kind}]")))
}

fn a36() -> String {
    format!("{A20}k1L2m3N4o5P6q7R8")
}

fn tokens() -> Vec<(String, String)> {
    let (shape, a36, a40) = (case, a36(), A20.repeat(2));
    let jwt = format!("eyJ{A20}.eyJ{A20}.{a40}");
    vec![
        shape("echo {} | pbcopy", &format!("AKIA{UPPER}"), "aws-key"),
        shape("id={}", &format!("ASIA{UPPER}"), "aws-key"),
        shape("key {}.", &format!("AIza{A20}{}", "k1L2m3N4o5P6q7R"), "google-key"),
        shape("curl -d {}", &format!("ya29.{a40}"), "google-token"),
        shape("git clone x {}", &format!("ghp_{a36}"), "github-token"),
        shape("({})", &format!("gho_{a36}"), "github-token"),
        shape("{}", &format!("ghu_{a36}"), "github-token"),
        shape("a,{},b", &format!("ghs_{a36}"), "github-token"),
        shape("'{}'", &format!("ghr_{a36}"), "github-token"),
        shape("https://{}@github.com/a/b", &format!("ghp_{a36}"), "github-token"),
        shape("x {} y", &format!("github_pat_11A_{a40}"), "github-token"),
        shape("x {} y", &format!("glpat-{A20}"), "gitlab-token"),
        shape("x {} y", &format!("sk-ant-api03-{a40}-{A20}AA"), "anthropic-key"),
        shape("x {} y", &format!("sk-proj-{a40}"), "openai-key"),
        shape("x {} y", &format!("sk-{a36}"), "openai-key"),
        shape("x {} y", &format!("sk-svcacct-{a36}"), "openai-key"),
        shape("x {} y", &format!("xoxb-123456789012-{A20}"), "slack-token"),
        shape("x {} y", &format!("xoxp-{A20}"), "slack-token"),
        shape("x {} y", &format!("xapp-1-{A20}"), "slack-token"),
        shape("x {} y", &format!("sk_live_{A20}"), "stripe-key"),
        shape("x {} y", &format!("rk_live_{A20}"), "stripe-key"),
        shape("x {} y", &format!("npm_{a36}"), "npm-token"),
        shape("x {} y", &format!("hf_{a36}"), "huggingface-token"),
        shape("x {} y", &format!("pypi-AgEI{a40}{A20}"), "pypi-token"),
        shape("x {} y", &format!("SG.{A20}ab.{a40}{A20}"), "sendgrid-key"),
        shape("x {} y", &format!("dop_v1_{a40}{A20}abcd"), "digitalocean-token"),
        shape("cookie {};", &jwt, "jwt"),
        shape("line\\n{} escaped", &format!("ghp_{a36}"), "github-token"),
    ]
}

fn armour_headers_and_urls() -> Vec<(String, String)> {
    let (shape, a36) = (case, a36());
    let pem = |kind: &str| {
        format!("-----BEGIN {kind}PRIVATE KEY-----\nMIIE\nvQ==\n-----END {kind}PRIVATE KEY-----")
    };
    vec![
        shape("{}", &pem(""), "private-key"),
        shape("cat <<E > k\n{}\nE", &pem("RSA "), "private-key"),
        shape("{} and more", &pem("OPENSSH "), "private-key"),
        shape("a {}", "-----BEGIN EC PRIVATE KEY-----\nMIIE and no end", "private-key"),
        shape(
            "{\"private_key_id\":\"x\",\"k\":\"{}\\n\"}",
            "-----BEGIN PRIVATE KEY-----\\nMII\\n-----END PRIVATE KEY-----",
            "private-key",
        ),
        shape("curl -H \"X: bearer {}\"", &a36, "bearer"),
        shape("the header is Bearer {}", &a36, "bearer"),
        shape("curl -H 'Authorization: {}' https://x", &format!("Bearer {a36}"), "header"),
        shape("curl -H \"authorization: {}\"", "Basic dXNlcjpwYXNz", "header"),
        shape("-H 'Proxy-Authorization: {}'", "Basic dXNlcjpwYXNz", "header"),
        shape("{\"Authorization\": \"{}\"}", "token abc", "header"),
        shape("{\\\"Authorization\\\": \\\"{}\\\"}", "token abc", "header"),
        shape("-H 'Cookie: {}'", "session=abc; other=1", "header"),
        shape("git clone https://user:{}@host/x.git", "hunter2", "url-password"),
        shape("psql postgres://app:{}@db:5432/x?sslmode=on", "p%40ss", "url-password"),
        shape("redis://:{}@cache:6379", "pw", "url-password"),
    ]
}

fn named_values() -> Vec<(String, String)> {
    let secret = |template: &str, value: &str| case(template, value, "secret");
    let a40 = A20.repeat(2);
    vec![
        secret("aws configure set aws_secret_access_key {}", &a40),
        secret("aws_secret_access_key = {}\nregion = eu", &format!("wJalr/{A20}+x")),
        secret("AWS_SECRET_ACCESS_KEY={} aws s3 ls", "abc/def+x"),
        secret("export GITHUB_TOKEN={}", "abc"),
        secret("export DB_PASSWORD='{}'; run", "with blank and"),
        secret("PGPASSWORD={} psql -h db", "hunter2"),
        secret("MYSQL_PWD={} mysql", "hunter2"),
        secret("API_KEY=\"{}\" ./run", "a b"),
        secret("env apikey={} ./run", "abc"),
        secret("docker run -e SECRET={} img", "s3"),
        secret("PRIVATE_KEY={}", "0xabc"),
        secret("DefaultEndpointsProtocol=https;AccountKey={};x=y", "abc123=="),
        secret("client.secret={}", "abc"),
        secret("clientSecret={}", "abc"),
        secret("curl 'https://x/?access_token={}&page=2'", "abc"),
        secret("credentials={}", "abc"),
        secret("PASSWORD={}", "ab\"c d\"e"),
        secret("tool --password={} --verbose", "hunter2"),
        secret("tool --password {} --verbose", "hunter2"),
        secret("tool --api-key {}", "abcdef"),
        secret("tool --token \"{}\" x", "a b"),
        secret("helm --auth-token={}", "abc"),
        secret("sshpass -p {} ssh host", "hunter2"),
        secret("sshpass -p'{}' ssh host", "hunter2"),
        secret("docker login -u me -p {} registry", "hunter2"),
        secret("mysql -u root -p{} db", "hunter2"),
        secret("mongosh -u a -p {}", "hunter2"),
        secret("redis-cli -a {} ping", "hunter2"),
        secret("curl -u admin:{} https://x", "hunter2"),
        secret("curl --user 'admin:{}' https://x", "hunter2"),
        secret("{\"user\":\"a\",\"password\": \"{}\"}", "b c"),
        secret("{\\\"password\\\":\\\"{}\\\",\\\"x\\\":1}", "b c"),
        secret("{'api_key': '{}'}", "b"),
        secret("password: {}\nuser: x", "hunter22x"),
        secret("X-Api-Key: {}", "abcdef123456"),
        secret("token = \"{}\"", "x"),
        secret("token := \"{}\"", "x"),
        secret("npm config set //registry/:_authToken={}", "abc"),
        secret("text\\nPASSWORD={}\\nnext", "abc"),
    ]
}

const HARMLESS: &[&str] = &[
    "ls -la",
    "git show 3f786850e387550fdab836ed7e6dc881de23001b",
    "docker pull x@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "550e8400-e29b-41d4-a716-446655440000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "eyJhIjoxfQ== is base64 of an object",
    "eyJ is how they begin",
    "grep -rn token src",
    "the token expired; get a new token: see docs",
    "fix the password prompt",
    "password: must not be empty",
    "git commit -m 'handle token refresh'",
    "task-list and desk-sk-1 and risk-a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6",
    "sk-learn",
    "mask-rcnn-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6",
    "npm_config_registry=https://registry.example",
    "npm_lifecycle_event",
    "AKIA is a prefix",
    "AKIAIOSFODNN7EXAMPLEANDMUCHMORE",
    "ghp_short",
    "the ghp_ prefix",
    "hf_hub_download",
    "xoxo-hugs-and-kisses",
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
    "git clone https://github.com/a/b.git",
    "ssh://git@host/x",
    "http://localhost:8080/a@b",
    "curl https://x:8443/login",
    "mkdir -p a/b/c",
    "docker run -p 8080:80 nginx",
    "ssh -p 22 host",
    "cp -p a b",
    "mysql -p db",
    "curl -u \"$USER:$PASS\" https://x",
    "export TOKEN=$GITHUB_TOKEN",
    "PASSWORD=\"${DB_PASSWORD}\" ./run",
    "tool --password \"$PW\"",
    "tool --token $(cat token.txt)",
    "curl -H \"Authorization: Bearer $TOKEN\" https://x",
    "Authorization: see the manual",
    "bearer of bad news arrived at 10",
    "TOKEN=",
    "--token-file /run/secrets/x",
    "use --token to pass it",
    "TOKEN_FILE=/run/x",
    "token_type=bearer",
    "max_tokens=4096",
    "TOKENIZERS_PARALLELISM=false",
    "password_policy=strict",
    "if token == expected { }",
    "secret != other",
    "token = parser.next_token()",
    "let token = lexer.peek;",
    "password = os.environ[\"X\"]",
    "login(password=password)",
    "PWD=/home/u OLDPWD=/tmp ls",
    "secretary=anna",
    "passwordless=true",
    "{\"token\": null, \"tokens\": 12}",
    "{\"password\": \"\"}",
    "curl -d token=<your-token> x",
    "API_KEY=*** ./run",
    "key=value",
    "sort --key=2",
    "a::b::token::c",
    "x ? y : token",
];

#[test]
fn secrets_are_taken_out_and_nothing_around_them() {
    let cases = [tokens(), armour_headers_and_urls(), named_values()].concat();
    assert!(cases.len() >= 60, "{}", cases.len());
    for (text, expected) in cases {
        assert_eq!(redact(&text), expected, "of {text}");
        assert_eq!(redact(&expected), expected, "redacting twice changes nothing");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays_without_a_copy() {
    const { assert!(HARMLESS.len() >= 40) };
    for text in HARMLESS {
        assert!(
            matches!(redact(text), std::borrow::Cow::Borrowed(same) if same == *text),
            "{text} became {}",
            redact(text)
        );
    }
}

/// What each of these repeats makes one look as far as it can; were any of them quadratic, the test would not end.
#[test]
fn hostile_repetition_costs_no_more_than_its_length() {
    for piece in [
        "password=",
        "token=$",
        "token=x(",
        "eyJ",
        "eyJaaaaaaaaaa.",
        "eyJ-",
        "sk-ant-",
        "SG.",
        "xoxb-",
        "AKIA",
        "://",
        "://a:",
        "://a@",
        "bearer ",
        "authorization: $",
        "cookie: a ",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "--token ",
        "-p ",
        "\"token\":\"",
        "\\\"token\\\":\\\"",
        "'",
        "token='",
        "token=\"$",
        "token=`$",
        "token : ",
        "token =",
        "\\",
        "password: x",
        "sshpass -p ",
        "curl -u a",
        "redis-cli -a $",
        "aws_secret_access_key ",
        ": ",
        "é=",
        "a1",
        "hmac=",
        "hmac=0123456789",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let _ = redact(&text);
    }
}

#[test]
fn signatures_of_references_are_shortened() {
    let hmac = "0123456789abcdef".repeat(4);
    for (text, short) in [
        (format!("typed://%2Fa?hmac={hmac}&ts=1&sid=x"), "typed://%2Fa?hmac=01234567…&ts=1&sid=x".to_owned()),
        (
            format!("\"/w/typed:/%2Fa?HMAC={} {hmac}", hmac.to_uppercase()),
            format!("\"/w/typed:/%2Fa?HMAC=01234567… {hmac}"),
        ),
        (format!("hmac={hmac}"), "hmac=01234567…".to_owned()),
        ("hmac=01234567 hmac=".to_owned(), "hmac=01234567 hmac=".to_owned()),
    ] {
        assert_eq!(redact(&text), short);
    }
}

#[test]
fn characters_are_never_cut() {
    assert_eq!(redact("PASSWORD=é\u{1f600} x"), "PASSWORD=[redacted:secret] x");
    assert_eq!(redact("https://é:ü@ö/"), "https://é:[redacted:url-password]@ö/");
    assert_eq!(redact("token=\"é\\é"), "token=\"[redacted:secret]");
}

proptest::proptest! {
    /// Whatever the text, what is left of it is the original in its order: nothing is lost, moved or made up.
    #[test]
    fn what_is_left_is_the_original(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "password", "token", "=", ":", " ", "\"", "'", "\\", "é", "\u{1f600}", "\n", "$", "://", "@", "--", "-p ",
                "sshpass ", "curl ", "bearer ", "Authorization: ", "a1b2c3d4e5", "-----BEGIN RSA PRIVATE KEY-----",
                "-----END RSA PRIVATE KEY-----", "ghp_", "eyJ", ".", "x", "(", ";", "\\\"",
            ]),
            0..24,
        ),
    ) {
        let text = parts.concat();
        let redacted = redact(&text).into_owned();
        // What is wanted of it is the same, however little that is.
        for most in [0, 7, 40] {
            proptest::prop_assert_eq!(clip(&redact_start(&text, most), most), clip(&redacted, most));
        }
        let mut rest = text.as_str();
        for (index, piece) in redacted.split("[redacted:").enumerate() {
            let piece = if index == 0 { piece } else { piece.split_once(']').unwrap().1 };
            let at = rest.find(piece).unwrap_or_else(|| panic!("{piece:?} of {text:?} became {redacted:?}"));
            rest = rest.get(at + piece.len()..).unwrap();
        }
    }
}
