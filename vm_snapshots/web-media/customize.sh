#!/bin/sh
# customize.sh ROOT: run after what this image extends; the browser's settings and places in the task bar.
set -e
root=$1
cp -R "$RECIPE_DIR/files/." "$root/"
ln -s /usr/bin/netsurf-gtk "$root/usr/local/bin/netsurf"
for name in netsurf-gtk org.gnome.eog org.gnome.Evince; do
    test -f "$root/usr/share/applications/$name.desktop"
    echo "launcher_item_app = /usr/share/applications/$name.desktop" >>"$root/home/user/.config/tint2/tint2rc"
done
cat >>"$root/home/user/.config/mimeapps.list" <<END
text/html=netsurf-gtk.desktop
application/pdf=org.gnome.Evince.desktop
image/png=org.gnome.eog.desktop
image/jpeg=org.gnome.eog.desktop
image/gif=org.gnome.eog.desktop
END
chroot "$root" chown -R user:user /home/user
