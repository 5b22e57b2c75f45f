/** A server-sent event with the fields of its lines. */
export interface StreamEvent {
  readonly event: string;
  /** The last id that the stream contained, which may be of an earlier event; empty for none. */
  readonly id: string;
  readonly data: string;
}

/**
 * Parses an event stream from pieces split at any position, in browsers and Node. Its memory is bounded: it
 * throws if an event is longer than `maxLength` characters. Source: HTML, "Interpreting an event stream".
 */
export class EventStreamParser {
  readonly #maxLength: number;
  /** The pieces of the last line, which is incomplete. */
  #line: string[] = [];
  #isAfterCr = false;
  #event = '';
  #id = '';
  #data: string[] = [];
  #lineLength = 0;
  #dataLength = 0;
  #lastId = '';

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The last id of the stream. Lines without data, such as heartbeats, change it without an event. */
  get lastId(): string {
    return this.#lastId;
  }

  /** @returns the events that this piece completes, without comments and events without data. */
  take(piece: string): readonly StreamEvent[] {
    if (piece === '') return [];
    // A CRLF may be split across two pieces.
    const text = this.#isAfterCr && piece.startsWith('\n') ? piece.slice(1) : piece;
    this.#isAfterCr = piece.endsWith('\r');
    const lines = text.split(/\r\n?|\n/);
    const last = lines.pop() ?? '';
    const events: StreamEvent[] = [];
    for (const rest of lines) {
      this.#hold(rest);
      const event = this.#take(this.#line.join(''));
      this.#line = [];
      this.#lineLength = 0;
      if (event !== undefined) events.push(event);
    }
    if (last !== '') this.#hold(last);
    return events;
  }

  #hold(part: string): void {
    this.#line.push(part);
    this.#lineLength += part.length;
    if (this.#dataLength + this.#lineLength > this.#maxLength)
      throw new Error(`an event of the stream is longer than ${this.#maxLength} characters`);
  }

  #take(line: string): StreamEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'data') {
      this.#data.push(value);
      this.#dataLength += value.length + 1; // and its line end
    }
    return undefined;
  }

  #dispatch(): StreamEvent | undefined {
    const [data, event] = [this.#data, this.#event];
    this.#lastId = this.#id;
    this.#data = [];
    this.#event = '';
    this.#dataLength = 0;
    if (data.length === 0) return undefined;
    return { event: event === '' ? 'message' : event, id: this.#id, data: data.join('\n') };
  }
}
