import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LiveEvent {
  readonly event: string;
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of the server.
  readonly data: any;
}

/** Reads server-sent events as they arrive. */
export class LiveStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly events: LiveEvent[] = [];
  /** Comments with their arrival times. */
  readonly comments: (readonly [text: string, atMs: number])[] = [];
  isOver = false;
  text = '';
  readonly #response: IncomingMessage;

  /** Opens `GET /ops/v1/stream`. @param isRead `false`: reading starts only with `read`. */
  static async open(
    url: string,
    topics: string,
    headers: Readonly<Record<string, string>> = {},
    isRead = true,
  ): Promise<LiveStream> {
    const path = `/ops/v1/stream?topics=${encodeURIComponent(topics)}`;
    return await LiveStream.openPath(url, path, headers, isRead);
  }

  static async openPath(
    url: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    isRead = true,
  ): Promise<LiveStream> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(`${url}${path}`, { headers, agent: false });
      asked.on('response', resolve);
      asked.on('error', reject);
      asked.end();
    });
    const stream = new LiveStream(response);
    if (isRead) stream.read();
    return stream;
  }

  private constructor(response: IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.on('close', () => {
      this.isOver = true;
    });
    response.on('error', () => undefined);
  }

  read(): void {
    let rest = '';
    this.#response.setEncoding('utf8');
    this.#response.on('data', (piece: string) => {
      if (this.status !== 200) this.text += piece;
      const blocks = (rest + piece).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) this.#take(block);
    });
  }

  #take(block: string): void {
    if (block.startsWith(':')) {
      this.comments.push([block, performance.now()]);
      return;
    }
    const fields = new Map(
      block.split('\n').map((line) => {
        const colon = line.indexOf(': ');
        return [line.slice(0, colon), line.slice(colon + 2)];
      }),
    );
    this.events.push({
      event: fields.get('event') ?? '',
      id: fields.get('id') ?? '',
      data: JSON.parse(fields.get('data') ?? '{}'),
    });
  }

  /** Returns the first matching event when it has arrived. */
  async until(isWanted: (event: LiveEvent) => boolean, timeoutMs = 20_000): Promise<LiveEvent> {
    for (const endMs = performance.now() + timeoutMs; performance.now() < endMs; await sleep(20)) {
      const found = this.events.find(isWanted);
      if (found !== undefined) return found;
    }
    throw new Error(`no such event among ${JSON.stringify(this.events).slice(-2000)}`);
  }

  async untilOver(timeoutMs = 20_000): Promise<void> {
    for (const endMs = performance.now() + timeoutMs; performance.now() < endMs; await sleep(20)) {
      if (this.isOver) return;
    }
    throw new Error('the stream goes on');
  }

  close(): void {
    this.#response.destroy();
  }
}
