import os
import uuid

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

retries = Retry(
    total=5,
    backoff_factor=0.2,
    backoff_jitter=0.2,
    status_forcelist=[408, 429, 500, 503],
    # POST too: each has an Idempotency-Key.
    allowed_methods=None,
)
session = requests.Session()
session.mount("http://", HTTPAdapter(max_retries=retries))
session.mount("https://", HTTPAdapter(max_retries=retries))

response = session.post(
    os.environ["BASE_URL"] + "/pets",
    headers={"Authorization": "Bearer " + os.environ["API_KEY"], "Idempotency-Key": str(uuid.uuid4())},
    json={"name": "Rex", "categoryId": 42},
    timeout=10,
)
print(response.status_code)
