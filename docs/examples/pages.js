const { BASE_URL, API_KEY } = process.env;

async function* allPets() {
  for (let url = new URL(`${BASE_URL}/pets?limit=100`); url !== null; ) {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${API_KEY}` } });
    if (!response.ok) throw new Error(await response.text());
    yield* await response.json();
    const next = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    url = next === undefined ? null : new URL(next, url);
  }
}

const pets = [];
for await (const pet of allPets()) pets.push(pet);
console.log(pets.length);
