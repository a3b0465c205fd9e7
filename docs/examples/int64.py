import os
import requests

response = requests.post(
    os.environ["BASE_URL"] + "/pets",
    headers={"Authorization": "Bearer " + os.environ["API_KEY"]},
    json={"name": "Rex", "categoryId": 9223372036854775807},
    timeout=30,
)
print(response.json()["categoryId"])
