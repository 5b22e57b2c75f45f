import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/** An address as the limits see it. */
export interface ClientAddress {
  /** Key of the identity: one address of version 4, one network of version 6. */
  readonly key: string;
  /** The address itself, without port and zone. */
  readonly address: string;
  /** In one of the networks that are never limited. */
  readonly isExempt: boolean;
  /** A trusted proxy has said it; the connection is that of the proxy. */
  readonly isForwarded: boolean;
}

export interface AddressRules {
  /** Networks, or `loopback` or `private`, whose word about the client is believed. */
  readonly trustedProxies: readonly string[];
  /** `x-forwarded-for`, `forwarded`, or a header with one address such as `cf-connecting-ip`. Lower case. */
  readonly header: string;
  readonly ipv4Prefix: number;
  readonly ipv6Prefix: number;
  readonly exemptNetworks: readonly string[];
}

const DIRECT: AddressRules = {
  trustedProxies: [],
  header: 'x-forwarded-for',
  ipv4Prefix: 32,
  ipv6Prefix: 64,
  exemptNetworks: [],
};

/** What is looked at of a request. */
export interface AddressSource {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket?: object & { readonly remoteAddress?: string | undefined };
}

/** Longest list of forwarding hops that is walked: a longer one is somebody's joke. */
const MAX_HOP_COUNT = 64;
const MAX_CACHED_COUNT = 10_000;

/** Finds out where a request comes from. Source: rate-limits, section 13. */
export class ClientAddresses {
  readonly #rules: AddressRules;
  readonly #trusted: readonly Range[];
  readonly #exempt: readonly Range[];
  readonly #bySocket = new WeakMap<object, Peer>();
  readonly #byText = new Map<string, Peer>();

  constructor(rules: AddressRules = DIRECT) {
    this.#rules = rules;
    this.#trusted = rules.trustedProxies.flatMap(parseNetwork);
    this.#exempt = rules.exemptNetworks.flatMap(parseNetwork);
  }

  of({ socket, headers }: AddressSource): ClientAddress {
    const peer = this.#peerOf(socket);
    if (!peer.isTrusted) return peer.client;
    const given = headers[this.#rules.header];
    const last =
      given === undefined
        ? peer
        : this.#walk(peer, typeof given === 'string' ? given : given.join(','));
    return last.forwarded;
  }

  /** For an address that somebody names; `undefined` for what is none. */
  parse(text: string): ClientAddress | undefined {
    return this.#read(text)?.client;
  }

  #peerOf(socket: AddressSource['socket']): Peer {
    if (socket === undefined) return UNKNOWN;
    let peer = this.#bySocket.get(socket);
    if (peer === undefined) {
      // A Unix socket has no address; all its clients are one.
      peer = this.#read(socket.remoteAddress ?? '') ?? UNKNOWN;
      this.#bySocket.set(socket, peer);
    }
    return peer;
  }

  /** From the right, the first hop that is nobody we trust; what is malformed ends the walk. */
  #walk(peer: Peer, list: string): Peer {
    const { header } = this.#rules;
    const hops = header === 'forwarded' ? forwardedHops(list) : list.split(',');
    let last = peer;
    for (const hop of hops.slice(-MAX_HOP_COUNT).reverse()) {
      const next = this.#read(hop);
      if (next === undefined) return last;
      last = next;
      if (!next.isTrusted) break;
    }
    return last;
  }

  #read(text: string): Peer | undefined {
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const address = parseAddress(text);
    if (address === undefined) return undefined;
    const client = {
      key: `ip:${this.#network(address)}`,
      address: address.toString(),
      isExempt: isIn(address, this.#exempt),
      isForwarded: false,
    };
    const peer = {
      client,
      forwarded: { ...client, isForwarded: true },
      isTrusted: isIn(address, this.#trusted),
    };
    if (this.#byText.size >= MAX_CACHED_COUNT) this.#byText.clear();
    this.#byText.set(text, peer);
    return peer;
  }

  #network(address: Address): string {
    const { ipv4Prefix, ipv6Prefix } = this.#rules;
    const isVersion4 = address.kind() === 'ipv4';
    const prefix = isVersion4 ? ipv4Prefix : ipv6Prefix;
    if (isVersion4 && prefix === 32) return address.toString();
    const bytes = address.toByteArray().map((byte, index) => {
      const kept = Math.min(8, Math.max(0, prefix - index * 8));
      return byte & (0xff << (8 - kept)) & 0xff;
    });
    return `${ipaddr.fromByteArray(bytes).toString()}/${prefix}`;
  }
}

interface Peer {
  readonly client: ClientAddress;
  /** The same as a proxy's word. */
  readonly forwarded: ClientAddress;
  readonly isTrusted: boolean;
}

/** Also of everybody behind a Unix socket: their connections are not counted. */
const NOBODY = { key: 'ip:unknown', address: 'unknown', isExempt: false, isForwarded: true };
const UNKNOWN: Peer = { client: NOBODY, forwarded: NOBODY, isTrusted: false };

/** Whether an address lies in networks that settings name. Throws on what is no network. */
export function networkMatcher(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.flatMap(parseNetwork);
  return (text) => {
    const address = parseAddress(text);
    return address !== undefined && isIn(address, ranges);
  };
}

/** Whether the text is a network that settings may name. */
export const isNetwork = (text: string): boolean => {
  try {
    return parseNetwork(text).length > 0;
  } catch {
    return false;
  }
};

const NAMED_NETWORKS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    'fc00::/7',
    '169.254.0.0/16',
    'fe80::/10',
  ],
};

/** Throws on what is no network. */
function parseNetwork(text: string): readonly Range[] {
  const named = Object.hasOwn(NAMED_NETWORKS, text) ? NAMED_NETWORKS[text] : undefined;
  if (named !== undefined) return named.flatMap(parseNetwork);
  if (text.includes('/')) return [ipaddr.parseCIDR(text)];
  const address = ipaddr.process(text);
  return [[address, address.kind() === 'ipv4' ? 32 : 128]];
}

const isIn = (address: Address, ranges: readonly Range[]): boolean =>
  ranges.some(
    ([network, prefix]) => network.kind() === address.kind() && address.match(network, prefix),
  );

/** An address with or without port, brackets, quotes and zone; one of version 4 inside version 6 is version 4. */
function parseAddress(text: string): Address | undefined {
  const bare = text.trim().replace(/^"(.*)"$/, '$1');
  const host =
    /^\[([^\]]*)\](?::\d+)?$/.exec(bare)?.[1] ??
    /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(bare)?.[1] ??
    bare;
  const zoneless = host.replace(/%.*$/, '');
  // The library also takes short and octal forms, which no proxy writes and which hide what is meant.
  const isUsual =
    /^(\d{1,3}\.){3}\d{1,3}$/.test(zoneless) || /^[\da-f:.]*:[\da-f:.]*$/i.test(zoneless);
  if (!isUsual || !ipaddr.isValid(zoneless)) return undefined;
  if (/(^|\.)0\d/.test(zoneless) && !zoneless.includes(':')) return undefined;
  return ipaddr.process(zoneless);
}

/** The `for` of each element. Source: RFC 7239, section 4. */
function forwardedHops(list: string): readonly string[] {
  return list
    .split(',')
    .map((element) => /(?:^|;)\s*for\s*=\s*("[^"]*"|[^;\s]+)/i.exec(element)?.[1] ?? '');
}
