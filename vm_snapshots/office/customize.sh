#!/bin/sh
# customize.sh ROOT: run after what this image extends; LibreOffice's programs, settings and places in the task bar.
set -e
root=$1
cp -R "$RECIPE_DIR/files/." "$root/"
for app in calc:localc writer:lowriter impress:loimpress; do
    printf '#!/bin/sh\nexec %s "$@"\n' "${app#*:}" >"$root/usr/local/bin/libreoffice-${app%:*}"
    chmod 755 "$root/usr/local/bin/libreoffice-${app%:*}"
    echo "launcher_item_app = /usr/share/applications/libreoffice-${app%:*}.desktop" >>"$root/home/user/.config/tint2/tint2rc"
done
sed -i 's/^Logo=.*/Logo=0/' "$root/etc/libreoffice/sofficerc"
cat >>"$root/home/user/.config/mimeapps.list" <<END
application/vnd.oasis.opendocument.spreadsheet=libreoffice-calc.desktop
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet=libreoffice-calc.desktop
text/csv=libreoffice-calc.desktop
application/vnd.oasis.opendocument.text=libreoffice-writer.desktop
application/vnd.openxmlformats-officedocument.wordprocessingml.document=libreoffice-writer.desktop
application/vnd.oasis.opendocument.presentation=libreoffice-impress.desktop
application/vnd.openxmlformats-officedocument.presentationml.presentation=libreoffice-impress.desktop
END
chroot "$root" chown -R user:user /home/user
