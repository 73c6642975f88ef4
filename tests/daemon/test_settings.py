"""Settings: precedence, names, and complaints that say where, which and what was expected."""

import json
from pathlib import Path

import pytest

from shelfd.daemon import config_command
from shelfd.daemon.settings import Loaded, Settings, load
from shelfd.memory.errors import ConfigError

SHIPPED = Path(__file__).parents[2] / "config" / "shelfd.toml"


def from_environment(**environ: str) -> Loaded:
    return load({}, environ, None)


def complaint(environ: dict[str, str] | None = None, file: Path | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load({}, environ or {}, file)
    return caught.value.message


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_without_anything_the_defaults_hold() -> None:
    loaded = from_environment()
    assert loaded.settings.model_dump() == Settings().model_dump()
    assert loaded.origin(("daemon", "instance")) == "default"


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    file = write(tmp_path / "s.toml", '[daemon]\ninstance = "file"\nsocket = "/file"\nloop = "asyncio"\n')
    environ = {"SHELFD__DAEMON__INSTANCE": "env", "SHELFD_SOCKET": "/env"}
    loaded = load({("daemon", "instance"): ("--instance", "flag")}, environ, file)
    daemon = loaded.settings.daemon
    assert (daemon.instance, daemon.socket, daemon.loop, daemon.drain_s) == ("flag", "/env", "asyncio", 10.0)
    assert loaded.origin(("daemon", "instance")) == "flag --instance"
    assert loaded.origin(("daemon", "socket")) == "environment SHELFD_SOCKET"
    assert loaded.origin(("daemon", "loop")) == f"file {file}"
    assert loaded.origin(("daemon", "drain_s")) == "default"


@pytest.mark.parametrize(
    ("name", "section", "key", "default", "text", "value"),
    [
        ("MEMORY_REFLECTION_HOUR", "reflection", "hour", 9, "0", 0),
        ("MEMORY_REFLECTION_HOUR", "reflection", "hour", 9, "23", 23),
        ("MEMORY_REFLECTION_MINUTE", "reflection", "minute", 0, "59", 59),
        ("MEMORY_REFLECTION_MAX_NOTES", "reflection", "max_notes", 10, "3", 3),
        ("HEARTBEAT_INTERVAL_MS", "heartbeat", "interval_ms", 1_800_000, "0", 0),
        ("HEARTBEAT_INTERVAL_MS", "heartbeat", "interval_ms", 1_800_000, "-1", -1),
        ("QUIET_HOURS_START", "quiet_hours", "start", 22, "0", 0),
        ("QUIET_HOURS_START", "quiet_hours", "start", 22, "-1", -1),
        ("QUIET_HOURS_END", "quiet_hours", "end", 8, "0", 0),
        ("SHELFD_LOOP", "daemon", "loop", "uvloop", "asyncio", "asyncio"),
        ("SHELFD_SOCKET", "daemon", "socket", "", "/x", "/x"),
    ],
)
def test_every_short_name_is_read_and_zero_is_a_value(
    name: str, section: str, key: str, default: object, text: str, value: object
) -> None:
    assert getattr(getattr(Settings(), section), key) == default
    assert getattr(getattr(from_environment(**{name: text}).settings, section), key) == value
    assert from_environment(**{name: text}).origin((section, key)) == f"environment {name}"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MEMORY_REFLECTION_HOUR", "24"),
        ("MEMORY_REFLECTION_HOUR", "-1"),
        ("MEMORY_REFLECTION_MINUTE", "60"),
        ("MEMORY_REFLECTION_MAX_NOTES", "0"),
        ("QUIET_HOURS_START", "24"),
        ("HEARTBEAT_INTERVAL_MS", "often"),
    ],
)
def test_a_short_name_out_of_range_is_named(name: str, text: str) -> None:
    assert f"environment {name}: " in complaint({name: text})


def test_the_long_name_beats_the_short_one() -> None:
    loaded = from_environment(MEMORY_REFLECTION_HOUR="1", SHELFD__REFLECTION__HOUR="2")
    assert loaded.settings.reflection.hour == 2
    assert loaded.origin(("reflection", "hour")) == "environment SHELFD__REFLECTION__HOUR"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert from_environment(SHELFD_SOCKET="", SHELFD__LOG__LEVEL="").settings.model_dump() == Settings().model_dump()


def test_lists_and_tables_in_the_environment_are_json() -> None:
    rules = {"work": {"read": ["uid:7"], "deny": ["*"]}}
    loaded = from_environment(SHELFD__ACCESS__ADMINS='["uid:1"]', SHELFD__ACCESS__SHELVES=json.dumps(rules))
    assert loaded.settings.access.admins == ["uid:1"]
    assert loaded.settings.access.shelves["work"].read == ["uid:7"]


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("[demon]\n", "demon", "expected one of daemon, log"),
        ("[daemon]\ninstanse = 'x'\n", "daemon.instanse", "expected one of instance, data_dir"),
        ("[log]\nlevel = 'loud'\n", "log.level", "'debug', 'info', 'warning' or 'error'"),
        ("[reflection]\nhour = true\n", "reflection.hour", "not true or false"),
        ("[limits]\ncontent_bytes = 262145\n", "limits.content_bytes", "less than or equal to 262144"),
        ("[memory]\ntimezone = 'Mars/Olympus'\n", "memory.timezone", "unknown time zone 'Mars/Olympus'"),
        ("[memory]\ntimezone = '../../etc/passwd'\n", "memory.timezone", "unknown time zone"),
        ("[memory]\nlanguage = 'klingon'\n", "memory.language", "expected one of"),
        ("[daemon]\nsocket_mode = 0o660\n", "daemon.socket_mode", "octal mode in quotes"),
        ("[daemon]\ndrain_s = nan\n", "daemon.drain_s", "greater than"),
        ("[access]\nadmins = ['root']\n", "access.admins.0", "pattern"),
        ("[access.shelves.'Not A Shelf']\nread = []\n", "access.shelves.Not A Shelf", "pattern"),
        ("[access.shelves.work]\nreed = []\n", "access.shelves.work.reed", "expected one of read, write, admin, deny"),
        ("[mqtt]\nurl = 'mqtt://ann:secret@localhost'\n", "mqtt.url", "must not hold a password"),
        ("[mqtt]\nurl = 'http://localhost'\n", "mqtt.url", "expected mqtt[s]://"),
        ("[mqtt]\nembedded_broker = 1\n", "mqtt.embedded_broker", "must be true or false"),
        ("[reflection]\ncron = '* * * * * *'\n", "reflection.cron", "five fields"),
        ("[reflection]\ncron = '0 0 30 2 *'\n", "reflection.cron", "bad cron text"),
        ("[history]\nretention = '30d'\n", "history.retention", "not available in this version"),
        ("daemon = 3\n", "daemon", "dictionary"),
    ],
)
def test_a_wrong_file_is_named_with_key_and_expectation(tmp_path: Path, text: str, key: str, expected: str) -> None:
    file = write(tmp_path / "s.toml", text)
    message = complaint(file=file)
    assert f"file {file}: {key}: " in message
    assert expected in message


def test_all_complaints_come_at_once(tmp_path: Path) -> None:
    file = write(tmp_path / "s.toml", "[log]\nlevel = 'loud'\n[reflection]\nhour = 24\n")
    assert len(complaint({"QUIET_HOURS_END": "99"}, file).splitlines()) == 3


@pytest.mark.parametrize("name", ["SHELFD__NOPE__X", "SHELFD__DAEMON__NOPE", "SHELFD__DAEMON"])
def test_an_unknown_variable_of_ours_is_refused(name: str) -> None:
    assert f"environment {name}: " in complaint({name: "1"})


def test_a_password_in_the_broker_url_is_refused_and_not_repeated() -> None:
    message = complaint({"SHELFD__MQTT__URL": "mqtt://me:hunter2@host"})
    assert "password" in message
    assert "hunter2" not in message


def test_a_file_that_is_no_toml_is_named_with_its_line(tmp_path: Path) -> None:
    assert "line 2" in complaint(file=write(tmp_path / "s.toml", "[log]\nlevel\n"))
    bad = tmp_path / "b.toml"
    bad.write_bytes(b"\xff")
    assert "UTF-8" in complaint(file=bad)
    assert "No such file" in complaint(file=tmp_path / "none.toml")


# ------------------------------------------------------------------ the shipped file


def test_the_shipped_file_changes_nothing() -> None:
    assert load({}, {}, SHIPPED).settings.model_dump() == Settings().model_dump()


def test_the_shipped_file_uncommented_is_the_defaults_and_has_every_setting(tmp_path: Path) -> None:
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line[1:] if line.startswith("#") and line[1:2].isalpha() else line for line in lines)
    loaded = load({}, {}, write(tmp_path / "all.toml", text))
    assert loaded.settings.model_dump() == Settings().model_dump()
    wanted = {(section, key) for section, values in Settings().model_dump().items() for key in values}
    assert set(loaded.origins) == wanted


# ------------------------------------------------------------------ what follows for the broker


def test_the_access_list_follows_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = "[access.shelves.team]\nread = ['mqtt:bob']\n[mqtt]\nurl = 'mqtt://keeper@localhost'\n"
    file = write(tmp_path / "s.toml", rules)
    assert config_command.execute(["acl", "--config", str(file), "--data-dir", str(tmp_path / "none")], {}) == 0
    text = capsys.readouterr().out
    assert "user keeper\ntopic readwrite shelfd/v1/#" in text
    assert "user bob\n" in text
    assert "topic read shelfd/v1/local/ev/team/#" in text
    assert not (tmp_path / "none").exists()


# ------------------------------------------------------------------ types of entities


def test_types_of_entities_are_read_from_the_file(tmp_path: Path) -> None:
    text = (
        "[entities.types.ticket]\npatterns = ['INC-?\\d{4,8}']\nnames = ['the outage of May']\n[entities.types.tool]\n"
    )
    rules = load({}, {}, write(tmp_path / "s.toml", text)).settings.entities.rules
    assert [tuple(rule) for rule in rules] == [("ticket", ("INC-?\\d{4,8}",), ("the outage of May",)), ("tool", (), ())]


@pytest.mark.parametrize(
    ("text", "where", "why"),
    [
        (
            "[entities.types.ticket]\npatterns = ['(a+)+$']",
            "entities",
            "pattern 1 of ticket: at character 3: + repeats",
        ),
        ("[entities.types.ticket]\npatterns = ['(?:a?){30}']", "entities", "more than 1000 ways"),
        ("[entities.types.ticket]\npatterns = ['']", "entities.types.ticket.patterns", "at least 1 character"),
        ("[entities.types.ticket]\nnames = [' - ']", "entities.types.ticket.names", "match pattern"),
        ("[entities.types.Ticket]\nnames = ['x']", "entities.types.Ticket", "match pattern"),
        ("[entities.types.ticket]\nwords = ['x']", "entities.types.ticket.words", "unknown"),
    ],
)
def test_a_type_of_entities_that_cannot_be_used_is_refused(tmp_path: Path, text: str, where: str, why: str) -> None:
    told = complaint(file=write(tmp_path / "s.toml", text))
    assert where in told
    assert why in told
