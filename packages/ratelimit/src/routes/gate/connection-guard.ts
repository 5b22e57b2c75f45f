import type { Socket } from 'node:net';

/**
 * Counts the unauthenticated connections of each address. A connection counts from its first
 * request to a limited service, so services without limits accept any number.
 * Source: rate-limits, section 9.
 */
export class ConnectionGuard {
  readonly #maxCount: number;
  readonly #counts = new Map<string, number>();
  readonly #known = new WeakSet<object>();

  constructor(maxCount: number) {
    this.#maxCount = maxCount;
  }

  /** Returns `false` when the address is at its limit; the caller then closes the connection. */
  admits(key: string, socket: Socket): boolean {
    if (this.#known.has(socket)) return true;
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#maxCount) return false;
    this.#known.add(socket);
    this.#counts.set(key, count + 1);
    socket.once('close', () => this.#forget(key));
    return true;
  }

  #forget(key: string): void {
    const left = (this.#counts.get(key) ?? 1) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
  }
}
