"""What counts as a credential or as personal data, and what does not."""

import pytest

from shelfd.memory.knowledge.governance.personal import personal_rules
from shelfd.memory.knowledge.governance.rule import Finder
from shelfd.memory.knowledge.governance.secrets import secret_rules


def found(rules: tuple[Finder, ...], text: str) -> list[tuple[str, str]]:
    each = [(rule, one) for rule in rules for one in rule.find(text)]
    assert all(rule.may_find(text) and rule.may_find(f"before\n{text}\nafter") for rule, _ in each)
    return [(rule.name, one) for rule, one in each]


SECRETS = tuple(secret_rules())
PERSONAL = tuple(personal_rules(("email", "phone", "iban", "payment_card"), "DE"))
# In two parts, so that nothing that looks for credentials takes this file for one.
CREDENTIALS = [
    ("aws_access_key", "ASIA" + "QYLPMN5HHHXZ7J2Q"),
    ("private_key", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----"),
    ("github_token", "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"),
    ("gitlab_token", "glpat-" + "aB3dE6gH9jK2mN5pQ8sT"),
    ("slack_token", "xoxb-" + "123456789012-abcdefGHIJK"),
    ("model_api_key", "sk-" + "proj-aB3dE6gH9jK2mN5pQ8sT1vW4"),
    ("google_api_key", "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"),
    ("service_token", "dop_v1_" + "3f9a0c77b1e24d58a6c2f0e19b7d4a35"),
    ("service_token", "GOCSPX-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b"),
    ("hex_api_key", "key-" + "3f9a0c77b1e24d58a6c2f0e19b7d4a35"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27uhbUJU1"),
]


@pytest.mark.parametrize(("rule", "credential"), CREDENTIALS)
def test_credentials_of_known_shapes_are_found_whole(rule: str, credential: str) -> None:
    assert (rule, credential) in found(SECRETS, f"The new one is {credential}, keep it.")


@pytest.mark.parametrize(
    ("rule", "before", "credential", "after"),
    [
        ("authorization", "curl -H 'Authorization: Bearer ", "aB3dE6gH9jK2mN5pQ8sT1vW4", "' https://a.example"),
        ("authorization", '{"authorization": "Basic ', "YW5hOnRyMHViNGRvcjM3", '"}'),
        ("cookie", "Set-Cookie: theme=dark; sid=", "3f9a0c77b1e24d58a6c2f0e1", "; HttpOnly"),
    ],
)
def test_what_is_sent_with_requests_is_found(rule: str, before: str, credential: str, after: str) -> None:
    assert (rule, credential) in found(SECRETS, before + credential + after)


@pytest.mark.parametrize(
    "text",
    [
        "AKIA" + "IOSFODNN7EXAMPLE",
        "sk-your-key-here-please-change",
        "sk-learn-contrib-packages-2026",
        "ghp_" + "x" * 36,
        "key-implementation-of-several-services",
        "Authorization: Bearer YOUR_TOKEN_HERE_PLEASE",
        "Authorization: Bearer $TOKEN",
        "Cookie: consent=accepted_all_cookies",
        "order SK1234567890",
    ],
)
def test_examples_and_words_are_no_credentials(text: str) -> None:
    assert found(SECRETS, text) == []


def test_a_private_key_that_does_not_end_goes_on_to_the_end_of_the_text() -> None:
    key = "-----BEGIN " + "PRIVATE KEY-----\nMIIEow\nand so on"

    assert found(SECRETS, f"Here: {key}") == [("private_key", key)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("api_key = 9f8e7d6c5b4a39281706f5e4d3c2b1a0", "9f8e7d6c5b4a39281706f5e4d3c2b1a0"),
        ('"client_secret": "aB3-dE6_gH9jK2mN5pQ8"', "aB3-dE6_gH9jK2mN5pQ8"),
        ("DB_PASSWORD=Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("Passwort: Winter2031!", "Winter2031!"),
        ("password: hunter2", "hunter2"),
        ("PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=", "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="),
        ("export ACCESS_TOKEN='q8Zt4LmX2vNw7RkB'", "q8Zt4LmX2vNw7RkB"),
    ],
)
def test_random_strings_that_are_assigned_are_found(text: str, value: str) -> None:
    assert ("assigned_secret", value) in found(SECRETS, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("the admin password is Tr0ub4dor&3xyz!", "Tr0ub4dor&3xyz!"),
        ("The password for the guest wifi is Winter2031.", "Winter2031"),
        ("Das Passwort lautet 'Xk9#mP2$vQ7w'", "Xk9#mP2$vQ7w"),
        ("La contraseña del router es Xk9#mP2$vQ7w.", "Xk9#mP2$vQ7w"),
        ("Le mot de passe est Xk9#mP2$vQ7w", "Xk9#mP2$vQ7w"),
        ("密码是 Xk9#mP2$vQ7w", "Xk9#mP2$vQ7w"),
        ("Our API key is 9f8e7d6c5b4a3928", "9f8e7d6c5b4a3928"),
    ],
)
def test_what_a_sentence_says_a_password_is_is_found(text: str, value: str) -> None:
    assert found(SECRETS, text) == [("said_secret", value)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("curl -u ana:hu7Zr9 https://a.example/x", "hu7Zr9"),
        ("mysql -h db -u root -phu7Zr9 shop", "hu7Zr9"),
        ("sshpass -p 'hu7Zr9' ssh ana@host", "hu7Zr9"),
    ],
)
def test_a_password_that_is_given_to_a_command_is_found_alone(text: str, value: str) -> None:
    assert found(SECRETS, text) == [("command_password", value)]


def test_a_password_in_a_url_is_found_alone() -> None:
    assert found(SECRETS, "See postgres://ana:hu7Zr9@db.example.org/x.") == [("url_password", "hu7Zr9")]


@pytest.mark.parametrize(
    "text",
    [
        "The token: a small brass coin from the fair.",
        "password: ask Ana",
        "api_key = os.environ['API_KEY']",
        "api_key = ${API_KEY}",
        "secret: meet-at-9pm-at-the-harbour",
        "The commit 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c fixed it.",
        "postgres://user:password@localhost/db and https://example.org:8080/a@b",
        "Tokens per day: 250000; the key of the shed is on hook 4.",
        "sk-learn is a library, AKIA an abbreviation.",
        "The password is stored in 1Password, the password policy is ISO27001-compliant.",
        "The password is valid until 2026-10-05 and the same as in 2024.",
        "password: argon2id, password=sha256, Passwort: siehe Seite 2",
        "The access token is OAuth2-based; the token is 12345678.",
        "docker run -u 1000:1000 image; mysql -p shop; curl -u $NAME:$PASS https://a.example",
    ],
)
def test_what_only_looks_like_a_credential_is_none(text: str) -> None:
    assert found(SECRETS, text) == []


@pytest.mark.parametrize(
    ("rule", "text", "value"),
    [
        ("email", "Ask ana.maria+x@mail.example.org.", "ana.maria+x@mail.example.org"),
        ("phone", "Call 030 901820 or write.", "030 901820"),
        ("phone", "Call +44 20 7946 0958 today.", "+44 20 7946 0958"),
        ("iban", "Pay to GB82 WEST 1234 5698 7654 32 BY FRIDAY.", "GB82 WEST 1234 5698 7654 32"),
        ("payment_card", "5500-0000-0000-0004 expires soon", "5500-0000-0000-0004"),
    ],
)
def test_personal_data_is_found_by_its_form(rule: str, text: str, value: str) -> None:
    assert (rule, value) in found(PERSONAL, text)


@pytest.mark.parametrize(
    "text", ["Order 4111 1111 1111 1112 came.", "DE89 3704 0044 0532 0130 01 is wrong", "at 10:30 in 2031", "a @ b"]
)
def test_numbers_without_the_right_check_digits_are_nobodys(text: str) -> None:
    assert [one for one in found(PERSONAL, text) if one[0] != "phone"] == []


@pytest.mark.parametrize(
    "part",
    [
        "eyJa-",
        "://a:",
        "1 ",
        "AB12 ",
        "a.b@",
        "password=",
        "+1 (",
        "-----BEGIN PRIVATE KEY",
        "cookie:a=",
        "password for ",
        "curl -u ",
        "mysql ",
    ],
)
def test_no_text_takes_long(part: str) -> None:
    text = (part * 262_144)[:262_144]
    for rules in (SECRETS, PERSONAL):
        found(rules, text)  # what backtracks takes longer than a test may
