import os
import random
import time
import uuid

import requests

REPEATED = {408, 429, 500, 502, 503, 504}


def post(url, seconds=30, **options):
    deadline = time.monotonic() + seconds
    attempt = 0
    while True:
        attempt += 1
        least = 0
        try:
            response = requests.post(url, timeout=10, **options)
            if response.status_code not in REPEATED:
                return response
            failure = requests.HTTPError(response.text, response=response)
            least = int(response.headers.get("Retry-After", 0))
        except (requests.ConnectionError, requests.Timeout) as error:
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
print(response.status_code, *([] if response.ok else [response.json()["code"]]))
