import type { Clock } from '../clock/clock.js';
import type { Random } from '../clock/random.js';
import { UuidV7Maker } from '../clock/uuid-v7.js';

/** A reproducible sequence for each seed. Not suitable for secrets. Algorithm: splitmix64 (public domain). */
export class SeededRandom implements Random {
  readonly #uuids: UuidV7Maker;
  #state: bigint;

  constructor(seed: number, clock: Pick<Clock, 'nowMs'> = { nowMs: () => 1_767_225_600_000 }) {
    this.#state = BigInt.asUintN(64, BigInt(seed));
    this.#uuids = new UuidV7Maker(clock, (sizeBytes) => this.bytes(sizeBytes));
  }

  bytes(sizeBytes: number): Uint8Array {
    const numbers = new BigUint64Array(Math.ceil(sizeBytes / 8));
    for (let index = 0; index < numbers.length; index += 1) numbers[index] = this.#next();
    return new Uint8Array(numbers.buffer, 0, sizeBytes);
  }

  float(): number {
    return Number(this.#next() >> 11n) / 2 ** 53;
  }

  uuidV4(): string {
    const bytes = Buffer.from(this.bytes(16));
    bytes.writeUInt8(0x40 | (bytes.readUInt8(6) & 0x0f), 6);
    bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  uuidV7(): string {
    return this.#uuids.next();
  }

  #next(): bigint {
    this.#state = BigInt.asUintN(64, this.#state + 0x9e3779b97f4a7c15n);
    let mixed = this.#state;
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    return mixed ^ (mixed >> 31n);
  }
}
