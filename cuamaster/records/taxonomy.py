"""The world of applications: domains, subdomains, applications with their names, and the words people search with."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Literal

from pydantic import ConfigDict, Field

from cuamaster.errors import UnknownName
from cuamaster.records.record import Record

NoiseKind = Literal["promotion", "entertainment", "language-lesson", "news", "review"]


class App(Record):
    """One application. `ambiguous` are names of it that are ordinary words: they count only beside a `context` word."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$")
    name: str = Field(min_length=1)
    subdomain: str
    aliases: tuple[str, ...] = ()
    kind: Literal["desktop", "web", "cli", "mobile"] = "desktop"
    package: str | None = Field(default=None, description="Debian package, if there is one")
    ambiguous: tuple[str, ...] = ()
    context: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every way it is written."""
        return (self.name, *self.aliases)


class Domain(Record):
    """One domain file: its subdomains (slug -> title) and its applications."""

    domain: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str
    subdomains: dict[str, str] = Field(min_length=1)
    applications: tuple[App, ...] = Field(min_length=1)


class Words(Record):
    """Search and noise words of one language; a `{app}` in an action word says where the name goes."""

    actions: tuple[str, ...] = Field(min_length=1)
    noise: dict[NoiseKind, tuple[str, ...]] = Field(default_factory=dict)
    tags: tuple[str, ...] = Field(default=(), description="bracketed or trailing title decorations that mean nothing")


class WordFile(Record):
    """The word file: one entry a language, by ISO 639-1 code."""

    languages: dict[str, Words]


class Mention(Record):
    """One place where an application is named."""

    app: str
    name: str
    start: int
    end: int


class Taxonomy(Record):
    """All domains and words."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    domains: tuple[Domain, ...]
    words: dict[str, Words]

    @cached_property
    def _by_id(self) -> dict[str, tuple[Domain, App]]:
        return {app.id: (domain, app) for domain in self.domains for app in domain.applications}

    @cached_property
    def _pattern(self) -> tuple[re.Pattern[str], dict[str, str]]:
        owner: dict[str, str] = {}
        for domain in self.domains:
            for app in domain.applications:
                for name in (*app.names, *app.ambiguous):
                    owner.setdefault(_plain(name), app.id)
        names = sorted(owner, key=len, reverse=True)
        body = "|".join(re.escape(name).replace(r"\ ", r"[\s-]*") for name in names)
        return re.compile(rf"(?<![a-z0-9])(?:{body})(?![a-z0-9])" if names else r"(?!)"), owner

    @property
    def apps(self) -> tuple[App, ...]:
        """Every application, in file order."""
        return tuple(app for _, app in self._by_id.values())

    def app(self, app_id: str) -> App:
        """The application with this id; raises UnknownName with the nearest ids."""
        return self._find(app_id)[1]

    def domain_of(self, app_id: str) -> str:
        """The domain slug of an application; raises UnknownName."""
        return self._find(app_id)[0].domain

    def _find(self, app_id: str) -> tuple[Domain, App]:
        try:
            return self._by_id[app_id]
        except KeyError:
            import difflib

            near = difflib.get_close_matches(app_id, self._by_id, n=3, cutoff=0.5)
            hint = f"did you mean {', '.join(near)}?" if near else "see the files under taxonomy/"
            raise UnknownName(f"no application {app_id!r} in the taxonomy", hint=hint) from None

    def words_for(self, language: str) -> Words:
        """Words of a language (`en-US` reads `en`); raises UnknownName when there are none."""
        code = language.lower().replace("_", "-").split("-")[0]
        if code not in self.words:
            raise UnknownName(
                f"no search words for language {language!r}", hint=f"known: {', '.join(sorted(self.words))}"
            )
        return self.words[code]

    def mentions(self, text: str) -> list[Mention]:
        """Every place an application is named, left to right; the longest name wins where names overlap."""
        pattern, owner = self._pattern
        low = text.lower()
        found = []
        for match in pattern.finditer(low):
            name = _plain(match.group(0))
            app_id = (
                owner.get(name) or owner[next(key for key in owner if key.replace(" ", "") == name.replace(" ", ""))]
            )
            app = self._by_id[app_id][1]
            rest = low[: match.start()] + " " + low[match.end() :]
            if name in {_plain(item) for item in app.ambiguous} and not _has_context(rest, app):
                continue
            found.append(
                Mention(app=app_id, name=text[match.start() : match.end()], start=match.start(), end=match.end())
            )
        return found

    def match(self, text: str) -> list[App]:
        """The applications a text names: most often named first, then the earliest."""
        count: dict[str, int] = {}
        for mention in self.mentions(text):
            count[mention.app] = count.get(mention.app, 0) + 1
        return [self.app(app_id) for app_id in sorted(count, key=lambda key: -count[key])]


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s-]+", name.lower().strip()))


def _has_context(text: str, app: App) -> bool:
    return any(re.search(rf"(?<![a-z0-9]){re.escape(word.lower())}(?![a-z0-9])", text) for word in app.context)
