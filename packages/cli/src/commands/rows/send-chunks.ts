import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@plinth/kernel';
import { type Chunk, readRefusals } from '@plinth/line-protocol';
import { CommandFailed } from '@plinth/server/process/command-failed.js';
import {
  type Connection,
  call,
  callOk,
  databaseOf,
  errorTextOf,
  failureOf,
} from '../connection.js';
import type { WriteReport } from './write-report.js';

const MAX_ATTEMPT_COUNT = 10;
const MAX_RETRY_WAIT_SEC = 30;

export interface SendOptions {
  readonly precision: string;
  readonly acceptPartial: boolean;
  readonly sync: boolean;
}

interface Result {
  readonly error?: string;
  readonly series?: readonly { readonly values?: readonly (readonly unknown[])[] }[];
}

/**
 * Runs an InfluxQL statement. An error ends the command.
 * @param shown the form in error messages, for a statement that contains secrets
 * @returns the rows
 */
export async function runStatement(
  statement: string,
  connection: Connection,
  shown = statement,
): Promise<readonly (readonly unknown[])[]> {
  const response = await callOk(connection, 'query', { form: { q: statement } });
  const { results = [] } = (await response.json()) as { results?: readonly Result[] };
  const error = results.find((result) => result.error !== undefined)?.error;
  if (error !== undefined) throw new CommandFailed(`${shown}: ${error}`);
  return results.flatMap(({ series = [] }) => series.flatMap(({ values = [] }) => values));
}

/**
 * Runs a statement of a dump. A dump repeats CREATE DATABASE for each retention policy, which fails for every policy
 * after the first. That error is ignored: writes create their policy.
 */
export async function runDumpStatement(statement: string, connection: Connection): Promise<void> {
  try {
    await runStatement(statement, connection);
  } catch (error) {
    const isKnown = messageOf(error).endsWith('retention policy conflicts with an existing policy');
    if (!(isKnown && /^create\s+database\s/i.test(statement))) throw error;
  }
}

/** Keeps `concurrency` requests in progress. Stops reading and throws at the first failure. */
export async function sendAll<C extends Chunk>(
  chunks: AsyncIterable<C>,
  concurrency: number,
  sendOne: (chunk: C) => Promise<void>,
): Promise<void> {
  const underway = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const chunk of chunks) {
    const sent = sendOne(chunk)
      .catch((error: unknown) => {
        failures.push(error);
      })
      .finally(() => underway.delete(sent));
    underway.add(sent);
    if (underway.size >= concurrency) await Promise.race(underway);
    if (failures.length > 0) break;
  }
  await Promise.all(underway);
  if (failures.length > 0) throw failures[0];
}

/** Sends one chunk, and retries while the server is busy. Rejected lines go to the report. */
export async function send(
  chunk: Chunk & { readonly database?: string | undefined },
  options: SendOptions,
  connection: Connection,
  report: WriteReport,
): Promise<void> {
  const query = {
    db: chunk.database ?? databaseOf(connection),
    precision: options.precision,
    accept_partial: String(options.acceptPartial),
    no_sync: String(!options.sync),
  };
  for (let attempt = 1; ; attempt += 1) {
    const response = await call(connection, 'api/v3/write_lp', { query, body: chunk.bytes });
    const text = await response.text();
    // With both statuses nothing was stored, so a retry is safe.
    const isBusy = response.status === 429 || response.status === 503;
    if (isBusy && attempt < MAX_ATTEMPT_COUNT) {
      await sleep(1000 * retryAfterSec(response.headers.get('retry-after'), attempt));
      continue;
    }
    if (response.ok) {
      report.accept(chunk, []);
      return;
    }
    const refusals = readRefusals(text);
    if (refusals === undefined) throw failureOf(response.status, errorTextOf(text), connection);
    const { lines, isWhole } = refusals;
    const isPartial = options.acceptPartial && !isWhole;
    report.accept(chunk, lines, isPartial ? chunk.pointCount - lines.length : 0);
    return;
  }
}

function retryAfterSec(header: string | null, attempt: number): number {
  const waitSec = header === null ? Number.NaN : Number(header);
  const wait = Number.isFinite(waitSec) && waitSec >= 0 ? waitSec : 2 ** (attempt - 1) / 4;
  return Math.min(wait, MAX_RETRY_WAIT_SEC);
}
