import type { LookupAddress } from 'node:dns';
import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

export interface HostLookupOptions {
  /** `address` or `address:port`; the system's name servers when absent. */
  readonly servers?: readonly string[];
  /** Timeout of the first query to a name server. */
  readonly timeoutMs?: number;
  readonly hostsFile?: string;
  /** The system resolver, for names that are not in DNS. */
  readonly system?: Lookup;
}

const TIMEOUT_MS = 2500;
const TRIES = 2;
/** Maximum wait for the other address family after the first response has arrived. */
const OTHER_FAMILY_MS = 50;
/** Cache lifetime of name servers and the hosts file. */
const SETTINGS_LIFE_MS = 30_000;
/** A system lookup blocks a thread of the process. */
const MAX_SYSTEM_LOOKUPS = 2;
/** The number of names that may wait for a system lookup; more fail immediately. */
const MAX_WAITING_LOOKUPS = 256;
/** The maximum time that a name waits for a system lookup. */
const MAX_SYSTEM_WAIT_MS = 10_000;

/** Failures after which the system lookup may succeed: search domains, mDNS and other sources. */
const NOT_IN_DNS: ReadonlySet<unknown> = new Set([
  'ENOTFOUND',
  'ENODATA',
  'EBADNAME',
  'ECONNREFUSED',
  'EREFUSED',
]);

/**
 * Looks up host names chosen by clients. The hosts file and DNS are read without threads, so an unresponsive name server
 * does not delay other names. The system (`getaddrinfo`) is used only for names that DNS does not have, two at a time.
 * Concurrent lookups of one name are shared.
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

/**
 * Returns the addresses of both families, IPv4 first; a late IPv6 response is not awaited. When all fail, a
 * timeout takes precedence over other errors.
 */
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
    const { errors } = error as AggregateError; // the error of `Promise.any`
    throw errors.find(({ code }) => !NOT_IN_DNS.has(code)) ?? errors[0];
  }
  // IPv6 is not reachable from every host, so the IPv4 query uses all its attempts.
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

/** Returns the addresses by lowercase name; empty when the file cannot be read. */
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

/** Caches the result of `read` for `SETTINGS_LIFE_MS`. */
function cached<T>(read: () => T): () => T {
  let value: { readonly of: T; readonly atMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (value === undefined || nowMs - value.atMs > SETTINGS_LIFE_MS)
      value = { of: read(), atMs: nowMs };
    return value.of;
  };
}

/** Limits `call` to `count` concurrent calls; further calls wait in order, for a bounded time. */
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
  Object.assign(new Error('too many names are queued for the system resolver'), {
    code: 'ETIMEOUT',
  });
