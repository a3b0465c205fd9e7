import os
import random
import time
import uuid
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import requests

REPEATED = {408, 429, 500, 502, 503, 504}


def retry_after(field):
    """Seconds, or a date, which a proxy may send, as seconds from now."""
    if field.isdecimal():
        # An int of many digits cannot be added to a float.
        return float(field)
    try:
        return max(0, (parsedate_to_datetime(field) - datetime.now(timezone.utc)).total_seconds())
    except (OverflowError, TypeError, ValueError):
        return 0


def post(url, seconds=30, **options):
    """Sends a request until it gets a response that repeating does not change."""
    deadline = time.monotonic() + seconds
    attempt = 0
    while True:
        attempt += 1
        least = 0
        try:
            # Reads the body, too: the connection can break in it.
            response = requests.post(url, timeout=10, **options)
            if response.status_code not in REPEATED:
                return response
            failure = requests.HTTPError(f"{response.status_code} {response.text}", response=response)
            least = retry_after(response.headers.get("Retry-After", "0"))
        except requests.RequestException as error:
            failure = error
        pause = least + random.uniform(0, min(5, 0.1 * 2**attempt))
        if time.monotonic() + pause > deadline:
            raise failure
        time.sleep(pause)


response = post(
    os.environ["BASE_URL"] + "/pets",
    headers={"Authorization": "Bearer " + os.environ["API_KEY"], "Idempotency-Key": str(uuid.uuid4())},
    json={"name": "Rex", "categoryId": 42},
)
print(response.status_code, response.text)
