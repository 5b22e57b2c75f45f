import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A PostgreSQL server on which tests may create databases; without it, tests of several nodes are skipped. */
export const POSTGRES_URL = process.env['PLINTH_TEST_POSTGRES_URL'];

/** A new, empty PostgreSQL database, which is dropped at the end of the test. */
export class TestDatabase {
  readonly url: string;
  readonly #name: string;

  static async create(): Promise<TestDatabase> {
    const name = `plinth_test_${randomUUID().replaceAll('-', '')}`;
    await asAdmin(`create database ${name}`);
    return new TestDatabase(name);
  }

  private constructor(name: string) {
    const url = new URL(POSTGRES_URL ?? '');
    url.pathname = `/${name}`;
    this.url = url.href;
    this.#name = name;
  }

  /** Runs any statement in the database. */
  async query(statement: string): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }

  /** Runs `statement` in an open transaction. @returns an object whose disposal ends the transaction and releases its locks. */
  async hold(statement: string): Promise<AsyncDisposable> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    await client.query('begin');
    await client.query(statement);
    return { [Symbol.asyncDispose]: () => client.end() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await asAdmin(`drop database if exists ${this.#name} with (force)`);
  }
}

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: POSTGRES_URL });
  await client.connect();
  await client.query(statement);
  await client.end();
}
