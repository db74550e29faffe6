//! What talks to other machines.

use super::table::*;

pub(super) const PROGRAMS: &[Program] = &[
    leaves("curl wget wget2 aria2c axel httpie http https xh lynx w3m links elinks fetch youtube-dl yt-dlp", "requests something from the network"),
    leaves("ssh scp sftp ssh-copy-id mosh sshfs autossh ssh-add sshpass telnet rlogin rsh rcp", "reaches another machine"),
    leaves("ssh-agent", "uses the user's keys").operands(Operands::Command(0)).options(&[takes("-a -E -O -P -t")]),
    changes("ssh-keygen").options(&[writes("-f"), takes("-t -b -N -C -P -O -I -n -V -s -D -Y -E -m -Z")]),
    leaves("nc ncat netcat socat nmap masscan hping3 tcpdump tshark wireshark ngrep iperf iperf3", "opens connections"),
    leaves("ping ping6 traceroute tracepath mtr dig nslookup host drill whois resolvectl arp arping", "asks the network"),
    leaves("ftp lftp tftp ncftp rclone restic borg duplicity unison syncthing croc wormhole magic-wormhole", "copies files over the network"),
    leaves("mail mailx sendmail mutt msmtp swaks", "sends mail"),
    leaves("aws gcloud gsutil bq az doctl linode-cli hcloud oci ibmcloud eksctl s3cmd mc heroku vercel netlify fly flyctl railway wrangler firebase supabase amplify sam cdk serverless pulumi", "acts in a cloud"),
    leaves("psql pg_dump pg_restore createdb dropdb mysql mysqldump mysqladmin mariadb mongo mongosh redis-cli clickhouse-client cqlsh sqlcmd influx", "talks to a database"),
    leaves("ansible ansible-playbook ansible-pull ansible-galaxy salt puppet chef knife", "changes other machines"),
    leaves("ngrok cloudflared tailscale wg wg-quick openvpn localtunnel", "opens a way in from outside"),
    changes("terraform tofu terragrunt").options(&[enters("-chdir --chdir")]).verbs(&[
        reads("validate version show output providers graph console state+list state+show"),
        changes("fmt"),
        leaves("providers+mirror providers+lock", "terraform downloads"),
        leaves("apply destroy plan init import refresh taint untaint get login logout test workspace state state+rm state+mv state+push state+pull force-unlock", "acts on what terraform manages"),
    ]),
    changes("openssl").verbs(&[
        leaves("s_client s_server s_time ocsp", "opens a connection"),
        changes("x509 req genrsa genpkey rsa pkey enc dgst base64 rand version speed verify asn1parse pkcs12 passwd ciphers ec ecparam crl").options(&[
            writes("-out -keyout"),
        ]).long_options(),
    ]),
    leaves("gpg gpg2", "uses the user's keys"),
    reads("ss").options(&[
        escapes("-K --kill", "closes connections of others"),
        writes("-D --diag"),
    ]),
    reads("netstat lsof"),
    changes("ip ifconfig hostname getent"),
];
