import os

import httpx


def all_pets():
    headers = {"Authorization": "Bearer " + os.environ["API_KEY"]}
    with httpx.Client(headers=headers, timeout=30) as client:
        url = httpx.URL(os.environ["BASE_URL"] + "/pets?limit=100")
        while url:
            response = client.get(url)
            response.raise_for_status()
            yield from response.json()
            following = response.links.get("next")
            url = following and response.url.join(following["url"])


print(sum(1 for pet in all_pets()))
