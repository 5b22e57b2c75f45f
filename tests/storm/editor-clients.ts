import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance, type HttpResponse, type ServerProcess, until } from '../harness/index.js';
import { EDITOR_TOKEN, shownBy } from '../wire/gamedata/shared-nodes.js';
import { ARRIVAL_MS, type StormClients } from './storm-clients.js';
import type { StormPlatform } from './storm-platform.js';

const EDITOR_COUNT = 3;
const RECORDS_EACH = 20;
const PAUSE_MS = 100;
const PUBLISH_PAUSE_MS = 1500;
const HEADERS = { authorization: `Bearer ${EDITOR_TOKEN}`, 'content-type': 'application/json' };

interface Edited {
  readonly etag: string;
  readonly number: number;
}

/** Edit their own records, and publish. */
export class EditorClients implements StormClients {
  readonly figures = { edits: 0, publications: 0 };
  readonly #platform: StormPlatform;
  readonly #seed: number;
  /** The last acknowledged edit by id. */
  readonly #records = new Map<string, Edited>();

  constructor(platform: StormPlatform, seed: number) {
    this.#platform = platform;
    this.#seed = seed;
  }

  async run(isOver: () => boolean): Promise<void> {
    const write = async (_: unknown, editor: number): Promise<void> => {
      const chance = new Chance(this.#seed * 100 + 60 + editor);
      while (!isOver()) {
        const id = `storm-${editor}-${chance.between(1, RECORDS_EACH)}`;
        const known = this.#records.get(id);
        this.#records.set(id, await (known === undefined ? this.#make(id) : this.#edit(id, known)));
        this.figures.edits += 1;
        await sleep(PAUSE_MS);
      }
    };
    const publish = async (): Promise<void> => {
      for (; !isOver(); await sleep(PUBLISH_PAUSE_MS)) await this.#publish();
    };
    await Promise.all([publish(), ...Array.from({ length: EDITOR_COUNT }, write)]);
  }

  async check(): Promise<void> {
    await this.#publish();
    const servers = this.#platform.nodes.map(({ server }) => server as ServerProcess);
    const areEqual = async () => new Set(await Promise.all(servers.map(shownBy))).size === 1;
    await until(areEqual, 'all nodes show the same', ARRIVAL_MS);
    for (const [id, { number }] of this.#records) {
      const found = await this.#platform.done<{ name: string }>(`/api/items/${id}`, {});
      assert.equal(found.name, nameOf(number), `an edit of ${id} is lost`);
    }
  }

  close(): void {}

  async #make(id: string): Promise<Edited> {
    const headers = { ...HEADERS, 'idempotency-key': randomUUID() };
    const body = JSON.stringify({ id, name: nameOf(1), category: 'barter' });
    const response = await this.#platform.ask('/api/editor/items', {
      ...{ method: 'POST', headers, body },
    });
    assert.equal(response.status, 200, `${id}: ${response.text}`);
    return { etag: String(response.headers['etag']), number: 1 };
  }

  /** Uses `If-Match`: an abandoned attempt must not undo a later one. */
  async #edit(id: string, { etag, number }: Edited): Promise<Edited> {
    const path = `/api/editor/items/${id}`;
    const next = number + 1;
    const headers = { ...HEADERS, 'if-match': etag };
    const body = JSON.stringify({ name: nameOf(next) });
    const response = await this.#platform.ask(path, { method: 'PATCH', headers, body });
    if (response.status === 200) return { etag: String(response.headers['etag']), number: next };
    // An earlier attempt of this edit may have been stored.
    assert.equal(response.status, 412, `${id}: ${response.text}`);
    const isOld = ({ headers: { etag: found } }: HttpResponse) => found === etag;
    const shown = await this.#platform.ask(path, { headers: HEADERS }, isOld);
    assert.equal(JSON.parse(shown.text).name, nameOf(next), `${id}: an edit went astray`);
    return { etag: String(shown.headers['etag']), number: next };
  }

  async #publish(): Promise<void> {
    const headers = { ...HEADERS, 'idempotency-key': randomUUID() };
    const response = await this.#platform.ask('/api/editor/save', {
      ...{ method: 'POST', headers, body: '{"message":"in the storm"}' },
    });
    assert.equal(response.status, 200, response.text);
    this.figures.publications += 1;
  }
}

const nameOf = (number: number): string => `edit ${number}`;
