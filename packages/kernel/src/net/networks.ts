import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = readonly [base: IpAddress, bits: number];

/** Matches addresses against the networks of a setting. Throws on an invalid network. */
export function networkMatcher(names: readonly string[]): (address: string) => boolean {
  const networks = names.flatMap(parseNetwork);
  return (text) => {
    const address = parseAddress(text);
    return address !== undefined && isInNetworks(address, networks);
  };
}

/** Returns the problems with the networks of a setting, one line each. */
export const networkProblems = (setting: string, networks: readonly string[]): readonly string[] =>
  networks
    .filter((network) => !isNetwork(network))
    .map(
      (network) =>
        `${setting}: invalid network "${network}"; use a range such as 10.0.0.0/8, an address, loopback or private`,
    );

/** Whether the text is a valid network for settings. */
export function isNetwork(text: string): boolean {
  try {
    return parseNetwork(text).length > 0;
  } catch {
    return false;
  }
}

/** IPv6 addresses are assigned in networks of this size, so all addresses of a network belong to one client. */
const IPV6_PREFIX = 64;

const NAMED_NETWORKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  [
    'private',
    [
      ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
      ...['fc00::/7', '169.254.0.0/16', 'fe80::/10'],
    ],
  ],
]);

/** Parses a CIDR range, a single address, `loopback` or `private`. Throws on anything else. */
export function parseNetwork(text: string): readonly Network[] {
  const named = NAMED_NETWORKS.get(text);
  if (named !== undefined) return named.flatMap(parseNetwork);
  if (text.includes('/')) return [ipaddr.parseCIDR(text)];
  const address = ipaddr.process(text);
  return [[address, address.kind() === 'ipv4' ? 32 : 128]];
}

export const isInNetworks = (address: IpAddress, networks: readonly Network[]): boolean =>
  networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));

/** Parses an address with or without port, brackets, quotes and zone. An IPv4-mapped IPv6 address becomes IPv4. */
export function parseAddress(text: string): IpAddress | undefined {
  const bare = text.trim().replace(/^"(.*)"$/, '$1');
  const host =
    /^\[([^\]]*)\](?::\d+)?$/.exec(bare)?.[1] ??
    /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(bare)?.[1] ??
    bare;
  const zoneless = host.replace(/%.*$/, '');
  // The library also accepts short and octal forms, which proxies do not write and which are ambiguous.
  const isUsual =
    /^(\d{1,3}\.){3}\d{1,3}$/.test(zoneless) || /^[\da-f:.]*:[\da-f:.]*$/i.test(zoneless);
  if (!isUsual || !ipaddr.isValid(zoneless)) return undefined;
  if (/(^|\.)0\d/.test(zoneless) && !zoneless.includes(':')) return undefined;
  return ipaddr.process(zoneless);
}

/** Returns the network of an address with a prefix of `bits`, in CIDR form. */
export function networkOf(address: IpAddress, bits: number): string {
  const bytes = address.toByteArray().map((byte, index) => {
    const keptCount = Math.min(8, Math.max(0, bits - index * 8));
    return byte & (0xff << (8 - keptCount)) & 0xff;
  });
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`;
}

/** Returns the key of a client: an IPv4 address or an IPv6 network; other text is returned unchanged. */
export function addressKey(text: string): string {
  const address = text.includes(':') ? parseAddress(text) : undefined;
  if (address === undefined) return text;
  return address.kind() === 'ipv4' ? address.toString() : networkOf(address, IPV6_PREFIX);
}
