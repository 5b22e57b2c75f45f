import type { GrpcCall } from '../grpc/grpc-call.js';
import { GRPC, GrpcFailure } from '../grpc/grpc-status.js';
import type { QueryLanguage } from './ticket.js';

const DATABASE_HEADERS = ['database', 'bucket', 'bucket-name', 'iox-namespace-name'];

/** Returns the database that a Flight SQL call names in its headers. Source: tsdb-http, §20.3. */
export function databaseOfCall(call: GrpcCall): string {
  const named = new Set(DATABASE_HEADERS.flatMap((name) => call.metadataValues(name)));
  const [database, other] = named;
  if (database === undefined || database === '') {
    throw new GrpcFailure(GRPC.INVALID_ARGUMENT, "no 'database' header in request");
  }
  if (other !== undefined) {
    throw new GrpcFailure(
      GRPC.INVALID_ARGUMENT,
      'the request headers name different databases; send one `database` header',
    );
  }
  return database;
}

/** Returns the query language of a call: SQL, unless a header selects InfluxQL. */
export function languageOfCall(call: GrpcCall): QueryLanguage {
  const language = call.metadata('x-influxdata-query-language')?.toLowerCase() ?? 'sql';
  if (language === 'sql' || language === 'influxql') return language;
  const text = `unknown query language '${language}', expected 'sql' or 'influxql'`;
  throw new GrpcFailure(GRPC.INVALID_ARGUMENT, text);
}
