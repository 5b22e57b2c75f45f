import type { Socket } from 'node:net';
import { addressKey } from '@plinth/kernel';

/** Limits open connections per client address. */
export class ConnectionLimit {
  readonly #maxCount: number;
  readonly #isExempt: (address: string) => boolean;
  readonly #counts = new Map<string, number>();

  /**
   * @param maxCount connections per address; IPv6 addresses count by /64 network.
   * @param isExempt whether an address is a proxy, which carries many clients.
   */
  constructor(maxCount: number, isExempt: (address: string) => boolean) {
    this.#maxCount = maxCount;
    this.#isExempt = isExempt;
  }

  /**
   * Counts the connection until it closes. @returns false if its address has reached the limit.
   * @param address the client address reported by a proxy, if different.
   */
  admits(socket: Socket, address = socket.remoteAddress ?? ''): boolean {
    if (this.#isExempt(address)) return true;
    const key = addressKey(address);
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#maxCount) return false;
    this.#counts.set(key, count + 1);
    socket.once('close', () => this.#leave(key));
    return true;
  }

  /** Number of addresses with open connections; other addresses are not stored. */
  get addressCount(): number {
    return this.#counts.size;
  }

  #leave(key: string): void {
    const count = this.#counts.get(key) ?? 0;
    if (count > 1) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
  }
}
