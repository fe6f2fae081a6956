"""Keys are never recoverable: docs/reliability.md 15. They are used in every way, then looked for."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from commands import PATIENCE, WITHOUT_TLS, change, key_in, new_key, run_ok, running, wait_until
from desktop import RUN_KEY, Child, announced
from factories import A_FILE, error_of, unwrap
from operations import body_of, path_of

from journal_api.routes.table import OPERATIONS

NEVER_ISSUED = "tjk_0000000000000000000000000000001A68Am"
CSV = {"Content-Type": "text/csv"}
SETTINGS = {"JOURNAL_LOG_LEVEL": "debug", "JOURNAL_METRICS": "true"}


class Keys(NamedTuple):
    """Keys of every state, each really in use."""

    first: str  # printed by the server that made it
    whole: str
    reading: str
    of_another_user: str
    expired: str
    revoked: str
    of_the_run: str

    @property
    def malformed(self) -> list[str]:
        """Good keys as people mistype them, and one that looks good."""
        mistyped = self.whole[:-1] + ("a" if self.whole[-1] != "a" else "b")
        return [NEVER_ISSUED, mistyped, self.whole.swapcase(), self.reading[:-1], f"{self.reading}x"]


@pytest.fixture
def keys(db: Path) -> Keys:
    with running(db, "--first-key", name="first") as server:
        first = key_in(server.out.read_text())
    run_ok("users", "add", "another", "--db", db)
    whole, expired, revoked = (new_key(db) for _ in range(3))
    keys = Keys(first, whole, new_key(db, scopes="read"), new_key(db, "--user", "another"), expired, revoked, RUN_KEY)
    change(db, f"UPDATE api_keys SET expires_at = created_at WHERE id = {key_id(db, expired)}")
    run_ok("keys", "revoke", key_id(db, revoked), "--db", db)
    return keys


def key_id(db: Path, key: str) -> str:
    """The id of the key, as a user finds it."""
    listed = [line.split("\t") for line in run_ok("keys", "list", "--db", db).splitlines()]
    (found,) = (line[0] for line in listed if line[3] == f"...{key[-4:]}")
    return found


def use(server: Child, key: str) -> Iterator[httpx.Response]:
    """What every operation answers to the key, and some that go wrong."""
    with server.client(key) as client:
        for number, operation in enumerate(OPERATIONS):
            # The answer to what is sent with one is kept in the database.
            headers = {"Idempotency-Key": f"request-{number}"}
            body = body_of(operation)
            yield client.request(operation.method, path_of(operation, 1), json=body, headers=headers)
        yield client.post("/tags", content=b"{")
        yield client.post("/imports", params={"account_id": 2}, content=A_FILE, headers=CSV)
        yield client.post("/imports", params={"account_id": 2}, content=A_FILE[:90], headers=CSV)
        yield client.get("/trades/export")
        yield client.get("/goals/999")
        yield client.delete("/goals")
        yield client.get("/tags", headers={"Host": "evil.example"})


def misuse(server: Child, key: str) -> Iterator[httpx.Response]:
    """What is answered to a key that is sent where none belongs."""
    basic = b64encode(f"owner:{key}".encode()).decode()
    with httpx.Client(base_url=server.url, timeout=PATIENCE, verify=WITHOUT_TLS) as client:
        for name in ("api_key", "access_token", "key"):
            yield client.get("/v1/tags", params={name: key})
        for header in (key, f"Basic {basic}", f"Token {key}", f"Bearer {key} {key}", f"Bearer {key}, {key}"):
            yield client.get("/v1/tags", headers={"Authorization": header})
        yield client.get("/v1/tags", headers={"X-Api-Key": key, "Cookie": f"key={key}", "Referer": key})
        yield client.get(f"/v1/tags/{key}")
        yield client.get(f"/{key}")
        yield client.request(key[:30], "/v1/tags")
        yield client.get("/v1/tags", headers={"Host": f"{key}.example"})
    if key.startswith("tjk_") or key == RUN_KEY:  # which tells a key from an id that a client made up
        with server.client(key) as client:
            for sent in (key, f"Bearer_{key}", f"{key}-2"):
                yield client.get("/tags", headers={"X-Request-Id": sent})
                yield client.post("/tag-categories", json={"name": "Once"}, headers={"Idempotency-Key": sent})


def provoke_bug(server: Child, db: Path, key: str) -> httpx.Response:
    """The response to a request that finds a time zone that no request could store."""
    with server.client(key) as client:
        goal = {"goal_name": "Goal", "metric": "net_pnl", "target_value": 1}
        goal_id = unwrap(client.post("/goals", json=goal))["id"]
        change(db, "UPDATE users SET timezone = 'Nowhere/Land' WHERE id = 1")
        answer = client.get(f"/goals/{goal_id}/snapshots")
        change(db, "UPDATE users SET timezone = 'UTC' WHERE id = 1")
    return answer


def traces_of(key: str) -> list[bytes]:
    """What would give the key away: itself, or all of its chance, plain or as other spellings have it."""
    # The last four characters are shown, so that people can tell their keys apart.
    secret = (key[4:34] if key.startswith("tjk_") else key[:-4]).encode()
    shifted = [b64encode(secret[start:])[:32] for start in range(3)]
    return [secret, secret.hex().encode(), secret[::-1], *shifted]


def leaks_in(text: bytes, secrets: list[bytes]) -> bool:
    return any(secret in text for secret in secrets)


def files_in(folder: Path) -> dict[str, bytes]:
    files = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    # Where the first key was printed, once, for its owner.
    files["first.out"] = re.sub(rb"(?<=\n    )tjk_\w{36}(?=\n)", b"", files["first.out"], count=1)
    return files


@pytest.mark.promise(15)
def test_no_key_is_found_in_any_file_log_or_answer(
    db: Path, keys: Keys, tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    secrets = [trace for key in [*keys, *keys.malformed] for trace in traces_of(key)]
    backups = tmp_path / "backups"
    backups.mkdir()

    with announced(db, settings=SETTINGS) as server:
        for_all_operations = (keys.whole, keys.reading, keys.revoked, keys.of_the_run, keys.malformed[0])
        answers = [answer for key in for_all_operations for answer in use(server, key)]
        answers += [answer for key in [*keys, *keys.malformed] for answer in misuse(server, key)]
        answers.append(provoke_bug(server, db, keys.whole))
        answers.append(httpx.get(f"{server.url}/metrics", timeout=PATIENCE, verify=WITHOUT_TLS))
        run_ok("backup", backups, "--db", db)
        wait_until(lambda: b'"route":"/metrics"' in (tmp_path / "server.err").read_bytes())
        while_it_runs = files_in(tmp_path)
        server.process.kill()
        server.process.wait(PATIENCE)
        after_a_crash = files_in(tmp_path)
        printed = server.line + server.rest_of_output() + run_ok("keys", "list", "--db", db).encode()
    with announced(db, settings=SETTINGS) as server:
        server.let_go()
    at_rest = files_in(tmp_path)

    assert {"journal.db", "journal.db-wal", "journal.db-shm", "server.err"} <= set(while_it_runs)
    assert "journal.db-wal" in after_a_crash
    assert "journal.db-wal" not in at_rest
    assert any(name.startswith("backups/") for name in at_rest)
    assert {401, 403, 404, 400, 421, 405, 500, 200, 201, 204} <= {answer.status_code for answer in answers}
    log = while_it_runs["server.err"]
    assert b"Traceback" in log
    assert keys.whole[-4:].encode() in log
    looks = {"running": while_it_runs, "killed": after_a_crash, "stopped": at_rest}
    found = [(at, name) for at, files in looks.items() for name in files if leaks_in(files[name], secrets)]
    assert found == []
    assert not leaks_in(printed, secrets)
    assert not [answer for answer in answers if leaks_in(whole(answer), secrets)]
    sizes = [len(content) for files in looks.values() for content in files.values()]
    record_observation(
        f"{len(keys)} keys and {len(keys.malformed)} malformed ones, {len(answers)} answers, {len(sizes)} "
        f"files ({sum(sizes) / 2**20:.0f} MiB of database, WAL, backup, log) running, killed, stopped: no key"
    )


def whole(answer: httpx.Response) -> bytes:
    return repr(answer.headers.raw).encode() + answer.content


@pytest.mark.promise(15)
def test_a_revoked_key_is_401_on_the_next_request(db: Path, record_observation: Callable[[str], None]) -> None:
    key = new_key(db)
    with announced(db) as server, server.client(key) as client:
        before = [answer.status_code for answer in (client.get("/tags") for _ in range(3))]

        run_ok("keys", "revoke", key_id(db, key), "--db", db)

        after = [error_of(client.get(path_of(operation))) for operation in OPERATIONS if operation.method == "GET"]
    assert before == [200] * 3
    assert set(after) == {(401, "key_revoked")}
    record_observation(
        f"revoked beside a running server: the very next request is 401, as are the {len(after) - 1} after it"
    )
