import { networkInterfaces } from 'node:os';
import { splitBind } from '@plinth/kernel';

/** Every address under which the port can be reached. */
export function listenersOf(bind: string): readonly { address: string; port: number }[] {
  const { host, port } = splitBind(bind);
  if (host !== '0.0.0.0' && host !== '::') return [{ address: host, port }];
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return own.map(({ address }) => ({ address, port }));
}
