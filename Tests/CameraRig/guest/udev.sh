# The effect of the project's rule on a USB camera, on a second one, and on one that is not on USB.
. "$GUEST/wait.sh"
fact link "$(readlink /dev/bookplate)"
fact camera "$(camera 0)"
fact index "$(cat /sys/class/video4linux/"$(readlink /dev/bookplate)"/index)"
fact access "$(stat -c '%a %U %G' "$(camera 0)")"
fact tags "$(udevadm info -q property --property=TAGS --value /dev/bookplate)"
fact links-of-vivid "$(udevadm info -q symlink "$(camera 1)")"
fact links-of-metadata "$(udevadm info -q symlink /dev/video2)"
rigctl unplug 0
udevadm settle
fact second-alone "$(readlink /dev/bookplate)"
fact second "$(camera 2)"
rigctl plug 0
udevadm settle
fact after-return "$(readlink /dev/bookplate)"
fact returned "$(camera 0)"
rigctl unplug 2
rigctl unplug 0
udevadm settle
fact unplugged "$(readlink /dev/bookplate)"
