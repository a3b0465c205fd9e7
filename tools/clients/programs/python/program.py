import json
import os
import re
from urllib.parse import parse_qs, urljoin, urlsplit

from animals import AuthenticatedClient
from animals.api.pets import create_pet, get_pet, list_pets
from animals.models import NewPet, PetStatus
from animals.types import UNSET

BASE_URL = os.environ["BASE_URL"]
CATEGORY_ID = 9223372036854775807


def client_with(key):
    return AuthenticatedClient(base_url=BASE_URL, token=key)


client = client_with(os.environ["API_KEY"])


def create_rex(name="Rex"):
    body = NewPet(name=name, category_id=CATEGORY_ID, status=PetStatus.AVAILABLE)
    return create_pet.sync(client=client, body=body, idempotency_key="first")


created = create_rex()
repeated = create_rex()
for count in range(2, 6):
    create_pet.sync(client=client, body=NewPet(name=f"Pet {count}", category_id=-count))

pages = []
cursor = UNSET
while True:
    response = list_pets.sync_detailed(client=client, limit=2, cursor=cursor)
    pages.append([pet.id for pet in response.parsed])
    following = re.search('<([^>]*)>; rel="next"', response.headers.get("link", ""))
    if following is None:
        break
    cursor = parse_qs(urlsplit(urljoin(BASE_URL, following[1])).query)["cursor"][0]

failures = [
    list_pets.sync(client=client, cursor="no cursor"),
    list_pets.sync(client=client_with("not-a-key-of-anyone")),
    get_pet.sync(client=client, pet_id=999),
    create_rex("Max"),
]
errors = [f"{failure.status} {failure.code}" for failure in failures]
print(json.dumps({"created": created.to_dict(), "repeated": repeated.to_dict(), "pages": pages, "errors": errors}))
