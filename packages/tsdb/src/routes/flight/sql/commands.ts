import { GRPC, GrpcFailure } from '../../grpc/grpc-status.js';
import { type AnyMessage, decodeAny, decodeMessage, read } from '../wire-messages.js';

/** The supported Flight SQL commands. Source: Arrow Flight SQL, `FlightSql.proto`. */
export type Command =
  | { readonly kind: 'statement'; readonly query: string }
  | { readonly kind: 'prepared_statement'; readonly handle: Uint8Array }
  | CatalogCommand;

/** Metadata commands. They are returned as the ticket. */
export type CatalogCommand =
  | { readonly kind: 'catalogs' }
  | {
      readonly kind: 'schemas';
      readonly catalog: string | undefined;
      readonly schemaPattern: string | undefined;
    }
  | {
      readonly kind: 'tables';
      readonly catalog: string | undefined;
      readonly schemaPattern: string | undefined;
      readonly tablePattern: string | undefined;
      readonly types: readonly string[];
      readonly includesSchema: boolean;
    }
  | { readonly kind: 'table_types' }
  | { readonly kind: 'primary_keys' }
  | { readonly kind: 'foreign_keys' }
  | { readonly kind: 'sql_info'; readonly ids: readonly number[] }
  | { readonly kind: 'type_info'; readonly dataType: number | undefined };

const PREFIX = 'type.googleapis.com/arrow.flight.protocol.sql.';

const READERS: ReadonlyMap<string, (value: Uint8Array) => Command> = new Map<
  string,
  (value: Uint8Array) => Command
>([
  ['CommandStatementQuery', (value) => ({ kind: 'statement', query: textAt(value, 1) })],
  [
    'CommandPreparedStatementQuery',
    (value) => ({ kind: 'prepared_statement', handle: bytesAt(value, 1) }),
  ],
  ['CommandGetCatalogs', () => ({ kind: 'catalogs' })],
  ['CommandGetDbSchemas', readSchemas],
  ['CommandGetTables', readTables],
  ['CommandGetTableTypes', () => ({ kind: 'table_types' })],
  // Tables have neither primary nor foreign keys.
  ['CommandGetPrimaryKeys', () => ({ kind: 'primary_keys' })],
  ['CommandGetExportedKeys', () => ({ kind: 'foreign_keys' })],
  ['CommandGetImportedKeys', () => ({ kind: 'foreign_keys' })],
  ['CommandGetCrossReference', () => ({ kind: 'foreign_keys' })],
  ['CommandGetSqlInfo', readSqlInfo],
  ['CommandGetXdbcTypeInfo', readTypeInfo],
]);

/** Throws `GrpcFailure` for invalid and unsupported commands. */
export function decodeCommand(bytes: Uint8Array): Command {
  const { typeUrl, value } = decodeAny(bytes);
  const name = nameOf(typeUrl);
  const readCommand = READERS.get(name);
  if (readCommand !== undefined) return readCommand(value);
  throw new GrpcFailure(
    typeUrl.startsWith(PREFIX) ? GRPC.UNIMPLEMENTED : GRPC.INVALID_ARGUMENT,
    typeUrl === ''
      ? 'the descriptor contains no command'
      : `command "${name.slice(0, 100)}" is not supported`,
  );
}

/** Returns the payload of an action or of parameters, which must have the named message type. */
export function decodeNamed(bytes: Uint8Array, name: string): Uint8Array {
  const any = decodeAny(bytes);
  if (nameOf(any.typeUrl) === name) return any.value;
  throw new GrpcFailure(GRPC.INVALID_ARGUMENT, `expected a ${name}`);
}

export function anyOf(name: string, value: Uint8Array): AnyMessage {
  return { typeUrl: `${PREFIX}${name}`, value };
}

const nameOf = (typeUrl: string): string =>
  typeUrl.startsWith(PREFIX) ? typeUrl.slice(PREFIX.length) : typeUrl;

export function textAt(bytes: Uint8Array, field: number): string {
  let text = '';
  decodeMessage(bytes, {
    [field]: read.text((value) => {
      text = value;
    }),
  });
  return text;
}

export function bytesAt(bytes: Uint8Array, field: number): Uint8Array {
  let found: Uint8Array = new Uint8Array(0);
  decodeMessage(bytes, {
    [field]: read.bytes((value) => {
      found = value;
    }),
  });
  return found;
}

function readSchemas(value: Uint8Array): CatalogCommand {
  let catalog: string | undefined;
  let schemaPattern: string | undefined;
  decodeMessage(value, {
    1: read.text((value) => {
      catalog = value;
    }),
    2: read.text((value) => {
      schemaPattern = value;
    }),
  });
  return { kind: 'schemas', catalog, schemaPattern };
}

function readTables(value: Uint8Array): CatalogCommand {
  let catalog: string | undefined;
  let schemaPattern: string | undefined;
  let tablePattern: string | undefined;
  const types: string[] = [];
  let includesSchema = false;
  decodeMessage(value, {
    1: read.text((value) => {
      catalog = value;
    }),
    2: read.text((value) => {
      schemaPattern = value;
    }),
    3: read.text((value) => {
      tablePattern = value;
    }),
    4: read.text((value) => {
      types.push(value);
    }),
    5: read.bool((value) => {
      includesSchema = value;
    }),
  });
  return { kind: 'tables', catalog, schemaPattern, tablePattern, types, includesSchema };
}

/** About 40 infos exist. */
const MAX_INFO_COUNT = 10_000;

function readSqlInfo(value: Uint8Array): CatalogCommand {
  const ids: number[] = [];
  decodeMessage(value, {
    // Packed, or one by one as in old encoders.
    1: (reader, wireType) => {
      if (wireType !== 2) {
        ids.push(reader.uint32());
        return;
      }
      for (const end = reader.uint32() + reader.pos; reader.pos < end; ) ids.push(reader.uint32());
    },
  });
  if (ids.length > MAX_INFO_COUNT) {
    throw new GrpcFailure(
      GRPC.INVALID_ARGUMENT,
      `too many SqlInfo ids; at most ${MAX_INFO_COUNT} are allowed`,
    );
  }
  return { kind: 'sql_info', ids };
}

function readTypeInfo(value: Uint8Array): CatalogCommand {
  let dataType: number | undefined;
  decodeMessage(value, {
    1: read.number((value) => {
      dataType = value;
    }),
  });
  return { kind: 'type_info', dataType };
}
