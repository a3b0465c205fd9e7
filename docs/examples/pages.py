import os
from urllib.parse import urljoin

import requests


def all_pets():
    with requests.Session() as session:
        session.headers["Authorization"] = "Bearer " + os.environ["API_KEY"]
        url = os.environ["BASE_URL"] + "/pets?limit=100"
        while url:
            response = session.get(url, timeout=30)
            response.raise_for_status()
            yield from response.json()
            following = response.links.get("next")
            url = following and urljoin(response.url, following["url"])


print(sum(1 for pet in all_pets()))
