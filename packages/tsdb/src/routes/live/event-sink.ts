import { LiveStream } from '@plinth/kernel';
import type { LiveNotice, LiveSink } from '@plinth/tsdb-live-queries/live-sink.js';
import { completeSeq, type Position, positionText } from '@plinth/tsdb-live-queries/position.js';
import type { TextFormat } from '../formats/encoder.js';
import { TextBytes } from '../formats/text-bytes.js';
import { TimeWriter } from '../formats/time-text.js';

const TIMES = new TimeWriter('Z', 'thousands');
const JSON_TYPE = 'application/json';
type Rows = Parameters<LiveSink['rows']>[1];

/** Writes a live query as server-sent events. Source: docs/LIVE-QUERIES.md. */
export class EventSink implements LiveSink {
  readonly stream: LiveStream;
  readonly #format: TextFormat;

  constructor(options: {
    readonly format: TextFormat;
    readonly onOver: () => void;
  }) {
    this.#format = options.format;
    // LiveQueries ends the stream if the token is revoked.
    this.stream = new LiveStream(() => true, options.onOver);
  }

  get hasRoom(): boolean {
    return this.stream.hasRoom;
  }

  /** Sends rows as events without a name, which `EventSource` passes to `onmessage`. */
  rows(kind: 'rows' | 'bucket', { columns, chunks }: Rows, position: Position): boolean {
    const event = kind === 'bucket' ? 'event: bucket\n' : '';
    const head = `${event}id: ${positionText(position)}\ndata: `;
    const out = new TextBytes();
    const isJson = this.#format.contentType === JSON_TYPE;
    if (isJson) out.ascii(head);
    const encoder = this.#format.open({ columns, tableName: undefined }, out);
    encoder.begin();
    for (const chunk of chunks) for (const _step of encoder.chunk(chunk) ?? []);
    for (const _written of encoder.deferredRows?.() ?? []);
    encoder.end();
    if (isJson) out.ascii('\n\n');
    const bytes = out.take();
    return this.stream.push(isJson ? bytes : Buffer.from(`${head}${linesOf(bytes)}\n\n`));
  }

  notice(notice: LiveNotice, position: Position): boolean {
    return this.#event(notice.kind, dataOf(notice), position);
  }

  heartbeat(position: Position): void {
    // An id without data changes only the position of the client.
    this.stream.push(Buffer.from(`: heartbeat\nid: ${positionText(position)}\n\n`));
  }

  end(reason: string): void {
    this.stream.push(Buffer.from(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`));
    this.stream.end();
  }

  #event(name: string, data: object, position: Position): boolean {
    const text = `event: ${name}\nid: ${positionText(position)}\ndata: ${JSON.stringify(data)}\n\n`;
    return this.stream.push(Buffer.from(text));
  }
}

/** Converts line ends, which formats other than JSON contain. A CR would also end a line of the event. */
const linesOf = (bytes: Buffer): string =>
  bytes
    .toString()
    .replace(/\r?\n$/, '')
    .replaceAll(/\r\n|\r|\n/g, '\ndata: ');

function dataOf(notice: LiveNotice): object {
  switch (notice.kind) {
    case 'start':
      return {};
    case 'gap':
      return rangeOf(notice);
    case 'dropped':
      return { rows: notice.rowCount, ...rangeOf(notice) };
  }
}

/** Returns positions, and the times at which the rows between them were written. */
const rangeOf = ({ from, to }: { readonly from: Position; readonly to: Position }): object => ({
  from: positionText(from),
  to: positionText(to),
  from_time: TIMES.text(completeSeq(from)),
  to_time: TIMES.text(to.seq),
});
