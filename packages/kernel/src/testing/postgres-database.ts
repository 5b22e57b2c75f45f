import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A server on which databases may be created; without one, tests of PostgreSQL are skipped. */
export const POSTGRES_URL = process.env['PLINTH_TEST_POSTGRES_URL'];

/** An empty database of its own. */
export class PostgresDatabase implements AsyncDisposable {
  readonly url: string;
  readonly #name: string;

  static async create(): Promise<PostgresDatabase> {
    const name = `plinth_test_${randomUUID().replaceAll('-', '')}`;
    await asAdmin(`create database ${name}`);
    return new PostgresDatabase(name);
  }

  private constructor(name: string) {
    const url = new URL(POSTGRES_URL ?? '');
    url.pathname = `/${name}`;
    this.url = url.href;
    this.#name = name;
  }

  /** As its owner, outside of any transaction. */
  async set(name: string, value: string): Promise<void> {
    await asAdmin(`alter database ${this.#name} set ${name} = ${value}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await asAdmin(`drop database if exists ${this.#name} with (force)`);
  }
}

/** Databases cannot be made within a transaction, so the client is used as it is. */
async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: POSTGRES_URL });
  await client.connect();
  await client.query(statement);
  await client.end();
}
