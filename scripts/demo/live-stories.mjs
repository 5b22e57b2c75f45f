// A live query: rows arrive as they are written, and a client that reconnects continues where it stopped.
import { setTimeout as sleep } from 'node:timers/promises';

const db = 'live';
const TIMEOUT_MS = 10_000;

export async function showLiveQueries(narrator, client) {
  narrator.title('A live query');
  const write = (room, temps) =>
    client.write(db, temps.map((temp, i) => `air,room=${room} temp=${temp} ${i}`).join('\n'), 'ns');
  await write('kitchen', [19]);
  const follow = async (since) => {
    const q = "SELECT temp FROM air WHERE room = 'kitchen' AND temp > 20";
    const query = { db, q, ...(since !== undefined && { since }) };
    return new Stream(await client.open('/api/v3/subscribe', { query }));
  };
  let stream = await follow();
  await stream.until(({ event }) => event === 'start');
  await narrator.check(
    'rows that match arrive after they are written',
    async () => {
      await write('hall', [30]);
      await write('kitchen', [18, 21, 23]);
      return (await stream.until(({ event }) => event === undefined)).rows;
    },
    [{ temp: 21 }, { temp: 23 }],
    (found) => found.map(({ temp }) => `${temp} °C`).join(', '),
  );
  await stream.close();
  await narrator.check(
    'a client that reconnects receives what it missed',
    async () => {
      await write('kitchen', [25]);
      stream = await follow(stream.position);
      return (await stream.until(({ event }) => event === undefined)).rows;
    },
    [{ temp: 25 }],
    (found) => found.map(({ temp }) => `${temp} °C`).join(', '),
  );
  await stream.close();
}

/** Events of a response with server-sent events, each of which has at most one line of data. */
class Stream {
  position;
  #reader;
  #text = '';

  constructor(response) {
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** @returns the next event that is accepted. */
  async until(isAccepted) {
    const timeout = new AbortController();
    const late = sleep(TIMEOUT_MS, undefined, { signal: timeout.signal }).then(() => {
      throw new Error(`no event of the live query within ${TIMEOUT_MS} ms`);
    });
    late.catch(() => undefined);
    try {
      for (;;) {
        const found = await Promise.race([this.#next(), late]);
        if (isAccepted(found)) return found;
      }
    } finally {
      timeout.abort();
    }
  }

  async #next() {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end === -1) {
        const { value, done } = await this.#reader.read();
        if (done) throw new Error('the live query has ended');
        this.#text += value;
        continue;
      }
      const lines = this.#text.slice(0, end).split('\n');
      this.#text = this.#text.slice(end + 2);
      const of = (name) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      this.position = of('id') ?? this.position;
      const data = of('data');
      if (data !== undefined) return { event: of('event'), rows: JSON.parse(data) };
    }
  }

  async close() {
    await this.#reader.cancel();
  }
}
