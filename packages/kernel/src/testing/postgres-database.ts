import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A server on which databases can be created; without one, PostgreSQL tests are skipped. */
export const POSTGRES_URL = process.env['PLINTH_TEST_POSTGRES_URL'];

/** A new, empty database. */
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

  /** Changes a setting of the database as its owner, outside any transaction. */
  async set(name: string, value: string): Promise<void> {
    await asAdmin(`alter database ${this.#name} set ${name} = ${value}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await asAdmin(`drop database if exists ${this.#name} with (force)`);
  }
}

/** Databases cannot be created within a transaction, so the client is used directly. */
async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: POSTGRES_URL });
  await client.connect();
  await client.query(statement);
  await client.end();
}
