"""What is taken out of a text before anything is written, and what stays."""

from __future__ import annotations

import base64
import time

import pytest
from hypothesis import given, settings, strategies as st

from lean_memory.extraction.secrets import has_marker, redact
from support.harmless_texts import HARMLESS
from support.made_up_secrets import Maker, Secret

KINDS = Maker(7).every()


@pytest.mark.parametrize("secret", KINDS, ids=lambda secret: secret.name)
def test_a_secret_is_taken_out_and_the_rest_stays(secret: Secret) -> None:
    redacted = redact(secret.text)
    assert redacted.kinds
    assert not [part for part in secret.parts if part in redacted.text]
    before = secret.text.split(secret.parts[0])[0]
    assert redacted.text.startswith(before[: len(before) // 3])


@pytest.mark.parametrize("text", HARMLESS)
def test_examples_and_prose_about_secrets_stay(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).kinds == ()


def test_a_marker_tells_the_kind_and_the_answer_tells_every_one() -> None:
    key, token = "AK" + "IA" + Maker(1).some("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16), "gh" + "p_" + Maker(2).some("abcXYZ0123456789", 36)
    redacted = redact(f"Use {key} here, {token} there; my password is sunshine.")
    assert redacted.text == "Use [redacted: AWS access key] here, [redacted: GitHub token] there; my password is [redacted: password]."
    assert redacted.kinds == ("AWS access key", "GitHub token", "password")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("my wifi password is blue42house and the network is Attic", "my wifi password is [redacted: password] and the network is Attic"),
        ("The passwords are hunter42 and winter77.", "The passwords are [redacted: password] and [redacted: password]."),
        (
            "my password was kaffee22 but I changed it to winter77",
            "my password was [redacted: password] but I changed it to [redacted: password]",
        ),
        ('The password is "blue mountain seven".', 'The password is "[redacted: password]".'),
        ("**Password:** Xk9!dd2", "**Password:** [redacted: password]"),
        ("My password's hunter22", "My password's [redacted: password]"),
        ("my PIN is 4821", "my PIN is [redacted: password]"),
        ("my passwort is hallo1234", "my passwort is [redacted: password]"),
        ("Server=db;User Id=sa;Password=Kaffee22!;Encrypt=True", "Server=db;User Id=sa;Password=[redacted: password];Encrypt=True"),
        ("creds are marta:kaffee22", "creds are marta:[redacted: password]"),
        ("curl -u marta:kaffee22 https://x.example", "curl -u marta:[redacted: password] https://x.example"),
        ("redis-cli -a kaffee22x ping", "redis-cli -a [redacted: password] ping"),
        (
            "my seed phrase is apple river stone cloud tiger lamp ocean forest window bread silver moon",
            "my seed phrase is [redacted: passphrase]",
        ),
        ("My backup codes: 1234-5678 8765-4321", "My backup codes: [redacted: recovery code]"),
    ],
)
def test_people_tell_passwords_in_many_ways(text: str, left: str) -> None:
    assert redact(text).text == left


def test_a_secret_that_stands_there_twice_is_taken_out_twice() -> None:
    redacted = redact("my password is hunter22x. I use hunter22x for mail too.")
    assert "hunter22x" not in redacted.text
    assert redacted.kinds == ("password", "password")


def test_a_secret_in_base64_is_seen() -> None:
    hidden = base64.b64encode(("key = " + "sk" + "_live_" + Maker(3).some("abcXYZ0123456789", 24)).encode()).decode()
    assert hidden not in redact(f"The config is {hidden} now").text


def test_places_are_right_behind_characters_of_several_bytes() -> None:
    token = "gh" + "p_" + Maker(4).some("abcXYZ0123456789", 36)
    assert (
        redact(f"Mein Schlüssel – für 東京 😀 – ist {token}。ok").text == "Mein Schlüssel – für 東京 😀 – ist [redacted: GitHub token]。ok"
    )


def test_only_a_marker_is_one() -> None:
    assert has_marker("my password is [redacted: password].")
    assert not has_marker("the file was [redacted]")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from([secret.text for secret in KINDS]),
            st.sampled_from(HARMLESS),
            st.sampled_from(
                ["password", " is ", ": ", "=", "token", "[redacted: ", "password] ", "'", '"', "\n", "密码", "://", "@", "hunter22"]
            ),
            st.text(max_size=12).map(lambda text: text.replace("\0", "").encode("utf-8", "ignore").decode()),
        ),
        max_size=6,
    ).map("".join)
)
def test_doing_it_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once.text) == type(once)(text=once.text)


_REPEATED = (
    "password ", "password is ", "password=", "password", "token: /", "token/", "-----BEGIN RSA PRIVATE KEY-----\n", "PuTTY-User-Key-File-2: x\n",
    "a://b:c@", "eyJabcdefgh.", "[redacted: ", "密码是", "changed my password to ", "A1b2C3d4E5f6G7h8 ", "QUJD", "login: a/", "?key=", 'password is "',
)  # fmt: skip


@pytest.mark.parametrize("unit", _REPEATED)
def test_no_text_takes_more_than_time_in_proportion(unit: str) -> None:
    redact("warm " + "gh" + "p_" + Maker(5).some("abcXYZ0123456789", 36))

    def cost(size: int) -> float:
        text = unit * (size // len(unit))
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            redact(text)
            best = min(best, time.process_time() - start)
        return best

    small, large = cost(8_000), cost(64_000)
    assert large <= 8 * 3 * max(small, 0.002)
