// What the browser does by itself, switched off: a screen that changes alone hides real changes, and there is no network.
pref("accessibility.force_disabled", -1); // on, whether or not somebody listens yet
pref("app.normandy.enabled", false);
pref("browser.aboutwelcome.enabled", false);
pref("browser.ml.enable", false);
pref("browser.safebrowsing.downloads.enabled", false);
pref("browser.safebrowsing.malware.enabled", false);
pref("browser.safebrowsing.phishing.enabled", false);
pref("browser.sessionstore.resume_from_crash", false);
pref("browser.startup.homepage_override.mstone", "ignore");
pref("browser.tabs.firefox-view", false);
pref("browser.topsites.contile.enabled", false);
pref("browser.warnOnQuit", false);
pref("datareporting.policy.dataSubmissionEnabled", false);
pref("dom.ipc.processCount", 1);
pref("dom.ipc.processPrelaunch.enabled", false);
pref("extensions.getAddons.cache.enabled", false);
pref("extensions.systemAddon.update.enabled", false);
pref("fission.autostart", false);
pref("gfx.webrender.software", true);
pref("media.gmp-manager.updateEnabled", false);
pref("network.connectivity-service.enabled", false);
pref("network.manage-offline-status", false);
pref("services.settings.server", "data:,");
pref("termsofuse.bypassNotification", true);
pref("toolkit.cosmeticAnimations.enabled", false);
pref("ui.caretBlinkTime", 0);
pref("ui.prefersReducedMotion", 1);
