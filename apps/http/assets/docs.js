// Starts Swagger UI, and keeps it from rounding integers of 64 bits. What a person types it sends as it was typed.

const { SwaggerUIBundle } = globalThis;

/** How large integers of the document were written, by what they are rounded. No two of them may be rounded to the same. */
const written = new Map();

/**
 * In this page JSON has integers of any length: Swagger UI parses each answer and each example, and writes it again,
 * indented.
 */
function keepDigits() {
  const { parse } = JSON;
  const keep = (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
  JSON.parse = (text, reviver = keep) => parse(text, reviver);
  BigInt.prototype.toJSON = function () {
    return JSON.rawJSON(String(this));
  };
}

/** The document with its examples as JSON text: Swagger UI has a parser of its own for it, which rounds. */
function withExamplesAsText(document) {
  return JSON.stringify(JSON.parse(document), (key, value) => {
    if (JSON.isRawJSON(value)) written.set(String(Number(value.rawJSON)), value.rawJSON);
    return key === 'example' && typeof value === 'object' ? JSON.stringify(value, null, 2) : value;
  });
}

const exactIntegers = {
  statePlugins: {
    spec: {
      wrapActions: {
        parseToJson: (parseToJson) => (document) => parseToJson(withExamplesAsText(document)),
      },
    },
  },
  wrapComponents: {
    // The bounds of a schema, which have to be numbers.
    JSONSchema202012KeywordConstraint:
      (Constraint, { React }) =>
      ({ constraint: { scope, value } }) =>
        React.createElement(Constraint, {
          constraint: { scope, value: value.replace(/-?\d{16,}/g, (number) => written.get(number) ?? number) },
        }),
  },
};

// Browsers have it since 2025.
const canKeepDigits = 'rawJSON' in JSON;
if (canKeepDigits) keepDigits();
document.getElementById('notice').hidden = canKeepDigits;

SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: 'openapi.json',
  deepLinking: true,
  displayRequestDuration: true,
  plugins: canKeepDigits ? [exactIntegers] : [],
});
