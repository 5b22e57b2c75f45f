import type { Socket } from 'node:net';
import type { ClientAddresses } from '@plinth/kernel';
import { IncomingRequest } from '../../http/incoming-request.js';
import type { FastHeaders, FastTarget } from './fast-head.js';

/** A request whose bytes were there at once. */
export class FastRequest extends IncomingRequest {
  readonly httpVersion = 1;
  readonly fault = undefined;
  readonly #bytes: Buffer;
  readonly #leaving: () => AbortSignal;
  #done: (() => void) | undefined;

  constructor(at: {
    readonly target: FastTarget;
    readonly head: FastHeaders;
    readonly body: Buffer;
    readonly socket: Socket;
    readonly addresses: ClientAddresses;
    readonly leaving: () => AbortSignal;
  }) {
    const { method, url } = at.target;
    super({ method, url, headers: at.head.headers, socket: at.socket, addresses: at.addresses });
    this.#bytes = at.body;
    this.#leaving = at.leaving;
  }

  leaving(): AbortSignal {
    return this.#leaving();
  }

  readBody(): Uint8Array {
    return this.#bytes;
  }

  /** A connection that was lost before the request was read has none. */
  whenGone(done: () => void): void {
    this.#done = done;
  }

  gone(): void {
    this.#done?.();
  }
}
