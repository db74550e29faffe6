//! What talks to other machines.

use super::table::*;

const REQUESTS: &str = "requests something from the network";
const REACHES: &str = "reaches another machine";

/// The options of ssh.
const SSH: &[Option_] = &[
    ssh_setting("-o"),
    doubts("-F -I").valued(),
    writes("-E"),
    takes("-B -b -c -D -e -i -J -L -l -m -O -p -Q -R -S -W -w -P"),
];

pub(super) const PROGRAMS: &[Program] = &[
    leaves("curl", REQUESTS).special(Special::Curl).options(&[
        prints("-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --libcurl"),
        writes("--output-dir --etag-save --hsts --alt-svc --ssl-sessions"),
        doubts("-K --config --proto-default --unix-socket --abstract-unix-socket --engine").valued(),
        takes(
            "-A --user-agent -b --cookie -C --continue-at -d --data --data-ascii --data-binary --data-raw \
             --data-urlencode --json -e --referer -E --cert -F --form --form-string -H --header -h --help \
             -m --max-time -P --ftp-port -Q --quote -r --range -t --telnet-option -T --upload-file -u --user \
             -U --proxy-user -w --write-out -x --proxy -X --request -y --speed-time -Y --speed-limit \
             -z --time-cond --connect-timeout --retry --retry-delay --retry-max-time --limit-rate --max-redirs \
             --max-filesize --resolve --connect-to --cacert --capath --key --url --interface --proto \
             --proto-redir --ciphers --noproxy --netrc-file --dns-servers --etag-compare \
             --oauth2-bearer --aws-sigv4 --keepalive-time --local-port --preproxy --socks5 --socks5-hostname \
             --socks4 --socks4a --url-query --variable --parallel-max --rate --tls-max --tls13-ciphers --pass",
        ),
    ]),
    leaves("wget wget2", REQUESTS).options(&[
        prints("-O --output-document -o --output-file -a --append-output"),
        writes(
            "-P --directory-prefix --save-cookies --warc-file --warc-tempdir --rejected-log --hsts-file --stats-dns \
             --stats-site --stats-server --stats-tls --stats-ocsp",
        ),
        doubts("-e --execute --config --plugin --local-plugin --plugin-dirs --plugin-opt").valued(),
        doubts_line("--use-askpass --use-askpass-program"),
        takes(
            "-i --input-file -t --tries -T --timeout -U --user-agent -Q --quota -w --wait -l --level -A --accept \
             -R --reject -D --domains -X --exclude-directories -I --include-directories --header --post-data \
             --post-file --user --password -B --base --limit-rate --method --body-data --body-file --referer \
             --load-cookies --ca-certificate --waitretry --cut-dirs --default-page --http-user --http-password",
        ),
    ]),
    leaves("aria2c", REQUESTS).options(&[
        writes("-o --out -d --dir -l --log --save-session --save-cookies --server-stat-of"),
        doubts("--conf-path").valued(),
        doubts_line(
            "--on-download-complete --on-download-error --on-download-start --on-download-stop \
             --on-download-pause --on-bt-download-complete",
        ),
        takes("-i --input-file -j -s --split -x --max-connection-per-server -k --header --checksum"),
    ]),
    leaves("youtube-dl yt-dlp", REQUESTS).options(&[
        doubts_line("--exec --exec-before-download --netrc-cmd"),
        doubts(
            "--config-location --config-locations --downloader --external-downloader --plugin-dirs \
             --ffmpeg-location --postprocessor-args --ppa --use-postprocessor",
        )
        .valued(),
        prints("-o --output -P --paths --cookies --download-archive --cache-dir"),
        takes("-f --format -S --format-sort -r --limit-rate -u --username -p --password --proxy"),
    ]),
    leaves("httpie http https xh", REQUESTS)
        .options(&[writes("-o --output --session --session-read-only"), takes("-a --auth -A --auth-type")]),
    leaves("lynx w3m links elinks", REQUESTS)
        .options(&[doubts("-o -cfg -config -config-file -config-dir -eval -cmd_script").valued()])
        .long_options(),
    leaves("axel fetch", REQUESTS).options(&[writes("-o --output")]),
    // Behind the host stand more of them, and then what the other machine runs.
    leaves("ssh slogin rsh", REACHES).operands(Operands::Rest).special(Special::Ssh).options(SSH),
    leaves("autossh", REACHES)
        .operands(Operands::Rest)
        .special(Special::Ssh)
        .options(SSH)
        .everywhere(&[takes("-M")]),
    leaves("scp rcp", REACHES).special(Special::Scp).options(&[
        doubts_line("-S -D"),
        doubts("-F").valued(),
        ssh_setting("-o"),
        takes("-c -i -J -l -P -X"),
    ]),
    leaves("sftp", REACHES).special(Special::Sftp).options(&[
        doubts_line("-S -D"),
        doubts("-F -b").valued(),
        ssh_setting("-o"),
        takes("-B -c -i -J -l -P -R -s -X"),
    ]),
    leaves("ssh-copy-id sshfs", REACHES).options(&[
        doubts("-F -S").valued(),
        ssh_setting("-o"),
        takes("-i -p -t"),
    ]),
    leaves("ssh-add", REACHES).options(&[doubts("-s -S").valued(), takes("-E -t -e -H -h")]),
    leaves("sshpass", REACHES).operands(Operands::Command(0)).options(&[takes("-f -d -p -P")]),
    leaves("mosh", REACHES).options(&[doubts_line("--ssh --client"), takes("--server -p --port")]),
    leaves("telnet rlogin", REACHES),
    leaves("ssh-agent", "uses the user's keys").operands(Operands::Command(0)).options(&[takes("-a -E -O -P -t")]),
    changes("ssh-keygen").options(&[writes("-f"), doubts("-D -w").valued(), takes("-t -b -N -C -P -O -I -n -V -s -Y -E -m -Z")]),
    leaves("nc ncat netcat socat nmap masscan hping3 tcpdump tshark wireshark ngrep iperf iperf3", "opens connections"),
    leaves("ping ping6 traceroute tracepath mtr dig nslookup host drill whois resolvectl arp arping", "asks the network"),
    leaves("ftp lftp tftp ncftp rclone restic borg duplicity unison syncthing croc wormhole magic-wormhole", "copies files over the network"),
    leaves("mail mailx sendmail mutt msmtp swaks", "sends mail"),
    leaves("aws gcloud gsutil bq az doctl linode-cli hcloud oci ibmcloud eksctl s3cmd mc heroku vercel netlify fly flyctl railway wrangler firebase supabase amplify sam cdk serverless pulumi", "acts in a cloud"),
    leaves("psql", "talks to a database").special(Special::Sql).options(&[
        doubts("-f --file").valued(),
        prints("-o --output"),
        writes("-L --log-file"),
        takes("-c --command -d --dbname -h --host -p --port -U --username -v --set --variable -P --pset -F -R -T"),
    ]),
    leaves("mysql mariadb", "talks to a database").special(Special::Sql).options(&[
        doubts("--plugin-dir --defaults-file --defaults-extra-file --init-command --default-auth").valued(),
        doubts_line("--pager").attached(),
        writes("--tee"),
        takes("-e --execute -h --host -P --port -u --user -D --database -S --socket"),
        flag("-p --password").attached(),
    ]),
    leaves("pg_dump pg_dumpall pg_restore", "talks to a database").options(&[
        prints("-f --file"),
        takes("-d --dbname -h --host -p --port -U --username -t --table -n --schema -F --format -j --jobs"),
    ]),
    leaves("mysqldump", "talks to a database").options(&[
        writes("-r --result-file -T --tab"),
        doubts("--plugin-dir --defaults-file --defaults-extra-file --default-auth").valued(),
    ]),
    leaves("createdb dropdb mysqladmin mongo mongosh redis-cli clickhouse-client cqlsh sqlcmd influx", "talks to a database"),
    leaves("ansible ansible-playbook ansible-pull ansible-galaxy salt puppet chef knife", "changes other machines"),
    leaves("ngrok cloudflared tailscale wg wg-quick openvpn localtunnel", "opens a way in from outside"),
    changes("terraform tofu terragrunt").options(&[enters("-chdir --chdir")]).verbs(&[
        reads("version"),
        // They start the providers that lie in the folder.
        changes("fmt validate show output providers graph console state+list state+show"),
        leaves("providers+mirror providers+lock", "terraform downloads"),
        leaves("apply destroy plan init import refresh taint untaint get login logout test workspace state state+rm state+mv state+push state+pull force-unlock", "acts on what terraform manages"),
    ]),
    changes("openssl").long_options().everywhere(&[
        writes("-out -keyout -writerand -outdir -certsout"),
        doubts("-engine -provider -provider-path -config").valued(),
    ]).verbs(&[
        leaves("s_client s_server s_time ocsp", "opens a connection"),
        changes("engine").options(&[doubts("-pre -post").valued()]),
        changes(
            "x509 req genrsa genpkey rsa pkey enc dgst base64 rand version speed verify asn1parse pkcs12 passwd \
             ciphers ec ecparam crl cms smime ca pkcs7 pkcs8 pkeyutl rsautl dhparam dsa gendsa ts mac kdf prime list",
        ),
    ]),
    leaves("gpg gpg2", "uses the user's keys"),
    reads("ss").options(&[
        escapes("-K --kill", "closes connections of others"),
        writes("-D --diag"),
    ]),
    reads("netstat lsof"),
    changes("ip ifconfig hostname getent"),
];
