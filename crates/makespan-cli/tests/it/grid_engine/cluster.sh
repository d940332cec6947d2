#!/usr/bin/env bash
# cluster.sh FOLDER COMMAND..: starts a Grid Engine with one host in namespaces of its own, and runs COMMAND there as an
# ordinary user. FOLDER receives the packages and the state. Needs root. Exit status 77: Grid Engine cannot be installed.
set -eu
folder=$1; shift
packages="gridengine-client gridengine-common gridengine-exec gridengine-master"
libraries="libdb5.3 libhwloc15 libjemalloc2 libmunge2 libtirpc3"
if [ -z "${GRID_INSIDE:-}" ]; then
  root=/var/cache/makespan-gridengine
  if [ ! -e "$root/ready" ]; then
    mkdir -p "$root/debs"
    (cd "$root/debs" && apt-get download -q $packages && apt-get install -q -y --no-install-recommends $libraries) \
      >"$folder/install.log" 2>&1 || exit 77
    for package in "$root"/debs/*.deb; do dpkg -x "$package" "$root"; done
    touch "$root/ready"
  fi
  GRID_INSIDE=$root exec unshare --mount --net --uts --ipc --pid --fork --kill-child --mount-proc \
    bash "$0" "$folder" "$@"
fi

# The programs appear in /usr, but only in this mount namespace.
root=$GRID_INSIDE
mount -t overlay overlay -o "lowerdir=$root/usr:/usr" /usr
mkdir -p "$folder/etc"
chmod 755 "$folder"
sed '/sgeadmin\|griduser/d' /etc/passwd >"$folder/etc/passwd"
echo "sgeadmin:x:1499:1499::/tmp:/bin/sh" >>"$folder/etc/passwd"
echo "griduser:x:1500:1500::$folder/home:/bin/sh" >>"$folder/etc/passwd"
sed '/:1499:\|:1500:/d' /etc/group >"$folder/etc/group"
printf 'sgeadmin:x:1499:\ngriduser:x:1500:\n' >>"$folder/etc/group"
printf '127.0.0.1 localhost\n10.77.0.1 node1\n' >"$folder/etc/hosts"
printf 'hosts: files\npasswd: files\ngroup: files\nservices: files\n' >"$folder/etc/nsswitch.conf"
{ grep -v '^sge_' /etc/services || true; printf 'sge_qmaster 6444/tcp\nsge_execd 6445/tcp\n'; } >"$folder/etc/services"
for file in passwd group hosts nsswitch.conf services; do
  [ -e "/etc/$file" ] && mount --bind "$folder/etc/$file" "/etc/$file"
done
# Grid Engine reads its state from /var, where this cluster has folders of its own.
mount -t tmpfs tmpfs /var/lib
mount -t tmpfs tmpfs /var/spool
mkdir -p /var/lib/gridengine /var/spool/gridengine/{spooldb,qmaster/job_scripts,execd}
[ -e /var/lib/gridengine/util ] || cp -a "$root/var/lib/gridengine/." /var/lib/gridengine/
mkdir -p /var/lib/gridengine/default/common
cp /usr/share/gridengine/default-bootstrap /var/lib/gridengine/default/common/bootstrap
chown -R sgeadmin:sgeadmin /var/lib/gridengine /var/spool/gridengine
hostname node1
ip link set lo up
ip addr add 10.77.0.1/32 dev lo

export SGE_ROOT=/var/lib/gridengine SGE_CELL=default
as() { local user=$1; shift; setpriv --reuid="$user" --regid="$user" --clear-groups "$@"; }
as sgeadmin /usr/share/gridengine/scripts/init_cluster "$SGE_ROOT" default /var/spool/gridengine/spooldb sgeadmin \
  >"$folder/init.log" 2>&1
echo node1 >"$SGE_ROOT/default/common/act_qmaster"
chown -R sgeadmin:sgeadmin /var/lib/gridengine /var/spool/gridengine
/usr/lib/gridengine/sge_qmaster
for _ in $(seq 100); do as sgeadmin qconf -sh >/dev/null 2>&1 && break; sleep 0.1; done
q() { as sgeadmin qconf "$@" >>"$folder/init.log" 2>&1 || { tail -1 "$folder/init.log" >&2; exit 1; }; }
q -ah node1; q -as node1
cd "$folder"
printf 'hostname node1\nload_scaling NONE\ncomplex_values NONE\nuser_lists NONE\nxuser_lists NONE\nprojects NONE\nxprojects NONE\nusage_scaling NONE\nreport_variables NONE\n' >host
q -Ae host
/usr/lib/gridengine/sge_execd
printf 'group_name @allhosts\nhostlist node1\n' >hostgroup
q -Ahgrp hostgroup
printf 'pe_name smp\nslots 999\nuser_lists NONE\nxuser_lists NONE\nstart_proc_args /bin/true\nstop_proc_args /bin/true\nallocation_rule $pe_slots\ncontrol_slaves FALSE\njob_is_first_task TRUE\nurgency_slots min\naccounting_summary FALSE\nqsort_args NONE\n' >pe
q -Ap pe
as sgeadmin qconf -sq | sed 's/^qname .*/qname all.q/; s/^hostlist .*/hostlist @allhosts/; s/^slots .*/slots 8/; s/^shell .*/shell \/bin\/sh/; s/^pe_list .*/pe_list smp/; s/^load_thresholds .*/load_thresholds NONE/; s/^shell_start_mode .*/shell_start_mode unix_behavior/' >queue
q -Aq queue
as sgeadmin qconf -ssconf | sed 's/^schedule_interval .*/schedule_interval 0:0:1/; s/^flush_submit_sec .*/flush_submit_sec 1/; s/^flush_finish_sec .*/flush_finish_sec 1/' >scheduler
q -Msconf scheduler
mkdir -p "$folder/home"; chown griduser:griduser "$folder/home"
cd "$folder/home"
HOME=$folder/home LOGNAME=griduser USER=griduser as griduser "$@"
