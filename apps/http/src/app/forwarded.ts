/** An IPv4 address, with or without a port, or one of IPv6, without a port or in brackets (RFC 7239, section 6). */
const ENTRY = /^(?:(\d+(?:\.\d+){3})(?::\d+)?|\[?([\da-f:]+(?:\.\d+){0,3})(?:\](?::\d+)?)?)$/i;

/**
 * The address of the client behind proxies: the entry of X-Forwarded-For that the outermost of them wrote. The entries before it
 * come from the client and may be forged.
 *
 * @param proxies How many there are, 1 or more.
 * @returns null if the entry is no address.
 */
export function forwardedAddress(field: string, proxies: number): string | null {
  const [, ipv4, ipv6] = ENTRY.exec(field.split(',').at(-proxies)?.trim() ?? '') ?? [];
  const address = ipv4 ?? ipv6;
  return address !== undefined && URL.canParse(`http://${ipv4 ?? `[${ipv6}]`}`) ? address : null;
}
