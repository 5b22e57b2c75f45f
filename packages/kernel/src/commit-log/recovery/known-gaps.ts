import { join } from 'node:path';
import type { FileSystem } from '../../fs/file-system.js';
import { asideName } from '../../fs/move-aside.js';
import { logFileName, logFileNumber } from '../log-format.js';

const LOG_NAME_LENGTH = logFileName(0).length;

/**
 * Gaps in the record numbers left by a repair. Companion files record them, so that the server also accepts them at
 * later starts.
 */
export class KnownGaps {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #quarantined: Set<number>;

  constructor(fileSystem: FileSystem, directory: string, names: readonly string[]) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    const companions = names.filter((name) => name === asideName(name.slice(0, LOG_NAME_LENGTH)));
    this.#quarantined = new Set(
      companions.flatMap((name) => logFileNumber(name.slice(0, LOG_NAME_LENGTH)) ?? []),
    );
  }

  /** Number of the last file with quarantined bytes; 0 for none. */
  get newest(): number {
    return Math.max(0, ...this.#quarantined);
  }

  noteQuarantined(file: number): void {
    this.#quarantined.add(file);
  }

  /** Whether bytes were quarantined between the start of `previous` and `file`. */
  hasQuarantinedBetween(file: number, previous = 0): boolean {
    for (const number of this.#quarantined) if (number >= previous && number < file) return true;
    return false;
  }

  /** Records a gap without bytes to quarantine, as an empty companion file in front of `file`. */
  async record(file: number): Promise<void> {
    const path = join(this.#directory, asideName(logFileName(file - 1)));
    await (await this.#fileSystem.open(path, 'wx')).close();
    await this.#fileSystem.syncDirectory(this.#directory);
    this.noteQuarantined(file - 1);
  }
}
