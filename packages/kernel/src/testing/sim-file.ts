import type { Random } from '../clock/random.js';
import { invariant } from '../errors/invariant.js';
import { fileError } from '../fs/file-error.js';
import type { FileHandle } from '../fs/file-system.js';
import type { SimFaults } from './sim-faults.js';

const SECTOR_SIZE = 512;

export interface SimDisk {
  readonly random: Random;
  faults: SimFaults;
  happens(probability: number | undefined): boolean;
  powerCycle(): number;
  freeBytes(): number;
}

/** A change of a file since its last sync. A synced write is durable even before earlier changes. */
type Change =
  | {
      readonly kind: 'write';
      readonly bytes: Uint8Array;
      readonly position: number;
      readonly isDurable?: boolean;
    }
  | { readonly kind: 'truncate'; readonly sizeBytes: number };

/** One file: its current bytes, its bytes on the disk, and the changes between the two. */
export class SimFile {
  bytes: Uint8Array = new Uint8Array(0);
  #synced: Uint8Array = new Uint8Array(0);
  #changes: Change[] = [];

  apply(change: Change): void {
    this.bytes = changed(this.bytes, change);
    this.#changes.push(change);
  }

  sync(): void {
    this.#synced = this.bytes;
    this.#changes = [];
  }

  /** Makes only this change durable. */
  syncOnly(change: Change & { kind: 'write' }): void {
    const index = this.#changes.indexOf(change);
    if (index < 0) return; // the complete file was synced before
    if (index === 0) {
      this.#synced = changed(this.#synced, change);
      this.#changes.shift();
    } else this.#changes[index] = { ...change, isDurable: true };
  }

  crash(random: Random): void {
    this.loseChanges(random);
    this.bytes = this.#synced;
  }

  /** Simulates a failed sync: the changes are dropped, and only memory still contains them. */
  loseChanges(random: Random): void {
    let bytes = this.#synced;
    for (const change of this.#changes) {
      const isDurable = change.kind === 'write' && change.isDurable === true;
      bytes = isDurable ? changed(bytes, change) : partlyChanged(bytes, change, random);
    }
    this.#synced = bytes;
    this.#changes = [];
  }
}

/** An open file; unusable after a crash or its close. */
export class SimFileHandle implements FileHandle {
  readonly #file: SimFile;
  readonly #path: string;
  readonly #disk: SimDisk;
  readonly #isWritable: boolean;
  readonly #isSynced: boolean;
  readonly #powerCycle: number;
  #isClosed = false;

  constructor(options: {
    readonly file: SimFile;
    readonly path: string;
    readonly disk: SimDisk;
    readonly isWritable: boolean;
    readonly isSynced: boolean;
  }) {
    this.#file = options.file;
    this.#path = options.path;
    this.#disk = options.disk;
    this.#isWritable = options.isWritable;
    this.#isSynced = options.isSynced;
    this.#powerCycle = options.disk.powerCycle();
  }

  async read(target: Uint8Array, position: number): Promise<number> {
    return this.readNow(target, position);
  }

  readNow(target: Uint8Array, position: number): number {
    this.#check();
    if (this.#disk.happens(this.#disk.faults.readFails)) throw systemError('EIO', this.#path);
    const source = this.#file.bytes.subarray(position, position + target.byteLength);
    target.set(source);
    return source.byteLength;
  }

  async write(parts: readonly Uint8Array[], position: number): Promise<void> {
    this.#checkWritable();
    const bytes = Uint8Array.from(Buffer.concat(parts));
    const grownBytes = Math.max(0, position + bytes.byteLength - this.#file.bytes.byteLength);
    const missingBytes = Math.max(0, grownBytes - this.#disk.freeBytes());
    const isShort = this.#disk.happens(this.#disk.faults.writeIsShort);
    const written = isShort
      ? Math.floor(this.#disk.random.float() * bytes.byteLength)
      : bytes.byteLength - Math.min(missingBytes, bytes.byteLength);
    const change = { kind: 'write', bytes: bytes.subarray(0, written), position } as const;
    if (written > 0) this.#file.apply(change);
    if (this.#isSynced) await this.#reachDisk();
    if (this.#isSynced) this.#file.syncOnly(change);
    if (isShort) throw systemError('EIO', this.#path);
    if (missingBytes > 0) throw systemError('ENOSPC', this.#path);
  }

  async sync(): Promise<void> {
    await this.#reachDisk();
    this.#file.sync();
  }

  async truncate(sizeBytes: number): Promise<void> {
    this.#checkWritable();
    // Other tasks run in the meantime, as with a real disk.
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#checkWritable();
    this.#file.apply({ kind: 'truncate', sizeBytes });
  }

  async sizeBytes(): Promise<number> {
    this.#check();
    return this.#file.bytes.byteLength;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** The write is in progress. A crash in this event-loop tick leaves it incomplete. */
  async #reachDisk(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#check();
    if (this.#disk.happens(this.#disk.faults.syncFails)) {
      this.#file.loseChanges(this.#disk.random);
      throw fileError('sync_failed', this.#path, systemError('EIO', this.#path));
    }
  }

  #check(): void {
    invariant(!this.#isClosed, `${this.#path} must not be used after it is closed`);
    if (this.#powerCycle !== this.#disk.powerCycle()) throw systemError('EBADF', this.#path);
  }

  #checkWritable(): void {
    this.#check();
    if (!this.#isWritable) throw systemError('EBADF', this.#path);
  }
}

export function systemError(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

function changed(bytes: Uint8Array, change: Change): Uint8Array {
  const sizeBytes =
    change.kind === 'truncate'
      ? change.sizeBytes
      : Math.max(bytes.byteLength, change.position + change.bytes.byteLength);
  const result = new Uint8Array(sizeBytes);
  result.set(bytes.subarray(0, sizeBytes));
  if (change.kind === 'write') result.set(change.bytes, change.position);
  return result;
}

function partlyChanged(bytes: Uint8Array, change: Change, random: Random): Uint8Array {
  const chance = random.float();
  if (chance < 0.25) return bytes;
  if (chance < 0.5 || change.kind === 'truncate') return changed(bytes, change);
  if (chance < 0.75) {
    const written = change.bytes.subarray(0, Math.floor(random.float() * change.bytes.byteLength));
    return changed(bytes, { ...change, bytes: written });
  }
  return withSomeSectors(bytes, change, random);
}

/** The size may already be the final one while some sectors still contain old data or zeros. */
function withSomeSectors(
  bytes: Uint8Array,
  change: Change & { kind: 'write' },
  random: Random,
): Uint8Array {
  const end = change.position + change.bytes.byteLength;
  const result = new Uint8Array(Math.max(bytes.byteLength, end));
  result.set(bytes);
  for (let from = change.position; from < end; ) {
    const to = Math.min(end, (Math.floor(from / SECTOR_SIZE) + 1) * SECTOR_SIZE);
    const part = change.bytes.subarray(from - change.position, to - change.position);
    if (random.float() < 0.5) result.set(part, from);
    from = to;
  }
  return result;
}
