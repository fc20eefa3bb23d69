# The life of the Debian package, in a copy of this machine's file system that nothing leaves. debian.proof.ts runs it as root, in
# namespaces of its own: `sh debian-life.sh <folder for the copy> <old package> <new package>`. Says on stdout what it finds.
set -eu
copy=$1
mount -t tmpfs tmpfs "$copy"
mkdir "$copy/upper" "$copy/work" "$copy/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$copy/upper,workdir=$copy/work" "$copy/root"
mount -t proc proc "$copy/root/proc"
mount --bind /dev "$copy/root/dev"
mkdir "$copy/root/debs"
cp "$2" "$copy/root/debs/old.deb"
cp "$3" "$copy/root/debs/new.deb"
ip link set lo up || true

cat > "$copy/root/life.sh" <<'LIFE'
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp
exec 2> /tmp/errors
trap '[ $? = 0 ] || cat /tmp/errors /tmp/served' EXIT
url=http://localhost:28366
as_tenon() { su -s /bin/sh tenon -c "$1"; }
serve() {
  as_tenon 'cd / && TENON_PORT=28366 exec tenon serve --no-demo' > /tmp/served 2>&1 &
  served=$!
  for try in $(seq 120); do
    grep -q listening /tmp/served && break
    sleep 0.5
  done
  grep -q listening /tmp/served
}
stop() {
  kill -TERM $(pgrep -u tenon -f 'tenon.mjs serve')
  wait $served
}

dpkg -i /debs/old.deb > /dev/null
echo "installed $(dpkg-query -W -f '${Version} ${Status}' tenon)"
stat -c '%n %a %U' /etc/tenon/tenon.env /var/lib/tenon /var/backups/tenon
[ ! -L /etc/systemd/system/multi-user.target.wants/tenon.service ] || echo enabled
serve
user=$(as_tenon 'tenon admin user create Ann')
as_tenon "tenon admin operator grant $user --yes" > /dev/null
export TENON_URL=$url TENON_TOKEN=$(as_tenon "tenon admin token create $user")
app=$(tenon app create Shop)
point=$(echo 'exports: [greet]' | tenon extension-point create Greetings --schema - --app "$app")
tenon invitation accept "$(tenon guest invite acme --app "$app")" > /dev/null
tenon plugin push /opt/tenon/packages/server/sample/greet.wasm -e "$point" > /tmp/address
echo "published $(cat /tmp/address)"
tenon docs --print deploy
stop
echo 'TENON_LOG_LEVEL=warn' >> /etc/tenon/tenon.env
dpkg -i /debs/new.deb > /dev/null
echo "upgraded $(dpkg-query -W -f '${Version} ${Status}' tenon), kept $(tail -n 1 /etc/tenon/tenon.env)"
serve
echo "bound $(tenon bindings acme -e "$point" --json | grep -c "$(cat /tmp/address)")"
stop
printf '%s\n' 'TENON_PUBLIC_URL="https://plugins.example.com"' 'TENON_SMTP_URL=smtp://$(touch /tmp/run)@localhost & spaces' >> /etc/tenon/tenon.env
echo "invited to $(tenon admin user invite | cut -d '#' -f 1)"
tenon admin copy --from /var/lib/tenon --to /var/backups/tenon/monday > /dev/null
stat -c '%n %a %U' /var/backups/tenon/monday/tenon.db
[ ! -e /tmp/run ] || echo 'ran a setting'
dpkg -r tenon > /dev/null
[ -e /opt/tenon ] || echo "removed, with the settings $(ls /etc/tenon)"
dpkg -P tenon > /dev/null
for path in /etc/tenon /opt/tenon /usr/bin/tenon /usr/lib/systemd/system/tenon.service; do [ ! -e $path ] || echo "left $path"; done
[ ! -L /etc/systemd/system/multi-user.target.wants/tenon.service ] || echo 'left enabled'
echo "purged, with the data $(ls /var/lib/tenon | grep '^tenon.db$')"
LIFE
chroot "$copy/root" sh /life.sh
