// Starts Swagger UI with what this service needs beyond it.

const { SwaggerUIBundle } = globalThis;

/** Colours follow the preference of the reader, also when it changes. */
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const setColours = () => document.documentElement.classList.toggle('dark-mode', prefersDark.matches);
prefersDark.addEventListener('change', setColours);
setColours();

/** In this page JSON has integers of any length: Swagger UI parses each response, and writes it again, indented. */
function keepDigits() {
  const { parse } = JSON;
  const keep = (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
  JSON.parse = (text, reviver = keep) => parse(text, reviver);
  BigInt.prototype.toJSON = function () {
    return JSON.rawJSON(String(this));
  };
}

const LARGE_INTEGER = /-?\d{16,}/g;

/** How large integers of the document are written, by what they are rounded. No two of them may be rounded to the same. */
const written = new Map();

const exactIntegers = {
  statePlugins: {
    spec: {
      wrapActions: {
        // Swagger UI has a parser of its own for the document, which rounds.
        parseToJson: (parseToJson) => (document) => {
          for (const [integer] of document.matchAll(LARGE_INTEGER)) written.set(String(Number(integer)), integer);
          return parseToJson(document);
        },
      },
    },
  },
  wrapComponents: {
    // The bounds of a schema, which have to be numbers.
    JSONSchema202012KeywordConstraint:
      (Constraint, { React }) =>
      ({ constraint: { scope, value } }) =>
        React.createElement(Constraint, {
          constraint: { scope, value: value.replace(LARGE_INTEGER, (number) => written.get(number) ?? number) },
        }),
  },
};

const foldedErrors = {
  wrapComponents: {
    responses: (Responses, { React }) =>
      function FoldedErrors(props) {
        const [unfolded, setUnfolded] = React.useState(false);
        const successes = props.responses.filter((_response, status) => status.startsWith('2'));
        const errors = props.responses.size - successes.size;
        const toggle = { className: 'errors-toggle', 'aria-expanded': unfolded, onClick: () => setUnfolded(!unfolded) };
        return React.createElement(
          React.Fragment,
          null,
          React.createElement(Responses, { ...props, responses: unfolded ? props.responses : successes }),
          React.createElement('button', toggle, `${unfolded ? 'Hide' : 'Show'} ${errors} error responses`),
        );
      },
  },
};

/** The name of the API key in the document, and in the storage of the tab. */
const SCHEME = 'apiKey';

/** Lives as long as the tab; null if the browser allows no storage. */
function tabStorage() {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}
const storage = tabStorage();
let keepsKey = storage?.getItem(SCHEME) != null;

/** Stores the key that was entered if the reader asked for it, and no key otherwise. */
function storeKey({ authSelectors }) {
  const key = authSelectors.authorized()?.getIn([SCHEME, 'value']);
  if (keepsKey && key) storage?.setItem(SCHEME, key);
  else storage?.removeItem(SCHEME);
}

const keptKey = {
  statePlugins: {
    auth: {
      wrapActions: Object.fromEntries(
        ['authorize', 'logout'].map((name) => [
          name,
          (action, system) => (payload) => {
            const result = action(payload);
            storeKey(system);
            return result;
          },
        ]),
      ),
    },
  },
  wrapComponents: {
    HttpAuth: (HttpAuth, system) => (props) => {
      const { createElement, Fragment } = system.React;
      const onChange = ({ target }) => {
        keepsKey = target.checked;
        storeKey(system);
      };
      return createElement(
        Fragment,
        null,
        createElement(HttpAuth, props),
        createElement(
          'label',
          { className: 'keep-key' },
          createElement('input', { type: 'checkbox', defaultChecked: keepsKey, onChange }),
          'Keep the key until this tab is closed',
        ),
      );
    },
  },
};

/** The names of controls to which Swagger UI gives none, or another than their text, by a function of the element. */
const NAMES = {
  '#servers': () => 'Server',
  'tr[data-param-name] select': (select) => select.closest('tr').dataset.paramName,
  'textarea.body-param__text': () => 'Request body',
  '#auth-bearer-value': () => 'Value of the API key',
  '.close-modal': () => 'Close',
  '.modal-btn.auth': (button) => button.textContent,
};

function nameControls() {
  for (const [selector, nameOf] of Object.entries(NAMES)) {
    for (const control of document.querySelectorAll(selector)) control.ariaLabel = nameOf(control);
  }
}
new MutationObserver(nameControls).observe(document.body, { childList: true, subtree: true });

const accessibility = {
  wrapComponents: {
    // A link within the button that opens the operation is out of reach.
    DeepLink:
      (DeepLink, { React }) =>
      (props) =>
        React.createElement(DeepLink, { ...props, enabled: false }),

    // Only the dialog has the focus while it is open, and what had it before gets it back.
    authorizationPopup: (Popup, { React }) =>
      function AuthorizationDialog(props) {
        const dialog = React.useRef(null);
        React.useLayoutEffect(() => {
          const { current } = dialog;
          current.showModal();
          current.querySelector('input')?.focus();
          return () => current.close();
        }, []);
        return React.createElement(
          'dialog',
          { ref: dialog, 'aria-label': 'Available authorizations' },
          React.createElement(Popup, props),
        );
      },
  },
};

// Browsers have it since 2025.
const canKeepDigits = 'rawJSON' in JSON;
if (canKeepDigits) keepDigits();
document.getElementById('notice').hidden = canKeepDigits;

const ui = SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: 'openapi.json',
  deepLinking: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'monokai' },
  plugins: [
    accessibility,
    foldedErrors,
    ...(storage === null ? [] : [keptKey]),
    ...(canKeepDigits ? [exactIntegers] : []),
  ],
  onComplete() {
    if (keepsKey) ui.preauthorizeApiKey(SCHEME, storage.getItem(SCHEME));
  },
});
