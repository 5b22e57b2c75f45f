import { chunkCsv, type RefusedRow, readRefusals } from '@plinth/line-protocol';
import type { CsvProgress, LineRequest } from '../lib/line-protocol/messages.js';
import { RefusedGroups } from '../lib/line-protocol/refused-groups.js';

type Convert = Extract<LineRequest, { readonly kind: 'preview' | 'write' }>;

/**
 * The server accepts 10 MiB per request. Smaller requests report progress, and less data is resent
 * after a failure.
 */
const CHUNK_SIZE_BYTES = 1 << 20;
/** Browsers read 2 MB at a time, which is too coarse for progress reports. */
const PIECE_SIZE_BYTES = 128 << 10;
const SHOWN_LINE_COUNT = 3;
const MAX_SHOWN_LENGTH = 500;
const TELL_MS = 100;
const MAX_ATTEMPT_COUNT = 10;
const MAX_WAIT_SEC = 30;

/** Thrown if the server or a proxy in front of it rejected the complete request. */
export class SendFailed extends Error {
  override readonly name = 'SendFailed';
  /** 0 when the server did not respond. */
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Counts the rows that become points, without sending them. */
export async function previewCsv(
  { file, mapping }: Convert,
  signal: AbortSignal,
  report: (progress: CsvProgress) => void,
): Promise<CsvProgress> {
  const tally = new Tally(report);
  const pieces = piecesOf(file, signal, (sizeBytes) => tally.read(sizeBytes));
  // With a chunk size of one byte, each chunk has one point.
  for await (const { bytes, shortCount } of chunkCsv(pieces, mapping, 1, (row) =>
    tally.refuse(row),
  )) {
    tally.rowCount += 1;
    tally.shortCount += shortCount;
    if (tally.lines.length < SHOWN_LINE_COUNT) tally.lines.push(shownLine(bytes));
  }
  return tally.progress;
}

function shownLine(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)} …\n` : text;
}

/** Sends requests one after the other, so that the last of two values of a point wins. */
export async function writeCsv(
  { file, mapping, url, headers }: Convert,
  signal: AbortSignal,
  report: (progress: CsvProgress) => void,
): Promise<CsvProgress> {
  const tally = new Tally(report);
  const pieces = piecesOf(file, signal, (sizeBytes) => tally.read(sizeBytes));
  const send = (body: Uint8Array<ArrayBuffer>) =>
    sendAgain(url, { method: 'POST', headers, body, signal, cache: 'no-store' });
  const refuse = (row: RefusedRow) => tally.refuse(row);
  for await (const chunk of chunkCsv(pieces, mapping, CHUNK_SIZE_BYTES, refuse)) {
    const { bytes, pointCount, fileLineOf } = chunk;
    const { status, text } = await send(bytes);
    tally.rowCount += pointCount;
    tally.shortCount += chunk.shortCount;
    if (status < 300) {
      tally.writtenCount += pointCount;
    } else {
      const refusals = readRefusals(text);
      if (refusals === undefined) throw new SendFailed(status, text);
      const { lines, isCut, isWhole } = refusals;
      for (const { line, message } of lines) refuse({ line: fileLineOf(line), message });
      if (isWhole) tally.refusedCount += pointCount - lines.length;
      else tally.writtenCount += pointCount - lines.length;
      tally.isOpen ||= isCut && !isWhole;
    }
    tally.reportNow();
  }
  return tally.progress;
}

/** Streams a file, so that it is never in memory completely. */
export async function* piecesOf(
  file: File,
  signal: AbortSignal,
  onRead: (sizeBytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (let at = 0; at < value.length; at += PIECE_SIZE_BYTES) {
        const piece = value.subarray(at, at + PIECE_SIZE_BYTES);
        signal.throwIfAborted();
        onRead(piece.length);
        yield piece;
      }
    }
  } finally {
    await reader.cancel();
  }
}

/** Resends a request after 429 and 503, which mean that nothing was written. Throws `SendFailed`. */
async function sendAgain(
  url: string,
  request: RequestInit & { readonly signal: AbortSignal },
): Promise<{ readonly status: number; readonly text: string }> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(url, request);
      const { status } = response;
      const isBusy = status === 429 || status === 503;
      if (!isBusy || attempt === MAX_ATTEMPT_COUNT) return { status, text: await response.text() };
      const waitSec = Number(response.headers.get('retry-after') ?? 1);
      await wait(Math.min(Number.isFinite(waitSec) ? waitSec : 1, MAX_WAIT_SEC), request.signal);
    } catch (error) {
      throw new SendFailed(0, error instanceof Error ? error.message : String(error));
    }
  }
}

function wait(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

class Tally {
  rowCount = 0;
  shortCount = 0;
  writtenCount = 0;
  refusedCount = 0;
  isOpen = false;
  readonly lines: string[] = [];
  readonly #report: (progress: CsvProgress) => void;
  readonly #refused = new RefusedGroups();
  #readBytes = 0;
  #toldMs = 0;

  constructor(report: (progress: CsvProgress) => void) {
    this.#report = report;
  }

  read(sizeBytes: number): void {
    if (performance.now() - this.#toldMs > TELL_MS) this.reportNow();
    this.#readBytes += sizeBytes;
  }

  refuse(row: RefusedRow): void {
    this.refusedCount += 1;
    this.#refused.add(row);
  }

  reportNow(): void {
    this.#toldMs = performance.now();
    this.#report(this.progress);
  }

  get progress(): CsvProgress {
    const { rowCount, shortCount, writtenCount, refusedCount, isOpen } = this;
    return {
      ...{ rowCount, shortCount, writtenCount, refusedCount, isOpen },
      readBytes: this.#readBytes,
      refused: this.#refused.list,
      lines: [...this.lines],
    };
  }
}
