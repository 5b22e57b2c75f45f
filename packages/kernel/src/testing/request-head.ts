import { Socket } from 'node:net';
import type { HttpHead } from '../http/http-request.js';
import { ClientAddresses } from '../net/client-address.js';

/** A request head as received from the address `from`, with the proxies that `addresses` trusts. */
export function requestHead({
  from = '192.0.2.1',
  addresses = new ClientAddresses(),
  headers = {},
  socket = new Socket(),
  ...rest
}: Partial<HttpHead> & {
  readonly from?: string;
  readonly addresses?: ClientAddresses;
} = {}): HttpHead {
  Object.defineProperty(socket, 'remoteAddress', { value: from, configurable: true });
  return {
    ...{ method: 'GET', url: '/', base: 'http://a', publicBase: 'http://a' },
    ...{ httpVersion: 1, headers, socket },
    client: addresses.of({ headers, socket }),
    headerList: () => [],
    disconnectSignal: () => new AbortController().signal,
    ...rest,
  };
}
