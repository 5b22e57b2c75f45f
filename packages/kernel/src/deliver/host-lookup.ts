import type { LookupAddress } from 'node:dns';
import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

export interface HostLookupOptions {
  /** `address` or `address:port`; those of the system when absent. */
  readonly servers?: readonly string[];
  /** Time for the first try of a name server. */
  readonly timeoutMs?: number;
  readonly hostsFile?: string;
  /** The resolver of the system, for what DNS does not have. */
  readonly system?: Lookup;
}

const TIMEOUT_MS = 2500;
const TRIES = 2;
/** Addresses of the other family may arrive this much later than the first ones. */
const OTHER_FAMILY_MS = 50;
/** How long settings of the system are trusted: name servers and the hosts file. */
const SETTINGS_LIFE_MS = 30_000;
/** A look-up by the system holds a thread of the process until it ends. */
const MAX_SYSTEM_LOOKUPS = 2;
/** Names that wait for one; others fail at once. */
const MAX_WAITING_LOOKUPS = 256;
/** So long a name waits for a look-up by the system. */
const MAX_SYSTEM_WAIT_MS = 10_000;

/** Failures that the system may know better: search domains, mDNS and other sources than DNS. */
const NOT_IN_DNS: ReadonlySet<unknown> = new Set([
  'ENOTFOUND',
  'ENODATA',
  'EBADNAME',
  'ECONNREFUSED',
  'EREFUSED',
]);

/**
 * Looks up hosts that clients name. The hosts file and DNS are read without threads, so names whose server never responds
 * do not delay other names. The system (`getaddrinfo`) is used only for what DNS does not have, for two names at a time.
 * Concurrent look-ups of one name are one.
 */
export function createHostLookup(options: HostLookupOptions = {}): Lookup {
  const running = new Map<string, Promise<readonly LookupAddress[]>>();
  const hosts = cached(() => readHosts(options.hostsFile ?? HOSTS_FILE));
  const resolver = cached(() => {
    const { timeoutMs = TIMEOUT_MS, servers } = options;
    const created = new Resolver({ timeout: timeoutMs, tries: TRIES });
    if (servers !== undefined) created.setServers(servers);
    return created;
  });
  const bySystem = options.system ?? ((host) => systemLookup(host, { all: true }));
  const system = limited(MAX_SYSTEM_LOOKUPS, bySystem);
  const find: Lookup = async (host) => {
    const listed = (await hosts()).get(host.toLowerCase());
    if (listed !== undefined) return listed;
    try {
      return await resolve(host, resolver());
    } catch (error) {
      if (!NOT_IN_DNS.has(Reflect.get(Object(error), 'code'))) throw error;
      return await system(host);
    }
  };
  return async (host) => {
    let lookup = running.get(host);
    if (lookup === undefined) {
      lookup = find(host).finally(() => running.delete(host));
      running.set(host, lookup);
    }
    return await lookup;
  };
}

/** Addresses of both families, IPv4 first; a late IPv6 address is not waited for. Throws the failure of a name server that does not respond before others. */
async function resolve(host: string, resolver: Resolver): Promise<readonly LookupAddress[]> {
  const families = [4, 6] as const;
  const found: LookupAddress[] = [];
  const lookups = families.map(async (family) => {
    const addresses = await (family === 4 ? resolver.resolve4(host) : resolver.resolve6(host));
    for (const address of addresses) found.push({ address, family });
  });
  try {
    await Promise.any(lookups);
  } catch (error) {
    const { errors } = error as AggregateError; // what `Promise.any` rejects with
    throw errors.find(({ code }) => !NOT_IN_DNS.has(code)) ?? errors[0];
  }
  // Not every host reaches IPv6, so the query for IPv4 gets all its tries.
  await lookups[0]?.catch(() => {});
  const ending = new AbortController();
  const late = delay(OTHER_FAMILY_MS, undefined, { signal: ending.signal }).catch(() => {});
  await Promise.race([Promise.allSettled(lookups), late]);
  ending.abort();
  return found.toSorted((a, b) => a.family - b.family);
}

const HOSTS_FILE =
  process.platform === 'win32'
    ? `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';

/** Addresses by name in lower case; none where the file cannot be read. */
async function readHosts(file: string): Promise<ReadonlyMap<string, readonly LookupAddress[]>> {
  const hosts = new Map<string, LookupAddress[]>();
  const text = await readFile(file, 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase());
      if (known === undefined) hosts.set(name.toLowerCase(), [{ address, family }]);
      else known.push({ address, family });
    }
  }
  return hosts;
}

/** `read`, repeated when its result is older than the life of settings. */
function cached<T>(read: () => T): () => T {
  let value: { readonly of: T; readonly atMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (value === undefined || nowMs - value.atMs > SETTINGS_LIFE_MS)
      value = { of: read(), atMs: nowMs };
    return value.of;
  };
}

/** At most `count` calls at a time; later ones wait in their order, for a bounded time. */
function limited(count: number, call: Lookup): Lookup {
  let free = count;
  const waiting = new Set<() => void>();
  const slot = async (): Promise<void> => {
    if (waiting.size >= MAX_WAITING_LOOKUPS) throw timedOut();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(start);
        reject(timedOut());
      }, MAX_SYSTEM_WAIT_MS).unref();
      const start = (): void => {
        clearTimeout(timer);
        waiting.delete(start);
        resolve();
      };
      waiting.add(start);
    });
  };
  return async (host) => {
    if (free > 0) free--;
    else await slot();
    try {
      return await call(host);
    } finally {
      const [next] = waiting;
      if (next === undefined) free++;
      else next();
    }
  };
}

const timedOut = (): Error =>
  Object.assign(new Error('too many names wait for the resolver of the system'), {
    code: 'ETIMEOUT',
  });
