import assert from 'node:assert/strict';
import type { HttpAnswer, HttpRequest } from './http-client.js';
import type { RunningServer } from './running-server.js';

/** Asserts status 204 and an empty body. */
export function assertEmpty(answer: HttpAnswer): void {
  assert.equal(answer.status, 204, answer.text);
  assert.equal(answer.text, '');
}

/** Asserts status, content type and complete body of a JSON response. */
export function assertJson(answer: HttpAnswer, status: number, body: unknown): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(answer.text), body);
}

/** Asserts a failure of the complete request. Source: tsdb-http, "Error model". */
export function assertError(
  answer: HttpAnswer,
  status: number,
  error: string,
  data: Readonly<Record<string, unknown>> = {},
): void {
  assertJson(answer, status, { error, data });
}

/** Returns the result of a query as text. */
export async function query(
  server: RunningServer,
  parameters: Readonly<Record<'db' | 'q', string> & { format?: string }>,
  headers: HttpRequest['headers'] = {},
): Promise<string> {
  const path = `/api/v3/query_sql?${new URLSearchParams(parameters)}`;
  const answer = await server.http.send(path, { headers });
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

/** Returns the rows of a query as objects. Numbers beyond 2^53 lose digits: cast those to strings. */
export async function rows(
  server: RunningServer,
  db: string,
  q: string,
  headers: HttpRequest['headers'] = {},
): Promise<unknown> {
  return JSON.parse(await query(server, { db, q, format: 'json_rows' }, headers)) as unknown;
}
