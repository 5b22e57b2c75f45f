import type { LookupAddress } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { type IpAddress, isInNetworks, type Network } from '../net/networks.js';

/** Addresses that are not of the public Internet. Source: webhooks, section 9. */
const BLOCKED: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Loopback, and both retired spellings of an IPv4 address inside an IPv6 one, which some systems still translate.
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

export interface TargetRules {
  /**
   * Ranges in CIDR form, single addresses and host names that may be reached although they are private; `*`: all of
   * them.
   */
  readonly allowed: readonly string[];
  /** Absent or empty: all. */
  readonly allowedPorts?: readonly number[];
}

/** Where this very server listens. */
export interface OwnListener {
  readonly address: string;
  readonly port: number;
  /** Whoever reaches it needs no credential: nothing that is allowed leads there. */
  readonly isNeverTarget?: boolean;
}

/**
 * Decides which hosts and addresses a server may call on behalf of somebody who named a URL. Asked about the URL when
 * it is given, and about every address at every connect: names can change their mind.
 */
export class TargetGuard {
  readonly #blocked = BLOCKED.map((range): Network => ipaddr.parseCIDR(range));
  readonly #allowsAll: boolean;
  readonly #allowedRanges: readonly Network[];
  readonly #allowedHosts: ReadonlySet<string>;
  readonly #allowedPorts: readonly number[];
  /** Single addresses of those ranges. */
  readonly #namedAddresses: readonly Network[];
  #ownListeners: readonly OwnListener[] = [];

  constructor({ allowed, allowedPorts = [] }: TargetRules) {
    this.#allowsAll = allowed.includes('*');
    const entries = allowed.map((text) => ({ text: text.toLowerCase(), range: parseRange(text) }));
    this.#allowedRanges = entries.flatMap(({ range }) => (range === undefined ? [] : [range]));
    this.#allowedHosts = new Set(
      entries.flatMap(({ text, range }) => (range === undefined ? [text] : [])),
    );
    this.#allowedPorts = allowedPorts;
    this.#namedAddresses = this.#allowedRanges.filter(
      ([address, bits]) => bits === (address.kind() === 'ipv4' ? 32 : 128),
    );
  }

  /** This very server is no receiver, whatever range or name it is in, unless its address itself is allowed. */
  blockListeners(listeners: readonly OwnListener[]): void {
    this.#ownListeners = listeners;
  }

  /** As far as the URL alone tells: names are looked up at every connect. */
  isUrlReachable(url: URL): boolean {
    const host = hostOf(url);
    if (!this.#isPortAllowed(portOf(url))) return false;
    if (ipaddr.isValid(host)) return this.isAddressAllowed(host, portOf(url), host);
    if (this.#allowsAll || this.#allowedHosts.has(host)) return true;
    return host !== 'localhost' && !host.endsWith('.localhost') ? true : this.#allowsLoopback();
  }

  /** Those addresses of a host that may be connected to. */
  filter(
    host: string,
    port: number,
    addresses: readonly LookupAddress[],
  ): readonly LookupAddress[] {
    return addresses.filter(({ address }) => this.isAddressAllowed(address, port, host));
  }

  isAddressAllowed(address: string, port: number, host: string): boolean {
    if (!this.#isPortAllowed(port)) return false;
    let parsed: IpAddress;
    try {
      parsed = ipaddr.process(withoutZone(address)); // an IPv4 address inside an IPv6 one is judged as itself
    } catch {
      return false;
    }
    const own = this.#ownListeners.filter((listener) => leadsTo(listener, parsed, port));
    if (own.some(({ isNeverTarget }) => isNeverTarget)) return false;
    if (own.length > 0) return isInNetworks(parsed, this.#namedAddresses);
    if (this.#allowsAll || this.#allowedHosts.has(host.toLowerCase())) return true;
    if (isInNetworks(parsed, this.#allowedRanges)) return true;
    return !isInNetworks(parsed, this.#blocked);
  }

  #isPortAllowed(port: number): boolean {
    return this.#allowedPorts.length === 0 || this.#allowedPorts.includes(port);
  }

  #allowsLoopback(): boolean {
    return (
      this.#allowedHosts.has('localhost') ||
      this.isAddressAllowed('127.0.0.1', 0, '127.0.0.1') ||
      this.isAddressAllowed('::1', 0, '::1')
    );
  }
}

/** Every loopback address leads to what listens on one of them or on all addresses, and so does `0.0.0.0`. */
function leadsTo(listener: OwnListener, address: IpAddress, port: number): boolean {
  if (listener.port !== port || !ipaddr.isValid(listener.address)) return false;
  const own = ipaddr.process(listener.address);
  return own.toString() === address.toString() || (isHere(own) && isHere(address));
}

const isHere = (address: IpAddress): boolean =>
  address.range() === 'loopback' || address.range() === 'unspecified';

/** The host as it is looked up: lower case, without brackets and without the dot at the end. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** The port that a request would go to: the one of the scheme where the URL names none. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function parseRange(text: string): Network | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

const withoutZone = (address: string): string => address.replace(/%.*$/, '');
