import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';

export const BOOLEAN: SqlType = { kind: 'boolean' };
export const UINT8: SqlType = { kind: 'int', bits: 8, signed: false };
export const UINT16: SqlType = { kind: 'int', bits: 16, signed: false };
export const UINT32: SqlType = { kind: 'int', bits: 32, signed: false };
export const UINT64: SqlType = { kind: 'int', bits: 64, signed: false };
export const INT64: SqlType = { kind: 'int', bits: 64, signed: true };
export const TEXT: SqlType = { kind: 'utf8' };
export const DURATION: SqlType = { kind: 'duration' };
export const TIME_NS: SqlType = { kind: 'timestamp', unit: 'ns', zone: undefined };
export const TIME_MS: SqlType = { kind: 'timestamp', unit: 'ms', zone: undefined };
export const TIME_SEC_UTC: SqlType = { kind: 'timestamp', unit: 's', zone: 'UTC' };

export function listOf(element: SqlType): SqlType {
  return { kind: 'list', element };
}

/** Converts milliseconds to the nanoseconds used by timestamp columns of every unit. */
export function nanosOfMs(ms: number): bigint;
export function nanosOfMs(ms: number | undefined): bigint | undefined;
export function nanosOfMs(ms: number | undefined): bigint | undefined {
  return ms === undefined ? undefined : BigInt(ms) * 1_000_000n;
}

/**
 * A table of the schema `system`. Its columns have the given order; its rows are created for each
 * query.
 */
export function systemTable<Name extends string>(
  columns: Readonly<Record<Name, SqlType>>,
  rows: () => readonly Readonly<Record<Name, unknown>>[],
): VirtualTable {
  const names = Object.keys(columns) as Name[]; // all own keys are strings
  return {
    columns: names.map((name) => ({ name, type: columns[name], tableColumnKind: undefined })),
    rows: () => rows().map((row) => names.map((name) => row[name])),
  };
}
