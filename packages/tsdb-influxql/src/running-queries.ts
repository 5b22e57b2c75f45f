import type { Clock } from '@plinth/kernel';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

interface RunningQuery {
  readonly owner: string;
  readonly id: number;
  readonly text: string;
  readonly database: string;
  readonly startMs: number;
  readonly kill: () => void;
}

/** A query as listed by `SHOW QUERIES`. */
export interface ShownQuery {
  readonly id: number;
  readonly text: string;
  readonly database: string;
  readonly durationMs: number;
}

/** Running queries, for `SHOW QUERIES` and `KILL QUERY`. */
export class RunningQueries {
  readonly #clock: Clock;
  readonly #running = new Map<number, RunningQuery>();
  #lastId = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns a function that removes the query from the list. */
  add(query: Omit<RunningQuery, 'id' | 'startMs'>): () => void {
    const id = ++this.#lastId;
    this.#running.set(id, { ...query, id, startMs: this.#clock.monotonicMs() });
    return () => void this.#running.delete(id);
  }

  /** Returns the queries that the client may see: its own, or all for an administrator. */
  list(access: DatabaseAccess): readonly ShownQuery[] {
    const nowMs = this.#clock.monotonicMs();
    const seen = [...this.#running.values()].filter((query) => maySee(access, query));
    return seen.map(({ id, text, database, startMs }) => ({
      id,
      text,
      database,
      durationMs: nowMs - startMs,
    }));
  }

  /** Cancels a query. Throws `plan_error` if the client cannot see a query with this ID. */
  kill(id: bigint, access: DatabaseAccess): void {
    const query = this.#running.get(Number(id));
    if (query === undefined || !maySee(access, query))
      throw tsdbError('plan_error', `no such query id: ${id}`);
    query.kill();
  }
}

const maySee = ({ isAdministrator, owner }: DatabaseAccess, query: RunningQuery): boolean =>
  isAdministrator || query.owner === owner;
