/** A message of a stream of server-sent events. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** More without the end of a message is no stream of this server. */
const MAX_MESSAGE_LENGTH = 4_194_304;

/** Takes a stream apart, however its text is cut. Source: HTML, "Interpreting an event stream". */
export class EventStreamParser {
  #rest = '';
  #event = '';
  #id = '';
  #data: string[] = [];

  /** @returns the messages that are whole now; comments and messages without data are none. */
  take(text: string): readonly StreamEvent[] {
    this.#rest += text;
    if (this.#rest.length > MAX_MESSAGE_LENGTH)
      throw new Error('the stream has a message without end');
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

/** Where the line ends and the next one begins; a CR at the very end may be half of a CRLF. */
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
