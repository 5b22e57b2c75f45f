import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { EgressProxy } from './egress-proxy.js';
import type { Lookup } from './host-lookup.js';
import { openTcp } from './open-tcp.js';
import { TransportFailed, toTransportFailed } from './outcome.js';
import { hostOf, portOf, type TargetGuard } from './target-guard.js';

export interface ConnectSettings {
  readonly guard: TargetGuard;
  readonly lookup: Lookup;
  /** PEM of certificate authorities, in addition to the system's authorities. */
  readonly authorities: readonly string[];
  readonly proxy: EgressProxy | undefined;
}

/** More addresses per host would only use up the timeout. */
const MAX_ADDRESS_COUNT = 4;

/**
 * Connects to the host of `url`. The name is looked up once, blocked addresses are removed, and the socket connects to a
 * checked address, so that a second lookup cannot lead elsewhere.
 * Throws `TransportFailed`. Source: webhooks, sections 6.6 and 9.
 */
export async function connectTo(
  url: URL,
  settings: ConnectSettings,
  options: { readonly insecure: boolean; readonly signal: AbortSignal },
): Promise<Socket> {
  const host = hostOf(url);
  const port = portOf(url);
  const addresses = await findAddresses(host, port, settings, options.signal);
  const socket = await openFirst(addresses, { host, port, settings, signal: options.signal });
  if (url.protocol === 'http:') return socket;
  return await secure(socket, host, settings, options);
}

async function findAddresses(
  host: string,
  port: number,
  { guard, lookup }: ConnectSettings,
  signal: AbortSignal,
): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  const addresses =
    family === 0
      ? await orAborted(lookup(host), signal).catch((error: unknown) => {
          throw signal.aborted ? error : new TransportFailed('host_unreachable', error);
        })
      : [{ address: host, family }];
  const allowed = guard.filter(host, port, addresses).slice(0, MAX_ADDRESS_COUNT);
  if (allowed.length > 0) return allowed;
  const list = addresses.map(({ address }) => address).join(', ');
  throw new TransportFailed('host_unreachable', new Error(`blocked address: ${list}`));
}

async function openFirst(
  addresses: readonly LookupAddress[],
  options: {
    readonly host: string;
    readonly port: number;
    readonly settings: ConnectSettings;
    readonly signal: AbortSignal;
  },
): Promise<Socket> {
  const { host, port, settings, signal } = options;
  const { proxy } = settings;
  let failure: unknown;
  for (const { address } of addresses) {
    signal.throwIfAborted();
    try {
      if (proxy?.isUsedFor(host) === true) return await proxy.open({ address, port, signal });
      return await openTcp(address, port, signal);
    } catch (error) {
      failure = error;
    }
  }
  signal.throwIfAborted();
  throw toTransportFailed(failure, false);
}

async function secure(
  socket: Socket,
  host: string,
  { authorities }: ConnectSettings,
  { insecure, signal }: { readonly insecure: boolean; readonly signal: AbortSignal },
): Promise<TLSSocket> {
  const { rootCertificates } = await import('node:tls');
  const tls = connectTls({
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !insecure,
    ALPNProtocols: ['http/1.1'],
    ...(authorities.length > 0 && { ca: [...rootCertificates, ...authorities] }),
  });
  try {
    await once(tls, 'secureConnect', { signal });
    return tls;
  } catch (error) {
    socket.destroy(); // and the TLS socket on top of it
    signal.throwIfAborted();
    throw toTransportFailed(error, true);
  }
}

/** Settles with `work`, or rejects as soon as the signal is aborted; the work itself continues in the background. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {}); // avoids an unhandled rejection after an abort
  signal.throwIfAborted();
  return await new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
