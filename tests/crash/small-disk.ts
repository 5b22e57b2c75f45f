import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../harness/index.js';

/** Only root can mount a file system; for other users, tests with their own disk are skipped. */
export const NO_SMALL_DISK =
  process.platform === 'linux' && process.getuid?.() === 0
    ? false
    : 'needs to mount a file system: Linux and root';

/** A separate file system in memory, with a few megabytes. */
export class SmallDisk {
  readonly path: string;

  static async mount(sizeMb: number): Promise<SmallDisk> {
    const path = await mkdtemp(join(tmpdir(), 'plinth-small-disk-'));
    await runProgram('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0700`, 'tmpfs', path]);
    return new SmallDisk(path);
  }

  private constructor(path: string) {
    this.path = path;
  }

  /** Uses up all free space. */
  async fill(): Promise<void> {
    const file = await open(this.#filler, 'a');
    try {
      for (let size = 1024 * 1024; size >= 512; ) {
        const { bytesWritten } = await file
          .write(randomBytes(size))
          .catch(() => ({ bytesWritten: 0 }));
        if (bytesWritten < size) size >>= 1;
      }
    } finally {
      await file.close();
    }
  }

  /** Frees the space that `fill` used. */
  async empty(): Promise<void> {
    await rm(this.#filler, { force: true });
  }

  async unmount(): Promise<void> {
    await runProgram('umount', ['-l', this.path]);
    await rm(this.path, { recursive: true });
  }

  get #filler(): string {
    return join(this.path, 'filler');
  }
}
