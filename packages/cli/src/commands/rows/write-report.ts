import type { Chunk } from '@plinth/line-protocol';
import type { Input } from '../input/input.js';
import { countOf } from '../output/count-of.js';
import { printNote } from '../output/terminal.js';

const MAX_SHOWN_COUNT = 20;
const BAR_WIDTH = 30;
const BAR_INTERVAL_MS = 100;

type Extent = Pick<Input, 'sizeBytes' | 'readBytes'>;

/** Counts written and refused lines, shows progress on a terminal, and prints the summary. */
export class WriteReport {
  readonly #startMs = performance.now();
  #file = '';
  #input: Extent | undefined;
  #writtenCount = 0;
  #refusedCount = 0;
  #shortCount = 0;
  #sentBytes = 0;
  #drawnMs = 0;
  readonly #shown: string[] = [];

  beginFile(name: string, input: Extent): void {
    this.#file = name;
    this.#input = input;
  }

  /** Records a response. `refused` counts lines of the chunk; the report prints lines of the file. */
  accept(
    chunk: Chunk,
    refused: readonly { readonly line: number; readonly message: string }[],
    writtenCount = chunk.pointCount,
  ): void {
    this.#writtenCount += Math.max(0, writtenCount);
    this.#refusedCount += Math.max(0, chunk.pointCount - refused.length - writtenCount);
    this.#sentBytes += chunk.bytes.length;
    this.#shortCount += chunk.shortCount ?? 0;
    for (const { line, message } of refused) this.refuse(chunk.fileLineOf(line), message);
    this.#draw();
  }

  refuse(line: number, message: string): void {
    this.#refusedCount += 1;
    if (this.#shown.length < MAX_SHOWN_COUNT) this.#shown.push(`${this.#file}:${line}: ${message}`);
  }

  /** @returns whether all lines were written. */
  finish(): boolean {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
    for (const line of this.#shown) printNote(`${line}\n`);
    const hiddenCount = this.#refusedCount - this.#shown.length;
    if (hiddenCount > 0) printNote(`... and ${countOf(hiddenCount, 'more rejected line')}\n`);
    if (this.#shortCount > 0)
      printNote(
        `rows with fewer values than columns (missing values are empty): ${this.#shortCount}\n`,
      );
    const seconds = ((performance.now() - this.#startMs) / 1000).toFixed(1);
    const refused = this.#refusedCount === 0 ? '' : `, rejected ${this.#refusedCount}`;
    printNote(
      `wrote ${countOf(this.#writtenCount, 'line')}${refused} (${sizeText(this.#sentBytes)} in ${seconds} s)\n`,
    );
    return this.#refusedCount === 0;
  }

  #draw(): void {
    const nowMs = performance.now();
    if (!process.stderr.isTTY || nowMs - this.#drawnMs < BAR_INTERVAL_MS) return;
    this.#drawnMs = nowMs;
    const { sizeBytes, readBytes } = this.#input ?? {};
    const part = sizeBytes && readBytes ? Math.min(1, readBytes() / sizeBytes) : undefined;
    const bar =
      part === undefined
        ? ''
        : `[${'='.repeat(Math.round(part * BAR_WIDTH)).padEnd(BAR_WIDTH)}] ${Math.round(part * 100)} % `;
    const rate = sizeText((this.#sentBytes / (nowMs - this.#startMs)) * 1000);
    process.stderr.write(`\r\u001b[K${this.#file} ${bar}${this.#writtenCount} lines, ${rate}/s`);
  }
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
