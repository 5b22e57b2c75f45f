import type { Socket } from 'node:net';
import { addressKey } from '@plinth/kernel';

/** Counts open connections by address, so that none takes all that the server has. */
export class ConnectionLimit {
  readonly #maxCount: number;
  readonly #isExempt: (address: string) => boolean;
  readonly #counts = new Map<string, number>();

  /**
   * @param maxCount of one address; of version 6, of one network of 64 bits.
   * @param isExempt proxies, who speak for many.
   */
  constructor(maxCount: number, isExempt: (address: string) => boolean) {
    this.#maxCount = maxCount;
    this.#isExempt = isExempt;
  }

  /**
   * Whether there is room for it; it has its place until it closes.
   * @param address of the client, where a proxy has named another than that of the connection.
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

  /** Addresses that have connections; of others nothing is remembered. */
  get addressCount(): number {
    return this.#counts.size;
  }

  #leave(key: string): void {
    const count = this.#counts.get(key) ?? 0;
    if (count > 1) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
  }
}
