#!/bin/sh
# customize.sh ROOT: run after what this image extends; the browser's settings and places in the task bar.
set -e
root=$1
cp -R "$RECIPE_DIR/files/." "$root/"
chmod -R u=rwX,go=rX "$root/etc/firefox" "$root/etc/firefox-esr"
[ -e "$root/usr/bin/firefox" ] || ln -s firefox-esr "$root/usr/bin/firefox"
for name in firefox-esr org.gnome.eog org.gnome.Evince; do
    test -f "$root/usr/share/applications/$name.desktop"
    echo "launcher_item_app = /usr/share/applications/$name.desktop" >>"$root/home/user/.config/tint2/tint2rc"
done
cat >>"$root/home/user/.config/mimeapps.list" <<END
text/html=firefox-esr.desktop
application/pdf=org.gnome.Evince.desktop
image/png=org.gnome.eog.desktop
image/jpeg=org.gnome.eog.desktop
image/gif=org.gnome.eog.desktop
END
chroot "$root" chown -R user:user /home/user
