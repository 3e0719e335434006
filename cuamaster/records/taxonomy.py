"""The world of applications: domains, subdomains, applications with their names, and the words people search with."""

from __future__ import annotations

import string
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from cuamaster.errors import UnknownName
from cuamaster.records.mentions import Mention, NameFinder, Spelling, plain
from cuamaster.records.record import Record

NoiseKind = Literal["promotion", "entertainment", "language-lesson", "news", "review"]
Platform = Literal["linux", "windows", "macos", "web"]
Kind = Literal["gui", "web", "cli"]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
Text = Annotated[str, StringConstraints(min_length=1, pattern=r"^\S(.*\S)?$")]


def _one_hole(action: str) -> str:
    try:
        holes = [name for _, name, _, _ in string.Formatter().parse(action) if name is not None]
    except ValueError as exc:
        raise ValueError(f"{exc}; the name's place is written {{app}}") from exc
    if holes not in ([], ["app"]):
        raise ValueError("an action word has at most one hole, and that is {app}")
    return action


class App(Record):
    """One application. `ambiguous` are names of it that are ordinary words: they count only beside a `context` word."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$")
    name: Text
    subdomain: Slug = Field(description="its home")
    vendor: Text = Field(description="company, project or author")
    platforms: tuple[Platform, ...] = Field(min_length=1)
    kind: Kind = Field(description="how it is mostly used: its own windows, a browser, a command line")
    package: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9.+-]+$", description="Debian package")
    command: str | None = Field(
        default=None, pattern=r"^\S+$", description="what launches it once the package is there"
    )
    aliases: tuple[Text, ...] = ()
    former: tuple[Text, ...] = Field(default=(), description="names it had before")
    local: dict[Language, tuple[Text, ...]] = Field(
        default_factory=dict, description="names in other languages and scripts"
    )
    ambiguous: tuple[Text, ...] = ()
    context: tuple[Text, ...] = ()
    also: tuple[Slug, ...] = Field(default=(), description="other subdomains it belongs to")

    @property
    def names(self) -> tuple[str, ...]:
        """Its display name, aliases and old names."""
        return (self.name, *self.aliases, *self.former)

    @cached_property
    def spellings(self) -> tuple[Spelling, ...]:
        """Every way it is written, in any language."""
        ordinary = {plain(name) for name in self.ambiguous}
        names = (*self.names, *(name for group in self.local.values() for name in group), *self.ambiguous)
        return tuple(Spelling(self.id, name, plain(name) in ordinary) for name in dict.fromkeys(names))

    def search_names(self, language: str) -> tuple[str, ...]:
        """What to call it in a search, best first: no ordinary word alone, then its names in the language, then old names."""
        ordinary = {spelling.name for spelling in self.spellings if spelling.ordinary}
        clear = [name for name in (self.name, *self.aliases) if name not in ordinary]
        first = clear[0] if clear else f"{self.name} {self.context[0]}"
        former = [name for name in self.former if name not in ordinary]
        return tuple(dict.fromkeys((first, *self.local.get(language, ()), *clear[1:2], *former)))

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))


class Domain(Record):
    """One domain file: its subdomains (slug -> title) and its applications."""

    domain: Slug
    title: Text
    subdomains: dict[Slug, Text] = Field(min_length=1)
    applications: tuple[App, ...] = Field(min_length=1)


class Words(Record):
    """Search and noise words of one language; a `{app}` in an action word says where the name goes."""

    actions: tuple[Annotated[Text, AfterValidator(_one_hole)], ...] = Field(min_length=1)
    noise: dict[NoiseKind, tuple[str, ...]] = Field(default_factory=dict)
    tags: tuple[str, ...] = Field(default=(), description="bracketed or trailing title decorations that mean nothing")


class WordFile(Record):
    """The word file: one entry a language, by ISO 639-1 code."""

    languages: dict[Language, Words]


class Taxonomy(Record):
    """All domains and words."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    domains: tuple[Domain, ...]
    words: dict[str, Words]

    @cached_property
    def _by_id(self) -> dict[str, tuple[Domain, App]]:
        return {app.id: (domain, app) for domain in self.domains for app in domain.applications}

    @cached_property
    def _finder(self) -> NameFinder:
        spellings = (spelling for app in self.apps for spelling in app.spellings)
        return NameFinder(spellings, {app.id: app.context for app in self.apps})

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
        code = language_code(language)
        if code not in self.words:
            raise UnknownName(
                f"no search words for language {language!r}", hint=f"known: {', '.join(sorted(self.words))}"
            )
        return self.words[code]

    def mentions(self, text: str) -> list[Mention]:
        """Every place an application is named, left to right; the longest name wins where names overlap."""
        return self._finder.find(text)

    def match(self, text: str) -> list[App]:
        """The applications a text names: most often named first, then the earliest."""
        count: dict[str, int] = {}
        for mention in self.mentions(text):
            count[mention.app] = count.get(mention.app, 0) + 1
        return [self.app(app_id) for app_id in sorted(count, key=lambda key: -count[key])]


def language_code(language: str) -> str:
    """`en_US` and `en-us` are `en`."""
    return language.lower().replace("_", "-").split("-")[0]
