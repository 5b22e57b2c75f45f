import { mkdtemp, rm, stat, statfs, truncate } from 'node:fs/promises';
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
  readonly #fillers: string[] = [];

  static async mount(sizeMb: number): Promise<SmallDisk> {
    const path = await mkdtemp(join(tmpdir(), 'plinth-small-disk-'));
    await runProgram('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0700`, 'tmpfs', path]);
    return new SmallDisk(path);
  }

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * Uses up all free space in one call, because a server that notices the full disk releases a part
   * of its reserve, which must stay free.
   */
  async fill(): Promise<void> {
    const filler = join(this.path, `filler-${this.#fillers.length}`);
    this.#fillers.push(filler);
    for (let attempt = 0; attempt < 5; attempt++) {
      const { bavail, bsize } = await statfs(this.path);
      if (bavail === 0) return;
      const length = String(bavail * bsize);
      // Allocates nothing if the server has just used a part of the space.
      const isFilled = await runProgram('fallocate', ['--length', length, filler]).then(
        () => true,
        () => false,
      );
      if (isFilled) return;
    }
  }

  /** Frees a part of the space that the last `fill` used. */
  async free(bytes: number): Promise<void> {
    const filler = this.#fillers.at(-1);
    if (filler !== undefined) await truncate(filler, (await stat(filler)).size - bytes);
  }

  /** Frees the space that `fill` used. */
  async empty(): Promise<void> {
    for (const filler of this.#fillers.splice(0)) await rm(filler, { force: true });
  }

  async unmount(): Promise<void> {
    await runProgram('umount', ['-l', this.path]);
    await rm(this.path, { recursive: true });
  }
}
