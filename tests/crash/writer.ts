import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { Chance, HttpClient, HttpRequest } from '../harness/index.js';
import { type Fields, merged, type Points } from './points.js';

export const TABLES = ['cpu', 'mem', 'disk io'] as const;
const START_SEC = 1_735_549_200;
/** A small number, so that points are often overwritten, over three days so that tables have several segments. */
const POINT_COUNT = 600;
const STEP_SEC = 432;

interface Request {
  readonly path: string;
  readonly body: string | Uint8Array;
  readonly headers: Record<string, string>;
  readonly points: Points;
  readonly badLineCount: number;
  readonly isPartialAllowed: boolean;
}

/**
 * Writes its own points, one request after the other, and records the acknowledged points. A request without a
 * response stays `inFlight`: either all or none of its rows may be present.
 */
export class Writer {
  readonly name: string;
  /** The acknowledged points. */
  points: Points = new Map();
  inFlight: Points | undefined;
  requestCount = 0;
  acknowledgedCount = 0;
  readonly #chance: Chance;

  constructor(name: string, chance: Chance) {
    this.name = name;
    this.#chance = chance;
  }

  /** Writes until the server dies. */
  async writeUntilGone(http: HttpClient, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const request = this.#request();
      this.inFlight = request.points;
      let response: Awaited<ReturnType<HttpClient['send']>>;
      try {
        const { body, headers } = request;
        response = await http.send(request.path, { method: 'POST', body, headers } as HttpRequest);
      } catch {
        return;
      }
      this.inFlight = undefined;
      if (response.status === 503) continue; // completely refused: the buffer is full, or the server stops
      const isRefused = request.badLineCount > 0 && !request.isPartialAllowed;
      const expected = request.badLineCount > 0 ? 400 : 204;
      assert.equal(response.status, expected, response.text);
      if (expected === 400) assertReported(response.text, request);
      if (!isRefused) this.points = merged(this.points, request.points);
      this.acknowledgedCount++;
    }
  }

  /** Decides whether the request without a response was carried out. Returns the differences if neither state matches. */
  settle(actual: Points, differences: (a: Points, b: Points) => string[]): string[] {
    const without = differences(actual, this.points);
    const pending = this.inFlight;
    this.inFlight = undefined;
    if (without.length === 0 || pending === undefined) return without;
    const after = merged(this.points, pending);
    const done = differences(actual, after);
    if (done.length > 0) return without.length < done.length ? without : done;
    this.points = after;
    return [];
  }

  #request(): Request {
    const chance = this.#chance;
    const number = ++this.requestCount;
    const rowCount = chance.happens(0.3) ? chance.between(500, 2000) : chance.between(1, 100);
    const points: Points = new Map();
    const lines: string[] = [];
    const badLineCount = chance.happens(0.15) ? chance.between(1, 3) : 0;
    const isPartialAllowed = chance.happens(0.7);
    for (let row = 0; row < rowCount; row++) {
      const table = chance.pick(TABLES);
      // A tag of only some series appears between the others.
      const dc = chance.happens(0.1) ? `dc${chance.between(0, 2)}` : '';
      const host = `h${chance.between(0, 3)}`;
      const timeSec = START_SEC + chance.between(0, POINT_COUNT - 1) * STEP_SEC;
      const fields = this.#fields(number, row);
      const key = pointKey(table, { writer: this.name, host, dc }, isoOf(timeSec));
      const tags = `writer=${this.name},host=${host}${dc && `,dc=${dc}`}`;
      lines.push(`${table.replace(' ', '\\ ')},${tags} ${textOf(fields)} ${timeSec}`);
      points.set(key, { ...points.get(key), ...fields });
    }
    for (let i = 0; i < badLineCount; i++) {
      lines.splice(chance.between(0, lines.length), 0, `cpu,writer=${this.name} garbage`);
    }
    const text = lines.join('\n');
    const isGzip = chance.happens(0.3);
    return {
      path: `/api/v3/write_lp?db=crash&precision=s&accept_partial=${isPartialAllowed}`,
      body: isGzip ? gzipSync(text, { level: 1 }) : text,
      headers: isGzip ? { 'content-encoding': 'gzip' } : {},
      points,
      badLineCount,
      isPartialAllowed,
    };
  }

  /** Every row identifies the request that wrote it. Other fields are optional, and new ones are added over time. */
  #fields(request: number, row: number): Fields {
    const chance = this.#chance;
    const fields: Record<string, string | number | boolean> = { request };
    if (chance.happens(0.8)) fields['value'] = request + row / 4096;
    if (chance.happens(0.3)) fields['text'] = `${this.name} "${request}", ${row}\\`;
    if (chance.happens(0.2)) fields['ok'] = row % 2 === 0;
    if (chance.happens(0.1)) fields[`later${chance.between(0, request % 24)}`] = request;
    return fields;
  }
}

export function pointKey(
  table: string,
  tags: { readonly writer: string; readonly host: string; readonly dc: string },
  time: string,
): string {
  return `${table}|${tags.writer}|${tags.host}|${tags.dc}|${time}`;
}

const isoOf = (timeSec: number): string => new Date(timeSec * 1000).toISOString().slice(0, 19);

function textOf(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => {
      if (typeof value === 'string') return `${name}="${value.replace(/["\\]/g, '\\$&')}"`;
      return typeof value === 'number' && name !== 'value'
        ? `${name}=${value}i`
        : `${name}=${value}`;
    })
    .join(',');
}

function assertReported(text: string, request: Request): void {
  const { error, data } = JSON.parse(text) as { error: string; data: unknown[] };
  assert.equal(
    error,
    request.isPartialAllowed
      ? 'partial write of line protocol occurred'
      : 'write of line protocol failed',
  );
  assert.equal(data.length, request.badLineCount);
}
