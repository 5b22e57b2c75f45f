import assert from 'node:assert/strict';
import type { HttpRequest, HttpResponse } from './http-client.js';
import type { RunningServer } from './running-server.js';

/** Asserts status 204 and an empty body. */
export function assertEmpty(response: HttpResponse): void {
  assert.equal(response.status, 204, response.text);
  assert.equal(response.text, '');
}

/** Asserts status, content type and complete body of a JSON response. */
export function assertJson(response: HttpResponse, status: number, body: unknown): void {
  assert.equal(response.status, status, response.text);
  assert.equal(response.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(response.text), body);
}

/** Asserts a failure of the complete request. Source: tsdb-http, "Error model". */
export function assertError(
  response: HttpResponse,
  status: number,
  error: string,
  data: Readonly<Record<string, unknown>> = {},
): void {
  assertJson(response, status, { error, data });
}

/** Returns the result of a query as text. */
export async function query(
  server: RunningServer,
  parameters: Readonly<Record<'db' | 'q', string> & { format?: string }>,
  headers: HttpRequest['headers'] = {},
): Promise<string> {
  const path = `/api/v3/query_sql?${new URLSearchParams(parameters)}`;
  const response = await server.http.send(path, { headers });
  assert.equal(response.status, 200, response.text);
  return response.text;
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
