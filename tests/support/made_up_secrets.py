"""Secrets of many kinds, made up anew whenever the tests run, so that none stands in a file.

Every one is put together from parts: what marks its kind, and random characters of the alphabet that its issuer uses.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Iterator
from dataclasses import dataclass

_LETTERS = string.ascii_letters
_MIXED = string.ascii_letters + string.digits
_UPPER = string.ascii_uppercase + string.digits
_LOWER = string.ascii_lowercase + string.digits
_HEX = "0123456789abcdef"
_BASE32 = string.ascii_uppercase + "234567"
_URL_SAFE = _MIXED + "-_"
_BASE64 = _MIXED + "+/"


@dataclass(frozen=True, kw_only=True)
class Secret:
    """One secret in a text that gives it away."""

    name: str
    text: str
    parts: tuple[str, ...]
    """What must not be left of it: the secret itself, or each of its lines."""


class Maker:
    """Makes up secrets; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def some(self, alphabet: str, length: int) -> str:
        """Random characters, with a letter and a digit among the first where the alphabet has both."""
        while True:
            made = "".join(self._random.choice(alphabet) for _ in range(length))
            mixed = any(c.isdigit() for c in alphabet) and any(c.isalpha() for c in alphabet)
            if not mixed or (any(c.isdigit() for c in made[:12]) and any(c.isalpha() for c in made[:12])):
                return made

    def tokens(self) -> Iterator[tuple[str, str, str]]:
        """Name, a sentence with a gap, and the token that goes into it."""
        yield from self._of_clouds()
        yield from self._of_services()
        yield from self._in_context()

    def _of_clouds(self) -> Iterator[tuple[str, str, str]]:
        some = self.some
        yield "AWS access key", "the key id is {}, keep it", "AK" + "IA" + some(_BASE32, 16)
        yield "AWS temporary key", "We deploy with {} until Friday.", "AS" + "IA" + some(_BASE32, 16)
        yield "AWS secret key", "aws_secret_access_key = {}", some(_BASE64, 40)
        yield "GitHub token", "My GitHub token is {}.", "gh" + "p_" + some(_MIXED, 36)
        yield "GitHub OAuth token", "export GH_TOKEN={}", "gh" + "o_" + some(_MIXED, 36)
        yield "GitHub app token", "use {} for the bot", "gh" + "s_" + some(_MIXED, 36)
        yield "GitHub fine-grained token", "use {} for CI", "github" + "_pat_" + some(_MIXED, 22) + "_" + some(_MIXED, 59)
        yield "GitLab token", "the GitLab token: {}", "gl" + "pat-" + some(_URL_SAFE, 20)
        yield (
            "Slack bot token",
            "SLACK_TOKEN={}",
            "-".join(("xo" + "xb", some(string.digits, 12), some(string.digits, 12), some(_MIXED, 24))),
        )
        yield (
            "Slack user token",
            "here: {}",
            "-".join(("xo" + "xp", some(string.digits, 12), some(string.digits, 12), some(string.digits, 13), some(_HEX, 32))),
        )
        yield (
            "Slack app token",
            "app level: {}",
            "-".join(("xa" + "pp", "1", "A" + some(_UPPER, 10), some(string.digits, 13), some(_HEX, 64))),
        )
        yield (
            "Slack webhook",
            "We post to {} from cron.",
            "https://hooks.sl" + "ack.com/services/T" + some(_UPPER, 8) + "/B" + some(_UPPER, 8) + "/" + some(_MIXED, 24),
        )
        yield "Stripe live key", "Stripe is on {}.", "sk" + "_live_" + some(_MIXED, 24)
        yield "Stripe restricted key", "the restricted one, {}", "rk" + "_live_" + some(_MIXED, 24)
        yield "OpenAI project key", "OPENAI_API_KEY={}", "sk-" + "proj-" + some(_URL_SAFE, 74) + "T3Blbk" + "FJ" + some(_URL_SAFE, 74)
        yield "OpenAI key", "my key is {} now", "sk-" + some(_MIXED, 20) + "T3Blbk" + "FJ" + some(_MIXED, 20)
        yield "Anthropic key", "Claude runs with {}", "sk-" + "ant-api03-" + some(_URL_SAFE, 93) + "AA"
        yield "Google API key", "The maps key is {}.", "AI" + "za" + some(_URL_SAFE, 35)
        yield "Google OAuth secret", "client secret {}", "GOC" + "SPX-" + some(_URL_SAFE, 28)
        yield "Google access token", "curl with {}", "ya29" + "." + some(_URL_SAFE, 68)
        yield (
            "Azure storage key",
            "DefaultEndpointsProtocol=https;AccountName=prod;AccountKey={};EndpointSuffix=core.windows.net",
            some(_BASE64, 86) + "==",
        )

    def _of_services(self) -> Iterator[tuple[str, str, str]]:
        some = self.some
        yield "npm token", "//registry/:_authToken={}", "np" + "m_" + some(_MIXED, 36)
        yield "PyPI token", "publish with {}", "py" + "pi-AgEIcHlwaS5vcmc" + some(_URL_SAFE, 90)
        yield "Twilio key", "TWILIO_API_KEY={}", "S" + "K" + some(_HEX, 32)
        yield "SendGrid key", "mail goes out with {}", "S" + "G." + some(_URL_SAFE, 22) + "." + some(_URL_SAFE, 43)
        yield "Mailgun key", "mailgun key: {}", "key" + "-" + some(_HEX, 32)
        yield "Mailchimp key", "mailchimp api key {}", some(_HEX, 32) + "-us" + "14"
        yield (
            "Discord bot token",
            "the discord bot token is {}",
            "MT" + some(_MIXED, 22) + "." + some(_URL_SAFE, 6) + "." + some(_URL_SAFE, 38),
        )
        yield "Telegram bot token", "Telegram bot: {}", some("123456789", 10) + ":AA" + some(_URL_SAFE, 33)
        yield "Hugging Face token", "hf login with {}", "h" + "f_" + some(_LETTERS, 34)
        yield "DigitalOcean token", "doctl uses {}", "do" + "p_v1_" + some(_HEX, 64)
        yield "Shopify token", "shop: {}", "shp" + "at_" + some(_HEX, 32)
        yield "Square token", "square {}", "sq0" + "atp-" + some(_URL_SAFE, 22)
        yield "Databricks token", "databricks pat {}", "da" + "pi" + some(_HEX, 32)
        yield "Linear key", "linear: {}", "lin" + "_api_" + some(_MIXED, 40)
        yield "Notion token", "notion integration {}", "nt" + "n_" + some(string.digits, 11) + some(_MIXED, 35)
        yield "Figma token", "figma {}", "fi" + "gd_" + some(_URL_SAFE, 40)
        yield "New Relic key", "new relic {}", "NR" + "AK-" + some(_UPPER, 27)
        yield "Grafana token", "grafana {}", "gl" + "sa_" + some(_MIXED, 32) + "_" + some(_HEX, 8)
        yield "Vault token", "vault login {}", "hv" + "s." + some(_URL_SAFE, 90)
        yield "Doppler token", "doppler {}", "dp" + ".pt." + some(_MIXED, 43)
        yield "Terraform token", "terraform cloud {}", some(_MIXED, 14) + ".atlas" + "v1." + some(_URL_SAFE, 64)
        yield "Airtable token", "airtable {}", "pa" + "t" + some(_MIXED, 14) + "." + some(_HEX, 64)
        yield "Replicate token", "replicate {}", "r" + "8_" + some(_MIXED, 37)
        yield "Groq key", "groq {}", "gs" + "k_" + some(_MIXED, 52)
        yield "xAI key", "grok runs on {}", "xa" + "i-" + some(_MIXED, 80)
        yield "Perplexity key", "pplx {}", "pp" + "lx-" + some(_MIXED, 48)
        yield "Docker token", "docker login with {}", "dc" + "kr_pat_" + some(_URL_SAFE, 27)
        yield "Postman key", "postman {}", "PM" + "AK-" + some(_HEX, 24) + "-" + some(_HEX, 34)
        yield "Supabase token", "supabase {}", "sb" + "p_" + some(_HEX, 40)
        yield "age key", "the backups are encrypted to {}", "AGE-SEC" + "RET-KEY-1" + some("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)

    def _in_context(self) -> Iterator[tuple[str, str, str]]:
        some = self.some
        yield "JWT", "the session token is {}", self.jwt()
        yield "bearer token", "curl -H 'Authorization: Bearer {}' https://api.example.org", some(_URL_SAFE, 40)
        yield "basic credentials", "Authorization: Basic {}", base64.b64encode(f"marta:{some(_MIXED, 16)}".encode()).decode()
        yield "API key header", "X-API-Key: {}", some(_MIXED, 32)
        yield "hexadecimal secret", "SECRET_KEY = '{}'", some(_HEX, 64)
        yield "client secret", 'client_secret: "{}"', some(_URL_SAFE, 40)
        yield "labelled token", "The API token for the billing service is {} and it never expires.", some(_MIXED, 32)
        yield "env key", "ACME_API_KEY={}", some(_LOWER, 40)
        yield "postgres password", "DATABASE_URL=postgres://app:{}@db.internal:5432/shop", some(_MIXED, 14)
        yield "mongodb password", "we connect to mongodb+srv://root:{}@cluster0.mongo.example/test", some(_MIXED, 14)
        yield "redis password", "redis://:{}@cache:6379/0 is the cache", some(_MIXED, 14)
        yield "basic auth in a URL", "clone https://marta:{}@git.example.org/app.git", some(_MIXED, 14)
        yield "key in a URL", "GET https://api.example.org/v1/me?api_key={}&page=2", some(_MIXED, 32)

    def jwt(self) -> str:
        """A signed token with a plausible head and body."""
        pieces = ({"alg": "HS256", "typ": "JWT"}, {"sub": self.some(string.digits, 10), "name": "Marta", "iat": 1_700_000_000})
        coded = [base64.urlsafe_b64encode(json.dumps(piece).encode()).decode().rstrip("=") for piece in pieces]
        return ".".join([*coded, self.some(_URL_SAFE, 43)])

    def blocks(self) -> Iterator[Secret]:
        """Private keys over several lines."""
        for name in (
            "RSA PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "EC PRIVATE KEY",
            "PRIVATE KEY",
            "ENCRYPTED PRIVATE KEY",
            "PGP PRIVATE KEY BLOCK",
        ):
            lines = [self.some(_BASE64, 64) for _ in range(5)]
            block = "\n".join(["-----BEG" + f"IN {name}-----", *lines, "-----E" + f"ND {name}-----"])
            yield Secret(name=name, text=f"My name is Marta.\n{block}\nI live in Porto.", parts=tuple(lines))
        lines = [self.some(_BASE64, 64) for _ in range(4)]
        cut = "\n".join(["-----BEG" + "IN RSA PRIVATE KEY-----", *lines])
        yield Secret(name="a private key cut off", text=f"It begins like this:\n{cut}", parts=tuple(lines))
        lines = [self.some(_BASE64, 64) for _ in range(4)]
        body = "\\n".join(["-----BEG" + "IN PRIVATE KEY-----", *lines, "-----E" + "ND PRIVATE KEY-----", ""])
        account = f'{{"type": "service_account", "private_key_id": "x", "private_key": "{body}"}}'
        yield Secret(name="service account", text=account, parts=tuple(lines))

    def passwords(self) -> Iterator[Secret]:
        """Passwords that people tell in prose, in eight languages."""
        for text in _TOLD:
            word = self._random.choice(_WORDS) + self.some(string.digits, 2) + self._random.choice("!?$%#")
            yield Secret(name=text, text=text.format(word), parts=(word,))

    def every(self) -> list[Secret]:
        """One of each kind."""
        told = [Secret(name=name, text=text.format(token), parts=(token,)) for name, text, token in self.tokens()]
        return [*told, *self.blocks(), *self.passwords()]


_WORDS = ("hunter", "Tr0ubador", "kaffee", "winterland", "Zx9q", "bluemoon")
_TOLD = (
    "my password is {}",
    "My wifi password is {}, the network is called Attic.",
    "the wifi password: {}",
    "The password for the staging server is {}.",
    "My new Netflix password is {} by the way.",
    "I changed my password to {} yesterday.",
    "user marta, password {}",
    "Login: marta / pw: {}",
    'The admin passphrase is "{}".',
    "Our router's passcode is {}.",
    "I set the password of the shared account to {}.",
    "password={}",
    "DB_PASSWORD: '{}'",
    "mysql -u root -p{}",
    "Mein Passwort ist {}.",
    "Das WLAN-Passwort lautet {}.",
    "Das Kennwort für den Server: {}",
    "Mi contraseña es {}.",
    "La clave del wifi es {}.",
    "Mon mot de passe est {}.",
    "Le mot de passe du wifi : {}",
    "A minha senha é {}.",
    "A senha do wifi é {}.",
    "Мой пароль {}.",
    "Мой пароль — {}.",
    "Пароль от вайфая: {}",
    "我的密码是{}。",
    "WiFi密码：{}",
    "我的登录密码为 {}，别忘了。",
    "パスワードは{}です。",
    "Wi-Fiのパスワードは {} です。",
    "暗証番号は{}だよ。",
)
