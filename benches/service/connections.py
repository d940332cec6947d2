"""Opens many connections with one token, and measures whether another user is still answered."""

import argparse
import pathlib
import resource
import socket
import subprocess
import tempfile
import time

from service import Client, Service

# Time limit for the answer to the other user, in seconds.
PATIENCE = 20


def allow_files():
    """Raises the number of files that this process and its children may open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def crowd(port, token, count, path="whoami"):
    """Opens connections. Each one sends a request with the token. Returns the connections."""
    request = f"GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    opened = []
    for _ in range(count):
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            connection.sendall(request)
            opened.append(connection)
        except OSError:
            break
    return opened


def answer_time(port, token):
    """Seconds until a client with this token is answered, or none if it is not answered in time."""
    client = Client(port, token, PATIENCE)
    begun = time.monotonic()
    try:
        client.get("/whoami")
    except OSError:
        return None
    return time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--makespan", required=True, help="the program")
    parser.add_argument("--connections", type=int, default=2100, help="the number of connections")
    parser.add_argument("--streams", action="store_true", help="read a stream of events on each connection, instead of leaving it idle")
    options = parser.parse_args()
    allow_files()
    program = str(pathlib.Path(options.makespan).resolve())
    with tempfile.TemporaryDirectory(prefix="makespan-connections-") as folder:
        store, log = pathlib.Path(folder) / "store", pathlib.Path(folder) / "log"
        with Service(program, store, ["--processors", "2", "--oversubscribe", "--log", log]) as service:
            words = [program, "token", "add", "ann", "--role", "submitter", "--store", store]
            token = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout.strip()
            time.sleep(1)
            opened = crowd(service.port, token, options.connections, "events" if options.streams else "whoami")
            waited = answer_time(service.port, service.token)
            time.sleep(0.5)
            lines = [line for line in log.read_text().splitlines() if "too many connections" in line]
            found = "not answered" if waited is None else f"answered after {waited:.3f} s"
            print(f"{len(opened)} connections of one token; another user is {found}; the log has {len(lines)} lines about connections", *lines, sep="\n")


if __name__ == "__main__":
    main()
