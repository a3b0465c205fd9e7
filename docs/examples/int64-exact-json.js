import { parse, stringify } from '@animal-store/exact-json';

const { BASE_URL, API_KEY } = process.env;
const response = await fetch(`${BASE_URL}/pets`, {
  method: 'POST',
  headers: { Authorization: `Bearer ${API_KEY}`, 'Content-Type': 'application/json' },
  body: stringify({ name: 'Rex', categoryId: 9223372036854775807n }),
});
const pet = parse(await response.text());
console.log(String(pet.categoryId));
