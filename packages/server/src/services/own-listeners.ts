import { networkInterfaces } from 'node:os';
import { parseRecoveryBind } from '@plinth/identity';
import { type BindAddress, type OwnListener, splitBind } from '@plinth/kernel';
import type { Settings } from '../settings.js';

/** Returns all addresses at which this server can be reached. */
export function ownListenersOf({ server, identity, rateLimit }: Settings): readonly OwnListener[] {
  const recovery = identity.admin_token_recovery_http_bind;
  const { envoy_host: host, envoy_port: port } = rateLimit;
  return [
    ...addressesOf(splitBind(server.http_bind)),
    ...(port === undefined ? [] : addressesOf({ host, port })),
    // The recovery port returns an admin token to every client.
    ...(recovery === undefined
      ? []
      : addressesOf(parseRecoveryBind(recovery)).map((at) => ({ ...at, isNeverTarget: true }))),
  ];
}

function addressesOf({ host, port }: BindAddress): readonly OwnListener[] {
  if (host === 'localhost') return [{ address: '127.0.0.1', port }];
  if (host !== '0.0.0.0' && host !== '::') return [{ address: host, port }];
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return [host, ...own.map(({ address }) => address)].map((address) => ({ address, port }));
}
