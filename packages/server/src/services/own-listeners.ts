import { networkInterfaces } from 'node:os';

/** Every address under which the port can be reached. */
export function listenersOf(bind: string): readonly { address: string; port: number }[] {
  const colon = bind.lastIndexOf(':');
  const host = bind.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(bind.slice(colon + 1));
  if (host !== '0.0.0.0' && host !== '::') return [{ address: host, port }];
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return own.map(({ address }) => ({ address, port }));
}
