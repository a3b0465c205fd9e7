import json
import os

from animals import ApiClient, Configuration, NewPet, PetsApi

client = ApiClient(Configuration(host=os.environ["BASE_URL"], access_token=os.environ["API_KEY"]))
pets = PetsApi(client)
with open("names.json") as file:
    for name in json.load(file):
        pets.create_pet(NewPet(name=name, categoryId=-(2**63)))
print(json.dumps([pet.name for pet in pets.list_pets(limit=100)]))
