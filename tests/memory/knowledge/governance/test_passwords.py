"""Passwords that are assigned to a name, or said, in whatever form: none is stored, and what only speaks of one is."""

from pathlib import Path
from time import process_time

import pytest

from shelfd.memory.knowledge.governance.gate import Gate
from shelfd.memory.knowledge.governance.passwords import password_rules
from shelfd.memory.notes.note import BLANK
from shelfd.memory.settings import GovernanceSettings

HONEST = Path(__file__).parents[3] / "data" / "honest_about_passwords.txt"
# Not one of them is in use anywhere.
LONG = "Zq8vR2mTx9" + "LpW4kYb7NcJ3sH"
SHORT, MADE, PLAIN = "Zq8vR2" + "mTx9", "Xy7-" + "kk92", "hunter" + "2"
UUID = "3f9a0c77-b1e2-4d58-a6c2-" + "f0e19b7d4a35"


def kept(text: str) -> str:
    return Gate(GovernanceSettings(), "s").admit(BLANK._replace(content=text), None, None).content


@pytest.mark.parametrize(
    "text",
    [
        # What stands before the name is a sign of its own.
        f"env: DB_PASSWORD={SHORT}",
        f"note: password={SHORT}",
        f"docker run --env=DB_PASSWORD={SHORT} app",
        f"docker run -e=API_KEY={LONG} app",
        f"helm install --set=auth.password={SHORT}",
        f"config: api_key={LONG}",
        f"//registry.example.org/:_authToken={UUID}",
        f"token: password={SHORT}",
        f"token=none password={SHORT}",
        f"a:b:c:password={SHORT}",
        f"x=y=password={SHORT}",
        f"::password::{SHORT}",
        f"env.DB_PASSWORD={SHORT}",
        f"key=value,password={SHORT}",
        f"LDAP bind: cn=admin,dc=x password={SHORT}",
        # In URLs.
        *(f"see https://e.org/?{name}={LONG}" for name in ("api_key", "token", "access_token", "key", "sig")),
        f"https://e.org/?x=1&api_key={LONG}",
        f"https://e.org/?password={SHORT}",
        f"https://e.org/reset#access_token={LONG}",
        f"jdbc:mysql://h/db?user=a&password={SHORT}&ssl=true",
        f"postgres://u:p@{SHORT}@h/db",
        f"https://{LONG}@git.example.org/x/y",
        f"redis://:{PLAIN}@cache:6379",
        # In files of settings, programs and letters.
        f"Server=db.example.org;User Id=sa;Password={SHORT};Encrypt=yes",
        f"Server=db;Uid=sa;PWD={PLAIN};",
        f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={LONG}==;EndpointSuffix=core",
        f"PWD={SHORT[:6]};",
        f"pwd={PLAIN}",
        f"smtp_pass={PLAIN}",
        f"db_password: {PLAIN}",
        f'{{"db": {{"password": "{MADE}"}}}}',
        f'{{"a":"{{\\"password\\":\\"{MADE}\\"}}"}}',
        f"db:\n  password: {PLAIN}",
        f"- name: DB_PASSWORD\n  value: {MADE}",
        f'{{"name": "DB_PASSWORD", "value": "{PLAIN}"}}',
        f'[auth]\npassword = "{PLAIN}"',
        f"<password>{PLAIN}</password>",
        f'if password == "{MADE}":',
        f"password -> {PLAIN}",
        f"(password={SHORT})",
        f"password: {PLAIN}.",
        f"Password:\n{MADE}",
        f"**Password:** {PLAIN}",
        f"**password**: {PLAIN}",
        f"- `password`: {MADE}",
        f"Password (router): {MADE}",
        f"Password of the router: {MADE}",
        f"the wifi password: {PLAIN}",
        f"wifi: SSID=home;PSK={MADE}",
        f"WIFI:T:WPA;S:home;P:{MADE};;",
        # Given along.
        f"machine git.example.org login bob password {MADE}",
        f"machine git.example.org\n  login bob\n  password {PLAIN}",
        f"mysql --password {MADE}",
        f"docker login -u bob -p {PLAIN}",
        f"deploy --api-token {LONG}",
        f"curl -u ana:{SHORT} https://e.org",
        f"Authorization: {LONG}",
        f"X-Api-Key: {LONG}",
        f"use Bearer {LONG} for it",
        f"Bearer: {LONG}",
        # In tables.
        f"| password | {MADE} |",
        f"Password\t{MADE}",
    ],
)
def test_no_assigned_password_is_stored_whatever_stands_before_it(text: str) -> None:
    _assert_taken_out(text)


@pytest.mark.parametrize(
    "text",
    [
        f"The password of the router is {PLAIN}",
        f"The password is now {MADE}",
        f"The password was changed to {MADE}.",
        f"The password was changed, it is {PLAIN} now.",
        f"Das Passwort des Routers ist {MADE}",
        f"das WLAN-Passwort lautet {MADE}",
        f"Das Router-Passwort ist {MADE}.",
        f"Das Routerpasswort ist {PLAIN}.",
        f"Das WLAN-Passwort wurde in {MADE} geändert.",
        f"Das Kennwort der Datenbank lautet jetzt {MADE}",
        f"Der WLAN-Schlüssel lautet {MADE}",
        f"A senha do roteador é {MADE}",
        f"A senha mudou para {MADE}",
        f"La clave del wifi es {MADE}",
        f"La contraseña del router es {PLAIN}",
        f"Contraseña: {PLAIN}",
        f"Het wachtwoord van de router is {MADE}",
        f"Het wifi-wachtwoord is {MADE}",
        f"Le mot de passe du routeur est {MADE}",
        f"Le mot de passe d'Ana est désormais {MADE}",
        f"Mot de passe: {MADE}",
        f"mot de passe : {MADE}",
        f"mot de passe\u00a0: {PLAIN}",
        f"Le mot de passe de la box est « {MADE} »",
        f"路由器的密码是{MADE}",
        f"密码是{PLAIN}。",
        f"路由器密码为：{MADE}，请保密",
        f"密码：{MADE}",
        f"密码{MADE}",
        f"路由器的密碼是{MADE}",
        f"ルーターのパスワードは{MADE}です",
        f"パスワード：{MADE}",
        f"비밀번호는 {MADE}",
        f"비밀번호: {MADE}",
    ],
)
def test_no_password_that_a_sentence_says_is_stored(text: str) -> None:
    _assert_taken_out(text)


def _assert_taken_out(text: str) -> None:
    left = kept(text)
    assert not [one for one in (LONG, SHORT[:6], MADE, PLAIN, UUID) if one in left]
    assert "[redacted: " in left


def test_of_a_query_only_the_value_is_taken_out() -> None:
    assert (
        kept(f"https://e.org/?token={LONG}&page=2#top") == "https://e.org/?token=[redacted: assigned_secret]&page=2#top"
    )


def test_a_long_value_is_taken_out_whole() -> None:
    assert kept(f"token={LONG * 40}, and so on") == "token=[redacted: assigned_secret], and so on"


@pytest.mark.parametrize("text", HONEST.read_text(encoding="utf-8").splitlines())
def test_what_only_speaks_of_passwords_is_stored_as_it_is(text: str) -> None:
    assert kept(text) == text


@pytest.mark.parametrize(
    "part",
    [
        *("a=", ":", "a=aaaaaaa ", "password=", "password: ", "token:1a:", "pass", "?key=", "İpassword:"),
        *("password of ", "mot de passe ", "密码是", "--password ", "login a password ", "WIFI:", "://", "bearer "),
    ],
)
def test_time_grows_as_the_text_does(part: str) -> None:
    def took(size: int) -> float:
        text = (part * size)[:size]
        begun = process_time()
        for rule in password_rules():
            list(rule.find(text))
        return process_time() - begun

    small, large = min(took(16_384) for _ in range(3)), took(131_072)
    assert large < 24 * max(small, 0.002)  # eight times the text
