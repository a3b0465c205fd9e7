export const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
export const rex = { name: 'Rex', categoryId: '9223372036854775807' };

export const callOf = (name: string, given: object = {}, id = 1) => {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } };
};

export const sending = (message: unknown) => ({ headers: ACCEPT, body: JSON.stringify(message) });

/** A call in the revision that has no handshake, with its header fields. */
export const modernCallOf = (name: string, given: object = {}) => {
  const prefix = 'io.modelcontextprotocol/';
  const _meta = {
    [`${prefix}protocolVersion`]: '2026-07-28',
    [`${prefix}clientInfo`]: { name: 'test', version: '1.0.0' },
    [`${prefix}clientCapabilities`]: {},
  };
  const protocol = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
  const { params, ...message } = callOf(name, given);
  return { ...sending({ ...message, params: { ...params, _meta } }), headers: { ...ACCEPT, ...protocol } };
};
