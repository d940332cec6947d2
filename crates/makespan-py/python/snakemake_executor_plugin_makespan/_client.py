"""A client of the HTTP interface of ``makespan serve``. It finds the address and the token as ``makespan submit`` does."""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import ssl
import stat
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Client", "Refused", "ServiceError", "Unreachable", "repeated"]

#: Time limit of a request, in seconds.
PATIENCE = 60.0
#: Number of jobs on a page of the list.
PAGE = 1000
#: Statuses of responses after which a repeated request may succeed. 502 and 504 are responses of a proxy.
TEMPORARY = (429, 502, 503, 504)


class ServiceError(Exception):
    """An error of the service, or of its address or token."""


class Unreachable(ServiceError):
    """The service cannot be reached at present."""


class Refused(ServiceError):
    """The service refused a request.

    Attributes:
        status: The status of the response.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Makes each redirection an error, because the other server would receive the token."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Client:
    """A connection to the service.

    Args:
        url: The address. The default is ``MAKESPAN_URL``, or else the file ``url`` in the store.
        token_file: The file with the token. The default is ``MAKESPAN_TOKEN_FILE``, or else the file ``token`` in the store.
        ca: A PEM file with the certificates that the client trusts.
        store: The store of the service. The default is ``MAKESPAN_STORE``, or else ``makespan/service`` in the data folder.
    """

    def __init__(self, url: str | None = None, token_file: str | None = None, ca: str | None = None, store: str | None = None) -> None:
        folder = Path(store) if store else default_store()
        url = url or os.environ.get("MAKESPAN_URL") or _text(
            folder / "url", "start a service with `makespan serve`, or state --makespan-url or MAKESPAN_URL"
        )
        self.url = checked(url.strip())
        token_file = token_file or os.environ.get("MAKESPAN_TOKEN_FILE") or str(folder / "token")
        self._token = _text(Path(token_file), "state --makespan-token-file or MAKESPAN_TOKEN_FILE").strip()
        if not self._token.isascii() or not self._token.isprintable() or not self._token or " " in self._token:
            raise ServiceError(f"{token_file}: the file contains no token")
        # A proxy could pass the token to another server.
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({}), _NoRedirects()]
        if self.url.startswith("https"):
            try:
                handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca)))
            except (OSError, ssl.SSLError) as error:
                raise ServiceError(f"{ca}: cannot read the certificates: {error}") from None
        self._opener = urllib.request.build_opener(*handlers)

    def submit(self, submission: Mapping[str, Any], key: str) -> int:
        """Submits one job and returns its number. A repeated request with the same key submits nothing."""
        receipt = self._request("POST", "jobs", submission, {"Idempotency-Key": key})
        return int(receipt["jobs"][0])

    def job(self, number: int) -> dict[str, Any]:
        """Returns the details of a job."""
        found: dict[str, Any] = self._request("GET", f"jobs/{number}")
        return found

    def user(self) -> tuple[str, str]:
        """Returns the user of the token and the role of this user."""
        answer = self._request("GET", "whoami")
        return str(answer["user"]), str(answer["role"])

    def unfinished(self, user: str, text: str | None = None) -> set[int]:
        """Returns the numbers of the jobs of a user that have not ended. If `text` is given, the names contain it."""
        found: set[int] = set()
        named = {} if text is None else {"text": text}
        query = urllib.parse.urlencode({"state": "held,waiting,running", "user": user, "limit": PAGE, **named})
        after = ""
        while True:
            page = self._request("GET", f"jobs?{query}{after}")
            found.update(int(job["number"]) for job in page["items"])
            if page.get("next") is None:
                return found
            after = f"&after={page['next']}"

    def cancel(self, number: int) -> None:
        """Cancels a job, unless it has ended."""
        try:
            self._request("POST", f"jobs/{number}/cancel", None)
        except Refused as refused:
            if refused.status not in (404, 409):
                raise

    def _request(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Any:
        data = None if method == "GET" else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", data=data, method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with self._opener.open(request, timeout=PATIENCE) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise _refused(error) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise ServiceError(f"{self.url}: the certificate is not accepted: {reason}; state --makespan-ca") from None
            raise Unreachable(f"{self.url}: the service cannot be reached: {reason}") from None
        except ValueError as error:
            raise ServiceError(f"{self.url}: the response is not from the makespan service: {error}") from None


def repeated(request: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Repeats a request while the service cannot be reached, for up to this time."""
    begun, pause = time.monotonic(), 0.1
    while True:
        try:
            return request()
        except Unreachable:
            if time.monotonic() - begun > seconds:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 5.0)


def default_store() -> Path:
    """Returns the folder in ``MAKESPAN_STORE``, or else ``makespan/service`` in the data folder of the user."""
    if named := os.environ.get("MAKESPAN_STORE"):
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME", "")
    folder = Path(data) if os.path.isabs(data) else Path(os.environ.get("HOME", "/")) / ".local/share"
    return folder / "makespan/service"


def checked(url: str) -> str:
    """Checks an address. Requests contain the token, so the scheme is ``https``, unless the host is this machine.

    >>> checked("http://127.0.0.1:8321/")
    'http://127.0.0.1:8321'
    """
    wrong = ServiceError(f"{url}: this is not an address of a service; write an address such as http://127.0.0.1:8321")
    try:
        parts = urllib.parse.urlsplit(url)
        # Reading an invalid port raises an error.
        _ = parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query or "@" in parts.netloc:
        raise wrong
    address = f"{parts.scheme}://{parts.netloc}"
    if parts.scheme == "http" and not _is_here(address):
        raise ServiceError(
            f"{url}: the token would be sent unencrypted; write https, or use a tunnel: ssh -L 8321:127.0.0.1:8321 HOST"
        )
    return address


def _is_here(url: str) -> bool:
    host = urllib.parse.urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _text(path: Path, remedy: str) -> str:
    """Reads a file that only its owner may read."""
    try:
        with path.open() as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise ServiceError(f"{path}: other users may read this file; run chmod 600 {path}")
            return file.read()
    except (OSError, ValueError) as error:
        raise ServiceError(f"{path}: {getattr(error, 'strerror', None) or error}; {remedy}") from None


def _refused(error: urllib.error.HTTPError) -> ServiceError:
    """Returns the problem that the service describes in its response."""
    try:
        problem = json.loads(error.read())
        place = f"{problem['place']}: " if problem.get("place") else ""
        remedy = f"; {problem['remedy']}" if problem.get("remedy") else ""
        message = f"{place}{problem['detail']}{remedy}"
    except (OSError, ValueError, KeyError, TypeError, AttributeError, http.client.HTTPException):
        message = f"{error.url}: the status of the response is {error.code}"
    # A request that the service could not complete yet may succeed later.
    return Unreachable(message) if error.code in TEMPORARY else Refused(error.code, message)
