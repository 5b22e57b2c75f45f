import type { LookupAddress } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { type IpAddress, isInNetworks, type Network } from '../net/networks.js';

/** Addresses outside the public Internet. Source: webhooks, section 9. */
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
  // Loopback, and both deprecated forms of IPv4-embedded IPv6 addresses, which some systems still translate.
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
  /** Private ranges in CIDR form, single addresses and host names that are allowed; `*` allows all. */
  readonly allowed: readonly string[];
  /** Absent or empty allows all ports. */
  readonly allowedPorts?: readonly number[];
}

/** Why the server does not call a target. */
export type TargetRefusal =
  | { readonly kind: 'port'; readonly allowedPorts: readonly number[] }
  /** A listener of this server with `never_target` cannot be allowed. */
  | { readonly kind: 'address' | 'own_server' | 'never_target' }
  /** The blocked range in CIDR form. */
  | { readonly kind: 'range'; readonly range: string };

/** An address on which this server listens. */
export interface OwnListener {
  readonly address: string;
  readonly port: number;
  /** The listener requires no credential, so no allowed target may lead to it. */
  readonly isNeverTarget?: boolean;
}

/**
 * Decides which hosts and addresses the server may call for a URL that a client chose. It checks the URL on registration,
 * and every address at every connection, because the addresses of a name can change.
 */
export class TargetGuard {
  readonly #blocked = BLOCKED.map((range): Network => ipaddr.parseCIDR(range));
  readonly #allowsAll: boolean;
  readonly #allowedRanges: readonly Network[];
  readonly #allowedHosts: ReadonlySet<string>;
  readonly #allowedPorts: readonly number[];
  /** The allowed ranges that are single addresses. */
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

  /** Blocks this server as a receiver in every allowed range and name, unless its address is allowed explicitly. */
  blockListeners(listeners: readonly OwnListener[]): void {
    this.#ownListeners = listeners;
  }

  /** Checks the URL only; names are looked up at every connection. */
  isUrlReachable(url: URL): boolean {
    return this.refusalOf(url) === undefined;
  }

  /** Returns the reason why a URL is not reachable, as `isUrlReachable` decides it. */
  refusalOf(url: URL): TargetRefusal | undefined {
    const host = hostOf(url);
    if (!this.#isPortAllowed(portOf(url))) return this.#portRefusal();
    if (ipaddr.isValid(host)) return this.#refusalOfAddress(host, portOf(url), host);
    if (this.#allowsAll || this.#allowedHosts.has(host)) return undefined;
    const isLoopback = host === 'localhost' || host.endsWith('.localhost');
    return isLoopback && !this.#allowsLoopback()
      ? { kind: 'range', range: '127.0.0.0/8' }
      : undefined;
  }

  /** Returns the allowed addresses of a host. */
  filter(
    host: string,
    port: number,
    addresses: readonly LookupAddress[],
  ): readonly LookupAddress[] {
    return addresses.filter(({ address }) => this.isAddressAllowed(address, port, host));
  }

  isAddressAllowed(address: string, port: number, host: string): boolean {
    return this.#refusalOfAddress(address, port, host) === undefined;
  }

  #refusalOfAddress(address: string, port: number, host: string): TargetRefusal | undefined {
    if (!this.#isPortAllowed(port)) return this.#portRefusal();
    let parsed: IpAddress;
    try {
      parsed = ipaddr.process(withoutZone(address)); // an IPv4-mapped IPv6 address is checked as IPv4
    } catch {
      return { kind: 'address' };
    }
    const listeners = this.#ownListeners.filter((listener) => leadsTo(listener, parsed, port));
    if (listeners.some(({ isNeverTarget }) => isNeverTarget)) return { kind: 'never_target' };
    if (listeners.length > 0) {
      return isInNetworks(parsed, this.#namedAddresses) ? undefined : { kind: 'own_server' };
    }
    if (this.#allowsAll || this.#allowedHosts.has(host.toLowerCase())) return undefined;
    if (isInNetworks(parsed, this.#allowedRanges)) return undefined;
    const range = this.#blocked.find((network) => isInNetworks(parsed, [network]));
    return range && { kind: 'range', range: `${range[0]}/${range[1]}` };
  }

  #portRefusal(): TargetRefusal {
    return { kind: 'port', allowedPorts: this.#allowedPorts };
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

/** All loopback addresses and `0.0.0.0` reach a listener on a loopback address or on all addresses. */
function leadsTo(listener: OwnListener, address: IpAddress, port: number): boolean {
  if (listener.port !== port || !ipaddr.isValid(listener.address)) return false;
  const listenerAddress = ipaddr.process(listener.address);
  return (
    listenerAddress.toString() === address.toString() ||
    (isHere(listenerAddress) && isHere(address))
  );
}

const isHere = (address: IpAddress): boolean =>
  address.range() === 'loopback' || address.range() === 'unspecified';

/** Returns the host for a lookup: lowercase, without brackets and a trailing dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** Returns the port of a request: explicit, or the default of the scheme. */
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
