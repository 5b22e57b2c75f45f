import { BlockList, isIP } from 'node:net';

/** Addresses that are not of the public Internet: whoever names a destination must not reach into the own network. */
const PRIVATE: readonly (readonly [address: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 127],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
];

/** Decides where events may be delivered. Asked about every address that a name resolves to, at every connect. */
export class AddressGuard {
  readonly #blocked = new BlockList();
  readonly #allowed = new BlockList();
  readonly #allowedHosts = new Set<string>();
  readonly #allowsAll: boolean;

  /** @param allowed networks in CIDR form, single addresses and host names; `*` allows everything. */
  constructor(allowed: readonly string[]) {
    this.#allowsAll = allowed.includes('*');
    for (const [address, bits] of PRIVATE) this.#blocked.addSubnet(address, bits, kindOf(address));
    for (const entry of allowed) {
      const [address = '', bits] = entry.split('/');
      if (isIP(address) === 0) this.#allowedHosts.add(entry.toLowerCase());
      else if (bits === undefined) this.#allowed.addAddress(address, kindOf(address));
      else this.#allowed.addSubnet(address, Number(bits), kindOf(address));
    }
  }

  mayReach(host: string, address: string): boolean {
    if (this.#allowsAll || this.#allowedHosts.has(host.toLowerCase())) return true;
    const plain = withoutMapping(address);
    const kind = kindOf(plain);
    return this.#allowed.check(plain, kind) || !this.#blocked.check(plain, kind);
  }
}

const kindOf = (address: string): 'ipv4' | 'ipv6' => (address.includes(':') ? 'ipv6' : 'ipv4');

/** An IPv4 address inside an IPv6 one is judged as itself. */
const withoutMapping = (address: string): string =>
  address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
