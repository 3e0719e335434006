#!/bin/sh
# customize.sh ROOT: turns a fresh Debian tree into the desktop; run by mmdebstrap, needs RECIPE_DIR and DOWNLOADS.
set -e
root=$1
here=$RECIPE_DIR/files

echo desk >"$root/etc/hostname"
printf '127.0.0.1 localhost desk\n' >"$root/etc/hosts"
echo '/dev/vda / ext4 rw,noatime 0 0' >"$root/etc/fstab"

cp -R "$here/etc/." "$root/etc/"
mkdir -p "$root/usr/lib/desk" "$root/etc/skel/.config" "$root/etc/skel/Desktop" "$root/etc/skel/Documents" "$root/etc/skel/Downloads"
cp -R "$here/usr/lib/desk/." "$root/usr/lib/desk/"
cp -R "$here/skel/config/." "$root/etc/skel/.config/"
cp "$here/skel/gtkrc-2.0" "$root/etc/skel/.gtkrc-2.0"
chmod -R u=rwX,go=rX "$root/etc/skel" "$root/etc/X11/xorg.conf.d"
# Compiled on the host, and static, so that neither this image nor its C library matters to them.
cc -O2 -static -s -w -o "$root/usr/lib/desk/windows" "$RECIPE_DIR/windows.c" -lxcb -lXau -lXdmcp
cc -O2 -static -s -w -o "$root/usr/lib/desk/elements" "$RECIPE_DIR/elements.c"
# A wheel does not keep executable bits.
chmod 755 "$root"/usr/lib/desk/*
chroot "$root" useradd --create-home --shell /bin/bash --groups video,input,tty user
chroot "$root" passwd -d root >/dev/null
chroot "$root" update-desktop-database -q

# Kernel and busybox come from the same archive as the rest, whatever the host's own system is.
cd "$DOWNLOADS"
export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG
kernel=$(apt-cache depends "$KERNEL_PACKAGE" | awk '/Depends: linux-image-/ {print $2; exit}')
apt-get download "${kernel:-$KERNEL_PACKAGE}" busybox-static
dpkg-deb --fsys-tarfile busybox-static_*.deb | tar -xO ./bin/busybox >"$root/usr/lib/desk/busybox"
chmod 755 "$root/usr/lib/desk/busybox"

# Software GL is never used on this desktop.
rm -f "$root"/usr/lib/x86_64-linux-gnu/libLLVM* "$root"/usr/lib/x86_64-linux-gnu/libz3* "$root"/usr/lib/x86_64-linux-gnu/dri/*
rm -rf "$root"/usr/share/doc/* "$root"/usr/share/man/*
