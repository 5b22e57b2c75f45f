/** A message of a server-sent event stream. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** A longer message does not come from this server. */
const MAX_MESSAGE_LENGTH = 4_194_304;

/** Parses an event stream from chunks cut anywhere. Source: HTML, "Interpreting an event stream". */
export class EventStreamParser {
  #rest = '';
  #event = '';
  #id = '';
  #data: string[] = [];

  /** @returns the messages completed by this chunk, without comments and messages that have no data. */
  take(text: string): readonly StreamEvent[] {
    this.#rest += text;
    if (this.#rest.length > MAX_MESSAGE_LENGTH)
      throw new Error('an event of the stream is longer than 4 MiB');
    const messages: StreamEvent[] = [];
    let begin = 0;
    for (;;) {
      const [end, next] = lineEnd(this.#rest, begin);
      if (end === -1) break;
      const message = this.#line(this.#rest.slice(begin, end));
      if (message !== undefined) messages.push(message);
      begin = next;
    }
    this.#rest = this.#rest.slice(begin);
    return messages;
  }

  #line(line: string): StreamEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#event = value;
    else if (field === 'id') this.#id = value;
    else if (field === 'data') this.#data.push(value);
    return undefined;
  }

  #dispatch(): StreamEvent | undefined {
    const data = this.#data;
    const event = this.#event === '' ? 'message' : this.#event;
    this.#data = [];
    this.#event = '';
    return data.length === 0 ? undefined : { event, id: this.#id, data: data.join('\n') };
  }
}

/** The end of the line and the start of the next one. A CR at the end of the chunk may be half of a CRLF. */
function lineEnd(text: string, from: number): readonly [end: number, next: number] {
  for (let i = from; i < text.length; i++) {
    const char = text[i];
    if (char === '\n') return [i, i + 1];
    if (char !== '\r') continue;
    if (i + 1 === text.length) return [-1, -1];
    return [i, text[i + 1] === '\n' ? i + 2 : i + 1];
  }
  return [-1, -1];
}
