if (JSON.rawJSON === undefined) {
  console.error('int64.js needs JSON.rawJSON, as in Node.js 22');
  process.exit(1);
}
const { BASE_URL, API_KEY } = process.env;
const response = await fetch(`${BASE_URL}/pets`, {
  method: 'POST',
  headers: { Authorization: `Bearer ${API_KEY}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({ name: 'Rex', categoryId: JSON.rawJSON('9223372036854775807') }),
});
const pet = JSON.parse(await response.text(), (name, value, { source }) =>
  name === 'categoryId' ? BigInt(source) : value,
);
console.log(String(pet.categoryId));
