import { Memo } from '../memo/memo.js';
import {
  type IpAddress,
  isInNetworks,
  type Network,
  networkOf,
  parseAddress,
  parseNetwork,
} from './networks.js';

/** A client address for rate limits. */
export interface ClientAddress {
  /** The identity key: one IPv4 address, or one IPv6 network. */
  readonly key: string;
  /** The address without port and zone. */
  readonly address: string;
  /** Whether it is in an exempt network. */
  readonly isExempt: boolean;
  /** Whether a trusted proxy reported it; the connection then belongs to the proxy. */
  readonly isForwarded: boolean;
}

export interface AddressRules {
  /** Networks, `loopback` or `private`, of trusted proxies. */
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

/** The parts of a request that are read. */
export interface AddressSource {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket?: object & { readonly remoteAddress?: string | undefined };
}

export interface RequestOrigin {
  readonly scheme?: 'http' | 'https';
  /** Includes the port, if any. */
  readonly host?: string;
}

/** A name or address with an optional port. Source: RFC 3986, section 3.2. */
const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;
/** The maximum number of forwarding hops that are checked. Longer lists are not genuine. */
const MAX_HOP_COUNT = 64;
const MAX_CACHED_COUNT = 10_000;

/** Determines the client of a request. Source: rate-limits, section 13. */
export class ClientAddresses {
  readonly #rules: AddressRules;
  readonly #trusted: readonly Network[];
  readonly #exempt: readonly Network[];
  readonly #bySocket = new WeakMap<object, Peer>();
  readonly #byText = new Memo<string, Peer>({ maxCount: MAX_CACHED_COUNT });

  constructor(given: Partial<AddressRules> = {}) {
    const rules = { ...DIRECT, ...given };
    this.#rules = rules;
    this.#trusted = rules.trustedProxies.flatMap(parseNetwork);
    this.#exempt = rules.exemptNetworks.flatMap(parseNetwork);
  }

  /** Stores the peer address of a socket while it is connected. */
  note(socket: AddressSource['socket']): void {
    this.#peerOf(socket);
  }

  of({ socket, headers }: AddressSource): ClientAddress {
    const peer = this.#peerOf(socket);
    if (!peer.isTrusted) return peer.client;
    const header = headers[this.#rules.header];
    const last =
      header === undefined
        ? peer
        : this.#walk(peer, typeof header === 'string' ? header : header.join(','));
    return last.forwarded;
  }

  /** Returns the scheme and host of the request as reported by the nearest proxy, if it is trusted. */
  askedAt({ socket, headers }: AddressSource): RequestOrigin {
    if (!this.#peerOf(socket).isTrusted) return {};
    const isStandard = this.#rules.header === 'forwarded';
    const reported = (name: 'proto' | 'host'): string => {
      const list = String(headers[isStandard ? 'forwarded' : `x-forwarded-${name}`] ?? '');
      // Entries before the nearest hop may come from the client.
      const last = list.slice(list.lastIndexOf(',') + 1);
      return (isStandard ? parameterOf(last, name) : last).trim().replaceAll('"', '');
    };
    const [scheme, host] = [reported('proto').toLowerCase(), reported('host')];
    return {
      ...((scheme === 'http' || scheme === 'https') && { scheme }),
      ...(HOST.test(host) && { host }),
    };
  }

  /** Parses a given address; `undefined` for an invalid one. */
  parse(text: string): ClientAddress | undefined {
    return this.#read(text)?.client;
  }

  /**
   * Returns the key under which requests of a given key are counted, with an address replaced by its network.
   * `undefined` for an invalid address, and for a network without its own counters.
   */
  keyOf(key: string): string | undefined {
    if (!key.startsWith('ip:')) return key;
    if (key === NOBODY.key) return key;
    const [address = '', prefix] = key.slice('ip:'.length).split('/', 2);
    const own = this.parse(address)?.key;
    return prefix === undefined || own === key ? own : undefined;
  }

  #peerOf(socket: AddressSource['socket']): Peer {
    if (socket === undefined) return UNKNOWN;
    let peer = this.#bySocket.get(socket);
    if (peer === undefined) {
      // A Unix socket has no peer address, so all its clients count as one.
      peer = this.#read(socket.remoteAddress ?? '') ?? UNKNOWN;
      this.#bySocket.set(socket, peer);
    }
    return peer;
  }

  /** Returns the first hop from the right that is not trusted. A malformed hop ends the search. */
  #walk(peer: Peer, list: string): Peer {
    const { header } = this.#rules;
    const hops = list.split(',').slice(-MAX_HOP_COUNT);
    let last = peer;
    for (const hop of hops.reverse()) {
      const next = this.#read(header === 'forwarded' ? parameterOf(hop, 'for') : hop);
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
      isExempt: isInNetworks(address, this.#exempt),
      isForwarded: false,
    };
    const peer = {
      client,
      forwarded: { ...client, isForwarded: true },
      isTrusted: isInNetworks(address, this.#trusted),
    };
    this.#byText.set(text, peer);
    return peer;
  }

  #network(address: IpAddress): string {
    const { ipv4Prefix, ipv6Prefix } = this.#rules;
    if (address.kind() === 'ipv6') return networkOf(address, ipv6Prefix);
    return ipv4Prefix === 32 ? address.toString() : networkOf(address, ipv4Prefix);
  }
}

interface Peer {
  readonly client: ClientAddress;
  /** The same address as reported by a proxy. */
  readonly forwarded: ClientAddress;
  readonly isTrusted: boolean;
}

/** Also used for all clients of a Unix socket, whose connections are not counted. */
const NOBODY = { key: 'ip:unknown', address: 'unknown', isExempt: false, isForwarded: true };
const UNKNOWN: Peer = { client: NOBODY, forwarded: NOBODY, isTrusted: false };

/** The parameters of a `Forwarded` element. Source: RFC 7239, section 4. */
const PARAMETERS = {
  for: /(?:^|;)\s*for\s*=\s*("[^"]*"|[^;\s]+)/i,
  proto: /(?:^|;)\s*proto\s*=\s*("[^"]*"|[^;\s]+)/i,
  host: /(?:^|;)\s*host\s*=\s*("[^"]*"|[^;\s]+)/i,
};

const parameterOf = (element: string, name: keyof typeof PARAMETERS): string =>
  PARAMETERS[name].exec(element)?.[1] ?? '';
