const { parse } = JSON;
const keepDigits = (_key, value, { source }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;

// Swagger UI parses each response, and writes it again, indented. Older browsers round.
if ('rawJSON' in JSON) {
  JSON.parse = (text, reviver = keepDigits) => parse(text, reviver);
  BigInt.prototype.toJSON = function () {
    return JSON.rawJSON(String(this));
  };
}

/** How large integers of the document are written, by what they are rounded to. */
const written = new Map();

// Swagger UI has a parser of its own for the document, which rounds. It shows the bounds of a schema as text.
const exactBounds = {
  statePlugins: {
    spec: {
      wrapActions: {
        parseToJson: (parseToJson) => (document) => {
          for (const [integer] of document.matchAll(/-?\d{16,}/g)) written.set(String(Number(integer)), integer);
          return parseToJson(document);
        },
      },
    },
  },
  wrapComponents: {
    JSONSchema202012KeywordConstraint:
      (Constraint, { React }) =>
      ({ constraint: { scope, value } }) => {
        const exact = value.replace(/-?\d{16,}/g, (rounded) => written.get(rounded) ?? rounded);
        return React.createElement(Constraint, { constraint: { scope, value: exact } });
      },
  },
};

globalThis.SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: 'openapi.json',
  deepLinking: true,
  syntaxHighlight: { theme: 'tomorrow-night' },
  plugins: [exactBounds],
});
