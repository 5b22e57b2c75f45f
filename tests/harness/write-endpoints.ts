import type { HttpRequest, HttpResponse } from './http-client.js';
import type { RunningServer } from './running-server.js';

export type WriteApi = 'write_lp' | 'v1' | 'v2';

export const WRITE_APIS: readonly WriteApi[] = ['write_lp', 'v1', 'v2'];

const TARGET: Readonly<Record<WriteApi, string>> = {
  write_lp: '/api/v3/write_lp?db=',
  v1: '/write?db=',
  v2: '/api/v2/write?bucket=',
};

/** Writes with nanosecond precision unless `parameters` set another one. */
export async function write(
  server: RunningServer,
  to: { readonly api?: WriteApi; readonly db: string; readonly parameters?: string },
  body: string | Uint8Array,
  headers: HttpRequest['headers'] = {},
): Promise<HttpResponse> {
  const { api = 'write_lp', db, parameters = 'precision=ns' } = to;
  return await server.http.send(`${TARGET[api]}${encodeURIComponent(db)}&${parameters}`, {
    body,
    headers,
  });
}

export interface BadLine {
  readonly original_line: string;
  readonly line_number: number;
  readonly error_message: string;
}

export const badLine = (
  original_line: string,
  line_number: number,
  error_message: string,
): BadLine => ({ original_line, line_number, error_message });

/**
 * Response body for a request with refused lines. The v2 endpoint adds the members that its clients read.
 * Source: tsdb-http, "Line failures" and "v2 error body".
 */
export function refusal(
  api: WriteApi,
  data: readonly BadLine[],
  options: { readonly isPartial?: boolean; readonly code?: string } = {},
): unknown {
  const error = options.isPartial
    ? 'partial write of line protocol occurred'
    : 'write of line protocol failed';
  if (api !== 'v2') return { error, data };
  const [first] = data;
  const message = `${error}: line ${first?.line_number}: ${first?.error_message}`;
  return { code: options.code ?? 'invalid', message, error, data };
}
