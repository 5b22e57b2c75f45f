import type { Clock } from '../clock/clock.js';
import type { LogFileWriter } from './log-file-writer.js';
import { FILE_HEADER_SIZE } from './log-format.js';

/** An idle log is marked after one to two intervals, so that a busy log never waits for a mark. */
const IDLE_INTERVAL_MS = 500;

interface FileEnd {
  readonly file: number;
  readonly end: number;
}

/** Finds log files with new records that were not written to for an interval. */
export class IdleLog {
  #seen: FileEnd = { file: 0, end: 0 };
  #marked: FileEnd = { file: 0, end: 0 };

  /** @param onIdle called once for the records of an idle file. */
  watch(
    clock: Clock,
    active: () => LogFileWriter | undefined,
    onIdle: (active: LogFileWriter) => void,
  ): Disposable {
    return clock.every(IDLE_INTERVAL_MS, () => {
      const writer = active();
      if (writer !== undefined && this.#isDue(writer.file, writer.recordsEnd)) onIdle(writer);
    });
  }

  #isDue(file: number, end: number): boolean {
    if (end === FILE_HEADER_SIZE || isSame(this.#marked, { file, end })) return false;
    if (!isSame(this.#seen, { file, end })) {
      this.#seen = { file, end };
      return false;
    }
    this.#marked = { file, end };
    return true;
  }
}

const isSame = (a: FileEnd, b: FileEnd): boolean => a.file === b.file && a.end === b.end;
