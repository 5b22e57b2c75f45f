import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Folders of cgroups with memory limits, and the file with the limit: version 1 or 2. */
const HIERARCHIES = [
  { root: '/sys/fs/cgroup/memory', file: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', file: 'memory.max' },
];
const REMOVE_TRIES = 50;

/** A process group that the system kills when its processes together exceed a memory limit. */
export class SmallMemory {
  readonly #folder: string;

  /** Returns `undefined` when this machine or user cannot limit memory. */
  static async limit(sizeBytes: number): Promise<SmallMemory | undefined> {
    for (const { root, file } of HIERARCHIES) {
      if (!existsSync(root)) continue;
      const folder = join(root, `plinth-test-${process.pid}`);
      try {
        await mkdir(folder);
      } catch {
        continue;
      }
      try {
        await readFile(join(folder, file)); // Fails in other hierarchies, which have no such file.
        await writeFile(join(folder, file), String(sizeBytes));
        return new SmallMemory(folder);
      } catch {
        await rmdir(folder);
      }
    }
    return undefined;
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Shell command that moves the shell into the group before it starts a process. */
  get command(): string {
    return `echo $$ > ${join(this.#folder, 'cgroup.procs')}`;
  }

  /** Call it after its processes have ended. */
  async remove(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await rmdir(this.#folder);
        return;
      } catch (error) {
        if (tries === REMOVE_TRIES) throw error;
        await sleep(100); // A killed process is counted for a moment.
      }
    }
  }
}
