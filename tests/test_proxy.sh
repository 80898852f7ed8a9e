#!/bin/bash
# test_proxy.sh NAMI: the service behind nginx with TLS, by the configuration in docs/serve.md.
set -eu
nami=$(realpath "$1")
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
served= proxy=
trap '[ -z "$served" ] || kill "$served"; [ -z "$proxy" ] || kill "$proxy"; sleep 0.2; rm -rf "$tmp"' EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
"$nami" train examples/models/schools.nami --data examples/models/schools.json -o "$tmp/schools.safetensors" --steps 200 --quiet >/dev/null
NAMI_TOKEN=secret "$nami" serve "$tmp/schools.safetensors" --port 0 --quiet >"$tmp/address" &
served=$!
for _ in $(seq 100); do [ -s "$tmp/address" ] && break; sleep 0.1; done
url=$(cat "$tmp/address") tls=$(port)
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout "$tmp/key" -out "$tmp/pem" 2>/dev/null
{
    printf 'daemon off;\npid %s/pid;\nerror_log %s/error.log;\nevents {}\nhttp {\naccess_log off;\n' "$tmp" "$tmp"
    for kind in client_body proxy fastcgi uwsgi scgi; do printf '%s_temp_path %s/%s;\n' $kind "$tmp" $kind; done
    sed -n '/^```nginx/,/^```$/p' docs/serve.md | sed -e '/^```/d' -e "s|listen 443|listen 127.0.0.1:$tls|" \
        -e "s|/etc/ssl/posterior.pem|$tmp/pem|" -e "s|/etc/ssl/posterior.key|$tmp/key|" -e "s|http://127.0.0.1:8080|${url%/}|"
    echo '}'
} >"$tmp/nginx.conf"
nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" &
proxy=$!
ask() { curl -sk --retry 20 --retry-connrefused --retry-delay 1 -o "$tmp/body" -w '%{http_code}' "$@" "https://127.0.0.1:$tls/networks/schools/summary?draws=100"; }
[ "$(ask -H 'Authorization: Bearer secret' -d @examples/models/schools.json)" = 200 ] || { echo FAIL: 200; cat "$tmp/error.log" "$tmp/body"; exit 1; }
grep -q '"verdict"' "$tmp/body"
[ "$(ask -d @examples/models/schools.json)" = 401 ] || { echo FAIL: 401; exit 1; }
head -c 5000000 /dev/zero >"$tmp/large"
[ "$(ask -H 'Authorization: Bearer secret' --data-binary @"$tmp/large")" = 413 ] || { echo FAIL: 413; exit 1; }
echo "nginx: TLS, token and limits as documented"
