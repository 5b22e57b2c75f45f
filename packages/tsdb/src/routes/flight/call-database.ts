import type { GrpcCall } from '../grpc/grpc-call.js';
import { GRPC, GrpcFailure } from '../grpc/grpc-status.js';
import type { QueryLanguage } from './ticket.js';

const DATABASE_HEADERS = ['database', 'bucket', 'bucket-name', 'iox-namespace-name'];

/** The database of a call of Flight SQL, which names it in its headers. Source: tsdb-http, §20.3. */
export function databaseOfCall(call: GrpcCall): string {
  const named = new Set(DATABASE_HEADERS.flatMap((name) => call.metadataValues(name)));
  const [database, other] = named;
  if (database === undefined || database === '') {
    throw new GrpcFailure(GRPC.INVALID_ARGUMENT, "no 'database' header in request");
  }
  if (other !== undefined) {
    throw new GrpcFailure(
      GRPC.INVALID_ARGUMENT,
      'the headers of the request name several databases',
    );
  }
  return database;
}

/** What statements of a call are written in; SQL unless a header says otherwise. */
export function languageOfCall(call: GrpcCall): QueryLanguage {
  const language = call.metadata('x-influxdata-query-language')?.toLowerCase() ?? 'sql';
  if (language === 'sql' || language === 'influxql') return language;
  const text = `unknown query language '${language}', expected 'sql' or 'influxql'`;
  throw new GrpcFailure(GRPC.INVALID_ARGUMENT, text);
}
