#!/bin/sh
# Runs in the machine and prints facts about the service under a real systemd, one a line: FACT name value.
fact() { echo "FACT $*"; }
show() { systemctl show --property "$1" --value bookplate; }
as() { person=$1; shift; setpriv --reuid "$person" --regid "$person" --init-groups env HOME="/home/$person" BOOKPLATE_OFFLINE=1 "$@"; }
until_true() { # seconds, command
    left=$1
    shift
    while [ "$left" -gt 0 ] && ! "$@"; do
        sleep 1
        left=$((left - 1))
    done
}
is_new() { [ "$(show MainPID)" != "$old" ] && systemctl is-active --quiet bookplate; }

fact state "$(systemctl is-active bookplate)"
fact status "$(show StatusText)"
address=$(show StatusText | sed 's/^At //')
fact page "$(curl -s -o /dev/null -w '%{http_code}' "${address}assets/app.js")"
fact camera "$(journalctl -o cat -u bookplate | grep -c '"usable":true')"

as reader sh -c "umask 077; scan library add --title 'By the reader'" >/dev/null 2>&1
fact file "$(stat -c '%a %U %G' /var/lib/bookplate/library.sqlite)"
# The first change of the day already made one, with its folder; here the service has to make both, within its confinement.
rm -r /var/lib/bookplate/backups
systemctl start bookplate-backup
fact backup "$(systemctl show --property ExecMainStatus --value bookplate-backup)" "$(ls /var/lib/bookplate/backups | wc -l)"
fact folder "$(stat -c '%a %U %G' /var/lib/bookplate/backups)"
fact timer "$(systemctl is-active bookplate-backup.timer)"

# Frozen, as by a hanging driver or disk: it sends no sign of life, and is started again.
old=$(show MainPID)
kill -STOP "$old"
until_true 120 is_new
fact frozen "$(show NRestarts)" "$(journalctl -o cat -u bookplate | grep -c 'Watchdog timeout')"
old=$(show MainPID)
systemctl kill --signal=KILL bookplate
until_true 60 is_new
fact killed "$(show NRestarts)" "$(systemctl is-active bookplate)"
fact books "$(as reader scan library list --json | wc -l)"
systemctl stop bookplate
fact stopped "$(show Result)" "$(show ExecMainStatus)"

# Wrong settings are not retried.
echo BOOKPLATE_OFFLINE=perhaps >>/etc/bookplate/bookplate.env
systemctl start bookplate 2>/dev/null
fact wrong "$(show ExecMainStatus)" "$(show NRestarts)" "$(systemctl is-active bookplate)"
fact refused "$(journalctl -o cat -u bookplate -u bookplate-backup | grep -c -i -e 'not permitted' -e 'errno=' -e 'denied' -e 'unknown')"
journalctl --no-pager -o cat -u bookplate -u bookplate-backup | sed 's/^/LOG /'
fact end
